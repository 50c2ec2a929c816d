#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A query of PostgreSQL waits for the transaction of another session: posixtrace why names the wait
# for that lock in its first three lines.
PACKAGES='postgresql /usr/lib/postgresql'
. "${0%/*}/lib.sh"

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
if test -z "$bin" || ! id postgres >/dev/null 2>&1 || test "$(id -u)" -ne 0; then
	echo "postgres: needs root and the server of the distribution"
	exit 77
fi
chmod 755 "$tmp"
mkdir "$tmp/pg" && chown postgres "$tmp/pg"
as_postgres() { su postgres -c "$*" >>"$tmp/server" 2>&1; }
sql() { psql -q -h "$tmp/pg" -p 5498 -U postgres -c "$1" >>"$tmp/server" 2>&1; }
as_postgres "$bin/initdb -D $tmp/pg/data -A trust"
as_postgres "$bin/pg_ctl -D $tmp/pg/data -o '-p 5498 -k $tmp/pg -c listen_addresses=' -l $tmp/pg/log -w start"
server=$(head -n 1 "$tmp/pg/data/postmaster.pid")
children="$children $server"
sql 'CREATE TABLE t(i int); INSERT INTO t VALUES(1)'

attaches --inherit --sched --stack='net.*' -p "$server"
sql "BEGIN; UPDATE t SET i = 2; SELECT pg_sleep(3); COMMIT" &
holder=$!
# The second session begins when the first has the lock.
lock_is_held() {
	test "$(psql -q -t -A -h "$tmp/pg" -p 5498 -U postgres -c "SELECT count(*) FROM pg_stat_activity
		WHERE wait_event = 'PgSleep'")" = 1
}
soon lock_is_held
sql 'UPDATE t SET i = 3'
wait $holder
kill -INT $tracer
wait $tracer
as_postgres "$bin/pg_ctl -D $tmp/pg/data -m fast stop"
cat "$tmp/attached"

check "the log is sound" is_sound
"$posixtrace" why --span net.epoll --slowest 4 "$log" 2>/dev/null >"$tmp/why"
grep -A2 '^The span' "$tmp/why"
check "why names the wait for the transaction in three lines" \
	sh -c "grep -A2 '^The span' '$tmp/why' | grep -q '^\\(Cause\\|Chain\\): .*ProcSleep.*LockAcquireExtended < XactLockTableWait'"
finish
