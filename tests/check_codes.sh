#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace-formats(7) lists the codes of messages about foreign traces. A test names each code: as
# the fault that the test makes (made E05), in an expected message (E05: , ! off=9 abort), or in a
# sentence. The list below has the codes that no message has.
: "${top_srcdir:=$(dirname "$0")/..}"
. "$top_srcdir/tests/support/count.sh"
LC_ALL=C
export LC_ALL

silent='T19 E23'
page=$top_srcdir/lib/man/posixtrace-formats.7
tests=$top_srcdir/tests/tools

# codes SECTION: the codes in the list of this section of the page
codes() {
	awk -v section="$1" '$1 == ".Ss" || $1 == ".Sh" { inside = $2 == section; list = 0 }
		inside && /^Codes:/ { list = 1 }
		list && $1 == ".El" { list = 0 }
		list && $1 == ".It" { print $2 }' "$page"
}

# is_named CODE FILE...: whether one of the files names the code
is_named() {
	code=$1
	shift
	cat "$@" | grep -q -E -e "(^|[^A-Za-z-])$code(-[a-z]+)?( [0-9]|:)" -e "! off=[0-9]+ $code( |\\\$)" \
		-e " $code=[1-9]" -e "! off=[0-9]+ $code\$"
}

for code in $(codes tracex); do
	check "$code is named by a test" is_named "$code" "$tests/test_tracex.sh"
done
for code in $(codes etw); do
	check "$code is named by a test" is_named "$code" "$tests/test_etw.sh" "$tests/test_etw_described.sh"
done
for code in $(codes rkh); do
	check "$code is named by a test" is_named "$code" "$tests/test_rkh.sh" "$tests/test_send.sh" \
		"$top_srcdir"/tests/samples/rkh/*/expected.txt
done
for code in $silent; do
	check "$code is named by a test" is_named "$code" "$tests/test_tracex.sh" "$tests/test_etw.sh"
done
check "there are as many codes as the formats have" \
	test "$(for each in tracex etw rkh; do codes $each; done | wc -l)" -ge 56
finish
