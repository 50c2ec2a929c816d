#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace html and plot: the pictures show the content of the log; the page is tested in a
# browser if there is one.
. "${0%/*}/lib.sh"
. "${0%/*}/browser.sh"

compose=${top_builddir:-..}/tests/tools/compose
awk 'BEGIN {
	print "type io.read ns time; s32 fd"; print "type </script><b>&\"x ns time"
	print "type req.begin u32 id; @begin request; @key id"; print "type req.end u32 id; @end request; @key id"
	for (i = 0; i < 20000; i++) {
		t += 1000 + i % 977; w = 100 + i % 4
		if (i == 8000) { print "posix_trace_overflow 0 0", t; t += 2000000; print "posix_trace_resume 0 0", t }
		if (i == 14000) { print "posix_trace_stop 0 0", t; t += 3000000; print "posix_trace_start 0 0", t }
		print "req.begin 100", w, t, i
		print "io.read 100", w, t + 700, 10 + i % 500, 3
		if (i % 1000 == 0) print "</script><b>&\"x 100", w, t + 800, 500000
		print "req.end 100", w, t + 900, i
	}
	print "lost io.read 1234"
}' | "$compose" "$tmp/log" || exit 99
events=$("$posixtrace" dump --system "$tmp/log" 2>/dev/null | wc -l)

run 0 html "$tmp/log" -o "$tmp/page.html"
check "nothing is printed" is_empty out
check "the page fetches nothing" test "$(grep -o 'https\{0,1\}://[^"]*' "$tmp/page.html" | grep -v -c '^http://www.w3.org/')" -eq 0
check "it has no other file" test "$(grep -c -i '<link\|src=\|@import\|url(' "$tmp/page.html")" -eq 0
check "no name ends the script that it is in" test "$(grep -c '</script><b>' "$tmp/page.html")" -eq 0
run 0 html "$tmp/log" -o -
check "- is standard output" cmp "$tmp/out" "$tmp/page.html"

