#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The ranks of lib/README hold: a file includes only files of its own room or of a lower rank.
# What only users may see (examples, the tool, tests/posix) includes no file of lib/ at all.
: "${top_srcdir:=$(dirname "$0")/..}"
. "$top_srcdir/tests/support/count.sh"

cd "$top_srcdir" || exit 1
ranks=$(awk '$2 == "rank" { print $1, $3 }' lib/README)

rank_of() {
	printf '%s\n' "$ranks" | awk -v room="$1" '$1 == room { print $2 }'
}

# The includes of a file that name a room: "room/file.h".
includes() {
	sed -nE 's/^[ \t]*#[ \t]*include[ \t]*"([^"]*)".*/\1/p' "$1"
}

check "lib/README has ranks" test -n "$ranks"

for room in $(printf '%s\n' "$ranks" | cut -d' ' -f1); do
	check "lib/README names $room, lib/$room exists" test -d "lib/$room"
	inc=lib/$room/Makefile.inc
	test -e "$inc" || continue
	check "$inc begins with the room's line" \
		grep -qxF "# $(grep -E "^$room +rank" lib/README)" "$inc"
	rank=$(rank_of "$room")
	for file in lib/"$room"/*.[ch]; do
		test -e "$file" || continue
		check "$file is in $inc" \
			grep -qE "(^|[[:space:]])$room/$(basename "$file" | sed 's/\./\\./')([[:space:]]|\$)" "$inc"
		bad=
		for include in $(includes "$file"); do
			other=${include%%/*}
			other_rank=$(rank_of "$other")
			if [ "$other" = "$include" ] || [ -z "$other_rank" ]; then
				bad="$bad \"$include\" (no room)"
			elif [ "$other" != "$room" ] && [ "$other_rank" -ge "$rank" ]; then
				bad="$bad \"$include\" (rank $other_rank, not below $rank)"
			elif [ ! -e "lib/$include" ]; then
				bad="$bad \"$include\" (no such file)"
			fi
		done
		none "$file includes what is below it" "$bad"
	done
done

for file in lib/*/*.[ch]; do
	room=$(basename "$(dirname "$file")")
	check "the room of $file has a rank" test -n "$(rank_of "$room")"
done

# The shim is a user of the library that lives beside it.
for file in lib/preload/*.[ch]; do
	none "$file uses the public headers only" "$(includes "$file" | grep -v '^preload/')"
done

for file in examples/*.[ch] tools/posixtrace/*.[ch] tests/posix/*.c; do
	test -e "$file" || continue
	bad=
	for include in $(includes "$file"); do
		test -z "$(rank_of "${include%%/*}")" || bad="$bad \"$include\""
	done
	none "$file uses the public headers only" "$bad"
done

finish
