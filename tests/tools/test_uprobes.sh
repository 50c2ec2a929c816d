#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Functions of programs that the preload library cannot enter, recorded by the kernel's uprobes. Each
# program counts its calls itself, and the log must have exactly as many. Skipped where the kernel
# does not permit it.
. "${0%/*}/lib.sh"
needs_shim

sources=$(cd "${top_srcdir:-${0%/*}/../..}/tests/preload" && pwd)
refuse=$(cd "${top_builddir:-..}" && pwd)/tests/tools/refuse
work_in_tmp

cat >calls.c <<'EOF2'
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define CALL(name) __atomic_add_fetch(&count_##name, 1, __ATOMIC_RELAXED); __asm__ volatile("" ::: "memory")
#define PLAIN __attribute__((noinline, noclone))
static int count_leaf, count_recurse, count_jumps, count_tail, count_maybe, count_handle, count_turn;
static sigjmp_buf env;

PLAIN int leaf(int n) { CALL(leaf); return n + 1; }
PLAIN int recurse(int n) { CALL(recurse); return n ? recurse(n - 1) + leaf(n) : 0; }
PLAIN void jumps(int n) { CALL(jumps); if (n >= 0) siglongjmp(env, 1); }
PLAIN int tail(int n) { CALL(tail); return leaf(n + 1); }
PLAIN int maybe(int n) { CALL(maybe); if (n & 1) return leaf(n); return 3; }
PLAIN void handle(int sig) { CALL(handle); leaf(sig); }

static ucontext_t back, other;
PLAIN void turn(int n) { CALL(turn); swapcontext(n ? &other : &back, n ? &back : &other); leaf(n); }
static void coroutine(void) { for (int i = 0; i < 5; i++) turn(1); }

static void *work(void *arg)
{
	for (int i = 0; i < 10; i++)
		recurse(9);
	return arg;
}

int main(void)
{
	static char stack[65536], alternate[65536];
	stack_t on = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	for (volatile int i = 0; i < 5; i++)
		if (!sigsetjmp(env, 1))
			jumps(i);
	for (int i = 0; i < 7; i++)
		tail(i);
	for (int i = 0; i < 8; i++)
		maybe(i);
	sigaltstack(&on, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = sizeof(stack);
	makecontext(&other, coroutine, 0);
	for (int i = 0; i < 4; i++)
		turn(0);
	printf("leaf %d\nrecurse %d\njumps %d\ntail %d\nmaybe %d\nhandle %d\nturn %d\n", count_leaf,
	       count_recurse, count_jumps, count_tail, count_maybe, count_handle, count_turn);
	fflush(stdout);
	if (fork() == 0) {
		recurse(4);
		_exit(0);
	}
	wait(NULL);
	return 7;
}
EOF2
${CC:-cc} -O2 -w -static -pthread -o static calls.c 2>/dev/null || skip "no static C library"
run 0 doctor
if ! grep -q '^works  *uprobes' out; then
	why=$(sed -n 's/^limited  *uprobes  *\(.*\): functions of static.*/\1/p' out)
	run 125 record -o none.ptl --function leaf ./static
	check "the reason is there" has err "^posixtrace: --function and --probe: those of ./static cannot be traced: it is statically linked; no uprobes: $why\$"
	check "without a log" test ! -e none.ptl
	skip "uprobes: $why"
fi

all="--function leaf --function recurse --function jumps --function tail --function maybe --function handle --function turn"

# counts LOG NAME...: a line "NAME NUMBER" for each function.
counts() {
	counted=$1
	shift
	"$posixtrace" latency -e 'func.*' "$counted" | sed 's/ ([0-9]* events lost)$//' | awk 'NR > 1 && $1 ~ /^[0-9]+$/ { n[$NF] += $1 } END { for (name in n) print name, n[name] }' >found
	for name in "$@"; do
		grep "^$name " found || echo "$name 0"
	done
}

# exact PROGRAM: the log has the calls of the program, and those of its child: 5 of recurse, 4 of leaf.
exact() {
	run 7 record --force -o exact.ptl $all "$1"
	check "$1: record says how" has err '^posixtrace: --function: 7 functions are traced by uprobes of the kernel$'
	awk '$1 == "leaf" { $2 += 4 } $1 == "recurse" { $2 += 5 } { print $1, $2 }' out >wanted
	check "$1: it counts itself" has_lines wanted 7
	counts exact.ptl leaf recurse jumps tail maybe handle turn >ours
	check "$1: each call is there, once" diff wanted ours
	run 0 verify exact.ptl
	check "$1: the account is exact" has out ': called \([0-9]*\) = reported \1 + unread 0 + lost 0$'
}
exact ./static
"$posixtrace" dump --raw --fields event exact.ptl >out
check "no call is left open" lacks out '^func.open'
"$posixtrace" dump --raw -e func.call --fields field.depth,field.function exact.ptl | sort -u >out
check "recursion has its depth" has out '^9	'
run 0 convert --to folded -o - exact.ptl
check "folded stacks have names" has out 'recurse;.*recurse;leaf'
run 0 html --force -o exact.html exact.ptl
check "html has names" has exact.html recurse

${CC:-cc} -O2 -w -static-pie -pthread -o pie calls.c 2>/dev/null && ./pie >/dev/null
test $? = 7 && exact ./pie
${CC:-cc} -O0 -w -static -pthread -o plain calls.c && exact ./plain
if musl-gcc -O2 -w -static -pthread -o musl-static calls.c 2>/dev/null; test -x musl-static; then
	:
else
	# musl has no contexts.
	sed 's/^static ucontext_t.*//; s/swapcontext(n ? &other : &back, n ? &back : &other);//; s/^	getcontext.*//; s/^	other\..*//; s/^	makecontext.*//; s/#include <ucontext.h>//; s/^static void coroutine.*//' calls.c >musl.c
	if musl-gcc -O2 -w -static -pthread -o musl-static musl.c 2>err && musl-gcc -O2 -w -pthread -o musl musl.c; then
		exact ./musl-static
		exact ./musl
	else
		echo "no musl-gcc: not tested"
	fi
fi
# The older way: an event for each place.
POSIXTRACE_KERNEL=perf
export POSIXTRACE_KERNEL
exact ./static
unset POSIXTRACE_KERNEL

# All functions, also those of the C library: the program does what it does.
run 7 record --force -q -o every.ptl --function '*' ./static
cp out printed
./static >alone
check "with all functions the program does what it does" diff alone printed
counts every.ptl recurse jumps tail maybe >ours
awk '$1 == "recurse" { $2 += 5 } $1 ~ /^(recurse|jumps|tail|maybe)$/ { print $1, $2 }' printed >wanted
check "the log has the calls of all functions" diff wanted ours

# Options.
run 7 record --force -q --no-follow -o alone.ptl --function recurse ./static
awk '$1 == "recurse"' out >wanted
counts alone.ptl recurse >ours
check "--no-follow: not those of the child" diff wanted ours
run 7 record --force --syscalls=none -o functions.ptl --function recurse ./static
check "--syscalls=none: functions only" test "$("$posixtrace" dump --raw -x 'posix*' -x 'process*' --fields event functions.ptl | sort -u | tr '\n' ' ')" = "func.call sched.clock "
run 7 record --force -q -e 'io.*' -o io.ptl --function recurse ./static
check "-e selects" test "$("$posixtrace" dump --raw -e 'func.*' io.ptl 2>/dev/null | wc -l)" = 0
run 125 record --loop -o loop.ptl --function recurse ./static
check "--loop is a reason" has err 'no uprobes: not in a log that can be full'
run 125 record -o none.ptl --function no_such ./static
check "no match" has err 'no function of ./static and its libraries matches'
strip -o stripped static
run 125 record -o none.ptl --function main ./stripped
check "no symbols" has err '0 functions are traced, 1 refused: 1 (it has no symbols'

# list
run 0 list --probes ./static
check "list has the method and the cost" has out '^function  uprobe   2 traps   .*recurse'
check "it has the reason of a refusal" has out '^function  refused  -  .*: it chooses an implementation while the program is linked$'

# A user without the rights gets the reason.
if command -v setpriv >/dev/null && test "$(id -u)" = 0; then
	mkdir open && chmod 777 . open
	(cd open && setpriv --reuid 65534 --regid 65534 --clear-groups "$posixtrace" record -o none.ptl --function leaf ../static) >out 2>err
	status=$?
	check "no rights: the status" test $status = 125
	check "no rights: the reason" has err '^posixtrace: --function and --probe: those of ../static cannot be traced: it is statically linked; no uprobes: no permission '
	setpriv --reuid 65534 --regid 65534 --clear-groups "$posixtrace" doctor >out 2>err
	check "no rights: doctor has advice" test "$(grep -A 1 '^limited  *uprobes  *no permission ' out | grep -c '^  *-> run as root, or see setcap in posixtrace-record(1)$')" = 1
fi

# In a PID namespace the kernel's numbers of processes are others.
if unshare -pf --mount-proc true 2>/dev/null; then
	status=0
	unshare -pf --mount-proc "$posixtrace" record -o none.ptl --function leaf ./static >out 2>err || status=$?
	check "a PID namespace: the status" test $status = 125
	check "a PID namespace: the reason" has err ': it is statically linked; no uprobes: in a PID namespace, such as that of a container, '
	check "a PID namespace: without a log" test ! -e none.ptl
	unshare -pf --mount-proc "$posixtrace" doctor >out 2>err
	check "a PID namespace: doctor says so" has out '^limited  *uprobes  *in a PID namespace'
	check "a PID namespace: doctor says so of system calls" has out '^limited  *[a-z ]*  *in a PID namespace'
fi

# Probes: the events of a static program are those that the library records in a dynamic one.
# The kernel sets a semaphore that has data in the file, as the macros of <sys/sdt.h> make it.
sed 's/^\(volatile uint16_t shop_asked_semaphore __attribute__((used\)))/\1, section(".probes")))/; s/^\(volatile uint16_t shop_asked_semaphore.*\);/\1 = 0;/' "$sources/probe_usdt.c" >shop.c
if ${CC:-cc} -O1 -w -I"$sources" -o shop shop.c 2>/dev/null && ${CC:-cc} -O1 -w -static -I"$sources" -o shop-static shop.c; then
	for program in shop shop-static; do
		run 0 record --force -o $program.ptl --probe 'shop:text(str,str,str)' --probe 'shop:*' ./$program
		cp out $program.out
		"$posixtrace" dump --raw -e 'shop:*' -x shop:floats --fields event,data $program.ptl >$program.events
	done
	check "probes: record says how" has err '^posixtrace: --probe: 11 probes are traced at 11 places by uprobes of the kernel, 1 refused: 1 (there is no NOP at its place)$'
	check "probes: the program does what it does" diff shop.out shop-static.out
	check "probes: there are events" test "$(wc -l <shop.events)" -ge 11
	check "probes: the values are the same" diff shop.events shop-static.events
	check "probes: one with a semaphore" has shop-static.events '^shop:asked	arg1=1$'
	run 0 verify shop-static.ptl
	check "probes: nothing is lost" has out 'unread 0 + lost 0$'
	run 0 list --probes ./shop-static
	check "probes: list has the method and the cost" has out '^probe     uprobe   1 trap    shop:room  '
	check "probes: a place without a NOP is refused" has out '^probe     refused  -         shop:wrong '
	run 0 record --force -q -o both.ptl --probe 'shop:room' --function main ./shop-static
	"$posixtrace" dump --raw -e 'shop:*' -e 'func.*' --fields event both.ptl | sort -u | tr '\n' ' ' >out
	check "probes and functions together" test "$(cat out)" = "func.call shop:room "
	# The first two links (command 28 of bpf) find out whether the kernel has links of many
	# places. The next one has both places of the function, and then each place has its own.
	status=0
	"$refuse" 'bpf EINVAL 0=28 from=3 times=3' -- "$posixtrace" record --force \
		-o refused.ptl --probe 'shop:room' --function main ./shop-static >out 2>err || status=$?
	if test $status -ne 77 && ! grep -q 'uprobes: the kernel' err; then
		check "a refused group does not end the recording" test $status -eq 0
		check "a refused group: the file and the reason" has err '^posixtrace: .*/shop-static: the kernel refuses all 2 breakpoints of functions without values: this kernel accepts no breakpoint there; they are left out$'
		"$posixtrace" dump --raw -e 'shop:*' -e 'func.*' --fields event refused.ptl >out
		check "a refused group: the other group is recorded" test "$(cat out)" = shop:room
	fi
fi

# Code of assemblers: data among the instructions, instructions that overlap, exits with a prefix that
# the kernel refuses. Such functions are refused, and the program does what it does alone.
cat >odd.S <<'EOF2'
 .macro begin name
 .globl \name
 .type \name,@function
\name:
 .endm
 .text
begin inline_data
 lea 1f(%rip),%rax
 jmp *%rax
2: .byte 0xc3,0xc3,0xc3,0xc3,0xc3,0xc3,0xc3,0xc3
1: mov 2b(%rip),%rax
 ret
 .size inline_data,.-inline_data
begin behind_jump
 mov target(%rip),%rax
 jmp *%rax
data: .byte 0xc3,0xc3,0xc3,0xc3,0xc3,0xc3,0xc3,0xc3
 .size behind_jump,.-behind_jump
begin inner
 mov data_at(%rip),%rax
 lea -1(%rax),%rax
 mov (%rax),%rax
 ret
 .size inner,.-inner
begin behind_call
 call 1f
 .byte 0xc3,0xc3,0xc3,0xc3,0xc3,0xc3,0xc3,0xc3
1: pop %rax
 mov (%rax),%rax
 ret
 .size behind_call,.-behind_call
begin skips_data
 xor %eax,%eax
 jmp 2f
 .byte 0x48,0xb8
2: mov $0x90909090,%ecx
 mov $0x90c39090,%eax
 ret
 .size skips_data,.-skips_data
begin overlaps
 xor %eax,%eax
 test %eax,%eax
 jz 2f+1
2: mov $0x9090c031,%eax
 mov $0x90c39090,%eax
 ret
 .size overlaps,.-overlaps
begin prefixed
 mov %edi,%eax
 .byte 0x2e
 ret
 .size prefixed,.-prefixed
begin hinted
 test %edi,%edi
 .byte 0x3e
 jne other
 xor %eax,%eax
 ret
 .size hinted,.-hinted
begin other
 mov %edi,%eax
 ret
 .size other,.-other
begin locked
 mov $1,%eax
 test %edi,%edi
 jne 1f
 lock
1: xadd %eax,number(%rip)
 ret
 .size locked,.-locked
 .data
number: .long 0
target: .quad inner
data_at: .quad data + 1
 .section .note.GNU-stack,"",@progbits
EOF2
cat >odd.c <<'EOF2'
#include <stdio.h>
long inline_data(void), behind_jump(void), behind_call(void);
unsigned skips_data(void), overlaps(void);
int prefixed(int), hinted(int), other(int), locked(int);
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 10; i++)
		sum += prefixed(i) + hinted(i) + other(i) + locked(i & 1);
	printf("%lx %lx %lx %x %x %d\n", inline_data(), behind_jump(), behind_call(), skips_data(),
	       overlaps(), sum);
	return 0;
}
EOF2
if ${CC:-cc} -O1 -static -o odd odd.c odd.S 2>err; then
	./odd >alone
	odd=
	for function in inline_data behind_jump behind_call skips_data overlaps prefixed hinted other locked; do
		odd="$odd --function $function"
	done
	# shellcheck disable=SC2086
	run 0 record --force -o odd.ptl $odd ./odd
	check "odd code: the program does what it does" diff alone out
	check "odd code: the functions that can be are traced" has err '^posixtrace: --function: 3 functions are traced by uprobes of the kernel, 6 refused'
	check "odd code: each call is there, once" test "$(counts odd.ptl skips_data other locked | tr '\n' ' ')" = "skips_data 1 other 19 locked 10 "
	run 0 list --probes ./odd
	for why in 'inline_data: data may be behind its indirect jump' 'behind_jump: data may be behind its indirect jump' \
		'behind_call: it calls a part of itself' 'overlaps: its instructions overlap' \
		'prefixed: an instruction that leaves it cannot have a breakpoint' 'hinted: an instruction that leaves it cannot have a breakpoint'; do
		check "odd code: $why" has out "^function  refused  -  *$why\$"
	done