if test -n "$browser"; then
	in_browser "$tmp/page.html" 'document.documentElement.dataset.ready'
	check "the page is drawn without an error" answers '"true"'
	check "it says how many events there are" in_dom "id=\"summary\" data-events=\"$events\" data-spans=\"40020\" data-lost=\"1234\""
	"$posixtrace" stat "$tmp/log" 2>/dev/null | sed -n '/event type$/,/^$/p' |
		awk '/%/ && !/event type$/ && $1 > 0 && $NF !~ /script/ { print $1, $6 }' >"$tmp/counts"
	check "there are counts to compare" test "$(wc -l <"$tmp/counts")" -ge 7
	while read -r count name; do
		check "the DOM has $count $name" in_dom "data-name=\"$name\" data-count=\"$count\""
	done <"$tmp/counts"
	check "a hostile name is text" in_dom 'data-name="&lt;/script&gt;&lt;b&gt;&amp;&quot;x" data-count="20"\|data-name="</script><b>&amp;&quot;x" data-count="20"'
	check "spans are counted" in_dom 'data-name="request" data-count="20000"'
	check "threads are counted" test "$(grep -o 'data-pid="100" data-tid="[0-9]*" data-count="[0-9]*"' "$tmp/dom" |
		sed 's/.*count="\([0-9]*\)"/\1/' | awk '{ s += $1 } END { print s }')" -eq $((events - 4))
	check "the loss and the stop are listed" test "$(sed -n '/id="gap-list"/,$p' "$tmp/dom" |
		grep -o 'events were lost</td>\|the stream was stopped</td>' | sort -u | wc -l)" -eq 2
	"$compose" "$tmp/stacks" <"${0%/*}/golden/logs/sched.events"
	run 0 html "$tmp/stacks" -o "$tmp/stacks.html"
	in_browser "$tmp/stacks.html" '(posixtrace.flameOpen(true), [document.getElementById("flame").hidden, document.getElementById("flame-text").dataset.value, posixtrace.flame.boxes.length])'
	check "samples are a flame graph" answers '[false,"4",2]'
	in_browser "$tmp/page.html" '(posixtrace.flameOpen(true), document.getElementById("flame").hidden)'
	check "without stacks there is none" answers 'true'
	in_browser "$tmp/stacks.html" '(posixtrace.filterRows("eight"), posixtrace.rows.filter(row => !row.hidden).length)'
	check "rows are filtered" answers '1'
	in_browser "$tmp/stacks.html" '(document.querySelector("button.figure").click(), [posixtrace.state.mark > posixtrace.state.from, posixtrace.state.mark < posixtrace.state.to])'
	check "a figure leads to its span" answers '[true,true]'
	# A day, and its parts down to 20 ns at the end, where a label has 15 digits: no label touches the
	# next one or the edge.
	printf 'a 1 1 5s\na 1 1 +86400s\n' | "$compose" "$tmp/day"
	run 0 html "$tmp/day" -o "$tmp/day.html"
	cat >"$tmp/axis.js" <<-'END'
		(() => {
			const pen = CanvasRenderingContext2D.prototype, fill = pen.fillText, wrong = [];
			const end = posixtrace.state.to, width = document.getElementById("view").clientWidth;
			let drawn = [], labels = 0;
			pen.fillText = function (text, x) {
				if (text[0] === "+") drawn.push([x, x + this.measureText(text).width]);
				fill.apply(this, arguments);
			};
			for (let size = end; size >= 20; size /= 1.7) {
				drawn = [];
				posixtrace.show(end - size, end);
				posixtrace.drawView();
				labels += drawn.length;
				drawn.push([width, width]);
				for (let i = 1; i < drawn.length; i++)
					if (drawn[i - 1][1] > drawn[i][0]) wrong.push(size);
			}
			return [labels > 100, wrong.length];
		})()
	END
	in_browser "$tmp/day.html" "$(tr -d '\n' <"$tmp/axis.js")"
	check "labels of the axis never collide" answers '[true,0]'
	for types in 'seldom often often often other' 'often seldom seldom'; do
		printf '%s 1 1 +1ms\n' $types | "$compose" "$tmp/coloured"
		run 0 html --force "$tmp/coloured" -o "$tmp/coloured.html"
		in_browser "$tmp/coloured.html" '[...document.querySelectorAll(".dot[data-of=type]")].find(dot => posixtrace.meta.types[dot.dataset.index].name === "often").style.background'
		mv "$tmp/answer" "$tmp/colour.${types%% *}"
	done
	check "a type has a colour" grep -q rgb "$tmp/colour.often"
	check "the same in all pages" cmp "$tmp/colour.often" "$tmp/colour.seldom"
	in_browser "$tmp/page.html" 'posixtrace.levels.map(level => level.rows.reduce((sum, row) => sum + row.points.reduce((a, b) => a + b, 0), 0))'
	check "every level of the pyramid has every event" answers "[$events,$events,$events,$events,$events]"
	in_browser "$tmp/page.html" '[posixtrace.inRange(0, posixtrace.meta.length_ns).total, posixtrace.inRange(0, posixtrace.meta.length_ns).took.map(of => of.length)]'
	check "a selection of all has every event and span" answers "[$events,[20000,20,20000]]"
	in_browser "$tmp/page.html" '(posixtrace.find("req"), [document.getElementById("found").dataset.events, document.getElementById("found").dataset.spans])'
	check "a search finds what has the name" answers '["40000","20000"]'
	in_browser "$tmp/page.html" '(posixtrace.find("script"), [1, 1, 1, -1].map(by => (posixtrace.step_to(by > 0), posixtrace.state.mark)).map((at, i, all) => i ? at > all[i - 1] : at >= 0))'
	check "n and N go from match to match" answers '[true,true,true,false]'
	in_browser "$tmp/page.html" '(posixtrace.show(5e6, 5e6 + 2000), posixtrace.drawView(), [posixtrace.state.to - posixtrace.state.from, Math.round(posixtrace.state.from)])'
	check "it zooms to single events" answers '[2000,5000000]'
	# Sixteen at a time, of which twelve fit.
	awk 'BEGIN { print "type a ns time"; for (i = 0; i < 4000; i++) print "a 1 1", 2000000 + i * 1000, 16000 }' |
		"$compose" "$tmp/crowd.log" || exit 99
	run 0 html "$tmp/crowd.log" -o "$tmp/crowd.html"
	in_browser "$tmp/crowd.html" '(row => [row.lanes, row.begin.length, row.crowded.length, row.tiers.every(tiers => tiers.every(of => of.slice(1).every((it, i) => row.begin[it] >= row.begin[of[i]] + row.took[of[i]])))])(posixtrace.rows[0])'
	check "spans of a lane do not overlap; who has no room is crowded out" answers '[12,4000,1000,true]'
	in_browser "$tmp/crowd.html" '(row => posixtrace.levels.map((level, l) => level.rows[0].spans.reduce((a, b) => a + b, 0) + row.tiers.reduce((sum, tiers) => sum + tiers.slice(l + 1).reduce((n, of) => n + of.length, 0), 0)))(posixtrace.rows[0])'
	check "on each level a span is drawn or counted" answers '[4000,4000,4000,4000,4000]'
	# Counters: each value, and of too many those that a drawing needs. Browsers and this test compute in the same doubles.
	awk 'BEGIN { print "type queue u32 length; f64 load; s64 big; @counter length, load, big"; print "type time ns age; @counter age"
		for (i = 0; i < 4000; i++) print "queue", 7 + i % 2, 1 + i % 3, 1000000 + i * 1000, i == 2001 ? 900 : i % 50, i / 8 - 200, i * 1000000007 - 7; print "time 7 1 1000500 1500" }' |
		"$compose" "$tmp/counters.log" || exit 99
	run 0 html "$tmp/counters.log" -o "$tmp/counters.html"
	in_browser "$tmp/counters.html" 'posixtrace.curves.map(curve => [curve.pid, curve.field, curve.time.length, curve.min, curve.max, curve.value[curve.value.length - 1]])'
	check "each counter of each process is a curve" answers '[[7,"length",2000,0,48,48],[7,"load",2000,-200,299.75,299.75],[7,"big",2000,-7,3998000027979,3998000027979],[8,"length",2000,1,900,49],[8,"load",2000,-199.875,299.875,299.875],[8,"big",2000,1000000000,3999000027986,3999000027986],[7,"age",1,1500,1500,1500]]'
	in_browser "$tmp/counters.html" '[posixtrace.curves[0].value.every((value, i) => value === i * 2 % 50), posixtrace.curves[1].value.every((value, i) => value === i / 4 - 200), posixtrace.curves[2].value.every((value, i) => value === i * 2 * 1000000007 - 7), posixtrace.curves[3].time.every((at, i) => at === i * 2000 + 1000)]'
	check "with its exact values" answers '[true,true,true,true]'
	in_browser "$tmp/counters.html" '(posixtrace.drawView(), posixtrace.curves[3].shown.concat((posixtrace.show(2001000, 2001500), posixtrace.drawView(), posixtrace.curves[3].shown), (posixtrace.show(2002000, 2002999), posixtrace.drawView(), posixtrace.curves[3].shown)))'
	check "a peak is in the range at each zoom, and holds until the next value" answers '[1,900,900,900,900,900]'
	in_browser "$tmp/counters.html" '[0, 1, 2, 3].map(i => [posixtrace.curves[i].y > posixtrace.rows.find(row => row.pid === posixtrace.curves[i].pid).y, posixtrace.curves[i].y < posixtrace.rows.total]).concat([[posixtrace.curves[0].y < posixtrace.rows.find(row => row.pid === 8).y]])'
	check "it is below the threads of its process" answers '[[true,true],[true,true],[true,true],[true,true],[true]]'
	in_browser "$tmp/counters.html" '[0, -5, 2 ** 53, 1.8446744073709552e19, 1e308, -1e308].map(value => posixtrace.curvePlace(posixtrace.curveScale([value, value]), value)).concat(posixtrace.curvePlace([-1e308, 1e308], 0), posixtrace.curvePlace([0, 50], 10)).map(at => Math.round(at * 100))'
	check "a line has a place in the scale for every number" answers '[50,50,50,50,50,50,50,80]'
	in_browser "$tmp/counters.html" '[[0, 7], [7, 65], [1, 1999], [64, 128], [500, 501]].every(([from, end]) => { const part = posixtrace.curves[1].value.slice(from, end), [low, high] = posixtrace.curveRange(posixtrace.curves[1], from, end); return low === Math.min(...part) ? high === Math.max(...part) : false; })'
	check "a range has the least and the greatest value" answers 'true'
	in_browser "$tmp/counters.html" '(document.querySelector("#counters .card:nth-of-type(4) button.figure:nth-of-type(2)").click(), [posixtrace.state.mark, document.getElementById("found").textContent])'
	check "a click on the greatest value leads to it" answers '[2001000,"queue length 900"]'
	run 0 html --force --items 700 "$tmp/counters.log" -o "$tmp/counters.html"
	in_browser "$tmp/counters.html" '[posixtrace.meta.has_values, posixtrace.curves.map(curve => [curve.min, curve.max, curve.value[curve.value.length - 1], curve.count]), posixtrace.curves.reduce((sum, curve) => sum + curve.value.length, 0) < 710]'
	check "the least and the greatest of too many values remain" answers '[false,[[0,48,48,2000],[-200,299.75,299.75,2000],[-7,3998000027979,3998000027979,2000],[1,900,49,2000],[-199.875,299.875,299.875,2000],[1000000000,3999000027986,3999000027986,2000],[1500,1500,1500,1]],true]'
	# Waits for locks lead to the threads that held them, as why says, and back.
	for log in why circle waits; do
		"$compose" "$tmp/$log.ptl" <"${0%/*}/golden/logs/$log.events" || exit 99
		run 0 html "$tmp/$log.ptl" -o "$tmp/$log.html"
	done
	in_browser "$tmp/why.html" 'posixtrace.waits.map(wait => [wait.row.tid, wait.took, wait.holders.map(hold => [hold.row.tid, hold.begin, hold.took, hold.i >= 0])])'
	check "waits have their holders" answers '[[7,60000000,[[9,0,60000000,true]]],[7,4000000,[[10,151000000,5000000,true]]]]'
	in_browser "$tmp/why.html" '[0, 1, 2].map(() => (posixtrace.followLink(), [posixtrace.state.span.row.tid, posixtrace.state.mark, document.getElementById("chosen-span").textContent.includes(posixtrace.state.span.row.tid === 7 ? "waits for 7 / 9, which holds it since" : "waits 60.00 ms")]))'
	check "l goes from the wait to the hold and back" answers '[[7,0,true],[9,0,true],[7,0,true]]'
	in_browser "$tmp/why.html" '(document.querySelector("#wait-list tr:nth-child(2) button:last-of-type").click(), [posixtrace.state.span.row.tid, posixtrace.state.mark, posixtrace.state.from < posixtrace.state.mark ? posixtrace.state.to > posixtrace.state.mark : false])'
	check "a link leads to the holder" answers '[10,151000000,true]'
	in_browser "$tmp/why.html" '(document.querySelector("#wait-list button").click(), posixtrace.drawView(), document.getElementById("selection").hidden)'
	check "a link leads to the wait" answers 'false'
	in_browser "$tmp/waits.html" 'posixtrace.waits.map(wait => wait.holders.length)'
	check "a wait that why explains has a holder" answers '[1]'
	in_browser "$tmp/page.html" '[posixtrace.waits.length, document.querySelector("[data-tab=waits]").hidden, document.querySelector("[data-tab=counters]").hidden]'
	check "without locks and counters there are no such panels" answers '[0,true,true]'
	# More waits than are kept: the longest remain.
	awk 'BEGIN { print "type lock.mutex ns time; ptr lock; errno error"; print "type lock.mutex_held ns time; ptr lock"
		for (i = 0; i < 140000; i++) { print "lock.mutex_held 1 2", 1000000 + i * 1000, 500 + i % 400, "4096"; print "lock.mutex 1 1", 1000000 + i * 1000, i % 7000 ? 90 + i % 400 : 5000, "4096 0" } }' |
		"$compose" "$tmp/locks.ptl" || exit 99
	run 0 html "$tmp/locks.ptl" -o "$tmp/locks.html"
	in_browser "$tmp/locks.html" '[posixtrace.meta.links.waits, posixtrace.meta.links.least_wait > 0, posixtrace.waits.filter(wait => wait.took === 5000).length, posixtrace.waits.every(wait => wait.took >= posixtrace.meta.links.least_wait)]'
	check "the longest of too many waits remain" answers '[140000,true,20,true]'
	# Several logs: rows by log, on one clock or each from its start; equal process numbers are different processes.
	for log in a b; do
		mkdir -p "$tmp/$log"
		{ echo "type a ns time"; echo "type queue u32 length; @counter length"; test $log = a || echo "type only_b"; echo "thread-name 5 5 program-$log"
			awk -v of=$log 'BEGIN { begin = of == "a" ? 1000000 : 4000000
				for (i = 0; i < 30; i++) { print "a 5", 5 + i % 2, begin + i * 1000, of == "a" ? 500 : 300; print "queue 5 5", begin + i * 1000 + 1, of == "a" ? i : 100 + i }
				if (of == "b") { print "only_b 6 6", begin + 29500; print "posix_trace_overflow 0 0", begin + 29700; print "posix_trace_resume 0 0", begin + 29900 } }'; } | "$compose" "$tmp/$log/log.ptl" || exit 99
	done
	run 0 html "$tmp/a/log.ptl" "$tmp/b/log.ptl" -o "$tmp/two.html"
	in_browser "$tmp/two.html" '[posixtrace.rows.map(row => [row.log, row.pid, row.tid, row.name, row.points]), posixtrace.rows.heads.length, posixtrace.meta.length_ns]'
	check "the rows of two logs are apart" answers '[[[0,5,5,"program-a",45],[0,5,6,"",15],[1,0,0,"",2],[1,5,5,"program-b",45],[1,5,6,"",15],[1,6,6,"",1]],2,3030400]'
	in_browser "$tmp/two.html" '[posixtrace.curves.map(curve => [curve.log, curve.value[0], curve.time[0]]), posixtrace.meta.types.filter(type => type.name === "a").map(type => type.count), posixtrace.meta.series.map(series => series.count), posixtrace.meta.bands.map(band => [band.log, band.end - band.begin])]'
	check "types and series of one name are one, counters and losses belong to a log" answers '[[[0,0,501],[1,100,3000501]],[60],[60],[[1,200]]]'
	in_browser "$tmp/two.html" '[document.getElementById("title").textContent.includes("a/log.ptl, "), document.querySelectorAll("#log-list tbody tr").length, posixtrace.rows.every((row, i, all) => i ? row.y > all[i - 1].y : row.y > 0), document.querySelector("#gap-list td:nth-child(2)").textContent.includes("b/log.ptl: ")]'
	check "the logs have different names and headings" answers '[true,2,true,true]'
	in_browser "$tmp/two.html" '(posixtrace.filterRows("b/log"), [posixtrace.rows.filter(row => row.hidden ? false : true).map(row => row.log), posixtrace.rows.heads.length, posixtrace.drawView()])'
	check "the rows of one log can be shown" answers '[[1,1,1,1],1,null]'
	run 0 html --force --align=start "$tmp/a/log.ptl" "$tmp/b/log.ptl" -o "$tmp/two.html"
	in_browser "$tmp/two.html" '[posixtrace.meta.length_ns, posixtrace.curves.map(curve => curve.time[0]), posixtrace.rows.map(row => row.begin.length ? row.begin[0] + row.took[0] : -1), document.querySelector("#gap-list td").textContent]'
	check "logs can begin together" answers '[30400,[501,501],[500,1500,-1,500,1500,-1],"+0.000030200 s after the start"]'
	# More spans than are sorted at once, of three threads, in the order of their ends.
	awk 'BEGIN { print "type a ns time"; for (i = 0; i < 150000; i++) print "a 1", 1 + i % 3, 2000000 + i * 1000, i * 7919 % 900000 }' |
		"$compose" "$tmp/many.log" || exit 99
	run 0 html "$tmp/many.log" -o "$tmp/many.html"
	in_browser "$tmp/many.html" 'posixtrace.rows.map(row => [row.time.length, row.begin.length, row.begin.every((at, i) => i ? at >= row.begin[i - 1] : true), row.time.every((at, i) => i ? at > row.time[i - 1] : true)])'
	check "points and spans are sorted" answers '[[50000,50000,true,true],[50000,50000,true,true],[50000,50000,true,true]]'
	in_browser "$tmp/many.html" '(all => [all.reduce((sum, took) => sum + took, 0), Math.max(...posixtrace.rows.map(row => row.begin.reduce((last, at, i) => Math.max(last, at + row.took[i]), 0)))])(posixtrace.inRange(0, posixtrace.meta.length_ns).took[0])'
	check "no point and no span is missing" answers "[$(awk 'BEGIN { for (i = 0; i < 150000; i++) s += i * 7919 % 900000; printf "%.0f", s }'),$(grep -o '"length_ns":[0-9]*' "$tmp/many.html" | head -1 | cut -d: -f2)]"
	run 0 html --items 100 "$tmp/log" -o "$tmp/few.html"
	in_browser "$tmp/few.html" '[posixtrace.meta.has_points, posixtrace.rows.reduce((sum, row) => sum + row.begin.length, 0) <= 100, posixtrace.inRange(0, posixtrace.meta.length_ns).total]'
	check "with less room events are counted" answers "[false,true,$events]"
	in_browser "$tmp/few.html" '(posixtrace.choose([0, posixtrace.meta.length_ns]), document.querySelector("#selected-spans th").textContent)'
	check "a selection says that short spans are missing" answers '"Span that begins here; short ones were not kept"'
