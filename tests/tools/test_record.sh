#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace record: a program is traced from its start, behaves as without it, and its log is
# complete. CREATE-22, WITHLOG-01, FILTER-02, EXEC-01
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"

log=$tmp/posixtrace.ptl
here=$PWD
build=$(cd "${top_builddir:-..}" && pwd)
case $posixtrace in /*) ;; *) posixtrace=$here/$posixtrace ;; esac
case $victim in /*) ;; *) victim=$here/$victim ;; esac
test -x "${puppet_program%/*}/.libs/puppet" && puppet_program=${puppet_program%/*}/.libs/puppet
case $puppet_program in /*) ;; *) puppet_program=$here/$puppet_program ;; esac
case ${LD_LIBRARY_PATH-} in '' | /*) ;; *) LD_LIBRARY_PATH=$here/$LD_LIBRARY_PATH ;; esac
cd "$tmp" || exit 99
unset POSIXTRACE_PRELOAD POSIXTRACE_TRACE LD_PRELOAD

# record STATUS ARGUMENT...: without calls of the C library.
record() {
	wanted=$1
	shift
	run "$wanted" record --trace=none "$@"
}
said() { sed -n "s/^posixtrace: .*: \([0-9]*\) events, \([0-9]*\) lost.*, \([0-9]*\) bytes\$/\\$1/p" err; }
event_is() { "$posixtrace" dump -e posixtrace_record "$1" | grep -q -F " posixtrace_record \"$2\""; }
# ended TEXT: the log has the end of the program.
ended() { "$posixtrace" dump -e posixtrace_ended "$log" | grep -q " posixtrace_ended pid=[0-9]* status=\"$1"; }
is_whole() {
	check "$1: the log is sound" is_sound "$log"
	check "$1: as many events as was said" test "$(said 1)" = "$(count_of '*')"
	check "$1: its bytes are the file's" test "$(said 3)" = "$(wc -c <"$log")"
}

# The program behaves as without record.
record 0 true
is_whole "true"
check "the command is in the log" event_is "$log" true
check "only its owner reads the log" test "$(stat -c %a "$log")" -eq 600
check "nothing is on standard output" is_empty out
for status in 0 1 2 42 255; do
	record $status sh -c "echo said; exit $status"
	check "its output is there" test "$(cat out)" = said
	check "the last line has its status" has err ": program exited with $status: [0-9]* events, "
	check "the log has the status of the program" ended "exited with $status\" code=$status signal=0 core=false"
done
for signal in KILL:137 SEGV:139 TERM:143 PIPE:141; do
	record "${signal#*:}" sh -c "kill -${signal%:*} \$\$"
	is_whole "$signal"
	check "$signal: the last line has the signal" sh -c \
		"tail -n 1 err | grep -q ': program killed by SIG${signal%:*}\( (core dumped)\)\?: [0-9]* events, '"
	check "$signal: the log has the signal" ended "killed by SIG${signal%:*}.* code=-1 signal=$((${signal#*:} - 128)) core="
done
record 7 -- sh -c 'exit $1' -o 7
check "options after the program belong to the program" event_is "$log" 'sh -c exit $1 -o 7'
printf 'one\ntwo\n' | "$posixtrace" record --trace=none -q sort -r 2>err | sed s/o/0/ >out
check "it can be part of a pipeline" test "$(cat out)" = "tw0
0ne"
check "-q prints no message" is_empty err
# The shell sets "_" to the program that it runs.
about='exec 0<&- && env | grep -v "^_="; umask; ulimit -a; trap'
"$posixtrace" record --trace=none -q sh -c "$about" >traced 2>&1
sh -c "$about" >plain 2>&1
check "environment, mask and limits are the same" cmp plain traced
descriptors() { "$@" sh -c 'ls -l /proc/$$/fd' | sed 's/.* \([0-9]* -> .*\)/\1/' | grep -v -e /proc/ -e pipe:; }
descriptors sh -c '"$@"' - >plain </dev/null
descriptors "$posixtrace" record --trace=none -q --no-follow </dev/null >traced
check "it has no descriptor more" cmp plain traced
descriptors "$posixtrace" record --trace=none -q </dev/null | grep -v '^20[0-9] -> /memfd:posix-trace' >traced
check "children inherit only one additional descriptor" cmp plain traced
# Signals to the C library's threads are its own: a sanitizer's thread, which exists before main(),
# gets them.
signals() {
	"$@" grep -e SigBlk -e SigIgn /proc/self/status | while read -r name mask; do
		echo "$name $((0x$mask & ~0x180000000))"
	done
}
for signal in INT QUIT TERM HUP USR1 CHLD PIPE; do
	(trap '' $signal; signals exec) >plain
	(trap '' $signal; signals exec "$posixtrace" record --trace=none -q) >traced
	check "signals are the same when $signal is ignored" cmp plain traced
	check "$signal is" grep -q 'SigIgn: [1-9]' traced
done

# Its calls of the C library.
if has_shim; then
	POSIXTRACE_PRELOAD=$shim
	export POSIXTRACE_PRELOAD
	seq 1000 | sort -R >numbers
	run 0 record sort -n numbers
	check "the output is the same" test "$(tail -n 1 out)" = 1000
	is_whole "shim"
	check "its calls of open() are recorded" test "$(count_of io.open)" -gt 0
	check "the end of the program is recorded" test "$(count_of process.end)" -eq 1
	run 3 record --trace=process sh -c 'sort numbers | head -n 1; exit 3'
	check "a family" test "$(count_of 'io.*')" -eq 0
	check "programs that children execute" test "$(count_of process.start)" -eq 3
	run 0 dump "$log"
	check "dump leaves out the events of the recorder itself" lacks out ' posix_trace_'
	check "dump shows the event of the command line" has out ' posixtrace_record "sh '
	run 0 dump --tail 3 "$log"
	check "--tail counts what is left" lacks out ' posix_trace_'
	run 0 dump --system "$log"
	check "--system shows the start" has out ' posix_trace_start '
	check "--system shows the stop" has out ' posix_trace_stop by=call$'
	check "all of them" has_lines out "$("$posixtrace" dump -e '*' "$log" | wc -l)"
	run 0 dump --merge "$log" "$log"
	check "merged logs are without them, too" lacks out ' posix_trace_'
	run 0 record --loop --size 1K seq 1
	run 0 dump -e posix_trace_stop "$log"
	check "-e can name them" has out ' posix_trace_stop by=call$'
	POSIXTRACE_OPTIONS="-o $tmp/shim.ptl" LD_PRELOAD=$shim env >/dev/null
	run 0 dump "$tmp/shim.ptl"
	check "those of the library in the program are left out" lacks out ' posix_trace_'
	run 0 record -e 'io.*' -e '!io.c*' sh -c 'sort numbers >sorted'
	check "patterns hold from the first event on" test "$("$posixtrace" dump "$log" |
		sed 's/.* 0x[0-9a-f]* \([^ ]*\).*/\1/' | grep -c -v -e '^io.[^c]' -e ^posix)" -eq 0
	check "the named types are recorded" test "$(count_of io.open)" -gt 0
	cp "$(command -v env)" ./privileged && chown nobody privileged 2>/dev/null && chmod 4755 privileged &&
		test "$(id -u)" -eq 0 && {
		run 0 record --syscalls=none ./privileged true
		check "a set-user-ID program is reported" has err './privileged: its own calls cannot be traced: it is set-user-ID or set-group-ID; no kernel tracing: --syscalls=none$'
		run 0 dump -e process.untraced --fields why,program "$log"
		check "also in the log" has out '^"it is set-user-ID or set-group-ID"	"./privileged"$'
		run 0 record sh -c "./privileged true; setpriv --no-new-privs ./privileged true; exit 0"
		check "that of a child as well, in a line at the end" has err \
			': programs that cannot be traced: ./privileged (set-user-ID or set-group-ID); --syscalls=unseen records their system calls$'
		run 0 dump -e process.untraced --fields why,program "$log"
		check "unless the bit has no effect" has_lines out 1
	}
	run 0 record sh -c 'env -i /bin/echo a; sh -c "exit 0"; exit 0'
	check "a program without the library in its environment is reported" has err \
		': programs that cannot be traced: /bin/echo (executed without LD_PRELOAD); --syscalls=unseen records their system calls$'
	# A program with the section .gopclntab counts as one of Go, whose log lacks most calls.
	if "$posixtrace" doctor 2>/dev/null | grep -q '^works.* libelf ' &&
		echo '__attribute__((used, section(".gopclntab"))) static const char table[16] = "";
			int main(int n, char **v) { return n > 1 ? atoi(v[1]) : 0; }' |
		${CC:-cc} -w -include stdlib.h -x c -o golang - 2>/dev/null; then
		go_line=': programs of Go, which make most system calls without the C library: \./golang; --syscalls records these calls$'
		run 3 record sh -c './golang; ./golang 1; exit 3'
		check "programs of Go are named once, because most of their calls are missing" has err "$go_line"
		check "no other program is" has_lines err 3
		run 2 record ./golang 2
		check "the program itself is named, when it begins or at the end" \
			test "$(grep -c 'program.* of Go, which make.* most system calls without the C library' "$tmp/err")" -eq 1
		run 0 record --quiet sh -c './golang; exit 0'
		check "--quiet omits it" is_empty err
		run 0 record --no-follow sh -c './golang; exit 0'
		check "a program that is not recorded is not named" lacks err 'of Go'
		run 0 record sh -c 'mkfifo pipe; sort numbers >/dev/null'
		check "programs in C are not named" lacks err 'of Go'
	fi
	for chosen in --trace=io '-eio.*' --event=process.end; do
		run 0 record "$chosen" env LD_PRELOAD=libc.so.6 sort numbers
		check "$chosen: a program with another list of libraries is reported" has err \
			': programs that cannot be traced: [a-z/]*sort (executed with another LD_PRELOAD); --syscalls'
	done
	run 0 record -x process.untraced env LD_PRELOAD=libc.so.6 sort numbers
	check "unless the user excludes the event" lacks err 'cannot be traced'
	if echo 'int main(int n, char **v) { char *none[] = { 0 }; execve("/nonexistent/echo", v, none);
		execve("./shells/echo", v, none); return execve("/bin/true", v, none); }' |
		${CC:-cc} -w -include unistd.h -x c -o shells - 2>/dev/null; then
		run 0 record ./shells
		check "a program that does not exist is not reported" has err \
			': programs that cannot be traced: /bin/true (executed without LD_PRELOAD); --syscalls'
	fi
	if echo 'int main(int n, char **v) { n > 1 ? setenv("LD_PRELOAD", v[1], 1) : unsetenv("LD_PRELOAD");
		return system("exit 0") || pclose(popen("exit 0", "r")); }' |
		${CC:-cc} -w -include stdlib.h -include stdio.h -x c -o shells - 2>/dev/null; then
		run 0 record ./shells
		check "shells of system() and popen() are reported, too" has err \
			': programs that cannot be traced: /bin/sh (executed without LD_PRELOAD, 2 times); --syscalls'
		run 0 record ./shells libc.so.6
		check "with another list of libraries" has err \
			': programs that cannot be traced: /bin/sh (executed with another LD_PRELOAD, 2 times); --syscalls'
	fi
	run 0 record env
	check "the program finds the library" has out "^LD_PRELOAD=$shim$"
	LD_PRELOAD=libc.so.6 "$posixtrace" record -q --trace=process,-dl env >out
	check "before others" has out "^LD_PRELOAD=$shim:libc.so.6$"
	check "the environment has the families" has out '^POSIXTRACE_TRACE=process,-dl$'
	run 5 record --wait sh -c '(sleep 0.3; exec sort numbers) & exit 5'
	check "--wait sees what outlives the program" test "$(count_of process.start)" -eq 3
	run 0 dump -e posixtrace_ended --fields status "$log"
	check "with the status of each process" sh -c "sort '$tmp/out' | tr '\n' ' ' | grep -q '^\"exited with 0\" \"exited with 0\" \"exited with 5\" $'"
	cat >family.sh <<'END'
