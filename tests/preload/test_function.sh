#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# record --function: functions of programs that were not compiled for tracing. Programs are built in
# several ways; each prints the same with and without a trace, and each entry has its return.
. "${0%/*}/lib.sh"

POSIXTRACE_PRELOAD=$shim
GMON_OUT_PREFIX=$tmp/gmon # of programs that are built with -pg
export POSIXTRACE_PRELOAD GMON_OUT_PREFIX
test "$(uname -m)" = x86_64 || skip "functions are patched on x86-64 only"
cc=${CC:-cc} cxx=${CXX:-c++}
"$posixtrace" record -o "$log" --function main "$probe" 2>&1 | grep -q 'built without' && skip "no Zydis"

# traced PROGRAM OPTION...: runs it plain and with a trace into $log
traced() {
	program=$1
	shift
	"$program" >"$tmp/plain.out" 2>/dev/null </dev/null
	plain=$?
	rm -f "$log"*
	"$posixtrace" record --wait -s 16M -o "$log" "$@" "$program" >"$tmp/traced.out" 2>"$tmp/err" </dev/null
	traced=$?
}
same() {
	test $plain -eq $traced && diff "$tmp/plain.out" "$tmp/traced.out" && return 0
	echo "without $plain, with $traced"
	head -n 20 "$tmp/err"
	return 1
}
count() { "$posixtrace" dump -e "$1" "$log" | wc -l; }
# nested OPEN: each call but those of depth 0 is inside of one that ends later in its thread, or that
# has not ended. At most OPEN functions have not: main() may be refused.
nested() {
	open=$(count func.open)
	test "$(count func.call)" -gt 0 && test "$open" -le "$1" || {
		echo "$(count func.call) calls, $open open"
		return 1
	}
	"$posixtrace" dump --fields tid,event,depth -e func.call -e func.open "$log" | awk '
		{ at = $1 " " $3 + 1; depth[$1] = $3; while (last[$1] > $3 + 1) delete left[$1 " " last[$1]--]
		  delete left[at]; left[$1 " " $3] = 1; last[$1] = $3 }
		END { for (k in left) { split(k, a, " "); if (a[2] > 0) { print "an orphan: " k; bad = 1 } } exit bad }'
}
none_lost() { test "$(count posixtrace_shim_lost)" -eq 0; }

# build NAME FLAG...: what the compiler does not support is not tested
build_cxx() {
	# shellcheck disable=SC2086 # $cxx is a command with arguments
	$cxx "$@" -w -pthread -o "$tmp/program" "$here/functions.cc" 2>"$tmp/why" && "$tmp/program" >/dev/null 2>&1
	test $? -eq 3
}

built=0
for flags in -O0 -O2 -O3 '-O2 -fpatchable-function-entry=5' '-O2 -fpatchable-function-entry=16,3' \
	'-O2 -pg -mfentry' '-O2 -fcf-protection' '-O2 -fno-pie -no-pie' '-O1 -static-libgcc -static-libstdc++' \
	'-O2 -fno-plt -fomit-frame-pointer -march=native'; do
	# shellcheck disable=SC2086
	build_cxx $flags || continue
	built=$((built + 1))
	traced "$tmp/program" --function '*@program'
	check "$flags: the program does what it does without a trace" same
	check "$flags: all functions return, but main() of a child that calls _exit()" nested 1
	check "$flags: no call is lost" none_lost
	check "$flags: the log is sound" "$posixtrace" verify "$log"
done
check "programs were built" test $built -ge 5

# A stripped program has the functions that the dynamic linker knows; all libraries are traced.
# shellcheck disable=SC2086
if build_cxx -O2 -rdynamic && strip "$tmp/program"; then
	traced "$tmp/program" --function '*'
	check "stripped, with its libraries: the program does what it does" same
	check "stripped: no call is lost" none_lost
fi