else
	echo "odd code: not tested: $(head -n 1 err)"
fi

# Compilers put no data into functions: those with tables of jumps are traced, each call once.
cat >tables.c <<'EOF2'
#include <stdio.h>
#define PLAIN __attribute__((noinline, noclone))
static volatile int sink;
PLAIN int by_switch(int n)
{
	switch (n) {
	case 0: sink = 7; return 4;
	case 1: printf("one\n"); return 9;
	case 2: sink += 3; break;
	case 3: return sink * 5;
	case 4: sink ^= 1; return puts("four");
	case 5: return putchar('5');
	case 6: sink = 2; sink = 3; return sink;
	case 7: return n * sink + 11;
	}
	return -n;
}
PLAIN int by_labels(const char *code)
{
	static const void *const to[] = { &&end, &&add, &&twice, &&minus };
	int n = 1;
	goto *to[(int)*code];
add: n += 3; goto *to[(int)*++code];
twice: n *= 2; goto *to[(int)*++code];
minus: n -= 1; if (n > 100) return n; goto *to[(int)*++code];
end: return n;
}
int main(void)
{
	for (int i = 0; i < 100; i++) {
		by_switch(i % 10);
		by_labels("\1\2\3\1\2");
	}
	return 0;
}
EOF2
for how in '-O0 -static' '-O2 -static' '-O0 -static-pie' '-O2 -static-pie'; do
	for cc in "${CC:-cc}" clang; do
		# shellcheck disable=SC2086
		$cc -w $how -o tables tables.c 2>/dev/null || continue
		./tables >alone
		run 0 record --force --syscalls=none -o tables.ptl --function 'by_*' ./tables
		check "$cc $how: tables of jumps: the program does what it does" diff alone out
		counts tables.ptl by_switch by_labels >out
		check "$cc $how: tables of jumps: each call is there, once" test "$(tr '\n' ' ' <out)" = "by_switch 100 by_labels 100 "
		"$posixtrace" dump --raw --fields event tables.ptl >out
		check "$cc $how: tables of jumps: no call is left open" lacks out '^func.open'
	done
