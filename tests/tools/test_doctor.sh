#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace doctor: a verdict for each requirement, with its reason where something is missing.
. "${0%/*}/lib.sh"

# finding VERDICT NAME TEXT: the output has this line.
finding() { grep -q "^$1  *$2  *$3" "$tmp/out"; }
# has_only REGULAR-EXPRESSION: each line of the output matches it.
has_only() { ! grep -v -q -e "$1" "$tmp/out"; }
# advice TEXT: a line of advice has this text.
advice() { grep -q "^  *-> .*$1" "$tmp/out"; }

run 0 doctor
check "standard error is empty" is_empty err
check "each line has a verdict, or is advice" \
	has_only '^\(works\|unknown\|limited\)  *[^ ].*\|^  *-> [^ ].*'
check "events went into a log and back" \
	finding works recording '1000 events recorded, 1000 read from the log$'
check "the library of this build is found" finding works 'preload library' '/.*preload.so$'
for name in kernel clock 'shared memory' membarrier 'runtime folder' /proc attach \
	'kernel events' tracefs seccomp 'open files' SQLite libdw libelf ncurses Zydis; do
	check "a line is about $name" finding '[a-z]*' "$name" '[^ ]'
done

sleep 1000 &
pid=$!
run 0 doctor $pid
check "a process that exists has a line with its name" finding works process "$pid (sleep)$"
check "its calls have a verdict" finding '[a-z]*' calls '[^ ]'
check "no stream traces it" finding works streams '0 trace the process now$'
check "it is in the same namespaces" finding works 'namespaces' 'the same as here$'
kill -STOP $pid
run 0 doctor $pid
check "a stopped process: the reason is that of attach" \
	finding limited calls "attach refuses: .*\(stopped\|this processor\)"
kill -KILL $pid
wait $pid 2>/dev/null

# The Go compiler writes this section into each program.
cat >"$tmp/go.c" <<'END'
#include <unistd.h>
__attribute__((used, section(".gopclntab"))) static const char table[16] = "";
int main(void) { return (int)sleep(1000); }
END
if finding works libelf "[^ ]" && ${CC:-cc} -o "$tmp/go" "$tmp/go.c" 2>/dev/null; then
	"$tmp/go" &
	go=$!
	until [ "$(readlink "/proc/$go/exe")" = "$(readlink -f "$tmp/go")" ]; do sleep 0.05; done
	run 0 doctor $go
	check "a program of Go makes calls without the C library" finding limited calls 'it is a program of Go'
	check "the option that records them" advice 'attach --syscalls'
	"$posixtrace" attach -p $go -d 1ms -o "$tmp/go.ptl" >"$tmp/out" 2>"$tmp/err" &&
		check "attach says it, too" has err 'executes a program of Go.*--syscalls'
	kill -KILL $go
	wait $go 2>/dev/null
fi
run 1 doctor $pid
check "the line says so" finding fails process "$pid: no such process$"
run 1 doctor --json $pid
check "as JSON" grep -q \
	"^{\"requirement\":\"process\",\"verdict\":\"fails\",\"fact\":\"$pid: no such process\"}$" \
	"$tmp/out"
check "each line is an object" has_only '^{"requirement":"[^"]*","verdict":"[a-z]*","fact":".*"}$'

POSIXTRACE_CLOCK=monotonic run 0 doctor
check "the clock that the user chose is reported" finding limited clock 'monotonic: '
check "with its price" advice 'events cost some'
POSIXTRACE_RUNTIME_DIR=$tmp/no/folder run 0 doctor
check "a runtime folder that cannot exist is reported" \
	finding limited 'runtime folder' "$tmp/no/folder cannot be created"
mkdir -m 755 "$tmp/open"
POSIXTRACE_RUNTIME_DIR=$tmp/open run 0 doctor
check "a runtime folder that others can read is reported" \
	finding limited 'runtime folder' "$tmp/open is not private: "
check "with the mode that it needs" advice 'only you can read and write'
POSIXTRACE_PRELOAD=$tmp/none.so run 0 doctor
check "a missing preload library is reported" finding limited 'preload library' 'not found'
ln -s a "$tmp/name
works    forged"
POSIXTRACE_RUNTIME_DIR="$tmp/name
works    forged" run 0 doctor
check "a line end in a path forges no line" lacks out '^works  *forged'

run 2 doctor 0
run 2 doctor 12x
check "a wrong number prints nothing about the machine" is_empty out
run 2 doctor --none
finish