# shellcheck disable=SC2086
$cc -O1 -w -o "$tmp/asm" "$here/functions_asm.c" || exit 99
traced "$tmp/asm" --trace none --function 'f_*'
check "moved instructions: the results are the same" same
check "moved instructions: all are traced" grep -q ': 27 functions are traced$' "$tmp/err"
check "moved instructions: all functions return" nested 0
# refused NAME REASON
refused() {
	traced "$tmp/asm" --function "$1" 2>/dev/null
	check "$1 is refused: $2" grep -q "0 functions are traced, 1 refused: 1 ($2)" "$tmp/err"
	check "$1: record fails and executes nothing" test $traced -eq 125 -a ! -s "$tmp/traced.out"
}
refused x_loop 'a loop begins at its first instruction'
refused x_loop_inside 'a branch leads into its first bytes'
refused x_jrcxz 'an instruction among the first cannot be moved'
refused x_register_call 'a call through a register is among its first instructions'
refused x_pointed 'data has the address of one of its first bytes'
refused x_data_inside 'its instructions cannot be decoded'
refused _start "the program's first instruction"

# The commands on logs show each function by its name, and the tree of calls.
cat >"$tmp/tree.c" <<'C'
volatile int count;
__attribute__((noinline)) void leaf(void) { count = count + 1; }
__attribute__((noinline)) void middle(int n) { for (int i = 0; i < n; i++) leaf(); __asm__ volatile(""); }
__attribute__((noinline)) void top(void) { middle(2); middle(3); __asm__ volatile(""); }
int main(void) { top(); top(); return 0; }
C
# shellcheck disable=SC2086
$cc -O1 -o "$tmp/tree" "$tmp/tree.c" || exit 99
traced "$tmp/tree" --trace none --function '*@tree'
run 0 latency "$log"
row() { awk -v name="$1" '$NF == name { print $1 }' "$tmp/out"; }
check "a row for each function" test "$(row main) $(row top) $(row middle) $(row leaf)" = "1 2 4 10"
check "no row combines all functions" test -z "$(row function)"
run 0 html -o "$tmp/page.html" "$log"
check "a page has the names" has page.html '"name":"middle"'
run 0 convert --to speedscope -o "$tmp/tree.json" "$log"
# Indents each opened frame by its depth.
sed -n 's/^{"type":"\([OC]\)","frame":\([0-9]*\).*/\1 \2/p' "$tmp/tree.json" |
	awk '$1 == "O" { printf "%d", $2; next } { printf "." } END { print "" }' >"$tmp/shape"
check "the calls nest" grep -qxF 3210.0..10.0.0...210.0..10.0.0.... "$tmp/shape"

run 0 convert --to folded "$log"
cut -d ' ' -f 1 "$tmp/out" >"$tmp/stacks"
check "folded stacks have the tree" test "$(tr '\n' ' ' <"$tmp/stacks")" = \
	"main main;top main;top;middle main;top;middle;leaf "

# Functions that a thread does not leave by a return. The program is not linked with the library that
# unwinds the stack.
cat >"$tmp/ends.c" <<'C'
#include <pthread.h>
#include <unistd.h>
volatile int count, waiting;
__attribute__((noinline)) void leaves(void) { count = count + 1; pthread_exit(NULL); }
__attribute__((noinline)) void *left(void *a) { leaves(); count = count + 1; return a; }
__attribute__((noinline)) void waits(void) { waiting = 1; while (count) pause(); }
__attribute__((noinline)) void *cancelled(void *a) { waits(); count = count + 1; return a; }
int main(void)
{
	pthread_t id;
	pthread_create(&id, NULL, left, NULL);
	pthread_join(id, NULL);
	pthread_create(&id, NULL, cancelled, NULL);
	while (!waiting)
		usleep(1000);
	pthread_cancel(id);
	pthread_join(id, NULL);
	return 1;
}
C
# shellcheck disable=SC2086
$cc -O1 -w -pthread -o "$tmp/ends" "$tmp/ends.c" || exit 99
traced "$tmp/ends" --trace thread --function leaves --function waits
check "functions that the end of a thread leaves: the program does what it does" same
check "each of them has ended" test "$(count func.call) $(count func.open)" = "2 0"

