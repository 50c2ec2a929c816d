#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A program that was built with an earlier library works with this library: everything in the
# baseline of tests/abi exists and is unchanged. The script prints additions; they are no failure.
: "${top_srcdir:=$(dirname "$0")/..}" "${top_builddir:=$top_srcdir}" "${CC:=cc}"
export top_srcdir CC
. "$top_srcdir/tests/support/count.sh"
LC_ALL=C
export LC_ALL

abi=$top_srcdir/tests/abi
library=$top_builddir/lib/.libs/libposixtrace.so
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
added=0

# show_added LIST: prints the additions in the list, if there are any
show_added() {
	test -z "$1" && return
	added=1
	printf '%s\n' "$1" | sed 's/^/added: /'
}

# The symbols, and the sizes, offsets and values of the headers. This part needs only a compiler.
# The values are those of machines with long and pointers of 64 bits.
sh "$abi/facts.sh" "$library" >"$scratch/facts" 2>"$scratch/errors"
check "the public headers and the library are understood: $(head -n 3 "$scratch/errors")" \
	test "$(grep -c . "$scratch/facts")" -gt 300
kinds='^'
echo | $CC -dM -E - >"$scratch/macros"
if ! grep -q __LP64__ "$scratch/macros"; then
	echo "not checked: sizes, offsets and values, which are recorded for 64-bit machines"
	kinds='^symbol '
fi
grep "$kinds" "$abi/facts" >"$scratch/before"
grep "$kinds" "$scratch/facts" >"$scratch/after"
none "nothing that programs rely on is gone or has changed (what it was)" \
	"$(comm -23 "$scratch/before" "$scratch/after")"
show_added "$(comm -13 "$scratch/before" "$scratch/after")"

# Parameters, results and their types, which libabigail compares by debugging information.
if ! command -v abidw >/dev/null || ! command -v abidiff >/dev/null; then
	echo "not checked: parameters and results of functions, for want of abidw and abidiff"
elif ! readelf -SW "$library" | grep -q '\.debug_info'; then
	echo "not checked: parameters and results of functions, for want of debug information (-g)"
elif ! readelf -hW "$library" | grep -q 'Machine:.*X86-64'; then
	echo "not checked: parameters and results of functions, which are recorded for x86-64"
else
	sh "$abi/dump.sh" "$library" >"$scratch/abi"
	check "the baseline has every exported function of its time" \
		test "$(grep -c '<function-decl' "$abi/x86_64.abi")" -ge \
			"$(grep -c '^symbol .* function' "$abi/facts")"
	check "functions have the parameters, results and types that they had" \
		abidiff --no-added-syms --suppressions "$abi/same.suppr" "$abi/x86_64.abi" "$scratch/abi"
	show_added "$(abidiff --suppressions "$abi/same.suppr" "$abi/x86_64.abi" "$scratch/abi" |
		sed -n 's/^ *\[A\] //p')"
fi

test "$added" -eq 0 || echo "to take what was added into the baseline: make abi-baseline"
finish
