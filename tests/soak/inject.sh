#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# make soak-inject: the preload library is loaded into busy programs, attached and detached
# repeatedly. Each program checks its own results, and must end as without it.
#
# PTX_SOAK_CYCLES  cycles for each program, 10000 by default
# PTX_PROGRAMS     load redis nginx postgres python java node firefox static go, or some of them;
#                  those that are not installed are left out. static and go are programs that the
#                  library cannot enter: functions of them are recorded by breakpoints of the kernel,
#                  which needs tracefs: as root, unshare -m and mount -t tracefs.
# PTX_SOAK_SECONDS a program is left after this time, also with fewer cycles; none by default
# PTX_KILLS        each cycle of this number is ended by SIGKILL at a random moment; 10 by default
#
# Each program has a line: cycles, refusals ("no safe place"), kills, events, and whether its results
# were right. The account of each log must be right.
. "${top_srcdir:-${0%/*}/../..}/tests/tools/lib.sh"
. "$top_srcdir/tests/tools/targets.sh"

build=$(cd "${top_builddir:-..}" && pwd)
POSIXTRACE_GUARDIAN=${POSIXTRACE_GUARDIAN-$build/lib/posixtrace-guardian}
export POSIXTRACE_GUARDIAN
here=$top_srcdir/tests/soak
cycles=${PTX_SOAK_CYCLES-10000}
seconds=${PTX_SOAK_SECONDS-}
kills=${PTX_KILLS-10}
log=$tmp/soak.log
chmod 755 "$tmp" # for servers that become another user

has_program() { command -v "$1" >/dev/null 2>&1; }

# The account of the log in $log: called = reported + unread + lost. Adds to $events.
add_log() {
	account=$(account_of "$log")
	# shellcheck disable=SC2086
	set -- $account
	test $# -eq 5 && test "$5" -eq 0 && test "$1" -eq $(($2 + $3 + $4)) || return 1
	events=$((events + $1))
}

# A random number below $1.
below() { awk -v n="$1" -v seed="$(od -An -N4 -tu4 /dev/urandom)" 'BEGIN { srand(seed); print int(rand() * n) }'; }

is_over() { test $done_ -ge "$cycles" || { test -n "$seconds" && test "$(date +%s)" -ge "$end"; }; }

# Further options of attach, and the messages that it may print. A program that executes another one
# does so without the library. Children of the program are not recorded.
options=
said='^posixtrace: \(programs that cannot be traced: .*(executed with[a-z ]* LD_PRELOAD\|the process has made [0-9]* child\)'

# cycle_all NAME PID...: attaches to the processes in turn until there are enough cycles, or one of
# them has ended.
cycle_all() {
	name=$1
	shift
	done_=0 refused=0 killed=0 events=0 calls=0
	end=$(($(date +%s) + ${seconds:-0}))
	until is_over; do
		for each in "$@"; do
			kill -0 "$each" 2>/dev/null || break 2
			done_=$((done_ + 1))
			rm -f "$log"
			if test "$kills" -gt 0 && test $((done_ % kills)) -eq 0; then
				killed=$((killed + 1))
				# shellcheck disable=SC2086
				(set -f; timeout -s KILL "0.$(printf %03d $(($(below 150) + 1)))" "$posixtrace" attach \
					-p "$each" -o "$log" --trace all $options; :) >"$tmp/out" 2>&1
				continue
			fi
			# shellcheck disable=SC2086
			if (set -f; "$posixtrace" attach -p "$each" -o "$log" -d 20ms $options) >"$tmp/out" 2>"$tmp/all"; then
				add_log
				check "$name $done_: the account is even" test $? -eq 0
				grep -v "$said" "$tmp/all" >"$tmp/err"
				check "$name $done_: standard error is empty" is_empty err
				test -z "$options" || calls=$((calls + $(count_of func.call)))
			else
				kill -0 "$each" 2>/dev/null || break 2
				cp "$tmp/all" "$tmp/err"
				refused=$((refused + 1))
				check "$name $done_: the only reason is that no place was safe" \
					has err 'no thread of it was at a place'
			fi
		done
	done
	check "$name: the process lives" kill -0 "$1"
	test -z "$options" || check "$name: functions are recorded" test "$calls" -gt 0
	echo "$name: $done_ cycles, $refused refused, $killed tracers killed, $events events${options:+, $calls calls of functions}"
}

