#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# --sample names the functions of programs without the library: of each program that a process executes, of
# libraries that are loaded later, of children, and of a program that is already running.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"

work_in_tmp

"$posixtrace" record --sample 997 --trace none -q -o s.ptl true 2>err || {
	grep -q 'the kernel' err || cat err
	check "a refusal has its reason" grep -q 'the kernel .* when threads run' err
	skip "the kernel does not permit perf_event_open()"
}

# Each program works for a time of its own CPU clock, so the load of the machine has no influence. Without
# an argument, the host works in a child, in a library, and then in the program that it executes.
cat >work.h <<'EOF2'
#include <time.h>
#define WORK(name) \
	__attribute__((noinline)) void name(void) \
	{ \
		static volatile unsigned n; \
		clock_t end = clock() + CLOCKS_PER_SEC / 10; \
		do \
			for (unsigned i = 0; i < 100000; i++) \
				n += i; \
		while (clock() < end); \
	}
EOF2
cat >plug.c <<'EOF2'
#include "work.h"
WORK(plug_work)
EOF2
cat >next.c <<'EOF2'
#include "work.h"
WORK(next_work)
int main(void) { next_work(); return 0; }
EOF2
cat >host.c <<'EOF2'
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "work.h"
WORK(host_work)
int main(int argc, char **argv)
{
	pid_t child;
	void *plug;

	(void)argv;
	if (argc > 1) { /* waits for the recorder */
		puts("ready");
		fflush(stdout);
		if (getchar() == EOF)
			return 1;
	}
	child = fork();
	host_work();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	plug = dlopen("./plug.so", RTLD_NOW);
	if (!plug)
		return 1;
	((void (*)(void))dlsym(plug, "plug_work"))();
	execl("./next", "next", (char *)0);
	return 1;
}
EOF2
id=-Wl,--build-id=sha1
${CC:-cc} -O1 $id -fPIC -shared -o plug.so plug.c && ${CC:-cc} -O1 $id -o next next.c &&
	${CC:-cc} -O1 $id -o host host.c -ldl || skip "no compiler"

# named LOG: the functions of the samples are named, also in both processes.
named() {
	"$posixtrace" dump --symbols -e cpu.sample "$1" >lines
	for name in host_work plug_work next_work; do
		check "$name has a name" grep -qw "in $name" lines
	done
	check "the child's functions, too" test \
		"$(sed -n 's/^[^ ]* *[^ ]* *\([0-9]*\) .* in host_work.*/\1/p' lines | sort -u | wc -l)" = 2
	run 0 verify "$1"
	check "the account is exact" has out ': called \([0-9]*\) = reported \1 + unread 0 + lost 0$'
}

for way in perf tracefs; do
	POSIXTRACE_KERNEL=$way run 0 record --sample 997 --trace none --force -q -o a.ptl ./host
	named a.ptl
done
"$posixtrace" symbols --json a.ptl >mapped
check "the recorder's mappings end at execve()" sh -c \
	'! grep "\"pid\":$(sed -n "/host\"/s/^{\"pid\":\([0-9]*\).*/\1/p" mapped | head -1)," mapped |
		grep "/libposixtrace" | grep -qv until_ns'
run 0 why a.ptl
check "why names the functions" has out '[a-z]*_work'
run 0 record --sample 997 --trace none --sched --force -q -o b.ptl ./host
named b.ptl
check "each end of a thread is there once" test "$("$posixtrace" dump -e sched.exit b.ptl | wc -l)" = 2
if run 0 record --sample 997 --sample-stack --trace none --force -q -o c.ptl ./host; then
	named c.ptl
	"$posixtrace" convert --to folded --stacks cpu.sample -o folded c.ptl
	check "copies of stacks are unwound" grep -q 'main;next_work' folded
fi

# A running process. attach records it alone, without its child.
log=$tmp/d.ptl
start_reading ./host wait
attach --sample 997 --trace none
until_true test -s "$log" # it has this name when the kernel records
echo >&5
exec 5>&-
wait "$target"
check "the program ends with 0" test $? -eq 0
finish_attach 0
"$posixtrace" dump --symbols -e cpu.sample "$log" >lines
for name in host_work plug_work next_work; do
	check "$name of a running process has a name" grep -qw "in $name" lines
done

# A process of another namespace of process IDs, where it is process 1, as in a container. All events have
# this number, and those of the library, too.
unshare -pmf --mount-proc true 2>/dev/null || finish
log=$tmp/e.ptl
start_reading unshare -pmf --mount-proc ./host wait
parent=$target
target=$(cat "/proc/$parent/task/$parent/children")
target=${target% }
attach --sample 997 --sched --trace process
until_true test -s "$log"
echo >&5
exec 5>&-
wait "$parent"
check "the program in a container ends with 0" test $? -eq 0
finish_attach 0
for type in cpu.sample sched.out process.exec; do
	check "the events $type have the number in the container" test \
		"$("$posixtrace" dump --json -e "$type" "$log" | sed -n 's/.*"pid":\([0-9]*\).*/\1/p' | sort -u)" = 1
done
"$posixtrace" dump --symbols -e cpu.sample "$log" >lines
for name in host_work plug_work next_work; do
	check "$name of a process in a container has a name" grep -qw "in $name" lines
done
run 0 verify "$log"
finish
