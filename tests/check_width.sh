#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# No line of the C sources is wider than 100 columns, with a tab stop every 8 columns. A character of
# several bytes is one column.
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

# Except generated files, which are here if the sources are built in place.
files=$(find lib include tools tests examples -type f -name '*.[ch]' \
	! -path tools/posixtrace/convert/rkh/rkh_table.c \
	! -path tools/posixtrace/convert/tracex/tracex_table.c \
	! -path tools/posixtrace/picture/page.c | sort)
check "there are C sources" test "$(printf '%s\n' "$files" | wc -l)" -ge 500
for file in $files; do
	none "$file is at most 100 columns wide" "$(wide "$file")"
done

finish
