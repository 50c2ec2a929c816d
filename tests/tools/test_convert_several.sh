#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace convert of several logs: one trace in the order of dump --merge, in every format.
. "${0%/*}/lib.sh"
needs_format etw
needs_format tracex
needs_format rkh

compose=${top_builddir:-..}/tests/tools/compose
formats=$("$posixtrace" convert --list | awk '$2 == "writes" || $3 == "writes" { print $1 }' | grep -v listing)

# log NAME HOST <LINES
log() { "$compose" "$tmp/$1" "$2" || exit 99; }

# fields FILE MEMBER: the values of that member of the events in JSON Lines, on one line
fields() { sed -n "/^{\"event\"/s/.*\"$2\":\"\{0,1\}\([^,\"}]*\).*/\1/p" "$tmp/$1" | paste -sd ' '; }

log a one <<END
type tick u32 n
type work_begin u32 id
type work_end u32 id
tick 10 10 1000 1
work_begin 10 10 2000 7
tick 10 10 5000 2
work_end 10 10 9000 7
lost tick 3
END
log b one <<END
type other
type tick u32 n
type work_begin u32 id
type work_end u32 id
tick 20 20 1500 11
tick 20 20 3000 12
work_begin 20 20 3500 7
work_end 20 20 8000 7
other 20 20 10000
lost tick 4
lost other 2
END

run 0 convert "$tmp/a" "$tmp/b" --to jsonl
cp "$tmp/out" "$tmp/jsonl"
check "each log's clock and bound are printed" has err "^posixtrace: $tmp/a: host one, clock none: events less than"
check "the events are in the order of their times" test "$(fields jsonl ns)" = "1000 1500 2000 3000 3500 5000 8000 9000 10000"
check "each says its log" test "$(fields jsonl log | sed "s|$tmp/||g")" = "a b a b b a b a b"
check "a note says what each log is" test "$(grep -c '^{"note":"log [12] of 2: ' "$tmp/jsonl")" -eq 2
check "types of one name are one" test "$(grep -c '^{"type":"tick"' "$tmp/jsonl")" -eq 1
check "the ledger is the sum" grep -q '"ledger":{"called":18,"reported":9,"unread":0,"lost":{"stream full":9}}' "$tmp/jsonl"
check "the account has the types" grep -q '{"type":"tick","called":11,"reported":4,"unread":0,"lost":{"stream full":7}}' "$tmp/jsonl"
run 4 convert --fail-on-loss "$tmp/a" "$tmp/b" --to jsonl -o /dev/null
run 0 convert "$tmp/b" "$tmp/a" --to jsonl --clock-error one=1us
run 2 convert "$tmp/b" "$tmp/a" --to jsonl --clock-error one=x
run 0 convert "$tmp/a" "$tmp/b" --to csv
check "CSV has a column for the log" has out '^time,.*,fields,names,log.$'
check "each event of the CSV has its log" test "$(grep -c "\"$tmp/[ab]\".\$" "$tmp/out")" -eq 9

# The same events, with any selection, in every format. START and FILTER describe the filter of one
# log. RKH has no times of this size.
for log in x y; do
	"${top_builddir:-..}/tests/tools/make_log" plain "$tmp/$log" 500 >/dev/null || exit 99
done
"${top_builddir:-..}/tests/tools/make_log" overrun "$tmp/z" 5000 >/dev/null || exit 99
same_events() {
	dumped=$("$posixtrace" dump --system --merge --raw --fields time,event,data "$tmp/x" "$tmp/y" "$tmp/z" "$@" \
		-x posix_trace_start -x posix_trace_stop -x posix_trace_filter 2>/dev/null | sort)
	for format in $formats; do
		rm -rf "$tmp/to" "$tmp/to.trxc"
		run 0 convert "$tmp/x" "$tmp/y" "$tmp/z" "$@" --to "$format" -o "$tmp/to"
		check "$format $*: something was written" test -e "$tmp/to"
		case $format in
		log) cp "$tmp/to" "$tmp/back" ;;
		evt | etw | tracex | rkh) run 0 convert --from "$format" "$tmp/to" --force -o "$tmp/back.ptl"
			mv "$tmp/back.ptl" "$tmp/back" ;;
		jsonl)
			check "jsonl $*: as many events as dump" test "$(grep -c '^{"event"' "$tmp/to")" -eq \
				"$("$posixtrace" dump --system --merge "$tmp/x" "$tmp/y" "$tmp/z" "$@" 2>/dev/null | wc -l)"
			continue ;;
		*) continue ;;
		esac
		run 0 verify "$tmp/back"
		if test $format = tracex; then # its names are in a file beside it, for TraceX
			check "tracex $*: as many events as dump --merge" test \
				"$("$posixtrace" dump --system -x tracex_header -x tracex_object -x tx_running "$tmp/back" | wc -l)" -eq \
				"$("$posixtrace" dump --system --merge "$tmp/x" "$tmp/y" "$tmp/z" "$@" 2>/dev/null | wc -l)"
			continue
		fi
		back=$("$posixtrace" dump --system --raw --fields time,event,data "$tmp/back" -x posix_trace_start \
			-x posix_trace_stop -x posix_trace_filter -x 'tx_*' -x 'tracex_*' -x 'rkh.*' \
			-x 'etw.*' 2>/dev/null | sort)
		case $format in
		rkh)
			check "$format $*: as many events as dump --merge" test \
				"$(echo "$back" | wc -l)" -eq "$(echo "$dumped" | wc -l)" ;;
		*)
			check "$format $*: the events of dump --merge" test "$back" = "$dumped" ;;
		esac
	done
}
same_events
same_events -e 'job*'
same_events -x 'posix_trace_*' --begin +20us --end -20us
same_events --where 'event.name == "job_begin"'
same_events --tid 1

