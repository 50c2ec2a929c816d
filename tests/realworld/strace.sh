#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The calls of some forty programs: strace -f -k and posixtrace record see the same run, and
# calls.py compares them for each thread. A call that went through a wrapped function of the C
# library must be in the log, in the same order and with the same error. So must each program and
# child that begins, and each folder that a function read. The table has the calls of the families
# file, io, net, process and time, by the way that they went: calls.py describes the classes.
#
# PTX_PROGRAMS="gcc perl" runs some of them. PTX_KEEP is a folder that receives the inputs of calls.py
# of the last one.
PACKAGES='strace strace
python3 python3'
. "${0%/*}/lib.sh"

nm -D --defined-only "$POSIXTRACE_PRELOAD" >"$tmp/wrapped"
check "the comparison has each wrapper of its event types" \
	python3 "$here/calls.py" table "$tmp/wrapped" "$source"/lib/preload/*.c
strace -k -o "$tmp/none" true 2>/dev/null || {
	echo "SKIP: strace cannot print stacks here"
	finish
}

# as_without COMMAND...: checks that the program prints the same and exits as without record.
as_without() {
	for kind in plain traced; do
		rm -rf "$tmp/run"
		cp -rp "$tmp/start" "$tmp/run"
		cd "$tmp/run" || exit 99
		case $kind in
		plain) (unset LD_LIBRARY_PATH; exec "$@") ;;
		traced) "$posixtrace" record -q --wait -o "$log" -s 16M -- "$@" ;;
		esac >"$tmp/out.$kind" 2>/dev/null </dev/null
		echo $? >"$tmp/status.$kind"
		cd "$tmp" || exit 99
	done
	check "$program: the exit status is that without record" same_status
	# pgbench prints times.
	test "$program" = pgbench ||
		check "$program: the output is that without record" same_output
}

# beside NAME[:TOOL] COMMAND...: in a new copy of the folder start. TOOL is a program that COMMAND
# needs and that may not be installed, if this is not the first word of COMMAND.
mkdir "$tmp/start"
beside() {
	program=${1%%:*} tool=${1#"${1%%:*}"}
	shift
	case " ${PTX_PROGRAMS-$program} " in *" $program "*) ;; *) return ;; esac
	tool=${tool:-:$1} tool=${tool#:}
	command -v "$tool" >/dev/null || { echo "SKIP: $program: $tool is not installed"; return; }
	rm -rf "$tmp/run" "$log" "$tmp/calls"
	cp -r "$tmp/start" "$tmp/run"
	cd "$tmp/run" || exit 99
	libraries=$LD_LIBRARY_PATH
	# calls.py needs the numbers of the files that stat() returns, the names in folders, and the
	# environments of programs.
	(unset LD_LIBRARY_PATH; exec strace -f -k -s 256 -e 'abbrev=!?stat,newfstatat,getdents64,execve,execveat' \
		-E LD_LIBRARY_PATH="$libraries" -o "$tmp/calls" \
		"$posixtrace" record -q --wait -o "$log" -s 16M -- "$@") >"$tmp/said" 2>&1 </dev/null
	"$posixtrace" dump --json --system "$log" >"$tmp/events"
	# Relative paths of programs begin in the folder of the run.
	python3 "$here/calls.py" "$program" "$tmp/calls" "$tmp/events" "$tmp/wrapped" >"$tmp/compared"
	status=$?
	cd "$tmp" || exit 99
	test -z "$PTX_KEEP" || cp "$tmp/calls" "$tmp/events" "$tmp/wrapped" "$PTX_KEEP"
	as_without "$@"
	check "$program: each call through a wrapped function is in the log, in the same order" \
		test "$status" -eq 0
	check "$program: calls were compared" \
		test "$(sed -n 's/^CALLS *[^ ]* *[0-9]* *\([0-9]*\).*/\1/p' "$tmp/compared")" -gt 0
	cat "$tmp/compared" >>"$tmp/table"
	test $status -eq 0 || cat "$tmp/compared"
}

