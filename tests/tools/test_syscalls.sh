#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# System calls of programs that the preload library cannot enter, recorded by the kernel: static ones,
# those of another C library, of Go and of 32 bits. Skipped where the kernel does not permit it.
. "${0%/*}/lib.sh"
needs_shim

work_in_tmp

# The reason is there, whichever it is, and the program runs.
cat >probe.c <<'EOF2'
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "no-such-socket" };
	struct pollfd none = { .fd = -1 };
	struct flock whole = { .l_type = F_WRLCK };
	char text[4200];
	struct stat st;
	int ends[2], fd;

	if (argc > 1 && !strcmp(argv[1], "true"))
		return 0;
	if (argc > 2) {
		execv(argv[1], argv + 1);
		return 99;
	}
	if (pipe(ends) || write(ends[1], "twelve bytes", 12) != 12 || read(ends[0], text, 100) != 12)
		return 1;
	close(ends[1]);
	fd = open("made", O_WRONLY | O_CREAT | O_TRUNC, 0640);
	if (fd < 0 || dup2(fd, 9) != 9 || fchmod(fd, 0600))
		return 2;
	if (fcntl(fd, F_SETLK, &whole) || fcntl(fd, F_GETFL) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC))
		return 2;
	recv(ends[0], text, 1, MSG_PEEK | MSG_DONTWAIT);
	if (open("missing", O_RDONLY) >= 0 || errno != ENOENT)
		return 3;
	stat("/proc/self", &st);
	mkdir("folder", 0750);
	rename("folder", "other");
	symlink("some text", "link");
	if (readlink("link", text, sizeof(text)) != 9 || !getcwd(text, sizeof(text)))
		return 4;
	memset(text, 'a', 3000);
	text[3000] = 0;
	access(text, F_OK);
	unlink((char *)8);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	connect(fd, (struct sockaddr *)&address, sizeof(address));
	poll(&none, 1, 3);
	if (fork() == 0) {
		unlink("link");
		_exit(3);
	}
	wait(&fd);
	return 7;
}
EOF2
${CC:-cc} -w -static -o static probe.c 2>/dev/null || skip "no static C library"
"$posixtrace" record -o plain.ptl ./static 2>message
check "the program ends as it does alone" test $? = 7
run 0 doctor
if ! grep -q '^works  *system calls' out; then
	why=$(sed -n 's/^limited  *system calls  *\(.*\): static programs.*/\1/p' out)
	check "record says why nothing is seen" has message "statically linked; no kernel tracing: $why"
	run 125 record --syscalls -o none.ptl true
	check "an explicit wish is refused" has err 'the kernel does not record system calls'
	check "without a log" test ! -e none.ptl
	skip "system calls: $why"
fi
check "one line says which way is used" has message '^posixtrace: ./static: system calls by kernel tracing: it is statically linked$'
run 0 verify plain.ptl
check "the account is exact" has out ': called \([0-9]*\) = reported \1 + unread 0 + lost 0$'