(exit 3)
sh -c 'kill -SEGV $$'
awk 'BEGIN { system("exit 9") }'
awk 'BEGIN { system("kill -KILL $$") }'
(sleep 60 & echo $! >sleeps)
env -u LD_PRELOAD sh -c '(exec sleep 0.1) & wait; kill -TERM $$'
exit 6
END
	run 6 record sh family.sh
	started="$started $(cat sleeps)"
	check "each process is counted by its end" has err ': [0-9]* processes: [0-9]* exited with 0, .*1 exited with 3 (sh [0-9]*), '
	check "one runs on" has err '1 still running (sleep [0-9]*)'
	run 0 dump -e posixtrace_ended --fields status "$log"
	for status in 'exited with 3' 'exited with 6' 'exited with 9' 'killed by SIGKILL' 'killed by SIGSEGV' \
		'killed by SIGTERM'; do
		check "a child that $status" test "$(grep -c "^\"$status[\" ]" out)" -eq 1
	done
	"$posixtrace" dump -e posixtrace_ended --fields field.pid "$log" | sort | uniq -d >out
	check "each process ends once" is_empty out
	run 0 record -q sh -c 'sh -c "exit 4"; exit 0'
	check "--quiet is silent about processes" is_empty err
	# Its parent ends first, so that only the process itself knows its status.
	run 0 record sh -c '(sh -c "exit 5" & echo $! >orphan); until ! kill -0 $(cat orphan); do sleep 0.02; done 2>/dev/null'
	check "an orphan has the status with which it called exit" has err ' 1 exited with 5 (sh [0-9]*)'
	run 0 record sh -c '(sleep 0.1 & echo $! >orphan); until ! kill -0 $(cat orphan); do sleep 0.02; done 2>/dev/null'
	check "the status of a program that does not call exit() is unknown" has err ' 1 ended with unknown status (sleep [0-9]*)'
	if unshare -pf true 2>/dev/null; then
		run 0 record unshare -pf ls
		check "the end of another namespace's process 1 is in the log" has err ' 1 ended with unknown status (ls 1)'
		run 0 record unshare -pf sh -c 'sleep 1000000 & exit 0'
		check "a process there is not taken for one with its number here" has err ' 1 not visible here (s[a-z]* 2)'
	fi
	run 0 record --loop sh -c 'sh -c "exit 7"; exit 0'
	check "a loop has them too" has err ' 1 exited with 7 (sh [0-9]*)'
	mkfifo goes
	start "$posixtrace" record -d 1ms sh -c 'read line <goes' >out 2>err
	tracer=$pid
	until_true has err ': program runs on: '
	echo >goes
	finish_attach 0
	check "a program that runs on has not ended" test "$(count_of posixtrace_ended)" -eq 0
	run 0 record -q --trace=process --trace=io --trace=-process cat numbers
	check "--trace is one list, however often it is given" test "$(count_of 'io.*')" -gt 0
	check "from which a later minus takes" test "$(count_of 'process.*')" -eq 0
	POSIXTRACE_PRELOAD="$tmp/a b.so" run 125 record --trace=io true
	check "a library that cannot be preloaded is reported" has err 'there is a space or a colon in its name$'
	unset POSIXTRACE_PRELOAD

	# An installation that was moved as a whole. folder NAME: the path that configure has chosen.
	folder() {
		sed -n "s/^$1 = //p" "$build/tools/posixtrace/Makefile" | tr '()' '{}'
	}
	for name in prefix exec_prefix bindir libdir libexecdir pkglibdir; do
		eval "$name=\"$(folder $name)\""
	done
	case $bindir:$libexecdir:$pkglibdir in
	"$prefix"/*:"$prefix"/*:"$prefix"/*)
		moved=$tmp/moved
		moved_tool=$moved${bindir#"$prefix"}/posixtrace
		beside=$moved${pkglibdir#"$prefix"}
		guardian=posixtrace-guardian
		mkdir -p "${moved_tool%/*}" "$moved${libexecdir#"$prefix"}" "$beside"
		cp "$build/lib/$guardian" "$moved${libexecdir#"$prefix"}"
		cp "$posixtrace" "$moved_tool"
		cp "$shim" "$beside"
		if test ! -e "$pkglibdir/${shim##*/}"; then
			"$moved_tool" record -q -o moved.ptl env >out 2>err
			check "a moved installation finds its library" has out "^LD_PRELOAD=$beside/${shim##*/}$"
			check "without a message" is_empty err
			check "its calls are recorded" test "$("$posixtrace" dump -e 'process.*' moved.ptl | wc -l)" -gt 0
			"$moved_tool" doctor >out 2>err
			check "doctor names this library" has out "preload library .*$beside/${shim##*/}$"
			if test ! -e "$libexecdir/$guardian"; then
				# The environment of the tests names the guardian of the build.
				start env -u POSIXTRACE_GUARDIAN "$moved_tool" record -q -o killed.ptl sh -c 'echo $$ >child; exec sleep 1000000'
				until_true test -s child -a -e killed.ptl
				kill -KILL $pid
				wait $pid 2>/dev/null
				kill "$(cat child)"
				run 0 verify killed.ptl
				check "its guardian completes the log of a killed recorder" has out ': sound: '
			fi
			# Another user may have made the folder beside that of the program.
			for other in "$beside" "$beside/${shim##*/}"; do
				test "$(id -u)" -eq 0 && chown nobody "$other" || continue
				"$moved_tool" record --force -q -o moved.ptl env >out 2>err
				check "the library of another user is not used" has err \
					"^posixtrace: $pkglibdir/${shim##*/}: No such file"
				check "then nothing is run" is_empty out
				chown root "$other"
			done
			# A link of another user may lead to any file of root.
			mv "$beside" "$moved/elsewhere"
			ln -s "$moved/elsewhere" "$beside"
			"$moved_tool" record --force -q -o moved.ptl env >out 2>err
			check "a link of the owner is followed" has out "^LD_PRELOAD=$moved/elsewhere/${shim##*/}$"
			if test "$(id -u)" -eq 0 && chown -h nobody "$beside"; then
				"$moved_tool" record --force -q -o moved.ptl env >out 2>err
				check "a link of another user is not followed" has err \
					"^posixtrace: $pkglibdir/${shim##*/}: No such file"
				check "then nothing is run" is_empty out
			fi
			rm "$beside"
			mv "$moved/elsewhere" "$beside"
			rm "$beside/${shim##*/}"
			"$moved_tool" record --force -q -o moved.ptl env >out 2>err
			check "if both are missing, the message has the configured path" has err \
				"^posixtrace: $pkglibdir/${shim##*/}: No such file"
		fi
		;;
	esac