cd "$tmp/start" || exit 99
echo 'int main(void) { return 0; }' >a.c
mkdir -p tree/a/b
for i in 1 2 3 4; do
	echo "line $i" >tree/a/f$i
	ln -s "../f$i" tree/a/b/l$i
done
ln -s /nonexistent tree/dangling
seq 1 30000 | awk '{ print ($1 * 7919) % 30011, $1 }' >big
printf 'prog: a.o\n\tgcc -o prog a.o\na.o: a.c\n\tgcc -c a.c\n' >Makefile
cat >traps <<'EOF'
trap 'echo got' USR1
trap 'echo bye' EXIT
kill -USR1 $$
(exit 5); echo $?
value=$(cat /nonexistent || echo none); echo $value
for i in 1 2 3; do echo $i; done | while read line; do echo "[$line]"; done
exec 5>file; echo text >&5; exec 5>&-
timeout 2 sleep 9; echo $?
EOF
cat >script.pl <<'EOF'
use POSIX; use File::Find; use IO::Socket::INET;
open(my $f, ">", "x"); print $f "a\n" x 3000; close $f; truncate("x", 5); rename("x", "y");
$| = 1; print `echo text`; system("exit 3"); print $? >> 8, "\n"; unlink "y", "nofile";
if (!fork) { POSIX::_exit(4) } wait; print $? >> 8, "\n"; find(sub {}, "tree");
my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1");
my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $s->sockport);
my $a = $s->accept; print $c "line\n"; close $c; print <$a>; select(undef, undef, undef, 0.01);
symlink("a", "link"); print readlink("link"), "\n"; mkdir "d"; rmdir "d"; exit 5;
EOF
cat >script.rb <<'EOF'
puts `echo text`; system("exit 3"); puts $?.exitstatus; Process.wait fork { exit! 2 }
puts $?.exitstatus, File.exist?("nofile"), Dir.children("tree").sort.inspect
IO.copy_stream("big", "copy"); File.rename("copy", "other"); File.unlink("other"); exit 6
EOF
cat >script.php <<'EOF'
<?php file_put_contents("p", "x"); echo file_get_contents("p"), shell_exec("echo text");
exec("exit 3", $lines, $status); echo $status; copy("p", "q"); unlink("p"); rename("q", "p");
print_r(scandir("tree")); var_dump(@file_get_contents("nofile")); exit(7);
EOF
cat >script.lisp <<'EOF'
(write (with-output-to-string (s) (sb-ext:run-program "/bin/echo" '("text") :output s)))
(write (probe-file "nofile"))
(write (sb-thread:join-thread (sb-thread:make-thread (lambda () 7))))
(sb-ext:exit :code 4)
EOF
cat >script.ml <<'EOF'
let () = if Unix.fork () = 0 then exit 3 else match Unix.wait () with
  | _, Unix.WEXITED n -> print_int n; Unix.rename "big" "other"; ignore (Sys.readdir "tree");
    (try ignore (Unix.stat "nofile") with Unix.Unix_error _ -> print_endline "none")
  | _ -> ()
EOF
cat >script.exp <<'EOF'
spawn sh -c {read a; echo got $a; exit 3}
send "text\r"
expect eof
exit [lindex [wait] 3]
EOF
cat >script.tcl <<'EOF'
puts [exec echo text | cat]; puts [file exists nofile]; after 10 {set x 1}; vwait x; exit 4
EOF
cat >build.ninja <<'EOF'
rule copy
  command = cp $in $out
build x1: copy a.c
build x2: copy x1
build x3: copy a.c
EOF
mkdir perl
echo "use ExtUtils::MakeMaker; WriteMakefile(NAME => 'A', VERSION => 1);" >perl/Makefile.PL
printf 'for f in /nonexist/1 /nonexist/2; do test -e $f || cat $f; done; ls -l a.c\n' >script
if command -v git >/dev/null; then
	git init -q repo && echo text >repo/file && git -C repo add file &&
		git -C repo -c user.name=n -c user.email=e commit -q -m m
fi
mkdir cmake
cat >cmake/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.10)
project(a NONE)
file(WRITE ${CMAKE_BINARY_DIR}/list "a\nb\n")
file(STRINGS ${CMAKE_BINARY_DIR}/list lines)
file(GLOB files ../tree/f*)
execute_process(COMMAND echo text OUTPUT_VARIABLE text)
file(RENAME ${CMAKE_BINARY_DIR}/list ${CMAKE_BINARY_DIR}/other)
file(REMOVE ${CMAKE_BINARY_DIR}/other nofile)
file(MAKE_DIRECTORY folder/a/b)
file(REMOVE_RECURSE folder)
add_custom_target(all_files ALL COMMAND ${CMAKE_COMMAND} -E cat ${files})
EOF
printf 'fn main() { println!("text"); std::thread::spawn(|| ()).join().unwrap(); }\n' >a.rs
# Functions of which one call makes several system calls, or none that has its name.
cat >several.c <<'EOF'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void)
{
	mkdir("d", 0700), mkdir("e", 0700), mkdir("e/f", 0700);
	remove("d"), remove("e"), remove("none"), remove("e/f"), remove("e");
	free(get_current_dir_name());
	setenv("PWD", "/", 1), free(get_current_dir_name());
	setenv("PWD", "/none", 1), free(get_current_dir_name());
	unsetenv("PWD"), free(get_current_dir_name()), free(get_current_dir_name());
	signal(SIGUSR1, SIG_IGN), pthread_kill(pthread_self(), SIGUSR1);
	sigqueue(getpid(), SIGUSR1, (union sigval){ 0 });
	pthread_sigqueue(pthread_self(), SIGUSR1, (union sigval){ 0 });
	sync();
	return 0;
}
EOF
command -v cc >/dev/null && cc -o several several.c && cc -o walks "$here/walks.c"
mkdir logs
cat >nginx.conf <<EOF
worker_processes 1;
error_log logs/error.log;
pid nginx.pid;
events { worker_connections 16; }
http { access_log off; server { listen unix:$tmp/run/nginx.socket; } }
EOF
cd "$tmp" || exit 99

beside ls ls /nonexist
beside gcc gcc -c a.c
beside git git clone repo copy
beside python /usr/bin/python3 -S -c 'import json'
beside sqlite sqlite3 data.db 'CREATE TABLE t(x); INSERT INTO t VALUES(1); SELECT * FROM t;'
beside tar tar cf a.tar a.c nofile
beside rsync rsync -a a.c nofile target/
beside bash bash script
beside find find tree -type f -printf '%p %s\n'
beside grep grep -rn line tree
beside sort sort --parallel=2 -S 200K -n big -o sorted
beside xz xz -T2 -k --block-size=100000 big
beside zstd zstd -q -T2 -k big
beside cp cp -a tree copy
beside mv sh -c 'mv big /dev/shm/big.$$ && mv /dev/shm/big.$$ other; mv nofile x'
beside make make
beside perl perl script.pl
beside awk awk 'BEGIN { "echo text" | getline x; print x; system("echo b"); getline < "nofile" }'
beside dash dash traps
beside traps bash traps
beside timeout timeout 0.2 sleep 3
beside dd dd if=big of=copy bs=4k conv=fsync
beside tar.gz sh -c 'tar cf - tree | gzip -c >a.tgz; tar tzf a.tgz'
beside mkfifo sh -c 'mkfifo pipe; cat pipe & echo text >pipe; wait'
beside flock:flock sh -c 'flock lock echo text; flock -n lock sleep 0.1'
beside less:less sh -c 'seq 3 | less; less a.c'
beside vim vim -es -u NONE -c '%s/int/long/' -c wq a.c
beside keygen ssh-keygen -q -t ed25519 -N '' -f key
beside dpkg dpkg -l dpkg
beside apt apt-cache policy dpkg
beside su su -s /bin/sh root -c 'echo text'
beside socat socat -u EXEC:'echo text' STDOUT
beside ruby ruby script.rb
beside php php script.php
beside ffmpeg ffmpeg -loglevel error -f lavfi -i testsrc=d=1:s=64x48 -threads 2 -f framemd5 -
beside makemaker:perl sh -c 'cd perl && perl Makefile.PL'
beside wal sqlite3 data.db 'PRAGMA journal_mode=wal; CREATE TABLE t(x); INSERT INTO t VALUES(1);'
beside calendar systemd-analyze calendar --base-time=2024-01-01 daily
beside emacs emacs -Q --batch --eval \
	'(with-temp-file "out" (insert (shell-command-to-string "echo text")))'
beside cmake cmake -S cmake -B built
beside rustc rustc a.rs
beside tmux:tmux sh -c 'tmux -S socket -f /dev/null new-session -d "echo text >out"
	while tmux -S socket has-session 2>/dev/null; do sleep 0.1; done; cat out'
beside sbcl sbcl --script script.lisp
beside ocaml ocaml unix.cma script.ml
beside expect expect script.exp
beside tcl tclsh script.tcl
beside lua lua5.4 -e 'print(io.popen("echo text"):read("a"), io.open("nofile")) os.exit(5)'
beside script:script sh -c 'script -q -c "echo text; exit 3" out; echo $?; grep -c text out'
beside screen:screen sh -c 'screen -dmS x$$ sh -c "echo text >out"; until test -s out; do sleep 0.1; done'
# Its messages have the order in which the commands end.
beside ninja:ninja sh -c 'ninja -j2 --quiet && cat x1 x2 x3'
beside ccache:ccache sh -c 'CCACHE_DIR=$PWD/c ccache gcc -c a.c && CCACHE_DIR=$PWD/c ccache gcc -c a.c'
beside mold:mold gcc -fuse-ld=mold a.c -o a
beside lld:ld.lld gcc -fuse-ld=lld a.c -o a
beside gdb:gdb sh -c 'gdb -batch -nx -ex run /bin/echo | sed "s/process [0-9]*//"'
test -x start/several && beside several sh -c ./several
test -x start/walks && beside walks sh -c 'exec ./walks'
PATH=$PATH:/usr/sbin
command -v nginx >/dev/null &&
	beside nginx sh -c 'nginx -p "$PWD" -c nginx.conf -g "daemon off;" & sleep 3; kill -QUIT $!; wait'

# A server of PostgreSQL outside of the recording.
server=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
if command -v pgbench >/dev/null && test -n "$server" && id postgres >/dev/null 2>&1; then
	mkdir "$tmp/pg" && chown postgres "$tmp/pg" && chmod 711 "$tmp"
	as() { su postgres -s /bin/sh -c "$1" >/dev/null 2>&1 </dev/null; }
	if as "$server/initdb -A trust -D $tmp/pg/data" &&
		as "$server/pg_ctl -w -D $tmp/pg/data -l $tmp/pg/log -o '-k $tmp/pg -h \"\"' start"; then
		as "pgbench -h $tmp/pg -i -s 1 postgres"
		beside pgbench pgbench -h "$tmp/pg" -U postgres -n -c 2 -j 2 -t 3 postgres
		as "$server/pg_ctl -D $tmp/pg/data -m immediate stop"
	else
		echo "SKIP: pgbench: no server"
	fi
fi

# A server on a port that the kernel chooses, outside of the recording.
if command -v curl >/dev/null; then
	python3 -u -c '
import http.server
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(server.server_port, flush=True)
server.serve_forever()' >"$tmp/port" 2>/dev/null </dev/null &
	children="$children $!"
	until test -s "$tmp/port"; do sleep 0.1; done
	beside curl curl -s "http://127.0.0.1:$(cat "$tmp/port")/start/"
fi
beside crash sh -c 'cat nofile; kill -SEGV $$'

echo "RESULT                    strace  wrapper     log  inside  loader  direct  unseen unknown"
sed -n 's/^CALLS/RESULT  /p' "$tmp/table"
grep -v '^CALLS' "$tmp/table"
finish
