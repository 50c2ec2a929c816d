#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace agent when the system, a user or another program refuses what it needs: each message says
# what happened, and the agent continues if it can.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"
. "${0%/*}/agents.sh"

# No process has this path.
nothing='executable = /no/such/program'

# A folder, or another program's socket, in the place of the agent's.
write_conf '[record none]' "$nothing"
mkdir -p "$store/control/full"
run 1 agent -c "$conf"
check "the socket cannot be made" has err \
	"^posixtrace: $store/control: the socket for the commands of users cannot be made: Address already in use\$"
rm -rf "$store"

# A port that another program uses, and one that is not permitted.
if command -v python3 >/dev/null; then
	start python3 -c '
import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(1)
print(s.getsockname()[1], flush=True)
time.sleep(1000)' >"$tmp/port"
	until_true test -s "$tmp/port"
	port=$(cat "$tmp/port")
	write_conf "listen = 127.0.0.1:$port" '[record none]' "$nothing"
	run 1 agent -c "$conf"
	check "the port is used" has err "^posixtrace: listen 127.0.0.1:$port: Address already in use; choose another"
	# An agent that runs tries again until the port is free.
	holder=$pid
	write_conf '[record none]' "$nothing"
	start_agent
	write_conf "listen = 127.0.0.1:$port" "textfile = $tmp/metrics/agent.prom" '[record none]' "$nothing"
	kill -HUP "$agent"
	until_true said ': the agent tries again'
	check "after a reload the port is used" said \
		"^posixtrace: listen 127.0.0.1:$port: the agent tries again at each search for processes\$"
	kill "$holder"
	until_true said "^posixtrace: metrics: http://127.0.0.1:$port/metrics\$"
	check "it opens the port when it is free" said "^posixtrace: metrics: http://127.0.0.1:$port/metrics\$"
	check "it prints once that it is not" test "$(grep -c 'Address already in use' "$agent_err")" -eq 1
	# A file of metrics whose folder is missing.
	until_true said "^posixtrace: $tmp/metrics/agent.prom: No such file or directory; the metrics in this file are old"
	mkdir "$tmp/metrics"
	until_true test -e "$tmp/metrics/agent.prom"
	until_true said "^posixtrace: $tmp/metrics/agent.prom: written again\$"
	check "the file is written when this is possible" said 'agent.prom: written again$'
	end_agent TERM 0
fi
write_conf 'listen = 192.0.2.1:9464' '[record none]' "$nothing"
run 1 agent -c "$conf"
check "an address of another host" has err '^posixtrace: listen 192.0.2.1:9464: Cannot assign requested address$'

# Without a guardian a kill of the agent would lose events.
guardian=${POSIXTRACE_GUARDIAN-}
POSIXTRACE_GUARDIAN=/no/such/guardian
export POSIXTRACE_GUARDIAN
write_conf '[record none]' "$nothing"
start_agent
check "the guardian is missing: a message" said "^posixtrace: /no/such/guardian: No such file or directory: without this program, events are lost if the agent is killed; "
end_agent TERM 0
POSIXTRACE_GUARDIAN=$guardian
test -n "$guardian" || unset POSIXTRACE_GUARDIAN

# An agent without a process: a signal and a changed folder do not end it.
write_conf '[record none]' "$nothing"
start_agent
kill -USR1 "$agent"
until_true said 'SIGUSR1: no process is recorded now'
check "SIGUSR1 without a process" said '^posixtrace: SIGUSR1: no process is recorded now$'
sed "s,^folder.*,folder = $tmp/other," "$conf" >"$tmp/changed" && mv "$tmp/changed" "$conf"
kill -HUP "$agent"
until_true said 'not loaded'
check "another folder: the reason" said "^posixtrace: $conf: the value of \"folder\" has changed; restart the agent"
check "another folder: the agent continues" said 'not loaded; the agent continues with the former configuration'
check "another folder is not made" test ! -e "$tmp/other"
write_conf '[record none]' "$nothing"
run 0 agent -c "$conf" --status
end_agent TERM 0

