#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace agent: triggers and --snapshot write only the last seconds.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"
. "${0%/*}/agents.sh"

# write_last TIME: the configuration whose crash trigger has this time.
write_last() {
	write_conf '[record doll]' "executable = $puppet" '[trigger crash]' 'when = crash' 'hold-off = none' \
		"last = $1" '[trigger all]' 'when = failure' 'last = all'
}

# since_mark: the time since $mark and 18 seconds more. The pause before $mark takes longer, so the
# agent may need four seconds until it makes the log.
since_mark() { echo "$((($(date +%s%N) - mark) / 1000000 + 18000))ms"; }

own_puppet
start_puppet
puppet=$(readlink "/proc/$target/exe")
write_last 90s
run 0 agent -c "$conf" --check
check "--check prints the time" has out '^  trigger crash: crash, the last 90s$'
check "all is no limit" has out '^  trigger all: failure$'
start_agent
until_true records "$target"
tell e e e
sleep 20
mark=$(date +%s%N)
tell e e
run 0 agent -c "$conf" --snapshot doll --last "$(since_mark)"
log=$(cat "$tmp/out")
check "the log has the last events" test "$(count_of u)" -eq 2
check "the reason has the time" reason_in "$log" 'agent --snapshot; only the last [1-9][0-9.]*s'
run 0 agent -c "$conf" --snapshot doll
log=$(cat "$tmp/out")
check "nothing was read away" test "$(count_of u)" -eq 5
run 2 agent -c "$conf" --last 5s
check "--last needs --snapshot" has err '^posixtrace: agent: --last needs --snapshot'
run 2 agent -c "$conf" --snapshot doll --last now

# A crash: the process has ended when its log is written.
write_last "$(since_mark)"
kill -HUP "$agent"
until_true said ': loaded$'
kill -ABRT "$target"
until_true has_logs crash 1
log=$(log_of crash)
check "the log of a crash has the last events" test "$(count_of u)" -eq 2
check "the log of a crash has the reason" reason_in "$log" 'crash.*killed by.*; only the last [1-9][0-9.]*s'
until_true is_grounded
check "nothing else is left" is_grounded
check "all logs are sound" all_sound
end_agent TERM 0

# A log each second, while the process runs: together they have all events. The last one is of its end.
write_conf '[record doll]' "executable = $puppet" '[trigger rotate]' 'when = every 1s' 'last = 1h' \
	'[trigger rest]' 'when = end'
run 0 agent -c "$conf" --check
check "--check prints the trigger" has out '^  trigger rotate: every 1s, the last 3600s$'
start_agent
start_puppet
until_true records "$target"
at_least() { test "$(logs rotate)" -ge "$1"; }
tell e e
before=$(logs rotate)
until_true at_least $((before + 2))
tell e
end_puppet
until_true has_logs rest 1
check "a log each second" at_least 2
check "the reason has the time" reason_in "$(log_of rotate)" 'rotate.*every 1s; only the last 3600s'
log=$(log_of rotate)
check "a log has the events until then" test "$(count_of u)" -ge 2
log=$(log_of rest)
check "the last log has all" test "$(count_of u)" -eq 3
run 0 agent -c "$conf" --status
# The process may end between a rotation and the moment when the agent notices the end.
if has out '^trigger rotate: .* 1 not written'; then
	check "a rotation met the end of the process" \
		said "^posixtrace: process $target: no log for trigger rotate: No such process\$"
	missed=', 1 not written; .*'
else
	missed=
fi
check "the logs are counted" \
	has out "^trigger rotate: record doll: \([2-9]\|[1-9][0-9][0-9]*\) written, 0 held off$missed\$"
check "all logs of a rotation are sound" all_sound
# A new configuration without the trigger ends the rotation; its processes have no second stream.
write_conf '[record doll]' "executable = $puppet"
kill -HUP "$agent"
until_true said ': loaded$'
end_agent TERM 0
rm -f "$store"/logs/*

# A log that cannot be moved, because a file has the name of its folder, remains for the next agent.
write_last 90s
start_agent
start_puppet
until_true records "$target"
tell e e e e
# The agent makes a missing folder again at each search.
until test -f "$store/logs"; do
	rm -rf "$store/logs"
	: >"$store/logs"
done 2>/dev/null
until_true said "^posixtrace: $store/logs: Not a directory\$"
kill -ABRT "$target"
until_true said "$store/logs/.*-crash.ptl: No such file"
end_agent TERM 0
check "the flight log remains, and no copy" test "$(ls "$store/flight" | sed 's/[0-9.]*//g')" = dollptl
check "the reason is printed once" test "$(grep -c ': Not a directory$' "$agent_err")" -eq 1
rm "$store/logs"
start_agent
until_true has_logs restart 1
log=$(log_of restart)
check "the next agent moves it, with all events" test "$(count_of u)" -eq 4
end_agent TERM 0

for value in soon 0 -5s ''; do
	write_last "$value"
	run 1 agent -c "$conf" --check
	check "last = $value is refused" has err 'last'
done
finish