done

# Many stacks in one thread, a higher stack of signals, and a child that returns from a function of its
# parent. Each call is there once, and ends when it returns: bodies end behind the last turn.
cat >stacks.c <<'EOF2'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define MANY 300
#define PLAIN __attribute__((noinline, noclone))
static ucontext_t own, other[MANY];
static void *alternate;

PLAIN void body(int i) { for (int k = 0; k < 3; k++) swapcontext(&other[i], &own); __asm__ volatile(""); }
static void start(int i) { body(i); }
PLAIN int turn(int i) { swapcontext(&own, &other[i]); __asm__ volatile(""); return i; }
PLAIN void handle(int sig) { __asm__ volatile(""); }
PLAIN int last(int n) { __asm__ volatile(""); return n; }
PLAIN int recurse(int n) { int r = n ? recurse(n - 1) : raise(SIGUSR1) + last(n); __asm__ volatile(""); return r + 1; }
PLAIN int forker(void) { int p = fork(); __asm__ volatile(""); return p; }

static void *work(void *arg)
{
	stack_t on = { .ss_sp = alternate, .ss_size = 65536 };
	sigaltstack(&on, NULL);
	recurse(200);
	return arg;
}

int main(void)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
	pthread_t thread;

	for (int i = 0; i < MANY; i++) {
		getcontext(&other[i]);
		other[i].uc_stack.ss_sp = malloc(16384);
		other[i].uc_stack.ss_size = 16384;
		other[i].uc_link = &own;
		makecontext(&other[i], (void (*)(void))start, 1, i);
	}
	for (int k = 0; k < 4; k++)
		for (int i = 0; i < MANY; i++)
			turn(i);
	sigaction(SIGUSR1, &action, NULL);
	alternate = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	if (forker() == 0)
		return 0;
	wait(NULL);
	return 0;
}
EOF2
if ${CC:-cc} -O1 -w -static -pthread -o stacks stacks.c; then
	names='body turn handle last recurse forker'
	# shellcheck disable=SC2046
	run 0 record --force --syscalls=none -o stacks.ptl $(printf -- '--function %s ' $names) ./stacks
	# shellcheck disable=SC2086
	counts stacks.ptl $names >ours
	printf '%s\n' 'body 300' 'turn 1200' 'handle 1' 'last 1' 'recurse 201' 'forker 1' >wanted
	check "stacks: each call is there, once" diff wanted ours
	# In the order of their ends: no body before the last turns, no recursion before the function in it.
	"$posixtrace" dump --raw -e 'func.*' --fields event,field.function stacks.ptl >out
	check "stacks: no call is left open" lacks out '^func.open'
	nm stacks | awk '{ sub(/^0*/, "", $1); print "0x" $1, $3 }' >names
	awk 'NR == FNR { name[$1] = $2; next } { print name[$2] }' names out >order
	check "stacks: names are in the order" has order '^last$'
	check "stacks: no call of a coroutine ends too early" test "$(awk '$1 == "turn" { n++ } $1 == "body" && n < 900 { early++ } END { print early + 0 }' order)" = 0
	check "stacks: no call ends too early below a signal" test "$(awk '$1 == "last" { seen = 1 } $1 == "recurse" && !seen { early++ } END { print early + 0 }' order)" = 0
