#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace report by templates: the cases of trcfmt/, options, limits, sources.
. "${0%/*}/lib.sh"
has_templates || skip "built without templates"

# Each case runs in its folder.
absolute() { (cd "${1%/*}" && echo "$PWD/${1##*/}"); }
posixtrace=$(absolute "$posixtrace")
LD_LIBRARY_PATH=$(cd "${top_builddir:-..}" && pwd)/lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# --- the cases

# run_case FOLDER: its status is in $got, its output in $tmp/out and $tmp/err.
run_case() {
	(
		cd "$1" || exit 99
		set --
		for template in *.trcfmt; do
			set -- "$@" --template "$template"
		done
		exec "$posixtrace" report "$@" $(cat opts) events.evt
	) >"$tmp/out" 2>"$tmp/err"
	got=$?
	sed 's/^\([^]]*\]\).*/\1/' "$tmp/err" >"$tmp/codes"
}

count=0
for folder in "${0%/*}"/trcfmt/*/; do
	name=${folder%/}
	name=${name##*/}
	run_case "$folder"
	errors=/dev/null
	test ! -f "$folder/expected.err" || errors=$folder/expected.err
	check "$name prints what is expected" diff "$folder/expected.out" "$tmp/out"
	check "$name says what is expected" diff "$errors" "$tmp/codes"
	check "$name exits as expected, not with $got" \
		test "exit status $got" = "$(grep '^exit status' "$folder/why.txt")"
	count=$((count + 1))
done
check "the cases are found" test $count -ge 60
cat "${0%/*}"/trcfmt/*/expected.err | sed 's/.*\[\(.*\)\].*/\1/' | sort -u >"$tmp/triggered"
for code in E02 E03 E04 E05 E06 E07 E08 E09 E10 E11 E12 E13 E14 E15 E16 E17 E18 E19 E20 E21 E22 E23 \
	W01 W02; do
	check "a case has $code" grep -q -x $code "$tmp/triggered"
done

# --- options

cat >"$tmp/t" <<'END'
010 1.0 L=SVC "ten\t\"x\"" U1
@"two words" 2.3 "named"
@* 1.0 "others"
END
cat >"$tmp/e" <<'END'
evt id=0x010 pid=1 tid=2 time=1.0 data=05
END
run 0 report --template "$tmp/t" --list
printf '010  ten\\t"x"\n@two words  named\n@*  others\n' >"$tmp/expected"
check "--list has keys and labels" cmp "$tmp/expected" "$tmp/out"
run 0 report -t "$tmp/t" --check
check "--check prints nothing" is_empty out
echo '011 1.0 "x" foo' >"$tmp/wrong"
run 2 report -t "$tmp/t" -t "$tmp/wrong" --check
check "--check reports the error" has err "^$tmp/wrong:1:13: error: \[E09\] "
run 2 report -t "$tmp/wrong" --list
check "--list of wrong templates lists nothing" is_empty out
run 0 report -t "$tmp/t" -h "$tmp/e"
check "a template's quotes and tabs are printed" has out \
	'^010     0.000000000      0.000000         ten     "x" 5$'
run 0 report -t "$tmp/t" -h -o "$tmp/report" "$tmp/e"
check "-o leaves standard output alone" is_empty out
check "-o writes the report" grep -q '^010 .*"x" 5$' "$tmp/report"
run 1 report -t "$tmp/t" -o "$tmp/no/report" "$tmp/e"
check "a report that cannot be written is reported" has err "^posixtrace: $tmp/no/report: "
run 2 report -t "$tmp/wrong" -o "$tmp/not" "$tmp/e"
check "a wrong template leaves no report" test ! -e "$tmp/not"
"$posixtrace" report -t "$tmp/t" -h - <"$tmp/e" >"$tmp/out" 2>"$tmp/err"
check "- is standard input" has out '"x" 5$'
"$posixtrace" report -t - -h "$tmp/e" <"$tmp/t" >"$tmp/out" 2>"$tmp/err"
check "templates too may come from there" has out '"x" 5$'
run 0 report -t "$tmp/t" -h -d @nobody "$tmp/e"
check "-d by a name that no event has leaves nothing" is_empty out
for wrong in "" "--check" "-O pid=on $tmp/e" "-t $tmp/t" "-t $tmp/t $tmp/e $tmp/e" "-t $tmp/t -O ids $tmp/e" \
	"-t $tmp/t -O ids=maybe $tmp/e" "-t $tmp/t -O cpuid=on $tmp/e" "-t $tmp/t -O timestamp=4 $tmp/e" \
	"-t $tmp/t -O timestamp= $tmp/e" "-t $tmp/t -O starttime=x $tmp/e" "-t $tmp/t -O endtime=1. $tmp/e" \
	"-t $tmp/t -O endtime=99999999999999999999 $tmp/e" "-t $tmp/t -d 1g $tmp/e" "-t $tmp/t -d 1,,2 $tmp/e" \
	"-t $tmp/t -p a $tmp/e" "-t $tmp/t -p -1 $tmp/e" "-t $tmp/t -T 99999999999999999999999 $tmp/e" \
	"-t $tmp/t -s 1 $tmp/e"; do
	run 2 report $wrong
	check "report $wrong: nothing is on standard output" is_empty out
