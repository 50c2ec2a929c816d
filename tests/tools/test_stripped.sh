#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Functions of stripped programs: the tables for unwinders have them, and their addresses are their
# names. The symbols of the same program before it was stripped show that each name is a function.
. "${0%/*}/lib.sh"

here=$PWD
build=$(cd "${top_builddir:-..}" && pwd)
case $posixtrace in /*) ;; *) posixtrace=$here/$posixtrace ;; esac
case ${LD_LIBRARY_PATH-} in '' | /*) ;; *) LD_LIBRARY_PATH=$here/$LD_LIBRARY_PATH ;; esac
cd "$tmp" || exit 99
unset POSIXTRACE_TRACE LD_PRELOAD POSIXTRACE_KERNEL
POSIXTRACE_PRELOAD=$build/lib/.libs/libposixtrace-preload.so
export POSIXTRACE_PRELOAD
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
int main(int argc, char **argv)
{
	for (int i = 0; i < 4; i++)
		middle(3);
	return unlikely(argc) == 0;
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
	for function in leaf middle unlikely main; do
		check "$program: $function is in the list" has addresses "^$(address $function)\$"
	done
	for cold in $(sed -n 's/^\([0-9a-f]*\) unlikely\.cold$/\1/p' "$program.names"); do
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

# A program that has an unwinder of its own: one of its functions must not be patched.
sed 's/^int main/int dl_iterate_phdr(void *, void *); void *walk = dl_iterate_phdr;\nint main/' calls.c >own.c
${CC:-cc} -O2 -w -s -o own.stripped own.c
run 125 record -o none.ptl --function '+*@own.stripped' ./own.stripped
check "a program that may handle exceptions itself" has err '^posixtrace: --function: 0 functions are traced, [0-9]* refused: [0-9]* (it may be part of the handling of exceptions, as it has no name)'

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
