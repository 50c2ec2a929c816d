#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace agent: flight recorders on running processes, triggers, quota, and kills of every party.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"
. "${0%/*}/agents.sh"

crashing=$tmp/crashing
cp "${top_builddir:-..}/tests/tools/crashing" "$crashing" || exit 99

own_puppet
start_puppet
puppet=$(readlink "/proc/$target/exe")
write_conf '[record doll]' "executable = $puppet" '[trigger crash]' 'when = crash' 'hold-off = none' \
	'[trigger failure]' 'when = failure' 'hold-off = none'
start_agent
until_true records "$target"
check "a process that ran before is recorded" records "$target"
check "the folder belongs to its user alone" test "$(stat -c %a "$store")" = 700
tell e e e

# On request.
run 0 agent -c "$conf" --snapshot doll
check "the path of the log is printed" has out "^$store/logs/.*Z-doll-$target-command.ptl$"
log=$(cat "$tmp/out")
check "the log has the events" test "$(count_of u)" -eq 3
check "the log has the reason" reason_in "$log" 'command.*agent --snapshot'
run 0 stat "$log"
check "stat has the reason" has out '^agent  *snapshot, trigger command: agent --snapshot$'
run 0 stat --json "$log"
check "stat --json has it, too" has out '"agent":{"what":"snapshot","trigger":"command","reason":"agent --snapshot"}'
tell e
run 0 agent -c "$conf" --snapshot "$target"
log=$(cat "$tmp/out")
check "recording went on, and nothing was read away" test "$(count_of u)" -eq 4
run 1 agent -c "$conf" --snapshot none
check "a name without processes is said" has err '^posixtrace: none: no process that is recorded now'
kill -USR1 "$agent"
until_true has_logs signal 1
check "SIGUSR1 writes a log" reason_in "$(log_of signal)" 'SIGUSR1'
run 0 agent -c "$conf" --status
check "the status has the process" has out "^record doll: process $target ($puppet): [1-9][0-9]* events, 0 overwritten, 0 lost$"
check "the status names the trigger that fired" has out '^trigger command: record doll: 2 written, 0 held off$'

# Without descriptors a client waits, and the agent looks for one at each search only.
if command -v prlimit >/dev/null; then
	# The lowest free number; a search has another descriptor for a moment.
	full=1000
	for n in 1 2 3 4 5; do
		free=0
		while test -e "/proc/$agent/fd/$free"; do free=$((free + 1)); done
		test $free -gt $full || full=$free
		sleep 0.01
	done
	limits=$(prlimit --pid "$agent" --nofile --output HARD --noheadings | tr -d ' ')
	prlimit --pid "$agent" --nofile="$full:$limits"
	: >"$tmp/waiting"
	start "$posixtrace" agent -c "$conf" --status >"$tmp/waiting"
	waiting=$pid
	until_true said ': a client waits until the agent has a free descriptor and memory: Too many open files; see ulimit -n$'
	for n in 1 2 3 4 5 6 7 8; do sleep 0.05; done
	waits=$(grep -c 'a client waits' "$agent_err")
	searches=$(grep -c ': /proc: Too many open files' "$agent_err")
	check "it does not try at once again: $waits times in $searches searches" test "$waits" -le $((searches + 1))
	prlimit --pid "$agent" --nofile="$limits:$limits"
	wait "$waiting"
	check "the client is answered later" grep -q "^record doll: process $target " "$tmp/waiting"
fi

# Only one agent has the folder.
run 1 agent -c "$conf"
check "a second agent is refused" has err "another agent uses this folder: process $agent$"

# A killed process.
tell e
kill_target
exec 5>&- 6<&-
until_true has_logs crash 1
log=$(log_of crash)
check "the log of a killed process has all of its events" test "$(count_of u)" -eq 5
check "the log has the reason" reason_in "$log" "process $target (puppet) killed by SIGKILL"
check "flight/ has nothing left of it" is_grounded

# A later process; its normal end is no trigger.
start_puppet
until_true records "$target"
check "a process that starts later is recorded" records "$target"
tell e e
before=$(logs)
end_puppet
until_true is_grounded
check "a normal end leaves no log" test "$(logs)" -eq "$before"

# A killed agent: the guardian completes the log, and the next agent finds it.
start_puppet
until_true records "$target"
tell e e e e e e
kill -KILL "$agent"
wait "$agent" 2>/dev/null
tell e e
start_agent
until_true has_logs restart 1
log=$(log_of restart)
check "the log of a killed agent has the events, also those after the kill" test "$(count_of u)" -eq 8
until_true records "$target"
tell e
check "the next agent records the same process" "$posixtrace" agent -c "$conf" --snapshot doll

