#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace ship --spool: a folder of limited size bridges an outage, and each event that was dropped
# is lost in the ledger, exactly.
. "${0%/*}/lib.sh"

"$posixtrace" ship --help >/dev/null 2>&1 || skip "built without libcurl"
. "${0%/*}/serving.sh"

# sum TERM: a number of the server's account.
sum() { sed -n "s/^account .*\<$1=\([0-9]*\).*/\1/p" "$tmp/result"; }
is_even() { grep '^account ' "$tmp/result"; has result '^account .* open=0$'; }

spool=$tmp/spool
# make_spool: four logs, each older than the next one, of which the third has losses.
make_spool() {
	rm -rf "$spool" "$tmp/state"
	mkdir "$spool"
	for i in 1 2 3 4; do
		kind=plain
		test $i != 3 || kind=overrun
		"$make_log" $kind "$spool/$i.ptl" $((10000 * i)) >/dev/null || exit 99
		touch -d "2026-01-0$i" "$spool/$i.ptl"
	done
	called=$("$posixtrace" query --csv "$spool"/*.ptl \
		"select sum(count) from ledger where term = 'called'" | sed 1d)
	lost=$("$posixtrace" query --csv "$spool"/*.ptl \
		"select sum(count) from ledger where term like 'lost:%'" | sed 1d)
}
events_of() { "$posixtrace" query --csv "$1" 'select count(*) from events' | sed 1d; }
bytes_of() { cat "$@" | wc -c; }

# A folder that cannot be read: ship ends before it ships a log, so it drops none.
test "$(id -u)" -ne 0 || nobody='setpriv --reuid 65534 --regid 65534 --clear-groups'
if test "$(id -u)" -ne 0 || command -v setpriv >/dev/null; then
	for follow in '' --follow; do
		rm -rf "$spool" "$tmp/state"
		mkdir "$tmp/closed" "$tmp/state" "$spool"
		for i in 1 2; do "$make_log" plain "$spool/$i.ptl" 3000 >/dev/null || exit 99; done
		chmod 0 "$tmp/closed"
		chmod 755 "$tmp"
		test -z "${nobody-}" || chown -R 65534 "$spool" "$tmp/state"
		serve
		# shellcheck disable=SC2086 # lists of words
		${nobody-} "$posixtrace" ship --state "$tmp/state" --to "$url" --spool 1 $follow "$tmp/closed" "$spool" \
			>"$tmp/out" 2>"$tmp/err"
		check "a closed folder, $follow: failure" test $? -eq 1
		check "a closed folder, $follow: the reason" has err "closed: Permission denied"
		check "a closed folder, $follow: no log is dropped" test "$(ls "$spool" | tr '\n' ' ')" = "1.ptl 2.ptl "
		rmdir "$tmp/closed"
	done
fi

# The server is absent: the oldest logs are dropped.
make_spool
one=$(events_of "$spool/1.ptl")
two=$(events_of "$spool/2.ptl")
limit=$(($(bytes_of "$spool"/[34].ptl) + 50000))
serve
FAKE_PORT=$port
export FAKE_PORT
end_server
ships 1 --give-up 100ms --spool $limit "$spool"
check "the oldest log is dropped, with its events" has err "1.ptl: dropped, because .* its $one events are lost"
check "the next log is dropped, with its events" has err "2.ptl: dropped, because .* its $two events"
check "the younger ones remain" test "$(echo "$spool"/*.ptl)" = "$spool/3.ptl $spool/4.ptl"
check "the accounts remain" test -s "$spool/1.ptl.account" -a -s "$spool/2.ptl.account"
check "an account is small" test "$(bytes_of "$spool/1.ptl.account")" -lt 20000
check "the spool is within its limit" test "$(bytes_of "$spool"/*)" -le $limit
serve
ships 0 --spool $limit "$spool"
check "the account of the fleet closes" is_even
check "each dropped event is lost" test "$(sum spool)" -eq $((one + two))
check "each called event is counted" test "$(sum called)" -eq "$called"
check "the drop is printed" has out "1.ptl.account: $one events were dropped before they were shipped, 0 in all"
check "the accounts are no longer needed" test ! -e "$spool/1.ptl.account" -a ! -e "$spool/2.ptl.account"
ships 0 --spool $limit "$spool"
check "the next run changes nothing" test "$(sum spool)" -eq $((one + two))
check "each event is counted" is_even
check "there are four logs" has result '^logs_rows 4 whole$'

# A limit of nothing: all logs that the server has are removed without a loss, and no log is dropped.
before=$(cat "$tmp/result")
ships 0 --spool 1 "$spool"
check "logs that the database has are removed" test -z "$(ls "$spool")"
check "without a loss" test "$(sum spool)" -eq $((one + two))

# The tables are removed after all logs were shipped: the logs are sent again before any is removed.
make_spool
FAKE_TABLES="0 0 0"
export FAKE_TABLES
serve
FAKE_PORT=$port
ships 0 "$spool"
check "nothing is removed without a limit" test "$(ls "$spool" | wc -l)" = 4
serve
ships 0 --spool 1 "$spool"
check "removed tables: the events are sent again" has err "the database has lost .* they are sent again"
check "removed tables: then the logs are removed" test -z "$(ls "$spool")"
check "removed tables: no event is lost" test -z "$(sum spool)"
check "removed tables: each called event is counted" test "$(sum called)" -eq "$called"
check "removed tables: the account closes" is_even

# They are removed while the server cannot be reached: the account of each log remains.
make_spool
serve
ships 0 "$spool"
end_server
ships 1 --give-up 1ms --spool 1 "$spool"
check "not compared: each log has its account" test "$(ls "$spool" | grep -c '\.account$')" = 4
serve
ships 0 "$spool"
check "not compared: each called event is counted" test "$(sum called)" -eq "$called"
check "not compared: the account closes" is_even

# Another process has made the tables again: the logs are sent again before any is removed.
make_spool
serve
ships 0 "$spool"
unset FAKE_TABLES
serve
ships 0 --spool 1 "$spool"
check "new tables: the events are sent again" has err "the database has lost .* they are sent again"
check "new tables: then the logs are removed" test -z "$(ls "$spool")"
check "new tables: each called event is counted" test "$(sum called)" -eq "$called"
check "new tables: the account closes" is_even

# A user has deleted rows: a log that the database lacks has its account.
make_spool
serve
ships 0 "$spool"
touch "$tmp/result.delete"
ships 0 --spool 1 "$spool"
check "deleted rows: it is reported" has err "the database has only 0 of"
check "deleted rows: each log has its account" test "$(ls "$spool" | grep -c '\.account$')" = 4

# Logs of which the server has a part, whatever happens to the INSERT at which the outage begins: its
# rows count if they were stored.
for fault in down down-stored down-late; do
	for before in 0 2; do
		make_spool
		rm "$spool/1.ptl" "$spool/2.ptl" "$spool/3.ptl"
		called=$("$posixtrace" query --csv "$spool/4.ptl" \
			"select sum(count) from ledger where term = 'called'" | sed 1d)
		all=$(events_of "$spool/4.ptl")
		cp "$spool/4.ptl" "$tmp/4.ptl"
		rm -f "$tmp/result.up"
		# shellcheck disable=SC2046 # a list of words
		serve $(yes none | head -n "$before") $fault
		ships 1 --batch 9000 --give-up 200ms "$spool"
		ships 1 --batch 9000 --give-up 200ms --spool 1 "$spool"
		check "$fault after $before: the log is dropped" test "$(ls "$spool")" = 4.ptl.account
		touch "$tmp/result.up"
		ships 0 "$spool"
		check "$fault after $before: the account closes" is_even
		check "$fault after $before: called" test "$(sum called)" -eq "$called"
		wanted=$((9000 * before))
		test $fault != down-stored || wanted=$((wanted + 9000))
		check "$fault after $before: $wanted are stored" test "$(sum stored)0" = "${wanted#0}0"
		check "$fault after $before: the rest is lost" test "$(sum spool)" -eq $((all - wanted))
		check "$fault after $before: each table has its rows once" lacks result BROKEN
		# The log is found again: its other events arrive, and are no longer lost.
		ships 0 "$tmp/4.ptl"
		check "$fault after $before: found again, nothing is lost" test -z "$(sum spool)"
		check "$fault after $before: all events are stored" test "$(sum stored)" -eq "$all"
		check "$fault after $before: the account closes again" is_even
	done
done

# An account of a log that the database has as a whole changes nothing. If the log is beside it, the
# drop was not completed, and the log is shipped.
make_spool
cp "$spool/4.ptl" "$tmp/4.ptl"
serve
end_server
ships 1 --give-up 1ms --spool 1 "$spool"
check "all logs are dropped" test "$(ls "$spool" | tr '\n' ' ')" = \
	"1.ptl.account 2.ptl.account 3.ptl.account 4.ptl.account "
cp "$spool/1.ptl.account" "$tmp/1.account"
serve
cp "$tmp/4.ptl" "$spool/9.ptl"
mv "$spool/4.ptl.account" "$spool/9.ptl.account"
ships 0 "$spool"
check "a log beside its account is shipped" has out '9.ptl: [1-9][0-9]* events shipped'
check "the account of a shipped log has no meaning" lacks out '9.ptl.account'
check "the account closes" is_even
cp "$tmp/1.account" "$spool/1.ptl.account"
ships 0 "$spool"
check "an account that was sent is not sent again" is_even
check "an account that the database has is removed" test ! -e "$spool/1.ptl.account"
before=$(sum called)
cp "$tmp/1.account" "$spool/1.ptl.account"
rm -rf "$tmp/state"
ships 0 "$spool"
check "a log is counted once even if the positions are lost" test "$(sum called)" = "$before"
check "each event is counted" is_even

# The file of an account is only read: a journal beside it, which SQLite would execute, has no effect.
cp "$tmp/1.account" "$spool/1.ptl.account"
echo journal >"$spool/1.ptl.account-journal"
ships 0 "$spool/1.ptl.account"
check "a journal beside an account is left" grep -q '^journal$' "$spool/1.ptl.account-journal"

# A program that starts again writes its log under the same name. Each log that was dropped has an
# account, also while another log has its name.
make_spool
called=$("$posixtrace" query --csv "$spool"/[123].ptl \
	"select sum(count) from ledger where term = 'called'" | sed 1d)
one=$(events_of "$spool/1.ptl")
two=$(events_of "$spool/2.ptl")
mv "$spool"/[234].ptl "$tmp"
serve
end_server
ships 1 --give-up 1ms --spool 1 "$spool"
mv "$tmp/2.ptl" "$spool/1.ptl"
ships 1 --give-up 1ms --spool 1 "$spool"
check "each log has its account" test "$(ls "$spool" | grep -c '^1\.ptl\..*account$')" = 2
mv "$tmp/3.ptl" "$spool/1.ptl"
serve
ships 0 "$spool"
check "the events of both dropped logs are lost" test "$(sum spool)" -eq $((one + two))
check "each called event is counted, also of the third log" test "$(sum called)" -eq "$called"
check "the account closes" is_even
check "both accounts were shipped" test "$(ls "$spool")" = 1.ptl

# All events of a dropped log had been shipped, but not its spans. They are sent if the log is found
# again.
make_spool
rm "$spool"/[123].ptl
cp "$spool/4.ptl" "$tmp/4.ptl"
rm -f "$tmp/result.up"
serve none down
ships 1 --give-up 200ms "$spool"
ships 1 --give-up 200ms --spool 1 "$spool"
check "the log is dropped before its summary is sent" test "$(ls "$spool")" = 4.ptl.account
touch "$tmp/result.up"
ships 0 "$spool"
check "no event is lost" test -z "$(sum spool)"
check "the spans of a dropped log are missing" lacks result '^spans_rows'
ships 0 "$tmp/4.ptl"
check "the log that is found again has spans" has result '^spans_rows [1-9][0-9]* whole$'
check "the account closes" is_even

# More than 32 accounts are merged into one file, which has each log with its identity: a log that the
# database has as a whole does not count again.
rm -rf "$spool" "$tmp/state"
mkdir "$spool"
for i in $(seq 101 140); do
	"$make_log" plain "$spool/$i.ptl" 1500 >/dev/null || exit 99
done
cp "$spool/101.ptl" "$tmp/101.ptl"
counts() { "$posixtrace" query --csv "$spool"/*.ptl "select sum(count) from $1" | sed 1d; }
called=$(counts "ledger where term = 'called'")
all=$(counts stored)
one=$(events_of "$tmp/101.ptl")
serve
end_server
ships 1 --give-up 1ms --spool 1 "$spool"
check "the accounts are merged" test "$(ls -A "$spool")" = merged.1.account
check "a log needs less than its own account: $(bytes_of "$spool/merged.1.account")" test \
	"$(bytes_of "$spool/merged.1.account")" -lt $((40 * 4096))
cp "$spool/merged.1.account" "$tmp/merged"
serve
ships 0 "$tmp/101.ptl"
ships 0 "$spool"
check "the merged account is shipped and removed" test -z "$(ls -A "$spool")"
check "each log is printed" test "$(grep -c 'merged.1.account: [1-9][0-9]* events were dropped' "$tmp/out")" = 39
check "the account of the fleet closes" is_even
check "each dropped event is lost" test "$(sum spool)" -eq $((all - one))
check "each called event is counted once" test "$(sum called)" -eq "$called"
check "there are forty logs" has result '^logs_rows 40 whole$'
cp "$tmp/merged" "$spool/merged.1.account"
ships 0 "$spool"
check "sent events are not sent again" test "$(sum spool)" -eq $((all - one))
check "the spool is empty" test -z "$(ls -A "$spool")"

# Later accounts are added to it. An account that has no meaning, because its log exists, stays apart.
cp "$tmp/merged" "$spool/merged.1.account"
for i in $(seq 141 175); do
	"$make_log" plain "$spool/$i.ptl" 1500 >/dev/null || exit 99
done
cp "$spool/141.ptl" "$tmp/141.ptl"
later=$(counts stored)
end_server
ships 1 --give-up 1ms --spool 1 "$spool"
check "there is one file again" test "$(ls -A "$spool")" = merged.1.account
mv "$spool/merged.1.account" "$tmp/merged"
cp "$tmp/141.ptl" "$spool"
for i in $(seq 181 213); do
	"$make_log" plain "$spool/$i.ptl" 1500 >/dev/null || exit 99
done
ships 1 --give-up 1ms --spool 1 "$spool"
rm "$spool/merged.1.account"
serve
cp "$tmp/merged" "$spool/merged.1.account"
rm -rf "$tmp/state"
ships 0 "$spool"
check "all events of both are lost" test "$(sum spool)" -eq $((all + later))
check "the account closes with both" is_even
if command -v sqlite3 >/dev/null; then
	cp "$tmp/merged" "$spool/merged.1.account"
	sqlite3 "$spool/merged.1.account" 'update identity set uuid = 1 where rowid = 2'
	rm -rf "$tmp/state"
	serve
	ships 1 "$spool"
	check "a part that is wrong is named" has err 'merged.1.account: log 2 of 75: this is not an account'
	check "the file remains" test -s "$spool/merged.1.account"
	check "the other logs are shipped" has result '^logs_rows 74 whole$'

	cp "$tmp/merged" "$spool/merged.1.account"
	sqlite3 "$spool/merged.1.account" 'insert into identity(rowid) values(1000)'
	ships 1 "$spool"
	check "logs that cannot be there are not looked for" test "$(grep -c . "$tmp/err")" -eq 1

	# A merged account that is wrong stays, and a new one is begun.
	echo nonsense >"$spool/merged.1.account"
	for i in $(seq 221 253); do
		"$make_log" plain "$spool/$i.ptl" 1500 >/dev/null || exit 99
	done
	end_server
	ships 1 --give-up 1ms --spool 1 "$spool"
	check "a wrong merged account is not replaced" test "$(cat "$spool/merged.1.account")" = nonsense
	check "others are merged beside it" test "$(ls -A "$spool" | tr '\n' ' ')" = \
		'merged.1.account merged.2.account '
fi
rm -rf "$spool"

# large_accounts ROWS BYTES FILE...: gives each account this number of other texts of this size.
large_accounts() {
	python3 - "$@" <<'END'
import sqlite3, sys
rows, size = map(int, sys.argv[1:3])
for path in sys.argv[3:]:
    file = sqlite3.connect(path)
    file.execute("UPDATE types SET schema = ? || rowid WHERE rowid <= ?", (path * (size // len(path)), rows))
    file.commit()
END
}

# A merged account has a limit. Accounts beyond it remain until the next merge.
rm -rf "$tmp/state"
mkdir "$spool"
for i in $(seq 301 332); do
	"$make_log" plain "$spool/$i.ptl" 1500 >/dev/null || exit 99
done
serve
end_server
ships 1 --give-up 1ms --spool 1 "$spool"
check "32 accounts are not merged" test ! -e "$spool/merged.1.account"
large_accounts 1 60000 "$spool"/*.account
large_accounts 2 600000 "$spool/301.ptl.account"
for i in 333 334; do
	"$make_log" plain "$spool/$i.ptl" 1500 >/dev/null || exit 99
done
ships 1 --give-up 1ms --spool 1 "$spool"
check "the merged account has a limit: $(bytes_of "$spool/merged.1.account")" test \
	"$(bytes_of "$spool/merged.1.account")" -lt 1300000
check "others remain" test "$(ls "$spool" | wc -l)" -gt 10
check "a large account remains" test -e "$spool/301.ptl.account"
serve
ships 0 "$spool"
check "all of them are shipped" has result '^logs_rows 34 whole$'
check "the account closes" is_even
check "the sent files are removed" test -z "$(ls -A "$spool")"

# While ship waits for the server, the account that it ships may be merged, and a later log of the same
# name dropped.
rm -rf "$spool" "$tmp/state"
mkdir "$spool"
"$make_log" plain "$spool/a.ptl" 2000 >/dev/null || exit 99
"$make_log" plain "$spool/b.ptl" 3000 >/dev/null || exit 99
all=$(counts stored)
serve
end_server
ships 1 --give-up 1ms --spool 1 "$spool"
mv "$spool/b.ptl.account" "$tmp"
rm -f "$tmp/result.up"
serve down
"$posixtrace" ship --state "$tmp/state" --to "$url" "$spool" >"$tmp/out" 2>"$tmp/waits" &
shipper=$!
until test -s "$tmp/waits" || ! kill -0 "$shipper" 2>/dev/null; do sleep 0.05; done
mv "$tmp/b.ptl.account" "$spool/a.ptl.account"
touch "$tmp/result.up"
wait "$shipper"
check "the account of another log is not removed" test -e "$spool/a.ptl.account"
ships 0 "$spool"
check "the next run ships it" test "$(sum spool)" -eq "$all"
check "the account closes" is_even
check "an account that the database has is removed" test ! -e "$spool/a.ptl.account"
rm -rf "$spool"

# A follower of a spool does not end when the spool has one account, or one log. A new log that gets
# the name of a complete one is another log.
make_spool
mv "$spool"/[234].ptl "$tmp"
serve
end_server
ships 1 --give-up 1ms --spool 1 "$spool"
serve
"$posixtrace" ship --state "$tmp/state" --to "$url" --follow "$spool" >/dev/null 2>"$tmp/followed" &
shipper=$!
until_gone() { while test -e "$1" && kill -0 "$shipper" 2>/dev/null; do sleep 0.05; done; }
until_logs() {
	until grep -q "^clocks_rows $1 whole" "$tmp/result" || ! kill -0 "$shipper" 2>/dev/null; do
		sleep 0.05
	done
}
until_gone "$spool/1.ptl.account"
mv "$tmp/2.ptl" "$spool"
until_logs 2
check "a log behind an account is shipped" has result '^clocks_rows 2 whole'
mv "$tmp/3.ptl" "$spool/2.ptl"
until_logs 3
check "a log instead of a complete one is shipped" has result '^clocks_rows 3 whole'
rm "$spool/2.ptl"
mv "$tmp/4.ptl" "$spool/4.ptl"
until_logs 4
check "a log behind one that was removed is shipped" has result '^clocks_rows 4 whole'
check "the account closes" is_even
check "the follower goes on" kill "$shipper"
wait "$shipper"
check "it ends by the signal, without a failure" test $? -eq 0

# Files that are no accounts are named and left as they are.
echo nonsense >"$spool/x.ptl.account"
ships 1 "$spool"
check "no account" has err 'x.ptl.account: '
check "it is left" test -e "$spool/x.ptl.account"
if command -v sqlite3 >/dev/null; then
	rm "$spool/x.ptl.account"
	cp "$tmp/1.account" "$spool/y.ptl.account"
	sqlite3 "$spool/y.ptl.account" 'create view v as select 1'
	ships 1 "$spool"
	check "a file with a program" has err 'y.ptl.account: this is not an account of posixtrace'
	rm "$spool/y.ptl.account"
fi
cp "$tmp/1.account" "$spool/y.ptl.account"
python3 - "$spool/y.ptl.account" <<'END' || exit 99
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript("DROP TABLE hosts; CREATE TABLE hosts(host TEXT, boot TEXT, log AS (hex(zeroblob(8))))")
END
ships 1 "$spool"
check "an expression of a column" has err 'y.ptl.account: this is not an account of posixtrace'
rm -f "$spool/y.ptl.account"

# Wrong command lines.
run 2 ship --to "$url" --spool 0 "$spool"
run 2 ship --to "$url" --spool x "$spool"
run 2 ship --to parquet:lake --spool 1G "$spool"
run 2 ship --to otlp://host --spool 1G "$spool"
run 2 ship --dry-run --spool 1G "$spool"

# A log that is hardly larger than its account is not dropped.
make_spool
rm "$spool"/*
"$make_log" plain "$spool/small.ptl" 10 >/dev/null || exit 99
ships 1 --give-up 1ms --spool 1 --host small --to clickhouse://127.0.0.1:1/fleet "$spool"
check "a small log remains" test "$(ls "$spool")" = small.ptl
check "that is reported" has err 'the spool has [0-9]* bytes, more than 1, but no log can be dropped'
finish
