#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Exit statuses and messages of posixtrace that need no event.
. "${0%/*}/lib.sh"

run 0 --help
sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$tmp/out" >"$tmp/commands"
check "the overview names the commands" test "$(lines commands)" -ge 18
for command in $(cat "$tmp/commands"); do
	check "$command of the overview is a command" "$posixtrace" $command --help
done
# A line has one command or two, as "list, status".
sed -n '/^posixtrace(1) has these commands/,/^-/s/^    \([a-z]\{1,\}\(, [a-z]*\)\{0,1\}\)  .*/\1/p' \
	"${top_srcdir:-${0%/*}/../..}/README" | sed 's/, /\n/' >"$tmp/readme"
# Without those that this build lacks and reports.
for command in $(cat "$tmp/readme"); do
	"$posixtrace" $command --help 2>&1 | grep -q 'built without this command' &&
		sed -i "/^$command\$/d" "$tmp/readme"
done
check "README's table has the commands of the overview, in its order" diff "$tmp/commands" "$tmp/readme"
run 0 --version
check "the version is reported" has out '^posixtrace (libposixtrace) [0-9]'
for command in dump stat latency verify; do
	run 0 $command --help
	check "$command explains itself" has out "^Usage: posixtrace $command "
	check "$command explains its exit statuses" has out '^Exit status: 0 ok'
	cp "$tmp/out" "$tmp/help"
	run 0 help $command
	check "help $command is $command --help" cmp -s "$tmp/out" "$tmp/help"
	run 2 $command
	run 2 $command --no-such-option x
	check "the wrong option is named" has err '^posixtrace: .*--no-such-option'
	check "nothing is on standard output" is_empty out
	run 1 $command "$tmp/missing"
	check "the missing file is named" has err "^posixtrace: $tmp/missing: No such file"
	run 1 $command "$tmp"
	check "a directory is no log" has err "^posixtrace: $tmp: Is a directory"
	: >"$tmp/empty"
	run 1 $command "$tmp/empty"
	check "an empty file is no log" has err "^posixtrace: $tmp/empty: it is empty$"
	cat "$0" "$0" "$0" "$0" >"$tmp/script"
	run 1 $command "$tmp/script"
	check "a script is no log" has err "^posixtrace: .*: this is not a trace log$"
done
for command in record attach top list status snapshot recover send receive; do
	grep -qx $command "$tmp/commands" || continue
	run 0 $command --help
	check "$command explains itself" has out "^Usage: posixtrace $command "
	check "$command explains its exit statuses" has out '^Exit status: 0 ok'
	cp "$tmp/out" "$tmp/help"
	run 0 help $command
	check "help $command is $command --help" cmp -s "$tmp/out" "$tmp/help"
	run 2 $command --no-such-option x
	check "the wrong option is named" has err '^posixtrace: .*--no-such-option'
	check "nothing is on standard output" is_empty out
done
# Mistyped names, and files of another kind.
run 2 dmup
check "the nearest command is named" has err 'dmup: no such command; did you mean dump?$'
run 2 help latnecy
check "by help, too" has err 'did you mean latency?$'
run 2 xyzzy
check "where none is near, none is named" lacks err 'did you mean'
run 2 --xyzzy
check "an option in the place of the command is named as an option" \
	has err '^posixtrace: --xyzzy: no such option;'
run 2 dump --limti 3 "$tmp/empty"
check "the nearest option is named" has err ' --limti: no such option; did you mean --limit?$'
run 2 stat --jsno=1 "$tmp/empty"
check "without its value" has err 'did you mean --json?$'
run 2 convert --to jsnol "$tmp/empty"
check "the nearest format is named" has err 'jsnol: no such format; did you mean jsonl?$'
run 2 convert --from evtt --to jsonl "$tmp/empty"
check "a format that can be read is suggested" has err 'did you mean evt?$'
"$make_log" plain "$tmp/log" 10 >/dev/null || exit 99
for command in "dump -e" "dump -x" "report -e" "latency -e" "html --force -o $tmp/x -e" "dump --merge -e"; do
	run 0 $command posix_trace_strat "$tmp/log"
	check "$command names the nearest event type" has err \
		"-[ex] posix_trace_strat: no event type of $tmp/log has this name; did you mean posix_trace_start?$"