fi

# Linux 5.15 to 6.5: programs with the attach type of newer links are accepted, the links are not.
cat >older.c <<'EOF2'
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
long syscall(long number, ...)
{
	va_list list;
	long v[5], result;
	va_start(list, number);
	for (int i = 0; i < 5; i++)
		v[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_bpf && v[0] == 28 && ((uint32_t *)v[1])[2] == 48) {
		errno = EINVAL;
		return -1;
	}
	register long r10 __asm__("r10") = v[3], r8 __asm__("r8") = v[4];
	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(v[0]), "S"(v[1]), "d"(v[2]), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
	if (result < 0 && result > -4096) {
		errno = -result;
		return -1;
	}
	return result;
}
EOF2
if ${CC:-cc} -O1 -w -shared -fPIC -o older.so older.c; then
	status=0
	LD_PRELOAD=$tmp/older.so "$posixtrace" record --force -q -o older.ptl --function recurse ./static >out 2>err || status=$?
	check "an older kernel: the status" test $status = 7
	awk '$1 == "recurse" { print $1, $2 + 5 }' out >wanted
	counts older.ptl recurse >ours
	check "an older kernel: each call is there, once" diff wanted ours
fi

# C++: an exception leaves functions.
cat >throws.cc <<'EOF2'
#include <cstdio>
#include <thread>
struct D { ~D() { __asm__ volatile(""); } };
static int throwers, middles;
extern "C" {
__attribute__((noinline)) int thrower(int n) { D d; throwers++; if (n % 3 == 0) throw n; __asm__ volatile(""); return n; }
__attribute__((noinline)) int middle(int n) { D d; middles++; int r = thrower(n); __asm__ volatile(""); return r + 1; }
__attribute__((noinline)) int catcher(int n) { try { return middle(n); } catch (int e) { return -e; } }
}
int main()
{
	std::thread t([] { for (int i = 0; i < 300; i++) catcher(i); });
	t.join();
	std::printf("middle %d\nthrower %d\ncatcher 300\n", middles, throwers);
	return 0;
}
EOF2
if ${CXX:-c++} -O2 -w -static -pthread -o throws throws.cc 2>/dev/null; then
	run 0 record --force -o throws.ptl --function middle --function thrower --function catcher ./throws
	cp out wanted
	counts throws.ptl middle thrower catcher >ours
	check "exceptions: each call is there, once" diff wanted ours