fi

# Programs that cannot be run.
cp "$log" before
record 127 "$tmp/missing"
check "a missing program is named" has err "^posixtrace: $tmp/missing: No such file or directory$"
record 127 no-such-program-at-all
record 126 "$tmp"
: >plain && chmod 644 plain
record 126 ./plain
check "a program that cannot be executed is named" has err "^posixtrace: ./plain: Permission denied$"
check "then nothing is recorded" cmp "$log" before
check "no log is left" test -z "$(ls | grep 'ptl\.[^o]')"
record 125 -o "$tmp/no/such/folder" sh -c "echo >$tmp/ran"
record 125 -o /dev/null sh -c "echo >$tmp/ran"
record 125 -s 900000G sh -c "echo >$tmp/ran"
check "without a log nothing is run" test ! -e ran
check "no log is left" test -z "$(ls | grep 'ptl\.[^o]')"
POSIXTRACE_PRELOAD=$tmp/missing.so
export POSIXTRACE_PRELOAD
run 125 record --trace=io true
unset POSIXTRACE_PRELOAD
check "the library that would be preloaded is missed" has err '^posixtrace: .*/missing.so: No such file'

# An existing log.
rm -f posixtrace.*
record 0 sh -c 'exit 0 first'
record 0 sh -c 'exit 0 second'
check "the log before is kept" event_is posixtrace.ptl.old 'sh -c exit 0 first'
record 0 sh -c 'exit 0 third'
check "an older log is not kept" event_is posixtrace.ptl.old 'sh -c exit 0 second'
check "the new one is in its place" event_is posixtrace.ptl 'sh -c exit 0 third'
check "there are no others" test "$(ls posixtrace.* | wc -l)" -eq 2
record 0 -o other.ptl true
check "another name is another log" is_sound other.ptl
for file in precious '' link folder; do
	rm -rf posixtrace.*
	echo precious >other
	case $file in
	link) ln -s other posixtrace.ptl.old ;;
	folder) mkdir posixtrace.ptl.old ;;
	*) printf %s "$file" >posixtrace.ptl.old ;;
	esac
	record 0 sh -c 'exit 0 first'
	cp posixtrace.ptl before
	if test -z "$file"; then
		record 0 true
		check "an empty file is replaced by the log before" cmp posixtrace.ptl.old before
		continue
	fi
	ls -ld posixtrace.ptl.old >listed
	record 125 sh -c "echo >$tmp/ran"
	check "$file: a file .old that is no log is not replaced" has err \
		'^posixtrace: posixtrace.ptl.old: the file exists and is not a log, so posixtrace.ptl cannot get this name; '
	check "$file: then nothing is run" test ! -e ran
	check "$file: the log before keeps its name" cmp posixtrace.ptl before
	record 0 --force true
	check "$file: --force does not use that name" sh -c 'ls -ld posixtrace.ptl.old | cmp - listed'
