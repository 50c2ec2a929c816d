#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# sort(1) on a million lines.
PACKAGES='coreutils sort'
. "${0%/*}/lib.sh"

seq 1000000 | sort -R --random-source=/bin/sh >"$tmp/lines"
work() { "$@" sort "$tmp/lines"; }
compare
check "the input is among what it opened" test "$("$posixtrace" dump -e 'io.*open' "$log" | grep -c "$tmp/lines")" -ge 1
finish
