#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# dump, latency, diff, html and why read logs of a server of ClickHouse by --at as they read files.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"
compose=${top_builddir:-..}/tests/tools/compose

"$posixtrace" ship --help >/dev/null 2>&1 || skip "built without libcurl"
servers=$tmp/servers
mkdir "$servers"
. "${0%/*}/../fleet/servers.sh"
. "${0%/*}/at_same.sh"
has_clickhouse || skip "there is no clickhouse-server"
command -v curl >/dev/null || skip "there is no curl"
trap 'is_script && { stop_servers; rm -rf "$tmp"; }' 0
start_clickhouse 1
wait_clickhouse 1 || { cat "$servers/clickhouse-1/out"; exit 99; }
url=clickhouse://127.0.0.1:$(http_of 1)/fleet

make_logs
for log in $logs; do
	run 0 ship --state "$tmp/state" --to "$url" --host web1 --batch 1000 "$tmp/$log.ptl"
done
same_answers
run 0 dump "$tmp/plain.ptl" "$tmp/strange.ptl"
sed "s|==> |==> web1:|" "$tmp/out" >"$tmp/of_file"
run 0 dump --at "$url" --host web1 plain.ptl strange.ptl
check "several logs" diff "$tmp/of_file" "$tmp/out"
run 0 ship --state "$tmp/state" --to "$url" --host web2 "$tmp/strange.ptl"
run 0 html --at "$url" -o "$tmp/page.html" strange.ptl
check "a page of two hosts" has page.html 'web2'

# A log of more than one request of events.
"$make_log" plain "$tmp/large.ptl" 200000 >/dev/null || exit 99
run 0 ship --state "$tmp/state" --to "$url" --host web1 "$tmp/large.ptl"
same 0 dump large --raw

# Real calls, with stacks and names of functions.
POSIXTRACE_PRELOAD=$(cd "${top_builddir:-..}/lib/.libs" && pwd)/libposixtrace-preload.so
export POSIXTRACE_PRELOAD
if "$posixtrace" record -q -o "$tmp/real.ptl" -- ls -l / >/dev/null 2>&1; then
	run 0 ship --state "$tmp/state" --to "$url" --host web1 "$tmp/real.ptl"
	same 0 dump real
	same 0 dump real -e 'io.*'
	same 0 latency real
fi

# SQL on tables without some of their rows. The table streams has the sums.
sql() { curl -sS "http://127.0.0.1:$(http_of 1)/" --data-binary "$1"; }
is_changed() { test "$(sql 'SELECT count() FROM system.mutations WHERE is_done = 0')" = 0; }
# delete_rows TABLE CONDITION: the tables share other_rows, where each has a number.
types=101 losses=103 ledger=107
delete_rows() {
	sql "ALTER TABLE fleet.other_rows DELETE WHERE row_table = $1 AND $2" && until_true is_changed
}
called="select count(*) from ledger where term = 'called'"
# Losses of unknown type, which an older version has sent in the ledger only.
printf '%s\n' 'type tick u32 n' 'tick 7 7 1s 5' 'lost tick 3' 'lost - 4' | "$compose" "$tmp/odd.ptl" || exit 99
run 0 ship --state "$tmp/state" --to "$url" --host web1 "$tmp/odd.ptl"
lost="select sum(lost) from losses where log = '$tmp/odd.ptl'"
run 0 query --csv --at "$url" "$lost"
check "losses of unknown type have rows" has out '^7$'
check "losses of unknown type cause no message" is_empty err
run 0 query --at "$url" "$called"
check "query of a whole ledger: no warning" is_empty err
delete_rows $losses "row_strings[1] = ''"
run 0 query --csv --at "$url" "$lost"
check "an older version has sent none" has out '^3$'
check "the missing losses of an older version are reported" has err 'the table losses lacks [0-9]* lost events* of unknown type, because an older version of ship has sent [0-9]* logs*; the table ledger has these events'
delete_rows $losses 1
run 3 query --at "$url" "$lost"
check "query, no losses: a warning" has err 'the table losses of the database lacks rows'
check "query, no losses: the other table" has err 'the table ledger has lost events of unknown type, with the empty name'
lacks_called='the table ledger of the database lacks rows of [1-9][0-9]* logs*: [1-9][0-9]* of the events that are called in the table streams: try again'
delete_rows $ledger "row_strings[2] = 'tick'"
run 3 query --at "$url" "$called"
check "query, a ledger without a type: a warning" has err "$lacks_called"
delete_rows $ledger 1
run 3 query --at "$url" "$called"
check "query, no ledger: a warning" has err "$lacks_called"
delete_rows $types 1
run 3 query --at "$url" "select name from types"
check "query, no types: a warning" has err 'the table types of the database lacks rows'

run 1 dump --at "${url}_none" plain.ptl
check "the reason of the server" has err 'status 404\|status 500: Code: 81'
run 1 dump --at "$url" --host web9
kill_server clickhouse-1
run 1 dump --at "$url" plain.ptl
check "there is no server" has err 'http://127.0.0.1:[0-9]*/: SELECT .*onnect'
finish