done
run 0 dump -e posix_trace_start,posix_trace_stop "$tmp/log"
check "a list is no pattern" has err 'has this name; repeat the option for each name$'
run 0 dump -e 'posix_trace_*' -e posix_trace_stop "$tmp/log"
check "names that there are say nothing" lacks err 'no event type'
echo hello >"$tmp/text"
run 1 dump "$tmp/text"
check "a short text is no trace log" has err ': this is not a trace log$'
printf PXTR >"$tmp/text"
run 1 dump "$tmp/text"
check "a file that begins like a log is too short" has err 'too short to be a trace log$'
for format in etw tracex evt; do
	if ! has_format $format; then
		run 2 convert "$tmp/log" --to $format --force -o "$tmp/foreign"
		check "$format: the message says why there is none" has err \
			"$format: this posixtrace was built without this format: "
		continue
	fi
	run 0 convert "$tmp/log" --to $format --force -o "$tmp/foreign"
	for command in dump stat verify latency; do
		run 1 $command "$tmp/foreign"
		check "$command of $format says what converts it" has err \
			"not a trace log, but $format; 'posixtrace convert --from $format --to log' makes one of it$"
	done
done

new=$tmp/new.log
for wrong in '' '-p 1' "-o $new" "-p 0 -o $new" "-p -1 -o $new" "-p 1x -o $new" "-p 99999999999 -o $new" \
	"-p 1 -o $new -d 0" "-p 1 -o $new -d -1" "-p 1 -o $new -d 1x" "-p 1 -o $new -d 1." \
	"-p 1 -o $new -d 99999999999h" "-p 1 -o $new -s 0" "-p 1 -o $new -s 1T" "-p 1 -o $new -s -1" \
	"-p 1 -o $new -s 99999999999G" "-p 1 -o $new --policy append" "-p 1 -o $new --log-policy flush" \
	"-p 1 -o $new --log-size 1M" "-p 1 -o $new more" "-p 1 -o $new -d" "-p" "-p 1 -p 2 -o $new"; do
	run 2 attach $wrong
	check "attach $wrong: nothing is on standard output" is_empty out
	check "attach $wrong: no file is made" test ! -e "$new"
done
run 2 list more
run 2 status
for wrong in 0 -1 x 1x 99999999999 ''; do
	run 2 status "$wrong"
	check "status $wrong: nothing is on standard output" is_empty out
done
run 2
run 2 no-such-command
run 2 help no-such-command
run 2 dump --limit x "$tmp/empty"
run 2 dump --limit -1 "$tmp/empty"
run 2 dump --pid x "$tmp/empty"
run 2 dump --tid -1 "$tmp/empty"
for time in '' x 2025-13-01 2025-01-01T25:00 2025-01-01T10:00:00.x 1. 2025-01-01T10:00+1 \
	99999999999999; do
	run 2 dump --begin "$time" "$tmp/empty"
	run 2 dump --end "$time" "$tmp/empty"
done
escape=$(printf '\033[2J')
is_without_escape() { ! grep -q -F "$escape" "$tmp/err"; }
run 2 "$escape"
check "a command is not echoed raw" is_without_escape
run 2 dump "--$escape" x
check "an option is not echoed raw" is_without_escape
run 1 dump "$tmp/$escape"
check "a file name is not echoed raw" is_without_escape

# Frequent mistakes: the message gives the right form.
make_log=${top_builddir:-..}/tests/tools/make_log
"$make_log" plain "$tmp/a.ptl" 10 >/dev/null || exit 99
cp "$tmp/a.ptl" "$tmp/b.ptl"
cp "$tmp/a.ptl" "$tmp/kept"
for output in "$tmp/b.ptl" "$tmp/../$(basename "$tmp")/b.ptl"; do
	run 1 convert "$tmp/a.ptl" "$tmp/b.ptl" --force -o "$output"
	check "an input is not replaced" has err 'b.ptl: this file is also an input; give another output$'
done
ln -s b.ptl "$tmp/link.ptl"
run 1 convert "$tmp/link.ptl" --force -o "$tmp/b.ptl"
check "by what name ever" cmp "$tmp/b.ptl" "$tmp/kept"
run 2 convert "$tmp/a.ptl" "$tmp/new.ptl"
check "the output has an option" has err 'the format of the output is missing: give --to'
run 1 convert --to jsonl "$tmp/a.ptl" "$tmp/new.jsonl"
check "where the last name is none of a file, too" has err 'give the name of the output after -o$'
run 2 query 'select 1' "$tmp/a.ptl"
check "the statement comes last" has err 'the statement must follow the logs$'
: >"$tmp/nothing"
run 1 convert "$tmp/nothing" --to jsonl
check "an empty file is called so" has err 'nothing: it is empty$'
run 0 convert "$tmp/a.ptl" --pid 1 --to jsonl
check "an empty selection is reported" has err 'a.ptl: no event is selected$'
run 0 convert "$tmp/a.ptl" --pid 1 --to perfetto -o /dev/null
check "once, though the log is read twice" has_lines err 1
run 0 convert "$tmp/a.ptl" --to jsonl
check "a conversion with events prints no warning" is_empty err

if test -w /dev/full; then
	"$posixtrace" --help >/dev/full 2>"$tmp/err"
	check "a full disk is a failure" test $? -eq 1
	check "a full disk is reported" has err '^posixtrace: standard output: No space left'
fi
finish
