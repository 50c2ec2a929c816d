#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace status: all facts about the streams of a process, and their owners.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"

log=$tmp/a.log

start_puppet
run 0 status "$target"
check "a process without streams has none" has out '^streams     0$'
check "it is named" has out "^process     $target (puppet)$"
check "two lines say so" has_lines out 2
run 0 status --json "$target"
check "JSON has no line for the process" is_empty out

attach -e 'u*' --inherit -s 100000 --log-policy loop --log-size 1M
tell e e e
run 0 status "$target"
check "the stream is there" has out '^streams     1$'
check "the stream is named" has out '^stream      a.log$'
check "its creator is reported" has out "^created     [0-9T:.-]* by process $tracer (posixtrace)$"
check "its policies are reported" has out '^policies    stream flush, log loop, inherited$'
check "its size is not less than asked for" test \
	"$(sed -n 's/^limits      stream \([0-9]*\) bytes, data of an event 1024 bytes$/\1/p' "$tmp/out")" -ge 100000
check "its status is reported" has out '^status      running, not full, no overrun; [0-9]*% of its memory in use ([0-9]* of [0-9]* parts)$'
check "its events are reported" has out '^events      4 recorded, 0 lost$'
check "its filter is reported" has out '^filtered    1 of 11 event types: posix_trace_unnamed_userevent$'
check "it has no members" lacks out '^members'
check "nothing is wrong" is_empty err
run 0 status --utc "$target"
check "times are in UTC when asked for" has out '^created     [0-9T:.-]*Z by '
run 0 status --raw "$target"
check "a number can be the format of times" has out '^created     [0-9]* by '

# A name that does not match is filtered out a moment later.
tell n
is_filtered() { "$posixtrace" status "$target" | grep -q -x 'filtered    2 of 12 event types: posix_trace_unnamed_userevent, v'; }
check "a new name is looked at" until_true is_filtered

# The family.
tell f e
run 0 status "$target"
child=$(sed -n 's/^members     \([0-9]*\) (puppet)$/\1/p' "$tmp/out")
check "a child is a member" test -n "$child"
run 0 status "$child"
check "a child has what it inherited" has out '^stream      a.log$'
check "the parent of an inherited stream is printed" has out "^inherited   from process $target (puppet)$"
check "the members are printed" has out "^members     $child (puppet)$"
run 0 status "$target" "$child"
check "several processes have separate parts" test "$(grep -c '^process ' "$tmp/out")" -eq 2
run 0 status -p "$target" --pid "$child"
check "-p names processes, too" test "$(grep -c '^process ' "$tmp/out")" -eq 2
run 0 status "$target" -p "$child"
check "-p and an argument together name two processes" test "$(grep -c '^process ' "$tmp/out")" -eq 2
run 2 status -p none "$target"
check "a wrong number of a process is named" has err '^posixtrace: --pid none: not a process ID$'
kill_target
ended() { "$posixtrace" status "$child" | grep -q -x "inherited   from process $target, which has ended"; }
check "a parent that has ended is reported" until_true ended
tell e
finish_attach 0 TERM
run 0 status "$child"
check "no stream is left" has out '^streams     0$'
exec 5>&- 6<&-

# Losses, and several streams.
start_busy 4
attach --policy until-full -s 32K
is_full() { "$posixtrace" status "$target" | grep -q '^status      suspended, full, overrun; 100% of its memory in use'; }
check "a full stream is reported" until_true is_full
run 4 status --fail-on-loss "$target"
check "the losses are printed by cause" has out '^events      [0-9]* recorded, \([1-9][0-9]*\) lost (stream full \1)$'
first=$tracer
log=$tmp/b.log
attach
run 0 status --json "$target"
check "two streams are two objects" has_lines out 2
if python3 -c 'import json' 2>/dev/null; then
	check "the JSON is JSON, with everything" python3 - "$tmp/out" "$target" <<'PY'
import json, sys
streams = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
assert [stream["stream"] for stream in streams] == ["a.log", "b.log"], streams
full, other = streams
assert full["pid"] == other["pid"] == int(sys.argv[2]), streams
assert full["full"] and not full["running"] and full["fill_percent"] == 100, full
assert full["lost"] == full["lost_by_cause"]["stream full"] > 0, full
assert full["chunks"] == full["chunks_taken"], full
assert int(full["created_ns"]) <= int(other["created_ns"]), streams
assert other["stream_size"] >= 4 << 20 and other["max_data_size"] == 1024, other
assert set(full) == set(other), streams
PY
fi
"$posixtrace" list --json | grep '^{"pid":'"$target"',' >"$tmp/list"
check "list has the same members" test \
	"$(sed 's/:[^,]*//g' "$tmp/out" | tail -n 1)" = "$(sed 's/:[^,]*//g' "$tmp/list" | tail -n 1)"
finish_attach 0 TERM
tracer=$first
finish_attach 0 TERM

# A process without the library, one that does not exist, and one of another user.
start sleep 1000000
target=$pid
attach --trace none
run 0 status "$target"
check "a process without the library waits" has out '^ *waiting: the process does not use libposixtrace$'
finish_attach 0 TERM
kill_target
run 1 status "$target"
check "a process that has ended is reported" has err "^posixtrace: process $target: no such process$"
nobody='setpriv --reuid 65534 --regid 65534 --clear-groups'
if test "$(id -u)" -ne 0; then
	run 1 status 1
	check "another user's process is refused" has err '^posixtrace: process 1: .*not permitted'
elif $nobody "$posixtrace" --version >/dev/null 2>&1; then
	start_busy 1
	$nobody "$posixtrace" status "$target" \
		>"$tmp/out" 2>"$tmp/err"
	check "another user's process is refused" test $? -eq 1
	# If /proc hides the process, its owner has no name.
	if $nobody test -e "/proc/$target"; then
		why='not permitted: it belongs to user root'
	else
		why='Operation not permitted'
	fi
	check "the message names the owner" has err "^posixtrace: process $target: $why$"
fi
finish
