#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A type that the only stream filters out is silent, and the types beside it are recorded as before:
# wrappers of one type record others, too.
. "${0%/*}/lib.sh"

# count FAMILIES FILE OPTION... -- COMMAND...: the types of which there are events.
count() {
	families=$1
	to=$2
	shift 2
	"$posixtrace" record -q --force -o "$log" --trace="$families" "$@" >/dev/null 2>"$tmp/err" || {
		cat "$tmp/err"
		return 1
	}
	"$posixtrace" dump --fields event "$log" | sort -u | grep -v '^posix_trace' >"$to"
}

# without TYPE FAMILIES COMMAND...: without this type, all others of $tmp/same are there. Threads that
# the end of the program cuts off may miss one, so that a second run decides.
without() {
	type=$1
	families=$2
	shift 2
	for run in 1 2 3 4 5; do
		count "$families" "$tmp/now" -x "$type" -- "$@" || return 1
		grep -Fxq "$type" "$tmp/now" && echo "$type is recorded" && return 1
		grep -Fxv "$type" "$tmp/same" | grep -vFxf "$tmp/now" >"$tmp/missing" || return 0
	done
	echo "without $type there is no:"
	cat "$tmp/missing"
	return 1
}

# each FAMILIES COMMAND...: leaves out each type by itself.
each() {
	families=$1
	shift
	count "$families" "$tmp/one" -- "$@" && count "$families" "$tmp/two" -- "$@" || return 1
	grep -Fxf "$tmp/two" "$tmp/one" >"$tmp/same"
	test "$(wc -l <"$tmp/same")" -gt 1 || return 1
	for each in $(cat "$tmp/same"); do
		without "$each" "$families" "$@" || return 1
	done
}

check "threads" each thread,io "$probe" thread
check "locks and their holds" each lock,lock-hold "$probe" uncontended
check "processes" each process,io sh -c '/bin/true; /bin/true | cat; exec /bin/true'
check "memory" each alloc "$probe" alloc
check "files" each io,file,stdio sort -o "$tmp/sorted" "$0"
finish
