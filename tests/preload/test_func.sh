#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The shim's family func: functions compiled with -finstrument-functions.
. "${0%/*}/lib.sh"

shim func "$probe" func
check "the program works as without the shim" exits 0
check "each call" shows 'func.enter function=0x' 11
check "each call has an end" shows 'func.leave function=0x' 11
check "one function was called ten times" test "$(sed -n 's/.* func.enter //p' "$tmp/events" | sort | uniq -c | sort -rn | awk 'NR == 1 { print $1 }')" -eq 10

finish