else
	echo "no chromium: the page is not looked at"
fi

run 0 plot "$tmp/log" -o "$tmp/plot.svg"
check "the picture counts" grep -q ">$events events, 40020 spans, .*; 1234 lost<" "$tmp/plot.svg"
check "the loss is a band" grep -q 'class="band lost"><title>events were lost for 2.000ms<' "$tmp/plot.svg"
check "the stop is a band" grep -q 'class="band stopped"><title>the stream was stopped for 3.000ms<' "$tmp/plot.svg"
check "each thread has a row" test "$(grep -c '>100 / 10[0-3]<' "$tmp/plot.svg")" -eq 4
check "durations are drawn" grep -q '>20000, p50 900ns, p99 900ns, max 900ns<' "$tmp/plot.svg"
if command -v python3 >/dev/null; then
	check "it is XML" python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$tmp/plot.svg"
fi
"$make_log" evil "$tmp/evil.log" >/dev/null || exit 99
for kind in plain stopped overrun; do
	"$make_log" $kind "$tmp/$kind.log" 5000 >/dev/null || exit 99
done
for log in evil plain stopped overrun; do
	run 0 html --force "$tmp/$log.log" -o "$tmp/x.html"
	run 0 plot --force "$tmp/$log.log" -o "$tmp/x.svg"
	if command -v python3 >/dev/null; then
		check "$log: SVG is XML" python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$tmp/x.svg"
	fi
