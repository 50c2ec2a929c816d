#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs that the shim cannot be loaded into run without it: with another C library, static, for
# another processor, in a root directory without the library. record finds its library or fails.
. "${0%/*}/lib.sh"

unset POSIXTRACE_PRELOAD
cd "$tmp" || exit 99
case $posixtrace in /*) ;; *) posixtrace=$build/tools/posixtrace/${posixtrace##*tools/posixtrace/} ;; esac

# traced STATUS COMMAND...: output in out and err, the log in log
traced() {
	wanted=$1
	shift
	rm -f "$log"
	"$posixtrace" record -q -o "$log" "$@" >out 2>err </dev/null
	got=$?
	check "record $* exits with $wanted, not $got" exited
}
untraced() { "$posixtrace" dump -e process.untraced "$log" | grep -q -e "$1"; }
events() { "$posixtrace" dump -e "$1" "$log" | wc -l; }

# The build's own library is found, whichever way the tool is run.
cp "$posixtrace" moved 2>/dev/null
traced 3 sh -c 'exit 3'
check "the build's library is found" test "$(events process.start)" -eq 1
if test -x "$build/tools/posixtrace/.libs/posixtrace"; then
	(unset LD_LIBRARY_PATH; "$build/tools/posixtrace/posixtrace" record -q -o "$log" sh -c 'exit 4')
	check "libtool's script finds the library of the build" test $? -eq 4
	check "with its events" test "$(events process.start)" -eq 1
fi
if ! ./moved record --trace=none true 2>/dev/null >&2; then
	echo "a copy of the tool does not run here"
elif test ! -e "$(strings -a moved 2>/dev/null | grep '/libposixtrace-preload.so$' | grep -v '^/lib/.libs' | head -n 1)"; then
	rm -f posixtrace.ptl ran
	./moved record sh -c 'echo >ran' 2>err
	check "record without its library fails" test $? -eq 125
	check "record names the missing library" has err 'libposixtrace-preload.so: No such file or directory$'
	check "record names the option for a recording without the library" has err '.--trace=none'
	check "record without its library runs no program" test ! -e ran -a ! -e posixtrace.ptl
	./moved record --trace=none sh -c 'echo >ran' 2>err
	check "that can be done" test $? -eq 0 -a -e ran
fi

cat >program.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	const char *preload = getenv("LD_PRELOAD");
	printf("%d %s\n", argc, argc > 1 ? argv[argc - 1] : "");
	if (preload)
		printf("LD_PRELOAD=%s\n", preload);
	return 9;
}
END
cat >caller.c <<'END'
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>
extern char **environ;
int main(int argc, char **argv)
{
	char *const arguments[] = { argv[2], (char *)"x", NULL };
	int status = 0;
	pid_t pid;

	if (argc < 3)
		return 1;
	if (!strcmp(argv[1], "execve")) execve(argv[2], arguments, environ);
	if (!strcmp(argv[1], "execv")) execv(argv[2], arguments);
	if (!strcmp(argv[1], "execvp")) execvp(argv[2], arguments);
	if (!strcmp(argv[1], "execvpe")) execvpe(argv[2], arguments, environ);
	if (!strcmp(argv[1], "execl")) execl(argv[2], argv[2], "x", (char *)NULL);
	if (!strcmp(argv[1], "execlp")) execlp(argv[2], argv[2], "x", (char *)NULL);
	if (!strcmp(argv[1], "execle")) execle(argv[2], argv[2], "x", (char *)NULL, environ);
	if (!strcmp(argv[1], "fexecve")) fexecve(open(argv[2], O_RDONLY), arguments, environ);
	if (!strcmp(argv[1], "execveat")) execveat(AT_FDCWD, argv[2], arguments, environ, 0);
	if (!strcmp(argv[1], "vfork")) {
		pid = vfork();
		if (pid == 0) {
			execv(argv[2], arguments);
			_exit(77);
		}
		waitpid(pid, &status, 0);
	} else if (!strcmp(argv[1], "spawn")) {
		if (posix_spawn(&pid, argv[2], NULL, NULL, arguments, environ))
			return 2;
		waitpid(pid, &status, 0);
	} else if (!strcmp(argv[1], "spawnp")) {
		if (posix_spawnp(&pid, argv[2], NULL, NULL, arguments, environ))
			return 2;
		waitpid(pid, &status, 0);
	} else if (!strcmp(argv[1], "system")) {
		status = system(argv[2]);
	} else if (!strcmp(argv[1], "popen")) {
		FILE *file = popen(argv[2], "w");

		status = file ? pclose(file) : -1;
	} else if (!strcmp(argv[1], "chroot")) {
		if (chroot(".") || argc < 4)
			return 3;
		status = system(argv[3]);
	}
	return WEXITSTATUS(status);
}
END
${CC:-cc} -w -D_GNU_SOURCE -o caller caller.c || skip "no compiler"
${CC:-cc} -w -o plain program.c
ways='execve execv execvp execvpe execl execlp execle fexecve execveat vfork spawn spawnp system popen'
for way in $ways; do
	traced 9 ./caller $way ./plain
	check "$way: an ordinary program has the library" has out "^LD_PRELOAD=$shim\$"
done

# The dynamic linker of glibc has no interpreter, but it is no static program.
loader=$(readelf -l plain | sed -n 's/.*interpreter: \(.*\)]/\1/p')
cp "$loader" renamed
for name in "$loader" ./renamed; do
	"$posixtrace" record -o "$log" "$name" ./plain >out 2>err </dev/null
	check "$name ./plain: the program runs" test $? -eq 9
	check "$name ./plain: it has the library" has out "^LD_PRELOAD=$shim\$"
	check "$name ./plain: it is recorded" test "$(events process.start)" -eq 1
	check "$name ./plain: record says nothing about static programs" lacks err static
	traced 9 sh -c "$name ./plain; exit 9"
	check "$name: a child that executes it is traced" has out "^LD_PRELOAD=$shim\$"
	check "$name: the log does not say that the child is static" \
		test "$(events process.untraced)" -eq 0
done

# untouched WHY PROGRAM [ARGUMENT]: runs as without the shim, with every way to execute it.
untouched() {
	why=$1
	shift
	"$@" >alone 2>alone.err
	check "$* runs" test $? -eq 9
	rm -f "$log"
	"$posixtrace" record --syscalls=none -q -o "$log" "$@" >out 2>err </dev/null
	check "record $* exits with 9" test $? -eq 9
	check "$*: the output is the same" diff alone out
	check "$*: record says that it is not traced" has err 'calls cannot be traced'
	test $# -eq 1 || return
	for way in $ways; do
		traced 9 ./caller $way "$1"
		check "$way $1: it does not have the library" lacks out LD_PRELOAD
		check "$way $1: nothing is said" is_empty err
		# fexecve() has no path.
		test $way = fexecve && path= || path=$1
		check "$way $1: the log says why" untraced "\"$why\".*$path\""
	done
	LD_PRELOAD=libc.so.6 "$posixtrace" record -q -o "$log" ./caller execvp "$1" >out 2>err
	check "$1: other libraries stay" has out '^LD_PRELOAD=libc.so.6$'
}

if command -v musl-gcc >/dev/null && musl-gcc -w -o musl program.c 2>/dev/null && { ./musl >out; test $? -eq 9; }; then
	untouched 'other C library' ./musl
	printf '#!%s/musl -a\n' "$tmp" >script
	printf '#! %s/script\n' "$tmp" >script.script
	chmod +x script script.script
	untouched 'other C library' ./script
	untouched 'other C library' ./script.script
	mkdir -p bin && cp musl bin/musl-in-path
	PATH=$tmp/bin:$PATH ways='execvp execvpe execlp spawnp system popen'
	untouched 'other C library' musl-in-path
	loader=$(readelf -l musl | sed -n 's/.*interpreter: \(.*\)]/\1/p')
	untouched 'other C library' "$loader" ./musl
	musl-gcc -w -static -o musl-static program.c &&
		traced 9 ./musl-static
	traced 9 sh -c './musl; ./plain'
	check "the program that it executes is traced" has out "LD_PRELOAD=$shim"
else
	echo "no musl-gcc: programs of another C library are not tested"
fi
if ${CC:-cc} -w -static -o static caller.c -D_GNU_SOURCE 2>/dev/null; then
	traced 9 ./static execv ./plain
	check "a static program runs, what it executes has the library" has out "^LD_PRELOAD=$shim\$"
	"$posixtrace" record --syscalls=none -o "$log" ./static execv ./plain 2>err >out
	check "record names the static program" has err 'statically linked; no kernel tracing: --syscalls=none$'
	"$posixtrace" record -o "$log" sh -c './static execv ./plain; exit 0' 2>err >out
	"$posixtrace" dump -e process.untraced --fields why,program "$log" >out
	check "the log names a static program that a child executes" has out '^"statically linked"	"./static"$'
	check "record names the static program at its end" \
		has err '^posixtrace: programs that cannot be traced: ./static (statically linked); --syscalls=unseen records their system calls$'
	"$posixtrace" record -o "$log" sh -c 'for i in 1 2 3 4 5; do ./static execv ./plain; done; exit 0' 2>err >out
	check "record counts the runs of a static program" has err 'traced: ./static (statically linked, 5 times); --syscalls'
	for i in 1 2 3 4 5; do
		ln static "static$i"
	done
	"$posixtrace" record -o "$log" sh -c 'for i in 1 2 3 4 5 4; do ./static$i execv ./plain; done; exit 0' 2>err >out
	check "record names the first static programs" has err './static3 (statically linked), and 3 more; --syscalls'
	# A folder in PATH is not the program.
	mkdir -p one/behind two && cp static two/behind
	own=$PATH PATH=$tmp/one:$tmp/two:$PATH
	traced 1 ./caller execvp behind
	PATH=$own
	check "the program is behind a folder of its name" untraced '"statically linked".*behind"'
	# The kernel reads 256 bytes of a script. A path that does not end there is none, and the
	# shell runs the script.
	padding=$(printf '%0254d' 0 | sed 's/0/\//g')
	path=$tmp/static
	printf '#!%s%s/more\nexit 5\n' "$(printf '%s' "$padding" | cut -c "$((${#path} + 1))-")" \
		"$path" >long
	chmod +x long
	traced 5 ./caller execvp ./long
	check "a path that does not end is no interpreter" \
		test -z "$("$posixtrace" dump -e process.untraced "$log" 2>/dev/null)"
fi

# Without a free descriptor the dynamic linker cannot open a library. It says the same as without
# the shim.
limited='ulimit -n 3; exec ./plain'
sh -c "$limited" >out.bare 2>err.bare </dev/null
traced $? sh -c "$limited"
check "without a free descriptor: the same message" cmp err.bare err
check "without a free descriptor: the log says why" untraced '"no free descriptor".*./plain'
traced 9 sh -c 'ulimit -n 4; exec ./plain'
check "with a free descriptor: the program is traced" test "$(events process.start)" -eq 2

# For another processor: the header of an ordinary program, changed. It is not executed.
cp plain other && printf '\001\0' | dd of=other bs=1 seek=18 conv=notrunc 2>/dev/null
env ./other >out 2>&1
status=$?
rm -f "$log"
"$posixtrace" record --syscalls=none -q -o "$log" ./other >out 2>err </dev/null
check "record ./other exits with $status" test $? -eq $status
check "record names the other processor" has err 'for another processor'
traced 77 ./caller vfork ./other
check "the log says that, too" untraced '"other processor"'

# A root directory without the library. It has everything else that the programs need.
mkdir -p root/bin
copy() {
	cp "$1" "root/$2"
	ldd "$1" | sed -n 's/^[^/]*\(\/[^ ]*\) (.*/\1/p' | while read -r library; do
		mkdir -p "root${library%/*}" && cp -L "$library" "root$library"
	done
}
copy ./plain plain
copy ./caller caller
copy /bin/sh bin/sh
as_root=
chroot root /plain >out 2>/dev/null || test $? -eq 9 || {
	as_root='unshare -r'
	$as_root chroot root /plain >out 2>/dev/null || test $? -eq 9 || as_root=none
}
if test "$as_root" = none; then
	echo "chroot(2) is not to be had: not tested"
