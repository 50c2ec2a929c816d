#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace convert: -e, -x, --pid, --tid, --begin, --end and --where select the same events as
# dump.
. "${0%/*}/lib.sh"
needs_format etw
needs_format tracex
needs_format rkh

"$make_log" plain "$tmp/plain.log" 1000 >/dev/null || exit 99
"$make_log" overrun "$tmp/overrun.log" 5000 >/dev/null || exit 99
"${top_builddir:-..}/tests/exchange/rich" "$tmp/rich.log" 100 || exit 99

# Rows of gaps and losses have no event type.
csv_events() {
	"$posixtrace" convert "$@" --to csv 2>"$tmp/err" |
		grep -cE '^[0-9T:.Z-]+,-?[0-9]+,[0-9]*,[0-9]*,[^,]*,[^,]*,[^,]*,"'
}

compare() {
	log=$1
	shift
	dumped=$("$posixtrace" dump --system "$tmp/$log.log" "$@" 2>/dev/null | wc -l)
	run 0 convert "$tmp/$log.log" "$@" --to jsonl
	check "$log $*: jsonl has the events of dump" test "$(grep -c '^{"event"' "$tmp/out")" -eq "$dumped"
	check "$log $*: csv has the events of dump" test "$(csv_events "$tmp/$log.log" "$@")" -eq "$dumped"
	run 0 convert "$tmp/$log.log" "$@" --force -o "$tmp/chosen.ptl"
	check "$log $*: a log has the events of dump" test "$("$posixtrace" dump --system "$tmp/chosen.ptl" 2>/dev/null | wc -l)" -eq "$dumped"
	run 0 verify "$tmp/chosen.ptl"
	# Conversion and back: additional data of formats has names of its own.
	for format in evt etw rkh tracex; do
		rm -f "$tmp/there" "$tmp/there.trxc"
		run 0 convert "$tmp/$log.log" "$@" --to $format -o "$tmp/there"
		max=
		test $format = rkh && max=--max-frame=65535 # rich.log has large events
		run 0 convert --from $format $max "$tmp/there" --force -o "$tmp/back.ptl"
		check "$log $*: $format has the events of dump" test "$("$posixtrace" dump --system "$tmp/back.ptl" \
			-x 'rkh.*' -x 'tracex_[ho]*' -x 'tx_*' 2>/dev/null | wc -l)" -eq "$dumped"
	done
	run 0 convert "$tmp/$log.log" "$@" --to jsonl
	check "$log $*: the ledger reports the events that were chosen" grep -q \
		"^{\"end\":.*\"ledger\":{\"called\":[0-9]*,\"reported\":$dumped," "$tmp/out"
	check "$log $*: the ledger has all called events" test "$(sed -n 's/^{"end".*"ledger":{\([^}]*\)}.*/\1/p' "$tmp/out" |
		tr ',' '\n' | awk -F: '/"called"/ { called = $2; next } { n += $NF } END { print called - n }')" -eq 0
	run 0 convert "$tmp/$log.log" "$@" --to chrome
	run 0 convert "$tmp/$log.log" "$@" --to perfetto -o /dev/null
}

pid=$("$posixtrace" dump --system --json "$tmp/plain.log" | sed -n 's/.*"pid":\([0-9]*\).*/\1/p' | head -1)
for log in plain overrun rich; do
	name=$("$posixtrace" dump --system --json "$tmp/$log.log" 2>/dev/null |
		sed -n 's/.*"event":"\([^"]*\)".*/\1/p' | grep -v '^posix_trace' | head -1)
	check "$log has an event" test -n "$name"
	compare $log -e "$name"
	compare $log -x "$name"
	compare $log -x 'posix_trace_*'
	compare $log --begin +1us
	compare $log --end +100us
	compare $log --begin +1us --end -1us
	compare $log --where "event.name == \"$name\""
	compare $log --pid "$pid"
	compare $log --pid 1
	compare $log --tid 1
done

run 2 convert "$tmp/plain.log" --where nonsense==1 --to jsonl
run 2 convert "$tmp/plain.log" --where '(' --to jsonl
run 2 convert "$tmp/plain.log" --begin nonsense --to jsonl
check "an invalid time is reported" has err 'not a time'
run 2 convert "$tmp/plain.log" --pid x --to jsonl
check "an invalid process is reported" has err 'not a number'
run 0 convert "$tmp/plain.log" -e nonsense --to jsonl
check "a name that no type has is reported" has err 'no event type of'

# Events that were not selected are not reported as lost.
run 4 convert --fail-on-loss "$tmp/overrun.log" --to jsonl
run 0 convert --fail-on-loss -e posix_trace_stop "$tmp/overrun.log" --to jsonl

# A sink that needs facts reads the log twice. The schemas of the second reading have the addresses of
# others that the first reading freed.
"${top_builddir:-..}/tests/tools/compose" "$tmp/twice.log" <<'END' || exit 99
type req.b u32 id; str who; @begin req; @key id
type req.e u32 id; errno e; @end req; @key id
type part.e @end part
type call ns time; str what
type lock.mutex ns time; ptr lock; errno error
type q s32 len; @counter len
type -cmd str s
type "\xff\xfe" str s
type "=1+1" str s; bytes b
-cmd 20 21 +1us ""
q 10 11 +7ns -2147483648
part.e 10 10 +0 @late
req.b 20 20 +1s 1 "=cmd"
-cmd 10 12 +1 "-2"
END
for sink in ctf otlp parquet; do
	"$posixtrace" convert --list | grep -q "^$sink " || continue
	rm -rf "$tmp/chosen"
	run 0 convert "$tmp/twice.log" --where 'len < 0' --to $sink -o "$tmp/chosen"
	check "$sink has the event of the second reading" lacks err 'no event is selected'
done

finish
