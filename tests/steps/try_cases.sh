#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check-steps-seeded [CASES='NAME...']: puts faults into a copy of the source, which steps must
# find. It needs a checkout in which autogen.sh has run. Prints a table: fault, path, action,
# failures of tries, verdict.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/count.sh"

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/source" "$tmp/build" || exit 1
(cd "$top_srcdir" && git ls-files -z | xargs -0 tar -cf - configure build-aux Makefile.in aclocal.m4 \
	$(git ls-files | sed -n 's/Makefile\.am$/Makefile.in/p') m4) | (cd "$tmp/source" && tar -xf -)
(cd "$tmp/build" && ../source/configure -q --disable-static && make -s -C lib) >"$tmp/log" 2>&1 &&
	make -s -C "$tmp/build/tests" steps/steps >>"$tmp/log" 2>&1 || {
	tail "$tmp/log"
	exit 1
}

is_found() {
	case $1 in
	'' | 0) return 1 ;;
	esac
}

# The guardian of the tree would complete the logs and hide the fault.
POSIXTRACE_GUARDIAN=$tmp/build/lib/posixtrace-guardian
export POSIXTRACE_GUARDIAN
printf '%-20s %-16s %-8s %s\n' fault path action verdict
grep -v -e '^#' -e '^$' "$top_srcdir/tests/steps/cases" >"$tmp/cases"
while read -r name file path action sed; do
	case " ${*:-$name} " in
	*" $name "*) ;;
	*) continue ;;
	esac
	cp "$tmp/source/$file" "$tmp/kept"
	sed -i -e "$sed" "$tmp/source/$file"
	if cmp -s "$tmp/source/$file" "$tmp/kept"; then
		check "$name changes $file" false
	elif ! make -s -C "$tmp/build/lib" >"$tmp/log" 2>&1; then
		check "$name can be compiled" cat "$tmp/log"
		tail -5 "$tmp/log"
		check "$name can be compiled" false
	else
		found=$("$tmp/build/tests/steps/steps" "$(echo "$path" | tr _ ' ')" "$action" |
			sed -n 's/.*Failures: \([0-9]*\),.*/\1/p')
		verdict="found by $found tries"
		is_found "$found" || verdict='NOT FOUND'
		check "steps finds $name" is_found "$found"
		printf '%-20s %-16s %-8s %s\n' "$name" "$path" "$action" "$verdict"
	fi
	cp "$tmp/kept" "$tmp/source/$file"
done <"$tmp/cases"
finish
