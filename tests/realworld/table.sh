#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs against the ways to trace them: started under record, attached to while they run, their
# functions, their probes. Each cell is tried: the program does its work plain and traced, its
# output must be the same, and the log must be sound with an even account. A cell is
#
#	works       with the number of events
#	refused     with the reason that posixtrace gave; the program did its work all the same, or
#	            was not started
#	none        the program has no probes
#
# PTX_PROGRAMS="redis nginx" tries some of them, and installs nothing. The programs of servers.sh and
# daemons.sh are tried only if they are installed.
PACKAGES='postgresql /usr/lib/postgresql
mariadb-server mariadbd
nginx-light /usr/sbin/nginx
redis-server redis-server
redis-tools redis-cli
default-jdk-headless javac
nodejs node
python3 python3
golang-go go
busybox-static /bin/busybox
firefox-esr firefox-esr
curl curl'
test -z "$PTX_PROGRAMS" || PACKAGES=
. "${0%/*}/lib.sh"

PATH=/usr/sbin:/usr/bin:/bin # the programs of the distribution
chmod 1777 "$tmp"
unset TMPDIR # servers run as other users
as_postgres=
if test "$(id -u)" -eq 0; then
	as_postgres='setpriv --reuid=postgres --regid=postgres --clear-groups'
fi

# until_true COMMAND...: a minute at most.
until_true() {
	tries=600
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		test $tries -gt 0 || return 1
		sleep 0.1
	done
}

# Each program has these functions:
#
#	set_NAME            once: files; sets function= (a pattern with its module), binary= (where
#	                    the probes are), probe= (one that the work reaches), size= (of a stream);
#	                    without function= and binary= these ways are not tried; fails if the
#	                    program is not here
#	start_NAME PREFIX   a server in the background behind the prefix: its id in $server. Absent
#	                    if the program is no server
#	work_NAME PREFIX    prints results. A server is there already; other programs run behind the
#	                    prefix
#	stop_NAME           ends the server

set_postgres() {
	pg=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
	test -x "$pg/initdb" || return
	mkdir -p "$tmp/pg"
	test -z "$as_postgres" || chown postgres "$tmp/pg"
	(cd "$tmp/pg" && $as_postgres "$pg/initdb" -D "$tmp/pg/data" >/dev/null 2>&1) || return
	function=standard_ExecutorRun@postgres binary=$pg/postgres probe=postgresql:query__start
}
start_postgres() {
	# The tracer is of the same user: the plan of functions is not readable for others.
	(cd "$tmp/pg" && exec $as_postgres "$@" "$pg/postgres" -D "$tmp/pg/data" -k "$tmp/pg" \
		-c listen_addresses= >"$tmp/said" 2>&1) &
	server=$!
	until_true $as_postgres "$pg/pg_isready" -h "$tmp/pg"
}
work_postgres() {
	for i in 1 2 3 4 5; do
		$as_postgres "$pg/psql" -h "$tmp/pg" -At postgres -c "set client_min_messages = error;
			drop table if exists t;
			create table t as select i, i * i as q from generate_series(1, 5000) i;
			create index on t (q); select sum(q), count(*) from t where q % 3 = 0;
			set parallel_setup_cost = 0; set parallel_tuple_cost = 0;
			set min_parallel_table_scan_size = 0;
			select sum(a.q + b.q) from t a join t b on a.i + 1 = b.i" 2>&1
	done
}
stop_postgres() { $as_postgres "$pg/pg_ctl" -D "$tmp/pg/data" -m fast -s stop; }
pid_postgres() { head -n 1 "$tmp/pg/data/postmaster.pid"; }

set_mariadb() {
	command -v mariadbd >/dev/null || return
	mkdir -p "$tmp/my"
	user=
	test "$(id -u)" -ne 0 || { chown mysql "$tmp/my" && user=--user=mysql; }
	mariadb-install-db --no-defaults $user --datadir="$tmp/my/data" --auth-root-authentication-method=normal \
		>/dev/null 2>&1 || return
	function='*mysql_parse*@mariadbd' binary=$(command -v mariadbd) probe=
}
start_mariadb() {
	"$@" mariadbd --no-defaults $user --datadir="$tmp/my/data" --socket="$tmp/my/s" \
		--pid-file="$tmp/my/pid" --skip-networking >"$tmp/said" 2>&1 &
	server=$!
	until_true mariadb-admin -S "$tmp/my/s" -u root ping
}
work_mariadb() {
	mariadb -S "$tmp/my/s" -u root -N -e "create or replace database d; use d;
		create table t (i int primary key, q int); insert into t select seq, seq * seq from
		seq_1_to_5000; select sum(q), count(*) from t where q % 3 = 0" 2>&1
}
stop_mariadb() { mariadb-admin -S "$tmp/my/s" -u root shutdown; }
pid_mariadb() { cat "$tmp/my/pid"; }

