#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# nginx under wrk: its responses, its speed, and the number of connections that it accepts.
PACKAGES='nginx-light /usr/sbin/nginx
wrk wrk
curl curl'
. "${0%/*}/lib.sh"

PATH=$PATH:/usr/sbin
port=$((20000 + $$ % 20000))
mkdir -p "$tmp/www" "$tmp/body"
chmod 755 "$tmp" "$tmp/www"
seq 2000 >"$tmp/www/index.html"
cat >"$tmp/nginx.conf" <<END
daemon off;
worker_processes 2;
pid $tmp/nginx.pid;
error_log $tmp/error.log;
events { worker_connections 256; }
http {
	access_log off;
	client_body_temp_path $tmp/body;
	proxy_temp_path $tmp/body;
	fastcgi_temp_path $tmp/body;
	uwsgi_temp_path $tmp/body;
	scgi_temp_path $tmp/body;
	server {
		listen 127.0.0.1:$port;
		root $tmp/www;
		location /status { stub_status; }
	}
}
END
url=http://127.0.0.1:$port
# The cost is the time of a request.
work() {
	"$@" nginx -c "$tmp/nginx.conf" -p "$tmp" &
	server=$!
	children="$children $server"
	soon curl -s "$url/" >/dev/null || return 99
	wrk -t2 -c32 -d"${PTX_SECONDS:-3}s" "$url/" >"$tmp/wrk.$kind"
	awk '/^Requests\/sec:/ { printf "%.0f\n", 1e9 / $2 }' "$tmp/wrk.$kind" >"$tmp/cost.$kind"
	curl -s "$url/"
	curl -s "$url/status" >"$tmp/status.page"
	kill -QUIT "$(cat "$tmp/nginx.pid")"
	wait $server
}
compare
accepts=$(awk '/server accepts/ { getline; print $1 }' "$tmp/status.page")
logged=$("$posixtrace" dump --json -e net.accept "$log" | grep -c '"accepted":[0-9]')
echo "nginx: $logged accepted, the server says $accepts"
check "as many connections are in the log as the server accepted" test "$logged" -eq "$accepts"
check "wrk had no errors" test "$(grep -c -e 'Socket errors' -e 'Non-2xx' "$tmp/wrk.traced")" -eq 0
check "its workers are in the log" test "$(count_of process.child)" -eq 2
finish