done
rm -rf posixtrace.ptl.old

# A log of another version: only its version is different, in byte 8.
record 0 sh -c 'exit 0 first'
cp posixtrace.ptl posixtrace.ptl.old
printf '\2' | dd of=posixtrace.ptl.old bs=1 seek=8 conv=notrunc 2>/dev/null
cp posixtrace.ptl.old before
record 125 sh -c "echo >$tmp/ran"
check "a log of another version keeps the name .old, and is called a log" has err \
	'^posixtrace: posixtrace.ptl.old: the file exists and is a log that cannot be read: the log has another major version.*, so posixtrace.ptl cannot get this name; '
check "it is not changed" cmp posixtrace.ptl.old before
run 2 check posixtrace.ptl.old posixtrace.ptl
check "it is also a log where rules are expected" has err '^posixtrace: check: posixtrace.ptl.old: this is a log; '

# A file LOG.old that another process makes after the recorder looked for it the first time.
cat >late.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
static int make_then(const char *name, char *path, int flags)
{
	int (*real)(char *, int) = (int (*)(char *, int))dlsym(RTLD_NEXT, name);
	FILE *old = fopen("posixtrace.ptl.old", "w");
	fputs("precious", old);
	fclose(old);
	return real(path, flags);
}
int mkostemp(char *path, int flags) { return make_then("mkostemp", path, flags); }
int mkostemp64(char *path, int flags) { return make_then("mkostemp64", path, flags); }
END
rm -f posixtrace.ptl.old
cp posixtrace.ptl before
if ${CC:-cc} -fPIC -shared -o late.so late.c -ldl 2>/dev/null &&
	test -z "$(nm "$posixtrace" 2>/dev/null | grep '__[at]san_init')"; then
	(LD_PRELOAD=$tmp/late.so; export LD_PRELOAD; exec "$posixtrace" record --trace=none true) \
		>out 2>err
	got=$? wanted=125
	check "a file .old that is made while the program starts is examined" exited
	check "the message says so" has err '^posixtrace: posixtrace.ptl.old: the file exists and is not a log'
	check "this file is not replaced" grep -qx precious posixtrace.ptl.old
	check "the log before keeps its name" cmp posixtrace.ptl before
