#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace record --crash: signal, registers and stacks of a program that a signal kills.
. "${0%/*}/lib.sh"

build=$(cd "${top_builddir:-..}" && pwd)
crashing=$build/tests/tools/crashing
log=$tmp/crash.ptl
# A sanitizer's own handler would turn the crash into an exit.
export ASAN_OPTIONS="handle_segv=0:detect_leaks=0" TSAN_OPTIONS="handle_segv=0"
record() {
	wanted=$1
	shift
	run "$wanted" record --trace=none --force --crash -o "$log" "$@"
	cp "$tmp/out" "$tmp/printed"
	cp "$tmp/err" "$tmp/said"
}
# crashes PATTERN [FIELDS]: the events into $tmp/out.
crashes() { run 0 dump -e "$1" --fields "$2" "$log"; }

record 0 true
grep -q '^posixtrace: --crash: ' "$tmp/said" && skip "this system does not let a parent trace its child"
run 0 dump "$log"
check "a program that ends well has no crash" lacks out ' crash\.'

record 139 "$crashing" segv
check "the last line has the signal" has said ': program killed by SIGSEGV'
crashes crash.signal signal,reason,threads,fault
check "the log has the signal, the reason, the address and the threads" has out \
	'^"SIGSEGV"	"address not mapped"	8	0x30$'
crashes crash.thread comm,crashed
check "it has every thread" has_lines out 8
check "the crashed one comes first" sh -c "head -n 1 '$tmp/out' | grep -q '^\"worker3\"	true$'"
for n in 1 2 4 5 6 7; do
	check "worker$n is there" has out "^\"worker$n\"	false$"
done
case $(uname -m) in
x86_64)
	crashes crash.thread rip,rsp
	check "with its registers" test "$(grep -c '^0x[0-9a-f]*	0x7[0-9a-f]*$' "$tmp/out")" -eq 8
	;;
esac
if grep -q 'libdw' <<END
$(ldd "$build/tools/posixtrace/.libs/posixtrace" "$build/tools/posixtrace/posixtrace" 2>/dev/null)
END
then
	run 0 dump -e 'crash.*' --fields event,frame,function "$log"
	check "the stack begins where the thread crashed" sh -c \
		"grep '^crash.frame' '$tmp/out' | head -n 1 | grep -q '	0	\"write_there+0x'"
	check "its caller follows" sh -c "grep '^crash.frame' '$tmp/out' | sed -n 2p | grep -q '	1	\"work+0x'"
	check "each other thread waits" test "$(grep -c '"wait_for_end+0x' "$tmp/out")" -eq 7
	check "one of them in main()" has out '"main+0x'
	crashes crash.frame module
	check "the file is named" has out '/crashing"$'
	case $(uname -m) in
	x86_64 | aarch64)
		for how in null data; do
			record 139 "$crashing" $how
			crashes crash.frame function
			check "$how: the caller of an address without code is its caller in the stack" \
				sh -c "sed -n 2p '$tmp/out' | grep -q '^\"call_there+0x'"
			check "$how: the callers of the caller follow" sh -c \
				"sed -n '3,4p' '$tmp/out' | grep -q '^\"main+0x'"
		done
		crashes crash.frame function
		check "the called data is the innermost frame" sh -c \
			"head -n 1 '$tmp/out' | grep -q '^\"place+0x0'"
		record 139 "$crashing" null
		run 0 dump -e crash.frame --fields frame,pc "$log"
		check "a null pointer is frame 0" sh -c "head -n 1 '$tmp/out' | grep -q '^0	0x0$'"
		;;
	esac
	# The exception is in the memory of the C++ library of gcc.
	cat >"$tmp/throwing.cc" <<-'END'
	#include <stdexcept>
	#include <string>
	struct own : std::out_of_range { using std::out_of_range::out_of_range; };
	struct plain { };
	static void none() noexcept { throw std::runtime_error("left"); }
	int main(int, char **argv)
	{
		const std::string how = argv[1];
		if (how == "own")
			throw own("the text");
		if (how == "int")
			throw 42;
		if (how == "plain")
			throw plain();
		if (how == "noexcept")
			none();
		try {
			throw std::runtime_error("caught");
		} catch (const std::exception &) {
		}
		if (how == "second")
			try {
				throw std::runtime_error("first");
			} catch (const std::exception &) {
				throw std::logic_error("second");
			}
		std::terminate();
	}
	END
	# thrown HOW REASON MESSAGE: the exception that the program throws
	thrown() {
		record 134 "$tmp/throwing" "$1"
		crashes crash.signal reason,message
		check "$1: the exception is recorded" test "$(cat "$tmp/out")" = "\"$2\"	\"$3\""
	}
	case $(uname -m)-$(${CXX:-c++} --version 2>/dev/null) in
	x86_64-*'Free Software'* | aarch64-*'Free Software'*)
		if ${CXX:-c++} -O1 -o "$tmp/throwing" "$tmp/throwing.cc" 2>"$tmp/why"; then
			thrown own "uncaught C++ exception" "own: the text"
			thrown int "uncaught C++ exception" "int: 42"
			thrown plain "uncaught C++ exception" plain
			thrown second "uncaught C++ exception" "std::logic_error: second"
			thrown noexcept "C++ exception that left a function with noexcept" \
				"std::runtime_error: left"
			thrown none "std::terminate() without an exception, such as by the end of a std::thread that was not joined" ""
		fi
		;;
	esac