else
	traced 9 $as_root chroot root /plain
	check "in another root: the program does not have the library" lacks out LD_PRELOAD
	check "in another root: nothing is said" is_empty err
	check "in another root: the log says why" untraced '"no library there"'
	traced 9 $as_root chroot root /bin/sh -c '/plain; exit $?'
	check "its children print nothing" is_empty err
	cd root || exit 99
	traced 9 $as_root ../caller chroot . '/plain; exit $?'
	cd ..
	cp root/out root/err .
	check "in another root: system() does not hand it on" lacks out 'LD_PRELOAD=.'
	check "in another root: system() says nothing" is_empty err
fi

# A user who may not read the library. setpriv has all capabilities until it executes the program.
user='setpriv --reuid 65534 --regid 65534 --clear-groups'
chmod 755 "$tmp"
mkdir -m 700 hidden && cp "$shim" "${shim%/*}"/libposixtrace.so.1 hidden
$user ./plain >out 2>/dev/null
if test $? -eq 9 && ! $user cat "$tmp/hidden/${shim##*/}" >/dev/null 2>&1; then
	POSIXTRACE_PRELOAD=$tmp/hidden/${shim##*/}
	export POSIXTRACE_PRELOAD
	traced 9 $user ./plain
	check "another user: the program does not have the library" lacks out LD_PRELOAD
	check "another user: nothing is said" is_empty err
	check "another user: the log says why" untraced '"no library there"'
	traced 9 $user sh -c './plain; exit $?'
	check "another user: its children print nothing" is_empty err
	unset POSIXTRACE_PRELOAD
else
	echo "no other user to be had: not tested"
fi
finish
