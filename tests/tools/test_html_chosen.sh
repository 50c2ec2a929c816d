#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A page of posixtrace html shows the states of threads, and all about an item that is clicked.
. "${0%/*}/lib.sh"
. "${0%/*}/browser.sh"

compose=${top_builddir:-..}/tests/tools/compose
for log in sched why spans stacks strange; do
	"$compose" "$tmp/$log.ptl" <"${0%/*}/golden/logs/$log.events" || exit 99
	run 0 html "$tmp/$log.ptl" -o "$tmp/$log.html"
done

# Many short states: each is kept, or those of a short time are put together. Thread 2 is blocked by locks and
# files in turn, with the reason behind it; 3 by a disk, without one; 4 is stopped; 5 has a page fault.
awk 'BEGIN {
	print "type sched.in u32 cpu"; print "type sched.out u32 cpu; u8 reason{0=blocked,1=preempted}; u8 state"
	print "type sched.wake u32 cpu; u8 context; s32 by_pid; s32 by_tid; str by"; print "type sched.exit u32 cpu"
	print "type lock.mutex ns time; ptr lock; errno error"; print "type io.fsync ns time; fd fd; errno error"
	print "type exceptions:page_fault_user x64 address"
	for (i = 0; i < 4000; i++) {
		t = 1000000 + i * 10000
		print "sched.in 1 2", t, 0; print "sched.out 1 2", t + 4000, "0 0 1"; print "sched.wake 1 2", t + 7000, "0 0 1 3 x"
		print "sched.in 1 2", t + 8000, 0
		print i % 2 ? "lock.mutex 1 2" : "io.fsync 1 2", t + 8500, i % 2 ? "5000 4096 0" : "5000 3 0"
		print "sched.out 1 2", t + 9000, "0 1 0"
	}
	print "sched.exit 1 2 41000000 0"
	print "sched.in 1 3 1000000 0"; print "sched.out 1 3 2000000 0 0 2"; print "sched.in 1 3 5000000 0"; print "sched.exit 1 3 6000000 0"
	print "sched.in 1 4 1000000 0"; print "sched.out 1 4 2000000 0 0 4"; print "sched.wake 1 4 4000000 0 0 1 3 x"; print "sched.exit 1 4 6000000 0"
	print "sched.in 1 5 1000000 0"; print "exceptions:page_fault_user 1 5 1999000 7"; print "sched.out 1 5 2000000 0 0 1"; print "sched.in 1 5 6000000 0"; print "sched.exit 1 5 6000000 0"
}' | "$compose" "$tmp/many.ptl" || exit 99
run 0 html "$tmp/many.ptl" -o "$tmp/many.html"
check "each state has its time" grep -q -F '"total":[24000000,10000000,6000000,9000000,0,0,4000000,0,2000000]' "$tmp/many.html"
run 0 html --items 2000 "$tmp/many.ptl" -o "$tmp/few.html"
check "the times of too many states remain" grep -q -F '"total":[24000000,10000000,6000000,9000000,0,0,4000000,0,2000000]' "$tmp/few.html"
check "the page with chosen events is smaller" test "$(wc -c <"$tmp/few.html")" -lt "$(wc -c <"$tmp/many.html")"

