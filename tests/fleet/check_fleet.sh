#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Ships logs of many hosts to two replicas of ClickHouse with ZooKeeper, while shippers, replicas and
# ZooKeeper are killed with SIGKILL at random and a disk is full. Then no event is missing, none is
# there twice, and the account of each host closes, on both replicas.
#
#	HOSTS     hosts, 10 without it; each ships the same two logs under its own name
#	SECONDS_  of kills, 60 without it
#	EVENTS    events of each log, 100000 without it. make_log makes one log, and the other one is
#	          recorded: it has the nearest number of events that a whole number of runs of ls has
#	SHIPPERS  at the same time, 4 without it
#	DISK      bytes of the second replica's file system in memory, such as 8g; without it, the space
#	          for all events and their merges
#	SEED      of the kills
#	BATCH     the most events in one INSERT, the default of ship without it; with 5000, most kills
#	          hit a log with some of its blocks in the database
#	RATES     with it nothing is killed: simulate.py replays three recordings as the logs of HOSTS hosts, RATES
#		  times as fast as they were recorded, and ship --follow --every EVERY ships them. The
#		  defaults are then HOSTS=1000, SECONDS_=180, SHIPPERS=8 and DISK=8g. The test prints the
#		  times that events need, and the processor time and the bytes of an event.
#	RECORD    seconds of each recording, 60 without it; a host begins a log every RECORD / RATES s
#	SPREAD    seconds in which the first logs of the hosts begin; without it, the duration of a log
#	EVERY     seconds, 60 without it
#	SYMBOLS   1: the shippers look for functions and lines, too. A real host does this on its own
#		  processors, but here all shippers share the processors of the servers.
#
# The rate of a replica is that of all events and all processor time of its server: INSERTs, parts
# from the other replica, merges, starts after kills, but not the queries of this test at the end. It
# is compared with 500000 events for each second of a core. A lower rate is no failure, because it
# depends on the machine and on the kills.
# The limits of time at the end grow with the number of rows.
#
# After a failure, the folder of the test remains without the data of the servers: the positions, the messages of
# the shippers of each host in errs, those of the servers, and report.N with the attempts of each log of replica N
# whose rows are wrong.
. "${0%/*}/../tools/lib.sh"

: "${RATES:=0}"
test "$RATES" = 0 || : "${HOSTS:=1000}" "${SECONDS_:=180}" "${SHIPPERS:=8}" "${DISK:=8g}"
: "${HOSTS:=10}" "${SECONDS_:=60}" "${EVENTS:=100000}" "${SHIPPERS:=4}" "${SEED:=$$}" "${EVERY:=60}" "${RECORD:=60}"
# A run of ls has up to 50000 events; an event and its merges need 64 bytes.
: "${DISK:=$((HOSTS * (2 * EVENTS + 50000) * 64 + (1 << 30)))}"
# The simulated hosts delay ZooKeeper, since they share its processors. So its sessions last longer.
test "$RATES" = 0 || session_ms=20000
"$posixtrace" ship --help >/dev/null 2>&1 || skip "built without libcurl"
servers=$tmp/servers
mkdir "$servers" "$tmp/state" "$tmp/done" "$tmp/errs"
. "${0%/*}/servers.sh"
has_clickhouse && has_zookeeper || skip "clickhouse-server and zookeeperd are needed"

# shippers: the processes of this test that ship.
shippers() { pgrep -f "ship --host host[0-9]* --state $tmp/state" || true; }

# is_child PID: a process that has ended may have left its number to a process of another program.
is_child() { test "$(ps -o ppid= -p "$1" 2>/dev/null | tr -d ' ')" = $$; }

