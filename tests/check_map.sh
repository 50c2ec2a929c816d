#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The public headers, the version script, the library's dynamic symbols and the manual have the same
# functions and variables.
: "${top_srcdir:=$(dirname "$0")/..}" "${top_builddir:=$top_srcdir}" "${CC:=cc}"
. "$top_srcdir/tests/support/count.sh"
LC_ALL=C
export LC_ALL

map=$top_srcdir/lib/libposixtrace.map
library=$top_builddir/lib/.libs/libposixtrace.so
man=$top_srcdir/lib/man
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# The function declarators of the headers, as the compiler sees them.
# Inline functions, which call exported ones with the sizes of structures, are not exported.
echo '#include <trace_np.h>' | $CC -I"$top_srcdir/include" -E -P - >"$scratch/text"
awk '/^static __inline/ { inside = 1 } !inside; /^}/ { inside = 0 }' "$scratch/text" |
	grep -oE '\<posix_trace_[a-z0-9_]+ *\(|^extern .*\<posix_trace_[a-z0-9_]+;' |
	sed 's/^extern .* \**//' | tr -d ' (;' | sort >"$scratch/headers"
sed -n 's/^#define \(posix_trace_[a-z0-9_]*\)(.*/\1/p' "$top_srcdir"/include/*_np.h >"$scratch/macros"
sed -n 's/^static __inline .*\<\(posix_trace_[a-z0-9_]*\)(.*/\1/p' "$scratch/text" >>"$scratch/macros"
check "inline functions are found" grep -q '^posix_trace_get_ledger_np$' "$scratch/macros"
sed -n '/global:/,/local:/p' "$map" | grep -oE 'posix_trace_[a-z0-9_]+' | sort >"$scratch/map"
# A defined dynamic symbol with its version: "name@@POSIXTRACE_1.0".
nm -D --defined-only --with-symbol-versions "$library" | awk '{ print $3 }' | sort \
	>"$scratch/symbols"
sed -n 's/^\(posix_trace_[a-z0-9_]*\)@@POSIXTRACE_1\.0$/\1/p' "$scratch/symbols" \
	>"$scratch/exported"

check "the 50 functions of the standard are declared" \
	test "$(grep -cv '_np$' "$scratch/headers")" -eq 50
check "no function is declared twice" test -z "$(uniq -d "$scratch/headers")"
none "every function of the headers is in the map" \
	"$(comm -23 "$scratch/headers" "$scratch/map")"
none "every function of the map is in the headers" \
	"$(comm -13 "$scratch/headers" "$scratch/map")"
none "every function of the map is in the library" \
	"$(comm -23 "$scratch/map" "$scratch/exported")"
none "the library exports nothing else" \
	"$(grep -vE '^(posix_trace_[a-z0-9_]+@@POSIXTRACE_1\.0|POSIXTRACE_1\.0(@@POSIXTRACE_1\.0)?)$' \
		"$scratch/symbols")$(comm -13 "$scratch/map" "$scratch/exported")"
check "its name for the linker is libposixtrace.so.1" \
	sh -c "readelf -d '$library' | grep -q 'SONAME.*\[libposixtrace\.so\.1\]'"
check "it stays when a plugin that uses it is unloaded, and binds at once" \
	sh -c "readelf -d '$library' | grep 'FLAGS_1' | grep NOW | grep -q NODELETE"

# lists FILE: the functions of start.functions that their file does not name. A function that was
# renamed would leave the pages of a start.
lists() {
	sed -n '/^#/d; s/://p' "$1" | while read -r file functions; do
		for function in $functions; do
			function=${function#__wrap_}
			grep -qwE "${function#unlikely.}" "$top_srcdir/lib/$file" ||
				echo "$file: $function"
		done
	done
}
none "the functions of a start are in their files" \
	"$(lists "$top_srcdir/lib/start.functions"; lists "$top_srcdir/lib/preload/start.functions")"
# after FILE: the writable sections behind the part that becomes read-only, in the order of addresses.
after() {
	readelf -lW "$1" | awk '/GNU_RELRO/ { print $3, $6 }' | while read -r begin bytes; do
		readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' | awk '$7 ~ /W/ { print $3, $1 }' |
			while read -r address name; do
				test $((0x$address)) -ge $((begin + bytes)) && echo "$name"
			done
	done
}
if readelf -SW "$library" | grep -q '\.text\.start'; then
	check "the variables of a start are writable after the start" \
		sh -c 'echo "$1" | grep -qx ptx_start' sh "$(after "$library")"
	for shim in "${library%/*}"/libposixtrace-preload.so; do
		test -e "$shim" || continue
		check "the structs of the next functions are writable, and the start's variables follow" \
			test "$(after "$shim" | sed -n '/^shim_/p; /^\.bss\.start/p' | tr '\n' ' ')" = \
			"shim_nexts shim_start .bss.start "
	done
fi

# A page that is only ".so man3/other.3" uses the names of the other page. The file must exist, and
# the page that it refers to must name the function.
for function in $(cat "$scratch/headers"); do
	page=$man/$function.3
	check "$function has a page" test -e "$page"
	test -e "$page" || continue
	target=$(sed -n 's/^\.so man3\///p' "$page")
	check "its page names $function" \
		grep -qE "(^|[^a-z_])$function([^a-z_]|\$)" "$man/${target:-$function.3}"
done
for page in "$man"/posix_trace_*.3; do
	check "$(basename "$page") is about a function that there is" \
		grep -qx "$(basename "$page" .3)" "$scratch/headers" "$scratch/macros"
done

finish