fi
rm -rf posixtrace.ptl.old

# Events of the program itself, from its first on, and of children.
puppet() { # COMMANDS OPTION...
	commands=$1
	shift
	printf %s "$commands" | "$posixtrace" record --trace=none "$@" "$puppet_program" 0 1 r >out 2>err
	got=$? wanted=0
	check "record $* of a puppet with the commands $commands exits with 0, not $got" exited
}
puppet eeene
is_whole puppet
check "all events are there" test "$(count_of u)" -eq 4
check "both types are recorded" test "$(count_of v)" -eq 1
puppet efeexe
check "those of a child and of a program that it executes too" test "$(count_of u)" -eq 4
puppet efeexe --no-follow
check "unless it is not to be followed" test "$(count_of u)" -eq 1
puppet exe --no-follow
check "a program that it executes is the same process" test "$(count_of u)" -eq 2
puppet enen -e u
check "a plain name includes, from the first event on" test "$(count_of u)/$(count_of v)" = 2/0
check "the event has the command nevertheless" event_is "$log" "$puppet_program 0 1 r"
puppet enen -e '!v'
check "excluded types are not recorded" test "$(count_of u)/$(count_of v)" = 2/0
puppet enen -x u -e '*'
check "as --exclude does" test "$(count_of u)/$(count_of v)" = 0/2

