#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A stream of events from one host to another, and the account of what did not arrive.
. "${0%/*}/lib.sh"
needs_format rkh
. "${0%/*}/targets.sh"

feed_line=${top_builddir:-..}/tests/tools/feed_line

# account LOG: its numbers, "called reported lost".
account() {
	"$posixtrace" verify "$1" 2>/dev/null |
		sed -n 's/.*: called \([0-9]*\) = reported \([0-9]*\) + unread 0 + lost \([0-9]*\).*/\1 \2 \3/p'
}

events() { "$posixtrace" convert --to evt "$1" 2>/dev/null | sed -n 's/^evt id=[^ ]* //p'; }
same_events() { events "$1" >"$tmp/should"; events "$2" >"$tmp/is"; cmp "$tmp/should" "$tmp/is"; }

# receives STATUS FILE LOG: receives the bytes of FILE.
receives() {
	rm -f "$tmp/$3"
	"$posixtrace" receive -o "$tmp/$3" <"$tmp/$2" >"$tmp/out" 2>"$tmp/err"
	got=$?
	wanted=$1
	check "receiving $2 exits with $1, not $got" exited
	check "$3 is sound" is_sound "$tmp/$3"
}

"$make_log" plain "$tmp/a.ptl" 20000 >/dev/null
"$make_log" overrun "$tmp/o.ptl" 100000 >/dev/null
run 0 send "$tmp/a.ptl" -o "$tmp/a.rkh"
receives 0 a.rkh b.ptl
check "all sent events arrive" test "$(account "$tmp/b.ptl")" = "20005 20005 0"
# Times have whole microseconds since an epoch; after that they do not change.
run 0 send "$tmp/b.ptl" -o "$tmp/b.rkh"
receives 0 b.rkh c.ptl
check "with all that it has" same_events "$tmp/b.ptl" "$tmp/c.ptl"
run 0 send - <"$tmp/a.ptl"
check "standard input goes to standard output" cmp "$tmp/out" "$tmp/a.rkh"
run 0 send "$tmp/o.ptl" -o "$tmp/o.rkh"
receives 0 o.rkh p.ptl
check "the losses of the sender are counted" test "$(account "$tmp/p.ptl")" = "$(account "$tmp/o.ptl")"
run 4 receive --fail-on-loss -o "$tmp/f.ptl" "$tmp/o.rkh"
run 0 convert "$tmp/a.ptl" --to rkh --account -o "$tmp/acc.rkh"
check "convert writes accounts if it shall" cmp "$tmp/acc.rkh" "$tmp/a.rkh"
run 0 send --no-context "$tmp/a.ptl" -o "$tmp/n.rkh"
run 0 receive -t evt -o "$tmp/n.evt" "$tmp/n.rkh"
check "without a context there is none" test "$(grep -c pid= "$tmp/n.evt")" -eq 0
run 0 receive -t jsonl -o "$tmp/j" "$tmp/a.rkh"
check "another format can be made of it" test "$(grep -c '"event"' "$tmp/j")" -ge 20000

# Damage on the way: every event that does not arrive is counted, with any sequence numbers.
size=$(wc -c <"$tmp/a.rkh")
piece() { tail -c +"$(($2 + 1))" "$tmp/$1" | head -c "$3"; }
for cut in 17 500 20000 300000; do
	{ piece a.rkh 0 400000; piece a.rkh $((400000 + cut)) "$size"; } >"$tmp/cut"
	"$posixtrace" receive -o "$tmp/cut$cut.ptl" "$tmp/cut" 2>"$tmp/err"
	set -- $(account "$tmp/cut$cut.ptl")
	check "without $cut bytes the ledger says what is missing: $*" test "$(($2 - $(events "$tmp/cut$cut.ptl" | wc -l)))" -eq 0
	check "$cut: all that were sent, and two for the gap" test "$(($1 - 20005))" -ge 0 -a "$(($1 - 20005))" -le 2
	# A few bytes may be of a frame that is no event.
	check "$cut: some are lost" test "$3" -gt 0 -o $cut -lt 100