# finish NAME PID: its input ends; it must exit with 0, with a line that says "sound".
finish_load() {
	exec 5>&-
	wait "$2"
	got=$?
	tail -n 1 "$tmp/$1.said"
	check "$1: it ends with 0, not $got" test $got -eq 0
	check "$1: its results are right" grep -q '^sound' "$tmp/$1.said"
}

# begin_load NAME COMMAND...: a program that works until its input ends. Its id in $target.
begin_load() {
	name=$1
	shift
	rm -f "$tmp/input"
	mkfifo "$tmp/input"
	start sh -c 'exec "$@" <"$0"' "$tmp/input" "$@" >"$tmp/$name.said" 2>&1
	target=$pid
	exec 5>"$tmp/input"
	sleep 2
}

with_load() {
	# shellcheck disable=SC2086
	${CXX:-c++} -O1 -pthread -o "$tmp/load" "$here/inject_load.cc" || return
	begin_load load "$tmp/load" 4
	cycle_all load "$target"
	finish_load load "$target"
}

# can_trap: whether functions of static programs are recorded here. Sets what attach gets.
can_trap() {
	"$posixtrace" doctor 2>/dev/null | grep -q '^works  *uprobes' || return
	said="$said"'\|by kernel tracing: it is statically linked$\|traced by uprobes of the kernel'
}

with_static() {
	can_trap || return
	${CXX:-c++} -O1 -fno-inline -w -static -pthread -DIS_STATIC -o "$tmp/static" "$here/inject_load.cc" || return
	options='--function *throw_* --function *allocate* --function *fork_child* --function *compute* --function malloc'
	begin_load static "$tmp/static" 4
	cycle_all static "$target"
	finish_load static "$target"
	options=
}

with_go() {
	can_trap && has_program go && has_program python3 || return
	CGO_ENABLED=0 GOCACHE=$tmp/cache go build -o "$tmp/server" "$here/inject_server.go" || return
	seq 1 20000 >"$tmp/numbers"
	options='--function main.* --function net/http.*serve*'
	begin_load go "$tmp/server" "$tmp/go.socket" "$tmp/numbers"
	until_true test -S "$tmp/go.socket"
	rm -f "$tmp/client.input"
	mkfifo "$tmp/client.input"
	start sh -c 'exec python3 "$1" "$2" "$3" <"$0"' "$tmp/client.input" "$here/inject_client.py" \
		"$tmp/go.socket" "$tmp/numbers" >"$tmp/client.said" 2>&1
	load=$pid
	exec 4>"$tmp/client.input"
	cycle_all go "$target"
	exec 4>&-
	wait "$load"
	check "go: the answers are right" grep -q '^sound' "$tmp/client.said"
	finish_load go "$target"
	options=
}

with_python() {
	has_program python3 || return
	begin_load python python3 "$here/inject_load.py"
	cycle_all python "$target"
	finish_load python "$target"
}

with_node() {
	has_program node || return
	begin_load node node "$here/inject_load.js"
	cycle_all node "$target"
	finish_load node "$target"
}

with_java() {
	has_program java && java -version 2>&1 | grep -q '"\(1[1-9]\|[2-9][0-9]\)' || return
	begin_load java java "$here/InjectLoad.java"
	sleep 5 # the compiler
	cycle_all java "$target"
	finish_load java "$target"
}

with_redis() {
	has_program redis-server && has_program redis-benchmark || return
	start redis-server --port 0 --unixsocket "$tmp/redis" --save '' --dir "$tmp" >"$tmp/redis.said"
	target=$pid
	until_true redis-cli -s "$tmp/redis" ping
	start redis-benchmark -s "$tmp/redis" -l -q -c 10 -t set,get,lpush,sadd >/dev/null 2>&1
	load=$pid
	cycle_all redis "$target"
	kill "$load"
	redis-cli -s "$tmp/redis" set key 4711 >/dev/null
	check "redis: its answers are right" test "$(redis-cli -s "$tmp/redis" get key)" = 4711
	redis-cli -s "$tmp/redis" shutdown nosave
	wait "$target"
	check "redis: it ends with 0" test $? -eq 0
}

