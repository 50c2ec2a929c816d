#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Three thousand threads at the same time: each has a ring of its own, and no event is lost.
PACKAGES=
. "${0%/*}/lib.sh"

threads=${PTX_THREADS:-3000}
# shellcheck disable=SC2034 # compare reads it
status=7
${CC:-cc} -O2 -pthread -o "$tmp/threads" "$here/threads.c" 2>"$tmp/build" ||
	{ echo "SKIP: threads: there is no C compiler"; exit 0; }
"$tmp/threads" "$threads" >/dev/null 2>&1
test $? -eq 7 || { echo "SKIP: threads: $threads threads cannot run here"; exit 0; }
work() { "$@" "$tmp/threads" "$threads"; }
record() { "$posixtrace" record -q -o "$log" -s 256M -- "$@"; }
compare
check "threads: each is in the log" test "$(count_of thread.begin)" -eq "$threads"
check "threads: no event is lost, not $(losses)" test "$(losses)" = 0
finish
