#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Damage that verify finds is reported by every command that reads the whole log, wherever it is:
# also in names, lists and index, without which no event is missing. The logs are those of golden/,
# and each run changes the same bytes. unit/cursor/test_every_byte changes all, without the commands.
. "${0%/*}/lib.sh"

# answers STATUS COMMAND...: it exits with that status, and prints a message if that is not 0.
answers() {
	status=$1
	shift
	"$posixtrace" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	got=$?
	test "$got" -eq "$status" || { echo "$* exits with $got, not $status"; return 1; }
	test "$status" -eq 0 || test -s "$tmp/err" || { echo "$* says nothing"; return 1; }
}

# all_answer STATUS LOG: the same for all commands, verify first
all_answer() {
	answers "$1" verify "$2" || return 1
	for command in dump 'dump --merge' stat 'stat --threads 3' report latency 'convert --to jsonl'; do
		answers "$1" $command "$2" || return 1
	done
	test -z "$has_query" || answers "$1" query "$2" 'select count(*) from events'
}

# changed AT BYTE: the log with that byte changed
changed() {
	cp "$log" "$tmp/hurt.log"
	printf "\\$(printf %o $((($2 + 85) % 256)))" |
		dd of="$tmp/hurt.log" bs=1 seek="$1" conv=notrunc 2>/dev/null
}

"$posixtrace" query --help >/dev/null 2>&1 && has_query=yes || has_query=
PTX_GOLDEN=$tmp "${top_builddir:-..}/tests/unit/log/test_golden" >/dev/null || exit 99
for kind in append loop; do
	log=$tmp/$kind.log
	od -An -v -tu1 -w1 "$log" | awk '{ print NR - 1, $1 }' >"$tmp/bytes"
	# One byte of each block's magic, except blocks of events (type 1) in slots, some of which
	# are obsolete. Some bytes of the header behind its version, and of a sequence, in which
	# each byte is significant.
	awk -v kind=$kind '
		{ byte[$1] = $2 }
		END {
			for (at = 4096; at in byte; at += 8)
				if (byte[at] == 80 && byte[at + 1] == 88 && byte[at + 2] == 66 &&
				    byte[at + 3] == 75 && (kind == "append" || byte[at + 4] != 1))
					print at + n % 4, byte[at + n++ % 4]
			for (at = 12; at in byte; at += at < 4096 ? 600 : 131)
				if (at < 4096 || kind == "append")
					print at, byte[at]
		}' "$tmp/bytes" >"$tmp/places"
	check "$kind: the log is sound" all_answer 0 "$log"
	while read -r at byte; do
		changed "$at" "$byte"
		check "$kind: damage at $at is reported" all_answer 3 "$tmp/hurt.log"
	done <"$tmp/places"
	check "$kind: bytes were changed at many places" test "$(wc -l <"$tmp/places")" -ge 15
done
# A block of names without its magic looks like an area that was never written.
for at in 4096 4097 4098 4099; do
	changed $at "$(od -An -tu1 -j $at -N 1 "$log")"
	check "loop: damage of the magic at $at is reported" all_answer 3 "$tmp/hurt.log"
done
finish
