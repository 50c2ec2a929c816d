#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# sqlite3: 100,000 inserts in 100 transactions, each of which is synchronized to the disk.
PACKAGES='sqlite3 sqlite3
strace strace'
. "${0%/*}/lib.sh"

awk 'BEGIN { print "PRAGMA synchronous=FULL; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);"
	for (i = 0; i < 100000; i++) {
		if (i % 1000 == 0) print "BEGIN;"
		print "INSERT INTO t(b) VALUES(\"line " i "\");"
		if (i % 1000 == 999) print "COMMIT;"
	}
	print "SELECT count(*), sum(a), max(b) FROM t; PRAGMA integrity_check;" }' >"$tmp/inserts"
work() {
	rm -f "$tmp/data"*
	"$@" sqlite3 -init "$tmp/inserts" "$tmp/data" .quit
}
compare

# The shim sees each synchronization that the kernel does.
check "there are synchronizations" test "$(count_of 'io.f*sync')" -ge 100
rm -f "$tmp/data"*
strace -f -e trace=fsync,fdatasync -o "$tmp/strace" sqlite3 -init "$tmp/inserts" "$tmp/data" .quit >/dev/null 2>&1
for call in fsync fdatasync; do
	check "as many calls of $call as strace sees" \
		test "$(count_of io.$call)" -eq "$(grep -c "$call(" "$tmp/strace")"
	echo "sqlite: $(count_of io.$call) $call, strace $(grep -c "$call(" "$tmp/strace")"
done
finish