done
run 0 html --force --pair job_begin,job_end "$tmp/plain.log" -o "$tmp/x.html"
check "pairs are spans" grep -q '"name":"job_begin..job_end","count":' "$tmp/x.html"
printf '' | "$compose" "$tmp/empty.log" || exit 99
run 0 html --force "$tmp/empty.log" -o "$tmp/x.html"
run 0 plot --force "$tmp/empty.log" -o "$tmp/x.svg"

# Times and durations that no clock has.
for time in -9223372036854775808 9223372036854775807 0; do
	{ echo "type a ns time"; echo "a 1 1 $time 18446744073709551615"; echo "a 1 1 0 9223372036854775807"
		echo "a 1 1 5 1"; } | "$compose" "$tmp/far.log" || exit 99
	for command in latency "html --force -o $tmp/x.html" "plot --force -o $tmp/x.svg" "diff $tmp/log"; do
		run 0 $command "$tmp/far.log"
	done
	check "no number of a picture is none" test "$(grep -c 'nan\|inf' "$tmp/x.svg")" -eq 0
done

# Threads have the names that they set themselves; the first one of a process has that of its
# program.
printf '%s\n' 'type process.start s32 pid; s32 parent; str program' 'type work s32 n' 'process.start 70 70 1 70 1 /usr/bin/serv<er' \
	'thread-name 70 71 helper' 'work 70 71 2 1' 'work 70 72 3 1' 'thread-name 80 80 called' 'work 80 80 4 1' | "$compose" "$tmp/named.log" || exit 99