fi

# A process that runs already, and its threads.
cat >waits.c <<'EOF2'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int tick(int n) { __asm__ volatile(""); return n; }
static void *work(void *arg) { for (int i = 0; i < 500; i++) tick(i); return arg; }
int main(void)
{
	pthread_t thread[3];
	while (access("go-on", F_OK))
		usleep(10000);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	return 6;
}
EOF2
${CC:-cc} -w -O2 -static -pthread -o waits waits.c
# attached COMMAND OPTION...
attached() {
	rm -f go-on attached.ptl
	./waits &
	waits=$!
	until grep -q waits "/proc/$waits/comm"; do sleep 0.01; done
	"$posixtrace" "$@" -p $waits -o attached.ptl >out 2>err &
	tracer=$!
	# It records when it has the link to the places and waits.
	until { ls -l /proc/$tracer/fd 2>/dev/null | grep -q 'bpf.link' &&
		grep -q '^State:.S' /proc/$tracer/status; } || ! kill -0 $tracer 2>/dev/null; do sleep 0.05; done
	: >go-on
	wait $waits
	check "$1: the process ends as it does alone" test $? = 6
	wait $tracer || cat err
}
for command in attach record; do
	attached $command --function tick
	check "$command -p traces it" test $? = 0
	check "$command -p says how" has err "process $waits (waits): system calls and functions by kernel tracing: it is statically linked\$"
	check "$command -p has each call" test "$(counts attached.ptl tick)" = "tick 1500"
	run 0 verify attached.ptl
	check "$command -p: the account is exact" has out ': called \([0-9]*\) = reported \1 + unread 0 + lost 0$'
