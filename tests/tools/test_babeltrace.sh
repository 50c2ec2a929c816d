#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Babeltrace 2 reads logs by the plugin, and CTF that posixtrace wrote.
. "${0%/*}/lib.sh"

babeltrace2 --version >/dev/null 2>&1 || skip "no babeltrace2"
plugins=${top_builddir:-..}/tools/babeltrace/.libs
LD_LIBRARY_PATH=${top_builddir:-..}/lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# events NAME: what babeltrace2 shows of it is as many lines as dump shows.
events() {
	test "$(wc -l <"$tmp/out")" -eq "$("$posixtrace" dump "$tmp/$1.log" 2>/dev/null | grep -c .)"
}

for kind in plain overrun; do
	"$make_log" $kind "$tmp/$kind.log" 5000 >/dev/null || exit 99
	run 0 convert "$tmp/$kind.log" -o "$tmp/$kind.ctf"
	babeltrace2 "$tmp/$kind.ctf" >"$tmp/out" 2>"$tmp/err"
	check "$kind: CTF is read" events $kind
	test -e "$plugins/babeltrace-plugin-posixtrace.so" || continue
	babeltrace2 --plugin-path="$plugins" "$tmp/$kind.log" >"$tmp/out" 2>"$tmp/err"
	check "$kind: the log is found to be one, and read" events $kind
done
check "what was lost is told" has err 'Tracer discarded'
finish
