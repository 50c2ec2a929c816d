#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every ordering has a letter and a partner: the table of lib/ring/ring.h and the comments at the
# accesses, "(X) with (Y) in room/file", agree. Each letter stands somewhere, with the memory order
# that the table gives it; its partner is the table's, and the file named has the partner.
: "${top_srcdir:=$(dirname "$0")/..}"
. "$top_srcdir/tests/support/count.sh"

cd "$top_srcdir/lib" || exit 1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# letter partner order; the order may stand in the row's second line
awk '
	function row(l, p, text) {
		order = "-"
		if (match(text, /(acq_rel|acquire|release|seq_cst)/))
			order = substr(text, RSTART, RLENGTH)
		print l, p, order
	}
	function flush() {
		if (left != "") {
			row(left, right, lefts)
			row(right, left, rights)
		}
		left = ""
	}
	match($0, /^ \*   \([A-Z]\)/) && /<- pairs ->/ {
		flush()
		left = substr($0, 7, 1)
		at = index($0, "<- pairs ->")
		rest = substr($0, at)
		match(rest, /\([A-Z]\)/)
		column = at + RSTART - 1
		right = substr(rest, RSTART + 1, 1)
		lefts = substr($0, 10, at - 10)
		# The column on the far right says why; between lie two blanks or more.
		rights = substr($0, column + 4)
		sub(/  +.*/, "", rights)
		next
	}
	left != "" && /^ \*       / {
		lefts = lefts " " substr($0, 1, at - 1)
		more = substr($0, column)
		if (more ~ /^ {0,4}[^ ]/) {
			sub(/^ +/, "", more)
			sub(/  +.*/, "", more)
			rights = rights " " more
		}
		next
	}
	{ flush() }
' ring/ring.h >"$tmp/table"

# file line letter partner file-named, one for each file that a comment names
awk '
	match($0, /\([A-Z]\) with \([A-Z]\)/) {
		letter = substr($0, RSTART + 1, 1)
		partner = substr($0, RSTART + 10, 1)
		rest = substr($0, RSTART + RLENGTH)
		room = FILENAME
		sub(/[^\/]*$/, "", room)
		named = 0
		while (match(rest, /[a-z_\/]+\.[ch]/)) {
			file = substr(rest, RSTART, RLENGTH)
			print FILENAME, FNR, letter, partner, file ~ /\// ? file : room file
			rest = substr(rest, RSTART + RLENGTH)
			named++
		}
		if (!named)
			print FILENAME, FNR, letter, partner, "-"
	}
' */*.[ch] >"$tmp/comments"

# The statement that a comment stands in or before: after the line that ended the one before it.
statement() {
	awk -v line="$2" '
		FNR <= line && /[;{}][ \t]*(\/\*.*\*\/)?[ \t]*$/ && FNR < line { from = FNR }
		{ text[FNR] = $0 }
		END {
			for (i = from + 1; i <= FNR; i++) {
				print text[i]
				if (i >= line && text[i] ~ /[;{]/)
					exit
			}
		}
	' "$1"
}

letters=$(wc -l <"$tmp/table")
check "the table of ring.h has its letters" test "$letters" -ge 14
check "the table of ring.h has pairs" test $((letters % 2)) -eq 0

while read -r letter partner order; do
	check "($letter) stands at an access" grep -q " $letter $partner " "$tmp/comments"
	check "($letter) has one partner" \
		test "$(grep -c "^$letter " "$tmp/table")" -eq 1
done <"$tmp/table"

while read -r file line letter partner named; do
	row=$(grep "^$letter " "$tmp/table")
	check "$file:$line: ($letter) is in the table" test -n "$row"
	check "$file:$line: ($letter) pairs with ($partner)" \
		test "$(echo "$row" | cut -d' ' -f2)" = "$partner"
	check "$file:$line: ($letter) names a file" test "$named" != -
	check "$file:$line: ($letter) names $named, which has ($partner) with ($letter)" \
		grep -qE "\($partner\) with \($letter\)" "$named"
	order=$(echo "$row" | cut -d' ' -f3)
	test "$order" = - && continue
	statement "$file" "$line" >"$tmp/statement"
	check "$file:$line: ($letter) is at an access with memory_order_$order" \
		grep -q "memory_order_$order" "$tmp/statement"
done <"$tmp/comments"

# What herd7 is asked has the orders of the table, so that it is about this code.
sed -n 's,.*memory_order_\([a-z_]*\)[^a-z_]*/\* (\([A-Z]\)) \*/.*,\2 \1,p' \
	../tests/litmus/*.litmus | sort -u >"$tmp/litmus"
while read -r letter order; do
	check "($letter) of tests/litmus is memory_order_$order in the table" \
		grep -qE "^$letter [A-Z] ($order|-)$" "$tmp/table"
done <"$tmp/litmus"
for name in $(grep -ohE '[a-z_]+\(\)' ../tests/litmus/*.litmus | tr -d '()' | sort -u); do
	check "$name() of tests/litmus is in the library" grep -qE "(^|[^a-z_])$name\(" */*.[ch]
done
check "tests/litmus has the letters of the table" test "$(cut -c1 "$tmp/litmus" | sort -u | wc -l)" -eq "$letters"

# A letter in a comment that names no partner is a mention: it must be one of the table. The
# preload library orders nothing, and lists things by macros that take a macro (X).
for letter in $(ls */*.[ch] | grep -v '^preload/' | xargs grep -ohE '\([A-Z]\)' |
		tr -d '()' | sort -u); do
	check "($letter) is a letter of the table" grep -q "^$letter " "$tmp/table"
done

finish