done

# The kernel has no room: the number is in the ledger. The recorder is stopped meanwhile.
cat >many.c <<'EOF2'
#include <signal.h>
#include <unistd.h>
__attribute__((noinline)) int many(int n) { __asm__ volatile(""); return n; }
int main(void)
{
	kill(getppid(), SIGSTOP);
	for (int i = 0; i < 90000; i++)
		many(i);
	kill(getppid(), SIGCONT);
	return 0;
}
EOF2
if ${CC:-cc} -O1 -static -o many many.c; then
	run 0 record --force --syscalls=none -o many.ptl --function many ./many
	run 0 verify many.ptl
	lost=$(sed -n 's/.* + lost \([0-9]*\) .*/\1/p' out)
	calls=$(counts many.ptl many | cut -d ' ' -f 2)
	check "some begins and ends are lost" test "$lost" -gt 0 -a "$calls" -lt 90000
	check "no call is missing without a count" test $((calls + lost)) -ge 90000
	run 0 stat many.ptl
	check "with their type and cause" has out 'func.call.*stream full\|stream full'
fi

# Go: goroutines that wait in functions, stacks that grow, panics, and all functions of the runtime.
mkdir go && cat >go/main.go <<'EOF2'
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
)

//go:noinline
func deep(n int, pad [16]int) int {
	if n == 0 {
		return pad[0]
	}
	pad[n&15] = n
	return deep(n-1, pad) + leaf(n)
}