# Time limits and ends.
record 3 -d 100ms sh -c 'sleep 0.5; exit 3'
is_whole duration
sh -c "exec '$posixtrace' record --trace=none sh -c 'sleep 0.3 & exit 0'" 2>err
check "children that it leaves are not waited for" is_sound "$log"
record 5 --wait sh -c 'timeout 1 "$0" work 1 20 & sleep 0.5; exit 5' "$victim"
check "--wait waits for children that remain" test "$(count_of payload)" -gt 10
is_whole wait

# Programs signal a daemon and wait until its pid is gone, as scripts of init systems do.
cat >"$tmp/orphan.sh" <<'END'
( setsid sh -c "$1" & echo $! >pid.new && mv pid.new pid )
pid=$(cat pid)
test -z "$2" || kill -$2 $pid
tries=100
while kill -0 $pid 2>/dev/null; do
	tries=$((tries - 1))
	test $tries -gt 0 || exit 1
	sleep 0.1
done
exit 6
END
record 6 --wait sh "$tmp/orphan.sh" 'sleep 0.2'
record 6 --wait sh "$tmp/orphan.sh" 'exec sleep 1000000' KILL
record 6 --wait sh "$tmp/orphan.sh" 'sleep 0.1 & sleep 0.1 & sleep 0.1 & exec sleep 0.2'
record 6 --wait -d 100ms sh "$tmp/orphan.sh" 'sleep 0.5'
is_whole "a daemon"
record 6 --wait sh -c 'sh "$1" "sleep 0.2"; status=$?; (setsid sleep 0.3 &) ; exit $status' - "$tmp/orphan.sh"
if unshare -pf true 2>/dev/null; then
	# Without --mount-proc, /proc shows other processes with the numbers of this namespace.
	unshare -pf sh -c 'sleep 1000000 & exec "$0" attach -p $! -d 1ms -o foreign.ptl' "$posixtrace" >out 2>err
	check "a foreign /proc is not taken for this namespace's" test $? -eq 1
	check "the foreign /proc is named as the reason" has err '/proc .*belongs to another namespace of process IDs$'
	# This shell has no number there, although /proc shows it.
	unshare -pf "$posixtrace" attach -p $$ -d 1ms -o foreign.ptl >out 2>err
	check "a process outside of a namespace is not attached to" test $? -eq 1
	check "/proc is the reason for the wrong number" has err '/proc shows the numbers of another namespace'
