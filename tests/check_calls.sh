#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check-realworld compares a log with the output of strace (realworld/calls.py). This script
# removes each event from small logs in turn: the comparison must report that the event is missing.
# The logs have the calls for which the comparison is difficult.
: "${top_srcdir:=$(dirname "$0")/..}"
. "$top_srcdir/tests/support/count.sh"

command -v python3 >/dev/null || { echo "SKIP: python3 is not installed"; exit 77; }
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
calls=$(cd "$top_srcdir/tests/realworld" && pwd)
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
check "each removed, added or changed event is a difference" \
	python3 "$calls/calls_cases.py" "$calls/calls.py" "$tmp"
finish
