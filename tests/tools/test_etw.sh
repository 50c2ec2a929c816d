#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Logs of Event Tracing for Windows: the result equals the known content.
. "${0%/*}/lib.sh"
needs_format etw

python3 -c 'import json' 2>/dev/null || skip "no python3 to compare with"
samples=${top_srcdir:-${0%/*}/../..}/tests/samples/etw
etw() { python3 "${0%/*}/etw.py" "$@"; }

# import FILE NAME [OPTION...]: to $tmp/NAME.jsonl
import() {
	file=$1 name=$2
	shift 2
	run 0 convert "$file" -o "$tmp/$name.jsonl" --force "$@"
}

for sample in "$samples"/*.etl; do
	name=${sample##*/}
	name=${name%.etl}
	import "$sample" "$name"
	check "$name is what it is known to be" \
		etw expected "$tmp/$name.jsonl" "$sample.expected.json"
done
classic=sawbuck_win7_process_data_64_v2

# The first record of its second buffer, as the manual describes it.
check "class and type name it" has $classic.jsonl '^{"event":"etw.process.dc_start".*"ns":"1304341013991426791","pid":7644,"tid":6452'
check "the begins and ends of processes are distinguished" \
	has $classic.jsonl '"type":"etw.process.start".*x64 UniqueProcessKey;u32 ProcessId.*@begin etw.process;@key ProcessId'
check "the level is kept" has $classic.jsonl '"type":"etw.process.start".*@level 4'
check "an extended item names an event" has primitive-types.jsonl 'etw.solar_system.PrimitiveTypesTest'
check "a manifest's event has a number" has powershell.jsonl 'etw.a0c1853b-5c40-4b15-8766-3cf1c58f985a.7937'

# made CASE STATUS [SAMPLE [OPTION...]]: the log with that fault; the message has its code.
made() {
	case=$1 status=$2 sample=${3:-$classic}
	shift 2
	test $# -eq 0 || shift
	check "$case can be made" etw make "$case" "$samples/$sample.etl" "$tmp/made.etl"
	run "$status" convert --from etw "$tmp/made.etl" -o "$tmp/made.jsonl" --force "$@"
	check "$case is reported" has err "made.etl:.* ${case%%-*}: "
}
events() { test "$(etw events "$tmp/made.jsonl")" -eq "$1"; }

made E01 1
made E01-empty 1
made E02 1
made E02-short 1
made E03 1
made E03-long 1
made E04 3
check "E04: the rest is not read" events 0
made E04 3 $classic --etw-resync
check "E04: with --etw-resync, the buffer is skipped" events 4
made E05 3
check "E05: the whole ones are read" events 1
made E06 3
check "E06: all is read" events 8
made E06-small 3
made E07 3
check "E07: the rest of the buffer is lost" events 4
made E07-zero 3
made E08 3
made E09 3
made E10 3
made E11 3 SelfDescribingSingleEvent
made E12 1 SelfDescribingSingleEvent
check "E12: by its name" has err 'XPRESS Huffman'
made E12-bound 3 SelfDescribingSingleEvent
made E13 1
made E13-cpu 1
made E14 1
check "E14: a hint" has err 'etw-clock'
run 0 convert "$tmp/made.etl" -o "$tmp/hint.jsonl" --etw-clock 1
check "E14: the hint leads to the right events" etw events "$tmp/hint.jsonl" "$tmp/$classic.jsonl"
made E15 0 lxcore_kernel
check "E15: the event is kept" events 2
made E16 0
made E16-open 0
made E17 0
made E18 0
made E19 0
made E19-zero 0
made E20 0
made E21 0
check "E23 can be made" etw make E23 "$samples/$classic.etl" "$tmp/made.etl"
run 0 convert "$tmp/made.etl" -o "$tmp/made.jsonl" --force
check "E23: the headers of buffers lose no event" events 8
check "E23: no message is printed" lacks err E23
made E22 0
check "E22: the counts are reported" has err '5 events and 0 buffers'
check "E22: the ledger has the losses" has made.jsonl '"lost":5,"cause":"stream full"'

# The cost of the time between two records of a thread.
check "costs can be made" etw make cost "$samples/$classic.etl" "$tmp/cost.etl"
run 0 convert --from etw "$tmp/cost.etl" --to listing
sed -n 's/^R .* cost=//p' "$tmp/out" | sed 4q | tr '\n' ' ' >"$tmp/costs"
check "a cost is the growth of both times, which may go around; one that falls is another thread's" \
	test "$(cat "$tmp/costs")" = "- 0.390625000 unknown 0.093750000 "
check "the listing has the unit, and that the costs are statistical" has out '^= records=8 .* unit=0.015625000 .*statistical'
for name in lxcore_kernel powershell; do
	run 0 convert "$samples/$name.etl" --to listing
	check "$name: a line for each record" test "$(grep -c '^R off=' "$tmp/out")" -eq \
		"$(($(wc -l <"$tmp/out") - $(grep -c '^[S!] ' "$tmp/out") - 1))"
done

# Spans: from START to END, their wait before a DEQUEUE, and the cost of their thread.
run 0 convert "$samples/$classic.etl" --to listing
check "a process has a span, even if another process ended it" has out '^S etw.process begin=[0-9.]* took=1.000078701 wait=- pid=7644 tid=6452 cost=-$'
check "spans can be made" etw make spans "$samples/$classic.etl" "$tmp/spans.etl"
run 0 convert --from etw "$tmp/spans.etl" --to listing
check "a span has what its thread cost, and the inner one its part" test \
	"$(sed -n 's/^S \([^ ]*\) .* wait=\([^ ]*\) .* cost=/\1 \2 /p' "$tmp/out" | tr '\n' ',')" = \
	'etw.pool - 0.031250000,etw.threadpool 0.500000000 0.078125000,'
check "a span without an END is reported" has out '^! open etw.job begin='
check "all are counted" has out '^= .* spans=2 '
run 0 convert --from etw --spans "$tmp/spans.etl" -o "$tmp/spans.log" --to log --force
run 0 dump -e '*.span' "$tmp/spans.log"
check "the events have the same values" has out ' etw.threadpool.span took=[0-9.]*m*s waited=500ms cpu_time=78.125ms$'
run 0 latency "$tmp/spans.log"
check "latency shows the spans" has out ' etw.threadpool.span$'
run 0 convert "$samples/$classic.etl" -o "$tmp/classic.log" --to log --force
run 0 latency "$tmp/classic.log"
check "dc_start and dc_end begin and end nothing" lacks out 'etw.process.dc'
run 0 convert --from etw --no-meta --spans --level 0 "$tmp/spans.etl" -o "$tmp/none.log" --to log --force

# made_well CASE [OPTION...]: the log with a rare feature.
made_well() {
	check "$1 can be made" etw make "$1" "$samples/$classic.etl" "$tmp/made.etl"
	shift
	run 0 convert "$tmp/made.etl" -o "$tmp/made.jsonl" --force "$@"
}
made_well backward --etw-raw
check "events that are out of order are sorted" etw events "$tmp/made.jsonl"
check "the wrong order is reported" has err 'not in order'
check "the oldest is first" test "$(grep -n '"event":"etw\.' "$tmp/made.jsonl" | head -n 1 |
	grep -c '"len":109')" -eq 1