else
	echo "no libdw: the frames are not looked at"
fi
record 139 "$crashing" vfork
crashes crash.thread comm
for comm in crashing worker2 worker3 worker4 worker5 worker6 worker7; do
	check "beside a thread that cannot be stopped, $comm is there" has out "^\"$comm\"$"
done
run 0 verify "$log"
run 0 dump --json -e 'crash.*' "$log"
run 0 stat "$log"

record 134 "$crashing" abort
crashes crash.signal signal,reason
check "abort() is a crash with this reason" has out '^"SIGABRT"	"abort() was called"$'
if "$posixtrace" dump -e crash.frame "$log" | grep -q 'crash\.frame'; then
	# An internal function of the C library has no symbol unless its debug file is installed.
	crashes crash.frame function,module
	check "no frame of a file lacks a place" lacks out '^""	"/'
fi
record 159 "$crashing" killed
crashes crash.signal signal,reason
check "a process that a filter kills has a crash, too" has out '^"SIGSYS"	"system call refused by a filter"$'
crashes crash.thread comm,crashed
check "its thread is recorded once" test "$(cat "$tmp/out")" = '"crashing"	true'
record 5 "$crashing" handled
check "a signal that a handler gets is none" test "$("$posixtrace" dump "$log" | grep -c ' crash\.')" -eq 0
record 139 "$crashing" ignored
crashes crash.signal signal
check "a fault is not ignored" has out '^"SIGSEGV"$'
record 3 sh -c "'$crashing' segv; exit 3"
crashes crash.signal signal
check "a child that crashes is examined" has_lines out 1
crashes posixtrace_ended status
check "the end of each process is there" sh -c \
	"sort '$tmp/out' | sed 's/ (core dumped)//' | tr '\\n' ' ' | grep -q '^\"exited with 3\" \"killed by SIGSEGV\" $'"
if has_shim; then
	run 0 record --wait --force --crash -o "$log" sh -c 'sh -c "exit 3"; sh -c "(exit 4) &"; exit 0'
	crashes posixtrace_ended status,field.pid
	check "each process has one such event" sh -c "cut -f 2 '$tmp/out' | sort | uniq -d | grep . && exit 1; exit 0"
	check "with its status" has out '^"exited with 3"'
	check "the status of an orphan is recorded" has out '^"exited with 4"'
fi
record 139 -e nothing "$crashing" segv
check "patterns do not exclude it" test "$("$posixtrace" dump -e 'crash.*' "$log" | grep -c ' crash.signal ')" -eq 1

# The program is not affected.
record 7 sh -c 'trap "echo caught" USR1; kill -USR1 $$; exit 7'
check "signals arrive" test "$(cat "$tmp/printed")" = caught
# The state of a traced child is "t" also before it stops, so SIGCONT may be too early.
record 0 sh -c 'sh -c "kill -STOP \$\$; echo went on" & until ! kill -CONT $! || grep -q "^State:.*Z" /proc/$!/status; do :; done; wait $!'
check "a stopped child goes on when it is continued" test "$(cat "$tmp/printed")" = "went on"
record 143 sh -c 'kill -TERM $$'
check "SIGTERM is no crash" test "$("$posixtrace" dump "$log" | grep -c ' crash\.')" -eq 0
crashes posixtrace_killed signal,code,sender,field.pid
check "the sender of SIGTERM is recorded" sh -c \
	"awk '\$1 == \"\\\"SIGTERM\\\"\" && \$2 == 0 && \$3 == \$4 { found = 1 } END { exit !found }' '$tmp/out'"
run 127 record --crash -o "$tmp/none.ptl" no-such-program
run 2 record --crash -p $$
check "a process that runs is refused" has err 'record: --crash needs a program that record itself starts'
finish
