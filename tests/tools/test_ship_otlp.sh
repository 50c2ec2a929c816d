#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace ship --to otlp://: a collector that fails in every way gets each span and log record.
. "${0%/*}/lib.sh"

"$posixtrace" ship --help >/dev/null 2>&1 || skip "built without libcurl"
. "${0%/*}/serving.sh"
compose=${make_log%/*}/compose
unset OTEL_EXPORTER_OTLP_HEADERS

# serve FAULT...: a new collector instead of a database.
serve() {
	begin_server fake_collector.py "$@"
	url=otlp://$FAKE_ADDRESS:$port
}

fact() { sed -n "s/^$1 //p" "$tmp/result"; }
# whole SPANS RECORDS: each span and log record is there, each exactly once.
whole() {
	test "$(fact traces) $(fact logs)" = "$1 $2" && test "$(fact different-traces) $(fact different-logs)" = "$1 $2" ||
		{ cat "$tmp/result"; return 1; }
}
# once SPANS RECORDS: the same, if the receiver compares identifiers.
once() {
	test "$(fact different-traces) $(fact different-logs)" = "$1 $2" || { cat "$tmp/result"; return 1; }
}

log=$tmp/plain.log
"$make_log" plain "$log" 12000 >/dev/null || exit 99
"$posixtrace" convert "$log" --to otlp -o "$tmp/files" || exit 99
python3 "$here/otlp.py" ids "$tmp/files" >"$tmp/ids" || exit 99
spans=$(wc -l <"$tmp/ids")
# A dry run and convert agree about the number of records.
run 0 ship --dry-run --to otlp://127.0.0.1:1 "$log"
check "a dry run has the spans of convert" has out ": $spans spans and [0-9]* log records to ship, "
records=$(sed -n 's/.* and \([0-9]*\) log records.*/\1/p' "$tmp/out")
check "there are records of both kinds, in several requests" test "$spans" -gt 5120 -a "$records" -gt 0

serve
ships 0 "$log"
check "all records arrive" whole "$spans" "$records"
check "the report has their number" has out "plain.log: $spans spans and $records log records shipped, [0-9]* bytes, $((spans + records)) in all\$"
requests=$(fact requests)
ships 0 "$log"
check "a second run sends nothing" test "$(fact requests)" -eq "$requests"
check "a second run reports that it sent nothing" has out ": 0 spans and 0 log records shipped, 0 bytes, $((spans + records)) in all\$"
cp "$log" "$tmp/copy.log"
ships 0 "$tmp/copy.log"
check "a copy is the same log" test "$(fact requests)" -eq "$requests"
ships 0 --host elsewhere "$tmp/copy.log"
check "a log of two hosts has all identifiers twice" whole $((2 * spans)) $((2 * records))
position=$(ls "$tmp/state"/* | grep -v 'lock$' | head -n 1)
cp "$position" "$tmp/position"
sed 's/^traces .*/traces 99999999/; s/^ended 1/ended 0/' "$tmp/position" >"$position"
"$posixtrace" ship --state "$tmp/state" --to "$url" "$log" >"$tmp/out" 2>"$tmp/err"
"$posixtrace" ship --state "$tmp/state" --to "$url" --host elsewhere "$log" >>"$tmp/out" 2>>"$tmp/err"
check "a position behind the end of the log is reported" has err ': the collector has 99999999 spans and .* of this log'
cp "$tmp/position" "$position"
check "another host is another log" test "$(fact requests)" -eq $((2 * requests))
check "the records have the name of the other host" has result '^hosts .*elsewhere'

# Each fault at each place. Nothing was stored, so nothing may be there twice.
for fault in 429 502 503 504 cut half long; do
	for before in 0 2 4; do
		rm -rf "$tmp/state"
		# shellcheck disable=SC2046 # a list of words
		serve $(yes none | head -n "$before") $fault $fault
		ships 0 "$log"
		check "$fault after $before: each record exactly once" whole "$spans" "$records"
	done
done
check "control characters are escaped" lacks err "$(printf '\033')"

# The answer is lost, but the records are stored: they have the same identifiers again.
for fault in cut-stored slow; do
	rm -rf "$tmp/state"
	serve none $fault none $fault
	ships 0 --timeout 1 "$log"
	check "$fault: each identifier once" once "$spans" "$records"
done
rm -rf "$tmp/state"
serve short
ships 0 "$log"
check "a success whose text ends too early is reported" has err ': status 200, but the answer is not complete'
check "the request with the incomplete answer is not sent again" whole "$spans" "$records"

# The collector asks for a pause.
rm -rf "$tmp/state"
serve 503:2
before=$(date +%s)
ships 0 "$log"
check "the pause is kept" test $(($(date +%s) - before)) -ge 1
check "the message has the status and the reason" has err '/v1/[a-z]*: status 503: the reason of status 503'
rm -rf "$tmp/state"
serve 503:100000
ships 1 --give-up 1 "$log"
check "a pause that exceeds --give-up ends the run" has err 'gives up'

# Statuses that are final. The next run goes on behind the accepted records.
for fault in 400 401 404 413 500 redirect; do
	rm -rf "$tmp/state"
	serve none none $fault
	ships 1 "$log"
	check "$fault: there is one attempt" test "$(fact requests)" -eq 3
	check "$fault: the reason is printed" has err ': status [345][0-9][0-9]: '
	ships 0 "$log"
	check "$fault: the next run sends the rest" whole "$spans" "$records"
done

# A collector that rejects records.
rm -rf "$tmp/state"
serve partial warning garbage
ships 4 "$log"
check "rejected records are reported" has err ': 1 of 1024 records rejected: one record is too old'
check "rejected records are counted" has out ', 1 rejected$'
check "warnings are printed" has err ': please send less'
check "the others are there" test "$(($(fact traces) + $(fact logs)))" -eq $((spans + records - 1))
requests=$(fact requests)
ships 4 "$log"
check "they are not sent again" test "$(fact requests)" -eq "$requests"

# Killed at any moment: at most the request whose answer was not stored is there twice.
rm -rf "$tmp/state"
serve
for pause in 0.01 0.02 0.03 0.05 0.08 0.1 0.15; do
	"$posixtrace" ship --state "$tmp/state" --to "$url" "$log" >/dev/null 2>&1 &
	sleep "$pause"
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
done
ships 0 "$log"
check "after kills: each identifier once" once "$spans" "$records"
"$posixtrace" ship --state "$tmp/state" --to "$url" "$log" >"$tmp/again" 2>&1
check "nothing is left to send" has again ': 0 spans and 0 log records shipped'

# Paths, headers, users.
rm -rf "$tmp/state"
FAKE_PATH=/otlp/in
export FAKE_PATH
serve
unset FAKE_PATH
url=http://me:secret@${url#otlp://}/otlp/in/
ships 0 --header 'X-Token: one two' "$log"
check "the path precedes v1" whole "$spans" "$records"
check "the header arrives" has result '^token one two$'
check "the name of the user arrives" has result "^authorization Basic $(printf me:secret | base64)\$"
rm -rf "$tmp/state"
serve 401
OTEL_EXPORTER_OTLP_HEADERS='x-other=1, X-Token=a%20b' "$posixtrace" ship --state "$tmp/state" --to "$url" "$log" \
	>"$tmp/out" 2>"$tmp/err"
check "headers of the environment arrive" has result '^token a b$'

# Compressed requests, also if they are repeated.
if "$posixtrace" ship --dry-run --gzip --to "$url" "$log" >/dev/null 2>"$tmp/err"; then
	rm -rf "$tmp/state"
	serve
	ships 0 "$log"
	plain=$(fact bytes)
	check "without the option nothing is compressed" has result '^encoding none$'
	rm -rf "$tmp/state"
	serve none 503 none cut
	ships 0 --gzip --header 'X-Token: one two' "$log"
	check "compressed: each record exactly once" whole "$spans" "$records"
	check "compressed: the header" has result '^encoding gzip$'
	check "compressed: other headers arrive, too" has result '^token one two$'
	check "compressed: fewer bytes: $(fact bytes) of $plain" test $(($(fact bytes) * 2)) -lt "$plain"
else
	check "a build without zlib says so" has err 'zlib'
fi
run 2 ship --to clickhouse://host/db --gzip "$log"
check "a database has no --gzip" has err '\-\-gzip is for a collector'

# A log from a pipe, a folder, and --follow.
rm -rf "$tmp/state" "$tmp/logs"
serve
cat "$log" | "$posixtrace" ship --state "$tmp/state" --to "$url" - >"$tmp/out" 2>"$tmp/err"
check "a log of standard input is read twice" whole "$spans" "$records"
check "its name is printed" has out '^standard input: '
mkdir "$tmp/logs"
for name in demo losses spans io strange empty; do
	"$compose" "$tmp/logs/$name.ptl" <"$here/golden/logs/$name.events" || exit 99
done
serve
rm -rf "$tmp/state"
ships 0 "$tmp/logs"
check "each log of a folder is shipped" test "$(wc -l <"$tmp/out")" -eq 6
all="$(fact traces) $(fact logs)"
ships 0 --follow "$tmp/logs/demo.ptl"
check "--follow ends with a complete log" test "$(fact traces) $(fact logs)" = "$all"
head -c 9000 "$tmp/logs/spans.ptl" >"$tmp/cut.ptl"
ships 3 "$tmp/cut.ptl"
check "a log that is not complete is not shipped" has err 'a collector gets a log when it is complete'
end_server
ships 1 --give-up 1 --host absent "$log"
check "an absent collector is named" has err "$FAKE_ADDRESS:[0-9]*/v1/[a-z]*: "

# Wrong command lines.
run 2 ship --to otlp:// "$log"
check "the host is missing" has err '^posixtrace: --to: the name of a host is missing'
run 2 ship --to otlp://host:0 "$log"
run 2 ship --to 'otlp://host/a?b' "$log"
check "a query is no path" has err '^posixtrace: --to: a path has no query'
run 2 ship --to "$url" --header 'no colon' "$log"
check "a header is checked" has err "^posixtrace: --header: write 'NAME: VALUE'"
run 2 ship --to "$url" --header "X: a
Y: b" "$log"
run 2 ship --to "$url" --replicated "$log"
check "options of a database are refused" has err '--replicated, .* have no meaning for a collector'
run 2 ship --to clickhouse://host/db --header 'A: b' "$log"
check "a database has no headers" has err '\-\-header is for a collector'
OTEL_EXPORTER_OTLP_HEADERS=wrong "$posixtrace" ship --state "$tmp/state" --to "$url" "$log" >"$tmp/out" 2>"$tmp/err"
check "a wrong environment is refused" test $? -eq 2
finish