# An agent that hands over.
end_agent USR2 0
tell e e e
start_agent
until_true has_logs restart 2
log=$(log_of restart)
check "a handed over stream has the events between two agents" test "$(count_of u)" -ge 4
until_true records "$target"
# The numbers of all events of the process, of one agent, a killed one, one that handed over, and this.
"$posixtrace" agent -c "$conf" --snapshot doll >/dev/null
for each in "$store"/logs/*-"$target"-*; do
	"$posixtrace" dump -e u --fields data "$each"
done | sort -u >"$tmp/numbers"
check "no event is missing in all logs together" has_lines numbers 12

# A stream that ended before the next agent began: the gap is noted.
kill -KILL "$agent"
wait "$agent" 2>/dev/null
guardian_of_target() {
	"$posixtrace" list --json | grep -v "\"creator\":$agent," |
		sed -n 's/^{"pid":'"$target"',.*"creator":\([0-9]*\),.*/\1/p' | grep .
}
until_true guardian_of_target
kill -TERM "$(guardian_of_target)"
is_listed() { "$posixtrace" list --json | grep -q '^{"pid":'"$target"','; }
is_unlisted() { ! is_listed; }
until_true is_unlisted
tell e
start_agent
until_true records "$target"
check "a gap is said" said ": process $target: nothing was recorded for [0-9]*[.][0-9]* s: calls of that time"
until_true has_logs restart 3
"$posixtrace" agent -c "$conf" --snapshot doll >"$tmp/path"
check "the log has the gap" reason_in "$(cat "$tmp/path")" 'gap.*nothing was recorded for'

# SIGHUP: a bad configuration changes nothing, a good one does.
cp "$conf" "$tmp/good.conf"
echo 'nonsense' >>"$conf"
kill -HUP "$agent"
until_true said 'not loaded; the agent continues with the former configuration$'
check "a bad configuration is refused" said ': nonsense: expected key = value$'
"$posixtrace" agent -c "$conf" --snapshot doll >"$tmp/path" 2>"$tmp/err"
check "a snapshot needs only the folder of a bad configuration" test $? -eq 0 -a -s "$(cat "$tmp/path")"
check "it prints the fault" has err ": nonsense: expected key = value\$"
run 0 agent -c "$conf" --status
check "the state also" has out "^record doll: process $target "
sed '/^folder/d' "$conf" >"$tmp/folderless.conf"
run 1 agent -c "$tmp/folderless.conf" --status
check "without the folder there is no agent to ask" has err ': the section \[agent\] has no key folder$'
sed 's/^folder.*/folder = relative/' "$conf" >"$tmp/folderless.conf"
run 1 agent -c "$tmp/folderless.conf" --status
check "a relative folder is not used" test "$(grep -c relative "$tmp/err")" = 1
check "no agent is asked there" lacks err 'no agent uses this folder'
cp "$tmp/good.conf" "$conf"
check "recording goes on" records "$target"
flight=$(ls "$store/flight")
echo 'hold-off = 1h' >>"$tmp/good.conf"
sed -i '$d' "$tmp/good.conf"
sed '/hold-off/d' "$tmp/good.conf" >"$conf"
kill -HUP "$agent"
until_true said ': loaded$'
tell e
check "a section that has not changed keeps its recorder" test "$(ls "$store/flight")" = "$flight"
write_conf '[record other]' "executable = $puppet" 'size = 64K' '[trigger any]' 'when = end'
kill -HUP "$agent"
until_true has_logs reload 1
check "one that is gone leaves a log" reason_in "$(log_of reload)" 'the configuration has changed'
until_true records "$target"
"$posixtrace" agent -c "$conf" --snapshot other >"$tmp/path"
check "the time between the two recordings is a gap" reason_in "$(cat "$tmp/path")" 'gap.*nothing was recorded for 0[.]'
end_puppet
until_true has_logs any 1
check "a normal end can be a trigger" reason_in "$(log_of any)" 'exited with 0'

# The end of the agent.
start_puppet
until_true records "$target"
tell e e
end_agent TERM 0
check "its end leaves a log" has_logs stop 1
log=$(log_of stop)
check "with the events" test "$(count_of u)" -eq 2
check "flight/ is empty" test -z "$(ls "$store/flight")"
check "the socket is gone" test ! -e "$store/control"
tell e
end_puppet
check "the process goes on, and ends as it would have" test $? -eq 0
check "every log is sound" all_sound