# calls LOG: the calls in the form of the test. The numbers of processes are PID.
calls() {
	rm -rf made folder other link
	run 7 record --force -q --data 6 -o calls.ptl "$@"
	"$posixtrace" dump --raw -x 'posix*' -x 'sys.*' --fields event,data calls.ptl |
		sed 's/time=[0-9.]*[num]*s //; s/time=[0-9]* //; s/\(child\|pid\|parent\)=[0-9][0-9]*/\1=PID/g' >out
}
# A line of out matches, whatever precedes and follows it.
call() { check "$1: $2" has out "$2"; }
examine() {
	call "$1" '^process.start.*program="\./'
	call "$1" '^io.pipe.*fd=3 write=4'
	call "$1" '^io.write.*fd=4.* size=12 result=12 data="twelve"'
	call "$1" '^io.read.*fd=3.* size=100 result=12 data="twelve"'
	call "$1" '^io.close.*fd=4'
	call "$1" '^io.open.*fd=4.*flags=O_WRONLY|O_CREAT|O_TRUNC.*mode=0640 path="made"'
	call "$1" '^io.dup.*fd=4.* copy=9'
	call "$1" '^io.fcntl.*fd=4.* command=F_SETLK result=0 lock=F_WRLCK flags=none'
	call "$1" '^io.fcntl.*fd=4.* command=F_GETFL .* lock=none flags=O_WRONLY'
	call "$1" '^io.fcntl.*fd=4.* command=F_SETFD .* lock=none flags=FD_CLOEXEC value=1'
	call "$1" '^net.recv.*error=ENOTSOCK size=1 result=-1 flags=MSG_PEEK|MSG_DONTWAIT'
	call "$1" '^io.open.*fd=-1 error=ENOENT.*mode=0 path="missing"'
	call "$1" '^file.stat.*error=0.*path="/proc/self"'
	call "$1" '^file.mkdir.*mode=0750 path="folder"'
	call "$1" '^file.rename.*path="folder" to="other"'
	call "$1" '^file.symlink.*path="link" to="some text"'
	call "$1" '^file.readlink.*path="link" to="some text"'
	call "$1" "^file.getcwd.*path=\"$tmp\""
	call "$1" '^file.access.*error=ENAMETOOLONG.*path="\.\.\.a*"\|^file.access.*error=ENOENT.*path="\.\.\.a*"'
	call "$1" '^file.unlink.*error=EFAULT.*path=""'
	call "$1" '^net.socket.*domain=AF_UNIX type=SOCK_STREAM'
	call "$1" '^net.connect.*error=ENOENT address="unix:no-such-socket"'
	call "$1" '^net.poll.*timeout=3ms fds=1 result=0 error=0 fd=-1'
	call "$1" '^process.fork.*child=PID'
	call "$1" '^process.child.*pid=PID parent=PID'
	call "$1" '^file.unlink.*error=0.*path="link"'
	call "$1" '^process.wait.*child=PID.*status=exited 3\|^process.wait.*child=PID.*known=1'
	call "$1" '^process.exit.*status=7 by="exit_group"'
}
calls ./static
examine "static"
check "the descriptor has its name in dump" sh -c '"$1" dump -e io.dup calls.ptl | grep -q "fd=4 <made>"' - "$posixtrace"
run 0 latency -e io.read calls.ptl
check "latency needs no special case" has out '  io.read$'
if musl-gcc -w -o musl probe.c 2>/dev/null && ./musl true; then
	calls ./musl
	examine "musl"
	musl-gcc -w -static -o musl-static probe.c && calls ./musl-static && examine "static musl"
else
	echo "no musl-gcc: not tested"
fi

# The same calls as strace sees, in the same order.
if strace -o strace.out ./static true 2>/dev/null; then
	run 0 record -q --force --trace all -o true.ptl ./static true
	"$posixtrace" dump --raw -x 'posix*' --fields event true.ptl |
		sed -n 's/^sys\.//p; s/^alloc\.//p; s/^io.open/openat/p; s/^io\.\|^file\.//p; s/^process.exit$/exit_group/p' >ours
	sed -n '2,$s/^\([a-z_0-9]*\)(.*/\1/p' strace.out >theirs
	check "every call that strace sees is there, in its order" diff theirs ours
fi

# A 32-bit program: other numbers of calls.
cat >narrow.c <<'EOF2'
static int call(int number, int a, int b, int c)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}
void _start(void)
{
	call(5, (int)"/nonexistent-narrow", 0, 0);
	call(4, 1, (int)"narrow\n", 7);
	call(20, 0, 0, 0);
	call(252, 5, 0, 0);
}
EOF2
if ${CC:-cc} -m32 -static -nostdlib -fno-pic -no-pie -w -o narrow narrow.c 2>/dev/null && { ./narrow >out; test $? = 5; }; then
	run 5 record --force -o narrow.ptl ./narrow
	check "it is said" has err 'system calls by kernel tracing: it is for another processor, or of another word size'
	"$posixtrace" dump --raw narrow.ptl >out
	call "32 bits" 'io.open .*error=ENOENT.*path="/nonexistent-narrow"'
	call "32 bits" 'io.write .*size=7 result=7'
	call "32 bits" 'sys.getpid '
	call "32 bits" 'process.exit .*status=5'
fi

# A static program that executes a missing file.
cat >absent.c <<'EOF2'
#include <unistd.h>
int main(void)
{
	execl("/nonexistent-program", "program", (char *)NULL);
	return 5;
}
EOF2
if ${CC:-cc} -static -w -o absent absent.c; then
	run 5 record --force -q --syscalls -o absent.ptl ./absent
	"$posixtrace" dump --raw -e 'process.exec*' absent.ptl >out
	check "a call of exec that fails has two events" has_lines out 2
	check "the path is in the first one" has out 'process.exec pid=.* path="/nonexistent-program"'
	check "the error is in the second one" has out 'process.exec_failed pid=[0-9]* error=ENOENT'
