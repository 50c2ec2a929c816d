#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Calls that the preloaded library could not trace are in no ledger: stat, latency, diff and check
# count them.
. "${0%/*}/lib.sh"

compose=${top_builddir:-..}/tests/tools/compose
types='type io.read ns time; u64 size
type alloc.malloc u64 size; ptr result
type lock.mutex_held ns time; ptr lock
type own_begin
type own_end'
events='io.read 10 10 1000 100 5
own_begin 10 10 1100
own_end 10 10 1200
alloc.malloc 10 10 1300 1 4096
lock.mutex_held 10 10 2000 500 0xa0'

# log NAME FIELDS VALUES: two processes that report the same numbers
log() {
	{
		echo "$types"
		echo "type posixtrace_shim_lost $2"
		echo "$events"
		echo "posixtrace_shim_lost 10 10 3000 $3"
		echo "posixtrace_shim_lost 20 20 4000 $3"
	} | "$compose" "$tmp/$1" || exit 99
}
fields='u64 early; u64 unnamed; u64 holds; u64 early_alloc'
{ echo "$types"; echo "$events"; } | "$compose" "$tmp/none" || exit 99
log alloc "$fields" '30 0 0 30'
log early "$fields" '30 0 0 0'
log unnamed "$fields" '0 4 0 0'
log holds "$fields" '0 0 7 0'
log all "$fields" '5 4 3 2'
log old 'u64 early; u64 unnamed; u64 holds' '30 0 0'
log huge "$fields" '18446744073709551615 18446744073709551615 18446744073709551615 18446744073709551615'
log odd 'u64 other' '1'

run 0 stat --fail-on-loss "$tmp/none"
check "a log without such events is as before" lacks out 'not traced'
run 4 stat --fail-on-loss "$tmp/all"
check "stat has the calls of all processes by cause" has out \
	'^not traced  10 before the library had begun, 8 without an event type or memory for their thread, 6 holds of locks$'
run 0 stat --json "$tmp/all"
check "JSON has them" has out '"shim_lost":{"early":10,"early_alloc":4,"unnamed":8,"holds":6}'
run 4 stat --fail-on-loss "$tmp/huge"
check "sums stay" has out '^not traced  18446744073709551615 before'
run 0 stat --fail-on-loss "$tmp/odd"

# lost LOG NAME: the losses of that series in latency
lost() {
	run 0 latency --json "$tmp/$1"
	sed 's/{/\n{/g' "$tmp/out" | sed -n "/\"$2\"/s/.*\"lost\":\([0-9]*\).*/\1/p" | head -n 1
}
# expect LOG IO.READ HELD OWN: events that these series lack
expect() {
	found="$(lost "$1" io.read) $(lost "$1" lock.mutex_held) $(lost "$1" own)"
	check "latency $1: $found" test "$found" = "$2 $3 $4"
}
expect none 0 0 0
expect alloc 0 0 0
expect early 60 60 0
expect unnamed 8 8 0
expect holds 0 14 0
expect all 14 20 0
expect old 60 60 0
run 0 latency "$tmp/all"
check "latency marks the figures" has out 'io.read (14 events lost)'
run 0 latency -e 'own*' "$tmp/all"
check "types of other processes have no losses" lacks out 'lost'

run 0 diff "$tmp/none" "$tmp/none"
run 0 diff --json "$tmp/none" "$tmp/all"
check "diff has the losses of a side" has out '"lost_b":14'
run 0 diff --json -e 'own*' "$tmp/none" "$tmp/all"
check "only compared types have losses" lacks out '"lost_b":[1-9]'
check "types that are not compared are not listed" lacks out 'io.read'

# one RULE STATUS LOG
one() {
	echo "$1" >"$tmp/rule"
	run "$2" check "$tmp/rule" "$tmp/$3"
}
one 'never io.write' 0 none
for log in early unnamed all old; do
	one 'never io.read where "size > 5"' 2 $log
	check "$log: an untraced call may have been such an event" has out ': undecided: never'
	one 'count io.read < 100' 2 $log
	one 'rate io.read <= 5 per 1s' 2 $log
	one 'every own_begin is followed by io.read' 2 $log
	one 'every own_begin is followed by own_end' 0 $log
	check "$log: the program's own events are all there" has out ': ok: every'
done
one 'never io.read where "size > 5"' 0 alloc
one 'never alloc.malloc where "size > 5"' 2 alloc
one 'never io.read where "size > 5"' 0 holds
one 'never lock 0xa0 then 0xb0' 2 holds
check "locks whose holds were not timed" has out '14 events of its types were lost'
finish
