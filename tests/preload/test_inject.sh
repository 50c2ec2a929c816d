#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A process that was started without the shim is traced while it runs, and is unchanged afterwards.
. "${0%/*}/lib.sh"
. "$top_srcdir/tests/tools/targets.sh"

case $(uname -m) in
x86_64) ;;
*) skip "a library is loaded into a running process on x86-64 only" ;;
esac

injected=$(program probe_inject)
log=$tmp/a.log

# begin WORD: the program in the background, without the shim.
begin() { start_reading "$injected" "$@"; }

count() { "$posixtrace" dump -e "$1" "$log" 2>/dev/null | wc -l; }
is_sound() { "$posixtrace" verify "$log" | grep -q ': sound: '; }
# Other processes can see a mapped library, but not slots: the program reads its own.
# The path of the build may contain the name, too.
maps() { grep -c 'libposixtrace[^/]*$' "/proc/$target/maps"; }

# A library that the program loads after its start.
if echo 'void call(void) { open("/from/a/library", O_RDONLY); }' | ${CC:-cc} -w -include fcntl.h \
	-shared -fPIC -x c -o "$tmp/late.so" - 2>/dev/null; then
	PROBE_LIBRARY=$tmp/late.so
	export PROBE_LIBRARY
fi

# Is injection permitted at all?
begin wait
"$posixtrace" attach -p "$target" -o "$log" -d 50ms >"$tmp/out" 2>"$tmp/err" || {
	grep -q 'forbids\|not permitted\|seccomp' "$tmp/err" && {
		end_all
		skip "$(cat "$tmp/err")"
	}
	cat "$tmp/err"
}
check "standard error is empty" is_empty err
end_reading "a thread that waits"

# A process that starts: its dynamic linker waits in the pipe and has not mapped the C library yet.
mkfifo "$tmp/slow.so"
start sh -c 'LD_PRELOAD=$0 exec cat /dev/zero' "$tmp/slow.so" >/dev/null 2>&1
target=$pid
is_cat() { test "$(cat "/proc/$target/comm")" = cat; }
until_true is_cat
rm -f "$log"
start sh -c 'sleep 0.1; : >"$0"' "$tmp/slow.so"
run 0 attach -p "$target" -o "$log" -d 50ms --trace io
check "the process was traced when it had started" test "$(count io.read)" -gt 0
kill_target

# All kinds of code in which a thread can be.
for kind in wait sleep epoll select cond join sigwait compute allocate; do
	begin $kind
	n=0
	while test $n -lt 3; do
		n=$((n + 1))
		rm -f "$log"
		run 0 attach -p "$target" -o "$log" -d 100ms --trace all
		check "$kind $n: the log is sound" is_sound
		check "$kind $n: the account is even" is_even "$log"
		check "$kind $n: standard error is empty" is_empty err
	done
	check "$kind: the library stays" test "$(maps)" -gt 0
	end_reading $kind
done

# A thread that runs all the time, with the address of a finished call of dl_iterate_phdr() in its
# stack, and one that runs in a callback of this function, which holds a lock of the linker.
cat >"$tmp/callback.c" <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
static void *address;
static volatile unsigned long count;
static __attribute__((noinline)) void run(void)
{
	puts("ready");
	fflush(stdout);
	for (;;)
		count = count + 1;
}
static int call(struct dl_phdr_info *info, size_t size, void *runs)
{
	address = __builtin_return_address(0);
	if (runs)
		run();
	return 1;
}
int main(int argc, char **argv)
{
	void *volatile left[4];
	/* An open of this file by another process sends SIGIO, which ends the program. */
	int leased = open(getenv("LEASED"), O_RDWR | O_CREAT, 0600);
	write(leased, "x", 1);
	mmap(NULL, 4096, PROT_READ, MAP_SHARED, leased, 0);
	fcntl(leased, F_SETLEASE, F_WRLCK);
	dl_iterate_phdr(call, argc > 1 ? argv : NULL);
	for (int i = 0; i < 4; i++)
		left[i] = address;
	run();
	return left[0] == NULL;
}
C
if "$posixtrace" doctor | grep -q '^works  *libdw' &&
	${CC:-cc} -O1 -w -fasynchronous-unwind-tables -o "$tmp/callback" "$tmp/callback.c" 2>/dev/null; then
	LEASED=$tmp/leased
	export LEASED
	start_reading "$tmp/callback"
	rm -f "$log"
	run 0 attach -p "$target" -o "$log" -d 50ms --trace io
	check "the address of a finished callback is no reason to refuse" is_empty err
	check "no file that the program has mapped as data is opened" kill -0 "$target"
	kill_target
	start_reading "$tmp/callback" inside
	rm -f "$log"
	run 1 attach -p "$target" -o "$log" -d 50ms --trace io
	check "a thread in a callback of the linker does not load a library" has err \
		'no thread of it was at a place where it can load a library'
	kill_target