fi

# A shell that the library can enter, with a static child: each call once.
cat >script <<'EOF2'
./static true
cat made >/dev/null
./static true
EOF2
run 0 record --force --syscalls=unseen -o mixed.ptl sh script
check "the end says what the kernel traced" has err 'programs traced by the kernel only: ./static (statically linked, 2 times)'
"$posixtrace" dump --raw -e process.start --fields field.program mixed.ptl >out
check "each program begins once" sh -c 'test "$(grep -c "static\"$" out)" = 2 -a "$(grep -c "cat\"$" out)" = 1'
"$posixtrace" dump --raw -e io.open --where 'path == "made"' mixed.ptl >out
check "a call of a program with the library is there once" has_lines out 1
check "it has no sys.NAME" test "$("$posixtrace" dump --raw -e sys.newfstatat mixed.ptl 2>/dev/null | wc -l)" = 0
run 0 record --force --syscalls -o all.ptl sh script
"$posixtrace" dump --raw -e sys.openat all.ptl >out
check "with --syscalls it has, with its text" has out 'result=[0-9]* dfd=-100 .*text="made"'
"$posixtrace" dump --raw -e io.open --where 'path == "made"' all.ptl >out
check "with --syscalls it has the event of the library" has_lines out 1
run 0 record --force --syscalls=none -o none.ptl ./static true
check "none: the line says so" has err 'cannot be traced: it is statically linked; no kernel tracing: --syscalls=none'
check "none: no call" test "$("$posixtrace" dump -e 'sys.*' none.ptl 2>/dev/null | wc -l)" = 0
run 0 record --force --no-follow -q -o alone.ptl ./static ./static true
check "--no-follow has the program" test "$("$posixtrace" dump --raw -e process.start alone.ptl | wc -l)" = 2
run 7 record --force --no-follow -q -o alone.ptl ./static
check "--no-follow: not its children" test "$("$posixtrace" dump --raw --fields pid alone.ptl | sort -u | wc -l)" -le 2

# Options that select types apply.
rm -rf made folder other link
run 7 record --force -q -e 'io.*' -o only.ptl ./static
"$posixtrace" dump --raw --fields event only.ptl | sort -u >out
check "-e selects" lacks out '^\(file\|net\|sys\)\.'
check "-e keeps" has out '^io.read$'
run 7 record --force -q --trace net -o net.ptl ./static
"$posixtrace" dump --raw --fields event net.ptl | sort -u >out
check "--trace selects families" lacks out '^\(file\|io\)\.'
check "--trace keeps" has out '^net.connect$'
run 2 record --syscalls=wrong true
check "a wrong word" has err 'there are all, unseen and none'
run 2 record --syscalls --loop true
check "a log that overwrites has no place for them" has err 'never full'
run 7 record --force --loop -o loop.ptl ./static
check "without the option, --loop is a reason" has err 'no kernel tracing: not in a log that can be full'

# A process that runs already.
cat >waits.c <<'EOF2'
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	while (access("go-on", F_OK))
		usleep(10000);
	open("missing-of-waits", O_RDONLY);
	return 6;
}
EOF2
${CC:-cc} -w -static -o waits waits.c
# attached COMMAND OPTION...: a new process is traced until it ends, and goes on when there is a log.
attached() {
	rm -f go-on attached.ptl
	./waits &
	waits=$!
	until grep -q waits "/proc/$waits/comm"; do sleep 0.01; done
	"$posixtrace" "$@" -p $waits -o attached.ptl >out 2>err &
	tracer=$!
	# It records when it has attached the five programs and waits.
	until { test "$(ls -l /proc/$tracer/fd 2>/dev/null | grep -c perf_event)" = 5 &&
		grep -q '^State:.S' /proc/$tracer/status; } || ! kill -0 $tracer 2>/dev/null; do sleep 0.05; done
	: >go-on
	wait $waits
	check "$1: the process ends as it does alone" test $? = 6
	wait $tracer
}
attached attach
check "attach traces it" test $? = 0
check "attach says how" has err "process $waits (waits): system calls by kernel tracing: it is statically linked\$"
"$posixtrace" dump --raw attached.ptl >out
call "attach" 'io.open .*error=ENOENT.*path="missing-of-waits"'
call "attach" 'process.exit .*status=6'
run 0 verify attached.ptl
check "attach: the account is exact" has out ': called \([0-9]*\) = reported \1 + unread 0 + lost 0$'
attached record
check "record -p, too" test $? = 0
"$posixtrace" dump --raw attached.ptl >out
call "record -p" 'io.open .*error=ENOENT.*path="missing-of-waits"'
attached attach --syscalls=none
check "attach --syscalls=none is refused" test $? = 1
check "with the reason" has err 'statically linked; no kernel tracing: --syscalls=none'
run 0 doctor