fi
if test "$(id -u)" -eq 0 && unshare -Ur true 2>/dev/null &&
	test "$(stat -Lc %i /proc/self/ns/user)" = 4026531837; then
	start sleep 1000000
	unshare -Ur "$posixtrace" attach -p $pid -d 1ms -o foreign.ptl >out 2>err
	check "a process outside of a user namespace is not attached to" test $? -eq 1
	check "the namespace is the reason" has err 'this is a user namespace'
	check "the message names the missing capability" has err 'one inside needs .*CAP_SYS_PTRACE'
	check "no log remains" test ! -e foreign.ptl
	kill $pid
	wait $pid 2>/dev/null
	# Inside of a user namespace, from outside of it.
	start unshare -Ur sh -c 'while :; do test -e /nonexistent; sleep 0.02; done'
	tries=100
	until test "$(readlink /proc/$pid/ns/user)" != "$(readlink /proc/self/ns/user)" ||
		test $((tries -= 1)) -eq 0; do sleep 0.05; done
	target=$pid log=$tmp/inside.ptl
	attach
	has_call() { "$posixtrace" dump -e file.stat inside.ptl | grep /nonexistent; }
	until_true has_call
	finish_attach 0 TERM
	pid=$target log=$tmp/posixtrace.ptl
	run 0 dump -e file.stat inside.ptl
	check "a process inside of a user namespace is traced" has out '/nonexistent'
	kill $pid
	wait $pid 2>/dev/null
fi
# As the init process of a container, which adopts orphans in any case.
if unshare -pf --mount-proc true 2>/dev/null; then
	unshare -pf --mount-proc "$posixtrace" record --trace=none -q -o init.ptl \
		sh "$tmp/orphan.sh" 'sleep 0.2' >out 2>err
	check "record can be the init process of a container" test $? -eq 6
fi

# Signals. record_busy OPTION...: a program with many events in the background, traced.
# Shells let what they start in the background ignore SIGINT and SIGQUIT, and nohup SIGHUP; env does not.
env --default-signal=INT true 2>/dev/null && defaults='env --default-signal=INT,QUIT,HUP' || defaults=
record_busy() {
	rm -f "$log"
	start $defaults "$posixtrace" record --trace=none "$@" >out 2>err
	tracer=$pid
	until_true has_events
}
program_of() { "$posixtrace" list --json | sed -n 's/^{"pid":\([0-9]*\),.*"creator":'"$1"',.*/\1/p'; }
has_events() { "$posixtrace" list --json | grep '"creator":'"$tracer"',' | grep '"recorded":[0-9][0-9][0-9]'; }
for signal in TERM:143 HUP:129 ${defaults:+INT:130 QUIT:131}; do
	record_busy "$victim" work 2 120
	finish_attach "${signal#*:}" "${signal%:*}"
	is_whole "$signal"
	check "$signal: there are events" test "$(count_of payload)" -gt 10
done
record_busy sh -c 'trap "" TERM; exec "$0" work 2 120' "$victim"
kill -TERM $tracer
check "it passes the signal on" until_true has_taken $tracer
check "a program that wants to live does" kill -0 $tracer
program=$(program_of $tracer)
started="$started $program"
finish_attach 143 TERM
is_whole "who insists"
check "the program goes on untraced" kill -0 "$program"
kill -KILL "$program"
# Where the parent ignores the interrupt and env cannot change that, script would ignore it as well.
if script -qec true /dev/null >/dev/null 2>&1 && test -n "$defaults"; then
	# The shell in between must survive the interrupt; not every shell does by itself.
	script=$(printf %s "trap : INT; '$posixtrace' record --trace=none '$victim' work 1 120; echo status \$?")
	rm -f "$log"
	: >out
	has_payload() { test "$(count_of payload)" -gt 0; }
	(until_true has_payload; printf '\003'; until_true grep -q 'status [0-9]' out) |
		$defaults script -qec "$script" /dev/null >out 2>&1
	check "an interrupt of the terminal's reaches the program" has out 'status 130'
	check "the log of an interrupted program is sound" is_sound "$log"
	rm -f "$log"
	line='\[[0-9]*s: [0-9]* events, [0-9]*/s, .*B, 0 lost\]'
	: >out
	(until_true has out "$line"; printf '\003'; until_true grep -q 'status [0-9]' out) |
		$defaults script -qec "$script" /dev/null >out 2>&1
	check "a terminal shows the progress" has out "$line"