fi

# The calls of all threads, of the program and of its libraries are traced.
begin calls
rm -f "$log"
start "$posixtrace" attach -p "$target" -o "$log" >"$tmp/out" 2>"$tmp/err"
tracer=$pid
check "it is traced" until_true is_traced
echo >&5
check "the program has made its calls" until_true grep -q '^made' "$tmp/said"
kill -TERM "$tracer"
wait "$tracer"
check "the tracer ends with 0" test $? -eq 0
check "each call of a thread is in the log" test "$(count io.open)" -ge 40
check "four threads made them" test "$("$posixtrace" dump --fields tid -e io.open "$log" | sort -u | wc -l)" -eq 4
check "a library that was loaded later is traced" test "$("$posixtrace" dump -e io.open "$log" |
	grep -c /from/a/library)" -eq "$(test -n "$PROBE_LIBRARY" && echo 1 || echo 0)"
check "the log is sound" is_sound
end_reading calls

# A process refuses what the shim needs to redirect the calls of the process. The program defines
# mmap(), and syscall(), by which the shim protects memory. A line that begins with = says by words
# what fails. "open": a page of the program cannot become writable. "close": it cannot become
# read-only again. "part": a page of the program's library cannot become read-only again. "map":
# mmap() of 1 MiB or more. A word with a 1 behind it fails only once.
cat >"$tmp/refuses.c" <<'C'
#define _GNU_SOURCE
#include "own_syscall.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static char words[100];
extern char __ehdr_start[], _end[];
int part_has(long at);
static int fails(const char *word)
{
	char *at = strstr(words, word);
	if (!at)
		return 0;
	if (at[strlen(word)] == '1')
		*at = '-';
	errno = ENOMEM;
	return 1;
}
static int refuse(long number, const long args[6])
{
	if (number == SYS_mprotect && args[0] >= (long)__ehdr_start && args[0] < (long)_end &&
	    fails(args[2] & PROT_WRITE ? "open" : "close"))
		return ENOMEM;
	if (number == SYS_mprotect && part_has(args[0]) && !(args[2] & PROT_WRITE) && fails("part"))
		return ENOMEM;
	return 0;
}
void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	static void *(*real)(void *, size_t, int, int, int, off_t);
	if (bytes >> 20 && (flags & MAP_NORESERVE) && fails("map"))
		return MAP_FAILED;
	if (!real)
		real = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
	return real(at, bytes, protection, flags, fd, offset);
}
int main(int argc, char **argv)
{
	char line[100];
	mmap(NULL, 0, 0, 0, -1, 0);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		if (*line == '=')
			strcpy(words, line);
		close(open("/from/program", O_RDONLY));
		puts("made");
		fflush(stdout);
	}
	puts("right");
	return 0;
}
C
# attach_refusing WORDS STATUS OPENED: attaches while the words fail; the program then opens a file.
attach_refusing() {
	rm -f "$log"
	lines=$((lines + 1))
	echo "=$1" >&5
	until_true has_said
	start "$posixtrace" attach -p "$target" -o "$log" --trace io >"$tmp/out" 2>"$tmp/err"
	tracer=$pid
	test "$2" -ne 0 || check "$1: it is traced" until_true is_traced
	lines=$((lines + 1))
	echo go >&5
	until_true has_said
	test "$2" -ne 0 || kill -TERM "$tracer"
	wait "$tracer"
	check "$1: the status is $2" test $? -eq "$2"
	check "$1: the call is traced if it can be" test "$(count io.open)" -eq "$3"
}
has_said() { test "$(wc -l <"$tmp/said")" -ge "$lines"; }
protections() { awk '$6 ~ /(refuses|libpart\.so)$/ { print $1, $2 }' "/proc/$target/maps"; }
cat >"$tmp/part.c" <<'C'
#include <fcntl.h>
#include <unistd.h>
extern char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));
int part_has(long at) { return at >= (long)__ehdr_start && at < (long)_end; }
int part(void) { return close(open("/", O_RDONLY)); }
C
if ${CC:-cc} -O1 -w -shared -fPIC -Wl,-z,relro,-z,now -o "$tmp/libpart.so" "$tmp/part.c" &&
	${CC:-cc} -O1 -w -fpie -pie -rdynamic -Wl,-z,relro,-z,now -I "$here" -o "$tmp/refuses" "$tmp/refuses.c" \
		-L"$tmp" -lpart -Wl,-rpath,"$tmp" -ldl; then
	start_reading "$tmp/refuses"
	lines=1
	protections >"$tmp/before"
	attach_refusing none 0 1
	check "no refusal: standard error is empty" is_empty err
	check "no refusal: the program's memory has its protection" test "$(protections)" = "$(cat "$tmp/before")"
	attach_refusing close1 0 1
	check "a page that stays writable has a message" has err \
		': one page of its pointers to functions stays writable: .* the end of the trace tries it again$'
	check "the end of the trace protects it" test "$(protections)" = "$(cat "$tmp/before")"
	attach_refusing close 0 1
	check "if the end cannot protect it, a message says so" has err 'the next trace tries it again$'
	check "then the page is writable" test "$(protections)" != "$(cat "$tmp/before")"
	attach_refusing none 0 1
	check "the next trace protects it" test "$(protections)" = "$(cat "$tmp/before")"
	check "the next trace prints no message" is_empty err
	attach_refusing part1 0 1
	check "a page of a library that stays writable has a message" has err \
		': one page of its pointers to functions stays writable: .* the end of the trace tries it again$'
	check "the end of the trace protects it before it restores the pointers of other files" lacks err \
		'still pass through the library'
	check "then the memory of the program and its library has its protection" \
		test "$(protections)" = "$(cat "$tmp/before")"
	attach_refusing open 0 0
	check "pointers that cannot be changed have a message" has err \
		': [1-9][0-9]* of its pointers to functions are in memory that cannot become writable: calls through them are not traced$'
	attach_refusing map 1 0
	check "without memory nothing is attached, and the reason is printed" has err \
		'its calls cannot be traced: Cannot allocate memory'
	attach_refusing none 0 1
	check "after each refusal the process can be traced" is_empty err
	end_reading "a process that refuses"