made_well filetime
check "a clock of FILETIME" has made.jsonl '"ns":"1304341013991426700"'
made_well lost
check "a lost event has its place in the order" has made.jsonl '"lost":null,"cause":"stream full","from":"2011'
check "a lost event is an event of the trace" has made.jsonl 'etw.lostevent.32'
made_well extension
check "an extension is an event" has made.jsonl '"event":"etw.process.extension"'
made_well extension --join
check "an extension can be joined to the event before it" events 7

import "$samples/$classic.etl" level --level 3
check "a level leaves out what is above it" test "$(etw events "$tmp/level.jsonl")" -eq 0
import "$samples/$classic.etl" payload --etw-payload --no-meta
check "the payload alone" has payload.jsonl '"len":59,'
check "no header of the log" lacks payload.jsonl etw_header
"$posixtrace" convert --to jsonl - <"$samples/powershell.etl" >"$tmp/pipe.jsonl" 2>"$tmp/err"
check "standard input" etw events "$tmp/pipe.jsonl" "$tmp/powershell.jsonl"

# Records are written back unchanged.
for sample in "$samples"/*.etl; do
	name=${sample##*/}
	name=${name%.etl}
	run 0 convert "$sample" -o "$tmp/there.log" --to log --force
	run 0 convert "$tmp/there.log" -o "$tmp/back.etl" --force
	import "$tmp/back.etl" back
	check "$name has the same events again" etw events "$tmp/back.jsonl" "$tmp/$name.jsonl"