workers=
simulation=
disk=
end_fleet() {
	is_script || return
	touch "$tmp/stop"
	for worker in $workers $simulation; do
		is_child "$worker" && kill "$worker" 2>/dev/null
	done
	for worker in $(shippers); do kill "$worker" 2>/dev/null; done
	test -z "$simulation" || wait "$simulation" 2>/dev/null
	stop_servers
	wait 2>/dev/null
	test -z "$disk" || umount "$disk" 2>/dev/null
	if test "${failures:-0}" -gt 0; then
		rm -rf "$servers"/clickhouse-?/data "$servers/zookeeper/data"
		echo "kept: $tmp"
	else
		rm -rf "$tmp"
	fi
}
trap end_fleet 0

# The second replica is on a small file system, if this user may make one.
mkdir "$tmp/disk"
if mount -t tmpfs -o size="$DISK" tmpfs "$tmp/disk" 2>/dev/null; then
	disk=$tmp/disk
else
	echo "no small file system: the disk does not get full"
fi
start_zookeeper
start_clickhouse 1
start_clickhouse 2 ${disk:+"$disk/data"}
wait_zookeeper && wait_clickhouse 1 && wait_clickhouse 2 || { cat "$servers"/*/out; exit 99; }
url=clickhouse://127.0.0.1:$(http_of 1),127.0.0.1:$(http_of 2)/fleet

POSIXTRACE_PRELOAD=$(cd "${top_builddir:-..}/lib/.libs" && pwd)/libposixtrace-preload.so
export POSIXTRACE_PRELOAD
# events_of LOG...: the number of events.
events_of() { "$posixtrace" query --csv "$@" 'select sum(count) from stored' | sed 1d; }
record() { "$posixtrace" record -q -o "$tmp/real.ptl" -- ls -lR "$@" >/dev/null 2>&1 || rm -f "$tmp/real.ptl"; }

# record_kills: logs of about EVENTS events.
record_kills() {
	"$make_log" plain "$tmp/made.ptl" "$EVENTS" >/dev/null || exit 99
	record /usr/include
	test -e "$tmp/real.ptl" || return
	once=$(events_of "$tmp/real.ptl")
	runs=$(((EVENTS + once / 2) / once))
	# shellcheck disable=SC2046 # a list of words
	test $runs -lt 2 || record $(yes /usr/include | head -n $runs)
}

# record_rates: three programs that work at their own rates, at the same time: a server of web pages with a
# client, a program with a database, and a script that starts programs.
record_rates() {
	here=$(cd "${0%/*}" && pwd)
	for program in web database script; do
		"$posixtrace" record -q -o "$tmp/$program.ptl" -- python3 -I -S "$here/programs.py" $program "$RECORD" "$tmp/$program" \
			>/dev/null 2>>"$tmp/record.err" &
		workers="$workers $!"
	done
	for worker in $workers; do wait "$worker"; done
	workers=
}
if test "$RATES" = 0; then record_kills; else record_rates; fi
logs=$(ls "$tmp"/*.ptl)
# shellcheck disable=SC2086 # a list of words
set -- $logs
if test "$RATES" = 0; then
	events=$(events_of "$@")
	all_logs=$((HOSTS * $#)) all_events=$((HOSTS * events)) host_least=$events host_most=$events
	echo "$HOSTS hosts with $events events each, $SECONDS_ s of kills, seed $SEED"
else
	test $# = 3 || { cat "$tmp/record.err"; exit 99; }
fi

# note_used N: adds the processor time of a replica that ends now.
note_used() {
	awk '{ print $14 + $15 }' "/proc/$(cat "$servers/clickhouse-$1/pid")/stat" >>"$tmp/used.$1" 2>/dev/null
}

# restart_stale: if the disk is full while a replica makes a table, a file NAME.sql.tmp remains. The
# replica refuses the table until it starts again. This may hit a replica that makes a table now, which
# is one more kill.
restart_stale() {
	for number in 1 2; do
		set -- "$servers/clickhouse-$number/data"
		test $number = 1 -o -z "$disk" || set -- "$disk/data"
		ls "$1"/metadata/*/*.sql.tmp >/dev/null 2>&1 || continue
		note_used $number
		kill_server clickhouse-$number
		start_clickhouse $number
		stale=$((stale + 1))
	done
}
stale=0

