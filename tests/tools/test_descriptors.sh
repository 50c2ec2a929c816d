#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# File descriptors have their paths, sockets their addresses, wherever values are printed.
. "${0%/*}/lib.sh"

log=$tmp/log
"${top_builddir:-..}/tests/tools/compose" "$log" <<'EOF' || exit 99
type io.open fd fd; errno error; fd folder; x32 flags; str path
type io.close fd fd; errno error
type io.read fd fd; errno error
type io.dup errno error; fd fd; fd copy; x32 flags
type io.pipe errno error; fd fd; fd write; x32 flags
type io.fcntl errno error; fd fd; s32 command; s32 result; s64 value
type net.socket fd fd; errno error; s32 domain; x32 type; fd other
type net.bind fd fd; errno error; str address
type net.connect fd fd; errno error; str address
type net.accept fd fd; errno error; fd accepted; str address
type process.child s32 pid; s32 parent
type process.start s32 pid; s32 parent; str program
io.open 1 1 1000 3 0 -100 0 /etc/hosts
io.read 1 1 1001 3 0
io.open 1 1 1002 4 0 -100 0x80000 dir
io.open 1 1 1003 5 0 4 0 sub/file
io.read 1 1 1004 5 0
io.dup 1 1 1005 0 3 9 0
io.read 1 1 1006 9 0
io.close 1 1 1007 3 0
io.read 1 1 1008 3 9
io.open 1 1 1009 -1 2 -100 0 /none
io.fcntl 1 1 1010 0 5 1030 7 0
io.pipe 1 1 1011 0 10 11 0
io.read 1 1 1012 11 0
net.socket 1 1 1013 12 0 2 1 -1
net.bind 1 1 1014 12 0 127.0.0.1:80
net.accept 1 1 1015 12 0 13 127.0.0.1:4711
io.read 1 1 1016 13 0
net.socket 1 1 1017 14 0 2 1 -1
net.connect 1 1 1018 14 115 10.0.0.1:80
io.read 1 1 1019 14 0
process.child 2 2 1020 2 1
io.read 2 2 1021 9 0
io.read 2 2 1022 7 0
process.start 2 2 1023 2 1 prog
io.read 2 2 1024 7 0
io.read 2 2 1025 9 0
io.read 1 1 1026 7 0
io.read 2 2 1027 99 0
EOF
reads() { sed -n 's/.* io.read fd=\(.*\) error=.*/\1/p' "$tmp/out"; }
cat >"$tmp/expected" <<'EOF'
3 </etc/hosts>
5 <dir/sub/file>
9 </etc/hosts>
3
11 <pipe>
13 <tcp 127.0.0.1:80 <- 127.0.0.1:4711>
14 <tcp -> 10.0.0.1:80>
9 </etc/hosts>
7 <dir/sub/file>
7
9 </etc/hosts>
7 <dir/sub/file>
99
EOF
run 0 dump "$log"
reads >"$tmp/reads"
check "open, dup, close, pipe, sockets, fork, exec: $(diff "$tmp/expected" "$tmp/reads")" \
	cmp -s "$tmp/expected" "$tmp/reads"
check "close has the name of what it closes" has out 'io.close fd=3 </etc/hosts> error=0'
check "open has its path only" has out 'io.open fd=3 error=0'
run 0 dump -e io.read --tail 3 "$log"
check "a selection has the same names" has out 'fd=7 <dir/sub/file>'
run 0 dump --json -e io.read "$log"
check "json has number and name" has out '"labels":{"fd":"/etc/hosts"}.*"fields":{"fd":3,'
if "$posixtrace" query "$log" 'SELECT 1' >/dev/null 2>&1; then
	run 0 query "$log" "SELECT count(*) FROM events WHERE name = 'io.read' AND labels ->> 'fd' = '/etc/hosts'"
	check "query has the names" has out '^ *4$'
fi
# Numbers that are no descriptors do no harm.
"${top_builddir:-..}/tests/tools/compose" "$tmp/odd" <<'EOF' || exit 99
type io.dup errno error; fd fd; fd copy; x32 flags
type io.open s64 fd; errno error; s32 folder; x32 flags; str path
type process.child s32 pid; s32 parent
type io.read fd fd
process.child 2 2 1 2 1
io.dup 2 2 2 0 -2 5 0
io.dup 1 1 3 0 -3 -2 0
io.open 1 1 4 4294967294 0 -2 0 x
io.read 2 2 5 5
io.read 1 1 6 -2
EOF
run 0 dump "$tmp/odd"
check "and have no names" has out 'io.read fd=5$'
finish
