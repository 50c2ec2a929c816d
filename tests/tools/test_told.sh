#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Damage that verify finds, every command that reads the whole log tells, wherever it is: also in names and
# index, without which nothing is missing.
. "${0%/*}/lib.sh"

# told STATUS COMMAND...: it exits with that status, and says something if that is not 0.
told() {
	status=$1
	shift
	"$posixtrace" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	got=$?
	test "$got" -eq "$status" || { echo "$* exits with $got, not $status"; return 1; }
	test "$status" -eq 0 || test -s "$tmp/err" || { echo "$* says nothing"; return 1; }
}

all_tell() {
	for command in dump 'dump --merge' stat 'stat --threads 3' report latency 'convert --to jsonl'; do
		told "$1" $command "$2" || return 1
	done
	test -z "$has_query" || told "$1" query "$2" 'select count(*) from events'
}

"$posixtrace" query --help >/dev/null 2>&1 && has_query=yes || has_query=
for kind in plain loop; do
	log=$tmp/$kind.log
	"$make_log" $kind "$log" 40 >/dev/null || exit 99
	# Of bytes that are zero, most are of no part.
	od -An -v -tu1 -w1 "$log" | awk '$1 { print NR - 1, $1 }' >"$tmp/bytes"
	size=$(wc -l <"$tmp/bytes")
	check "$kind: nothing is told of what is sound" all_tell 0 "$log"
	found=0
	for i in $(awk 'BEGIN { for (i = 1; i < 40; i++) print i }'); do
		read -r at byte <<-END
			$(sed -n "$((size * i / 40))p" "$tmp/bytes")
		END
		cp "$log" "$tmp/hurt.log"
		printf "\\$(printf %o $(((byte + 85) % 256)))" | dd of="$tmp/hurt.log" bs=1 seek=$at conv=notrunc 2>/dev/null
		"$posixtrace" verify "$tmp/hurt.log" >/dev/null 2>&1
		test $? -eq 3 || continue
		found=$((found + 1))
		check "$kind: damage at $at is told" all_tell 3 "$tmp/hurt.log"
	done
	check "$kind: damage was done, at $found places" test "$found" -ge 10
done
finish
