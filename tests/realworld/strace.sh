#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Files that programs did not find: as strace -f shows them, and as the log does. calls.py compares the
# errors and the order for each process. The results have the numbers of both side by side.
PACKAGES='strace strace
python3 python3'
. "${0%/*}/lib.sh"

# beside NAME COMMAND...: runs the command twice, each time in a new copy of the folder start.
mkdir "$tmp/start"
beside() {
	program=$1
	shift
	command -v "$1" >/dev/null || { echo "SKIP: $program: $1 is not installed"; return; }
	for kind in strace log; do
		rm -rf "$tmp/run"
		cp -r "$tmp/start" "$tmp/run"
		cd "$tmp/run" || exit 99
		case $kind in
		strace) (unset LD_LIBRARY_PATH; exec strace -f -o "$tmp/calls" "$@") ;;
		log) record "$@" ;;
		esac >/dev/null 2>&1 </dev/null
		cd "$tmp" || exit 99
	done
	"$posixtrace" dump --json "$log" >"$tmp/events"
	check "$program: each failed look-up is in both, or made inside the C library" \
		python3 "$here/calls.py" "$program" "$tmp/calls" "$tmp/events"
	python3 "$here/calls.py" "$program" "$tmp/calls" "$tmp/events" | sed -n 's/^CALLS/RESULT/p'
}

cd "$tmp/start" || exit 99
echo 'int main(void) { return 0; }' >a.c
printf 'for f in /nonexist/1 /nonexist/2; do test -e $f || cat $f; done; ls -l a.c\n' >script
if command -v git >/dev/null; then
	git init -q repo && echo text >repo/file && git -C repo add file &&
		git -C repo -c user.name=n -c user.email=e commit -q -m m
fi
cd "$tmp" || exit 99

beside ls ls /nonexist
beside gcc gcc -c a.c
beside git git clone repo copy
beside python /usr/bin/python3 -S -c 'import json'
beside sqlite sqlite3 data.db 'CREATE TABLE t(x); INSERT INTO t VALUES(1); SELECT * FROM t;'
beside tar tar cf a.tar a.c nofile
beside rsync rsync -a a.c nofile target/
beside bash bash script
beside curl curl -s file:///nonexist
beside crash sh -c 'cat nofile; kill -SEGV $$'
finish