# Clients wait while the agent has no free descriptor, and then have their answers.
if command -v prlimit >/dev/null; then
	start_agent
	prlimit --pid "$agent" --nofile=3:4096
	start "$posixtrace" agent -c "$conf" --status >"$tmp/status" 2>&1
	client=$pid
	until_true said 'a client waits'
	until_true said '/proc: Too many'
	sleep 0.2 # some searches, each of which tries again
	check "no process can be found: the reason, once" test \
		"$(grep -c '^posixtrace: /proc: Too many open files: the agent cannot find processes$' "$agent_err")" -eq 1
	check "a client waits: the reason" said \
		'^posixtrace: a client waits until the agent has a free descriptor and memory: Too many open files; see ulimit -n$'
	prlimit --pid "$agent" --nofile=4096:4096
	wait "$client"
	check "the client has its answer" test $? -eq 0
	end_agent TERM 0
	check "the message is printed once" test "$(grep -c 'a client waits' "$agent_err")" -eq 1
fi

# Folders that somebody removes or replaces while the agent records: it makes them again, and keeps
# the events of the recorders whose files are lost.
own_puppet
start_puppet
write_conf '[record doll]' "executable = $(readlink "/proc/$target/exe")"
start_agent
until_true records "$target"
for removed in logs flight control lock everything folder; do
	tell e e
	# Otherwise the agent could write a log that rm then removes.
	kill -STOP "$agent"
	case $removed in
	everything) rm -rf "$store"/* ;;
	folder) rm -rf "$store" ;;
	*) rm -rf "$store/$removed" ;;
	esac
	kill -CONT "$agent"
	case $removed in
	flight | everything | folder) until_true has_logs error 1 ;;
	esac
	case $removed in
	everything | lock) until_true said "^posixtrace: $store/lock was made again\$" ;;
	folder) until_true said "^posixtrace: $store was made again\$" ;;
	control) until_true test -e "$store/control" ;;
	*) until_true said "^posixtrace: $store/$removed was removed or replaced; it was made again\$" ;;
	esac
	until_true records "$target"
	run 0 agent -c "$conf" --snapshot doll
	check "$removed was removed: a log can be written" has out "^$store/logs/.*-doll-$target-command.ptl\$"
	case $removed in
	flight | everything | folder)
		log=$(log_of error)
		check "$removed was removed: the events are kept" test "$(count_of u)" -ge 2
		check "$removed was removed: the reason" reason_in "$log" 'error.*the file of the recorder was removed from flight/'
		;;
	esac
	check "$removed was removed: every log is sound" all_sound
	# Only flight/ was removed before these.
	case $removed in
	control | lock) check "$removed was removed: the recording continues" has_logs error 1 ;;
	esac
done
mkdir -m 777 "$tmp/open"
# The agent makes a missing folder again at each search.
until test -L "$store"; do
	rm -rf "$store"
	ln -sT "$tmp/open" "$store"
done 2>/dev/null
until_true said "^posixtrace: $store: other users can write to this folder (mode 0777)\$"
sleep 0.2 # some searches, each of which tries again
check "a link to an unsafe folder is refused, once" test "$(grep -c 'other users can write' "$agent_err")" -eq 1
chmod 700 "$tmp/open"
: >"$agent_err"
until_true said "^posixtrace: $store was made again\$"
until_true records "$target"
run 0 agent -c "$conf" --snapshot doll
check "a link to a safe folder is used" test "$(find "$tmp/open/logs" -name '*command.ptl' | wc -l)" -eq 1
end_agent TERM 0
end_puppet
rm -f "$store"

# The memory of recorders returns to the system when their processes have ended.
anonymous() { sed -n 's/^RssAnon:[[:space:]]*\([0-9]*\) kB$/\1/p' "/proc/$agent/status"; }
has_processes() { test "$("$posixtrace" agent -c "$conf" --status | grep -c '^record ')" -eq "$1"; }
is_returned() { test $((4 * ($(anonymous) - before))) -lt $((most - before)); }
if has_shim && grep -q '^RssAnon:' /proc/self/status; then
	start_agent
	before=$(anonymous)
	mkfifo "$tmp/hold" || exit 99
	for n in 1 2 3 4 5 6 7 8; do
		start sh -c 'exec "$0" 0 1 r <"$1"' "$puppet_program" "$tmp/hold" >/dev/null
	done
	exec 8>"$tmp/hold"
	until_true has_processes 8
	most=$(anonymous)
	exec 8>&-
	until_true has_processes 0
	until_true is_returned
	check "the memory of ended recorders is returned: $before, $most, $(anonymous) kB" is_returned
	end_agent TERM 0
fi

# An agent that ends before it answers.
if command -v python3 >/dev/null; then
	rm -rf "$store"
	mkdir -m 700 "$store"
	start python3 -c '
import os, socket, sys
os.chdir(sys.argv[1])
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.bind("control"); s.listen(1)
open("listens", "w").close()
c, _ = s.accept(); c.close()' "$store"
	until_true test -e "$store/listens"
	run 1 agent -c "$conf" --status
	check "an agent that ends before it answers" has err \
		"^posixtrace: $store: the agent has ended without an answer; its messages say why\$"
fi
# A process that cannot be recorded: --status and the metrics say why not.
cp "$(command -v sleep)" "$tmp/foreign" || exit 99
write_conf "textfile = $tmp/agent.prom" '[record foreign]' "executable = $tmp/foreign"
start_agent
start "$tmp/foreign" 1000
is_refused() { "$posixtrace" agent -c "$conf" --status | grep -q "^not recorded: process $pid "; }
until_true is_refused
run 0 agent -c "$conf" --status
check "the status has the reason and the time of the next attempt" has out \
	"^not recorded: process $pid ($tmp/foreign) of record foreign: it does not use libposixtrace, and its section lacks inject = yes; tried again "
until_true grep -q '^posixtrace_processes_refused{record="foreign",reason="library"} 1$' "$tmp/agent.prom"
check "the metrics count it" grep -q '^posixtrace_processes_refused{record="foreign",reason="library"} 1$' "$tmp/agent.prom"
kill "$pid"
is_accepted() { ! is_refused; }
until_true is_accepted
run 0 agent -c "$conf" --status
check "a process that has ended is not refused" lacks out '^not recorded'
end_agent TERM 0

# Processes of other users, which an agent without a capability cannot examine.
if test "$(id -u)" -eq 0 && command -v setpriv >/dev/null; then
	user='setpriv --reuid 65534 --regid 65534 --clear-groups'
	rm -rf "$store"
	mkdir -m 700 "$store"
	chown 65534:65534 "$store"
	chmod 755 "$tmp"
	write_conf '[record foreign]' "executable = $tmp/foreign"
	chmod 644 "$conf"
	: >"$agent_err"
	start $user "$posixtrace" agent -c "$conf" 2>>"$agent_err"
	agent=$pid
	until_true said ': ready: '
	until_true status_has '^not examined: '
	run 0 agent -c "$conf" --status
	check "processes that cannot be examined are counted" has out \
		'^not examined: [1-9][0-9]* process.*, because the agent lacks the capability CAP_SYS_PTRACE over '
	end_agent TERM 0
fi

# Too large a stream: the message names the key that sets the size.
rm -rf "$store"
start_puppet
write_conf '[record doll]' "executable = $(readlink "/proc/$target/exe")" 'size = 900000G'
start_agent
until_true said 'no memory for a stream'
check "too large a stream: the message has the key" said \
	"^posixtrace: process $target: no memory for a stream of [0-9]* bytes; see the key size"
end_agent TERM 0
end_puppet

# A process into which the library cannot be loaded: --check has the reason that the agent would have.
if echo 'int pause(void); int main(void) { for (;;) pause(); }' |
	${CC:-cc} -static -w -x c -o "$tmp/static" - 2>/dev/null; then
	start "$tmp/static"
	write_conf '[record static]' "executable = $tmp/static" 'inject = yes'
	run 0 agent -c "$conf" --check
	check "--check examines the process" has out \
		"^  process $pid ($tmp/static): not recorded: its calls cannot be traced: it is statically linked\$"
fi
finish
