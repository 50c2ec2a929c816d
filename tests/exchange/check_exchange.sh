#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The script of make check-exchange: makes the rich log, verifies it, and compares what other
# programs read in it.
: "${top_srcdir:=..}" "${top_builddir:=..}"
here=$top_srcdir/tests/exchange
tool=$(cd "$top_builddir/tools/posixtrace" && pwd)/posixtrace
folder=$(mktemp -d "${TMPDIR:-/tmp}/posixtrace-exchange.XXXXXX") || exit 1
trap 'rm -rf "$folder"' 0

# Babeltrace's plugin from this build, if it was built.
plugins=$top_builddir/tools/babeltrace/.libs
if test -e "$plugins/babeltrace-plugin-posixtrace.so"; then
	BABELTRACE_PLUGIN_PATH=$(cd "$plugins" && pwd)${BABELTRACE_PLUGIN_PATH:+:$BABELTRACE_PLUGIN_PATH}
	LD_LIBRARY_PATH=$(cd "$top_builddir/lib/.libs" && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export BABELTRACE_PLUGIN_PATH LD_LIBRARY_PATH
fi

python3 -c 'import sqlite3' 2>/dev/null || { echo "check-exchange: no python3" >&2; exit 1; }
"$top_builddir/tests/exchange/rich" "$folder/source.ptl" "${EVENTS:-4000}" || exit 1
"$tool" verify "$folder/source.ptl" || exit 1
python3 "$here/check_exchange.py" "$tool" "$folder/source.ptl" "$folder" || status=1

# The logs of the transcripts have events of the kernel.
if test -n "${PERFETTO_UI:-}" && command -v node >/dev/null; then
	for log in waits flows sched switches stacks replaced; do
		"$top_builddir/tests/tools/compose" "$folder/$log.ptl" \
			<"$top_srcdir/tests/tools/golden/logs/$log.events" || exit 1
	done
	python3 "$here/perfetto_kernel.py" "$tool" "$folder" \
		"$folder/waits.ptl" "$folder/flows.ptl" "$folder/sched.ptl" \
		"$folder/switches.ptl" "$folder/stacks.ptl" "$folder/replaced.ptl" || status=1
else
	echo "check-exchange: without PERFETTO_UI and node, states of threads are not queried"
fi
exit "${status:-0}"