fi

# Children are recorded on request only. Otherwise a line counts them.
mkfifo "$tmp/lines"
start sh -c 'while read -r line; do (:); echo "$line" >>"$1"; done <"$0"' "$tmp/lines" "$tmp/answers"
target=$pid
exec 8>"$tmp/lines"
for inherit in '' --inherit; do
	rm -f "$log" "$tmp/answers"
	# shellcheck disable=SC2086
	start "$posixtrace" attach -p "$target" $inherit -o "$log" >"$tmp/out" 2>"$tmp/err"
	tracer=$pid
	check "the shell is traced" until_true is_traced
	printf 'a\nb\n' >&8
	check "it has made two children" until_true grep -q b "$tmp/answers"
	kill -TERM "$tracer"
	wait "$tracer"
	test -n "$inherit" ||
		check "a line counts children that were not recorded" has err \
			'^posixtrace: the process has made 2 children, which were not recorded: --inherit'
done
check "there is no such line with --inherit" lacks err 'not recorded'
check "then they are in the log" test "$(count process.child)" -eq 2
exec 8>&-
kill_target

# Programs that the process or its children execute. While a tracer records them, the library passes
# itself on by the environment, and keeps the other variables and libraries.
ways='fork vfork spawn system'
lines=1 # "ready"
has_said() { test "$(wc -l <"$tmp/said")" -ge "$lines"; }
# execute WAY...: each of them, and then waits for all answers, which are in $tmp/answers.
execute() {
	lines=$((lines + $#))
	printf '%s\n' "$@" >&5
	check "$*: executed" until_true has_said
	tail -n $# "$tmp/said" >"$tmp/answers"
}
attach_and_execute() { # OPTION: '' or --inherit
	rm -f "$log"
	# shellcheck disable=SC2086
	start "$posixtrace" attach -p "$target" $1 -o "$log" >"$tmp/out" 2>"$tmp/err"
	tracer=$pid
	check "it is traced" until_true is_traced
	shift
	execute "$@"
	kill -TERM "$tracer"
	wait "$tracer"
}
PROBE_KEPT=yes LD_PRELOAD=$PROBE_LIBRARY POSIXTRACE_TRACE=none
export PROBE_KEPT LD_PRELOAD POSIXTRACE_TRACE
begin execute
unset PROBE_KEPT LD_PRELOAD POSIXTRACE_TRACE
# shellcheck disable=SC2086
attach_and_execute '' $ways
check "children are not recorded: their programs do not have the library" \
	test "$(grep -c ': without shim, kept yes$' "$tmp/answers")" -eq 4
check "their programs are no programs that cannot be traced" test "$(count process.untraced)" -eq 0
check "one line counts them" sh -c "grep -q '^posixtrace: the process has made 4 children' '$tmp/err' &&
	test \$(wc -l <'$tmp/err') -eq 1"
# shellcheck disable=SC2086
attach_and_execute --inherit $ways
check "children are recorded: their programs have the library" \
	test "$(grep -c ': with shim, kept yes$' "$tmp/answers")" -eq 3
for way in fork vfork spawn; do
	check "$way: the calls of the program are recorded" \
		test "$("$posixtrace" dump -e io.open "$log" | grep -c "/executed/by/$way\b")" -eq 1
done
check "the log is sound" is_sound
check "the account is even" is_even "$log"
check "a line names the program of system()" \
	has err '^posixtrace: programs that cannot be traced: /bin/sh (executed with[a-z ]* LD_PRELOAD); '
# shellcheck disable=SC2086
execute $ways
check "after the detachment no program has the library" \
	test "$(grep -c ': without shim, kept yes$' "$tmp/answers")" -eq 4
attach_and_execute --inherit large
check "a program with a large environment is executed without the library" \
	grep -q '^large: without shim, kept yes$' "$tmp/answers"
check "an event has the reason" \
	sh -c "'$posixtrace' dump -e process.untraced '$log' | grep -q 'large environment'"
attach_and_execute '' exec
check "the process itself executes a program, which is traced" \
	grep -q '^exec: with shim, kept yes$' "$tmp/answers"
check "its calls are recorded" \
	test "$("$posixtrace" dump -e io.open "$log" | grep -c /executed/by/exec)" -eq 1
check "there is no message" is_empty err
end_reading "executed programs"

# Other commands.
begin wait
run 0 record -p "$target" -o "$log" -d 100ms --trace io,-lock --force
check "record -p: the log is sound" is_sound
run 0 top -p "$target" --once -d 100ms
check "top -p: a page" has out "$target"
run 0 attach -p "$target" -o "$log" --force -d 100ms --trace none
end_reading "other commands"

# The tracer is killed at any moment: the process continues, and can be traced again.
begin allocate
for ms in 1 3 10 20 30 50 70 100; do
	rm -f "$log"
	(timeout -s KILL "0.$(printf %03d "$ms")" "$posixtrace" attach -p "$target" -o "$log" \
		>"$tmp/out"; :) >"$tmp/killed" 2>&1
	check "killed after $ms ms: the process lives" kill -0 "$target"
done
rm -f "$log"
run 0 attach -p "$target" -o "$log" -d 100ms
check "it is traced after that" is_sound
end_reading "killed tracers"

# Refused cases, in which the process is not changed.
refused() {
	rm -f "$log"
	# Without this option the kernel would record the calls of a static program.
	run 1 attach --syscalls=none -p "$target" -o "$log" -d 100ms
	check "$1: the reason" has err "$2"
	check "$1: no log" test ! -e "$log"
	check "$1: nothing is loaded" test "$(maps)" -eq 0
}
begin wait
kill -STOP "$target"
is_stopped() { grep -q '^State:.T' "/proc/$target/status"; }
until_true is_stopped
refused "a stopped process" 'it is stopped'
check "it stays stopped" is_stopped
kill -CONT "$target"
end_reading stopped
# Emulators have the linker and the C library of another program in their memory. These must not be
# called. A dynamic program that has a second C library is traced by its own one.
cat >"$tmp/emulator.c" <<'END'
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
/* Maps a library as the dynamic linker does, at a low address, and never runs it. */
static int map(const char *path, char *at)
{
	Elf64_Ehdr header;
	Elf64_Phdr part;
	int fd = open(path, O_RDONLY);

	if (pread(fd, &header, sizeof header, 0) != sizeof header)
		return 1;
	for (int i = 0; i < header.e_phnum; i++) {
		pread(fd, &part, sizeof part, header.e_phoff + i * sizeof part);
		unsigned long begin = part.p_vaddr & -4096ul;
		if (part.p_type == PT_LOAD && mmap(at + begin, part.p_vaddr + part.p_filesz - begin,
		    PROT_READ | (part.p_flags & PF_X ? PROT_EXEC : 0) |
		    (part.p_flags & PF_W ? PROT_WRITE : 0), MAP_PRIVATE | MAP_FIXED, fd,
		    part.p_offset & -4096ul) == MAP_FAILED)
			return 1;
	}
	return close(fd);
}
int main(int argc, char **argv)
{
	if (argc < 3 || map(argv[1], (char *)0x100000000) || map(argv[2], (char *)0x200000000))
		return 1;
	puts("mapped");
	fflush(stdout);
	while (read(0, &argc, 1) > 0)
		;
	puts("alive");
	return 0;
}
END
linker=$(sed -n 's:.* \(/.*/ld-linux-x86-64\.so\.2\)$:\1:p' /proc/self/maps | head -n 1)
libc=$(sed -n 's:.* \(/.*/libc\.so\.6\)$:\1:p' /proc/self/maps | head -n 1)
emulates() {
	: >"$tmp/emulated" # "mapped" of the program before
	"$@" "$linker" "$libc" <"$tmp/keys" >"$tmp/emulated" 2>&1 &
	target=$!
	started="$started $target"
	exec 8>"$tmp/keys"
	check "$1: it begins" until_true grep -q mapped "$tmp/emulated"
}
mkfifo "$tmp/keys"
if test -n "$linker" && ${CC:-cc} -w -o "$tmp/second" "$tmp/emulator.c" 2>/dev/null; then
	emulates "$tmp/second"
	rm -f "$log"
	run 0 attach -p "$target" -o "$log" -d 100ms --trace io
	check "a second C library: the first one is used" is_sound
	exec 8>&-
	check "a second C library: the program goes on" until_true grep -q alive "$tmp/emulated"
fi
if test -n "$linker" && ${CC:-cc} -w -static -o "$tmp/emulator" "$tmp/emulator.c" 2>/dev/null; then
	emulates "$tmp/emulator"
	refused "an emulator" 'it is a static program that has another program in its memory, as an emulator has'
	exec 8>&-
	check "an emulator goes on" until_true grep -q alive "$tmp/emulated"
fi
if command -v valgrind >/dev/null && valgrind --tool=none true 2>"$tmp/can"; then
	emulates valgrind --tool=none -q "$tmp/second"
	refused "valgrind" 'it runs under valgrind, .*; record it from its start instead: posixtrace record valgrind PROGRAM'
	exec 8>&-
	check "the program under valgrind goes on" until_true grep -q alive "$tmp/emulated"
	run 0 record --force -o "$log" valgrind --tool=none -q cat /dev/null
	check "a recording from the start has its calls" test "$("$posixtrace" dump -e io.open "$log" |
		grep -c /dev/null)" -eq 1
fi
# A program of another word size is not said to be static.
if echo 'void _start(void) { for (;;) __asm__ volatile("int $0x80" : : "a"(29) : "memory"); }' | # pause
	${CC:-cc} -m32 -nostdlib -static -fno-pie -no-pie -w -x c -o "$tmp/narrow" - 2>/dev/null; then
	start "$tmp/narrow"
	target=$pid
	is_narrow() { test "$(cat "/proc/$target/comm")" = narrow; }
	if until_true is_narrow; then refused "another word size" 'another processor, or of another word size'; fi
	kill_target
fi
# A limit that leaves no room is named, with each reason for which the load then fails.
if command -v prlimit >/dev/null; then
	memory() { sed -n "s/^$1:[^0-9]*\([0-9]*\) kB/\1/p" "/proc/$target/status"; }
	limited() {
		prlimit --pid "$target" "--$1:"
		refused "$1" "$2"
		check "$1: how to raise it" has err "'prlimit --pid $target --${1%%=*}=[a-z0-9]*:' raises the limit\$"
		prlimit --pid "$target" "--${1%%=*}=$3:"
	}
	begin allocate
	for more in 0 1024; do
		limited "as=$((($(memory VmSize) + more) * 1024))" \
			'; its limit of address space (RLIMIT_AS, [0-9]* bytes) leaves [0-9]* bytes; ' unlimited
	done
	limited "data=$(($(memory VmData) * 1024))" '; its limit of data (RLIMIT_DATA, [0-9]* bytes) leaves ' unlimited
	free=0
	while test -L "/proc/$target/fd/$free"; do free=$((free + 1)); done
	limited "nofile=$free" ": its limit of open files ($free) leaves 0 descriptors, but the library needs" 1024
	limited "nofile=$((free + 1))" ": its limit of open files ($((free + 1))) leaves [01] descriptor" 1024
	prlimit --pid "$target" "--as=$((($(memory VmSize) + 65536) * 1024)):"
	rm -f "$log"
	run 0 attach -p "$target" -o "$log" -d 300ms --trace alloc -s 256M
	check "a limit that has room for the library only" has err \
		"^posixtrace: process $target: events were lost for lack of memory; its limit of address space .* raises the limit\$"
	prlimit --pid "$target" --as=unlimited:
	rm -f "$log"
	run 0 attach -p "$target" -o "$log" -d 100ms --trace alloc
	check "it is traced without the limits" test "$(count 'alloc.*')" -gt 0
	# The limit of a process that ends before attach does.
	prlimit --pid "$target" "--as=$((($(memory VmSize) + 65536) * 1024)):"
	rm -f "$log"
	attach --trace alloc -s 256M
	end_reading limited
	finish_attach 0
	check "the limit of a process that has ended" has err \
		"^posixtrace: process $target: events were lost for lack of memory; its limit of address space "
fi
begin seccomp
refused "seccomp" 'seccomp'
end_reading seccomp
# A zombie has no maps, and a thread of the kernel none either.
# The child ends after its parent has become a program that does not wait for it.
mkfifo "$tmp/gate"
sh -c 'read line <"$1" & echo $! >"$0"; exec sleep 1000' "$tmp/zombie" "$tmp/gate" &
holder=$!
started="$started $holder"
until_true grep -q -x sleep "/proc/$holder/comm"
echo >"$tmp/gate"
is_zombie() { grep -q '^State:.Z' "/proc/$(cat "$tmp/zombie")/status"; }
until_true is_zombie
target=$(cat "$tmp/zombie")
refused "a zombie" 'it has ended'
begin traced
refused "a debugger" 'a debugger or another tracer'
end_reading traced
# Another posixtrace that ends soon, as after a kill of its command, is no reason for a refusal.
begin traced-briefly
rm -f "$log"
run 0 attach -p "$target" -o "$log" -d 100ms
check "after the end of another posixtrace: traced" is_sound
end_reading "after another posixtrace"
begin vfork
target=$(cat "$tmp/said")
refused "a child of vfork()" 'shares its parent'
target=$pid
end_reading vfork
static=$tmp/static
if echo 'int main(void) { return getchar() == 0; }' |
	${CC:-cc} -w -include stdio.h -static -x c -o "$static" - 2>/dev/null; then
	mkfifo "$tmp/in"
	start sh -c 'exec "$0" <"$1"' "$static" "$tmp/in"
	target=$pid
	exec 5>"$tmp/in"
	is_static() { test "$(readlink "/proc/$target/exe")" = "$static"; }
	until_true is_static
	refused "a static program" 'statically linked'
	exec 5>&-
fi
finish
