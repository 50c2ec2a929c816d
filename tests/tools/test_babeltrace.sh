#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Babeltrace 2 reads logs with the plugin, and CTF that posixtrace wrote.
. "${0%/*}/lib.sh"

babeltrace2 --version >/dev/null 2>&1 || skip "no babeltrace2"
plugins=${top_builddir:-..}/tools/babeltrace/.libs
LD_LIBRARY_PATH=${top_builddir:-..}/lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# The plugin's sanitizer must be loaded before babeltrace2, whose own leaks it must not report.
sanitizer=$(ldd "$plugins/babeltrace-plugin-posixtrace.so" 2>/dev/null | sed -n 's/.*lib[at]san.* => \([^ ]*\) .*/\1/p')
if test -n "$sanitizer"; then
	babeltrace2() {
		ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 LD_PRELOAD=$sanitizer command babeltrace2 "$@"
	}
fi

# events NAME: babeltrace2 shows as many lines as dump.
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
check "the losses are reported" has err 'Tracer discarded'
test -e "$plugins/babeltrace-plugin-posixtrace.so" || finish

# details NAME [ARGUMENT...]: the messages that the plugin delivers
details() {
	name=$1
	shift
	babeltrace2 --plugin-path="$plugins" "$tmp/$name.log" -c sink.text.details "$@" >"$tmp/out" 2>"$tmp/err"
}
"$make_log" blocks "$tmp/blocks.log" 5000 >/dev/null
details blocks
blocks=$("$posixtrace" verify "$tmp/blocks.log" | sed -n 's/.* sound: \([0-9]*\) blocks.*/\1/p')
check "a block of the log is a packet" test "$(grep -c 'Packet beginning' "$tmp/out")" -eq "$blocks" -a "$blocks" -gt 10
check "each ends" test "$(grep -c 'Packet end' "$tmp/out")" -eq "$blocks"
check "no event is missing" test "$(grep -c '^Event ' "$tmp/out" || grep -c ' Event `' "$tmp/out")" -ge 5000
details overrun
lost=$("$posixtrace" verify "$tmp/overrun.log" 2>/dev/null | sed -n 's/.* lost \([0-9]*\).*/\1/p')
check "the discarded events are the lost events: $lost" test "$(sed -n 's/.*Discarded events (\([0-9,]*\) events).*/\1/p' "$tmp/out" | tr -d , | awk '{ n += $1 } END { print n + 0 }')" -eq "$lost"

# Seeks a time by the log's index: all events from there on, of all types.
"$posixtrace" convert --to evt "$tmp/blocks.log" >"$tmp/evt"
for line in 2 7 1234 5003; do
	time=$(sed -n 's/^evt .* time=\([0-9.]*\) .*/\1/p' "$tmp/evt" | sed -n "${line}p")
	wanted=$(sed -n 's/^evt .* time=\([0-9.]*\) .*/\1/p' "$tmp/evt" | awk -v t="$time" '($1 "") >= (t "")' | wc -l)
	TZ=UTC0 babeltrace2 --plugin-path="$plugins" "$tmp/blocks.log" --begin "$time" >"$tmp/out" 2>"$tmp/err"
	check "from $time on there are $wanted events" test "$(wc -l <"$tmp/out")" -eq "$wanted"
	TZ=UTC0 babeltrace2 --plugin-path="$plugins" run \
		--component=log:source.posixtrace.log --params="inputs=[\"$tmp/blocks.log\"]" \
		--component=cut:filter.utils.trimmer --params="begin=\"$time\"" \
		--component=text:sink.text.pretty --connect=log:cut --connect=cut:text >"$tmp/out" 2>"$tmp/err"
	check "also without a muxer between, by the index" test "$(wc -l <"$tmp/out")" -eq "$wanted"
done
finish