fi
record_busy "$victim" work 1 120
program=$(program_of $tracer)
started="$started $program"
kill -KILL $tracer
wait $tracer 2>/dev/null
check "the log of a record that was killed is completed" until_true is_sound "$log"
check "its program goes on" kill -0 "$program"
kill -KILL "$program"

# Loss, full logs, loops.
busy() { # STATUS OPTION...
	wanted=$1
	shift
	record "$wanted" "$@" "$victim" burst 20000
}
# No flush runs while the stream becomes full.
unread() { # STATUS OPTION...
	wanted=$1
	shift
	record "$wanted" "$@" sh -c 'kill -STOP $PPID; "$0" burst 2000; kill -CONT $PPID' "$victim"
}
unread 4 --policy until-full -s 64K --fail-on-loss
is_whole until-full
check "the loss has a cause" has err ' lost (stream full [0-9]*), '
unread 0 -q --policy until-full -s 64K
check "losses are reported even with -q" has err ' lost (stream full [0-9]*), '
busy 0 --log-policy loop --log-size 64K
check "a log that loops is sound" is_sound "$log"
check "a log that loops has at most its limit" test "$(wc -c <"$log")" -lt 500000
busy 0 --loop -s 64K
check "the end of a loop is kept" test "$(count_of payload)" -gt 10
check "the only losses of a loop are overwritten events" has err ' lost (overwritten [0-9]*), '
check "that is sound" is_sound "$log"
busy 0 --loop --snapshot-on crash
check "without a crash there is nothing" test "$(count_of payload)" -eq 0
check "the message says so" has err '^posixtrace: posixtrace.ptl: no snapshot was taken$'
record 139 --loop --snapshot-on crash -s 64K sh -c '"$0" burst 200; kill -SEGV $$' "$victim"
check "a crash is a reason" test "$(count_of payload)" -gt 10
record 143 --loop --snapshot-on crash -s 64K sh -c '"$0" burst 200; kill -TERM $$' "$victim"
check "to be terminated is none" test "$(count_of payload)" -eq 0
record_busy --loop -s 64K --snapshot-on SIGUSR1 "$victim" work 1 120
for n in 1 2; do
	kill -USR1 $tracer
	check "snapshot $n is reported" until_true has err "^posixtrace: .*: snapshot $n$"
done
finish_attach 143 TERM
check "snapshots are in one log" is_sound "$log"
check "one after the other, and the end" test "$(count_of posix_trace_stop)" -eq 3
if prlimit --version >/dev/null 2>&1; then
	record_busy "$victim" work 4 120
	program=$(program_of $tracer)
	prlimit --pid $tracer --fsize=$(($(wc -c <"$log") + 100000))
	check "a log that cannot grow is reported" until_true has err "^posixtrace: .*: File too large$"
	check "the program goes on" kill -0 "$program"
	kill -TERM "$program"
	finish_attach 143
	check "one line reports it, and one the contents of the log" has_lines err 2
fi

# A process that is already running.
start_busy 1
run 0 record -p "$target" -d 200ms
is_whole "process"
check "its events are there" test "$(count_of payload)" -gt 10
run 0 record -q -p "$target" -d 100ms
check "silence" is_empty err
record_process() {
	start "$posixtrace" record -p "$target" "$@" >out 2>err
	tracer=$pid
	until_true is_traced
}
record_process
finish_attach 0 INT
is_whole "process, interrupted"
check "the process goes on" kill -0 "$target"
kill_target
run 1 record -p "$target"

# Command lines.
for wrong in '' '-p 1 true' '-p x' '-p 1 -p 2' '--trace=x true' '--trace= true' '--trace=io,,net true' '-p 1 --trace=x' \
	'--snapshot-on exit true' '--loop --snapshot-on never true' '-p 1 --loop --snapshot-on crash' \
	'--loop --snapshot-on crash --log-policy loop --log-size 1M true' '--no-follow --wait true' \
	'--policy append true' '--log-size 1M true' '-d 0 true' '--no-such-option true'; do
	run 2 record -o new.ptl $wrong
	check "record $wrong: nothing is on standard output" is_empty out
	check "record $wrong: no file is made" test ! -e new.ptl
done

# Other commands use "-" for standard output.
for command in 'record -o - true' "attach $$ -o -" 'recover new.ptl -o -' 'snapshot -p 1 -o -'; do
	run 2 $command
	check "$command: a log is no standard output" has err '^posixtrace: -o -: a log cannot be written to standard output, '
	check "$command: nothing is on standard output" is_empty out
	check "$command: no file is named -" test ! -e ./-
done
finish
