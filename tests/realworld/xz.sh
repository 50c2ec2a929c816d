#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# xz with two threads.
PACKAGES='xz-utils xz'
. "${0%/*}/lib.sh"

seq 1000000 | sort -R --random-source=/bin/sh >"$tmp/lines"
work() { "$@" xz -T2 -1 --block-size=2MiB -c "$tmp/lines"; }
compare
check "its threads are in the log" test "$(count_of thread.begin)" -ge 2
check "its output can be read" sh -c 'xz -dc "$1" | cmp - "$2"' - "$tmp/out.traced" "$tmp/lines"
finish
