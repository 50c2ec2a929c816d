#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The start of a program with the shim: how much it costs, and that functions are found later.
. "${0%/*}/lib.sh"

: "${CC:=cc}"
POSIXTRACE_PRELOAD=$shim
export POSIXTRACE_PRELOAD

# The figures of one program do not depend on the load of the machine. The second program of the
# trace counts: the first one also registers the event types.
program=$(command -v true)
recorded() {
	rm -f "$log"*
	run 0 record -q -o "$log" -- sh -c '"$0"; exec "$@"' "$program" "$@"
}

calls() { grep -c '^[a-z_0-9]*(' "$1"; }
if command -v strace >/dev/null && strace -o "$tmp/none" true 2>/dev/null; then
	strace -o "$tmp/plain" "$program"
	recorded strace -o "$tmp/traced" "$program"
	more=$(($(calls "$tmp/traced") - $(calls "$tmp/plain")))
	echo "system calls: $(calls "$tmp/plain") plain, $more more"
	check "at most 70 system calls more, not $more" test $more -le 70
	# The shell makes the program by vfork() or fork(). Neither needs a search for ancestors.
	recorded strace -f -o "$tmp/family" sh -c "$program; $program"
	check "a program reads no file of /proc about its ancestors" lacks family \
		'"/proc/[self0-9]*/stat'
fi

# Each relocation of an address is a store into a page that the kernel then copies. Tables of
# pointers had 2,800 of them.
if command -v readelf >/dev/null; then
	count=$(readelf -rW "$shim" | grep -c '_RELATIV')
	check "at most 400 relocations of addresses in the shim, not $count" test "$count" -le 400
fi

# Valgrind counts instructions, those of the dynamic linker too.
instructions() { sed -n 's/.*Collected : \([0-9]*\)$/\1/p' "$1"; }
count() { valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program"; }
if command -v valgrind >/dev/null && count 2>"$tmp/plain"; then
	recorded valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$tmp/traced" "$program"
	more=$(($(instructions "$tmp/traced") - $(instructions "$tmp/plain")))
	echo "instructions: $(instructions "$tmp/plain") plain, $more more"
	check "at most 700000 instructions more, not $more" test $more -le 700000
	check "valgrind can read the library's rules for stacks" lacks traced 'CFI reader'
fi

# Writable memory of the library counts for the program's limit of data. The memory of patched
# functions is mapped only for plans that need it.
recorded sh -c "ulimit -d 1500; exec $program"
check "a program with 1500 KB of data starts" is_empty err
check "all events of the program are recorded" test \
	"$("$posixtrace" stat "$log" | grep -c '^account .* + lost 0')" -eq 1

# A thread calls functions for the first time while another one has the dynamic linker's lock.
cat >"$tmp/locked.c" <<'EOF'
#include <pthread.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void *call(void *failures)
{
	*(int *)failures = (mkdir("/nonexist/a", 0700) == -1) +
			   (rename("/nonexist/a", "/nonexist/b") == -1) +
			   (flock(-1, LOCK_EX) == -1) + (truncate("/nonexist/a", 1) == -1) +
			   (symlink("/nonexist/a", "/nonexist/b") == -1) + (chdir("/nonexist") == -1);
	return 0;
}

static void __attribute__((constructor)) begin(void)
{
	pthread_t thread;
	int failures = 0;

	pthread_create(&thread, 0, call, &failures);
	pthread_join(thread, 0);
	printf("%d\n", failures);
}
EOF
cat >"$tmp/loads.c" <<'EOF'
#include <dlfcn.h>
int main(int argc, char **argv) { return argc == 2 && dlopen(argv[1], RTLD_NOW) ? 0 : 1; }
EOF
if $CC -shared -fPIC -pthread -o "$tmp/locked.so" "$tmp/locked.c" 2>/dev/null &&
	$CC -o "$tmp/loads" "$tmp/loads.c" -ldl; then
	shim file,io timeout -k 5 60 "$tmp/loads" "$tmp/locked.so"
	check "the thread does not wait for the linker" exits 0
	check "all calls failed as they should" has out '^6$'
	check "the failed calls are recorded" shows 'file.(mkdir|rename|truncate|symlink|chdir) .*nonexist' 5
fi

# A stream that begins later. Calls before the start of the shim are no losses of this stream, even if
# the stream has other losses. Here the shim misses 4 of 20 holds, because it notes at most 16 locks that
# a thread holds.
cat >"$tmp/later.c" <<'EOF'
#include <fcntl.h>
#include <pthread.h>
#include <trace.h>
int main(int argc, char **argv)
{
	static pthread_mutex_t lock[20];
	trace_attr_t attr;
	trace_id_t trid;
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0666) : -1;

	if (fd < 0 || posix_trace_attr_init(&attr) ||
	    posix_trace_create_withlog(0, &attr, fd, &trid) || posix_trace_start(trid))
		return 1;
	for (int i = 0; i < 20; i++)
		if (pthread_mutex_init(&lock[i], 0) || pthread_mutex_lock(&lock[i]))
			return 1;
	for (int i = 0; i < 20; i++)
		if (pthread_mutex_unlock(&lock[i]))
			return 1;
	return posix_trace_shutdown(trid);
}
EOF
top=$(cd "${top_srcdir:-${0%/*}/../..}" && pwd)
if $CC -pthread -I"$top/include" -o "$tmp/later" "$tmp/later.c" -L"$build/lib/.libs" -lposixtrace; then
	rm -f "$log"*
	LD_PRELOAD=$shim POSIXTRACE_TRACE=alloc,lock-hold "$tmp/later" "$log"
	check "a program that traces itself later works" test $? -eq 0
	"$decode" "$log" >"$tmp/events" 2>"$tmp/why"
	check "its stream has only its own losses" \
		shows 'posixtrace_shim_lost early=0 unnamed=0 holds=4 early_alloc=0$' 1
