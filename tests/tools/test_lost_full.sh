#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# CTF, Perfetto and OTLP show the loss of a full stream from that time until it runs again, or until the
# end of the log.
. "${0%/*}/lib.sh"
command -v python3 >/dev/null || skip "no python3"

make_log=${top_builddir:-..}/tests/tools/make_log
losses_of() { python3 "${0%/*}/losses_of.py" "$@"; }
# time_of LOG EVENT: of its last event of that type
time_of() { "$posixtrace" dump --raw -e "$2" "$tmp/$1" 2>/dev/null | tail -n 1 | cut -d ' ' -f 1; }

"$make_log" stopped "$tmp/full" 20000 >/dev/null || exit 99
"$make_log" plain "$tmp/later" 1000 >/dev/null || exit 99
full=$(time_of full posix_trace_stop)
end=$(time_of full '*')
lost=$("$posixtrace" convert "$tmp/full" --to jsonl |
	sed -n 's/^{"end".*"ledger":{"called":[^{]*"lost":{"stream full":\([0-9]*\)}},"types".*/\1/p')
check "the stream stopped itself" test "$("$posixtrace" dump -e posix_trace_stop "$tmp/full" 2>/dev/null |
	grep -c by=full)" -eq 1
check "there are events behind it" test "$end" -gt "$full"
check "some events were lost" test "$lost" -gt 0

# where FORMAT LOSS LOG OPTION...: the export's only loss
where() {
	format=$1
	loss=$2
	shift 2
	rm -rf "$tmp/out.$format"
	run 0 convert "$@" --to "$format" -o "$tmp/out.$format"
	check "$format $*: one loss, from full to the end" test \
		"$(losses_of "$format" "$tmp/out.$format")" = "$loss"
}
where ctf "$full $end $lost" "$tmp/full"
where perfetto "$full $end" "$tmp/full"
where otlp "$full $end $lost" "$tmp/full"
where ctf "$full $end $lost" "$tmp/full" -x 'posix_trace_error'
where perfetto "$full $end" "$tmp/full" -x 'posix_trace_error'
where perfetto "$full $end" "$tmp/full" "$tmp/later"
where perfetto "$full $end" "$tmp/later" "$tmp/full"
finish
