#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The form of the C sources. No line is wider than 100 columns, with a tab stop every 8 columns; a
# character of several bytes is one column. The name of each static function of the library and of
# the tools has at least two words, so that grep and a backtrace lead to one function. No file, of
# whatever language, has marks of a conflict.
: "${top_srcdir:=$(dirname "$0")/..}"
. "$top_srcdir/tests/support/count.sh"

cd "$top_srcdir" || exit 1

# Prints the lines that are too wide: file:line: columns.
wide() {
	LC_ALL=C awk '
		length($0) > 12 {
			text = $0
			# each tab is at most eight columns
			if (length(text) + 7 * gsub(/\t/, "\t", text) <= 100)
				next
			columns = 0
			parts = split($0, part, "\t")
			for (i = 1; i <= parts; i++) {
				columns += length(part[i])
				columns -= gsub(/[\200-\277]/, "", part[i])
				if (i < parts)
					columns += 8 - columns % 8
			}
			if (columns > 100)
				print FILENAME ":" FNR ": " columns " columns"
		}
	' "$@"
}

# Prints the static functions that have a name of one word: file:line: name.
bare() {
	awk '
		/^static [^=;]*[a-z0-9_]\(/ {
			name = $0
			gsub(/__attribute__ *\(\([^)]*\)+ */, "", name)
			sub(/ *\(.*/, "", name)
			sub(/.*[ *]/, "", name)
			if (name ~ /^[a-z0-9]+$/)
				print FILENAME ":" FNR ": " name "()"
		}
	' "$@"
}

# Without generated files, which are in the source folder if the build is.
files=$(find lib include tools tests examples -type f -name '*.[ch]' \
	! -path tools/posixtrace/convert/rkh/rkh_table.c \
	! -path tools/posixtrace/convert/tracex/tracex_table.c \
	! -path tools/posixtrace/picture/page.c | sort)
check "there are C sources" test "$(printf '%s\n' "$files" | wc -l)" -ge 500
# shellcheck disable=SC2086 # names without blanks
none "no line is wider than 100 columns" "$(wide $files)"
# shellcheck disable=SC2046 # names without blanks
none "static functions have names of two words" \
	"$(bare $(printf '%s\n' "$files" | grep -E '^(lib|tools)/'))"

# shellcheck disable=SC2046 # names without blanks
none "no file has marks of a conflict" "$(unmerged $(find COPYING Makefile.am NEWS README autogen.sh \
	configure.ac meson.build posixtrace.pc.in doc examples include lib m4 tests tools -type f \
	! -name '*.o' ! -name '*.lo' ! -path '*/.libs/*'))"

finish
