#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# redis-server under redis-benchmark: the log's counts are those of the server and of the benchmark.
PACKAGES='redis-server redis-server
redis-tools redis-benchmark'
. "${0%/*}/lib.sh"

requests=${PTX_REQUESTS:-100000}
socket=$tmp/redis.sock
cli() { redis-cli -s "$socket" "$@"; }
is_up() { cli ping 2>/dev/null | grep -q PONG; }

# The server's life. The cost is the time of the benchmark; the server's own figures remain in
# $tmp/info.
work() {
	"$@" redis-server --port 0 --unixsocket "$socket" --save '' --appendonly no --io-threads 1 \
		--dir "$tmp" --logfile "$tmp/redis.log" &
	server=$!
	children="$children $server"
	soon is_up || return 99
	begin_ns=$(now)
	redis-benchmark -s "$socket" -t set,get -n "$requests" -c 50 -r 1000 --csv >"$tmp/benchmark.$kind"
	echo $(($(now) - begin_ns)) >"$tmp/cost.$kind"
	cli dbsize
	cli info stats | tr -d '\r' >"$tmp/info"
	cli shutdown nosave
	wait $server
}
compare

value() { sed -n "s/^$1://p" "$tmp/info"; }
# The server's figures are older than the end: the connection of shutdown and the commands info and
# shutdown follow.
connections=$(($(value total_connections_received) + 1))
"$posixtrace" dump --json "$log" >"$tmp/events"
accepted() { grep '"event":"net.accept"' "$tmp/events" | grep '"accepted":[0-9]'; }
check "as many connections are in the log as the server accepted" test "$(accepted | wc -l)" -eq $connections
echo "redis: $(accepted | wc -l) accepted, the server says $connections"

# A command that is not pipelined is one read of a descriptor that accept() returned.
awk '
	# Labels of fields precede the fields and have the same keys.
	function number(key,   fields, at) {
		fields = substr($0, index($0, "\"fields\":"))
		at = index(fields, "\"" key "\":")
		if (!at) return -1
		at += length(key) + 3
		return substr(fields, at + (substr(fields, at, 1) == "\"")) + 0 # of 64 bits: in quotes
	}
	/"event":"net.accept"/ { if (number("accepted") >= 0) client[number("accepted")] = 1 }
	/"event":"io.close"/ { delete client[number("fd")] }
	/"event":"(io.read|net.recv)"/ { if (number("fd") in client && number("result") > 0) reads++ }
	END { print reads + 0 }' "$tmp/events" >"$tmp/reads"
commands=$(($(value total_commands_processed) + 2))
echo "redis: $(cat "$tmp/reads") reads of clients, the server processed $commands commands," \
	"the benchmark sent 2 * $requests"
# The benchmark begins with two commands, CONFIG GET, that it writes at once.
check "as many reads as commands" test "$(cat "$tmp/reads")" -eq $((commands - 1))
check "the benchmark's own are among them" test $((commands - 2 * requests)) -ge 0
check "the log has only few other commands" test $((commands - 2 * requests)) -le 50
finish
