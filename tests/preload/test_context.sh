#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Contexts in which preloaded libraries often fail. Each part is a row of CONTEXTS in
# posixtrace-preload(7).
. "${0%/*}/lib.sh"

: "${CC:=cc}"
POSIXTRACE_PRELOAD=$shim
export POSIXTRACE_PRELOAD

# [without="-x GLOB"] recorded FAMILIES COMMAND...: as shim, but with posixtrace record, which
# traces from before the start.
recorded() {
	families=$1
	shift
	rm -f "$log"*
	"$posixtrace" record -q -o "$log" --trace="$families" $without -- "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	"$decode" "$log" >"$tmp/events" 2>"$tmp/why"
	check "$2: every event is what its schema says" is_empty why
}
call() { shows "io.close .* fd=-$1 error=9\$" "$2"; }
ledger_is_closed() { "$posixtrace" verify "$log" | grep ': called [0-9]* = reported '; }
# build OPTION...: a program or library of the C that is on standard input
build() { $CC -g -x c - -x none "$@" 2>"$tmp/cc" || { cat "$tmp/cc"; return 1; }; }

# before main, constructor, at exit, after exit
build -shared -fPIC -o "$tmp/libctor.so" <<'EOF' || skip "no compiler"
#include <stdlib.h>
#include <unistd.h>
static void __attribute__((constructor)) begin(void) { free(malloc(10)); close(-11); }
static void __attribute__((destructor)) end(void) { close(-16); free(malloc(10)); }
int needed(void) { return 0; }
EOF
build -o "$tmp/ctor" "$tmp/libctor.so" -Wl,-rpath,"$tmp" <<'EOF'
#include <stdlib.h>
#include <unistd.h>
int needed(void);
static void __attribute__((constructor)) begin(void) { close(-12); }
static void __attribute__((destructor)) end(void) { close(-15); }
static void last(void) { close(-14); }
int main(void) { atexit(last); close(-13); return needed(); }
EOF
recorded io,process,alloc "$tmp/ctor"
check "constructors and destructors run as without the shim" exits 0
for each in 11 12 13 14 15 16; do
	check "close($each) is traced" call $each 1
done
order=$(grep -o 'fd=-1[1-6] ' "$tmp/events" | tr -d '\n')
check "in their order" test "$order" = "fd=-11 fd=-12 fd=-13 fd=-14 fd=-15 fd=-16 "
check "earlier allocations, also those of the dynamic linker, are counted" shows 'posixtrace_shim_lost early=[1-9].* early_alloc=[1-9]' 1
shim "alloc -e alloc.mlock" "$tmp/ctor"
check "earlier calls of types that are not chosen are no losses" shows posixtrace_shim_lost 0
shim "alloc -e alloc.free -e alloc.malloc" "$tmp/ctor"
check "those of chosen types are" shows 'posixtrace_shim_lost early=[1-9]' 1
shim "alloc -e alloc.m*map -e alloc.madvise" "$tmp/ctor"
check "those of the library itself are not" shows posixtrace_shim_lost 0
rm -f "$log"*
run 4 record -q --fail-on-loss -o "$log" --trace=alloc -- "$tmp/ctor"
check "record -q reports the untraced calls for exit status 4" has err ' events, 0 lost, calls not traced: [1-9]'
rm -f "$log"*
"$posixtrace" record -o "$log" --trace=io,process,alloc -- "$tmp/ctor" >"$tmp/out" 2>"$tmp/err"
check "record reports the calls that were not traced" \
	has err ", calls not traced: [1-9][0-9]* before the library had begun, [0-9]* bytes\$"
"$posixtrace" record --force -q --fail-on-loss -o "$log" --trace=alloc -- "$tmp/ctor" 2>"$tmp/err"
check "--fail-on-loss fails because of untraced calls" test $? -eq 4
"$posixtrace" record --force --fail-on-loss -o "$log" --trace=process -- "$tmp/ctor" 2>"$tmp/err"
check "where all were traced it does not fail" test $? -eq 0
check "no untraced calls are reported" lacks err 'not traced'
shim io "$tmp/ctor"
check "a log of its own has all from main on" call 13 1
check "the calls of exit handlers are recorded" call 14 1

# TLS destructor
recorded io,thread,alloc "$probe" tls-destructor
check "destructors of thread-local data" exits 0
check "are traced" call 21 10

# signal handler, sigaltstack
recorded all "$probe" altstack
check "a handler on a stack of its own" exits 0
check "is traced" call 31 1
check "a vfork in it is traced" shows 'process.vfork .* error=0 flags=0x0$' 1

# fork in a threaded program
without="-x alloc.*" recorded all,-lock "$probe" fork-threads
check "children of a program whose threads are in wrappers" exits 0
check "are traced" call 41 50
check "each begins once" shows 'process.child ' 50
check "their ledger is closed" ledger_is_closed