set_nginx() {
	command -v nginx >/dev/null || return
	mkdir -p "$tmp/ng/www" "$tmp/ng/body"
	chmod 755 "$tmp/ng" "$tmp/ng/www"
	seq 5000 >"$tmp/ng/www/index.html"
	cat >"$tmp/ng/conf" <<END
daemon off; worker_processes 1; pid $tmp/ng/pid; error_log $tmp/ng/errors;
events { worker_connections 64; }
http {
	access_log off;
	client_body_temp_path $tmp/ng/body; proxy_temp_path $tmp/ng/body;
	fastcgi_temp_path $tmp/ng/body; uwsgi_temp_path $tmp/ng/body; scgi_temp_path $tmp/ng/body;
	server { listen unix:$tmp/ng/socket; root $tmp/ng/www; }
}
END
	function=ngx_http_process_request@nginx binary=$(command -v nginx) probe=
}
start_nginx() {
	rm -f "$tmp/ng/socket"
	"$@" nginx -p "$tmp/ng" -c "$tmp/ng/conf" >"$tmp/said" 2>&1 &
	server=$!
	until_true curl -s --unix-socket "$tmp/ng/socket" http://x/
}
work_nginx() {
	for i in $(seq 30); do
		curl -s --unix-socket "$tmp/ng/socket" http://x/
	done | cksum
}
stop_nginx() { kill -QUIT "$(cat "$tmp/ng/pid")"; }
# The worker, which answers.
pid_nginx() { ps -o pid= --ppid "$(cat "$tmp/ng/pid")" | head -n 1 | tr -d ' '; }

set_redis() {
	command -v redis-server >/dev/null || return
	function=processCommand@redis* binary=$(command -v redis-server) probe=
}
start_redis() {
	"$@" redis-server --port 0 --unixsocket "$tmp/redis" --save '' --dir "$tmp" >"$tmp/said" 2>&1 &
	server=$!
	until_true redis-cli -s "$tmp/redis" ping
}
work_redis() {
	for i in $(seq 300); do
		echo "set key:$i $i"
		echo "incrby key:$i 7"
		echo "get key:$i"
	done | redis-cli -s "$tmp/redis" | cksum
}
stop_redis() { redis-cli -s "$tmp/redis" shutdown nosave; }
pid_redis() { redis-cli -s "$tmp/redis" info server | sed -n 's/^process_id:\([0-9]*\).*/\1/p'; }

# A program that reads lines and answers; its input is a pipe, its output a file.
begin_filter() {
	rm -f "$tmp/in" "$tmp/answers" # answers of an earlier life must not count
	mkfifo "$tmp/in"
	"$@" <"$tmp/in" >"$tmp/answers" 2>"$tmp/said" &
	server=$!
	exec 7>"$tmp/in"
	echo 1 >&7
	until_true test -s "$tmp/answers"
}
work_filter() {
	before=$(wc -l <"$tmp/answers")
	seq 2 300 >&7
	until_true enough_answers
	tail -n 299 "$tmp/answers" | cksum
}
enough_answers() { test "$(wc -l <"$tmp/answers")" -ge $((before + 299)); }
stop_filter() { exec 7>&-; }
# The last process of the command, which is in front of no other one.
pid_filter() { newest "$server"; }
newest() {
	for child in $(ps -o pid= --ppid "$1"); do
		newest "$child"
		return
	done
	echo "$1"
}

set_java() {
	command -v javac >/dev/null || return
	mkdir -p "$tmp/java"
	cat >"$tmp/java/Answer.java" <<'END'
import java.io.*;
public class Answer {
	public static void main(String[] a) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		for (String l; (l = in.readLine()) != null; System.out.flush()) {
			StringBuilder b = new StringBuilder();
			for (int i = 0; i < 100; i++) b.append(Integer.parseInt(l) * i);
			System.out.println(b.toString().hashCode());
		}
	}
}
END
	(cd "$tmp/java" && javac Answer.java) || return
	jvm=$(find "$(dirname "$(readlink -f "$(command -v java)")")/.." -name libjvm.so | head -n 1)
	function=JVM_FindLoadedClass@$jvm binary=$jvm probe=hotspot:class__loaded@$jvm
}
start_java() { begin_filter "$@" java -Xshare:auto -cp "$tmp/java" Answer; }

set_node() {
	command -v node >/dev/null || return
	cat >"$tmp/answer.js" <<'END'
require('readline').createInterface({ input: process.stdin }).on('line', l => {
	require('fs').statSync(__filename);
	let s = 0; for (let i = 0; i < 1000; i++) s += l * i; console.log(s); });
END
	function=uv_fs_stat@* binary=$(command -v node) probe=
}
start_node() { begin_filter "$@" node "$tmp/answer.js"; }

