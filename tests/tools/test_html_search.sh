#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The search of a page of posixtrace html finds names, and texts and numbers in the fields of events.
. "${0%/*}/lib.sh"
. "${0%/*}/browser.sh"

compose=${top_builddir:-..}/tests/tools/compose
# Thread 3 has calls at the times of thread 2, so that several hits have one time.
awk 'BEGIN {
	print "type io.open ns time; errno error; s32 fd; str path"; print "type io.read ns time; errno error; s32 fd; u64 bytes"
	print "type job.begin u32 job; str title; @begin job; @key job"; print "type job.end u32 job; @end job; @key job"
	print "io.open 1 2 1000000 1500 0 3 /etc/passwd"; print "io.open 1 2 2000000 2500 2 -1 /etc/shadow.d"
	print "io.read 1 2 3000000 700 0 3 4096"; print "io.read 1 3 3000000 700 0 35 4096"; print "io.read 1 3 3000000 700 0 3 14096"
	print "job.begin 1 3 4000000 7 find=me</script>"; print "job.end 1 3 5000000 7"
	print "io.read 1 2 6000000 1234567 11 3 0"
}' | "$compose" "$tmp/log.ptl" || exit 99
run 0 html "$tmp/log.ptl" -o "$tmp/page.html"
run 0 html --details 4 "$tmp/log.ptl" -o "$tmp/some.html"
run 0 html --details 0 "$tmp/log.ptl" -o "$tmp/none.html"
run 0 html --items 3 "$tmp/log.ptl" -o "$tmp/counted.html"
run 0 html "$tmp/log.ptl" -o "$tmp/one.html"

test -n "$browser" || skip "no browser"

# hits TEXT...: for each text the number of hits, and the steps through all of them
hits() {
	list=
	for text; do list="$list${list:+,}'$text'"; done
	in_browser "$tmp/page.html" "[$list].map(text => (posixtrace.find(text), Number(document.getElementById('found').dataset.hits)))"
}
hits passwd /etc PASSWD fd=3 fd=35 3 bytes=4096 4096 96 -1 error=ENOENT ENOENT EAGAIN error= fd=x /etc/none
check "texts, names of errors and whole numbers are found" answers '[1,2,1,4,1,4,2,2,0,1,1,1,1,6,0,0]'
hits 'find=me' 'title=find=me' 'job=7' 'path=passwd' 'path=' 'time=700ns' '1.23 ms' '1.234567ms' '9 ms'
check "also texts with a mark, whole fields and durations" answers '[1,1,2,1,2,3,1,1,0]'
in_browser "$tmp/page.html" '[".*", "(", "[a", "a" + String.fromCharCode(92) + "b", "+", "<script", "<" + "/script>", "  "].map(text => (posixtrace.find(text), document.getElementById("found").dataset.hits))'
check "no text is a pattern" answers '["0","0","0","0","0","0","1",null]'
hits io.read job io
check "a call is one hit, by its name or its fields" answers '[4,3,6]'
in_browser "$tmp/page.html" '(posixtrace.find("fd=3"), [1, 1, 1, 1, 1, -1, -1].map(by => (posixtrace.step_to(by > 0), [Math.floor(posixtrace.state.mark / 1e6), posixtrace.state.item.row.tid, document.getElementById("found").dataset.place])))'
check "each step goes to one hit, also to those of one time, and around" answers '[[0,2,"1"],[2,2,"2"],[2,3,"3"],[5,2,"4"],[0,2,"1"],[5,2,"4"],[2,3,"3"]]'
in_browser "$tmp/page.html" '(posixtrace.find("passwd"), posixtrace.step_to(true), [document.getElementById("selection").hidden, [...document.querySelectorAll("#chosen-event [data-field=path] mark")].map(it => it.textContent), document.getElementById("found").textContent.startsWith("1 of 1 hit"), document.getElementById("found").textContent.includes("/etc/passwd"), document.getElementById("found").getAttribute("aria-live")])'
check "a hit shows its fields, marked, and says them to a screen reader" answers '[false,["passwd"],true,true,"polite"]'
in_browser "$tmp/page.html" '(posixtrace.find("/etc"), posixtrace.openTab("hits"), [[...document.querySelectorAll("#hit-list tbody tr")].map(line => [line.querySelector("button").textContent, line.querySelector("mark").textContent]), document.querySelectorAll("#found-limit").length, document.getElementById("found-tab").hidden])'
check "the list has the hits" answers '[[["io.open","/etc"],["io.open","/etc"]],0,false]'
in_browser "$tmp/page.html" '(posixtrace.find("/etc"), posixtrace.openTab("hits"), document.querySelectorAll("#hit-list button")[1].click(), [Math.floor(posixtrace.state.mark / 1e6), document.getElementById("selection").hidden, document.getElementById("found").dataset.place])'
check "a line of the list leads to its hit" answers '[1,false,"2"]'
in_browser "$tmp/page.html" '(posixtrace.find("/etc"), posixtrace.openTab("hits"), posixtrace.find(""), [document.getElementById("hits").hidden, document.getElementById("found-tab").hidden, document.getElementById("found").textContent, posixtrace.state.matching])'
check "without a text there is no list" answers '[true,true,"",null]'
in_browser "$tmp/page.html" '(posixtrace.find("fd=3"), posixtrace.filterRows("/ 3"), [document.getElementById("found").textContent, (posixtrace.step_to(true), posixtrace.step_to(true), posixtrace.state.item.row.tid)])'
check "hits of hidden threads are said and not shown" answers '["1 hit, 3 in hidden threads",3]'
in_browser "$tmp/page.html" '(posixtrace.find("passwd"), posixtrace.show(0, posixtrace.meta.length_ns), posixtrace.drawView(), document.documentElement.dataset.ready)'
check "hits are drawn" answers '"true"'
in_browser "$tmp/page.html" '((text, send) => (text.value = "fd=3", text.dispatchEvent(new Event("input")), send({ key: "Enter", shiftKey: true }), [Math.floor(posixtrace.state.mark / 1e6), (send({ key: "Escape" }), posixtrace.state.matching)]))(document.getElementById("search"), init => document.getElementById("search").dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init })))'
check "Shift and Enter go back from the end, Escape ends the search" answers '[5,null]'