# A jump out of a destructor that runs because of an exception, at whose throw the outer functions were
# marked. They return, and the thread ends. Later threads need many slots, which must all be different.
cat >"$tmp/jump.cc" <<'C'
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
volatile int count;
static thread_local jmp_buf env;
__attribute__((noinline)) void leaf(int n) { if (n) leaf(n - 1); count = count + 1; }
struct jumper { ~jumper() { if (count) longjmp(env, 1); } };
__attribute__((noinline)) void thrower() { count = count + 1; throw 1; }
__attribute__((noinline)) void middle() { jumper here; thrower(); count = count + 1; }
__attribute__((noinline)) void catcher() { try { middle(); } catch (int) { count = count + 1; } }
__attribute__((noinline)) void tries() { if (!setjmp(env)) catcher(); count = count + 1; }
__attribute__((noinline)) void outer_two() { tries(); count = count + 1; }
__attribute__((noinline)) void outer() { outer_two(); count = count + 1; }
static void *jumps(void *a) { outer(); return a; }
static void *calls(void *a) { for (int i = 0; i < 2000; i++) leaf(12); return a; }
int main()
{
	pthread_t id;
	pthread_create(&id, nullptr, jumps, nullptr);
	pthread_join(id, nullptr);
	for (int i = 0; i < 40; i++) { /* more than the shim has lists of slots */
		pthread_create(&id, nullptr, calls, nullptr);
		pthread_join(id, nullptr);
	}
	puts("ends");
	return 0;
}
C
# shellcheck disable=SC2086
$cxx -O1 -w -pthread -o "$tmp/jump" "$tmp/jump.cc" || exit 99
traced "$tmp/jump" --trace thread --function '*@jump'
check "a jump out of a destructor: the program does what it does" same

# A library that is loaded later.
cat >"$tmp/loads.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	int (*function)(int) = (int (*)(int))dlsym(library, "in_plugin");
	printf("%d %d\n", function(1), function(2));
	return 0;
}
C
echo 'int in_plugin(int a); int in_plugin(int a) { return a * 3 + 1; }' >"$tmp/plugin.c"
# shellcheck disable=SC2086
$cc -O1 -w -o "$tmp/loads" "$tmp/loads.c" -ldl && $cc -O1 -shared -fPIC -o "$tmp/plugin.so" "$tmp/plugin.c" || exit 99
rm -f "$log"*
run 0 record -o "$log" --function "in_plugin@$tmp/plugin.so" "$tmp/loads" "$tmp/plugin.so"
check "a library that is loaded later does what it does" has out '^4 7$'
check "its functions are traced" test "$(count func.call)" -eq 2

# A process that gives up the right to make memory executable, and then loads a library again.
cat >"$tmp/gives_up.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <sys/prctl.h>
int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		int (*function)(int) = (int (*)(int))dlsym(library, "in_plugin");
		printf("%d\n", function(i));
		dlclose(library);
		/* PR_SET_MDWE and PR_MDWE_REFUSE_EXEC_GAIN, since Linux 6.3 */
		if (!i && prctl(65, 1L, 0L, 0L, 0L))
			return 77;
	}
	return 0;
}
C
# shellcheck disable=SC2086
$cc -O1 -w -o "$tmp/gives_up" "$tmp/gives_up.c" -ldl || exit 99
if "$tmp/gives_up" "$tmp/plugin.so" >"$tmp/out"; then
	rm -f "$log"*
	run 0 record -o "$log" --function "in_plugin@$tmp/plugin.so" "$tmp/gives_up" "$tmp/plugin.so"
	check "a process that gave up executable memory does what it does" has out '^4$'
	check "the function is traced until then" test "$(count func.call)" -eq 1
	check "then it is refused" test "$("$posixtrace" dump -e posixtrace_shim_patched "$log" |
		grep -c 'refused=1 why="memory cannot be made executable"')" -eq 1
fi