# Waits for the lock of a file are waits for a lock. fcntl() waits only with F_SETLKW. A wait that reached its
# time limit is a sleep, and a call that waits for nothing is no reason.
awk 'BEGIN {
	print "type sched.in u32 cpu"; print "type sched.out u32 cpu; u8 reason{0=blocked,1=preempted}; u8 state"; print "type sched.exit u32 cpu"
	print "type io.flock ns time; fd fd; errno error; x32 operation"
	print "type io.lockf ns time; fd fd; errno error; x32 operation; s64 size"
	print "type io.fcntl ns time; fd fd; errno error; s32 command; s64 value; s32 result; s16 lock"
	print "type lock.cond ns time; ptr lock; ptr mutex; errno error"; print "type lock.sem ns time; ptr lock; errno error"
	print "type lock.cond_signal ns time; ptr lock; errno error"
	call[0] = "io.flock|3 0 2"; call[1] = "io.lockf|3 0 1 0"; call[2] = "io.fcntl|3 0 7 0 0 1"; call[3] = "io.fcntl|3 0 38 0 0 1"
	call[4] = "lock.cond|1 2 110"; call[5] = "lock.sem|1 110"; call[6] = "lock.cond|1 2 0"; call[7] = "io.fcntl|3 0 1 0 0 0"
	call[8] = "lock.cond_signal|1 0"
	for (i = 0; i < 9; i++) {
		t = 1000000 + i * 10000000; split(call[i], of, "|")
		print "sched.in 1 2", t, 0; print "sched.out 1 2", t + 1000000, "0 0 1"; print "sched.in 1 2", t + 4000000, 0
		print of[1], "1 2", t + 4500000, 4000000, of[2]; print "sched.out 1 2", t + 5000000, "0 1 0"
	}
	print "sched.exit 1 2 91000000 0"
}' | "$compose" "$tmp/locks.ptl" || exit 99
run 0 html "$tmp/locks.ptl" -o "$tmp/locks.html"
check "locks of files are locks" grep -q -F '"total":[18000000,45000000,12000000,0,6000000,6000000,0,3000000,0]' "$tmp/locks.html"

# Two logs of the same time: the states of the second one are complete, too.
for pid in 1 2; do
	awk -v pid=$pid 'BEGIN { print "type sched.in u32 cpu"; print "type sched.out u32 cpu; u8 reason; u8 state"
		print "sched.in", pid, pid, pid * 1000000, 0; print "sched.out", pid, pid, 5000000, "0 0 1"
		print "sched.in", pid, pid, 8000000, 0; print "sched.out", pid, pid, 9000000, "0 1 0"
		print "sched.in", pid, pid, 12000000 - pid * 1000000, 0 }' | "$compose" "$tmp/log$pid.ptl" || exit 99
done
run 0 html "$tmp/log1.ptl" "$tmp/log2.ptl" -o "$tmp/logs.html"
check "each log has its states" grep -q -F '"total":[9000000,3000000,0,0,0,0,0,6000000,0]' "$tmp/logs.html"

# The end of a call comes before the thread is known to leave the processor, and times run backwards: nothing
# breaks.
awk 'BEGIN { print "type sched.in u32 cpu"; print "type sched.out u32 cpu; u8 reason"; print "type io.read ns time; s32 fd"
	for (i = 0; i < 500; i++) { print "sched.out 1 1", 5000000 - i * 1000, "0 0"; print "io.read 1 1", 5000000 - i * 900, "18446744073709551615 1"; print "sched.in 1 1", 4000000 + i % 7 * 1000, 0 } }' |
	"$compose" "$tmp/back.ptl" || exit 99
run 0 html "$tmp/back.ptl" -o "$tmp/back.html"
check "times are not negative" sh -c "! grep -q '\"total\":.*-' '$tmp/back.html'"