set_python() {
	command -v python3 >/dev/null || return
	cat >"$tmp/answer.py" <<'END'
import sys, json
for line in iter(sys.stdin.readline, ""):
    try:
        json.loads("{")
    except ValueError:
        print(sum(int(line) * i for i in range(1000)), flush=True)
END
	function=PyObject_GetIter@* binary=$(readlink -f "$(command -v python3)") probe=python:audit
}
start_python() { begin_filter "$@" python3 -S "$tmp/answer.py"; }

set_go() {
	command -v go >/dev/null || return
	mkdir -p "$tmp/go"
	cat >"$tmp/go/main.go" <<'END'
package main

import ("bufio"; "fmt"; "net"; "os"; "strconv"; "strings")

func answer(c net.Conn) {
	n, _ := bufio.NewReader(c).ReadString('\n')
	v, _ := strconv.Atoi(strings.TrimSpace(n))
	fmt.Fprintln(c, v*v)
	c.Close()
}

func main() {
	l, err := net.Listen("unix", os.Args[1])
	if err != nil { panic(err) }
	go func() {
		for { c, err := l.Accept(); if err != nil { return }; go answer(c) }
	}()
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil { return }
		c, err := net.Dial("unix", os.Args[1])
		if err != nil { panic(err) }
		fmt.Fprint(c, line)
		a, _ := bufio.NewReader(c).ReadString('\n')
		fmt.Print(a)
	}
}
END
	(cd "$tmp/go" && GOCACHE=$tmp/go/cache GOFLAGS=-p=1 CGO_ENABLED=0 go build -o server main.go) || return
	function=main.answer@server binary=$tmp/go/server probe=
}
start_go() {
	rm -f "$tmp/go/socket"
	begin_filter "$@" "$tmp/go/server" "$tmp/go/socket"
}

. "$here/servers.sh"
. "$here/daemons.sh"

set_busybox() {
	test -x /bin/busybox || return
	function=+*@busybox binary=/bin/busybox probe= # it has no symbols
}
start_busybox() {
	begin_filter "$@" /bin/busybox sh -c 'while read -r n; do test -e /nonexist; echo $((n * n)); done'
}

set_firefox() {
	command -v firefox-esr >/dev/null || return
	mkdir -p "$tmp/ff"
	echo '<html><body style="background:#3060a0"><h1>A page</h1></body></html>' >"$tmp/ff/page.html"
	function=PR_Lock@$(dirname "$(readlink -f "$(command -v firefox-esr)")")/libnspr4.so
	binary=/usr/lib/firefox-esr/libxul.so probe=
}
# No server: the picture of a page. Attachment is tried with a browser that stays.
run_firefox() {
	rm -rf "$tmp/ff/profile" "$tmp/ff/picture.png"
	mkdir "$tmp/ff/profile"
	HOME=$tmp/ff "$@" timeout -k 5 300 firefox-esr --headless --no-remote --profile "$tmp/ff/profile" \
		--window-size=400,300 --screenshot "$tmp/ff/picture.png" "file://$tmp/ff/page.html" \
		>"$tmp/said" 2>&1 || return
	cksum <"$tmp/ff/picture.png"
}
start_firefox() {
	rm -rf "$tmp/ff/profile"
	mkdir "$tmp/ff/profile"
	HOME=$tmp/ff firefox-esr --headless --no-remote --profile "$tmp/ff/profile" \
		"file://$tmp/ff/page.html" >"$tmp/said" 2>&1 &
	server=$!
	sleep 8
}
work_firefox() { sleep 1; kill -0 "$server" && echo alive; }
stop_firefox() { kill "$server"; }
pid_firefox() { echo "$server"; }

# of NAME VERB ARGUMENT...: the function of the program, or that of filters.
of() {
	name=$1 verb=$2
	shift 2
	if command -v "${verb}_$name" >/dev/null; then
		"${verb}_$name" "$@"
	else
		"${verb}_filter" "$@"
	fi
}

# life NAME PREFIX...: start, work, end. Prints the results.
life() {
	program=$1
	shift
	if test "$program" = firefox; then
		run_firefox "$@"
		return
	fi
	of "$program" start "$@"
	children="$children $server"
	of "$program" work
	of "$program" stop
	wait $server
}

# The account of $log: called = reported + unread + lost; sets events.
is_even() {
	account=$("$posixtrace" verify "$log" 2>&1 |
		sed -n 's/.*called \([0-9]*\) = reported \([0-9]*\) + unread \([0-9]*\) + lost \([0-9]*\).*/\1 \2 \3 \4/p')
	# shellcheck disable=SC2086
	set -- $account
	test $# -eq 4 && test "$1" -eq $(($2 + $3 + $4)) && is_sound
}

