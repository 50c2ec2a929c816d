#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# One definition of a span: latency, query, html and every export of slices find the same spans,
# which nest, cross, recur, do not end or are cut by losses.
. "${0%/*}/lib.sh"

command -v python3 >/dev/null || skip "no python3"
compose=${top_builddir:-..}/tests/tools/compose
spans_of() { python3 "${0%/*}/spans_of.py" "$@"; }
has_query=false
"$posixtrace" query --help >/dev/null 2>&1 && has_query=true

# Counts and total times by name, as the summary that latency and html print.
summary() {
	python3 -c '
import json, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
if text[0] != "{":
	text = re.search(r"\{\"log\":.*?\}(?=\s*</script>)", text, re.S).group()
for s in sorted(json.loads(text)["series"], key=lambda s: s["name"]):
	if s["count"]:
		print(s["name"], s["count"], int(s.get("total_ns", -1)))
' "$1"
}

# agree LOG WHAT: all find the spans of latency, which are in $tmp/wanted.
agree() {
	run 0 latency --json "$1"
	summary "$tmp/out" >"$tmp/wanted"
	check "$2: there are spans" test -s "$tmp/wanted"
	rm -f "$tmp/page.html"
	run 0 html "$1" -o "$tmp/page.html"
	summary "$tmp/page.html" | cut -d ' ' -f 1,2 >"$tmp/found"
	cut -d ' ' -f 1,2 "$tmp/wanted" >"$tmp/counts"
	check "$2: html has the spans of latency" diff "$tmp/counts" "$tmp/found"
	for sink in perfetto chrome speedscope otlp; do
		rm -rf "$tmp/spans.$sink"
		run 0 convert "$1" --to $sink -o "$tmp/spans.$sink"
		spans_of $sink "$tmp/spans.$sink" >"$tmp/found"
		check "$2: $sink has the spans of latency" diff "$tmp/wanted" "$tmp/found"
	done
	$has_query || return
	run 0 query --csv "$1" "select span || ' ' || count(*) || ' ' || sum(duration) from spans group by span"
	sed 1d "$tmp/out" | tr -d '"' >"$tmp/found"
	check "$2: query has the spans of latency" diff "$tmp/wanted" "$tmp/found"
}

# log NAME: a log of these lines.
log() { "$compose" "$tmp/$1.log" || exit 99; }

types='type job_begin
type job_end
type part.begin @begin part
type part.end @end part
type req.open u32 n; @begin req; @key n
type req.done u32 n; @end req; @key n
type call ns time
type lock_held ns time; ptr lock
type mark'

{ echo "$types"; cat <<'END'; } | log nested
job_begin 1 7 100
part.begin 1 7 110
call 1 7 120 5
part.end 1 7 130
part.begin 1 7 130
part.end 1 7 130
job_end 1 7 140
mark 1 7 150
END
agree "$tmp/nested.log" "spans that nest"
check "nested: the spans are these" test "$(paste -sd ' ' "$tmp/wanted")" = "call 1 5 job 1 40 part 2 20"

{ echo "$types"; cat <<'END'; } | log keyed
req.open 1 7 100 1
req.open 1 8 105 2
req.open 1 7 110 3
req.done 1 9 120 1
req.done 1 7 130 3
req.done 1 7 140 2
req.open 1 7 140 1
req.done 1 7 150 1
END
agree "$tmp/keyed.log" "spans with keys"
check "keyed: all are there" test "$(cat "$tmp/wanted")" = "req 4 85"
{ echo "$types"; awk 'BEGIN { for (i = 0; i < 100; i++) { print "req.open 1 7", 1000 + 600 * i, i; print "req.done 1 7", 1500 + 600 * i, i } }'; } |
	log rows
agree "$tmp/rows.log" "spans with keys, one after the other"
check "keyed: one lane is enough" test "$(grep -c '"type":"evented"' "$tmp/spans.speedscope")" -eq 1

# Two that cross do not change the others.
{ echo "$types"; cat <<'END'; } | log crossing
job_begin 1 7 100
part.begin 1 7 110
job_end 1 7 120
part.end 1 7 130
job_begin 1 7 200
part.begin 1 7 210
part.end 1 7 220
job_end 1 7 230
call 1 7 240 35
lock_held 1 7 250 200 4096
END
agree "$tmp/crossing.log" "spans that cross"
check "crossing: all are there" test "$(paste -sd ' ' "$tmp/wanted")" = "call 1 35 job 2 50 lock_held 1 200 part 2 30"

