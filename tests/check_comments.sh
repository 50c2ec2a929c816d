#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The comments of the C sources: how many lines of the .c files in lib/ and tools/ have one, which words
# no comment uses, that each function of a header in lib/ and tools/ has one, and that the headers of
# lib/ say which threads may call their functions. A line has a comment if any part of one is in it; the
# line of the SPDX tag counts as a line without one. The aim is 25 % in lib/ and 12.5 % in tools/.
: "${top_srcdir:=$(dirname "$0")/..}"
. "$top_srcdir/tests/support/count.sh"

cd "$top_srcdir" || exit 1

# The least share of a tree or a room, in tenths of a percent. A commit that adds comments raises the
# line of the room. No commit lowers a line.
limits='
lib 250
lib/arena 250
lib/base 250
lib/cursor 250
lib/drain 250
lib/flush 250
lib/log 250
lib/meet 250
lib/modules 250
lib/observe 250
lib/point 250
lib/posix 250
lib/preload 250
lib/record 250
lib/ring 250
tools 130
tools/babeltrace 125
tools/posixtrace 125
tools/posixtrace/agent 125
tools/posixtrace/base 125
tools/posixtrace/convert 125
tools/posixtrace/convert/etw 125
tools/posixtrace/convert/log 125
tools/posixtrace/convert/rkh 125
tools/posixtrace/convert/text 125
tools/posixtrace/convert/tracex 125
tools/posixtrace/convert/viewer 125
tools/posixtrace/choose 125
tools/posixtrace/completion 125
tools/posixtrace/diff 125
tools/posixtrace/functions 125
tools/posixtrace/inject 125
tools/posixtrace/latency 125
tools/posixtrace/live 125
tools/posixtrace/log 125
tools/posixtrace/picture 125
tools/posixtrace/query 125
tools/posixtrace/report 125
tools/posixtrace/report/template 125
tools/posixtrace/rules 120
tools/posixtrace/send 120
tools/posixtrace/show 100
tools/posixtrace/spans 125
tools/posixtrace/stat 125
tools/posixtrace/symbols 125
tools/posixtrace/syscalls 125
tools/posixtrace/top 125
tools/posixtrace/uprobes 125
tools/posixtrace/why 125
'

# Generated files are excluded. They are in the source folder if the build is.
files=$(find lib include tools examples tests -type f -name '*.[ch]' \
	! -path tools/posixtrace/convert/rkh/rkh_table.c \
	! -path tools/posixtrace/convert/tracex/tracex_table.c \
	! -path tools/posixtrace/picture/page.c | sort)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Prints "FILE:LINE:TEXT" for each line that has a comment, and "FILE LINES" at the end of a file.
# A string or character constant that contains /* or // begins no comment.
LC_ALL=C awk -v sizes="$tmp/sizes" '
	FNR == 1 {
		if (file)
			print file, lines >sizes
		file = FILENAME
		inside = 0
	}
	{
		lines = FNR
		rest = $0
		text = ""
		has = 0
		while (rest != "") {
			if (inside) {
				has = 1
				at = index(rest, "*/")
				text = text " " (at ? substr(rest, 1, at - 1) : rest)
				rest = at ? substr(rest, at + 2) : ""
				inside = !at
			} else if (match(rest, /\/\*|\/\/|"([^"\\]|\\.)*"|\047([^\047\\]|\\.)*\047/)) {
				begin = substr(rest, RSTART, 2)
				rest = substr(rest, RSTART + (begin == "/*" || begin == "//" ? 2 : RLENGTH))
				if (begin == "/*") {
					inside = has = 1
				} else if (begin == "//") {
					has = 1
					text = text " " rest
					rest = ""
				}
			} else
				rest = ""
		}
		if (has && text !~ /SPDX-License-Identifier/) {
			sub(/^ *\*+/, "", text)
			print file ":" FNR ":" text
		}
	}
	END { print file, lines >sizes }