done
{ piece a.rkh 0 400000; head -c 3000 /dev/urandom; piece a.rkh 400000 "$size"; } >"$tmp/noise"
"$posixtrace" receive -o "$tmp/noise.ptl" "$tmp/noise" 2>/dev/null
set -- $(account "$tmp/noise.ptl")
check "noise costs only the frames that it hit: $*" test "$(($1 - 20005))" -ge 0 -a "$2" -gt 19990
tr 'a' 'b' <"$tmp/a.rkh" >"$tmp/flipped"
"$posixtrace" receive -o "$tmp/flipped.ptl" "$tmp/flipped" 2>"$tmp/err"
got=$?
check "a changed byte is reported" test $got -eq 3
check "by its sums" has err ': checksum: '
set -- $(account "$tmp/flipped.ptl")
check "all events are accounted for: $*" test "$1" -ge 20005 -a "$3" -gt 0
piece a.rkh 300000 "$size" >"$tmp/late"
"$posixtrace" receive -o "$tmp/late.ptl" "$tmp/late" 2>/dev/null
set -- $(account "$tmp/late.ptl")
check "a late reader has the number of earlier events: $*" test "$1" -eq 20005 -a "$3" -gt 0
check "a late reader gets the names" test "$("$posixtrace" dump "$tmp/late.ptl" 2>/dev/null | tail -n 100 | grep -c ' rkh.USR')" -eq 0
piece a.rkh 0 700001 >"$tmp/short"
receives 3 short short.ptl
check "a stream that stops early is reported" has err ' end: the sender.s last account is missing'
for cut in 0 1 17 40; do
	piece a.rkh 0 $cut >"$tmp/nothing"
	receives 3 nothing nothing$cut.ptl
	check "a stream that has hardly begun is reported: $cut" has err ' end: the sender'
done
cat "$tmp/short" "$tmp/a.rkh" >"$tmp/again"
receives 3 again again.ptl
check "a sender that begins again is another stream" test "$(account "$tmp/again.ptl" | cut -d ' ' -f 1)" -gt 25000
cat "$tmp/a.rkh" "$tmp/a.rkh" >"$tmp/twice"
receives 0 twice twice.ptl
check "two whole streams are one log" test "$(account "$tmp/twice.ptl")" = "40010 40010 0"

# An event with the name of an account is no account, and an impossible account is refused.
printf '%s\n' 'name 0x1000 "posixtrace.account"' 'evt id=0x1000 time=1.0 data=05010000000d0000000000000000' \
	>"$tmp/odd.evt"
run 0 send "$tmp/odd.evt" -o "$tmp/odd.rkh"
receives 0 odd.rkh odd.ptl
check "a type may be called as it wants" test "$(account "$tmp/odd.ptl")" = "1 1 0"
frame() {
	printf '%s\n' "$*" | awk 'function hex(t) { return 16 * (index("0123456789ABCDEF", substr(t, 1, 1)) - 1) + index("0123456789ABCDEF", substr(t, 2, 1)) - 1 }
		function put(b) { if (b == 125 || b == 126) { printf "\\%03o\\%03o", 125, b - 32 } else printf "\\%03o", b }
		{ for (i = 1; i <= NF; i++) { sum += hex($i); put(hex($i)) } put((256 - sum % 256) % 256); printf "\\176" }'
}
name=$(printf 'posixtrace.account' | od -An -v -tx1 | tr 'a-f' 'A-F' | tr -d '\n')
printf "\\176$(frame AB 00 01 00 00 00 00 $name 00)$(frame C0 01 01 00 00 00 05 00 00 00 00 0D FF FF FF FF FF FF FF FF)" >"$tmp/wrong"
receives 3 wrong wrong.ptl
check "an impossible account is reported" has err ' record: an account with impossible numbers'

