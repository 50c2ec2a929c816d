#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace ship --to parquet:DIR: each table of each complete log is there exactly once, with the
# contents of convert --to parquet, whatever is killed or full.
. "${0%/*}/lib.sh"

"$posixtrace" ship --help >/dev/null 2>&1 || skip "built without libcurl"
needs_format parquet
command -v python3 >/dev/null || skip "there is no python3"
here=$(cd "${0%/*}" && pwd)
compose=${make_log%/*}/compose

# equal LOG HOST: the files of the log in $tmp/lake are those of convert.
equal() {
	rm -rf "$tmp/tables"
	"$posixtrace" convert "$1" --to parquet -o "$tmp/tables" >/dev/null 2>&1
	for table in "$tmp/tables"/*; do
		name=$(basename "$table" .parquet)
		found=
		for file in "$tmp/lake/$name"/day=*/host="$2"/*.parquet; do
			cmp -s "$file" "$table" && found=$found.
		done
		# Tables without rows are equal in several logs.
		test -n "$found" || { echo "$name is missing or different"; return 1; }
		test "$name" != events || test "$found" = . || { echo "events: $found"; return 1; }
	done
}
files() { find "$tmp/lake" -name '*.parquet' | wc -l; }
left() { find "$tmp/lake" -name '.*' ! -name lake; }

# ---- logs of several hosts, a second shipment, names that could do harm
mkdir "$tmp/logs"
for name in demo losses spans io strange empty; do
	"$compose" "$tmp/logs/$name.ptl" <"$here/golden/logs/$name.events" || exit 99
done
run 0 ship --to "parquet:$tmp/lake" "$tmp/logs"
check "the events are counted" has out '/demo.ptl: 14 events shipped, 14 in all$'
for pair in demo=alpha losses=alpha spans=alpha io=build strange=h%1B%5B1mo empty=alpha; do
	check "${pair%=*}: each table once, as convert writes it" equal "$tmp/logs/${pair%=*}.ptl" "${pair#*=}"
done
check "nothing else is there" test -z "$(left)"
before=$(files)
check "there is one file for each table and log" test "$before" -eq $((6 * $(ls "$tmp/tables" | wc -l)))
find "$tmp/lake" -type f | sort | xargs md5sum >"$tmp/sums"
run 0 ship --to "parquet:$tmp/lake" "$tmp/logs"
check "a second shipment ships nothing" test "$(grep -c ': 0 events shipped' "$tmp/out")" -eq 6
find "$tmp/lake" -type f | sort | xargs md5sum | diff "$tmp/sums" - >"$tmp/diff"
check "a second shipment changes no file" is_empty diff
cp "$tmp/logs/demo.ptl" "$tmp/copy.ptl"
run 0 ship --to "parquet:$tmp/lake" "$tmp/copy.ptl"
check "a copy is the same log" test "$(files)" -eq "$before"
run 0 ship --to "parquet:$tmp/lake" --host '../..' "$tmp/copy.ptl"
check "the name of a host is one folder" test -d "$tmp/lake/events/$(ls "$tmp/lake/events")/host=..%2F.%2E"

# ---- the equation over the folder: called = stored + unread + lost
python3 - "$here" "$tmp/lake" >"$tmp/sum" <<'END'
import collections, pathlib, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import parquet
lake, total, stored = pathlib.Path(sys.argv[2]), collections.Counter(), 0
for file in lake.glob("ledger/*/*/*.parquet"):
    columns, rows = parquet.read(file)
    term, count = ([column.name for column in columns].index(name) for name in ("term", "count"))
    for row in rows:
        total[str(row[term]).split(":")[0]] += row[count]
for file in lake.glob("events/*/*/*.parquet"):
    stored += len(list(parquet.read(file)[1]))
print("called %d stored %d rest %d" % (total["called"], stored, total["called"] - stored - total["unread"] - total["lost"]))
END
check "called = stored + unread + lost" has sum ' rest 0$'

# ---- killed at any moment
"$make_log" plain "$tmp/big.ptl" 60000 >/dev/null || exit 99
rm -rf "$tmp/lake"
for pause in 0 0.01 0.02 0.05 0.1 0.15 0.2 0.3; do
	"$posixtrace" ship --to "parquet:$tmp/lake" "$tmp/big.ptl" >/dev/null 2>&1 &
	sleep "$pause"
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
done
run 0 ship --to "parquet:$tmp/lake" "$tmp/big.ptl"
host=$("$posixtrace" query --csv "$tmp/big.ptl" 'select host from hosts' | sed 1d | tr -d '"')
check "after kills: each table once" equal "$tmp/big.ptl" "$host"
check "no temporary file is left after kills" test -z "$(left)"

# ---- a full disk, a log that is not complete, wrong command lines
rm -rf "$tmp/lake"
(
	ulimit -f 16
	trap '' XFSZ
	"$posixtrace" ship --to "parquet:$tmp/lake" "$tmp/big.ptl" >"$tmp/out" 2>"$tmp/err"
)
check "a full disk fails" test $? -eq 1
check "a full disk leaves no table" test "$(files)" -eq 0
check "no other file is made" test -z "$(left)"
run 0 ship --to "parquet:$tmp/lake" "$tmp/big.ptl"
check "then the log arrives" equal "$tmp/big.ptl" "$host"
file=$(find "$tmp/lake/ledger" -name '*.parquet')
rm -rf "$tmp/lake" && mkdir "$tmp/lake"
ln -s nowhere "$tmp/lake/.$(basename "$file" .parquet).lock"
run 1 ship --to "parquet:$tmp/lake" "$tmp/big.ptl"
check "a link is no lock" has err '\.lock: Too many levels of symbolic links'
check "a link in place of the lock is not followed" test ! -e "$tmp/lake/nowhere"
head -c 9000 "$tmp/logs/spans.ptl" >"$tmp/cut.ptl"
run 3 ship --to "parquet:$tmp/lake" "$tmp/cut.ptl"
check "a log that is not complete is not shipped" has err 'a folder gets a log when it is complete'
run 1 ship --to "parquet:$tmp/logs/demo.ptl" "$tmp/big.ptl"
check "a file is no folder" has err '/demo.ptl: Not a directory'
run 2 ship --to parquet: "$tmp/big.ptl"
check "the folder is missing" has err 'the name of a folder is missing'
run 2 ship --to "parquet:$tmp/lake" --batch 5 "$tmp/big.ptl"
check "options of a database are refused" has err 'permits only the options --follow, --every and --host'
run 0 ship --follow --to "parquet:$tmp/followed" "$tmp/logs/demo.ptl"
check "--follow ends with a complete log" test -d "$tmp/followed/ledger"

# A folder that cannot be written for a while: one message, and the logs arrive when it can be.
rm -rf "$tmp/lake" "$tmp/two"
mkdir "$tmp/lake" "$tmp/two"
: >"$tmp/lake/events"
cp "$tmp/logs/demo.ptl" "$tmp/logs/losses.ptl" "$tmp/two"
"$posixtrace" ship --follow --to "parquet:$tmp/lake" "$tmp/two" >"$tmp/out" 2>"$tmp/err" &
shipper=$!
until_has() {
	tries=1200
	until has "$1" "$2"; do
		kill -0 "$shipper" && test $((tries -= 1)) -gt 0 || return 1
		sleep 0.05
	done
}
check "--follow: the reason" until_has err 'lake/events.*: Not a directory$'
sleep 1.5 # the next round has begun, or is about to begin
rm "$tmp/lake/events"
check "--follow: the logs arrive" until_has out '/losses.ptl: [0-9]* events* shipped'
check "--follow: the end of the failure" until_has err 'the folder can be written again'
check "--follow: each table of each log once" equal "$tmp/two/demo.ptl" alpha
check "--follow: one message" test "$(grep -c 'Not a directory' "$tmp/err")" -eq 1
kill "$shipper"
wait "$shipper"
check "--follow: it ends well" test $? -eq 0
rm -rf "$tmp/lake"
mkdir "$tmp/lake"
: >"$tmp/lake/events"
: >"$tmp/err" # it has the message that the next lines wait for
"$posixtrace" ship --follow --to "parquet:$tmp/lake" "$tmp/two" >"$tmp/out" 2>"$tmp/err" &
shipper=$!
until_has err 'lake/events.*: Not a directory$'
kill "$shipper"
wait "$shipper"
check "--follow: the end while logs remain is a failure" test $? -eq 1
run 1 ship --follow --to "parquet:$tmp/logs/demo.ptl" "$tmp/two"
check "--follow: a file is no folder" has err '/demo.ptl: Not a directory'
finish
