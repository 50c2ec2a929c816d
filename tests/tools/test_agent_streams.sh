#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace agent when the streams that a user can have are in use: --status, the metrics and the
# messages show which processes are not recorded or not watched, and the agent tries again.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"
. "${0%/*}/agents.sh"

command -v python3 >/dev/null || skip "there is no python3"
# In a folder of its own, so that no other program has streams in it.
POSIXTRACE_RUNTIME_DIR=$tmp/run
export POSIXTRACE_RUNTIME_DIR
mkdir -m 700 "$tmp/run"
textfile=$tmp/agent.prom

# leave_streams N: locks all places of streams but N (lib/meet/quota.h). Returns when they are locked.
leave_streams() {
	rm -f "$tmp/held"
	start python3 -c '
import fcntl, os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.lockf(fd, fcntl.LOCK_EX, 256 - int(sys.argv[3]), 0)
open(sys.argv[2], "w").close()
time.sleep(1000)' "$tmp/run/trace_sys_max" "$tmp/held" "$1"
	holder=$pid
	until_true test -e "$tmp/held"
}
free_streams() {
	kill "$holder"
	wait "$holder"
} 2>/dev/null
metric() { grep -q -x -F -e "$1" "$textfile"; }
lines_said() { grep -c -e "$1" "$agent_err"; }
advice="the 256 streams that a user can have are in use; 'posixtrace list' shows them; name fewer processes"

own_puppet
start_puppet
puppet=$(readlink "/proc/$target/exe")

# A stream for the recorder, and none for its watch.
write_conf "textfile = $textfile" '[record doll]' "executable = $puppet" 'durations = yes' \
	'[trigger crash]' 'when = crash'
leave_streams 1
start_agent
until_true status_has '^not watched: '
run 0 agent -c "$conf" --status
check "the process is recorded" has out "^record doll: process $target "
check "the status says that it is not watched" has out \
	"^not watched: process $target ($puppet) of record doll: durations and triggers on events do not apply: $advice"
check "the status says when the agent tries again" has out '; tried again at the next search$'
until_true metric 'posixtrace_processes_unwatched{record="doll"} 1'
check "the metrics count it" metric 'posixtrace_processes_unwatched{record="doll"} 1'
sleep 0.2 # some searches, each of which tries again
check "it is said once" test "$(lines_said ": durations and triggers on events do not apply: process $target: $advice")" -eq 1
check "the other metrics have their sections and triggers before the first log" metric \
	'posixtrace_logs_written_total{record="doll",trigger="crash"} 0'
check "the status has no line of a trigger that has not fired" lacks out '^trigger '
free_streams
until_true said ": process $target: durations and triggers on events apply now\$"
tell e e e
until_true metric 'posixtrace_typed_events_total{record="doll",event="u"} 3'
check "with a free stream the events are counted" metric 'posixtrace_typed_events_total{record="doll",event="u"} 3'
check "the process is watched" metric 'posixtrace_processes_unwatched{record="doll"} 0'
run 0 agent -c "$conf" --status
check "the status does not report the process as unwatched" lacks out '^not [rw]'
end_agent TERM 0

# No stream for the recorder.
leave_streams 0
start_agent
until_true status_has '^not recorded: '
run 0 agent -c "$conf" --status
check "no stream: the status has the reason" has out "^not recorded: process $target ($puppet) of record doll: $advice"
until_true metric 'posixtrace_processes_refused{record="doll",reason="streams"} 1'
check "no stream: the metrics count it" metric 'posixtrace_processes_refused{record="doll",reason="streams"} 1'
sleep 0.2 # some searches
check "no stream: it is said once" test "$(lines_said ": process $target: $advice")" -eq 1
free_streams
until_true records "$target"
check "with a free stream the process is recorded" records "$target"
end_agent TERM 0

# Fewer streams than processes: each recorder has its watch before the next process is recorded.
write_conf "textfile = $textfile" 'quota = 20K' 'quota-full = refuse' '[record doll]' "executable = $puppet" 'durations = yes'
mkfifo "$tmp/hold" || exit 99
for n in 1 2 3 4; do
	start sh -c 'exec "$0" 0 1 r <"$1"' "$puppet_program" "$tmp/hold" >/dev/null
done
exec 8>"$tmp/hold"
are_puppets() { test "$(pgrep -c -f "^$puppet 0 1 r")" -eq 5; }
until_true are_puppets
leave_streams 6
start_agent
until_true metric 'posixtrace_processes_refused{record="doll",reason="streams"} 2'
check "six streams: three processes are recorded" metric 'posixtrace_processes{record="doll"} 3'
check "six streams: all three are watched" metric 'posixtrace_processes_unwatched{record="doll"} 0'
free_streams
until_true metric 'posixtrace_processes{record="doll"} 5'
check "later all five" metric 'posixtrace_processes{record="doll"} 5'

# Snapshots of all of them. The quota has room for some of the logs.
rm -rf "$store"/logs/*
run 1 agent -c "$conf" --snapshot '*'
check "paths of logs are on standard output" has out "^$store/logs/"
check "standard output has only paths" lacks out "^[^/]"
check "the message is on standard error" has err '^posixtrace: [1-4] of 5 logs were not written; the agent.s messages have the reasons$'
run 0 agent -c "$conf" --status
check "the status counts the logs that were not written" has out \
	'^trigger command: record doll: [1-4] written, 0 held off, [1-4] not written; the agent.s messages have the reasons$'
run 1 agent -c "$conf" --snapshot "$(printf 'one\ntwo\033[2J')"
check "a name cannot harm the terminal" has err '^posixtrace: one.ntwo.x1b.2J: no process that is recorded now has this section or number$'
check "standard output is empty" is_empty out

end_tracer() {
	kill "$tracer"
	wait "$tracer"
} 2>/dev/null
# One search of /proc finds the streams of all recorders.
if command -v strace >/dev/null; then
	rm -rf "$store"/logs/*
	sed -i '/^quota/d; s/^interval.*/interval = 1h/' "$conf"
	kill -HUP "$agent"
	until_true said ': loaded$'
	until_true metric 'posixtrace_processes{record="doll"} 5'
	start strace -f -o "$tmp/calls" -e trace=openat -p "$agent" 2>"$tmp/strace"
	tracer=$pid
	until_true grep -q attached "$tmp/strace"
	if kill -0 "$tracer" 2>/dev/null; then
		run 0 agent -c "$conf" --snapshot '*'
		check "all logs are written" has_lines out 5
		end_tracer
		check "one search finds all streams" test "$(grep -c '"/proc", ' "$tmp/calls")" -le 2
	fi
fi
end_agent TERM 0
exec 8>&-
end_puppet
finish
