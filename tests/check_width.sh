#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The form of the C sources. No line is wider than 100 columns, with a tab stop every 8 columns; a
# character of several bytes is one column. The name of each static function of the library and of
# the tools has at least two words, so that grep and a backtrace lead to one function. No file, of
# whatever language, has marks of a conflict.
: "${top_srcdir:=$(dirname "$0")/..}"
. "$top_srcdir/tests/support/count.sh"

cd "$top_srcdir" || exit 1

# The lines of a file that are too wide: file:line: columns.
wide() {
	expand -t 8 "$1" | LC_ALL=C awk -v file="$1" '
		{
			columns = length($0) - gsub(/[\200-\277]/, "")
			if (columns > 100)
				print file ":" NR ": " columns " columns"
		}
	'
}

# The static functions of a file that have a name of one word: file:line: name.
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
	' "$1"
}

# Except generated files, which are here if the sources are built in place.
files=$(find lib include tools tests examples -type f -name '*.[ch]' \
	! -path tools/posixtrace/convert/rkh/rkh_table.c \
	! -path tools/posixtrace/convert/tracex/tracex_table.c \
	! -path tools/posixtrace/picture/page.c | sort)
check "there are C sources" test "$(printf '%s\n' "$files" | wc -l)" -ge 500
for file in $files; do
	none "$file is at most 100 columns wide" "$(wide "$file")"
	case $file in
	lib/* | tools/*) none "$file has static functions with names of two words" "$(bare "$file")" ;;
	esac
done

# shellcheck disable=SC2046 # names without blanks
none "no file has marks of a conflict" "$(unmerged $(find COPYING Makefile.am NEWS README autogen.sh \
	configure.ac meson.build posixtrace.pc.in doc examples include lib m4 tests tools -type f \
	! -name '*.o' ! -name '*.lo' ! -path '*/.libs/*'))"

finish