# Code that may not become executable again after it was writable. SELinux can have this rule for the
# code of files. The program's filter for its own addresses has the same effect.
cat >"$tmp/denied.c" <<'C'
#include "own_filter.h"
#include <stdio.h>
#include <sys/mman.h>
__attribute__((noinline)) int work(int a) { __asm__ volatile("" : "+r"(a)); return a * 3 + 1; }
__attribute__((noinline, aligned(8192))) int other(int a) { __asm__ volatile("" : "+r"(a)); return a * 5 + 1; }
int main(int argc, char **argv)
{
	struct sock_filter rules[] = {
		WORD(nr, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 8),
		WORD(args[2], 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_READ | PROT_EXEC, 0, 6),
		WORD(args[0], 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 4),
		WORD(args[0], 0),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x400000, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x500000, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 13),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	if (!is_filtered(argc, argv, rules, sizeof rules / sizeof rules[0]))
		return 77;
	printf("%d %d\n", work(1), other(1));
	return 0;
}
C
# shellcheck disable=SC2086
if $cc -O1 -w -fno-pie -no-pie -I "$here" -o "$tmp/denied" "$tmp/denied.c" && "$tmp/denied" >"$tmp/out"; then
	traced "$tmp/denied" --trace none --function work --function other
	check "code that may not become executable again: the program does what it does" same
	check "its functions are refused" test "$("$posixtrace" dump -e posixtrace_shim_patched "$log" |
		grep -c 'patched=0 refused=2 why="code cannot be made executable again"')" -eq 1
fi

# A filter refuses mprotect() for the second of two pages. All jumps of the module are written, or
# none of them: the program prints the bytes of both functions. "write": the page cannot become
# writable. "execute": it cannot become executable again. "move": it cannot become executable again,
# and mremap() is refused, so that no copy can replace it.
cat >"$tmp/second.c" <<'C'
#include "own_filter.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
__attribute__((noinline, aligned(8192))) int work(int a) { __asm__ volatile("" : "+r"(a)); return a * 3 + 1; }
__attribute__((noinline, aligned(8192))) int other(int a) { __asm__ volatile("" : "+r"(a)); return a * 5 + 1; }
int main(int argc, char **argv)
{
	const unsigned char *code[] = { (void *)work, (void *)other };
	const char *word = getenv("REFUSED");
	const int no_move = !strcmp(word, "move"), protection = strcmp(word, "write") ? PROT_EXEC : PROT_WRITE;
	struct sock_filter rules[] = {
		WORD(nr, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, no_move ? SYS_mremap : -1, 9, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 7),
		WORD(args[2], 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_READ | protection, 0, 5),
		WORD(args[0], 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),
		WORD(args[0], 0),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (unsigned)(size_t)other, 0, 1),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (unsigned)(size_t)other + 4096, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 13),
	};

	if (!is_filtered(argc, argv, rules, sizeof rules / sizeof rules[0]))
		return 77;
	printf("%d %d", work(1), other(1));
	for (int i = 0; i < 10; i++)
		printf(" %02x", code[i % 2][i / 2]);
	printf("\n");
	return 0;
}
C
export REFUSED=write
# shellcheck disable=SC2086
if $cc -O1 -w -fno-pie -no-pie -I "$here" -o "$tmp/second" "$tmp/second.c" && "$tmp/second" >"$tmp/out"; then
	while read -r REFUSED why; do
		traced "$tmp/second" --trace none --function work --function other
		check "second page, $REFUSED: the program and its code are the same" same
		check "second page, $REFUSED: no function is patched" test "$("$posixtrace" dump \
			-e posixtrace_shim_patched "$log" | grep -c "patched=0 refused=2 why=\"$why\"")" -eq 1
	done <<-END
	write code cannot be made writable
	execute code cannot be made executable again
	move memory cannot be made executable
	END
fi

# After its last destructor a thread calls free(), which may be a function of the program. More
# threads than there are slots end so; with an argument they call it before, too.
cat >"$tmp/ends.c" <<'C'
#include <pthread.h>
#include <stdio.h>
volatile int count;
__attribute__((noinline)) void release(void *p) { __asm__ volatile("nop; nop; nop; nop; nop" : : "r"(p) : "memory"); }
void free(void *p) { release(p); __asm__ volatile(""); }
static void *ends(void *arg) { if (arg) free(NULL); return NULL; }
int main(int argc, char **argv)
{
	pthread_t thread;
	for (int i = 0; i < 33000; i++)
		if (pthread_create(&thread, NULL, ends, argv[1]) || pthread_join(thread, NULL))
			return 1;
	printf("ends\n");
	return 0;
}
C
# shellcheck disable=SC2086
$cc -O1 -fno-builtin -rdynamic -w -pthread -o "$tmp/ends" "$tmp/ends.c" || exit 99
rm -f "$log"*
run 0 record --wait -s 16M -o "$log" --trace none --function 'release@ends' "$tmp/ends" before
check "threads end as usual" has out '^ends$'
check "each thread is traced until its end" test "$(count func.call)" -ge 66000
check "an ended thread keeps no slot" none_lost
rm -f "$log"*
run 0 record --wait -s 16M -o "$log" --trace thread --function 'release@ends' "$tmp/ends"
check "a function whose first call is at its end loses no event" none_lost
check "its calls are traced" test "$(count func.call)" -ge 33000