# Each worker ships the logs of its hosts, one after the other, until each is complete.
work() {
	host=$1
	while test "$host" -le "$HOSTS" && test ! -e "$tmp/stop"; do
		# shellcheck disable=SC2086 # a list of words
		until "$posixtrace" ship --host "host$host" --state "$tmp/state" --to "$url" --replicated \
			${BATCH:+--batch "$BATCH"} --timeout 10 --give-up 20 $logs >"$tmp/ship.$1" 2>>"$tmp/errs/host$host" &&
			touch "$tmp/done/$host"; do
			test ! -e "$tmp/stop" || return
			sleep 0.2
		done
		host=$((host + SHIPPERS))
	done
}

# simulate: nothing is killed, and the logs of the hosts grow at their rates.
simulate() {
	pids=
	for name in clickhouse-1 clickhouse-2 zookeeper; do
		pids="$pids $name=$(cat "$servers/$name/pid")"
	done
	symbols=--no-symbols
	test "${SYMBOLS:-0}" = 0 || symbols=
	# shellcheck disable=SC2086 # lists of words
	python3 "${0%/*}/simulate.py" "$tmp/grown" "$HOSTS" "$SECONDS_" "$RATES" "$SHIPPERS" \
		"http://127.0.0.1:$(http_of 1)/,http://127.0.0.1:$(http_of 2)/" $pids -- \
		"$posixtrace" ship --to "$url" --replicated $symbols --every "${EVERY}s" ${BATCH:+--batch "$BATCH"} -- $logs &
	simulation=$!
	wait $simulation
	is_simulated=$?
	simulation=
	tail -n 5 "$tmp/grown/err"
	check "all logs of all hosts were shipped" test "$is_simulated" = 0
	test "$is_simulated" = 0 || finish
	read -r all_logs all_events host_least host_most <"$tmp/grown/summary"
}
began=$(date +%s.%N)
if test "$RATES" != 0; then
	simulate
else
	for worker in $(seq "$SHIPPERS"); do
		work "$worker" &
		workers="$workers $!"
	done
fi

# Kills until the time is over: every second or so one of six.
kills=0
end=$(date +%s)
test "$RATES" != 0 || end=$((end + SECONDS_))
random=$SEED
next_random() { random=$(((random * 1103515245 + 12345) % 2147483648)); }
while test "$(date +%s)" -lt "$end"; do
	next_random
	case $((random / 65536 % 6)) in
	0 | 1)
		next_random
		victim=$(shippers | sed -n "$((random / 65536 % SHIPPERS + 1))p")
		if test -n "$victim" && kill -9 "$victim" 2>/dev/null; then kills=$((kills + 1)); fi
		;;
	2 | 3)
		next_random
		number=$((random / 65536 % 2 + 1))
		note_used $number
		kill_server clickhouse-$number
		kills=$((kills + 1))
		sleep 0.$((random / 1024 % 10))
		start_clickhouse $number
		;;
	4)
		kill_server zookeeper
		kills=$((kills + 1))
		sleep 0.$((random / 1024 % 10))
		start_zookeeper
		;;
	5)
		test -z "$disk" || { dd if=/dev/zero of="$disk/full" bs=1M 2>/dev/null; sleep 2; rm -f "$disk/full"; restart_stale; }
		;;
	esac
	sleep 0.$((random / 2048 % 10))
	for number in 1 2; do
		kill -0 "$(cat "$servers/clickhouse-$number/pid")" 2>/dev/null || start_clickhouse $number
	done
done
test "$RATES" != 0 || echo "$kills kills, $stale starts after a full disk, $(ls "$tmp/done" | wc -l) hosts complete then"
check "ZooKeeper answers" wait_zookeeper
restart_stale
# A server that starts while ZooKeeper is away or the disk is full ends; an init system would start
# it again, as this does.
for number in 1 2; do
	tries=0
	until wait_clickhouse $number; do
		tries=$((tries + 1))
		test $tries -le 20 || { tail -n 5 "$servers/clickhouse-$number/err"; exit 1; }
		sleep 1
		start_clickhouse $number
	done
