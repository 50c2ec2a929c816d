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
	'kernel events' tracefs seccomp 'open files' 'file sizes' SQLite libdw libelf ncurses \
	Zydis; do
	check "a line is about $name" finding '[a-z]*' "$name" '[^ ]'
done

sleep 1000000 &
pid=$!
run 0 doctor $pid
check "a process that exists has a line with its name" finding works process "$pid (sleep)$"
check "its calls have a verdict" finding '[a-z]*' calls '[^ ]'
check "no stream traces it" finding works streams '0 trace the process now$'
check "it is in the same namespaces" finding works 'namespaces' 'the same as here$'
run 0 doctor -p $pid
check "-p names the process, too" finding works process "$pid (sleep)$"
kill -STOP $pid
run 0 doctor $pid
check "a stopped process: the reason is that of attach" \
	finding limited calls "attach refuses: .*\(stopped\|this processor\)"
kill -KILL $pid
wait $pid 2>/dev/null

# A process in another mount namespace, as in a container
if unshare --user --map-root-user --mount true 2>/dev/null; then
	if finding works attach '.* can be changed'; then
		unshare --user --map-root-user "$posixtrace" doctor >"$tmp/out"
		check "the rights of a user namespace end there" finding works attach \
			'all processes of this user namespace can be changed'
	fi
	unshare --user --map-root-user --mount sh -c 'echo $$ >"$0/inside"; exec sleep 1000000' "$tmp" &
	outside=$!
	until test -s "$tmp/inside"; do sleep 0.05; done
	run 0 doctor "$(cat "$tmp/inside")"
	check "its namespaces are named" finding limited namespaces '.*of its own: .*mnt'
	check "with the page about containers" advice 'see posixtrace-containers(7)$'
	folder=$(sed -n 's|^pkglibdir = .*/||p' "${top_builddir:-..}/lib/Makefile")
	check "this page has the folder of the preload library" \
		grep -q "LD_PRELOAD=/usr/lib/[^/]*/$folder/libposixtrace-preload.so " \
		"${top_srcdir:-${0%/*}/../..}/lib/man/posixtrace-containers.7"
	kill -KILL $outside
	wait $outside 2>/dev/null
fi

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
	"^{\"requirement\":\"process\",\"verdict\":\"fails\",\"fact\":\"$pid: no such process\",\"advice\":\"ps -e lists the processes\"}$" \
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

refuse=${top_builddir:-..}/tests/tools/refuse
if "$refuse" 'kcmp EPERM' -- true; then
	"$refuse" 'ptrace EPERM' -- "$posixtrace" doctor >"$tmp/out"
	check "a filter that refuses ptrace" finding limited attach 'ptrace: '
	check "with its remedy" advice 'permit ptrace(2)'
	"$refuse" 'madvise EPERM' -- "$posixtrace" doctor >"$tmp/out"
	check "a filter that refuses madvise" finding limited 'shared memory' '.*madvise: '
fi

# Without /proc and /sys no verdict is a guess. The tool and its libraries are seen in a system of
# its own, which has the root file system of this one, but none that is mounted in it. Only root can
# separate them.
in_root() {
	unshare --mount sh -c 'mount --bind / "$1" && exec chroot "$@"' sh "$tmp/work" "$@"
}
if in_root test -x "$posixtrace" -a ! -e /proc/self 2>/dev/null; then
	in_root "$posixtrace" doctor >"$tmp/out"
	check "without /proc: attach does not work" finding limited attach '/proc is missing'
	check "no level of perf_event_open is invented" lacks out 'perf_event_paranoid is -2'
	if finding limited clock monotonic; then
		check "without /sys: the advice is to mount it" advice 'mount /sys$'
	fi
fi

# A limit of file sizes applies to shared memory, too. No signal ends doctor.
(
	ulimit -f 50
	"$posixtrace" doctor 2>&1 | cat
) >"$tmp/out"
check "a limit of file sizes is reported" finding limited 'file sizes' 'at most 51200: '
check "with its remedy" advice 'ulimit -f unlimited$'
check "no stream has room" finding fails recording '.*File too large$'
(
	ulimit -f 50
	"$posixtrace" record -o "$tmp/none.ptl" true 2>&1 | cat
) >"$tmp/out"
has_shim && check "record names the limit, too" \
	has out 'a stream of [0-9]* bytes exceeds the limit of file sizes, 51200 bytes; see ulimit -f'

run 2 doctor 0
run 2 doctor 12x
check "a wrong number prints nothing about the machine" is_empty out
run 2 doctor --none
finish
