#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# nginx has one worker, which compresses each response, and many clients: posixtrace why says that
# requests waited because this worker was busy in the library that compresses.
PACKAGES='nginx-light /usr/sbin/nginx
apache2-utils ab'
. "${0%/*}/lib.sh"

PATH=$PATH:/usr/sbin
port=$((20000 + $$ % 20000))
url=http://127.0.0.1:$port/page.txt
mkdir -p "$tmp/www" "$tmp/body"
chmod 755 "$tmp" "$tmp/www"
awk 'BEGIN {
	srand(1)
	for (i = 0; i < 150000; i++) printf "%d %c%c ", rand() * 5000, 97 + rand() * 26, 97 + rand() * 26
}' >"$tmp/www/page.txt"
cat >"$tmp/nginx.conf" <<END
daemon off;
worker_processes 1;
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
	gzip on;
	gzip_types *;
	gzip_http_version 1.0;
	gzip_comp_level 9;
	server {
		listen 127.0.0.1:$port;
		root $tmp/www;
	}
}
END
nginx -c "$tmp/nginx.conf" -p "$tmp" &
server=$!
children="$children $server"
soon ab -n 1 "$url" >/dev/null 2>&1
worker=$(cat /proc/$server/task/*/children)
worker=${worker%% *}
has_priority $worker

attaches --sched --sample 999 --sample-stack -p $worker
ab -n "${PTX_REQUESTS:-60}" -c 20 -H 'Accept-Encoding: gzip' "$url" >"$tmp/ab" 2>&1
kill -INT $tracer
wait $tracer
kill -QUIT $server
wait $server
cat "$tmp/attached"

check "the log is sound" is_sound
"$posixtrace" why "$log" >"$tmp/why" 2>"$tmp/messages"
cat "$tmp/why"
check "requests waited for the worker" grep -q '^Requests waited: .* was busy for ' "$tmp/why"
check "the cause is the library that compresses" sh -c "sed -n 2p '$tmp/why' | grep -q '^Cause: .*running deflate and what it calls'"
check "no other worker could help" grep -q '^Load: .*No other thread accepts connections' "$tmp/why"
finish
