#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Functions of stripped programs: the tables for unwinders have them, and their addresses are their
# names. The symbols of the same program before it was stripped show that each name is a function.
. "${0%/*}/lib.sh"

work_in_tmp
command -v nm >/dev/null && command -v strip >/dev/null || skip "no binutils"

cat >calls.c <<'EOF2'
#include <stdio.h>
#include <stdlib.h>
#define PLAIN static __attribute__((noinline, noclone))
static volatile int sink;
PLAIN int leaf(int n) { sink += n; return n + 1; }
PLAIN int middle(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += leaf(i);
	return sum + printf("%d\n", sum);
}
PLAIN int unlikely(int n)
{
	int before = leaf(n), after = leaf(before);

	if (__builtin_expect(n > 1000, 0)) {
		printf("%d %d\n", before, after);
		abort();
	}
	return before + after;
}
/* Two places of its cold part are entered, and the second one is among the first bytes of the part. */
static __attribute__((noinline, noclone, cold, noreturn)) void finish(int n)
{
	printf("end %d\n", n);
	exit(n > 1000);
}
PLAIN int step(int n, int end)
{
	if (n > 1000)
		__builtin_trap();
	if (end > 1000)
		finish(end - 1001);
	return n + end;
}
/* Its cold part returns to the second instruction. */
__attribute__((visibility("hidden"))) int back(int n);
__asm__(".text\n.globl back\n.hidden back\n.type back, @function\nback:\n.cfi_startproc\n"
	"mov %edi, %eax\n1: test %eax, %eax\njs back.cold\nret\n.cfi_endproc\n.size back, . - back\n"
	".p2align 4\n.type back.cold, @function\nback.cold:\n.cfi_startproc\n"
	"neg %eax\njmp 1b\n.cfi_endproc\n.size back.cold, . - back.cold\n");
/* Only a table of jumps leads to its cold part, to two places. */
__attribute__((visibility("hidden"))) int table(int n);
__asm__(".globl table\n.hidden table\n.type table, @function\ntable:\n.cfi_startproc\n"
	"and $1, %edi\nlea 3f(%rip), %rdx\nmovslq (%rdx,%rdi,4), %rax\nadd %rdx, %rax\njmp *%rax\n"
	".cfi_endproc\n.size table, . - table\n"
	".p2align 4\n.type table.cold, @function\ntable.cold:\n.cfi_startproc\n1: xor %edi, %edi\n"
	"2: lea 2(%rdi), %eax\nret\nnop\n.cfi_endproc\n.size table.cold, . - table.cold\n"
	".section .rodata\n.p2align 2\n3: .long 1b - 3b, 2b - 3b, 0x40000000\n.text\n");
int main(int argc, char **argv)
{
	printf("table %d %d\n", table(0), table(argc));
	printf("back %d\n", back(-argc));
	for (int i = 0; i < 4; i++)
		middle(3);
	if (unlikely(argc))
		for (int i = 1000; i < 1002; i++)
			step(argc, i);
	return 1;
}
EOF2

# make_program NAME FLAG...: NAME with symbols, NAME.stripped without, NAME.names from addresses to names.
make_program() {
	program=$1
	shift
	${CC:-cc} -O2 -w "$@" -o "$program" calls.c 2>err || return
	strip -o "$program.stripped" "$program"
	nm "$program" | sed -n 's/^0*\([0-9a-f]*\) [tTiWw] \(.*\)/\1 \2/p' >"$program.names"
}
address() { sed -n "s/^\\([0-9a-f]*\\) $1\$/\\1/p" "$program.names"; }

# listed: the addresses that list --probes has are those of functions.
listed() {
	run 0 list --probes "./$program.stripped"
	sed -n 's/^function  .*  +0x\([0-9a-f]*\).*/\1/p' out | sort -u >addresses
	cut -d ' ' -f 1 "$program.names" | sort -u >known
	comm -23 addresses known >unknown
	check "$program: each address is that of a symbol" is_empty unknown
	for function in leaf middle unlikely step back table main; do
		check "$program: $function is in the list" has addresses "^$(address $function)\$"
	done
	for cold in $(sed -n 's/^\([0-9a-f]*\) \(unlikely\|step\|back\|table\)\.cold$/\1/p' "$program.names"); do
		check "$program: the cold part of a function is none" lacks addresses "^$cold\$"
	done
}

