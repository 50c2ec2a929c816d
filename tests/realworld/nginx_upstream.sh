#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# nginx passes requests to an upstream that sleeps 300 ms for each: posixtrace why says that requests waited
# for the answer of this upstream, and that the upstream slept.
PACKAGES='nginx-light /usr/sbin/nginx
python3-minimal /usr/bin/python3'
. "${0%/*}/lib.sh"

port=$((20000 + $$ % 20000))
upstream=$((port + 1))
mkdir -p "$tmp/body"
chmod 755 "$tmp"
cat >"$tmp/upstream.py" <<'END'
import http.server, sys, time

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.3)
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"slow\n")

    def log_message(self, *args):
        pass

http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
END
cat >"$tmp/get.py" <<'END'
import sys, time, urllib.request

for number in range(int(sys.argv[2])):
    for again in range(200):
        try:
            answer = urllib.request.urlopen("http://127.0.0.1:%s/" % sys.argv[1]).read()
            break
        except OSError:
            time.sleep(0.05)
    print(number, answer.decode(), end="")
END
cat >"$tmp/nginx.conf" <<END
daemon off;
worker_processes 1;
pid $tmp/nginx.pid;
error_log $tmp/error.log;
events { worker_connections 64; }
http {
	access_log off;
	client_body_temp_path $tmp/body;
	proxy_temp_path $tmp/body;
	fastcgi_temp_path $tmp/body;
	uwsgi_temp_path $tmp/body;
	scgi_temp_path $tmp/body;
	server {
		listen 127.0.0.1:$port;
		location / { proxy_pass http://127.0.0.1:$upstream; }
	}
}
END
cat >"$tmp/all" <<END
/usr/bin/python3 upstream.py $upstream & upstream=\$!
/usr/sbin/nginx -c $tmp/nginx.conf -p $tmp & nginx=\$!
/usr/bin/python3 get.py $port ${PTX_REQUESTS:-5}
kill -QUIT \$nginx; wait \$nginx
kill \$upstream; wait \$upstream
exit 0
END

"$posixtrace" record --sched -o "$log" -- sh "$tmp/all" >"$tmp/answers" 2>"$tmp/recorded"
cat "$tmp/recorded"
check "the requests are answered" test "$(grep -c slow "$tmp/answers")" -eq "${PTX_REQUESTS:-5}"
check "the log is sound" is_sound
"$posixtrace" why "$log" >"$tmp/why" 2>"$tmp/messages"
cat "$tmp/why"
check "requests waited for the upstream" grep -q "^Requests waited: .*nginx.* waited .* for the answer of 127.0.0.1:$upstream" "$tmp/why"
check "the cause is that the upstream slept" sh -c "sed -n 2p '$tmp/why' | grep -q '^Cause: .*sleeping'"
check "the chain leads through nginx to the upstream" sh -c "sed -n 3p '$tmp/why' | grep -q '^Chain: .*nginx.* -> .*epoll.* -> .*python3.* -> sleeping'"
finish