run 0 html "$tmp/named.log" -o "$tmp/named.html"
for name in '"pid":70,"tid":70,"lanes":0,"name":"serv\u003cer"' '"tid":71,"lanes":0,"name":"helper"' \
	'"tid":72,"lanes":0,"name":""' '"tid":80,"lanes":0,"name":"called"'; do
	check "the page has $name" grep -q -F "$name" "$tmp/named.html"
done
run 0 plot "$tmp/named.log" -o "$tmp/named.svg"
check "the picture has them, too" test "$(grep -c '>helper  70 / 71<\|>serv&lt;er  70 / 70<\|>70 / 72<' "$tmp/named.svg")" -eq 3

# A thread removes its name at its end. The kernel and destructors have later events of it. The next thread
# with its pthread_t has no name.
cat >"$tmp/ended.txt" <<-'END'
	type thread.begin
	type thread.end
	type sched.exit u32 cpu
	thread.begin 70 71 1000 @thread=0x7f00
	named thread 70 0x7f00 1100 worker
	thread.end 70 71 2000 @thread=0x7f00
	named thread 70 0x7f00 2001 ""
	sched.exit 70 71 2500 @thread=0x7f00 1
	thread.begin 70 72 3000 @thread=0x7f00
	thread.end 70 72 4000 @thread=0x7f00
	sched.exit 70 72 4500 @thread=0x7f00 1
