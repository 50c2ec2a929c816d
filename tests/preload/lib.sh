# SPDX-License-Identifier: LGPL-2.1-or-later
# preload/lib.sh - functions for the tests of the shim; sourced.
. "${top_srcdir:-${0%/*}/../..}/tests/tools/lib.sh"

here=$(cd "${top_srcdir:-${0%/*}/../..}/tests/preload" && pwd)
build=$(cd "${top_builddir:-..}" && pwd)
needs_shim
LD_LIBRARY_PATH=$build/lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
POSIXTRACE_GUARDIAN=${POSIXTRACE_GUARDIAN-$build/lib/posixtrace-guardian}
POSIXTRACE_RUNTIME_DIR=$tmp/runtime
export LD_LIBRARY_PATH POSIXTRACE_GUARDIAN POSIXTRACE_RUNTIME_DIR
unset POSIXTRACE POSIXTRACE_TRACE POSIXTRACE_OPTIONS
program() {
	if test -x "$build/tests/preload/.libs/$1"; then
		echo "$build/tests/preload/.libs/$1"
	else
		echo "$build/tests/preload/$1"
	fi
}
decode=$(program decode)
probe=$(program probe)
log=$tmp/log

# shim FAMILIES COMMAND...: traced into $log; its events are then in $tmp/events, its output in
# $tmp/out and $tmp/err, its status in $status.
shim() {
	families=$1
	shift
	rm -f "$log"*
	LD_PRELOAD=$shim POSIXTRACE_OPTIONS="-v -o $log --trace=$families" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	until_complete
	"$decode" "$log" >"$tmp/events" 2>"$tmp/why"
	check "$1 $2: every event is what its schema says" is_empty why
}

# The guardian may have to complete it.
until_complete() {
	tries=600
	until "$posixtrace" verify "$log" 2>/dev/null | grep -q ': sound: '; do
		tries=$((tries - 1))
		test $tries -gt 0 || return 1
		sleep 0.05
	done
}

# shows PATTERN [NUMBER]: there are events that match, exactly NUMBER if it is given.
shows() {
	found=$(grep -c -E -e "$1" "$tmp/events")
	if test -n "$2"; then test "$found" -eq "$2"; else test "$found" -gt 0; fi && return 0
	echo "$found events match $1:"
	head -n 25 "$tmp/events"
	return 1
}

exits() { test "$status" -eq "$1" || { cat "$tmp/err"; return 1; }; }
