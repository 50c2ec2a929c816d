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
#	RATE      events a second of each host; without it, the shippers send as fast as they can. With
#	          it nothing is killed: the log of each host grows for SECONDS_ seconds, and ship
#	          --follow --every EVERY ships it. The test prints how far the database was behind.
#	EVERY     seconds, 30 without it
#
# The rate of a replica is that of all events and all processor time of its server: INSERTs, parts
# from the other replica, merges, starts after kills, but not the queries of this test at the end. It
# is compared with 500000 events for each second of a core. A lower rate is no failure, because it
# depends on the machine and on the kills.
# The limits of time at the end grow with the number of rows.
. "${0%/*}/../tools/lib.sh"

: "${HOSTS:=10}" "${SECONDS_:=60}" "${EVENTS:=100000}" "${SHIPPERS:=4}" "${SEED:=$$}" "${RATE:=0}" "${EVERY:=30}"
test "$RATE" -eq 0 || EVENTS=$((RATE * SECONDS_))
# A run of ls has up to 50000 events; an event and its merges need 64 bytes.
: "${DISK:=$((HOSTS * (2 * EVENTS + 50000) * 64 + (1 << 30)))}"
"$posixtrace" ship --help >/dev/null 2>&1 || skip "built without libcurl"
servers=$tmp/servers
mkdir "$servers" "$tmp/state" "$tmp/done"
. "${0%/*}/servers.sh"
has_clickhouse && has_zookeeper || skip "clickhouse-server and zookeeperd are needed"

# shippers: the processes of this test that ship.
shippers() { pgrep -f "ship --host host[0-9]* --state $tmp/state" || true; }

# is_child PID: a process that has ended may have left its number to a process of another program.
is_child() { test "$(ps -o ppid= -p "$1" 2>/dev/null | tr -d ' ')" = $$; }