# Schemas are sent with the data, so that the received log has fields; also if a schema is longer
# than a frame, or its frame is lost.
long=$(awk 'BEGIN { for (i = 0; i < 25; i++) printf "; u8 a_field_whose_name_is_rather_long_%d", i }')
"${make_log%/*}/compose" "$tmp/typed.ptl" <<EOF || exit 99
type read ns time; s32 fd; str path; @level 3
type wide u8 first$long
type plain
read 7 8 1000000 250 3 /etc/passwd
wide 7 8 2000000 1 2 3
plain 7 8 3000000
read 7 8 4000000 1250 4 x
EOF
run 0 send "$tmp/typed.ptl" -o "$tmp/typed.rkh"
receives 0 typed.rkh typed2.ptl
run 0 dump "$tmp/typed2.ptl"
check "fields arrive" has out ' read time=250ns fd=3 path="/etc/passwd"$'
check "those of long schemas, too" has out ' wide first=1 a_field_whose_name_is_rather_long_0=2 a_field_whose_name_is_rather_long_1=3'
check "long schemas cost no events" test "$(account "$tmp/typed2.ptl")" = "4 4 0"
run 0 convert --from rkh --to listing --max-frame 1024 "$tmp/typed.rkh"
check "in frames that anybody reads" has out '^= frames=\([0-9]*\) good=\1 checksum=0 .* overlong=0 '
run 0 convert "$tmp/typed.ptl" --to rkh -o "$tmp/untyped.rkh"
check "convert writes them if it shall" test "$(grep -c posixtrace.schema "$tmp/untyped.rkh")" -eq 0
sed 's/ns time; s32 fd/ns tine; s32 fd/' "$tmp/typed.rkh" >"$tmp/hurt.rkh"
receives 3 hurt.rkh hurt.ptl
check "without its schema an event is there as it is" test "$(events "$tmp/hurt.ptl" | wc -l)" -eq 6
check "no event is counted as lost" test "$(account "$tmp/hurt.ptl" | cut -d ' ' -f 3)" = 0

# Through sockets, both ways around.
# port_of FILE: the port on which receive waits
port_of() { sed -n 's/.* at 127\.0\.0\.1:\([0-9]*\)$/\1/p' "$tmp/$1"; }
waits() { test -n "$(port_of "$1")"; }
start "$posixtrace" receive listen:0 -o "$tmp/t.ptl" 2>"$tmp/waits"
receiver=$pid
until_true waits waits
run 0 send "$tmp/a.ptl" -o "tcp:127.0.0.1:$(port_of waits)"
wait $receiver
check "a receiver waits for its sender" same_events "$tmp/b.ptl" "$tmp/t.ptl"
start "$posixtrace" send "$tmp/a.ptl" -o listen:127.0.0.1:0 2>"$tmp/waits"
sender=$pid
until_true waits waits
run 0 convert --from rkh "tcp:127.0.0.1:$(port_of waits)" -o "$tmp/u.evt"
wait $sender
check "a sender waits for its receiver" test "$(grep -c ^evt "$tmp/u.evt")" -eq 20005
for bad in listen:65536 listen:99999999999 tcp:127.0.0.1:99999 tcp: tcp:1 tcp:host: tcp::1 listen: listen:host:; do
	run 2 receive "$bad" -o "$tmp/x.ptl"
done
run 1 receive tcp:127.0.0.1:1 -o "$tmp/x.ptl"
check "a connection that is refused is reported" has err '^posixtrace: tcp:127.0.0.1:1: Connection refused'
check "a refused connection makes no log" test ! -e "$tmp/x.ptl"

# A serial line: raw, and restored afterwards.
start sh -c 'exec "$0" <"$1"' "$feed_line" "$tmp/a.rkh" >"$tmp/line"
feeder=$pid
until_true test -s "$tmp/line"
run 0 receive --baud 115200 "$(head -n 1 "$tmp/line")" -o "$tmp/s.ptl"
wait $feeder
check "the line was raw, and all of it was read" same_events "$tmp/b.ptl" "$tmp/s.ptl"
start sh -c 'exec "$0" <"$1"' "$feed_line" "$tmp/a.rkh" >"$tmp/line2"
until_true test -s "$tmp/line2"
run 2 receive --baud 12345 "$(head -n 1 "$tmp/line2")" -o "$tmp/x.ptl"
check "a speed that no line has is reported" has err 'serial lines do not have this speed'
kill -KILL "$pid"

