#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace agent: triggers on the rules of check, judged while a process runs; compressed logs.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"
. "${0%/*}/agents.sh"

own_puppet
start_puppet
puppet=$(readlink "/proc/$target/exe")
write_conf '[record doll]' "executable = $puppet" \
	'[trigger many]' 'when = rule few: rate u <= 3 per 1h' 'hold-off = 1h' \
	'[trigger named]' 'when = rule never v' 'hold-off = none' \
	'[trigger answer]' 'when = rule every u is followed by v within 1ms' 'hold-off = 1h' \
	'[trigger other]' 'when = rule every u is followed by v within 1h' \
	'[trigger pid]' 'when = rule never u where "event.pid == 1"'
run 0 agent -c "$conf" --check
check "--check has the rule" has out '^  trigger answer: rule every u is followed by v within 1ms$'
start_agent
until_true records "$target"

# A rate: the fourth event exceeds it.
tell e e e
until_true has_logs answer 1
check "three events are not too many" has_logs many 0
log=$(log_of answer)
check "an event without its answer fires, although no event follows" reason_in "$log" \
	"trigger=\"answer\" reason=\"process $target (puppet): rule every u is followed by v within 1ms: .* pid $target: u: no v within 1.000ms\""
tell e
until_true has_logs many 1
log=$(log_of many)
check "the fourth one writes a log" reason_in "$log" "rule few: .*u: more than 3 in "
check "the log has all four events" test "$(count_of u)" -eq 4

# An event that must not be there; its type begins while the process runs.
check "no such event yet" has_logs named 0
tell n
until_true has_logs named 1
check "an event that must not be there fires" reason_in "$(log_of named)" "rule never v: .* pid $target: v\""
tell n
until_true has_logs named 2
check "the same event fires again, because no log is held off" has_logs named 2
check "a rule that is kept does not fire" has_logs other 0
check "an event for which the expression is false does not fire" has_logs pid 0
run 0 agent -c "$conf" --status
check "the status has them" has out '^trigger named: record doll: 2 written, 0 held off$'

# Excluded events prove nothing, and an end of the process comes before the slack for late events.
write_conf '[record doll]' "executable = $puppet" 'exclude = v' \
	'[trigger answer]' 'when = rule every u is followed by v within 1ms' 'hold-off = none' \
	'[trigger few]' 'when = rule rate u <= 1 per 1h' 'hold-off = 1h'
kill -HUP "$agent"
until_true said ': loaded$'
before=$(logs answer)
tell e e
until_true has_logs few 1
for n in 1 2 3; do sleep 0.5; done
check "a rule about an excluded event does not fire" has_logs answer "$before"
write_conf '[record doll]' "executable = $puppet" \
	'[trigger end]' 'when = rule every u is followed by v within 1ms' 'hold-off = none'
: >"$agent_err"
kill -HUP "$agent"
until_true said ': loaded$'
until_true records "$target"
tell e
end_puppet
until_true has_logs end 1
check "an obligation that was open at the end of the process fires" has_logs end 1
start_puppet
write_conf '[record doll]' "executable = $puppet"
: >"$agent_err"
kill -HUP "$agent"
until_true said ': loaded$'
until_true records "$target"

# The same process with another configuration: its rules begin again.
write_conf '[record doll]' "executable = $puppet" \
	'[trigger rate]' 'when = rule rate u <= 1 per 1h' 'hold-off = none'
: >"$agent_err"
kill -HUP "$agent"
until_true said ': loaded$'
until_true records "$target"
tell e
end_agent TERM 0
check "events before the new configuration do not count" has_logs rate 0
start_agent
until_true records "$target"
tell m
until_true has_logs rate 1
check "the log is sound" is_sound "$(log_of rate)"
tell m m m m m m m
run 0 agent -c "$conf" --snapshot doll
plain=$(stat -c %s "$(cat "$tmp/out")")
end_puppet
until_true is_grounded
end_agent TERM 0
check "every log is sound" all_sound

# Compressed logs: that of a request, and that of the end.
if "$posixtrace" record -q --compress -o "$tmp/try.ptl" -- true 2>/dev/null; then
	rm -rf "$store"
	write_conf '[record doll]' "executable = $puppet" 'compress = yes' '[trigger end]' 'when = end'
	start_agent
	start_puppet
	until_true records "$target"
	tell m m m m m m m m
	run 0 agent -c "$conf" --snapshot doll
	log=$(cat "$tmp/out")
	check "the log of a request has all events" test "$(count_of u)" -eq 8000
	check "it is compressed: $(stat -c %s "$log") bytes, $plain without" \
		test $(($(stat -c %s "$log") * 3)) -lt $((plain * 2))
	end_puppet
	until_true has_logs end 1
	log=$(log_of end)
	check "the log of the end has all events" test "$(count_of u)" -eq 8000
	check "it is compressed: $(stat -c %s "$log") bytes" test $(($(stat -c %s "$log") * 3)) -lt $((plain * 2))
	end_agent TERM 0
	check "compressed logs are sound" all_sound
fi

# Calls of an unchanged program, by their fields and durations.
has_shim || finish
rm -rf "$store"
cp -L "$(command -v dash || command -v sh)" "$tmp/shell"
mkfifo "$tmp/lines" || exit 99
write_conf '[record shell]' "executable = $tmp/shell" \
	'[trigger missing]' 'when = rule never io.open where "error == ENOENT && path ~ \"/no/such/*\""' \
	'[trigger found]' 'when = rule never io.open where "error == EACCES"' \
	'[trigger slow]' 'when = rule never io.read where "duration > 200ms"' 'hold-off = none' \
	'[trigger hour]' 'when = rule never io.read where "duration > 3600s"'
run 0 agent -c "$conf" --check
start_agent
start sh -c 'exec env LD_PRELOAD="$0" POSIXTRACE_TRACE=io,file "$1" -c "$2" <"$3"' "$shim" "$tmp/shell" \
	'while read -r line; do { true </no/such/file; } 2>/dev/null; done' "$tmp/lines"
target=$pid
exec 5>"$tmp/lines"
until_true records "$target"
echo x >&5
until_true has_logs missing 1
check "a field of a call fires" reason_in "$(log_of missing)" 'rule never io.open where '
sleep 0.3
echo x >&5
until_true has_logs slow 1
check "a duration of a call fires" reason_in "$(log_of slow)" 'rule never io.read where '
check "an error that is not there does not fire" has_logs found 0
check "a shorter duration does not fire" has_logs hour 0
exec 5>&-
until_true is_grounded
end_agent TERM 0
check "every log of calls is sound" all_sound
finish
