#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# tests/ASSERTIONS has each assertion once, with its kind, its page of the standard and a sentence.
# A test names each assertion in a comment, or tests/WAIVERS has the reason why no test does.
# "EVENT-02 to EVENT-05" names four assertions. Each id that code or tests cite is in the list.
: "${top_srcdir:=$(dirname "$0")/..}"
. "$top_srcdir/tests/support/count.sh"
LC_ALL=C
export LC_ALL

cd "$top_srcdir/tests" || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# One line for each assertion: id, kind, page, text, with tabs between them.
awk '
	/^#/ { next }
	/^[A-Z]+-[0-9][0-9]  / {
		if (id)
			print id "\t" kind "\t" page "\t" text
		split($0, field, /  +/)
		id = field[1]; kind = field[2]; page = field[3]; text = ""
		next
	}
	/^\t/ { text = text (text ? " " : "") substr($0, 2); next }
	NF { print "?" $0 }
	END { print id "\t" kind "\t" page "\t" text }' ASSERTIONS >"$scratch/list"
cut -f1 "$scratch/list" | sort >"$scratch/all"
grep -v '^#' WAIVERS | sort >"$scratch/waivers"
cut -d' ' -f1 "$scratch/waivers" >"$scratch/waived"

# The tests and the scripts that make check runs, without this script and the lists.
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
none "every line of the list belongs to an assertion" "$(grep '^?' "$scratch/list")"
none "every assertion has a kind" \
	"$(awk -F '\t' '$2 !~ /^(shall|fail|may|derived|project)$/' "$scratch/list")"
none "every assertion has a page of the standard" \
	"$(awk -F '\t' '$3 !~ /^(XSH 2[.0-9]*|<[a-z]+\.h>|[a-z_]+\(\))$/' "$scratch/list")"
none "every assertion has a sentence" "$(awk -F '\t' 'length($4) < 20 || $4 !~ /\.$/' "$scratch/list")"
none "every waiver is for an assertion of the list" "$(comm -23 "$scratch/waived" "$scratch/all")"
none "every waiver has a reason" "$(grep -vE '^[A-Z]+-[0-9]{2} .{10,}' "$scratch/waivers")"
none "no waiver is for an assertion that a test names" \
	"$(comm -12 "$scratch/waived" "$scratch/named")"

# The ids that code and tests cite, with short forms such as "LOG-04 to -07". UTF-16 is no id.
cd .. || exit 1
find include lib tools tests examples -type f '(' -name '*.[ch]' -o -name '*.sh' -o -name '*.py' \
	-o -name '*.[1357]' -o -name DESIGN -o -name README ')' |
	xargs grep -noE '\b[A-Z]{3,}-[0-9]{2}\b((,|,? to|,? and|,? or) -[0-9]{2}\b)*' /dev/null |
	awk -F : '
		{
			n = split($3, word, / +/)
			sub(/,$/, "", word[1])
			print $1 ":" $2, word[1]
			split(word[1], part, "-")
			for (i = 2; i <= n; i++)
				if (sub(/^-/, "", word[i]))
					print $1 ":" $2, part[1] "-" word[i] + 0
		}' | awk '{ sub(/,$/, ""); n = split($2, part, "-")
			    printf "%s %s-%02d\n", $1, part[1], part[2] }' |
	grep -v ' UTF-16$' >"$scratch/cited"
check "code and tests cite assertions" test "$(wc -l <"$scratch/cited")" -ge 400
none "every cited assertion is in the list" "$(awk -v all="$scratch/all" '
	BEGIN { while ((getline id <all) > 0) known[id] = 1 }
	!($2 in known)' "$scratch/cited")"
for assertion in $(cat "$scratch/all"); do
	grep -qx "$assertion" "$scratch/waived" && continue
	check "$assertion is named by a test" grep -qx "$assertion" "$scratch/named"
done

finish