# A process that continues; a sender that is killed, and one that gets SIGTERM.
is_sending() {
	"$posixtrace" list --json | grep '^{"pid":'"$target"',.*"creator":'"$sender"',.*"running":true'
}
start_busy 2
until_true "$posixtrace" status "$target"
"$posixtrace" send -p "$target" -d 1 2>"$tmp/err" >"$tmp/live.rkh"
check "a process's events are sent for as long as asked" test $? -eq 0
receives 0 live.rkh live.ptl
set -- $(account "$tmp/live.ptl")
check "each is there or counted: $*" test "$1" -eq $(($2 + $3)) -a "$2" -gt 100
start sleep 1000000
"$posixtrace" send -p $pid -d 0.1 >"$tmp/none.rkh" 2>"$tmp/err"
check "a process without the library is reported" has err \
	"^posixtrace: process $pid does not use libposixtrace: it is traced when it executes a program that does\$"
kill -KILL $pid
mkfifo "$tmp/pipe"
start "$posixtrace" receive "$tmp/pipe" -o "$tmp/killed.ptl" 2>"$tmp/err"
receiver=$pid
start "$posixtrace" send -p "$target" -o "$tmp/pipe" 2>/dev/null
sender=$pid
until_true is_sending
{ kill -KILL $sender; wait $sender; } 2>/dev/null
wait $receiver
check "a sender that is killed ends the log" test $? -eq 3
check "the missing end is reported" has err 'last account is missing\|ends within a frame'
check "the log is sound" is_sound "$tmp/killed.ptl"
start "$posixtrace" send -p "$target" -o "$tmp/pipe" 2>/dev/null
sender=$pid
start "$posixtrace" receive "$tmp/pipe" -o "$tmp/ended.ptl" 2>"$tmp/err"
receiver=$pid
until_true is_sending
kill -TERM $sender
wait $sender
check "a sender ends when it is asked to" test $? -eq 0
wait $receiver
check "the receiver ends with its sender" test $? -eq 0
check "with all" is_sound "$tmp/ended.ptl"
start "$posixtrace" send -p "$target" -o listen:0 2>"$tmp/waits"
sender=$pid
until_true waits waits
start "$posixtrace" receive "tcp:127.0.0.1:$(port_of waits)" -o "$tmp/left.ptl" 2>"$tmp/err"
receiver=$pid
until_true is_sending
kill -TERM $receiver
wait $receiver
got=$?
check "a receiver that is asked to end has a log, and exits with 3, not $got" test $got -eq 3
check "the log of an ended receiver is sound" is_sound "$tmp/left.ptl"
wait $sender
check "its sender fails because of the broken pipe" test $? -ne 0
kill_target

# A conversion that reads its input twice makes a copy first; after that, signals end the process. The
# output is a pipe from which no process reads.
is_told_until_ended() { ! grep '^State:.[^Z]' "/proc/$1/status" || { kill -TERM "$1"; false; }; }
mkfifo "$tmp/full"
exec 7<>"$tmp/full"
start "$posixtrace" send "$tmp/a.ptl" -o listen:0 2>"$tmp/waits"
sender=$pid
until_true waits waits
start "$posixtrace" convert --from rkh --to chrome "tcp:127.0.0.1:$(port_of waits)" >"$tmp/full" 2>"$tmp/err"
converter=$pid
wait $sender
until_true is_told_until_ended $converter || kill -KILL $converter
wait $converter
got=$?
check "a signal ends a conversion whose input has ended: it exits with 143, not $got" test $got -eq 143
exec 7>&-
for wrong in '' '-p 0' '-p 1 -p 2' '-p 1 x' '-d 1 x' '-s 4M x' '--inherit x' 'x y' '-p'; do
	run 2 send $wrong
done
run 2 receive
run 2 receive a b -o "$tmp/x.ptl"
run 1 send "$tmp/missing"
run 2 receive -o "$tmp/x.ptl" --dialect qs "$tmp/a.rkh"
finish
