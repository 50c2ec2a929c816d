#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace list: a line for each stream on this machine, of all controllers and targets.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"

log=$tmp/a.log

# The lines of our target: in $tmp/lines, and how many there are.
listed() {
	# Another test, or another build, may have a process with another version of the library.
	"$posixtrace" list >"$tmp/out" 2>"$tmp/every" || return
	grep -v 'it uses another version' "$tmp/every" >"$tmp/err"
	grep "^ *$target " "$tmp/out" >"$tmp/lines"
	wc -l <"$tmp/lines"
}

# line REGULAR-EXPRESSION: the only line of our target, from the program's name on.
line() {
	count=$(listed)
	cat "$tmp/out"
	test "$count" -eq 1 && grep -q -x " *$target  *$1" "$tmp/lines"
}

start_busy 8
check "a process that is not traced is not listed" test "$(listed)" -eq 0
check "there is a head line" has out '^ *PID  PROGRAM  *STREAM  *POLICY  *LOG  *STATUS  *FILL  *EVENTS  *LOST  *CREATOR  *INHERITED$'
check "list prints no message" is_empty err
attach
check "a trace is listed with all that belongs to it" \
	line "victim  *a.log  *flush  *append  *[rf]u[a-z]*  *[0-9]*%  *[0-9]*  *[0-9]*  *$tracer (posixtrace)  *no"
recorded() { listed >"$tmp/count"; awk '{ print $8 }' "$tmp/lines"; }
has_more_than() { test "$(recorded)" -gt "$1"; }
check "events are counted" until_true has_more_than "$(recorded)"
finish_attach 0 TERM
check "a trace that has ended is not listed" test "$(listed)" -eq 0

attach --policy until-full -s 32K --log-policy until-full --log-size 1M --inherit
check "a full stream is reported" until_true line \
	"victim  *a.log  *until-full  *until-full  *full  *100%  *[0-9]*  *[1-9][0-9]*  *$tracer (posixtrace)  *yes"
run 4 list --fail-on-loss
first=$tracer
log=$tmp/b.log
attach --policy loop
check "two streams of a process are listed in their order" test "$(listed)" -eq 2
check "the older first" test "$(sed -n 's/.* \([ab]\.log\) .*/\1/p' "$tmp/lines" | tr -d '\n')" = a.logb.log
finish_attach 0 TERM
tracer=$first
finish_attach 0 TERM
kill_target
check "a process that has ended is not listed" test "$(listed)" -eq 0

# Streams that are inherited, and readers that wait.
log=$tmp/a.log
start_puppet
attach --inherit
check "a stream that may be inherited" line "puppet  .*  yes"
tell f
check "an inherited stream has the number of its children" line "puppet  .*  yes, by 1"
tell s
check "by a spawned program too" line "puppet  .*  yes, by 2"
finish_attach 0 TERM
end_puppet
start sleep 1000000
target=$pid
attach --trace none
check "a process without the library waits" line "sleep  *a.log  *flush  *append  *waiting  *0%  *1  *0  .*"
finish_attach 0 TERM

# Other processes choose the names.
start_busy 1
log=$tmp/$(printf 'a\033[2Jb c')
attach
check "a name is not printed raw" line 'victim  *a\\x1b\[2Jb c  *flush .*'
finish_attach 0 TERM

# JSON
log=$tmp/j.log
attach -e 'p*'
# The recorder adds the types of its own facts when it begins.
lists_types() { "$posixtrace" list --json >"$tmp/out" && has out '"event_types":14,'; }
check "the recorder's types are counted" until_true lists_types
if python3 -c 'import json' 2>/dev/null; then
	check "the JSON is JSON, and says the same" python3 - "$tmp/out" "$target" "$tracer" <<'PY'
import json, sys
streams = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
ours = [stream for stream in streams if stream["pid"] == int(sys.argv[2])]
assert len(ours) == 1, ours
ours = ours[0]
assert ours["stream"] == "j.log" and ours["program"] == "victim", ours
assert ours["creator"] == int(sys.argv[3]) and ours["creator_program"] == "posixtrace", ours
assert ours["running"] and not ours["waiting"] and not ours["ended"], ours
assert ours["stream_full_policy"] == "flush" and ours["log_full_policy"] == "append", ours
assert 0 < ours["chunks_taken"] <= ours["chunks"], ours
assert ours["lost"] == sum(ours["lost_by_cause"].values()), ours
assert ours["filter"] == [] and ours["members"] == [], ours
assert ours["event_types"] == 14, ours
PY
fi
finish_attach 0 TERM

# Streams of other users are not shown.
attach
if test "$(id -u)" -eq 0 && setpriv --reuid 65534 --regid 65534 --clear-groups "$posixtrace" --version \
	>/dev/null 2>&1; then
	setpriv --reuid 65534 --regid 65534 --clear-groups "$posixtrace" list >"$tmp/out" 2>"$tmp/err"
	check "another user may list" test $? -eq 0
	check "another user does not see the process" lacks out "^ *$target "
	check "it prints no message about it" is_empty err
fi
finish_attach 0 TERM
finish