done
run 0 convert "$samples/$classic.etl" -o "$tmp/there.log" --to log --force
run 0 dump "$tmp/there.log"
check "a log of it has the fields by their names" \
	has out 'etw.process.start UniqueProcessKey=0x[0-9a-f]* ProcessId=.* etw_level=information kernel_time=[0-9]* user_time=[0-9]*$'

# A log of ours, converted and back.
for kind in plain evil overrun stopped loop; do
	"$make_log" $kind "$tmp/$kind.log" 3000 >/dev/null || exit 99
	run 0 convert "$tmp/$kind.log" -o "$tmp/$kind.jsonl" --force
	run 0 convert "$tmp/$kind.log" -o "$tmp/$kind.etl" --force
	check "$kind is written by the rules" etw exported "$tmp/$kind.etl" "$tmp/$kind.jsonl"
	run 0 convert "$tmp/$kind.etl" -o "$tmp/back.log" --to log --force
	run 0 verify "$tmp/back.log"
	run 0 convert "$tmp/back.log" -o "$tmp/back.jsonl" --force
	case $kind in
	overrun | stopped | loop) # ETW has the number of lost events, but not their type and thread
		sed -i '/^{"end"/s/,"types".*//' "$tmp/back.jsonl" "$tmp/$kind.jsonl" ;;
	esac
	check "$kind is what it was" cmp "$tmp/back.jsonl" "$tmp/$kind.jsonl"
done
run 0 convert "$tmp/plain.log" -o "$tmp/filetime.etl" --etw-clock filetime
check "FILETIMEs" etw exported "$tmp/filetime.etl" "$tmp/plain.jsonl" filetime
run 0 convert "$tmp/plain.log" -o "$tmp/plain.etl" --etw-plain --force
check "data alone" etw exported "$tmp/plain.etl" "$tmp/plain.jsonl" plain

# Logs of every version and traces of other formats are converted to ETW and back, with their
# events. sweep NAME FILE
sweep() {
	run 0 convert "$2" -o "$tmp/swept.jsonl" --force
	run 0 convert "$2" -o "$tmp/swept.etl" --force
	run 0 convert "$tmp/swept.etl" -o "$tmp/back.jsonl" --force
	check "$1 has as many events" test "$(grep -c '^{"event"' "$tmp/swept.jsonl")" -eq \
		"$(grep -c '^{"event"' "$tmp/back.jsonl")"
	run 0 convert "$2" -o "$tmp/swept.etl" --force --etw-plain
	run 0 convert "$2" -o "$tmp/swept.etl" --force --etw-clock=filetime
}
for golden in "$samples"/../../golden/*/*.hex; do
	check "a golden log can be made" etw golden "$golden" "$tmp/golden.log"
	sweep "${golden#*golden/}" "$tmp/golden.log"
done
for sample in "$samples"/../tracex/*.trx "$samples"/../rkh/0[12]*/stream.bin; do
	sweep "${sample#*/../}" "$sample"
done

# All rare features in one log: from text to ETW and back to text.
cat >"$tmp/rare.evt" <<'EVT'
order le
name 0x041 "job_start"
name 0x042 "job_end"
name 0x043 "ünï"
evt id=0x041 pid=7 tid=140737488355328 addr=0x4005d0 time=-1.500000001 data=00ff
evt id=0x03f pid=7 tid=8 addr=0x4005d0 time=5000000000.000000007 trunc=1 data=-
evt id=0x043 pid=7 tid=140737488355329 time=1.25 trunc=2 data=41424344
EVT
{
	printf 'evt id=0x042 pid=7 tid=140737488355328 time=-1.5 data='
	head -c 200000 /dev/zero | tr '\0' a | sed 's/./ab/g'
	echo
} >>"$tmp/rare.evt"
run 0 convert "$tmp/rare.evt" -o "$tmp/rare.log" --to log
run 0 convert "$tmp/rare.log" -o "$tmp/rare.jsonl"
run 0 convert "$tmp/rare.log" -o "$tmp/rare.etl"
check "rare things are written by the rules" etw exported "$tmp/rare.etl" "$tmp/rare.jsonl"
run 0 convert "$tmp/rare.etl" -o "$tmp/again.log" --to log
run 0 convert "$tmp/again.log" -o "$tmp/again.jsonl"
check "rare records are the same after a second conversion" cmp "$tmp/again.jsonl" "$tmp/rare.jsonl"
check "the data of 200000 bytes too" has again.jsonl '"len":200000'
finish
