#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace record and attach with --rotate-size and --rotate-time: the logs of one recording are
# complete, no event is in two of them and none is missing, and old logs expire.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"
needs_shim
case $victim in /*) ;; *) victim=$PWD/$victim ;; esac
POSIXTRACE_GUARDIAN=${shim%/.libs/*}/posixtrace-guardian
export POSIXTRACE_GUARDIAN
work_in_tmp

# rotate STATUS NAME SCRIPT ARGUMENT...: records a shell script into NAME.NNNN.ptl. The script has the
# function more, which makes 10000 calls of read and of write, and the function again, which sleeps
# between two looks of a loop. again ends the script if record has failed and the loop has no end.
more='more() { dd if=/dev/zero of=/dev/null bs=1 count=10000 2>/dev/null; }
looks=0
again() { looks=$((looks + 1)); test $looks -le 1200 || exit 99; sleep 0.05; }
'
rotate() {
	wanted=$1 name=$2 script=$3
	shift 3
	run "$wanted" record --trace=io,process -o "$name.ptl" "$@" sh -c "$more$script"
}
# The counts in the last line.
said() { sed -n "s/^posixtrace: .*: \([0-9]*\) events, \([0-9]*\) lost.*/\\$1/p" err; }
said_removed() { sed -n 's/.*; \([0-9]*\) older logs\{0,1\} with \([0-9]*\) events\{0,1\} w.*/\'"$1/p" err; }
events_of() { "$posixtrace" dump --system "$@" | grep -c '^[0-9]'; }
# has_all NAME: the logs are sound, and have all events that were not removed.
are_sound() { for each in "$@"; do "$posixtrace" verify "$each" >/dev/null || return; done; }
has_all() {
	removed=$(said_removed 2)
	check "$1: each log is sound" are_sound "$1".*.ptl
	sum=0
	for each in "$1".*.ptl; do sum=$((sum + $(events_of "$each"))); done
	check "$1: $(said 1) events are $sum in the logs and ${removed:-0} removed" \
		test "$(said 1)" -eq $((sum + ${removed:-0}))
	check "$1: the logs are one trace" test "$(events_of "$1".*.ptl)" -eq $sum
}

# By size.
rotate 0 size 'for n in 2 3 4; do more; until test -e size.000$n.ptl; do again; done; done' \
	--rotate-size 256K
has_all size
check "size: the last line has the number of logs" has err ' bytes in [4-9] logs$'
check "size: all calls are there" test "$("$posixtrace" dump -e io.write size.*.ptl | grep -c '^[0-9]')" -ge 30000
check "size: no log of the name itself" test ! -e size.ptl
check "size: only the owner reads the logs" test "$(stat -c %a size.0002.ptl)" -eq 600
check "size: each log has the event types" sh -c '"$0" stat size.0004.ptl | grep -q "[0-9] event types without events"' "$posixtrace"

# A descriptor that was opened in one log has its name in the next logs, if all are given.
rotate 0 named 'exec 7</dev/null
	until test -e named.0004.ptl; do cat <&7; again; done' --rotate-time 200ms
names_of() { "$posixtrace" dump -e io.dup "$@" | grep -c 'fd=7 </dev/null>'; }
dups_of() { "$posixtrace" dump -e io.dup "$@" | grep -c 'fd=7 '; }
check "a descriptor of an earlier log has its name" test "$(names_of named.*.ptl)" -eq "$(dups_of named.*.ptl)"
check "in any order of the logs" test "$(names_of named.0003.ptl named.0001.ptl named.0002.ptl)" -eq \
	"$(dups_of named.000[123].ptl)"
check "without the first log, it has none" test "$(names_of named.000[23].ptl)" -eq 0
check "if a log is missing, it has none in later logs" test "$(names_of named.000[134].ptl)" -eq \
	"$(names_of named.0001.ptl)"
check "a log that is given twice has its names twice" test \
	"$(names_of named.0001.ptl named.0001.ptl named.0002.ptl)" -eq \
	$((2 * $(names_of named.0001.ptl) + $(dups_of named.0002.ptl)))

# stat has one account of the whole recording. It is the sum of the accounts of the logs.
count_of() { "$posixtrace" stat --json "$@" | tr ',{' '\n\n' | sed -n "s/^\"$name\":\([0-9]*\)\$/\1/p"; }
# The first number of a report is that of the whole log.
sums_of() { for name in events called reported; do sum=0
	for each in "$@"; do sum=$((sum + $(count_of "$each" | sed 1q))); done
	echo "$name $sum"; done; }
all_of() { for name in events called reported; do echo "$name $(count_of "$@" | sed 1q)"; done; }
same_sums() { all_of "$@" >all && sums_of "$@" >sums && cmp all sums && lacks sums ' 0$'; }
check "stat: the account of a recording is the sum of its logs" same_sums size.*.ptl
"$posixtrace" stat size.*.ptl >out
check "stat: one report" test "$(grep -c '^account ' out)" -eq 1
check "stat: it has the number of logs" has out "^log .*size.0001.ptl to .*: [4-9] logs of one recording$"
check "stat: each type has one row" test "$(grep -c ' io.write$' out)" -eq 1
"$posixtrace" stat size.0003.ptl size.0001.ptl >out
check "stat: in the order of time" has out 'size.0001.ptl to .*size.0003.ptl: 2 logs'
check "stat: also in JSON" sh -c '"$0" stat --json size.0003.ptl size.0001.ptl | grep -q "\"logs\":\[\"size.0001.ptl\",\"size.0003.ptl\"\]"' "$posixtrace"
check "stat: logs of two recordings have two reports" test "$("$posixtrace" stat size.0001.ptl named.0001.ptl | grep -c ^account)" -eq 2
check "stat: a log that is given twice has two reports" test "$("$posixtrace" stat size.0001.ptl size.0001.ptl | grep -c ^account)" -eq 2
head -c $(($(wc -c <size.0002.ptl) / 2)) size.0002.ptl >half.ptl
run 3 stat size.0001.ptl half.ptl size.0003.ptl
check "stat: the damaged log is named" has err 'half.ptl: damaged or not complete'

# html draws them as one timeline: no row appears twice.
run 0 html size.*.ptl -o page.html
check "html: the page is that of one log" has page.html '"log":"size.0001.ptl and [3-8] more"'
run 0 convert size.*.ptl -o whole.ptl
run 0 html whole.ptl -o whole.html
rows_of() { grep -o '"pid":[0-9]*,"tid":[0-9]*' "$1" | sort; }
check "html: it has the rows of the converted log" test "$(rows_of page.html)" = "$(rows_of whole.html)"
check "html: there are rows" test -n "$(rows_of page.html)"
cp size.0001.ptl kept.ptl
run 1 html --force size.*.ptl -o size.0001.ptl
check "html: a log is not overwritten by its page" cmp size.0001.ptl kept.ptl
run 0 html --align start size.0001.ptl size.0002.ptl -o start.html
check "html: with --align start, each log has its own rows" lacks start.html ' more"'

# Commands for one log read all of them after a conversion.
run 0 convert named.*.ptl -o all.ptl
check "the converted log has the names" test "$(names_of all.ptl)" -eq "$(dups_of named.*.ptl)"
# why and latency read them directly.
same_of() { "$posixtrace" "$1" all.ptl 2>/dev/null | sed 's/^all.ptl:/LOG:/' >whole
	"$posixtrace" "$@" named.*.ptl 2>err | sed 's/^named.0001.ptl and [0-9]* more:/LOG:/' | cmp - whole; }
check "why of several logs is why of the converted log" same_of why
check "there is no note about clocks" lacks err .
check "latency of several logs is latency of the converted log" same_of latency
head -c $(($(wc -c <named.0002.ptl) / 2)) named.0002.ptl >cut.ptl
run 3 latency named.0001.ptl cut.ptl
run 1 why named.0001.ptl missing.ptl
check "the missing log is named" has err 'missing.ptl: No such file'

# By time, compressed.
if "$posixtrace" record --trace=none -q --compress -o can.ptl true 2>err; then
	compress=--compress
fi
rotate 3 time 'until test -e time.0003.ptl; do again; done; exit 3' --rotate-time 100ms ${compress-}
has_all time

# Old logs are removed, and their events are in the last line.
rotate 0 keep 'while test -e keep.0001.ptl; do more; again; done' --rotate-size 256K --keep-size 600K
check "keep-size: the last line has the removed logs" test "$(said_removed 1)" -ge 1
check "keep-size: the last line has the removed events" test "$(said_removed 2)" -ge 1
has_all keep
check "keep-size: the rest is not larger" test "$(cat keep.*.ptl | wc -c)" -le $((4 * 614400))
rotate 0 age 'until test -e age.0002.ptl && test ! -e age.0001.ptl; do again; done' \
	--rotate-time 100ms --keep-age 100ms
has_all age

# A file that this recording has not written stays.
rotate 0 other 'until test -e other.0002.ptl; do again; done
	cp other.0001.ptl copy && mv copy other.0001.ptl
	until test -e other.0003.ptl && test ! -e other.0002.ptl; do again; done' \
	--rotate-time 400ms --keep-age 800ms
check "a file that replaces a log is not removed" test -e other.0001.ptl

# Numbers continue behind logs that exist; --force begins with 1.
echo old >next.0007.ptl
rotate 0 next true --rotate-size 1M
check "the numbers continue" test -e next.0008.ptl
check "an old file is unchanged" test "$(cat next.0007.ptl)" = old
echo old >next.0001.ptl
rotate 0 next true --rotate-size 1M --force
check "--force overwrites" "$posixtrace" verify next.0001.ptl
# Another recording with this name has used more numbers meanwhile.
# The greatest number is used first, so that each later log has a greater one. Noclobber keeps a log
# that was begun before.
rotate 0 busy 'set -C; n=130; while test $n -ge 2; do
		{ echo old >busy.$(printf %04d $n).ptl; } 2>/dev/null; n=$((n - 1)); done
	until test -e busy.0131.ptl; do again; done' --rotate-time 200ms
check "the recording continues behind all of them" "$posixtrace" verify busy.0131.ptl
check "the other files are unchanged" test "$(cat busy.0100.ptl busy.0130.ptl | uniq -c | tr -d ' ')" = 2old
mkdir -p a.ptl.d
rotate 0 a.ptl.d/name true --rotate-time 1h
check "the folder of the name is that of the logs" test -e a.ptl.d/name.0001.ptl
run 0 record --trace=none -o plain --rotate-time 1h true
check "a name without suffix has none" test -e plain.0001

# If no log can be begun, the recording continues in the log that it has.
mkdir folder
run 0 record --trace=io,process -o folder/log.ptl --rotate-time 100ms sh -c '
	mv folder away
	n=0; until grep -q "the recording continues in this log" err || test $n -gt 1200; do
		sleep 0.05; n=$((n + 1)); done
	mv away folder
	n=0; until test -e folder/log.0002.ptl || test $n -gt 1200; do sleep 0.05; n=$((n + 1)); done'
check "the reason is named" has err '^posixtrace: folder/log.0002.ptl: No such file'
has_all folder/log

# With --stack, each log has the stacks of its own events, with numbers of its own.
if "$posixtrace" record --trace=io --stack -q -o can.ptl true 2>err; then
	# numbers_in TYPE LOG: the numbers of stacks in the events of a type, each once.
	numbers_in() { "$posixtrace" dump -e "$1" "$2" | sed -n 's/.* stack=\([0-9]*\).*/\1/p' | sort -u; }
	has_own_stacks() { test "$(numbers_in "$2" "$1")" = "$(numbers_in cpu.stack "$1")"; }
	rotate 0 stack 'exec 7</dev/null
		for n in 2 3 4; do more; until test -e stack.000$n.ptl; do head -c 9 /dev/zero >/dev/null; dd <&7 2>/dev/null; again; done; done' \
		--stack=io.read --rotate-size 1M
	has_all stack
	for each in stack.000[123].ptl; do
		check "$each: each stack of an event is in the log, and no other" has_own_stacks "$each" io.read
		check "$each: there are stacks" test -n "$(numbers_in io.read "$each")"
	done
	check "stack: a descriptor of an earlier log has its name" test \
		"$("$posixtrace" dump -e io.dup stack.*.ptl | grep -c 'fd=7 </dev/null>')" -ge 2
	run 0 convert stack.*.ptl -o all.ptl --force
	check "stack: a converted log has the callers of each event" test \
		"$("$posixtrace" dump -e io.read stack.*.ptl | sed -n 's/^    #1 *//p' | sort | uniq -c)" = \
		"$("$posixtrace" dump -e io.read all.ptl | sed -n 's/^    #1 *//p' | sort | uniq -c)"
fi

# A killed recorder leaves complete logs.
"$posixtrace" record --trace=io -o killed.ptl --rotate-time 100ms sh -c 'n=0; until test -e end || test $n -gt 3600; do sleep 0.05; n=$((n + 1)); done' \
	>out 2>err &
recorder=$!
started="$started $recorder"
until_true test -e killed.0003.ptl
kill -KILL $recorder
wait $recorder 2>/dev/null
touch end
is_complete() { "$posixtrace" stat "$1" | grep -q '; complete$'; }
for each in killed.*.ptl; do
	test -s "$each" || continue
	last=$each
	test "$each" = killed.0003.ptl || check "$each: the log is complete" until_true is_complete "$each"
done
check "the last log can be read" sh -c '"$0" stat "$1" >/dev/null' "$posixtrace" "$last"

# attach has the same options.
sleep 1000 &
sleeper=$!
started="$started $sleeper"
until_true is_at_rest $sleeper sleep
if "$posixtrace" attach -p $sleeper --trace=io -o try.ptl -d 1ms >out 2>err; then
	run 0 attach -p $sleeper --trace=io -o at.ptl --rotate-time 100ms -d 1s --json
	check "attach: JSON has the number of logs" has out '"logs":[1-9]'
	check "attach: the logs are sound" are_sound at.*.ptl
	check "attach: a second recording continues the numbers" sh -c \
		'ls at.*.ptl >before; "$0" attach -p $1 --trace=io -o at.ptl --rotate-time 1h -d 1ms >out 2>err &&
		test $(ls at.*.ptl | wc -l) -gt $(wc -l <before)' "$posixtrace" $sleeper
fi

# refused TEXT ARGUMENT...: a usage error that names the reason, and no log.
refused() {
	text=$1
	shift
	run 2 record -o no.ptl "$@" true
	check "$*: the reason" has err "$text"
	check "$*: no log" test ! -e no.0001.ptl
}
for name in '' . a.ptl.d/ a.ptl.d /dev/full /dev/stdout; do
	run 125 record --trace=none -o "$name" --rotate-time 1h true
	check "'$name': the reason" has err 'not a regular file'
done
check "no log of such a name" test ! -e .0001 -a ! -e ..0001 -a ! -e a.ptl.d/.0001
refused 'at least 256K' --rotate-size 255K
refused 'at least 100ms' --rotate-time 1ms
refused 'rotate-size' --rotate-size 0
refused 'rotate-time' --rotate-time soon
refused 'no meaning without --rotate-size' --keep-age 1h
refused 'no meaning without --rotate-size' --keep-size 1G
refused 'no log would be kept' --keep-size 1M --rotate-size 2M
refused 'no --loop' --rotate-time 1h --loop
refused 'never full' --rotate-time 1h --log-policy until-full
refused 'never full' --rotate-time 1h --stack --loop
# The guardian refuses arguments that the library never gives, such as a blank in place of a digit.
uuid=00112233445566778899aabbccddeeff
for wrong in "" "0" "0 1 0 1" "0 1 0 1 0 x" "0 1 0 1 0 +1${uuid#??}" "x 1 0 1 0 $uuid" "0 -1 0 1 0 $uuid" \
	"0 1 2 1 0 $uuid" "0 1 0 1x 0 $uuid" "0 1 0 1 01x $uuid" "99999999999 1 0 1 0 $uuid"; do
	# shellcheck disable=SC2086 # a list of words
	"$POSIXTRACE_GUARDIAN" $wrong 2>err
	check "guardian '$wrong': refused" test $? -eq 2
done
"$POSIXTRACE_GUARDIAN" 0 1 0 1 0 " 1${uuid#??}" 2>err
check "guardian with a blank in the UUID: refused" test $? -eq 2
check "with the reason" has err 'is started by libposixtrace'
finish