{ echo "$types"; awk 'BEGIN {
	for (i = 0; i < 600; i++) print "job_begin 1 7", 1000 + i
	for (i = 0; i < 600; i++) print "job_end 1 7", 2000 + i
}'; } | log recursive
agree "$tmp/recursive.log" "recursive spans"
check "recursive: all 600" test "$(cut -d ' ' -f 1,2 "$tmp/wanted")" = "job 600"
run 0 latency --json "$tmp/recursive.log"
check "recursive: the youngest ends first" has out '"max_ns":1599,'
{ echo "$types"; awk 'BEGIN {
	for (i = 0; i < 600; i++) print "req.open 1 7", 1000 + i, i
	for (i = 0; i < 600; i++) print "req.done 1 7", 2000 + 3 * i, i
}'; } | log many
agree "$tmp/many.log" "many open spans with keys"
check "many: each end has its begin" test "$(cat "$tmp/wanted")" = "req 600 959400"

{ echo "$types"; cat <<'END'; } | log unfinished
job_end 1 7 90
job_begin 1 7 100
part.begin 1 7 110
part.end 1 7 120
req.open 1 7 125 1
job_begin 1 8 130
job_end 1 8 140
END
agree "$tmp/unfinished.log" "spans without an end"
check "unfinished: spans with both ends are there" test "$(paste -sd ' ' "$tmp/wanted")" = "job 1 10 part 1 10"

{ echo "$types"; cat <<'END'; } | log lossy
job_begin 1 7 100
req.open 1 7 105 1
part.begin 1 7 110
part.end 1 7 120
posix_trace_overflow 0 0 130
posix_trace_resume 0 0 140
req.done 1 7 145 1
job_end 1 7 150
job_begin 1 7 160
req.open 1 7 165 1
job_end 1 7 170
req.done 1 7 175 1
lost mark 5
END
agree "$tmp/lossy.log" "spans that losses cut"
check "lossy: whole spans are there" test "$(paste -sd ' ' "$tmp/wanted")" = "job 1 10 part 1 10 req 1 10"

# Times that are equal, times that decrease, and spans that begin before all events.
{ echo "$types"; cat <<'END'; } | log times
call 1 7 500 450
job_begin 1 7 500
part.begin 1 7 500
call 1 7 500 0
part.end 1 7 500
job_end 1 7 500
job_begin 1 7 400
job_end 1 7 450
call 1 7 450 50
call 1 7 450 50
call 1 7 460 18446744073709551615
END
run 0 latency --json "$tmp/times.log"
summary "$tmp/out" | cut -d ' ' -f 1,2 >"$tmp/wanted"
for sink in perfetto chrome speedscope; do
	rm -f "$tmp/spans.$sink"
	run 0 convert "$tmp/times.log" --to $sink -o "$tmp/spans.$sink"
	spans_of $sink "$tmp/spans.$sink" | cut -d ' ' -f 1,2 >"$tmp/found"
	check "strange times: $sink has the spans of latency" diff "$tmp/wanted" "$tmp/found"
done

# Random logs: threads of two processes, in every order, with a clock that often does not advance.
for seed in 1 2 3; do
	{ echo "$types"; awk -v seed=$seed 'BEGIN {
		srand(seed); now = 100000
		split("job_begin job_end part.begin part.end req.open req.done call lock_held mark", type, " ")
		for (i = 0; i < 20000; i++) {
			now += int(rand() * 3)
			t = type[1 + int(rand() * 9)]
			tid = 1 + int(rand() * 4)
			value = ""
			if (t ~ /^req/) value = int(rand() * 20)
			if (t == "call") value = int(rand() * 40)
			if (t == "lock_held") value = int(rand() * 400) " 4096"
			print t, 1 + tid % 2, tid, now, value
			if (rand() < 0.0005) {
				print "posix_trace_overflow 0 0", now
				print "posix_trace_resume 0 0", ++now
			}
		}
	}'; } | log chance$seed
	agree "$tmp/chance$seed.log" "spans by chance, $seed"
done

