# SPDX-License-Identifier: LGPL-2.1-or-later
# realworld/lib.sh - runs unchanged programs without the shim and with it; each script sources it.
#
#	PACKAGES                the packages needed, as "PACKAGE WHAT" of tools/prepare.sh, one on a line
#	work PREFIX...          in the script: runs the program behind the prefix, output to standard output
#	compare                 runs it in pairs, without prefix and with record; compares, prints a result
#
# PTX_PAIRS is the number of pairs; PTX_TRACE selects other families than the default.
: "${top_srcdir:=..}" "${top_builddir:=$top_srcdir}"
. "$top_srcdir/tests/support/count.sh"
. "$top_srcdir/tools/prepare.sh"
LC_ALL=C.UTF-8 TZ=UTC0
export LC_ALL TZ

name=${0##*/}
name=${name%.sh}
build=$(cd "$top_builddir" && pwd)
source=$(cd "$top_srcdir" && pwd)
here=$source/tests/realworld
posixtrace=$build/tools/posixtrace/.libs/posixtrace
test -x "$posixtrace" || posixtrace=$build/tools/posixtrace/posixtrace
LD_LIBRARY_PATH=$build/lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
POSIXTRACE_PRELOAD=$build/lib/.libs/libposixtrace-preload.so
POSIXTRACE_GUARDIAN=$build/lib/posixtrace-guardian
export LD_LIBRARY_PATH POSIXTRACE_PRELOAD POSIXTRACE_GUARDIAN
unset LD_PRELOAD POSIXTRACE_TRACE POSIXTRACE POSIXTRACE_OPTIONS

tmp=$(mktemp -d "${TMPDIR:-/var/tmp}/posixtrace-realworld.XXXXXX") || exit 99
children=
end_children() {
	for child in $children; do
		kill -KILL "$child"
	done
} 2>/dev/null
trap 'end_children; rm -rf "$tmp"' 0
trap 'exit 1' 1 2 15
cd "$tmp" || exit 99
log=$tmp/log.ptl

echo "$PACKAGES" | while read -r package what; do
	test -z "$package" || test -e "$what" || echo "need $package $what"
done >"$tmp/needs"
. "$tmp/needs"
install_missing

now() { date +%s%N; }
record() { "$posixtrace" record -q -o "$log" -s 16M ${PTX_TRACE:+--trace="$PTX_TRACE"} ${families:+--trace="$families"} -- "$@"; }
count_of() { "$posixtrace" dump -e "$1" "$log" 2>/dev/null | wc -l; }

# soon COMMAND...: repeats the command until it succeeds, for ten seconds at most.
soon() {
	tries=200
	until "$@"; do
		tries=$((tries - 1))
		test $tries -gt 0 || return 1
		sleep 0.05
	done
}

# attaches OPTION...: begins posixtrace attach, sets $tracer, and returns when the stream is running.
is_recording() { "$posixtrace" list 2>/dev/null | grep -q 'log.ptl .*running'; }
attaches() {
	"$posixtrace" attach "$@" -o "$log" >"$tmp/attached" 2>&1 &
	tracer=$!
	soon is_recording
}

# Other programs do not take the CPU of this process: their part of the time says nothing of it.
has_priority() { chrt -f -p 1 "$1" 2>/dev/null || renice -n -15 -p "$1" >/dev/null 2>&1; }

# once KIND PREFIX...: output in out.KIND, status in status.KIND, nanoseconds in ns.KIND
once() {
	kind=$1
	shift
	begin=$(now)
	work "$@" >"$tmp/out.$kind" 2>"$tmp/err.$kind" </dev/null
	echo $? >"$tmp/status.$kind"
	end=$(now)
	# A script may define its own measure.
	test -s "$tmp/cost.$kind" || echo $((end - begin)) >"$tmp/cost.$kind"
}

is_sound() { "$posixtrace" verify "$log" | grep -q ': sound: '; }

# The losses with their causes; all of them are reported.
losses() { "$posixtrace" verify "$log" 2>/dev/null | sed -n 's/.* lost \([0-9].*\)/\1/p'; }
events() { "$posixtrace" verify "$log" 2>/dev/null | sed -n 's/.* called \([0-9]*\) .*/\1/p'; }

same_output() { cmp "$tmp/out.plain" "$tmp/out.traced"; }
same_status() { test "$(cat "$tmp/status.plain")" = "$(cat "$tmp/status.traced")"; }

is_status() {
	test "$(cat "$tmp/status.plain")" = "${status:-0}" || { cat "$tmp/err.plain"; return 1; }
}

compare() {
	: >"$tmp/ratios"
	pair=0
	while test $pair -lt "${PTX_PAIRS:-3}"; do
		pair=$((pair + 1))
		rm -f "$tmp"/cost.*
		once plain
		once traced record
		check "$name: the output is the same" same_output
		check "$name: the exit status is the same" same_status
		check "$name: it is ${status:-0}" is_status
		check "$name: the log is sound" is_sound
		echo "$(cat "$tmp/cost.plain") $(cat "$tmp/cost.traced")" >>"$tmp/ratios"
	done
	awk -v name="$name" -v events="$(events)" -v lost="$(losses)" '
		{ ratio[NR] = $2 / $1; plain[NR] = $1; traced[NR] = $2 }
		function median(list, n,   i, j, t) {
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && list[j] < list[j - 1]; j--) {
					t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
				}
			return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
		}
		END {
			ratio_ = median(ratio, NR)
			printf "RESULT %-8s %9.4g %9.4g %7.3f %10d  %s\n", name, median(plain, NR) / 1e9,
			       median(traced, NR) / 1e9, ratio_, events, lost
		}' "$tmp/ratios"
}