done
for worker in $workers; do wait "$worker"; done
workers=
# A replica that was killed while the last shipper made its tables gets the missing views from the next one.
# shellcheck disable=SC2086 # a list of words
test "$RATES" != 0 || "$posixtrace" ship --host host1 --state "$tmp/state" --to "$url" --replicated $logs >/dev/null 2>>"$tmp/errs/host1"
ended=$(date +%s.%N)
test "$RATES" != 0 || check "all hosts are complete" test "$(ls "$tmp/done" | wc -l)" -eq "$HOSTS"

# The replicas are equal when neither has work to do and both have the same parts.
parts_of() {
	ask "$1" "SELECT table, name, rows FROM system.parts WHERE active AND database = 'fleet' ORDER BY table, name"
}
work_of() {
	ask "$1" "SELECT table, type, new_part_name, source_replica, num_tries, last_exception, postpone_reason
		FROM system.replication_queue WHERE database = 'fleet' ORDER BY table, create_time FORMAT TabSeparated"
}
are_equal() {
	for number in 1 2; do
		parts_of $number >"$tmp/parts.$number" && work_of $number >"$tmp/work.$number" || return 1
	done
	test -s "$tmp/parts.1" -a ! -s "$tmp/work.1" -a ! -s "$tmp/work.2" && cmp -s "$tmp/parts.1" "$tmp/parts.2"
}
# report_difference: what each replica lacks, what it waits for and what it has put aside.
report_difference() {
	diff "$tmp/parts.1" "$tmp/parts.2" | head -n 40
	for number in 1 2; do
		echo "replica $number: work to do"
		head -n 20 "$tmp/work.$number"
		ask $number "SELECT table, is_readonly, is_session_expired, queue_size, log_max_index, log_pointer
			FROM system.replicas WHERE database = 'fleet' AND (is_readonly OR is_session_expired OR queue_size)"
		echo "replica $number: parts that it has put aside"
		find "$servers/clickhouse-$number" ${disk:+"$disk"} -path '*/detached/*' -prune | head -n 20
		grep '<Error>' "$servers/clickhouse-$number/err" | tail -n 5
	done
}
looks=0 equal=true
until are_equal; do
	looks=$((looks + 1))
	test $looks -lt "${LOOKS:-$((300 + all_events / 500000))}" || { equal=false; break; }
	sleep 1
done
# A server may begin a merge at any time, so the comparison that succeeded is not repeated.
equal_or_report() { $equal || { report_difference; return 1; }; }
check "the replicas have equal parts and no work" equal_or_report
for number in 1 2; do
	note_used $number
	awk -v events=$all_events -v hz="$(getconf CLK_TCK)" -v number=$number '{ used += $1 / hz } END {
		printf "replica %d: %.1f s of processor time, %.0f events for each second of a core, %.0f %% of 500000\n",
			number, used, events / used, events / used / 5000 }' "$tmp/used.$number"
done

# The events of a log have the numbers 0, 1, 2 ... A set of all numbers would need gigabytes, so 64 of them
# are one row here: c events, and a word m with a bit for each. If each is there once, the bits are the c
# lowest ones, and c is 64 in all rows of the log but the last.
counted='row_attempt NOT IN (SELECT attempt FROM fleet.voided)'
each_once="SELECT count(), sum(n), sum(wrong), sum(rows != last + 1 OR full < last) FROM (
	SELECT row_source, sum(c) AS n, sum(c > 64 OR m != if(c = 64, bitNot(toUInt64(0)),
		toUInt64(bitShiftLeft(toUInt64(1), c) - 1))) AS wrong, count() AS rows, max(b) AS last, sum(c = 64) AS full
	FROM (SELECT row_source, intDiv(row_seq, 64) AS b, count() AS c,
		groupBitOr(bitShiftLeft(toUInt64(1), row_seq % 64)) AS m
		FROM fleet.events_rows WHERE $counted GROUP BY row_source, b)
	GROUP BY row_source)"