END
"$compose" "$tmp/ended.log" <"$tmp/ended.txt" || exit 99
run 0 html "$tmp/ended.log" -o "$tmp/ended.html"
for name in '"tid":71,"lanes":0,"name":"worker"' '"tid":72,"lanes":0,"name":""'; do
	check "ended threads: the page has $name" grep -q -F "$name" "$tmp/ended.html"
done
run 0 stat "$tmp/ended.log"
check "stat: an ended thread has its name" grep -q ' 71  "worker"$' "$tmp/out"
check "stat: the next thread has not" grep -q ' 72$' "$tmp/out"
run 0 convert --to chrome "$tmp/ended.log" -o "$tmp/ended.json"
check "chrome: an ended thread has its name" grep -q '"thread_name","pid":70,"tid":71,"args":{"name":"worker"}' \
	"$tmp/ended.json"
check "chrome: the next thread has not" test "$(grep -c worker "$tmp/ended.json")" -eq 1

# A span is below the spans that contain it, also if another span moved one of them to a lower lane.
# Spans that overlap in a chain share two lanes.
cat >"$tmp/nested.txt" <<-'END'
	type a ns time
	a 1 1 10000000 9000000
	a 1 1 50000000 45000000
	a 1 1 20000000 9000000
	a 1 1 40000000 5000000
	a 1 2 20000000 15000000
	a 1 2 30000000 15000000
	a 1 2 40000000 15000000
	a 1 2 50000000 15000000
