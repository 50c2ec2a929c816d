#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every assertion of tests/ASSERTIONS is named by a test, or waived with a reason in
# tests/WAIVERS. A test names it in a comment; "EVENT-02 to EVENT-05" names four.
: "${top_srcdir:=$(dirname "$0")/..}"
. "$top_srcdir/tests/support/count.sh"
LC_ALL=C
export LC_ALL

cd "$top_srcdir/tests" || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

grep -v '^#' ASSERTIONS | sort >"$scratch/all"
grep -v '^#' WAIVERS | sort >"$scratch/waivers"
cut -d' ' -f1 "$scratch/waivers" >"$scratch/waived"

# The tests and the scripts that make check runs; not this one, nor the lists.
find posix unit headers model golden fuzz -name '*.c' 2>/dev/null >"$scratch/files"
ls check_*.sh | grep -v check_assertions >>"$scratch/files"
xargs cat <"$scratch/files" | tr '\n\t*' '   ' | awk '
	{
		while (match($0, /[A-Z]+-[0-9][0-9]( +(to|\.\.|-) +[A-Z]+-[0-9][0-9])?/)) {
			text = substr($0, RSTART, RLENGTH)
			$0 = substr($0, RSTART + RLENGTH)
			n = split(text, word, / +/)
			split(word[1], first, "-")
			last = first[2]
			if (n == 3) {
				split(word[3], other, "-")
				if (other[1] == first[1])
					last = other[2]
				else
					print word[3]
			}
			for (i = first[2] + 0; i <= last + 0; i++)
				printf "%s-%02d\n", first[1], i
		}
	}' | sort -u >"$scratch/named"

check "the list has its assertions" test "$(wc -l <"$scratch/all")" -ge 300
none "no assertion is listed twice" "$(uniq -d "$scratch/all")"
none "every waiver is for an assertion of the list" "$(comm -23 "$scratch/waived" "$scratch/all")"
none "every waiver has a reason" "$(grep -vE '^[A-Z]+-[0-9]{2} .{10,}' "$scratch/waivers")"
none "no waiver is for an assertion that a test names" \
	"$(comm -12 "$scratch/waived" "$scratch/named")"
for assertion in $(cat "$scratch/all"); do
	grep -qx "$assertion" "$scratch/waived" && continue
	check "$assertion is named by a test" grep -qx "$assertion" "$scratch/named"
done

finish