# traced HOW: the functions have their calls, by their addresses.
traced() {
	run 0 record --force -o calls.ptl --function "+0x$(address leaf)@*" --function "+0x$(address middle)@*" "./$program.stripped"
	check "$program: record says how" has err "^posixtrace: --function: 2 functions are traced$1\$"
	"$posixtrace" latency -e func.call calls.ptl | awk 'NR > 1 && $1 ~ /^[0-9]+$/ { print $NF, $1 }' | sort >found
	printf '%s\n' "$program.stripped+0x$(address leaf) 14" "$program.stripped+0x$(address middle) 4" | sort >wanted
	check "$program: each call is there" diff wanted found
	"./$program" >alone
	check "$program: the program does what it does" diff alone out
	run 0 record --force -o every.ptl --function '+*@*.stripped' "./$program.stripped"
	check "$program: with all functions, too" diff alone out
	run 0 verify every.ptl
	check "$program: the account is exact" has out 'unread 0 + lost 0$'
}

make_program dynamic || skip "no compiler: $(head -n 1 err)"
listed
traced ''
run 125 record -o none.ptl --function main ./dynamic.stripped
check "a name is not found, and the message has the way" has err ': no function of ./dynamic.stripped and its libraries matches; it has no symbol table: list --probes lists its functions by their addresses$'
run 125 record -o none.ptl --function 'm*@dynamic.stripped' ./dynamic.stripped
run 125 record -o none.ptl --function '*@dynamic.stripped' ./dynamic.stripped
check "a pattern for names selects no address" test ! -e none.ptl

# A table of symbols makes the addresses superfluous.
run 125 record -o none.ptl --function "+0x$(address leaf)" ./dynamic
check "a program with symbols has no such names" has err ': no function of ./dynamic and its libraries matches$'

# A program that may have an unwinder or a library of C++ of its own: some functions must not be patched.
refused=' 0 functions are traced, [0-9]* refused: [0-9]* (it may be part of the handling of exceptions, as it has no name)'
sed 's/^int main/int dl_iterate_phdr(void *, void *); void *walk = dl_iterate_phdr;\nint main/' calls.c >own.c
${CC:-cc} -O2 -w -s -o own.stripped own.c
run 125 record -o none.ptl --function '+*@own.stripped' ./own.stripped
check "a program that may handle exceptions itself" has err "^posixtrace: --function:$refused"
cat >throw.cc <<'EOF2'
#include <cstdio>
static __attribute__((noinline)) void thrower(int n)
{
	if (n > 2)
		throw n;
}
int main()
{
	int caught = 0;

	for (int i = 0; i < 6; i++)
		try {
			thrower(i);
		} catch (int n) {
			caught += n;
		}
	return printf("%d\n", caught) != 3;
}
EOF2
for own in -static-libgcc -static-libstdc++ '-static-libgcc -static-libstdc++'; do
	if ${CXX:-c++} -O2 -s $own -o throw.stripped throw.cc 2>err; then
		run 125 record -o none.ptl --function '+*@throw.stripped' ./throw.stripped
		check "C++ with $own is not patched" has err "^posixtrace: --function:$refused"
	else
		echo "C++ with $own: not tested: $(head -n 1 err)"
	fi
done

make_program fixed -no-pie && listed && traced ''
if make_program static -static; then
	listed
	run 0 doctor
	if grep -q '^works  *uprobes' out; then
		traced ' by uprobes of the kernel'
	else
		echo "static: not recorded: $(sed -n 's/^limited  *uprobes  *\(.*\): functions of static.*/\1/p' out)"
	fi
fi
finish
