#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every fault of mutations/cases still has its place in the engine, and names a check that must
# notice the fault. make check-mutations shows whether this check notices it.
: "${top_srcdir:=$(dirname "$0")/..}"
. "$top_srcdir/tests/support/count.sh"

command -v python3 >/dev/null || exit 77
check "the faults have their places" \
	python3 "$top_srcdir/tests/mutations/run.py" "$top_srcdir/tests/mutations/cases" --check "$top_srcdir"
check "there are 25 at the least" \
	test "$(grep -c '^\[' "$top_srcdir/tests/mutations/cases")" -ge 25
finish
