#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The ranks of lib/README and tools/posixtrace/README hold: a file includes only files of its own
# room or of a room with a lower rank, and no file includes itself through other files. The shim,
# the tool, examples and tests/posix include only the library's public headers.
: "${top_srcdir:=$(dirname "$0")/..}"
. "$top_srcdir/tests/support/count.sh"

cd "$top_srcdir" || exit 1
LC_ALL=C
export LC_ALL

# includes FILE...: a line "FILE INCLUDE" for each #include "INCLUDE".
includes() {
	sed -nE 's/^[ \t]*#[ \t]*include[ \t]*"([^"]*)".*/\1/p; t print; b; :print; F' "$@" |
		awk 'NR % 2 { include = $0; next } { print $0, include }'
}

# against TREE ROOM: the includes of a room's files that break the ranks. "../" leaves the tree.
against() {
	awk -v tree="$1" -v room="$2" '
		FILENAME == ARGV[1] { if ($2 == "rank") rank[$1] = $3; next }
		FILENAME == ARGV[2] { exists[$1] = 1; next }
		{
			from = substr($1, length(tree) + 2)
			sub("/[^/]*$", "", from)
			if (from != room || $2 ~ "^[.][.]/")
				next
			to = $2
			if (!sub("/[^/]*$", "", to) || !(to in rank))
				print $1 ": \"" $2 "\" (no room)"
			else if (to != room && rank[to] >= rank[room])
				print $1 ": \"" $2 "\" (rank " rank[to] ", not below " rank[room] ")"
			else if (!((tree "/" $2) in exists))
				print $1 ": \"" $2 "\" (no such file)"
		}' "$1/README" "$scratch/files" "$scratch/includes"
}

# unlisted TREE ROOM: the files of a room that its Makefile.inc does not name.
unlisted() {
	for file in "$1/$2"/*.[ch]; do
		test -e "$file" || continue
		grep -qE "(^|[[:space:]])$2/$(basename "$file" | sed 's/\./\\./')([[:space:]]|\$)" \
			"$1"/Makefile.am "$1"/*/Makefile.inc "$1/$2/Makefile.inc" || echo "$file"
	done
}

# roomless TREE: the files in folders without a rank.
roomless() {
	awk -v tree="$1" '
		FILENAME == ARGV[1] { if ($2 == "rank") rank[$1] = $3; next }
		{
			room = substr($1, length(tree) + 2)
			if (sub("/[^/]*$", "", room) && !(room in rank))
				print $1
		}' "$1/README" "$scratch/files"
}

# loops TREE: files that include themselves through other files.
loops() {
	awk -v tree="$1" '$1 != tree "/" $2 { print substr($1, length(tree) + 2), $2 }' \
		"$scratch/includes" | tsort 2>&1 >/dev/null
}

check_tree() {
	find "$1" -name '*.[ch]' | sort >"$scratch/files"
	includes $(cat "$scratch/files") >"$scratch/includes"
	check "$1 has includes" test -s "$scratch/includes"
	rooms=$(awk '$2 == "rank" { print $1 }' "$1/README")
	check "$1/README has ranks" test -n "$rooms"
	for room in $rooms; do
		inc=$1/$room/Makefile.inc
		check "$1/README names $room, $inc exists" test -e "$inc"
		test -e "$inc" || continue
		line="# $(grep -E "^$room +rank" "$1/README")"
		check "$inc has the room's line of $1/README: $line" grep -qxF "$line" "$inc"
		none "$inc names every file of $1/$room" "$(unlisted "$1" "$room")"
		none "the files of $1/$room include their own room and lower ranks" \
			"$(against "$1" "$room")"
	done
	none "each folder of $1 has a rank" "$(roomless "$1")"
	none "no file of $1 includes itself by way of others" "$(loops "$1")"
}

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

check_tree lib
check_tree tools/posixtrace

# The tool and the shim share two lists, the search for a program's dynamic linker, the event of an
# ended process, the choice of families, the texts of addresses, and the copy of a stack. The tool,
# the library and the tests share the call of memfd_create().
preload='preload/(types|choose|address|image|patch_plan|sem_taker|stack_copy|status)'
shared="\.\./\.\./\.\./lib/($preload|base/memory_file)\.[ch]"
none "tools/posixtrace includes no file of lib/ but the shared ones" \
	"$(grep -F ' ../' "$scratch/includes" | grep -vE " $shared\$")"

# The shim uses the library as any program does, although both are in lib/.
none "lib/preload uses the public headers only" \
	"$(includes lib/preload/*.[ch] | grep -v ' preload/')"

rooms=$(awk '$2 == "rank" { print $1 }' lib/README | tr '\n' '|')
none "examples and tests/posix use the public headers only" \
	"$(includes examples/*.[ch] tests/posix/*.c | grep -E " (${rooms%|})/")"

finish