# report_attempts N: the attempts of each log whose events are not there once, the parts that have them, the
# position of the log, and the last messages of the shippers of its host.
lengths=$(for log in $logs; do test "$RATES" != 0 || events_of "$log"; done | paste -sd ,)
report_attempts() {
	ask $1 "SELECT row_host, lower(hex(row_source)), row_attempt, row_attempt IN (SELECT attempt FROM fleet.voided) AS void,
			count(), uniq(row_seq), min(row_seq), max(row_seq), arrayStringConcat(groupUniqArray(_part), ' ')
		FROM fleet.events_rows WHERE row_source IN (SELECT row_source FROM fleet.events_rows WHERE $counted
			GROUP BY row_source HAVING count() != max(row_seq) + 1 ${lengths:+OR count() NOT IN ($lengths)})
		GROUP BY row_host, row_source, row_attempt ORDER BY row_host, row_source, void, row_attempt" >"$tmp/report.$1"
	echo "replica $1: host, log, attempt, 1 if it is void, rows, numbers of events, the first and the last one, parts"
	head -n 40 "$tmp/report.$1"
	cut -f 1,2 "$tmp/report.$1" | uniq | head -n 5 | while read -r host source; do
		for position in "$tmp/state"/*"$source"; do
			echo "$host: ${position##*/}: $(tr '\n' ' ' <"$position")"
		done
		tail -n 20 "$tmp/errs/$host" 2>/dev/null
	done
	echo "hosts with fewer logs than the others, and the number of their logs:"
	ask $1 "SELECT row_host, uniqIf(row_source, $counted) AS logs FROM fleet.events_rows GROUP BY row_host
		HAVING logs != $all_logs / $HOSTS" | head -n 5
	return 1
}
ask_s=$((120 + all_events / 100000))
for number in 1 2; do
	ask $number "$each_once" >"$tmp/out"
	echo "replica $number: $(cat "$tmp/out") (logs, events, wrong blocks, logs with gaps); $(
		ask $number "SELECT count() FROM fleet.voided") void attempts, $(
		ask $number "SELECT count() FROM fleet.events_rows WHERE row_attempt IN (SELECT attempt FROM fleet.voided)") of their rows"
	is_once() { has out "^$all_logs	$all_events	0	0\$" || report_attempts "$number"; }
	check "replica $number: none is missing, none is there twice" is_once
	ask $number "SELECT count(), min(n), max(n) FROM (SELECT row_host, count() AS n FROM fleet.events_rows
		WHERE $counted GROUP BY row_host)" >"$tmp/out"
	check "replica $number: each host has all of its events" has out "^$HOSTS	$host_least	$host_most\$"
	run 0 query --csv --at "clickhouse://127.0.0.1:$(http_of $number)/fleet" "
		select count(distinct host), sum(abs(open)), sum(called) from (select host, pid, name,
			sum(case term when 'called' then count else -count end) open,
			sum(case term when 'called' then count else 0 end) called
		from (select host, pid, name, term, count from ledger where term <> 'reported'
			union all select host, pid, name, 'stored', count from stored) group by host, pid, name)"
	check "replica $number: the account of each host closes" has out "^$HOSTS,0,[1-9]"
	ask $number "SELECT table, sum(bytes) FROM system.parts WHERE active AND database = 'fleet' AND
		table IN ('events_rows', 'other_rows') GROUP BY table ORDER BY table" |
		awk -v events=$all_events -v number=$number '{
			printf "replica %d: %s has %.1f MB at rest, %.1f bytes an event\n", number, $1, $2 / 1e6, $2 / events }'
done
echo "$began $ended" | awk -v events=$all_events -v kills=$kills '{
	printf "%d events in %.1f s with %d kills, %.0f events/s\n", events, $2 - $1, kills, events / ($2 - $1) }'
finish