//go:noinline
func leaf(n int) int { return n & 1 }

//go:noinline
func yields(n int) int { runtime.Gosched(); return n }

//go:noinline
func panics(n int) int {
	if n > 0 {
		panic("x")
	}
	return n
}

//go:noinline
func recovers(n int) (r int) {
	defer func() {
		if recover() != nil {
			r = -1
		}
	}()
	return panics(n)
}

func main() {
	g, _ := strconv.Atoi(os.Args[1])
	d, _ := strconv.Atoi(os.Args[2])
	var wg sync.WaitGroup
	for i := 0; i < g; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := 0; k < 3; k++ {
				deep(d, [16]int{})
				yields(k)
				recovers(k)
			}
		}()
	}
	wg.Wait()
	fmt.Printf("main.deep %d\nmain.leaf %d\nmain.yields %d\nmain.panics %d\nmain.recovers %d\n", 3*g*(d+1), 3*g*d, 3*g, 3*g, 3*g)
	os.Exit(4)
}
EOF2
if command -v go >/dev/null && CGO_ENABLED=0 GOCACHE=$tmp/cache go build -o golang go/main.go 2>/dev/null; then
	for size in '20 100' '500 20' '3 2000'; do
		# shellcheck disable=SC2086
		run 4 record --force --syscalls=none -o go.ptl --function 'main.*' ./golang $size
		check "Go, $size: record says how" has err 'functions are traced by uprobes of the kernel$'
		cp out wanted
		counts go.ptl main.deep main.leaf main.yields main.panics main.recovers >ours
		check "Go, $size: each call is there, once" diff wanted ours
		run 0 verify go.ptl
		check "Go, $size: nothing is lost" has out 'unread 0 + lost 0$'
	done
	run 4 record --force -q -o go.ptl --function '*' ./golang 10 100
	cp out wanted
	counts go.ptl main.deep main.leaf main.yields main.panics main.recovers >ours
	check "Go, with all functions of the runtime: each call is there, once" diff wanted ours
	# A stripped program has the table of its runtime.
	strip -o go-stripped golang
	run 4 record --force -q -o stripped.ptl --function 'main.*' ./go-stripped 10 100
	cp out wanted
	counts stripped.ptl main.deep main.leaf main.yields main.panics main.recovers >ours
	check "Go, stripped: each call is there, once, with its name" diff wanted ours
	# With C functions the program is linked dynamically: the library records its calls.
	printf 'package main\n\nimport "C"\n' >go/c.go
	if CGO_ENABLED=1 GOCACHE=$tmp/cache go build -o dynamic go/main.go go/c.go 2>/dev/null && readelf -lW dynamic | grep -q INTERP; then
		run 4 record --force -o dynamic.ptl --function 'main.*' ./dynamic 10 100
		cp out wanted
		counts dynamic.ptl main.deep main.leaf main.yields main.panics main.recovers >ours
		check "Go, linked dynamically: each call is there, once, with its name" diff wanted ours
		"$posixtrace" dump --raw --fields event dynamic.ptl | sort -u >out
		check "Go, linked dynamically: calls are those of the library" lacks out '^sys\.'
	fi
	run 0 list --probes ./golang
	check "Go: list has the method" has out '^function  uprobe   2 traps   main.deep  --args: s64 [a-z]*$'
	check "Go: a function that changes stacks is refused" has out '^function  refused  -  .*runtime.morestack.*: it changes stacks$'
else
	echo "no Go: not tested"
fi
finish