# A source that gives its types as they appear, from a pipe, which can be read once: the same result
# as for a log.
{
	printf 'name 0x100 "job_begin"\nevt id=0x100 pid=1 tid=7 time=10.0 data=-\n'
	printf 'name 0x101 "job_end"\nevt id=0x101 pid=1 tid=7 time=10.5 data=-\n'
	printf 'evt id=0x100 pid=1 tid=7 time=11.0 data=-\nevt id=0x101 pid=1 tid=7 time=11.25 data=-\n'
} >"$tmp/foreign.evt"
for sink in perfetto chrome speedscope; do
	"$posixtrace" convert - --to $sink <"$tmp/foreign.evt" >"$tmp/piped.$sink" 2>"$tmp/err"
	# shellcheck disable=SC2002
	cat "$tmp/foreign.evt" | "$posixtrace" convert - --to $sink >"$tmp/again.$sink" 2>>"$tmp/err"
	check "$sink: a pipe is as good as a file" cmp "$tmp/piped.$sink" "$tmp/again.$sink"
	check "$sink: a foreign trace has its spans" test "$(spans_of $sink "$tmp/piped.$sink")" = "job 2 750000000"
done

# A thread is one track, whatever its pthread_t; processes and threads have names.
{
	echo "type process.start s32 pid; str program"
	echo "type io.read ns time; s32 fd"
	echo "process.start 100 100 1000 100 /usr/bin/first"
	echo "io.read 100 100 2000 10 3"
	echo "io.read 100 101 2100 10 3"
	echo "process.start 100 100 3000 100 /usr/bin/second"
	echo "io.read 100 100 4000 10 3"
	echo "thread-name 100 101 worker"
} | log named
agree "$tmp/named.log" "named threads"
check "chrome: the process has the name of its latest program" grep -q \
	'"process_name","pid":100,"tid":0,"args":{"name":"second"}' "$tmp/spans.chrome"
check "chrome: a thread has a name" grep -q '"thread_name","pid":100,"tid":100,"args":{"name":"second"}' \
	"$tmp/spans.chrome"
check "perfetto: names are there, too" test "$(strings "$tmp/spans.perfetto" | grep -c second)" -ge 2
check "speedscope: a track for each of the two threads" test \
	"$(grep -c '"type":"evented"' "$tmp/spans.speedscope")" -eq 2
check "chrome: bytes that a schema explains are not there in hexadecimal" lacks spans.chrome '"hex"'

# The choice of events may exclude the events that show a stop, a loss or the end of a span. The spans
# of the tables are those of latency.
{ echo "$types"; cat <<'END'; } | log excluded
start 50
part.begin 1 7 100
posix_trace_stop 1 7 110 @hex 00000000
start 120
part.end 1 7 130
part.begin 1 7 140
posix_trace_overflow 0 0 150
posix_trace_resume 0 0 160
part.end 1 7 170
part.begin 1 7 180
part.end 1 7 190
req.open 1 7 200 1
req.done 1 7 210 1
req.open 1 7 220 2
req.done 1 7 320 2
req.done 1 7 330 1
call 1 7 340 60
END
for choice in "-x posix_trace_*" "-e part.*" "-e req.* -e call" "--where duration>50"; do
	# shellcheck disable=SC2086 # words
	run 0 latency --json "$tmp/excluded.log" $choice
	summary "$tmp/out" >"$tmp/wanted"
	check "$choice: there are spans" test -s "$tmp/wanted"
	for sink in perfetto chrome; do
		# shellcheck disable=SC2086
		run 0 convert "$tmp/excluded.log" $choice --to $sink --force -o "$tmp/spans.$sink"
		spans_of $sink "$tmp/spans.$sink" >"$tmp/found"
		check "$choice: $sink has the spans of latency" diff "$tmp/wanted" "$tmp/found"
	done
	if "$posixtrace" convert --list | grep -q '^sqlite '; then
		# shellcheck disable=SC2086
		run 0 convert "$tmp/excluded.log" $choice --force -o "$tmp/spans.db"
		python3 -c '
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(
	"SELECT span, count(*), sum(duration) FROM spans GROUP BY span ORDER BY span"):
	print(*row)' "$tmp/spans.db" >"$tmp/found"
		check "$choice: sqlite has the spans of latency" diff "$tmp/wanted" "$tmp/found"
	fi
done
finish
