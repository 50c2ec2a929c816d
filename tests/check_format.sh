#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The tables of lib/log/FORMAT and the asserts of lib/log/format_layout.c are the same, row by row.
set -eu
src=${top_srcdir-$(dirname "$0")/..}/lib/log
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

awk '
	/^[0-9]+\.[0-9]+ /			{ section = $1 }
	match($0, /struct ptx_[a-z_]+/)		{ name = substr($0, RSTART + 7, RLENGTH - 7) }
	/^  offset  size  field/		{ table = 1; next }
	table && /^  +[0-9]+ +[0-9]+  [a-z]/	{ print section, name, $3, $1, $2 }
	/^$/					{ table = 0 }
' "$src/FORMAT" >"$tmp/format"

sed -n 's/^ROW("\([0-9.]*\)", \([a-z_]*\), \([a-z_0-9]*\), \([0-9]*\), \([0-9]*\))$/\1 \2 \3 \4 \5/p' \
	"$src/format_layout.c" >"$tmp/layout"

rows=$(wc -l <"$tmp/format")
if [ "$rows" -lt 100 ]; then
	echo "check_format: only $rows rows found in FORMAT" >&2
	exit 1
fi
if ! diff "$tmp/format" "$tmp/layout" >&2; then
	echo "check_format: FORMAT (<) and format_layout.c (>) differ" >&2
	exit 1
fi
echo "check_format: $rows rows agree"