workers=
feeder=
disk=
end_fleet() {
	is_script || return
	touch "$tmp/stop"
	for worker in $workers $feeder; do
		is_child "$worker" && kill "$worker" 2>/dev/null
	done
	for worker in $(shippers); do kill "$worker" 2>/dev/null; done
	stop_servers
	wait 2>/dev/null
	test -z "$disk" || umount "$disk" 2>/dev/null
	rm -rf "$tmp"
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

"$make_log" plain "$tmp/made.ptl" "$EVENTS" >/dev/null || exit 99
POSIXTRACE_PRELOAD=$(cd "${top_builddir:-..}/lib/.libs" && pwd)/libposixtrace-preload.so
export POSIXTRACE_PRELOAD
# events_of LOG...: the number of events.
events_of() { "$posixtrace" query --csv "$@" 'select sum(count) from stored' | sed 1d; }
record() { "$posixtrace" record -q -o "$tmp/real.ptl" -- ls -lR "$@" >/dev/null 2>&1 || rm -f "$tmp/real.ptl"; }
test "$RATE" -gt 0 || record /usr/include
if test -e "$tmp/real.ptl"; then
	once=$(events_of "$tmp/real.ptl")
	runs=$(((EVENTS + once / 2) / once))
	# shellcheck disable=SC2046 # a list of words
	test $runs -lt 2 || record $(yes /usr/include | head -n $runs)
fi
logs=$(ls "$tmp"/*.ptl)
# shellcheck disable=SC2086 # a list of words
events=$(events_of $logs)
echo "$HOSTS hosts with $events events each, $SECONDS_ s of $(test "$RATE" -gt 0 && echo growth || echo "kills, seed $SEED")"

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
			${BATCH:+--batch "$BATCH"} --timeout 10 --give-up 20 $logs >"$tmp/ship.$1" 2>>"$tmp/ship.err" &&
			touch "$tmp/done/$host"; do
			test ! -e "$tmp/stop" || return
			sleep 0.2
		done
		host=$((host + SHIPPERS))
	done
}

# follow: one shipper for each host, like the agents of a fleet. Logs and shippers begin spread over
# EVERY seconds, since hosts do not start together. A block of a log has 2048 events, and a reader
# sees them when the block is complete. This wait counts as a time that the database is behind.
follow() {
	mkdir "$tmp/grown"
	python3 "${0%/*}/grow.py" "$logs" "$tmp/grown" "$HOSTS" "$SECONDS_" "$EVERY" &
	feeder=$!
	until test -e "$tmp/grown/fed"; do sleep 0.1; done
	for host in $(seq "$HOSTS"); do
		"$posixtrace" ship --host "host$host" --state "$tmp/state" --to "$url" --replicated --follow \
			--every "${EVERY}s" ${BATCH:+--batch "$BATCH"} --timeout 60 "$tmp/grown/$host.ptl" \
			>/dev/null 2>>"$tmp/ship.err" && touch "$tmp/done/$host" &
		workers="$workers $!"
		sleep "$(echo "$EVERY $HOSTS" | awk '{ printf "%.3f", $1 / $2 }')"
	done
	# Only now does each host have a shipper.
	behind=0
	while kill -0 $feeder 2>/dev/null; do
		sleep 5
		fed=$(awk -v n="$((HOSTS * EVENTS))" '{ printf "%d", n * $1 }' "$tmp/grown/fed")
		rows=$(ask 1 "SELECT sum(rows) FROM system.parts WHERE active AND database = 'fleet' AND table = 'events_rows'")
		behind=$((fed - ${rows:-0} > behind ? fed - ${rows:-0} : behind))
	done
	grown=$(date +%s.%N)
	echo "while the logs grew, the first replica lacked $behind events at most, $((behind / HOSTS / RATE)) s of each host"
}
began=$(date +%s.%N)
if test "$RATE" -gt 0; then
	follow
else
	for worker in $(seq "$SHIPPERS"); do
		work "$worker" &
		workers="$workers $!"
	done
fi

# Kills until the time is over: every second or so one of six.
kills=0
end=$(($(date +%s) + (RATE > 0 ? 0 : SECONDS_)))
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
test "$RATE" -gt 0 || echo "$kills kills, $stale starts after a full disk, $(ls "$tmp/done" | wc -l) hosts complete then"
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
test "$RATE" -gt 0 || "$posixtrace" ship --host host1 --state "$tmp/state" --to "$url" --replicated $logs >/dev/null 2>>"$tmp/ship.err"
ended=$(date +%s.%N)
test "$RATE" -eq 0 || echo "the last event was shipped $(echo "$grown $ended" |
	awk '{ printf "%.0f", $2 - $1 }') s after the logs had ended"
check "all hosts are complete" test "$(ls "$tmp/done" | wc -l)" -eq "$HOSTS"

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
looks=0
until are_equal || test $looks -ge "${LOOKS:-$((300 + HOSTS * events / 500000))}"; do
	looks=$((looks + 1))
	sleep 1
done
equal_or_report() { are_equal || { report_difference; return 1; }; }
check "the replicas have equal parts and no work" equal_or_report
for number in 1 2; do
	note_used $number
	awk -v events=$((HOSTS * events)) -v hz="$(getconf CLK_TCK)" -v number=$number '{ used += $1 / hz } END {
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
ask_s=$((120 + HOSTS * events / 100000))
# shellcheck disable=SC2086 # a list of words
logs_of_host=$(echo $logs | wc -w)
for number in 1 2; do
	ask $number "$each_once" >"$tmp/out"
	echo "replica $number: $(cat "$tmp/out") (logs, events, wrong blocks, logs with gaps); $(
		ask $number "SELECT count() FROM fleet.voided") void attempts, $(
		ask $number "SELECT count() FROM fleet.events_rows WHERE row_attempt IN (SELECT attempt FROM fleet.voided)") of their rows"
	check "replica $number: none is missing, none is there twice" has out \
		"^$((HOSTS * logs_of_host))	$((HOSTS * events))	0	0\$"
	ask $number "SELECT count(), min(n), max(n) FROM (SELECT row_host, count() AS n FROM fleet.events_rows
		WHERE $counted GROUP BY row_host)" >"$tmp/out"
	check "replica $number: each host has all of its events" has out "^$HOSTS	$events	$events\$"
	run 0 query --csv --at "clickhouse://127.0.0.1:$(http_of $number)/fleet" "
		select count(distinct host), sum(abs(open)), sum(called) from (select host, pid, name,
			sum(case term when 'called' then count else -count end) open,
			sum(case term when 'called' then count else 0 end) called
		from (select host, pid, name, term, count from ledger where term <> 'reported'
			union all select host, pid, name, 'stored', count from stored) group by host, pid, name)"
	check "replica $number: the account of each host closes" has out "^$HOSTS,0,[1-9]"
	bytes=$(ask $number "SELECT sum(bytes) FROM system.parts WHERE active AND database = 'fleet' AND table = 'events_rows'")
	echo "replica $number: $bytes bytes of events_rows at rest"
done
echo "$began $ended" | awk -v events=$((HOSTS * events)) -v kills=$kills '{
	printf "%d events in %.1f s with %d kills, %.0f events/s\n", events, $2 - $1, kills, events / ($2 - $1) }'
finish
