#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# dump, latency, diff, html and why read logs of a server of ClickHouse by --at as they read files.
. "${0%/*}/lib.sh"

"$posixtrace" ship --help >/dev/null 2>&1 || skip "built without libcurl"
servers=$tmp/servers
mkdir "$servers"
. "${0%/*}/../fleet/servers.sh"
. "${0%/*}/at_same.sh"
has_clickhouse || skip "there is no clickhouse-server"
command -v curl >/dev/null || skip "there is no curl"
trap 'stop_servers; rm -rf "$tmp"' 0
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

run 1 dump --at "${url}_none" plain.ptl
check "the reason of the server" has err 'status 404\|status 500: Code: 81'
run 1 dump --at "$url" --host web9
kill_server clickhouse-1
run 1 dump --at "$url" plain.ptl
check "there is no server" has err 'http://127.0.0.1:[0-9]*/: SELECT .*onnect'
finish
