#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every format that posixtrace convert writes: a complete log, a log with losses, hostile names and
# data, a log without events, and a full disk. make check-exchange compares the contents.
. "${0%/*}/lib.sh"

"$make_log" plain "$tmp/plain.log" 1000 >/dev/null || exit 99
"$make_log" stopped "$tmp/stopped.log" 5000 >/dev/null || exit 99
"$make_log" overrun "$tmp/overrun.log" 5000 >/dev/null || exit 99
"$make_log" evil "$tmp/evil.log" >/dev/null || exit 99
"$make_log" plain "$tmp/empty.log" 0 >/dev/null || exit 99
head -c 4096 "$tmp/plain.log" >"$tmp/header.log"

"$posixtrace" convert --list | sed -n 's/^\([a-z]*\) .* writes .*/\1/p' >"$tmp/sinks"
check "there are formats to write" test -s "$tmp/sinks"
for sink in $(cat "$tmp/sinks"); do
	test $sink = listing && continue # for sources that have lines of their own
	for kind in plain stopped overrun evil empty; do
		run 0 convert "$tmp/$kind.log" --to $sink -o "$tmp/$kind.$sink.out"
		# A trace without spans has no stacks.
		case $sink.$kind in folded.evil | folded.empty) continue ;; esac
		check "$sink: something is written of $kind" test -s "$tmp/$kind.$sink.out" \
			-o -d "$tmp/$kind.$sink.out"
	done
	run 3 convert "$tmp/header.log" --to $sink -o "$tmp/header.$sink.out"
	# A folder cannot be a device.
	test -d "$tmp/plain.$sink.out" && continue
	run 1 convert "$tmp/plain.log" --to $sink -o /dev/full
	check "$sink: a full disk is reported" has err 'No space left'
	run 1 convert "$tmp/plain.log" --to $sink -o "$tmp/plain.$sink.out"
	check "$sink: a file that is there is refused" has err 'the file exists'
	"$posixtrace" convert "$tmp/plain.log" --to $sink >"$tmp/piped.out" 2>"$tmp/err"
	check "$sink: standard output will do" test -s "$tmp/piped.out"
done

# The same rows of the log, in comma-separated values.
run 0 convert "$tmp/plain.log" --to csv
check "csv: a line an event and one of names" test "$(wc -l <"$tmp/out")" -eq \
	$(($("$posixtrace" dump "$tmp/plain.log" | wc -l) + 1))
run 0 convert "$tmp/overrun.log" --to csv
check "csv: the last line has the losses" test -n "$(tail -n 1 "$tmp/out" | grep ',overwritten,')"

# Schemas of data, and names of objects.
"${make_log%/*}/make_described" append "$tmp/described.log" || exit 99
run 0 convert "$tmp/described.log" --to csv
check "csv: fields are a column" has out ',"{""op"":1,""fl"":""0x7"",""lock"":""0x[0-9a-f]*""}"'
for sink in jsonl chrome; do
	run 0 convert "$tmp/described.log" --to $sink
	check "$sink: a value and a pointer have their names" has out \
		'"lock":"0x[0-9a-f]*"},"names":{.*"op":"write",.*"lock":"pool lock"}'
done

# Spans, by thread; one that does not end is no span.
cat >"$tmp/spans.evt" <<'EOF'
name 0x100 "job_begin"
name 0x101 "job_end"
name 0x102 "part_begin"
name 0x103 "part_end"
evt id=0x100 pid=1 tid=7 time=10.0 data=-
evt id=0x102 pid=1 tid=7 time=10.000000001 data=-
evt id=0x100 pid=1 tid=8 time=10.000000002 data=-
evt id=0x103 pid=1 tid=7 time=10.000000003 data=-
evt id=0x101 pid=1 tid=7 time=10.000000004 data=-
EOF
run 0 convert "$tmp/spans.evt" --to log -o "$tmp/spans.log"
run 0 convert "$tmp/spans.log" --to speedscope
tr -d '\n' <"$tmp/out" >"$tmp/line"
check "speedscope: spans of a thread in their order" grep -q '"name":"thread 0x7 of process 1".*"endValue":4,"events":\[{"type":"O","frame":1,"at":0},{"type":"O","frame":0,"at":1},{"type":"C","frame":0,"at":3},{"type":"C","frame":1,"at":4}\]' "$tmp/line"
check "speedscope: a begin without an end is no span" lacks line 'thread 0x8 of'
check "speedscope: frames are called by their spans" grep -q '"frames":\[{"name":"part"},{"name":"job"}\]' "$tmp/line"
run 0 convert "$tmp/spans.log" --to folded
check "folded: a line for each stack, with its own time" lines out 2
check "folded: the outer span" has out '^job 2$'
check "folded: the inner one" has out '^job;part 2$'
run 0 convert "$tmp/plain.log" --to speedscope
printf 'evt id=0x100 time=1.0 data=-\n' | "$posixtrace" convert - --to log -o "$tmp/mark.log"
run 0 convert "$tmp/mark.log" --to speedscope
check "speedscope: a trace without spans is reported" has err 'it has no spans'

# Events with a duration are recorded at its end: outer calls follow inner ones, and a call that
# crosses a span or another call has a lane of its own.
"${make_log%/*}/compose" "$tmp/took.log" <<'EOF' || exit 99
type read ns time; s32 fd
type call ns time
type lock_held ns time; ptr lock
type job_begin @begin job
type job_end @end job
read 1 6 900 0 3
job_begin 1 7 1000
read 1 7 1030 10 3
read 1 7 1040 10 3
call 1 7 1050 40
lock_held 1 7 1055 1000 20480
read 1 7 1060 1000 3
job_end 1 7 1080
read 1 7 1090 20 3
read 1 8 1100 1000 3
call 1 8 1200 150
read 1 9 1200 0 3
call 1 9 1200 0
EOF
run 0 convert "$tmp/took.log" --to speedscope
tr -d '\n{}"' <"$tmp/out" | sed 's/type:\([OC]\),frame:\([0-9]*\),at:\([0-9]*\)/\1\2@\3/g' >"$tmp/line"
check "speedscope: calls are nested in calls, and both in spans" grep -q \
	'name:thread 7 of process 1,.*events:\[O3@400,O1@410,O0@420,C0@430,O0@430,C0@440,C1@450,C3@480\]' "$tmp/line"
check "speedscope: a span that crosses another one has its own lane" grep -q \
	'name:thread 7 of process 1, lane 1,.*events:\[O2@0,C2@455,O0@470,C0@490\]' "$tmp/line"
check "speedscope: a call that crosses another call has its own lane" grep -q \
	'name:thread 8 of process 1, lane 1,.*events:\[O1@450,C1@600\]' "$tmp/line"
check "speedscope: a call without duration is there" grep -q 'name:thread 9 .*events:\[O0@600,C0@600,O1@600,C1@600\]' "$tmp/line"
finish