with_nginx() {
	has_program nginx && has_program python3 || return
	mkdir -p "$tmp/nginx/www"
	chmod 755 "$tmp/nginx" "$tmp/nginx/www"
	seq 1 20000 >"$tmp/nginx/www/numbers"
	cat >"$tmp/nginx/conf" <<-EOF
		daemon off; worker_processes 2; pid $tmp/nginx/pid; error_log $tmp/nginx/errors;
		events { worker_connections 128; }
		http { access_log off; server { listen unix:$tmp/nginx/socket; root $tmp/nginx/www; } }
	EOF
	start nginx -p "$tmp/nginx" -c "$tmp/nginx/conf" >"$tmp/nginx.said" 2>&1
	target=$pid
	until_true test -S "$tmp/nginx/socket"
	sleep 1
	rm -f "$tmp/input"
	mkfifo "$tmp/input"
	start sh -c 'exec python3 "$1" "$2" "$3" <"$0"' "$tmp/input" "$here/inject_client.py" \
		"$tmp/nginx/socket" "$tmp/nginx/www/numbers" >"$tmp/nginx.said" 2>&1
	load=$pid
	exec 5>"$tmp/input"
	# shellcheck disable=SC2046
	cycle_all nginx $(ps -o pid= --ppid "$target") "$target"
	finish_load nginx "$load"
	kill -QUIT "$target"
	wait "$target"
	check "nginx: it ends with 0" test $? -eq 0
}

# postgres refuses to run as root.
with_postgres() {
	bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
	test -x "$bin/pgbench" && test -x "$bin/initdb" || return
	as=
	mkdir "$tmp/pg"
	if test "$(id -u)" -eq 0; then
		id postgres >/dev/null 2>&1 && has_program setpriv || return
		chown postgres "$tmp/pg"
		as='setpriv --reuid=postgres --regid=postgres --clear-groups'
	fi
	(cd "$tmp/pg" && $as "$bin/initdb" -D "$tmp/pg/data" >"$tmp/pg.said" 2>&1) || return
	# shellcheck disable=SC2086
	start $as "$bin/postgres" -D "$tmp/pg/data" -k "$tmp/pg" -c listen_addresses= >"$tmp/pg.said" 2>&1
	target=$pid
	until_true $as "$bin/pg_isready" -h "$tmp/pg"
	$as "$bin/pgbench" -h "$tmp/pg" -i -q postgres >/dev/null 2>&1
	start $as "$bin/pgbench" -h "$tmp/pg" -c 4 -T 1000000 postgres >"$tmp/pgbench.said" 2>&1
	load=$pid
	sleep 2
	processes=$(ps -o pid=,args= --ppid "$target" |
		awk '/writer|checkpointer|autovacuum|\[local\]/ { print $1 }')
	# Meanwhile the postmaster starts processes of clients that make one transaction each.
	# shellcheck disable=SC2086
	start $as "$bin/pgbench" -h "$tmp/pg" -C -S -c 2 -T 1000000 postgres >"$tmp/connect.said" 2>&1
	connect=$pid
	# The postmaster, its processes, and those of the first clients.
	# shellcheck disable=SC2086
	cycle_all postgres "$target" $processes
	check "postgres: both clients work" kill -0 "$load" "$connect"
	kill "$load" "$connect"
	check "postgres: no transaction failed" \
		sh -c "! grep -i 'aborted\|error\|fatal' '$tmp/pgbench.said' '$tmp/connect.said'"
	check "postgres: its sums are right" test "$($as "$bin/psql" -h "$tmp/pg" -At postgres -c 'select
		(select sum(abalance) from pgbench_accounts) = (select sum(bbalance) from pgbench_branches)')" = t
	kill -INT "$target"
	wait "$target"
	check "postgres: it ends with 0" test $? -eq 0
}

# Its first process; the processes of pages have filters, and are refused.
with_firefox() {
	has_program firefox-esr || has_program firefox || return
	firefox=$(command -v firefox-esr || command -v firefox)
	mkdir "$tmp/profile"
	echo '<script>var n = 0; setInterval(() => { document.title = n++; let a = [];
		for (let i = 0; i < 10000; i++) a.push("" + i); }, 5)</script>' >"$tmp/page.html"
	HOME=$tmp start "$firefox" --headless --no-remote --profile "$tmp/profile" "file://$tmp/page.html" \
		>"$tmp/firefox.said" 2>&1
	target=$pid
	sleep 10
	cycle_all firefox "$target"
	kill "$target"
	wait "$target"
	got=$?
	check "firefox: it ends by the request, not with $got" test $got -eq 0 -o $got -eq 143
}

for each in ${PTX_PROGRAMS-load redis nginx postgres python java node firefox static go}; do
	before=$checks
	with_"$each"
	test "$checks" = "$before" && echo "$each: not here"
done
finish