END
"$compose" "$tmp/nested.log" <"$tmp/nested.txt" || exit 99
run 0 html --force "$tmp/nested.log" -o "$tmp/nested.html"
check "nested spans have three lanes" grep -q '"tid":1,"lanes":3,' "$tmp/nested.html"
check "a chain of overlapping spans has two" grep -q '"tid":2,"lanes":2,' "$tmp/nested.html"

# More threads than rows.
awk 'BEGIN { print "type a"; for (i = 0; i < 2000; i++) print "a 1", i % 700 + 1, i * 1000 }' | "$compose" "$tmp/threads.log"
run 0 html --force "$tmp/threads.log" -o "$tmp/x.html"
check "threads without a row have one together" grep -q '"pid":-1,"tid":-1,.*"points":[1-9]' "$tmp/x.html"
run 0 plot --force "$tmp/threads.log" -o "$tmp/x.svg"
check "a picture says what it leaves out" grep -q 'and 481 more threads' "$tmp/x.svg"

head -c $(($(wc -c <"$tmp/log") / 2)) "$tmp/log" >"$tmp/cut"
for command in html plot; do
	run 3 $command --force "$tmp/cut" -o "$tmp/x"
	run 2 $command "$tmp/log"
	run 2 $command --force -o "$tmp/x"
	run 2 $command --force "$tmp/log" "$tmp/log" -o "$tmp/x"
	run 2 $command --force --pair a "$tmp/log" -o "$tmp/x"
	run 1 $command --force "$tmp/missing" -o "$tmp/x"
	run 1 $command "$tmp/log" -o "$tmp/no/x"
done
run 2 html --force --items x "$tmp/log" -o "$tmp/x"
run 2 html --align=start --clock-error=1s "$tmp/log" -o "$tmp/none.html"
check "no clock error without clocks" has err '--clock-error is not possible'
# The input is not overwritten, under any name.
cp "$tmp/log" "$tmp/kept"
ln "$tmp/log" "$tmp/alias"
for command in html plot report; do
	run 1 $command "$tmp/log" -o "$tmp/alias"
	check "$command says so" has err 'this file is also an input; give another output$'
done
run 1 report -o "$tmp/alias" "$tmp/kept" "$tmp/log"
check "the log is what it was" cmp "$tmp/log" "$tmp/kept"
finish