# A program of Go makes its calls itself.
if command -v go >/dev/null && cat >main.go <<'EOF2' && CGO_ENABLED=0 GOCACHE=$tmp/cache go build -o golang main.go 2>/dev/null; then
package main

import "os"

func main() {
	os.WriteFile("of-go", []byte("text"), 0640)
	os.Open("missing-of-go")
	os.Exit(4)
}
EOF2
	run 4 record --force -o go.ptl ./golang
	"$posixtrace" dump --raw go.ptl >out
	call "Go" 'io.open .*flags=O_WRONLY|O_CREAT|O_TRUNC.*mode=0640 path="of-go"'
	call "Go" 'io.write .*size=4 result=4'
	call "Go" 'io.open .*error=ENOENT.*path="missing-of-go"'
	call "Go" 'sys.futex \|sys.mmap \|sys.rt_sigaction '
fi

# The kernel has no room: the number is in the ledger. The recorder is stopped meanwhile.
cat >many.c <<'EOF2'
#include <signal.h>
#include <unistd.h>
int main(void)
{
	kill(getppid(), SIGSTOP);
	for (int i = 0; i < 300000; i++)
		getppid();
	kill(getppid(), SIGCONT);
	return 0;
}
EOF2
if ${CC:-cc} -static -o many many.c; then
	run 0 record --force -o many.ptl ./many
	run 0 verify many.ptl
	check "lost records are counted" has out ': called [0-9]* = reported [0-9]* + unread 0 + lost [1-9]'
	calls=$("$posixtrace" dump --raw -e sys.getppid many.ptl | wc -l)
	lost=$(sed -n 's/.* + lost \([0-9]*\) .*/\1/p' out)
	# kill() and the end of the program may be among the lost ones.
	check "no call is missing without a count" test $((calls + lost)) -ge 300000 -a $((calls + lost)) -le 300020
	run 0 stat many.ptl
	check "with their cause" has out 'stream full'
fi

# The memory of the tracer does not grow with the recording. peak prints the greatest memory of a
# command in KiB. Both recordings have more records than a chunk of the store. A record has some 200
# bytes. The pauses let the tracer read all of them. ASan keeps freed memory.
cat >paced.c <<'EOF2'
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[argc - 1]); i++) {
		getppid();
		if (i % 1000 == 0)
			usleep(1000);
	}
	return 0;
}
EOF2
cat >peak.c <<'EOF2'
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;

	if (fork() == 0)
		return execv(argv[1], argv + 1);
	if (argc < 2 || wait(&status) < 0 || getrusage(RUSAGE_CHILDREN, &usage))
		return 99;
	printf("%ld\n", usage.ru_maxrss);
	return status != 0;
}
EOF2
if ! ldd "$posixtrace" | grep -q libasan && ${CC:-cc} -static -o paced paced.c && ${CC:-cc} -o peak peak.c; then
	./peak "$posixtrace" record -q --force --syscalls=all -o short.ptl ./paced 20000 >short.kib
	./peak "$posixtrace" record -q --force --syscalls=all -o long.ptl ./paced 400000 >long.kib
	short=$("$posixtrace" dump --raw -e sys.getppid short.ptl | wc -l)
	long=$("$posixtrace" dump --raw -e sys.getppid long.ptl | wc -l)
	check "a long recording has many more records" test "$long" -gt $((short * 5))
	check "a long recording needs no memory for each record" \
		test $((($(cat long.kib) - $(cat short.kib)) * 1024)) -lt $(((long - short) * 40))
	order=$("$posixtrace" dump --json -e sys.getppid long.ptl | sed 's/.*"ns":"\([0-9]*\)".*/\1/' | sort -n -c 2>&1)
	check "its events are in order of time" test -z "$order"
fi
finish
