#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# NEWS describes each change of a public header and of a manual page.
#
#   check_news.sh               compares the files with tests/NEWS.record
#   check_news.sh record TEXT   records the files that have changed. TEXT is a part of the entry of
#                               NEWS that describes the change.
#
# A line of tests/NEWS.record has a file, its checksum and length (cksum), and such a text. The check
# needs no history, so it works in a tarball as well. A line a file lets independent changes merge.
: "${top_srcdir:=$(dirname "$0")/..}"
. "$top_srcdir/tests/support/count.sh"
LC_ALL=C
export LC_ALL

cd "$top_srcdir" || exit 1
record=tests/NEWS.record
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# NEWS in one line: entries of several lines are found by any part of them.
tr -s ' \n' '  ' <NEWS >"$scratch/news"
is_in_news() { test -n "$1" && grep -q -F -e "$1" "$scratch/news"; }

# The headers that are installed and the pages, but for pages that only refer to another.
for file in include/*.h $(grep -L '^\.so ' lib/man/*.[0-9]) tools/posixtrace/man/*.[0-9]; do
	cksum <"$file" | sed "s|^|$file |"
done >"$scratch/now"

# changed FILE SUM BYTES: whether the record has another state of it, or none.
changed() { ! grep -q -F -e "$1 $2 $3 " "$record"; }

if test "$1" = record; then
	is_in_news "$2" || {
		echo "check_news.sh: no entry of NEWS has the text '$2': write the entry first" >&2
		exit 1
	}
	while read -r file sum bytes; do
		if changed "$file" "$sum" "$bytes"; then
			echo "$file $sum $bytes $2"
		else
			grep -F -e "$file $sum $bytes " "$record"
		fi
	done <"$scratch/now" >"$scratch/record"
	cp "$scratch/record" "$record"
	exit
fi

check "there are headers and pages" test "$(wc -l <"$scratch/now")" -ge 30
while read -r file sum bytes; do
	check "$file is as $record has it; otherwise write an entry in NEWS, then run
	tests/check_news.sh record 'part of the entry'" \
		test "$(changed "$file" "$sum" "$bytes" && echo changed)" != changed
done <"$scratch/now"
while read -r file sum bytes text; do
	check "$file of $record exists" test -f "$file"
	check "NEWS has the entry about $file: $text" is_in_news "$text"
done <"$record"
finish