# The fields of every event are those of dump. The duration is shown by the page.
if test -n "$browser"; then
	for log in spans why stacks strange; do
		"$posixtrace" dump --json --system "$tmp/$log.ptl" 2>/dev/null | wc -l >"$tmp/lines"
		in_browser "$tmp/$log.html" '[posixtrace.meta.details.is_all, posixtrace.rows.reduce((sum, row) => sum + row.detailTime.length, 0)]'
		check "$log: the page has the fields of each event" answers "[true,$(cat "$tmp/lines")]"
	done
	"$posixtrace" dump -e 'job.*' -e 'lock.*' "$tmp/spans.ptl" 2>/dev/null | sed 's/.* \(job\.[a-z]*\|lock\.[a-z_]*\) /\1 /; s/ time=[^ ]*//' | sort >"$tmp/dumped"
	in_browser "$tmp/spans.html" 'posixtrace.rows.flatMap(row => [...row.time.keys()].map(i => [posixtrace.meta.types[row.type[i]].name, ...posixtrace.fieldsOf(row, posixtrace.detailOf({ kind: "event", row, i })).filter(it => it[0] === "time" ? false : true).map(it => it[0] + "=" + it[1])].join(" ").split(String.fromCharCode(34)).join("~"))).filter(text => [text.startsWith("job"), text.startsWith("lock")].includes(true)).sort().join("^")'
	tr '^' '\n' <"$tmp/answer" | tr -d '"' | tr '~' '"' | sort >"$tmp/shown"
	check "there are lines to compare" test "$(wc -l <"$tmp/dumped")" -ge 14
	check "they are those of dump" cmp "$tmp/dumped" "$tmp/shown"

	in_browser "$tmp/sched.html" 'posixtrace.rows.map(row => [...row.stayKind].map((kind, i) => [kind, row.stayBegin[i] / 1e6, row.stayTook[i] / 1e6]))'
	check "the states are those of the log, with the reason of the sleep" answers '[[],[[0,0,10],[1,10,60],[5,70,20],[1,90,10],[7,100,20],[0,120,1]],[[0,10,60],[7,70,51]]]'
	in_browser "$tmp/sched.html" '(row => [posixtrace.stayShares(row, 5e6, 15e6), posixtrace.stayShares(row, 0, 200e6), posixtrace.stayShares(row, -5, 0)].map(of => [...of].map(ns => ns / 1e6)))(posixtrace.rows[1])'
	check "the shares of a time are exact" answers '[[5,5,0,0,0,0,0,0,0],[11,70,0,0,0,20,0,20,0],[0,0,0,0,0,0,0,0,0]]'
	in_browser "$tmp/many.html" '(row => { let same = true; for (let from = 0; from < 41e6; from += 123457) { const wanted = new Array(9).fill(0), to = from + 70001; for (let i = 0; i < row.stayKind.length; i++) wanted[row.stayKind[i]] += Math.max(0, Math.min(to, row.stayBegin[i] + row.stayTook[i]) - Math.max(from, row.stayBegin[i])); const found = posixtrace.stayShares(row, from, to); wanted.forEach((ns, kind) => { if (Math.abs(ns - found[kind]) > 1e-3) same = false; }); } return [same, row.stayKind.length]; })(posixtrace.rows[0])'
	check "also of 20000 states" answers '[true,20000]'
	in_browser "$tmp/few.html" '[posixtrace.rows[0].stayKind.length < 2500, posixtrace.meta.states.bin_ns > 0, posixtrace.rows.every(row => [...row.stayBegin.keys()].every(i => i ? row.stayBegin[i] >= row.stayBegin[i - 1] + row.stayTook[i - 1] : true))]'
	check "states that are put together do not overlap" answers '[true,true,true]'
	in_browser "$tmp/sched.html" '(posixtrace.drawView(), (row => { const y = 26 + row.y - posixtrace.state.top + posixtrace.stateTop(row) + 4, found = posixtrace.itemAt(posixtrace.xOf(30e6), y); posixtrace.chooseItem(found); return [found.kind, found.i, document.getElementById("chosen-state").textContent.includes("waits for a processor: 60.00 ms"), document.querySelectorAll("#state-list tbody tr").length]; })(posixtrace.rows[1]))'
	check "a click on the bar chooses the state" answers '["state",1,true,9]'
	in_browser "$tmp/sched.html" '(posixtrace.longestStay(1).i === 1 ? (posixtrace.goToItem(posixtrace.longestStay(1)), [posixtrace.state.mark, posixtrace.state.item.kind]) : 0)'
	check "the longest time in a state is found" answers '[10000000,"state"]'
	in_browser "$tmp/spans.html" '[document.querySelector("[data-tab=states]").hidden, posixtrace.rows[0].height]'
	check "without states there is no such panel" has answer '^\[true,'

	# Spans have the fields of their events; an event has its neighbours.
	in_browser "$tmp/spans.html" '(row => posixtrace.edgesOf({ row, i: [...row.series.keys()].find(i => posixtrace.meta.series[row.series[i]].name === "job") }).map(it => [it[0], it[2] >= 0 ? posixtrace.fieldsOf(it[1], it[2]).map(of => of[0]) : it[2]]))(posixtrace.rows[0])'
	check "a span has the fields of its begin and its end" answers '[["fields of its end",["job","user_time"]],["fields of its begin",["job","title","user_time"]]]'
	in_browser "$tmp/spans.html" '(row => (posixtrace.chooseItem({ kind: "event", row, i: 1 }), [...document.querySelectorAll("#chosen-event .around li")].map(li => li.textContent.split(":")[0])))(posixtrace.rows[0])'
	check "an event has its neighbours" answers '["previous event","next event"]'
	in_browser "$tmp/spans.html" '(posixtrace.goToError(posixtrace.meta.types.findIndex(type => type.name === "lock.mutex")), [posixtrace.state.item.kind, [...document.querySelectorAll("#chosen-event [data-field=error] td")].map(td => td.textContent)])'
	check "the number of errors leads to an error" answers '["event",["error","ETIMEDOUT"]]'
	run 0 html --items 10 "$tmp/spans.ptl" -o "$tmp/errors.html"
	in_browser "$tmp/errors.html" '(posixtrace.goToError(posixtrace.meta.types.findIndex(type => type.name === "lock.mutex")), [posixtrace.meta.has_points, [...document.querySelectorAll("#chosen-event [data-field=error] td")].map(td => td.textContent)])'
	check "also if the page does not have each event" answers '[false,["error","ETIMEDOUT"]]'
	in_browser "$tmp/stacks.html" '(row => { const i = [...row.time.keys()].find(k => posixtrace.meta.types[row.type[k]].name === "io.open"); posixtrace.chooseItem({ kind: "event", row, i }); return document.querySelectorAll("#chosen-event .stack li").length; })(posixtrace.rows.find(row => row.pid === 950))'
	check "a call has its stack" answers '3'
	run 0 html --force --details 20 "$tmp/spans.ptl" -o "$tmp/spans.html"
	in_browser "$tmp/spans.html" '(posixtrace.rows.forEach(row => row.time.forEach((time, i) => posixtrace.chooseItem({ kind: "event", row, i }))), [posixtrace.meta.details.is_all, posixtrace.meta.details.count > 4, posixtrace.meta.details.count <= 20])'
	check "the page has the fields of some of many events" answers '[false,true,true]'
	in_browser "$tmp/spans.html" '(posixtrace.rows.some(row => [...row.time.keys()].some(i => (posixtrace.chooseItem({ kind: "event", row, i }), document.querySelector("#chosen-event .command")))), document.querySelector(".command").textContent.split(" --begin")[0])'
	check "the page has the command that prints the other fields" has answer 'posixtrace dump --tid '
	cp "$tmp/spans.ptl" "$tmp/it's one.ptl"
	run 0 html --details 0 "$tmp/it's one.ptl" -o "$tmp/quoted.html"
	in_browser "$tmp/quoted.html" '(posixtrace.chooseItem({ kind: "event", row: posixtrace.rows[0], i: 0 }), document.querySelector(".command").textContent)'
	tr -d '"' <"$tmp/answer" | sed 's/\\\\/\\/g; s/^posixtrace/"$posixtrace"/' >"$tmp/command"
	check "the command can be pasted into a shell" sh -c "posixtrace='$posixtrace'; . '$tmp/command' | grep -q ."
	in_browser "$tmp/strange.html" '(posixtrace.rows.forEach(row => row.time.forEach((time, i) => posixtrace.chooseItem({ kind: "event", row, i }))), document.querySelectorAll("section script").length)'
	check "no value becomes a script" answers '0'
fi
for count in x -1 99999999999; do
	run 2 html --force --details=$count "$tmp/spans.ptl" -o "$tmp/none.html"
done
finish