# list --probes makes the same decisions as record.
run 0 list --probes "$tmp/asm"
check "a moved function is listed" has out '^function  moved    1 event   f_load$'
check "a function with room, too" has out '^function  room     1 event   f_endbr_nops$'
check "a refused one with its reason" has out '^function  refused  -         x_loop: a loop begins at its first instruction$'
run 0 list --probes $$
check "the files of a process" has out '^/.*libc.*:$'
check "its C library is refused" has out '^function  refused  -         \*: the trace itself uses this library$'
run 2 list --probes "$tmp/asm" --json
printf '%s\n' '#include <sys/sdt.h>' 'int main(int argc, char **argv) { DTRACE_PROBE2(shop, sold, argc, argv); return 0; }' >"$tmp/usdt.c"
# shellcheck disable=SC2086
if $cc -O1 -o "$tmp/usdt" "$tmp/usdt.c" 2>/dev/null; then
	run 0 list --probes "$tmp/usdt"
	check "a probe is listed with its arguments" has out '^probe     moved    1 event   shop:sold  (-4@%edi 8@%rsi)$'
fi


# Prototypes of functions, if the file has debugging information.
cat >"$tmp/proto.c" <<'C'
struct shop { int x; };
enum color { RED, BLUE };
typedef unsigned long size;
int add(int a, const char *name) { return a + name[0]; }
size *find(struct shop *shop, enum color c, char **list, const void *const end)
{
	return (size *)shop + c + (list == end);
}
double some(const char *format, ...) { return format[0] / 3.0; }
void nothing(void) { __asm__ volatile("nop; nop; nop; nop"); }
int main(int argc, char **argv) { nothing(); return add(argc, argv[0]) + (int)some("x"); }
C
# shellcheck disable=SC2086
$cc -g -O1 -w -o "$tmp/proto" "$tmp/proto.c" || exit 99
run 0 list --probes "$tmp/proto"
if has out 'add(int'; then
	check "a prototype has types and names" has out ' int add(int a, const char \*name)  --args: s32 a; str name; s32 return$'
	check "also of structures, enumerations and own types" \
		has out ' size \*find(struct shop \*shop, enum color c, char \*\*list, const void \*const end)  --args: ptr shop; u32 c{0='
	check "further arguments" has out ' double some(const char \*format, \.\.\.)  --args: str format; f64 return$'
	check "no arguments" has out ' void nothing(void)$'
else
	check "without libdw a function has its name" has out ' add$'
fi
strip -g "$tmp/proto"
run 0 list --probes "$tmp/proto"
check "without debugging information, too" has out ' add$'

# Functions that do not return: of all threads, however the process ends.
cat >"$tmp/open.c" <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
volatile int count;
static pthread_barrier_t both;
__attribute__((noinline)) void inner(const char *how)
{
	count++;
	if (!strcmp(how, "segv")) *(volatile int *)8 = 1;
	if (!strcmp(how, "kill")) raise(SIGKILL);
	if (!strcmp(how, "_exit")) _exit(3);
	if (!strcmp(how, "exit")) exit(4);
	if (!strcmp(how, "exec")) execlp("true", "true", (char *)NULL);
	if (!strcmp(how, "child") && !fork()) raise(SIGKILL);
	count++;
}
__attribute__((noinline)) void outer(const char *how) { inner(how); count++; }
void *waits(void *arg) { pthread_barrier_wait(&both); pause(); count++; return arg; }
int main(int argc, char **argv)
{
	pthread_t thread;
	pthread_barrier_init(&both, NULL, 2);
	if (argc > 2) {
		pthread_create(&thread, NULL, waits, NULL);
		pthread_barrier_wait(&both);
	}
	outer(argv[1]);
	return 0;
}
C
# shellcheck disable=SC2086
$cc -O1 -w -pthread -o "$tmp/open" "$tmp/open.c" || exit 99
for how in segv kill _exit exit exec child "segv x" "exit x"; do
	rm -f "$log"*
	# shellcheck disable=SC2086
	"$posixtrace" record -q --wait -o "$log" --trace none --function '*@open' "$tmp/open" $how >/dev/null 2>&1
	case $how in *x) wanted=4 ;; *) wanted=3 ;; esac
	check "$how: the functions that have not returned are in the log" test "$(count func.open)" -eq $wanted
	run 0 latency -e func.open "$log"
	check "$how: with their names" test "$(awk '{ print $NF }' "$tmp/out" | grep -c -x -e inner -e outer -e main)" -eq 3
	check "$how: the log is sound" "$posixtrace" verify "$log"
	run 0 convert --to folded "$log"
	check "$how: they nest" has out '^main;outer;inner '