# Begins and ends are paired log by log: two streams of one thread record the same span twice.
log c one <<END
type work_begin
type work_end
work_begin 10 10 1000
work_end 10 10 4000
END
log d one <<END
type work_begin
type work_end
work_begin 10 10 2000
lost work_end 1
END
run 0 convert "$tmp/c" "$tmp/d" --to chrome
check "an end of one log ends no span of another" test "$(grep -c '"ph":"e"' "$tmp/out")" -eq 1
check "an end ends the span of its own log" has out '"ph":"b","ts":0.000,.*"id":"0x1"'
if "$posixtrace" convert --list | grep -q sqlite && command -v sqlite3 >/dev/null; then
	run 0 convert "$tmp/c" "$tmp/d" --to sqlite -o "$tmp/two.db"
	check "a database has the span of its own log" test "$(sqlite3 "$tmp/two.db" 'SELECT duration, log FROM spans')" = "3000|$tmp/c"
	check "where events have their log" test \
		"$(sqlite3 "$tmp/two.db" 'SELECT log FROM events ORDER BY time' | paste -sd ' ')" = \
		"$tmp/c $tmp/d $tmp/c"
fi
# Losses of one log leave the spans of another alone.
log e one <<END
type work_begin u32 id; @begin work; @key id
type work_end u32 id; @end work; @key id
work_begin 30 30 1000 1
work_begin 30 31 1100 2
work_end 30 30 5000 1
work_end 30 31 6000 2
END
log f one <<END
start 500
start 2000
start 3000
END
run 0 convert "$tmp/e" "$tmp/f" --to chrome
check "both spans are there" test "$(grep -c '"ph":"e"' "$tmp/out")" -eq 2

# A log of several logs: a stop of one stream is not a stop while another runs.
check_log() {
	run 0 convert "$tmp/$1" "$tmp/$2" --to log
	cp "$tmp/out" "$tmp/joined"
	run 0 dump --system --raw --fields time,event "$tmp/joined"
}
for log in x y; do
	"$posixtrace" convert "$tmp/$log" -o "$tmp/$log.evt"
done
check_log x y
check "one after the other: both stops" test "$(grep -c 'posix_trace_stop$' "$tmp/out")" -eq 2
check_log x x
check "side by side: the last" test "$(grep -c 'posix_trace_stop$' "$tmp/out")" -eq 1

# Two descriptions of one name are two types; a log has one.
log g one <<END
type tick u64 count
tick 40 40 1200 99
END
run 0 convert "$tmp/a" "$tmp/g" --to jsonl
check "each event is read by its own log's description" has out '"fields":{"count":99}\|"count":99'
check "those of the other log, too" has out '"n":2'
run 1 convert "$tmp/a" "$tmp/g" -o "$tmp/refused.ptl"
check "a log says why it cannot be" has err '^posixtrace: event type tick: two of the logs describe its data differently'
check "a log that cannot be made is not left behind" test ! -e "$tmp/refused.ptl"
run 0 convert "$tmp/a" "$tmp/g" -x tick -o "$tmp/without.ptl"

# Processes of two hosts with one number are refused; others are one trace without a host.
log h two <<END
type tick u32 n
tick 10 10 1000 1
END
log i two <<END
type tick u32 n
tick 50 50 1000 1
END
for format in $formats; do
	run 1 convert "$tmp/a" "$tmp/h" --to "$format" -o "$tmp/hosts.out"
	check "$format: a process on two hosts is reported" has err \
		"^posixtrace: $tmp/a, $tmp/h: process 10 is of host one in one log and of host two in the other"
	check "$format: nothing is left" test ! -e "$tmp/hosts.out"
done
run 0 convert "$tmp/a" "$tmp/i" --to jsonl
check "two hosts have no one name" lacks out '^{"trace":.*"host"'
run 0 convert "$tmp/a" "$tmp/b" --to jsonl
check "one host has" has out '^{"trace":.*"host":"one"'

# Logs that cannot be merged
"$posixtrace" convert "$tmp/a" -o "$tmp/a.evt"
run 2 convert "$tmp/a.evt" "$tmp/b" --to jsonl
check "a file that is no log is reported, with the command that converts it" has err \
	"^posixtrace: $tmp/a.evt: the format is evt, but several inputs must all be logs; 'posixtrace convert $tmp/a.evt -o LOG.ptl'"
run 2 convert --from evt "$tmp/a" "$tmp/b" --to jsonl
run 1 convert "$tmp/a" "$tmp/missing" -o "$tmp/none.ptl"
check "without one of them there is no output" test ! -e "$tmp/none.ptl"
head -c 4500 "$tmp/x" >"$tmp/cut"
run 3 convert "$tmp/a" "$tmp/cut" -o "$tmp/of_cut.ptl"
check "a cut log is reported" has err "^posixtrace: $tmp/cut: "
check "the whole part of a cut log is kept" test "$("$posixtrace" dump --system "$tmp/of_cut.ptl" 2>/dev/null | wc -l)" -ge 4
"$posixtrace" convert "$tmp/a" - --to jsonl <"$tmp/b" >"$tmp/out" 2>"$tmp/err"
check "one may be standard input" test "$(grep -c '^{"event"' "$tmp/out")" -eq 9
"$posixtrace" convert - "$tmp/b" --to perfetto <"$tmp/a" >"$tmp/out" 2>"$tmp/err"
check "also where it is read twice" test -s "$tmp/out"
finish
