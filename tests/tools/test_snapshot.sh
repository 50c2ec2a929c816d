#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace snapshot: logs of streams in use.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"

log=$tmp/a.log
copy=$tmp/copy.log

start_puppet
run 1 snapshot -p "$target" -o "$copy"
check "a process without streams is reported" has err "process $target: it has no stream"
check "no log is made" test ! -e "$copy"

attach --trace none --policy loop
tell e e e
run 0 snapshot -p "$target" -o "$copy"
check "a line has the contents of the log" has out "^process $target, stream a.log: .*copy.log: 4 events, 0 lost, [0-9]* bytes$"
run 0 verify "$copy"
check "the log is sound" has out ': sound: '
run 0 dump --system "$copy"
check "it has the events" has_lines out 4
check "their names are known" has out ' u 03000000$'
run 1 snapshot -p "$target" -o "$copy"
check "a log that is there is kept" has err 'the file exists'
tell e
run 0 snapshot -p "$target" -o "$copy" --force --json
check "unless it may be replaced" has out '"events":5,'
check "the stream is reported" has out "^{\"log\":\".*copy.log\",\"pid\":$target,\"stream\":\"a.log\",\"created\":\"[^\"]*\",\"ended\":false,"
# Only the events of the last time: a pause separates them from the earlier ones. The command must
# start during five sixths of this time, so the pause is longer if that was too short.
older=5
for pause in 3 15 75; do
	sleep $pause
	mark=$(date +%s%N)
	tell e e
	since=$((($(date +%s%N) - mark) / 1000000 + pause * 5000 / 6))
	run 0 snapshot -p "$target" -o "$copy" --force --last "${since}ms"
	! has out ': 2 events, 0 lost, ' || break
	older=$((older + 2))
done
check "older events are left out, and their number is printed" \
	has out ": $older older events left out; .*copy.log: 2 events, 0 lost, "
run 0 verify "$copy"
check "the account has no older event" has out ': called 2 = reported 2 + unread 0 + lost 0$'
run 0 snapshot -p "$target" -o "$copy" --force --last 10m --json
check "a long time has all events" has out "\"events\":$((older + 2)),\"lost\":0,\"older\":0,"
run 2 snapshot -p "$target" -o "$copy" --last 0
run 2 snapshot -p "$target" -o "$copy" --last soon
check "a time that is none is refused" has err 'last soon'
run 0 snapshot -p "$target" -o "$copy" --force -n 'a*'
run 1 snapshot -p "$target" -o "$copy" --force -n 'b*'
check "a name that no stream has is reported" has err "process $target: its only stream does not have the name b\*"

first=$tracer
log=$tmp/b.log
attach -e nothing
run 0 snapshot -p "$target" -o "$tmp/both.log"
check "each stream has a log" test -e "$tmp/both.log.2"
check "each of them has a line" has_lines out 2
run 0 verify "$tmp/both.log" "$tmp/both.log.2"
finish_attach 0 TERM
tracer=$first
finish_attach 0 TERM
run 0 dump "$tmp/a.log"
check "nothing was read away" has out ' u 04000000$'
end_puppet

# Four threads that never pause.
start_busy 4
log=$tmp/busy.log
attach -s 1M
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	run 0 snapshot -p "$target" -o "$copy" --force
	run 0 verify "$copy"
done
finish_attach 0 TERM
run 0 verify "$log"
check "its own log is what it was" "$victim" check "$log"
kill_target
run 1 snapshot -p "$target" -o "$copy" --force
check "an ended process is reported" has err "process $target: no such process"

run 2 snapshot -p 1
check "a missing log is reported" has err 'the name of the log is missing; give it after -o'
run 2 snapshot -o "$copy"
check "a missing process is reported" has err 'the process is missing; give it after -p'
run 2 snapshot -p 1 -o "$copy" extra
check "the message for an argument names the options" has err \
	'snapshot: extra: unexpected argument; give the process after -p and the log after -o$'
run 2 snapshot -p 1 -p 2 -o "$copy"
check "a second process is not left out in silence" has err "give one value only; 1 was given"
run 2 snapshot --no-such-option
run 0 snapshot --help
check "help is there" has out '^Usage: posixtrace snapshot'

finish