fi

# The order of libraries: the program, the shim, other preloaded ones, those of the program.
cat >"$tmp/other.c" <<'EOF'
#include <sys/types.h>
#include <errno.h>
int mkfifo(const char *path, mode_t mode) { (void)path, (void)mode; errno = EXDEV; return -1; }
EOF
cat >"$tmp/calls.c" <<'EOF'
#include <errno.h>
#include <sys/stat.h>
int main(void) { return mkfifo("/nonexist/fifo", 0600) == -1 && errno == EXDEV ? 0 : 1; }
EOF
if $CC -shared -fPIC -o "$tmp/libother.so" "$tmp/other.c" 2>/dev/null &&
	$CC -o "$tmp/calls" "$tmp/calls.c"; then
	rm -f "$log"*
	LD_PRELOAD="$shim $tmp/libother.so" POSIXTRACE_OPTIONS="-v -o $log --trace=file" "$tmp/calls"
	check "a library that is preloaded behind the shim is called" test $? -eq 0
	$CC -o "$tmp/linked" "$tmp/calls.c" -L"$tmp" -lother -Wl,-rpath,"$tmp"
	shim file "$tmp/linked"
	check "a library of the program in front of the C library is called" exits 0
	check "the error of a call through the library is recorded" shows 'mknod .*fifo' 1
	# One without DT_GNU_HASH: all functions are looked up at the start.
	$CC -shared -fPIC -Wl,--hash-style=sysv -o "$tmp/libother.so" "$tmp/other.c"
	shim file "$tmp/linked"
	check "a library with the old hash table is called" exits 0
fi

# A program may replace a function that the library calls while it sets up the process, for example
# malloc(), and make traced calls there. The numbers of the event types are those of the family.
cat >"$tmp/early.c" <<'EOF'
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

extern char **environ;

char *secure_getenv(const char *name)
{
	const size_t len = strlen(name);

	prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	for (char **at = environ; at && *at; at++)
		if (!strncmp(*at, name, len) && (*at)[len] == '=')
			return *at + len + 1;
	return 0;
}

int main(void)
{
	return access("/", F_OK);
}
EOF
if $CC -rdynamic -o "$tmp/early" "$tmp/early.c"; then
	rm -f "$log"*
	run 0 record -q -o "$log" -- sh -c '"$0"; exit 0' "$tmp/early"
	"$decode" "$log" >"$tmp/events" 2>"$tmp/why"
	check "types have their numbers if a call precedes the set-up of the process" \
		shows "process.start .* program=$tmp/early\$" 1
	check "a call after the set-up has its type" shows 'file.access .* path=/$' 1
fi

# Such a function may also open a type of its own: each set-up of the process would call it again.
cat >"$tmp/opens.c" <<'EOF'
#include <stdlib.h>
#include <string.h>

extern char **environ;
extern int posix_trace_eventid_open(const char *name, unsigned *id) __attribute__((weak));
static unsigned id;

char *secure_getenv(const char *name)
{
	const size_t len = strlen(name);

	if (!id && posix_trace_eventid_open)
		posix_trace_eventid_open("of.the.program", &id);
	for (char **at = environ; at && *at; at++)
		if (!strncmp(*at, name, len) && (*at)[len] == '=')
			return *at + len + 1;
	return 0;
}

int main(void)
{
	return !id;
}
EOF
if $CC -rdynamic -o "$tmp/opens" "$tmp/opens.c"; then
	shim file "$tmp/opens"
	check "the set-up of the process ends if a function that it calls opens a type" exits 0
fi
finish