done

# With several logs: the process of the first log is killed in its functions, the other process ends in
# its functions when the third log has begun. A fourth log may begin before the recording ends.
cat >"$tmp/logs.c" <<'C'
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int count;
__attribute__((noinline)) void begun(const char *log)
{
	for (int i = 0; access(log, F_OK) && i < 1200; i++)
		usleep(50000);
}
__attribute__((noinline)) void killed(void) { count++; raise(SIGKILL); count++; }
__attribute__((noinline)) void stays(char **log) { begun(log[2]); _exit(0); }
int main(int argc, char **argv)
{
	pid_t child = fork();

	if (!child)
		killed();
	waitpid(child, NULL, 0);
	if (argc > 2)
		begun(argv[1]);
	stays(argv);
	return 0;
}
C
# shellcheck disable=SC2086
$cc -O1 -w -o "$tmp/logs" "$tmp/logs.c" || exit 99
rm -f "$tmp"/each.*
run 0 record -q --wait -o "$tmp/each.ptl" --rotate-time 100ms --trace process --function '*@logs' "$tmp/logs" \
	"$tmp/each.0002.ptl" "$tmp/each.0003.ptl"
run 0 latency -e func.open "$tmp"/each.*.ptl
check "several logs: the functions that have not returned are in a log" test \
	"$(awk '/killed|stays|main/ { print $1 $NF }' "$tmp/out" | sort | tr '\n' ' ')" = "1killed 1stays 2main "
run 0 dump --raw "$tmp"/each.000[12].ptl
check "several logs: it is the last log" lacks out func.open
for each in "$tmp"/each.*.ptl; do check "$each is sound" "$posixtrace" verify "$each"; done
first_ns() { "$posixtrace" dump --json "$@" | sed -n 's/.*"ns":"\([0-9]*\)".*/\1/p' | head -n 1; }
check "several logs: a killed process has left its functions when it was killed" test \
	"$(first_ns -e func.open "$(ls "$tmp"/each.*.ptl | tail -n 1)")" -lt "$(first_ns --system "$tmp/each.0002.ptl")"

# Wrong values of the option.
run 125 record -o "$log" --function nothing_of_this_name "$tmp/asm"
check "no match is an error" has err 'no function of .*asm and its libraries matches'
run 125 record -o "$log" --function qsort "$tmp/asm"
check "a name of the C library has the reason" has err \
	'^posixtrace: --function qsort: no function of .*asm .* matches; those of libc.* cannot be traced: the trace'
"$posixtrace" record -q -o "$log" --function f_lod --function f_load --function 'f_loa[d]' "$tmp/asm" \
	>"$tmp/out" 2>"$tmp/err"
check "a name without a function beside others is named, with a similar one" test "$(cat "$tmp/err")" = \
	"posixtrace: --function f_lod: no function of $tmp/asm and its libraries matches; did you mean f_load?"
check "the others are traced" test "$(count func.call)" -ge 1
run 2 record -o "$log" --function @libc.so.6 "$tmp/asm"
check "a pattern without a name" has err 'not GLOB or GLOB@MODULE'
run 125 record -o "$log" --function 'qsort@libc.so.6' "$tmp/asm"
check "the C library is refused" has err 'the trace itself uses this library'

finish
