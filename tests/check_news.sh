#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# NEWS describes each change of a public header and of a manual page.
#
#   check_news.sh                         compares the files with tests/NEWS.record
#   check_news.sh record TEXT [FILE...]   records the files, or all that have changed, and prints
#                                         their names. TEXT is a part of the entry of NEWS that
#                                         describes the change.
#
# A line of tests/NEWS.record has a file, its checksum and length (cksum), and the TEXT. The check
# needs no history, so it also works in a tarball. Each file has a line of its own, so that git can
# merge independent changes.
: "${top_srcdir:=$(dirname "$0")/..}"
. "$top_srcdir/tests/support/count.sh"
LC_ALL=C
export LC_ALL

cd "$top_srcdir" || exit 1
record=tests/NEWS.record
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# NEWS in one line, so that a TEXT may be in two lines of an entry.
tr -s ' \n' '  ' <NEWS >"$scratch/news"
is_in_news() { test -n "$1" && grep -q -F -e "$1" "$scratch/news"; }

# The installed headers and the pages, without pages that only refer to another page.
for file in include/*.h $(grep -L '^\.so ' lib/man/*.[0-9]) tools/posixtrace/man/*.[0-9]; do
	cksum <"$file" | sed "s|^|$file |"
done >"$scratch/now"

# changed FILE SUM BYTES: whether the record has another state of the file, or does not have it.
changed() { ! grep -q -F -e "$1 $2 $3 " "$record"; }

# is_wanted FILE [NAME...]: whether FILE is one of the names, or there are no names.
is_wanted() {
	wanted=$1
	shift
	test $# -eq 0 && return 0
	for name; do
		test "$name" = "$wanted" && return 0
	done
	return 1
}

if test "$1" = record; then
	is_in_news "$2" || {
		echo "check_news.sh: no entry of NEWS has the text '$2': write the entry first" >&2
		exit 1
	}
	entry=$2
	shift 2
	for file; do
		grep -q -F -e "$file " "$scratch/now" || {
			echo "check_news.sh: $file: not a public header or manual page, from the folder of NEWS" >&2
			exit 1
		}
	done
	while read -r file sum bytes; do
		if changed "$file" "$sum" "$bytes" && is_wanted "$file" "$@"; then
			echo "recorded: $file" >&2
			echo "$file $sum $bytes $entry"
		else
			awk -v file="$file" '$1 == file' "$record"
		fi
	done <"$scratch/now" >"$scratch/record"
	cp "$scratch/record" "$record"
	exit
fi

check "there are headers and pages" test "$(wc -l <"$scratch/now")" -ge 30
# shellcheck disable=SC2046 # names without blanks
none "NEWS, headers and pages have no marks of a conflict" \
	"$(unmerged NEWS $(sed 's/ .*//' "$scratch/now"))"
while read -r file sum bytes; do
	check "$file is as $record has it; otherwise write an entry in NEWS, then run
	sh tests/check_news.sh record 'part of the entry' $file" \
		test "$(changed "$file" "$sum" "$bytes" && echo changed)" != changed
done <"$scratch/now"
while read -r file sum bytes text; do
	check "$file of $record exists" test -f "$file"
	check "NEWS has the entry about $file: $text" is_in_news "$text"
done <"$record"
finish