# dlclose'd caller
build -shared -fPIC -o "$tmp/libcall.so" <<'EOF'
#include <unistd.h>
void call(void) { close(-51); }
EOF
recorded io,dl "$probe" dlclosed "$tmp/libcall.so"
check "a caller that is unloaded" exits 0
check "is traced each time" call 51 10

# many threads, many children
recorded all "$probe" many-threads
check "200 threads" exits 0
check "are traced" call 61 2000
check "their ends are traced" shows 'thread.end ' 200
recorded io,process "$probe" many-children
check "500 children" exits 0
check "are traced" call 71 500
check "their processes are reported" shows 'process.fork .* error=0 flags=0x0$' 500
check "their ledger is closed" ledger_is_closed

# _exit
shim io "$probe" _exit
check "_exit ends with its status" exits 3
check "the earlier calls are in the log that the guardian completes" call 81 1

# a program with its own malloc
build -o "$tmp/own" <<'EOF'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char memory[1 << 20];
static size_t used;
void *malloc(size_t n) { void *p = memory + used; used += n + 15 & ~15ul; return used < sizeof memory ? p : NULL; }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *p, size_t n) { void *q = malloc(n); return p ? memcpy(q, p, n) : q; }
void free(void *p) { (void)p; }
int main(void) { char *p = malloc(123); close(-91); free(p); return !(p >= memory && p < memory + sizeof memory); }
EOF
recorded io,alloc "$tmp/own"
check "a program with its own malloc" exits 0
check "uses that, unseen" shows 'alloc.malloc size=123' 0
check "the call of the wrapper is traced" call 91 1

# malloc called by dlsym; RTLD_NEXT missing
build -shared -fPIC -o "$tmp/libdlsym.so" <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
void *dlsym(void *handle, const char *name)
{
	static void *(*real)(void *, const char *);
	void *p, *q = malloc(100), *r = calloc(10, 10), *result;
	if (!q || !r || memcmp(r, "\0\0\0", 3)) abort();
	strcpy(q, "hello");
	q = realloc(q, 200);
	if (!q || strcmp(q, "hello")) abort();
	if (posix_memalign(&p, 64, 64) == 0) free(p);
	if (!real) real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!real) real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	result = getenv("HIDE") && !strcmp(name, getenv("HIDE")) ? NULL : real(handle, name);
	free(q);
	free(r);
	return result;
}
EOF
plain=$shim
for families in alloc io; do
	shim="$plain:$tmp/libdlsym.so" # behind: what is next to it is next to us
	shim $families "$probe" alloc
	check "$families: dlsym may allocate memory" exits 0
done
check "a function that there is" "$probe" syncs
HIDE=fdatasync shim io "$probe" syncs
check "one that there is not says so" exits 38
check "the call of the wrapper is traced" shows 'io.fdatasync .* fd=-1 error=38$' 1
shim=$plain

# static TLS exhausted
GLIBC_TUNABLES=glibc.rtld.optional_static_tls=0 recorded all "$probe" io "$tmp/file"
check "no room for static TLS is kept for libraries that come later" exits 0
check "this one came at the start" shows 'io.open .* path=.*/file$'

# replaced functions, as of libfakeroot: they hold a lock while they call traced functions
build -shared -fPIC -w -o "$tmp/libreplaces.so" <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <unistd.h>
static _Thread_local int is_locked;
static void *begin_call(const char *name, void *caller)
{
	struct sembuf up = { 0, 1, 0 };
	Dl_info info = { 0 };
	if (is_locked || (dladdr(caller, &info) && strstr(info.dli_fname, "/libposixtrace.so"))) {
		write(2, name, strlen(name));
		_exit(98);
	}
	is_locked = 1;
	semop(-1, &up, 1);
	is_locked = 0;
	return dlsym(RTLD_NEXT, name);
}
#define REPLACE(type, name, arguments, ...) \
	type name(__VA_ARGS__) \
	{ \
		__typeof__(name) *next = begin_call(#name, __builtin_return_address(0)); \
		return next arguments; \
	}
REPLACE(int, stat, (a, b), const char *a, struct stat *b)
REPLACE(int, lstat, (a, b), const char *a, struct stat *b)
REPLACE(int, fstat, (a, b), int a, struct stat *b)
REPLACE(int, fstatat, (a, b, c, d), int a, const char *b, struct stat *c, int d)
REPLACE(int, access, (a, b), const char *a, int b)
REPLACE(int, open, (a, b, c), const char *a, int b, mode_t c)
REPLACE(int, openat, (a, b, c, d), int a, const char *b, int c, mode_t d)
REPLACE(ssize_t, readlink, (a, b, c), const char *a, char *b, size_t c)
REPLACE(ssize_t, readlinkat, (a, b, c, d), int a, const char *b, char *c, size_t d)
REPLACE(int, mkdirat, (a, b, c), int a, const char *b, mode_t c)
REPLACE(int, unlink, (a), const char *a)
REPLACE(int, unlinkat, (a, b, c), int a, const char *b, int c)
REPLACE(void *, opendir, (a), const char *a)
REPLACE(uid_t, geteuid, (), void)
EOF
build -o "$tmp/opens" <<'EOF'
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	struct stat st;
	int status;
	if (stat("/nonexist", &st) == 0 || fork() == 0) {
		open("/nonexist", O_RDONLY);
		_exit(0);
	}
	wait(&status);
	return status;
}
EOF
for order in 'LD_PRELOAD=$0:$LD_PRELOAD' 'LD_PRELOAD=$LD_PRELOAD:$0'; do
	recorded default sh -c "$order"' exec "$@"' "$tmp/libreplaces.so" "$tmp/opens"
	check "$order: a library that replaces functions works" exits 0
	check "$order: nothing is printed" is_empty err
	check "$order: the child's call is traced" shows 'io.open .*path=/nonexist' 1
	check "$order: the calls of the other library are traced" shows 'ipc.semop'
	check "$order: the calls of the parent are traced" shows 'process.wait'
