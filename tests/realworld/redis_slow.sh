#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A command of redis takes long, and other clients wait: posixtrace why names the function of the
# command in its first two lines.
PACKAGES='redis-server redis-server
redis-tools redis-benchmark'
. "${0%/*}/lib.sh"

socket=$tmp/redis.sock
cli() { redis-cli -s "$socket" "$@"; }
redis-server --port 0 --unixsocket "$socket" --save '' --dir "$tmp" >"$tmp/server" 2>&1 &
server=$!
children="$children $server"
answers() { cli ping 2>/dev/null | grep -q PONG; }
soon answers
cli eval "for i = 1, ${PTX_KEYS:-1000000} do redis.call('set', 'key:' .. i, i) end" 0
has_priority $server

attaches --sched --sample 999 --sample-stack -p $server
redis-benchmark -s "$socket" -c 20 -n 100000000 -t get -q >"$tmp/benchmark" &
clients=$!
children="$children $clients"
are_served() { test "$(cli info commandstats | sed -n 's/^cmdstat_get:calls=\([0-9]*\).*/\1/p')" -gt 1000; }
soon are_served
# On a loaded machine the clients may not run during one command.
for round in 1 2 3 4 5; do
	cli keys "no*such*key$round" >/dev/null
	sleep 0.1
done
kill $clients
wait $clients
kill -INT $tracer
wait $tracer
cli shutdown nosave
cat "$tmp/attached"

check "the log is sound" is_sound
"$posixtrace" why "$log" >"$tmp/why" 2>"$tmp/messages"
cat "$tmp/why"
check "requests waited for a turn" grep -q '^Requests waited: .* was busy for .*; then input was ready on ' "$tmp/why"
check "the cause is the function of the command" sh -c "sed -n 2p '$tmp/why' | grep -q '^Cause: .*keysCommand'"
finish
