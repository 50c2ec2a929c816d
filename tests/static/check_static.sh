#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check-static: cppcheck, clang-tidy (../../.clang-tidy) and gcc -fanalyzer report only
# warnings about the library that the file known explains. TOOLS="tidy" and FILES="lib/ring/*.c" run
# a part; a missing tool is reported.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/count.sh"
LC_ALL=C
export LC_ALL

here=$top_srcdir/tests/static
flags="-std=gnu11 -D_GNU_SOURCE -pthread -Iinclude -Ilib -DPTX_GUARDIAN=\"x\""
flags="$flags -DPACKAGE_NAME=\"p\" -DPACKAGE_VERSION=\"v\""
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
whole=${FILES:+no}
: "${TOOLS:=cppcheck tidy analyzer}"

# Each prints FILE:LINE: warning: TEXT [CHECK]. Warnings about files outside the tree are ignored.
run_cppcheck() {
	# shellcheck disable=SC2086
	cppcheck --enable=warning,portability --std=c11 --quiet --template='{file}:{line}: warning: {message} [{id}]' \
		-D_GNU_SOURCE -D__x86_64__ -D__GNUC__=12 -Iinclude -Ilib $1 2>&1
}
run_tidy() {
	for file in $1; do
		# shellcheck disable=SC2086
		clang-tidy --quiet "$file" -- $flags 2>/dev/null
	done
}
run_analyzer() {
	for file in $1; do
		# shellcheck disable=SC2086
		gcc $flags -O1 -fanalyzer -c -o "$scratch/object" "$file" 2>&1
	done
}

# A fault that each of them must report: a tool without any report may not have run at all.
cat >"$scratch/bad.c" <<'EOF'
#include <stdlib.h>
int f(int *p);
int f(int *p)
{
	int a[2] = { 0, 0 };

	free(p);
	return *p + a[2];
}
EOF

cd "$top_srcdir" || exit 1
: "${FILES:=lib/*/*.c}"
for tool in $TOOLS; do
	case $tool in
	cppcheck) program=cppcheck ;;
	tidy) program=clang-tidy ;;
	*) program=gcc ;;
	esac
	if ! command -v $program >/dev/null; then
		echo "not checked by $program, which is not there"
		continue
	fi
	# shellcheck disable=SC2086
	"run_$tool" "$(echo $FILES)" >"$scratch/said"
	sed -nE "s|^$PWD/||; s/^([^/: ][^: ]*):([0-9]+)(:[0-9]+)?: (warning|error): (.*) \[([^]]*)\]\$/\1 \6 \2 \5/p" \
		"$scratch/said" | sort -u >"$scratch/found"
	sed -n "s/^$tool \([^ ]*\) \([^	 ]*\).*/\1 \2/p" "$here/known" >"$scratch/known"
	none "$program finds nothing" \
		"$(awk 'NR == FNR { known[$1 " " $2]; next } !(($1 " " $2) in known)' \
			"$scratch/known" "$scratch/found")"
	"run_$tool" "$scratch/bad.c" >"$scratch/said" 2>&1
	check "$program finds what is wrong" grep -q 'bad\.c:8:.*warning' "$scratch/said"
	test -n "$whole" || awk -v tool="$tool" \
		'NR == FNR { found[$1 " " $2]; next } !($0 in found) { print "no longer said by " tool ": " $0 }' \
		"$scratch/found" "$scratch/known"
done
finish