reason() { grep '^posixtrace' "$tmp/said" "$tmp/err" 2>/dev/null | grep -v 'by kernel tracing:' | sed 's/.*posixtrace: //' | head -n 1 | cut -c 1-110; }

# cell PROGRAM WAY RESULT: a line of the table.
cell() { printf 'RESULT %-9s %-10s %s\n' "$1" "$2" "$3"; }

# try PROGRAM WAY EVENTS OPTION...: a life under record with these options; the cell works if there
# are events that match EVENTS.
try() {
	each=$1 way=$2 pattern=$3
	shift 3
	rm -f "$log"
	life "$each" "$posixtrace" record -o "$log" -s "$size" "$@" -- >"$tmp/out.traced" 2>"$tmp/err"
	why=$(reason)
	if ! test -e "$log"; then
		check "$each, $way: a refusal has a reason" test -n "$why"
		cell "$each" "$way" "refused: $why"
		return
	fi
	check "$each, $way: the output is the same" cmp "$tmp/out.plain" "$tmp/out.traced"
	check "$each, $way: the account is even" is_even
	found=$(matching "$pattern")
	if test "$found" -eq 0 && "$posixtrace" dump --system -e posixtrace_shim_patched "$log" |
		grep -q 'patched=0 refused=0 why=""'; then
		cell "$each" "$way" "refused: the file is loaded after the program has begun"
	elif test "$found" -eq 0; then
		check "$each, $way: without events there is a reason" test -n "$why"
		cell "$each" "$way" "refused: $why"
	else
		cell "$each" "$way" "works: $found events"
	fi
}

# matching PATTERNS: the number of events in the log whose names match one of them.
matching() (
	set -f
	# shellcheck disable=SC2086
	set -- $1
	"$posixtrace" dump $(printf -- '-e %s ' "$@") "$log" 2>/dev/null | wc -l
)

try_attach() {
	each=$1
	rm -f "$log"
	of "$each" start
	children="$children $server"
	target=$(of "$each" pid)
	check "$each: it has a process" test -n "$target"
	"$posixtrace" attach -p "$target" -o "$log" -s "$size" -d 3s >"$tmp/err" 2>&1 &
	tracer=$!
	sleep 1
	of "$each" work >"$tmp/out.traced"
	wait $tracer
	got=$?
	test "$each" = firefox && echo alive >"$tmp/out.plain"
	check "$each, attached: the output is the same" cmp "$tmp/out.plain" "$tmp/out.traced"
	of "$each" work >"$tmp/out.traced"
	check "$each, attached: the output is the same after the attachment" cmp "$tmp/out.plain" "$tmp/out.traced"
	of "$each" stop
	wait $server
	if test $got -ne 0; then
		why=$(sed -n 's/^posixtrace: //p' "$tmp/err" | head -n 1 | cut -c 1-110)
		check "$each, attached: a refusal has a reason" test -n "$why"
		cell "$each" attached "refused: $why"
		return
	fi
	check "$each, attached: the account is even" is_even
	check "$each, attached: it has events" test "$(count_of '*')" -gt 0
	cell "$each" attached "works: $(count_of '*') events"
}

try_probes() {
	each=$1
	"$posixtrace" list --probes "$binary" >"$tmp/probes" 2>&1
	has=$(grep -c '^probe ' "$tmp/probes")
	if test "$has" -eq 0; then
		cell "$each" probes "none: $(basename "$binary") has no probes"
	elif "$posixtrace" record --help | grep -q -e '--probe '; then
		try "$each" probes "${probe%@*}" --trace default,-io,-file,-net --probe "$probe"
	else
		cell "$each" probes "listed: $has probes"
	fi
}

servers="sshd memcached haproxy varnish squid mosquitto vsftpd named dnsmasq rsyslog dbus phpfpm"
daemons="exim proftpd dovecot slapd rsyncd lighttpd apache gunicorn uwsgi nsd unbound gitd smbd"
for each in ${PTX_PROGRAMS:-postgres mariadb nginx redis java node python go busybox firefox \
	$servers $daemons perl ruby tmux sudo}; do
	function= binary= probe= size=16M
	if ! set_"$each"; then
		echo "SKIP: $each is not here"
		continue
	fi
	life "$each" >"$tmp/out.plain" 2>"$tmp/err"
	check "$each: it works without a tracer" test -s "$tmp/out.plain"
	try "$each" started 'io.* file.* net.* lock.* time.*'
	test -z "$function" || try "$each" functions 'func.call' --function "$function"
	test -z "$binary" || try_probes "$each"
	try_attach "$each"
done
finish