done
LD_PRELOAD=$tmp/libreplaces.so "$posixtrace" record --force -o "$log" "$tmp/opens" >"$tmp/out" 2>"$tmp/err"
status=$?
check "the tool works with the other library" exits 0
"$decode" "$log" >"$tmp/events"
check "the tool works with the other library, and the child's call is traced" \
	shows 'io.open .*path=/nonexist' 1

# set-user-id
cp "$probe" "$tmp/suid"
if test "$(id -u)" -eq 0 && chown 65534 "$tmp/suid" && chmod 4755 "$tmp/suid" && chmod 755 "$tmp"; then
	rm -f "$log"*
	LD_PRELOAD=$shim POSIXTRACE_OPTIONS="-o $log" "$tmp/suid" syncs
	check "a set-user-id program runs" test $? -eq 0
	check "the program makes no log" test ! -e "$log"
fi

# static binary
if echo 'int main(void) { return 5; }' | build -static -o "$tmp/static"; then
	without=--syscalls=none
	recorded all "$tmp/static"
	without=
	check "a static program runs" exits 5
	check "a static program has no events without the kernel" shows 'process.start' 0
fi

# all off
rm -f "$log"*
POSIXTRACE=off LD_PRELOAD=$shim POSIXTRACE_OPTIONS="-o $log" "$probe" syncs
check "POSIXTRACE=off: the program runs" test $? -eq 0
check "the program makes no log" test ! -e "$log"
POSIXTRACE=off recorded all "$probe" syncs
check "POSIXTRACE=off: only the recorder's event of the end is there" shows posixtrace_ended 1
check "POSIXTRACE=off: nothing is traced" shows . 1

# A program that defines functions of the C library, as a sanitizer in the program does. Its other
# calls are recorded.
cat >"$tmp/defines.c" <<'C'
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>
int epoll_pwait2(int fd, struct epoll_event *event, int n, const struct timespec *t, const sigset_t *s)
{
	return -1;
}
ssize_t pwritev2(int fd, const struct iovec *part, int n, off_t at, int flags) { return -1; }
int main(void)
{
	close(-31);
	return 0;
}
C
if ${CC:-cc} -w -rdynamic -o "$tmp/defines" "$tmp/defines.c"; then
	recorded io "$tmp/defines"
	check "the calls of a program that defines functions of the C library are recorded" call 31 1
fi

# A library whose constructor runs before that of libposixtrace makes 0 or 100 allocations. The shim
# counts all of them, and none of those that libposixtrace makes afterwards.
cat >"$tmp/first.c" <<'C'
#include <stdlib.h>
void first(void) {}
__attribute__((constructor)) static void start(void)
{
	void *volatile memory;
	for (int i = atoi(getenv("FIRST")); i > 0; i--)
		memory = malloc(10);
}
C
if ${CC:-cc} -w -O0 -shared -fPIC -o "$tmp/libfirst.so" "$tmp/first.c" &&
	echo 'void first(void); void second(void) { first(); }' |
	${CC:-cc} -w -shared -fPIC -x c -o "$tmp/libsecond.so" - -x none -L"$tmp" -lfirst -Wl,-rpath,"$tmp" &&
	echo 'void second(void); int main(void) { second(); return 0; }' |
	${CC:-cc} -w -x c -o "$tmp/program" - -x none -L"$tmp" -lsecond -Wl,-rpath,"$tmp" -Wl,-rpath-link,"$tmp"; then
	for FIRST in 0 100; do
		export FIRST
		shim alloc "$tmp/program"
		sed -n 's/.*early_alloc=\([0-9]*\)$/\1/p' "$tmp/events" >"$tmp/first.$FIRST"
	done
	check "early calls of a library are counted exactly" \
		test "$(cat "$tmp/first.100")" -eq "$(($(cat "$tmp/first.0") + 100))"
fi

finish