# Hold-off, and the quota.
rm -rf "$store"
write_conf '[record crash]' "executable = $(readlink -f "$crashing")" 'inject = no' \
	'[record doll]' "executable = $puppet" '[trigger bad]' 'when = failure' 'hold-off = 1h'
start_agent
for n in 1 2 3; do
	start_puppet
	until_true records "$target"
	tell m
	kill_target
	exec 5>&- 6<&-
	until_true is_grounded
done
check "one log in the time of hold-off" has_logs bad 1
run 0 agent -c "$conf" --status
check "the others are counted" has out '^trigger bad: record doll: 1 written, 2 held off$'
bytes=$(stat -c %s "$(log_of bad)")
end_agent INT 0
write_conf "quota = $((bytes * 3))" '[record doll]' "executable = $puppet" '[trigger bad]' 'when = failure' 'hold-off = none'
start_agent
first=$(log_of bad)
for n in 1 2 3 4 5; do
	start_puppet
	until_true records "$target"
	tell m
	kill_target
	exec 5>&- 6<&-
	until_true is_grounded
	check "the quota is kept" test "$(cat "$store"/logs/* | wc -c)" -le $((bytes * 3))
done
check "there are logs" test "$(logs bad)" -ge 1
check "the oldest one was removed" test ! -e "$first"
cp "$(log_of bad)" "$store/logs/precious"
end_agent TERM 0
write_conf "quota = $((bytes * 3))" 'quota-full = refuse' '[record doll]' "executable = $puppet" '[trigger bad]' 'when = failure' 'hold-off = none'
last=$(log_of bad)
before=$(logs bad)
start_agent
for n in 1 2 3 4; do
	start_puppet
	until_true records "$target"
	tell m
	kill_target
	exec 5>&- 6<&-
	until_true is_grounded
done
check "with refuse no log is removed" test -e "$last"
check "a message names the trigger without room" said 'the quota of [0-9]* bytes has no room for a log of [0-9]* bytes of trigger bad$'
run 0 agent -c "$conf" --status
check "a log that was refused is not counted as written" \
	has out "^trigger bad: record doll: $(($(logs bad) - before)) written, 0 held off, [1-9][0-9]* not written; "
check "a file of another name is left alone" test -e "$store/logs/precious"
end_agent TERM 0
write_conf 'expire = 10ms' '[record doll]' "executable = $puppet"
start_agent
until_true has_logs bad 0
check "old logs expire" has_logs bad 0
check "a file of another name does not" test -e "$store/logs/precious"
rss=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$agent/status")
check "the agent needs less than 32 MB: $rss kB" test "$rss" -lt 32768
end_agent TERM 0
rm "$store/logs/precious"

# lines_are N PATTERN: lines of the messages of an agent of another user.
lines_are() { test "$(grep -c -- "$2" "$tmp/poor.err")" -eq "$1"; }