' $files >"$tmp/comments"

# Prints "FILE:LINE" of each prototype in a header that has no comment. A comment applies to all
# prototypes between the comment and the next blank line.
awk '
	FNR == 1 { depth = is_documented = inside = is_macro = 0; text = "" }
	is_macro { is_macro = /\\$/; next }
	inside { inside = !/\*\//; next }
	/^#/ { is_macro = /\\$/; next }
	/^[ \t]*\/\*/ { is_documented = 1; inside = !/\*\//; next }
	/^$/ { if (!depth) is_documented = 0; next }
	{
		has_own = /\/\*/
		inside = has_own && !/\*\//
		line = $0
		gsub(/\047[^\047]*\047|"[^"]*"/, "", line)
		sub(/\/\*.*/, "", line)
		if (!depth && text == "" && line ~ /^[a-zA-Z_]/)
			at = FNR
		text = text " " line
		depth += gsub(/{/, "{", line) - gsub(/}/, "}", line)
		if (depth || line !~ /[;}]/)
			next
		if (text ~ /[a-z0-9_]\(.*\)[^{}]*;/ && !is_documented && !has_own &&
		    text !~ /[{}]|^ (typedef|static|extern|_Static_assert|ptx_inline)/)
			print FILENAME ":" at
		text = ""
	}
' $(printf '%s\n' $files | grep -E '^(lib|tools)/.*\.h$') >"$tmp/bare"

# Prints the headers of lib/ that declare functions and do not say which threads may call them. The
# tool has one thread; base/tool.h names the exceptions.
for header in $(printf '%s\n' $files | grep '^lib/.*\.h$'); do
	grep -vE '^(static|typedef|_Static_assert|extern) ?' "$header" |
		grep -qE '^[a-z][A-Za-z0-9_ *]*[ *][a-z0-9_]+\(' || continue
	grep -qE '^ \* (Threads|Owner) ' "$header" || echo "$header"
done >"$tmp/threadless"

# Prints "ROOM LINES COMMENTS" of the .c files, for each tree and each room.
awk '
	function room(file) {
		sub(/\/[^\/]*$/, "", file)
		return file
	}
	function tree(file) {
		sub(/\/.*/, "", file)
		return file
	}
	FILENAME ~ /sizes$/ && $1 ~ /\.c$/ {
		lines[room($1)] += $2
		lines[tree($1)] += $2
	}
	FILENAME ~ /comments$/ {
		sub(/:.*/, "")
		if (/\.c$/) {
			comments[room($0)]++
			comments[tree($0)]++
		}
	}
	END {
		for (name in lines)
			print name, lines[name], comments[name] + 0
	}
' "$tmp/sizes" "$tmp/comments" | sort >"$tmp/shares"
awk '/^(lib|tools)/ { printf "%-32s %6d lines, %5d with a comment, %5.1f %%\n", $1, $2, $3, $3 * 100 / $2 }' "$tmp/shares"

# at_least ROOM TENTHS: whether the share is at least TENTHS. If not, prints the number of missing
# lines of comments, and the files with the fewest comments.
at_least() {
	awk -v room="$1" -v limit="$2" '
		$1 == room {
			found = 1
			if ($3 * 1000 < limit * $2) {
				missing = int((limit * $2 - 1000 * $3 + 999 - limit) / (1000 - limit))
				printf "%d of %d lines are %.1f %%: %d more lines of comments are needed\n",
					$3, $2, $3 * 100 / $2, missing
				few = 1
			}
		}
		END { exit few || !found }
	' "$tmp/shares" && return
	poorest "$1" "$2"
	return 1
}

# poorest ROOM TENTHS: the three files of a room or tree with the fewest comments for their size.
poorest() {
	awk -v room="$1" -v limit="$2" '
		index($1, room "/") != 1 { next }
		FILENAME ~ /sizes$/ { lines[$1] = $2; next }
		{
			sub(/:.*/, "")
			comments[$0]++
		}
		END {
			for (file in lines) {
				folder = file
				sub(/\/[^\/]*$/, "", folder)
				lacks = limit * lines[file] - 1000 * comments[file]
				if (file ~ /\.c$/ && lacks > 0 && (folder == room || room !~ /\//))
					printf "%d %s: %d of %d lines\n", lacks, file, comments[file],
						lines[file]
			}
		}' "$tmp/sizes" "$tmp/comments" | sort -rn | head -n 3 | cut -d ' ' -f 2-
}

for limit in $(printf '%s' "$limits" | sed 's/ /:/'); do
	tenths=${limit##*:}
	check "$((tenths / 10)).$((tenths % 10)) % of the lines of ${limit%%:*} have a comment" \
		at_least "${limit%%:*}" "$tenths"
done

# Prints "FILE:LINE:TEXT" for each message of a test: the description of a check in a script, and the
# message of a failure in a C source. A letter that begins a sentence becomes a capital.
messages() {
	find tests -type f \( -name '*.sh' -o -name '*.[ch]' \) -exec awk '
		function capital(text) { return toupper(substr(text, 1, 1)) substr(text, 2) }
		!/^[ \t]*#/ && match($0, /(check |ck_(abort|assert)_msg\(|complain\(|FUZZ_MUST\()/) {
			text = substr($0, RSTART + RLENGTH)
			if (!match(text, /"([^"\\]|\\.)*"/))
				next
			text = capital(substr(text, RSTART + 1, RLENGTH - 2))
			if (match(text, /: [a-z]/))
				text = substr(text, 1, RSTART + 1) capital(substr(text, RSTART + 2))
			# The empty text separates the messages of consecutive lines.
			printf "%s:%d:%s\n%s:%d:\n", FILENAME, FNR, text, FILENAME, FNR
		}' {} +
}

# Prints "FILE:LINE: sentence" for each sentence with a word of the dialect. A message, unlike a
# comment, must not continue the message before it. LINE is the line of the sentence's first word. The lines of a comment are joined first, because a sentence or a pair of
# words may continue in the next line.
riddles() {
	LC_ALL=C awk -v is_message="${1:+1}" '
		function judge() {
			if (sentence ~ /^ *["(]*(What|Who|Whoever|Of|Nor|Whose|Whom) / ||
			    (is_message && sentence ~ /^ *(And|Or|But|So|Which) /) ||
			    tolower(sentence) ~ words)
				print where ":" sentence
			sentence = ""
		}
		BEGIN {
			words = "(^|[^a-z_])(tell|tells|told|telling|nobody|whoever|whichever|befall|" \
				"befalls|befell|befallen|stand|stands|stood|standing|(come|comes|came) to|" \
				"(go|goes|went|gone) on with)([^a-z_.]|[.]?$|[.][^ch])"
		}
		{
			match($0, /:[0-9]+:/)
			file = substr($0, 1, RSTART - 1)
			line = substr($0, RSTART + 1, RLENGTH - 2) + 0
			text = substr($0, RSTART + RLENGTH)
			if (file != last_file || line != last_line + 1 || text ~ /^[ \t]*$/)
				judge()
			last_file = file
			last_line = line
			n = split(text, part, /[.:;?!] +/)
			for (i = 1; i <= n; i++) {
				if (i > 1)
					judge()
				if (sentence == "")
					where = file ":" line
				sentence = sentence " " part[i]
			}
		}
		END { judge() }
	'
}

for tree in lib tools include examples tests; do
	none "the comments of $tree are plain technical English" \
		"$(grep "^$tree/" "$tmp/comments" | riddles)"
done

none "the messages of tests are plain technical English" "$(messages | riddles messages)"

none "each function of a header in lib/ and tools/ has a comment" "$(cat "$tmp/bare")"
none "each header of lib/ with functions has a line Threads or Owner" "$(cat "$tmp/threadless")"

finish
