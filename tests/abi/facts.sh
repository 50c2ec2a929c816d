#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# facts.sh LIBRARY: the facts on which a program compiled and linked in the past relies, one on a
# line: the symbols of the library, and of the public headers the sizes of structures, the offsets
# and sizes of their members, and the values of constants. The program that prints them is written
# from the headers, so that it covers new members and constants by itself.
: "${top_srcdir:=$(dirname "$0")/../..}" "${CC:=cc}"
LC_ALL=C
export LC_ALL

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
flags="-std=gnu11 -D_POSIX_C_SOURCE=200809L -I$top_srcdir/include"

nm -D --defined-only --with-symbol-versions "$1" >"$scratch/symbols" || exit 1
# Its kind, without the address: "T posix_trace_event@@POSIXTRACE_1.0".
awk '$3 ~ /^posix_/ { print "symbol", $3, ($2 ~ /[TW]/ ? "function" : "object") }' \
	"$scratch/symbols" >"$scratch/facts"

# The text of our headers, without the headers that they include.
echo '#include <trace_np.h>' | $CC $flags -E - |
	awk '/^# [0-9]+ / { ours = $3 ~ /\/trace(_[a-z_]+)?\.h"$/; next } ours && NF' \
	>"$scratch/text" || exit 1
echo '#include <trace_np.h>' | $CC $flags -E -dM - |
	sed -nE 's/^#define (_?(POSIX_)?TRACE_[A-Z0-9_]+) .*/\1/p' |
	grep -vE '^_TRACE_|_H$' >"$scratch/macros"
{
	cat <<'EOS'
#include <stddef.h>
#include <stdio.h>
#include <trace_np.h>
#define SIZE(t) printf("type %s size %zu align %zu\n", #t, sizeof(t), _Alignof(t))
#define MEMBER(t, m) \
	printf("member %s.%s offset %zu size %zu\n", #t, #m, offsetof(t, m), sizeof(((t *)0)->m))
#define VALUE(v) printf("constant %s %lld\n", #v, (long long)(v))
int main(void)
{
EOS
	awk '
	# The name of a member is before its semicolon or brackets.
	function member(line) {
		sub(/;.*/, "", line)
		sub(/\[.*/, "", line)
		if (line ~ /\(\*/) {
			sub(/.*\(\*/, "", line)
			sub(/\).*/, "", line)
		}
		sub(/.*[^A-Za-z0-9_]/, "", line)
		return line
	}
	/^struct [a-z_0-9]+ *\{/ {
		type = "struct " $2
		depth = 1
		print "\tSIZE(" type ");"
		next
	}
	/^enum [a-z_0-9]+ *\{/ { print "\tSIZE(enum " $2 ");"; names = ""; inside = 1 }
	inside {
		names = names $0
		if (!/\}/)
			next
		inside = 0
		sub(/^[^{]*\{/, "", names)
		sub(/\}.*/, "", names)
		count = split(names, name, ",")
		for (i = 1; i <= count; i++) {
			sub(/=.*/, "", name[i])
			gsub(/[ \t]/, "", name[i])
			if (name[i] != "")
				print "\tVALUE(" name[i] ");"
		}
		next
	}
	depth && /\{/ { depth++; next }
	depth && /\}/ { depth--; next }
	depth && /;/ { print "\tMEMBER(" type ", " member($0) ");" }
	/^typedef struct \{/ { unnamed = 1; next }
	unnamed && /^\}/ { unnamed = 0; print "\tSIZE(" member(substr($0, 2)) ");"; next }
	/^typedef .*;/ { print "\tSIZE(" member($0) ");" }
	' "$scratch/text"
	sed 's/.*/	VALUE(&);/' "$scratch/macros"
	echo '}'
} >"$scratch/print.c"
# shellcheck disable=SC2086
$CC $flags -o "$scratch/print" "$scratch/print.c" || exit 1
"$scratch/print" >>"$scratch/facts" || exit 1
sort -u "$scratch/facts"
