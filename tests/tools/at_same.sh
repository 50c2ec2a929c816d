# SPDX-License-Identifier: LGPL-2.1-or-later
# The comparison of logs and of the same logs in a database, by the options --at. Sourced behind
# lib.sh. The caller sets url, the database, and ships each log as host web1.

# make_logs: logs of all kinds in $tmp.
make_logs() {
	"$make_log" plain "$tmp/plain.ptl" 3000 >/dev/null || exit 99
	"${top_builddir:-..}/tests/tools/make_described" append "$tmp/described.ptl" || exit 99
	"${top_builddir:-..}/tests/tools/make_times" "$tmp/server.ptl" || exit 99
	"$make_log" overrun "$tmp/lossy.ptl" 5000 >/dev/null || exit 99
	cat >"$tmp/lines" <<'END'
trace pid=40 host=alpha clock=monotonic hz=1000000000 created=1s resolution=1 name=strange
type note str text; u32 number
type req_begin u32 id; @begin req; @key id
type req_end u32 id; @end req; @key id
type blob bytes raw
object 40 4096 "lock\x27; DROP"
start 1s
note 40 41 +1ms "a\x27b\\\\c\n\x01\xff\x80 \\x00 ) FORMAT Native" 7
note 40 41 +1ms @late "" 8
req_begin 40 41 +1ms 1
blob 40 42 +1ms hex:0027ff5c00
note 40 42 +1ms @cut "half" 9
req_end 40 42 +5ms 1
req_begin 40 41 +1ms 2
note 41 43 +1ms @0x4005d0 "address" 10
req_end 40 41 +2ms 2
repeat 40 note 40 44 +1us "again" 1
lost note 3
lost note 2 0 40 44
lost blob 1 5
END
	"${top_builddir:-..}/tests/tools/compose" "$tmp/strange.ptl" <"$tmp/lines" || exit 99
	logs="plain server lossy strange"
}

# same STATUS COMMAND NAME OPTION...: the output of the command is that for the file $tmp/NAME.ptl.
# The name of the log has the host before it.
same() {
	status=$1 command=$2 name=$3
	shift 3
	"$posixtrace" "$command" "$@" "$tmp/$name.ptl" >"$tmp/of_file" 2>"$tmp/file.err"
	check "$command $* $name: the file" test $? -eq "$status"
	# The database has no mappings of files, so it has no names of locks that are variables.
	sed -i 's/ "other[.0-9]*" lock$/ lock/; s/,"lock_name":"other[.0-9]*"//g' "$tmp/of_file"
	run "$status" "$command" --at "$url" "$@" "web1:$name.ptl"
	sed "s|web1:$tmp/|$tmp/|" "$tmp/out" >"$tmp/of_fleet"
	check "$command $* $name: the same lines" diff "$tmp/of_file" "$tmp/of_fleet"
}

# same_warnings NAME: the warnings about losses are those for the file.
same_warnings() {
	"$posixtrace" dump "$tmp/$1.ptl" 2>&1 >/dev/null | sed "s|$tmp/$1.ptl|LOG|" >"$tmp/file.err"
	"$posixtrace" dump --at "$url" "web1:$1.ptl" 2>&1 >/dev/null |
		sed "s|web1:$tmp/$1.ptl|LOG|" >"$tmp/at.err"
	check "$1: the same warnings" diff "$tmp/file.err" "$tmp/at.err"
}

# same_answers: all commands, with and without choices.
same_answers() {
	for log in $logs; do
		same 0 dump "$log"
		same 0 dump "$log" --system --raw
		same 0 dump "$log" --json
		same 0 dump "$log" --hex --limit 20
		same 0 dump "$log" --tail 7 --utc
		same_warnings "$log"
		same 0 latency "$log" --json
		same 0 latency "$log" --slowest 3
	done
	same 0 dump strange -e note
	same 0 dump strange -x note --raw
	same 0 dump strange --where 'number > 7' --fields time,text,number
	same 0 dump strange --pid 41
	same 0 dump strange --tid 42
	same 0 dump strange --begin +3ms --end +7ms
	same 0 dump strange --begin -3ms
	same 0 dump strange --where 'duration > 3ms' -e req_end
	same 0 dump plain --begin +1ms --limit 5 --system
	same 0 latency strange -e req_end
	same 0 latency server --begin +1ms
	same 0 why strange --span req
	same 0 why strange --span req --begin +1ms
	same 0 why strange --thread 41
}