# As a spool, a removed log and one that the quota refuses leave their accounts.
if "$posixtrace" query --help >/dev/null 2>&1; then
	write_conf 'spool = yes' '[record doll]' "executable = $puppet" '[trigger bad]' 'when = failure'
	start_agent
	start_puppet
	until_true records "$target"
	tell m
	kill_target
	exec 5>&- 6<&-
	until_true is_grounded
	check "there is a log" has_logs 'bad\.ptl$' 1
	lines=$("$posixtrace" query --csv "$(log_of bad)" 'select name, term, count from ledger order by 1, 2')
	end_agent TERM 0
	write_conf 'spool = yes' 'expire = 10ms' 'quota = 1' 'quota-full = refuse' '[record doll]' \
		"executable = $puppet" '[trigger bad]' 'when = failure'
	start_agent
	until_true has_logs 'bad\.ptl$' 0
	check "a log that has expired leaves its account" has_logs 'bad\.ptl\.account$' 1
	account=$(log_of bad)
	test -z "$(command -v sqlite3)" || check "with the ledger of the log" test "$lines" = \
		"$(sqlite3 -csv -header "$account" 'select name, term, count from ledger order by 1, 2' | tr -d '\r')"
	start_puppet
	until_true records "$target"
	tell m
	kill_target
	exec 5>&- 6<&-
	until_true is_grounded
	check "a log that is refused leaves its account" has_logs 'bad\.ptl\.account$' 2
	check "a refused log leaves no other file" test "$(ls -A "$store/logs" | grep -v 'account$')" = ''
	run 0 agent -c "$conf" --status
	check "accounts are no logs, but have bytes" has out '^logs: 0 of [1-9][0-9]* bytes'
	end_agent TERM 0
	rm -f "$store"/logs/*

	# The names of accounts that the agent counts: with a hash, and merged.
	for name in 20260102T030405.678Z-doll-1-bad.ptl.0123456789abcdef.account merged.1.account \
		20260102T030405.678Z-doll-1-bad.ptl.account; do
		printf %1000s x >"$store/logs/$name"
	done
	# a name of as many bytes as a log may have, with a hash
	printf %1000s x >"$store/logs/20260102T030405.678Z-$(printf %0132d 1)-b.ptl.0123456789abcdef.account"
	for name in merged.01.account 20260102T030405.678Z-doll-1-bad.ptl.0123.account x.account; do
		printf %1000s x >"$store/logs/$name"
	done
	write_conf 'spool = yes' 'quota = 1M' '[record doll]' "executable = $puppet"
	start_agent
	run 0 agent -c "$conf" --status
	check "accounts have bytes, whatever their name" has out '^logs: 0 of 4000 bytes'
	end_agent TERM 0
	rm -f "$store"/logs/*

	# Many accounts are merged.
	for i in $(seq 10 45); do
		"$make_log" plain "$store/logs/202601${i%?}0T0304${i}.678Z-doll-1-bad.ptl" 1500 >/dev/null || exit 99
	done
	calls=$("$posixtrace" query --csv "$store/logs"/*.ptl "select sum(count) from ledger where term = 'called'")
	write_conf 'spool = yes' 'expire = 10ms' '[record doll]' "executable = $puppet"
	start_agent
	is_merged() { test "$(ls -A "$store/logs")" = merged.1.account; }
	until_true is_merged
	check "the accounts are merged" is_merged
	test -z "$(command -v sqlite3)" || check "with all calls" test "$calls" = "$(sqlite3 -csv -header \
		"$store/logs/merged.1.account" "select sum(count) from ledger where term =
		(select rowid from texts where value = 'called')" | tr -d '\r' | sed '1s/.*/sum(count)/')"
	end_agent TERM 0
	rm -f "$store"/logs/*

	# A log that cannot be opened for a moment remains, and the next one is removed in its place.
	if test "$(id -u)" -ne 0 || command -v setpriv >/dev/null; then
		nobody=
		test "$(id -u)" -ne 0 || nobody='setpriv --reuid 65534 --regid 65534 --clear-groups'
		older=20260101T000000.000Z-doll-1-bad.ptl younger=20260102T000000.000Z-doll-1-bad.ptl
		for name in $older $younger; do
			"$make_log" plain "$store/logs/$name" 3000 >/dev/null || exit 99
		done
		echo nonsense >"$store/logs/20260103T000000.000Z-doll-1-bad.ptl"
		chmod 000 "$store/logs/$older"
		write_conf 'spool = yes' 'quota = 20K' '[record doll]' "executable = $puppet"
		chmod 755 "$tmp"
		chmod 644 "$conf"
		test -z "$nobody" || chown -R 65534:65534 "$store"
		: >"$tmp/poor.err"
		chmod 666 "$tmp/poor.err"
		start $nobody "$posixtrace" agent -c "$conf" 2>"$tmp/poor.err"
		agent=$pid
		until_true test ! -e "$store/logs/$younger"
		for n in 1 2 3 4 5 6 7 8; do sleep 0.05; done
		check "the log that cannot be opened remains" test -e "$store/logs/$older"
		check "the younger one left its account" test -s "$store/logs/$younger.account"
		check "the reason is printed once" lines_are 1 \
			"$store/logs/$older: Permission denied; it remains until its account can be written$"
		check "the exceeded quota is reported" lines_are 1 \
			"$store/logs has [0-9]* bytes, more than the quota of 20480: 1 log cannot be opened now"
		chmod 600 "$store/logs/$older"
		until_true test ! -e "$store/logs/$older"
		check "later it leaves its account" test -s "$store/logs/$older.account"
		end_agent TERM 0
		rm -f "$store"/logs/*

		# A log that the quota refuses remains, too, until its account can be written.
		flight=$store/flight/doll.1.1700000000000.ptl
		"$make_log" plain "$flight" 3000 >/dev/null || exit 99
		test -z "$nobody" || chown 65534:65534 "$flight"
		write_conf 'spool = yes' 'quota = 1' 'quota-full = refuse' '[record doll]' "executable = $puppet"
		chmod 644 "$conf"
		chmod 500 "$store/logs"
		: >"$tmp/poor.err"
		start $nobody "$posixtrace" agent -c "$conf" 2>"$tmp/poor.err"
		agent=$pid
		until_true grep -q "$flight" "$tmp/poor.err"
		for n in 1 2 3 4 5 6 7 8; do sleep 0.05; done
		check "the log in flight/ remains" test -e "$flight"
		check "the remaining log is reported once" lines_are 1 "$flight: it remains until its account can be written$"
		chmod 700 "$store/logs"
		until_true test ! -e "$flight"
		check "later it leaves its account, too" has_logs 'restart\.ptl\.account$' 1
		end_agent TERM 0
		test -z "$nobody" || chown -R 0:0 "$store"
		rm -f "$store"/logs/*
	fi
fi

# A killed agent with several processes: while their streams continue, the next agent begins its own.
rm -rf "$store"
write_conf '[record doll]' "executable = $puppet"
rm -f "$tmp/hold"
mkfifo "$tmp/hold"
for n in 1 2 3; do
	start sh -c 'exec "$0" 0 1 r <"$1" >/dev/null' "$puppet" "$tmp/hold"
done
exec 8>"$tmp/hold"
has_recorders() { test "$("$posixtrace" agent -c "$conf" --status | grep -c '^record doll: ')" -eq 3; }
start_agent
until_true has_recorders
kill -KILL "$agent"
wait "$agent" 2>/dev/null
start_agent
until_true has_recorders
until_true has_logs restart 3
check "several processes: no stream ended before the next one began" test "$(grep -c 'nothing was recorded' "$agent_err")" -eq 0
end_agent TERM 0
exec 8>&-

# The status of a process whose parent does not wait for it: a normal end is no crash.
write_conf '[record doll]' "executable = $puppet" '[trigger crash]' 'when = crash' '[trigger end]' 'when = end'
rm -f "$tmp/hold"
mkfifo "$tmp/hold"
start sh -c '"$0" 0 1 r <"$1" >"$2" & exec sleep 1000000' "$puppet" "$tmp/hold" "$tmp/ready"
start_agent
exec 8>"$tmp/hold"
until_true status_has '^record doll: process '
exec 8>&-
until_true has_logs end 1
check "a zombie that has exited with 0 has not crashed" has_logs crash 0
check "its status is known" reason_in "$(log_of end)" 'process [0-9]* (puppet) exited with 0'
end_agent TERM 0

# A process without the library is recorded only if its section permits an injection.
start sleep 1000000
plain=$pid
until_true grep -q sleep "/proc/$plain/comm"
cp "/proc/$plain/exe" "$tmp/plain-sleep"
kill -KILL "$plain"
start "$tmp/plain-sleep" 1000
plain=$pid
until_true grep -q plain-sleep "/proc/$plain/comm"
write_conf '[record plain]' "executable = $tmp/plain-sleep" '[record doll]' "executable = $puppet"
run 0 agent -c "$conf" --check
check "--check says why" has out "^  process $plain ($tmp/plain-sleep): not recorded: it does not use libposixtrace, and inject is no$"
start_agent
start_puppet
until_true records "$target"
check "it is not recorded without permission" test -z "$(ls "$store/flight" | grep -v '^doll')"
end_puppet
check "nothing is loaded into it" test -z "$(grep libposixtrace "/proc/$plain/maps")"
end_agent TERM 0

# An agent that was killed while it made a log leaves an empty file.
: >"$store/flight/doll.1.1700000000000.ptl"
start_agent
is_dropped() { test ! -e "$store/flight/doll.1.1700000000000.ptl"; }
until_true is_dropped
check "an empty file in flight/ becomes no log" test -z "$(find "$store/logs" -size 0)"
end_agent TERM 0

# A child of a killed agent has the lock for a moment.
is_locked() { ! flock -n "$store/lock" true; }
if command -v flock >/dev/null; then
	true &
	ended=$!
	wait $ended
	echo $ended >"$store/lock"
	flock "$store/lock" sleep 0.5 &
	holder=$!
	until_true is_locked
	start_agent
	check "an agent waits for the lock that a child of a killed agent has" said ': ready: '
	end_agent TERM 0
	wait $holder
fi

# A folder that other users own, or can write to.
chmod 770 "$store"
run 1 agent -c "$conf"
check "a folder of a group is refused" has err "^posixtrace: $store: other users can write to this folder (mode 0770)$"
run 1 agent -c "$conf" --status
check "a client refuses it, too" has err ': other users can write to this folder'
chmod 700 "$store"
if test "$(id -u)" -eq 0; then
	chown 65534 "$store"
	run 1 agent -c "$conf"
	check "a folder of another user is refused" has err "^posixtrace: $store: this folder belongs to another user, with the number 65534$"
	chown 0 "$store"
fi
finish