# The page says that it lacks some fields.
in_browser "$tmp/some.html" '(posixtrace.find("/etc/none"), posixtrace.openTab("hits"), [document.querySelector("#found .warn").textContent, document.getElementById("found-limit").textContent])'
check "a page with some of the fields says how many" has answer '^\["; searched the values of [1-9][0-9]* % of the events","The page has the fields of [1-4] of 8 events; .*"\]$'
in_browser "$tmp/some.html" '(posixtrace.find("it" + String.fromCharCode(39) + "s"), posixtrace.openTab("hits"), document.querySelector("#found-list .command").textContent)'
tr -d '"' <"$tmp/answer" | sed 's/\\\\/\\/g; s/^posixtrace/"$posixtrace"/' >"$tmp/command"
check "the page names the command that searches all fields" has command "it'.*'s'$"
check "the command can be pasted into a shell" sh -n "$tmp/command"
in_browser "$tmp/none.html" '(posixtrace.find("passwd"), [document.getElementById("found").dataset.hits, document.querySelector("#found .warn").textContent])'
check "also without any fields" answers '["0","; searched the values of 0 % of the events"]'
in_browser "$tmp/counted.html" '(posixtrace.find("fd=3"), [posixtrace.meta.has_points, document.getElementById("found").dataset.hits, posixtrace.step_to(true), posixtrace.state.item.i, document.querySelectorAll("#chosen-event mark").length])'
check "events that are counted are found by their fields" answers '[false,"4",null,-1,2]'

# Many events: the index of each hit, and the time of a search.
awk 'BEGIN { print "type io.open ns time; errno error; s32 fd; str path"
	for (i = 0; i < 30000; i++) print "io.open 1", 2 + i % 5, 1000000 + i * 10, 5, 0, i % 100, "/var/" i }' | "$compose" "$tmp/many.ptl" || exit 99
run 0 html "$tmp/many.ptl" -o "$tmp/many.html"
in_browser "$tmp/many.html" '["/var/29999", "fd=7", "/VAR/1", "io"].map(text => (posixtrace.find(text), [Number(document.getElementById("found").dataset.hits), posixtrace.rows.every(row => [0, 1, 2].every(kind => row.hits[kind].every((k, i, all) => i ? all[i - 1] < k : true)))]))'
check "all events are searched" answers '[[1,true],[300,true],[11111,true],[30000,true]]'
in_browser "$tmp/many.html" '(posixtrace.find("fd=7"), posixtrace.openTab("hits"), [document.querySelectorAll("#hit-list tbody tr").length, document.querySelector("#found-list .note").textContent, (document.querySelector("#found-more button").click(), document.querySelector("#found-list .note").textContent), document.querySelectorAll("#found-more button").length])'
check "the list is a page of the hits" answers '[100,"Hits 1 to 100 of 300 for fd=7.","Hits 101 to 200 of 300 for fd=7.",2]'
finish
