#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The calls of twelve programs: strace -f -k and posixtrace record see the same run, and calls.py
# compares them for each thread. A call that went through a wrapped function of the C library must
# be in the log, in the same order and with the same error. The table has the calls of the families
# file, io, net, process and time, by the way that they went: calls.py describes the classes.
PACKAGES='strace strace
python3 python3'
. "${0%/*}/lib.sh"

nm -D --defined-only "$POSIXTRACE_PRELOAD" >"$tmp/wrapped"
strace -k -o "$tmp/none" true 2>/dev/null || {
	echo "SKIP: strace cannot print stacks here"
	finish
}

# beside NAME COMMAND...: in a new copy of the folder start.
mkdir "$tmp/start"
beside() {
	program=$1
	shift
	command -v "$1" >/dev/null || { echo "SKIP: $program: $1 is not installed"; return; }
	rm -rf "$tmp/run" "$log" "$tmp/calls"
	cp -r "$tmp/start" "$tmp/run"
	cd "$tmp/run" || exit 99
	libraries=$LD_LIBRARY_PATH
	(unset LD_LIBRARY_PATH; exec strace -f -k -E LD_LIBRARY_PATH="$libraries" -o "$tmp/calls" \
		"$posixtrace" record -q --wait -o "$log" -s 16M -- "$@") >"$tmp/said" 2>&1 </dev/null
	cd "$tmp" || exit 99
	"$posixtrace" dump --json --system "$log" >"$tmp/events"
	python3 "$here/calls.py" "$program" "$tmp/calls" "$tmp/events" "$tmp/wrapped" >"$tmp/compared"
	status=$?
	check "$program: each call through a wrapped function is in the log, in the same order" \
		test "$status" -eq 0
	check "$program: calls were compared" \
		test "$(sed -n 's/^CALLS *[^ ]* *[0-9]* *\([0-9]*\).*/\1/p' "$tmp/compared")" -gt 0
	cat "$tmp/compared" >>"$tmp/table"
	test $status -eq 0 || cat "$tmp/compared"
}

cd "$tmp/start" || exit 99
echo 'int main(void) { return 0; }' >a.c
printf 'for f in /nonexist/1 /nonexist/2; do test -e $f || cat $f; done; ls -l a.c\n' >script
if command -v git >/dev/null; then
	git init -q repo && echo text >repo/file && git -C repo add file &&
		git -C repo -c user.name=n -c user.email=e commit -q -m m
fi
mkdir logs
cat >nginx.conf <<EOF
worker_processes 1;
error_log logs/error.log;
pid nginx.pid;
events { worker_connections 16; }
http { access_log off; server { listen unix:$tmp/run/nginx.socket; } }
EOF
cd "$tmp" || exit 99

beside ls ls /nonexist
beside gcc gcc -c a.c
beside git git clone repo copy
beside python /usr/bin/python3 -S -c 'import json'
beside sqlite sqlite3 data.db 'CREATE TABLE t(x); INSERT INTO t VALUES(1); SELECT * FROM t;'
beside tar tar cf a.tar a.c nofile
beside rsync rsync -a a.c nofile target/
beside bash bash script
PATH=$PATH:/usr/sbin
command -v nginx >/dev/null &&
	beside nginx sh -c 'nginx -p "$PWD" -c nginx.conf -g "daemon off;" & sleep 3; kill -QUIT $!; wait'

# A server of PostgreSQL outside of the recording.
server=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
if command -v pgbench >/dev/null && test -n "$server" && id postgres >/dev/null 2>&1; then
	mkdir "$tmp/pg" && chown postgres "$tmp/pg" && chmod 711 "$tmp"
	as() { su postgres -s /bin/sh -c "$1" >/dev/null 2>&1 </dev/null; }
	if as "$server/initdb -A trust -D $tmp/pg/data" &&
		as "$server/pg_ctl -w -D $tmp/pg/data -l $tmp/pg/log -o '-k $tmp/pg -h \"\"' start"; then
		as "pgbench -h $tmp/pg -i -s 1 postgres"
		beside pgbench pgbench -h "$tmp/pg" -U postgres -n -c 2 -j 2 -t 3 postgres
		as "$server/pg_ctl -D $tmp/pg/data -m immediate stop"
	else
		echo "SKIP: pgbench: no server"
	fi
fi

# A server on a port that the kernel chooses, outside of the recording.
if command -v curl >/dev/null; then
	python3 -u -c '
import http.server
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(server.server_port, flush=True)
server.serve_forever()' >"$tmp/port" 2>/dev/null </dev/null &
	children="$children $!"
	until test -s "$tmp/port"; do sleep 0.1; done
	beside curl curl -s "http://127.0.0.1:$(cat "$tmp/port")/start/"
fi
beside crash sh -c 'cat nofile; kill -SEGV $$'

echo "RESULT                    strace  wrapper     log  inside  loader  direct unknown"
sed -n 's/^CALLS/RESULT  /p' "$tmp/table"
grep -v '^CALLS' "$tmp/table"
finish
