#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace convert --to parquet: parquet.py, which shares no code with the writer, reads the tables.
# The files of logs are compared with posixtrace query, those of selections and of other sources with the
# database of SQLite that convert writes.
. "${0%/*}/lib.sh"

here=${0%/*}
needs_format parquet
command -v python3 >/dev/null || skip "no python3"
codec=zstd
python3 -c 'import ctypes; ctypes.CDLL("libzstd.so.1")' 2>/dev/null || codec=none

# equal NAME LOG...: converts the logs and compares each table with query.
equal() {
	name=$1
	shift
	rm -rf "$tmp/tables"
	"$posixtrace" convert "$@" --to parquet -o "$tmp/tables" --compression=$how 2>"$tmp/err"
	check "$name: each table is equal to that of query" worked out \
		python3 "$here/parquet.py" compare "$tmp/tables" "$posixtrace" "$@"
}

# ---- the golden logs, and damaged ones
how=none
mkdir "$tmp/logs"
for text in "$here"/golden/logs/*.events; do
	name=${text##*/}
	log=$tmp/logs/${name%.events}.ptl
	"${make_log%/*}/compose" "$log" <"$text" || exit 99
	equal "${name%.events}" "$log"
done
equal "two logs" "$tmp/logs/message-alpha.ptl" "$tmp/logs/message-beta.ptl"
head -c 9000 "$tmp/logs/demo.ptl" >"$tmp/cut.ptl"
equal "a log without its end" "$tmp/cut.ptl"
"$make_log" evil "$tmp/evil.log" >/dev/null || exit 99
equal "hostile names and data" "$tmp/evil.log"

# ---- kinds of values in one column: integers of both signs, numbers and texts, names, arrays
"${make_log%/*}/compose" "$tmp/kinds.ptl" <<'END' || exit 99
type a s64 x; u64 y; str z; f64 r; u8[3] few
type b u64 x; u64 y; u32 z; u32 r; u32 few
type c s32 x; errno e; s64 r
type d str Name; u8 name; str Z
a 1 2 +1us -5 18446744073709551615 hello 2.5 1 2 3
b 1 2 +1us 18446744073709551615 7 42 8 9
c 1 2 +1us -9 2 -3
c 1 2 +1us 9 0 3
d 1 2 +1us upper 7 other
END
equal "columns of several kinds" "$tmp/kinds.ptl"
python3 "$here/parquet.py" "$tmp/tables/events.parquet" >"$tmp/out"
check "integers with and without a sign are exact" has out ' x:DECIMAL y:UINT64 z:STRING r:STRING '
check "the greatest integer without a sign" has out '18446744073709551615'
check "names that differ in case" has out ' Name\.2:STRING\| field\.Name:STRING'

# ---- row groups: many rows, columns that appear in late rows, values that do not fit a dictionary
"$make_log" plain "$tmp/big.log" 130000 >/dev/null || exit 99
how=$codec
equal "two row groups, $how" "$tmp/big.log"
check "events are in row groups" worked out python3 "$here/parquet.py" "$tmp/tables/events.parquet"
check "a row group has at most 122880 rows" has out 'events.parquet: 130[0-9]* rows, 2 row groups'

# ---- selections: the same as the database of SQLite
# as_database NAME ARGUMENT...: the rows of events, spans, types, threads and losses.
as_database() {
	name=$1
	shift
	rm -rf "$tmp/tables" "$tmp/db.db"
	run 0 convert "$@" --to parquet -o "$tmp/tables" --compression=none
	run 0 convert "$@" -o "$tmp/db.db"
	check "$name: equal to the database" worked out \
		python3 "$here/parquet.py" database "$tmp/tables" "$tmp/db.db"
}

demo=$tmp/logs/demo.ptl
if has_format sqlite; then
	as_database "all events" "$demo"
	as_database "-e" "$demo" -e 'request.*'
	check "-e leaves out the others" has out '^types: '
	as_database "-x" "$demo" -x 'request.*'
	as_database "--where" "$demo" --where 'id == 1'
	as_database "--pid" "$tmp/logs/processes.ptl" --pid 10
	as_database "--begin and --end" "$tmp/logs/threads.ptl" --begin +1us --end +1s
	as_database "losses of a selection" "$tmp/logs/losses.ptl" -e tick
	cat >"$tmp/spans.evt" <<'END'
name 0x100 "job_begin"
name 0x101 "job_end"
evt id=0x100 pid=1 tid=7 time=10.0 data=-
evt id=0x101 pid=1 tid=7 time=10.000000004 data=-
END
	as_database "a source that is no log" "$tmp/spans.evt"
	check "its spans" has out '^spans: 1 rows'
fi

# ---- the folder, and what goes wrong
run 1 convert "$demo" --to parquet -o "$tmp/tables"
check "an existing folder is refused" has err 'the folder exists'
run 1 convert "$demo" --to parquet
check "standard output is refused" has err 'a folder of files'
run 2 convert "$demo" --to parquet -o "$tmp/none" --compression=gzip
check "an unknown compression is refused" has err 'must be zstd or none'
check "an unknown compression leaves no folder" test ! -e "$tmp/none"
(
	ulimit -f 64
	trap '' XFSZ
	"$posixtrace" convert "$tmp/big.log" --to parquet -o "$tmp/small" --compression=none
) 2>"$tmp/err"
check "a full disk ends the conversion" test $? -ne 0 -a -s "$tmp/err"
check "a full disk leaves no folder" test ! -e "$tmp/small"
run 0 convert "$demo" -o "$tmp/named.parquet"
check "the suffix selects the format" test -s "$tmp/named.parquet/events.parquet"
check "only the owner reads the events" test "$(stat -c %a "$tmp/named.parquet" "$tmp/named.parquet/events.parquet" | tr '\n' ' ')" = "700 600 "
finish