done
run 1 report -t "$tmp/missing" "$tmp/e"
check "a missing template file is named" has err "^posixtrace: $tmp/missing: No such file"
run 1 report -t "$tmp" "$tmp/e"
check "a folder is no template file" has err "^posixtrace: $tmp: Is a directory"
run 1 report -t "$tmp/t" "$tmp/missing"
check "a missing log is named" has err "^posixtrace: $tmp/missing: No such file"
run 1 report -t "$tmp/t" "$tmp/t"
check "a file that is no trace is reported" has err "^posixtrace: $tmp/t: "

# --- limits that need more than a line of a case

awk 'BEGIN { for (i = 0; i < 4097; i++) printf "%04x 1.0 \"x\"\n", i }' >"$tmp/many"
run 2 report -t "$tmp/many" --check
check "4097 templates are one too many" has err "^$tmp/many:4097:1: error: \[E21\]"
sed '$d' "$tmp/many" >"$tmp/enough"
run 0 report -t "$tmp/enough" --check
{ cat "$tmp/enough"; echo '- 0000'; } >"$tmp/removed"
echo '@one.more 1.0 "x"' >"$tmp/more"
run 0 report -t "$tmp/removed" -t "$tmp/more" --check
awk 'BEGIN { printf "010 1.0 \"x\""; for (i = 0; i < 65525; i++) printf " "; print "" }' >"$tmp/long"
run 2 report -t "$tmp/long" --check
check "65536 bytes are one too many" has err "^$tmp/long:1:1: error: \[E21\]"
sed 's/ $//' "$tmp/long" >"$tmp/short"
run 0 report -t "$tmp/short" --check
awk 'BEGIN { for (i = 0; i < 17000; i++) printf "#%1000s\n", "" }' >"$tmp/huge"
run 1 report -t "$tmp/huge" --check
check "a huge file is refused" has err "^posixtrace: $tmp/huge: File too large"
: >"$tmp/empty"
run 0 report -t "$tmp/empty" -h -O timestamp=3 "$tmp/e"
check "without templates there is the built-in form" has out '^010  evt_010 len=1 05$'

# Events choose the timers: their stored data is bounded.
awk 'BEGIN { for (i = 0; i < 300000; i++) printf "evt id=0x010 time=1.0 data=%08x\n", i
	print "evt id=0x011 time=2.0 data=00000000"; print "evt id=0x011 time=2.0 data=000493df" }' >"$tmp/timers"
printf '010 1.0 "" starttimer(U4,0) $NOPRINT\n011 1.0 "" "t" endtimer(U4,0)\n' >"$tmp/t2"
run 0 report -t "$tmp/t2" -h -O timestamp=3 "$tmp/timers"
check "the timers that there was room for are there" has out '^011  t \[1000000 usec\]$\|^011  t\[1000000 usec\]$'
check "the last one is not" has out '^011  t$'

# --- a log of the library

log=$tmp/plain.log
"$make_log" plain "$log" 1000 >/dev/null || exit 99
cat >"$tmp/t3" <<'END'
@job_begin 1.0 L=SVC "begin" A64
@job_end 1.0 L=KERN "end" U8 $PID
@* 1.0 L=INT "system" $EVENT
END
run 0 report -t "$tmp/t3" "$log"
check "text of an event is printed" has out ' \{9,\}begin job 498$'
check "a number and the process are printed" has out ' \{17,\}end [0-9]* [1-9][0-9]*$'
check "system events have names" has out ' \{25,\}system posix_trace_stop$'
check "there is a line an event, and the header" test "$(grep -c job "$tmp/out")" -eq 500 -a \
	"$(grep -c ' end ' "$tmp/out")" -eq 500
run 0 report -t "$tmp/t3" -d @job_begin "$log"
check "-d takes a name" has_lines out 502
run 0 report -t "$tmp/t3" -k @job_begin,@job_end -h "$log"
check "-k leaves the others" lacks out 'begin\|end '
printf '@job_begin 1.0 "" $STOP\n' >"$tmp/t4"
run 0 report -t "$tmp/t4" -h -d @job_begin "$log"
check "\$STOP ends a report of a log too" has_lines out 1
"$make_log" blocks "$tmp/blocks.log" 1000 >/dev/null || exit 99
head -c $(($(wc -c <"$tmp/blocks.log") / 2)) "$tmp/blocks.log" >"$tmp/cut.log"
run 3 report -t "$tmp/t3" "$tmp/cut.log"
check "a log that was cut is read as far as it goes" has out 'begin job'
"$make_log" overrun "$tmp/overrun.log" 100000 >/dev/null || exit 99
run 0 report -t "$tmp/t3" "$tmp/overrun.log"
check "losses are reported" has err '^WARNING: .*events lost'
finish
