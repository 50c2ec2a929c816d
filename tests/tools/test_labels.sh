#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Values by name: octal numbers, bits of several values, lists of names, signals and wait statuses.
. "${0%/*}/lib.sh"

log=$tmp/log
"${top_builddir:-..}/tests/tools/compose" "$log" <<'EOF' || exit 99
type open x32 flags{|3:0=O_RDONLY,3:1=O_WRONLY,3:2=O_RDWR,64=O_CREAT,128=O_EXCL}; o32 mode
type both @names how{0=none,1=some}; u8 a{how}; s8 b{how}
type died signal sig; wait status; fd fd
open 1 1 1000000001 193 420
open 1 1 1000000002 0 0
open 1 1 1000000003 2 2541
both 1 1 1000000004 1 0
died 1 1 1000000005 11 139 3
died 1 1 1000000006 10 256 -1
EOF

run 0 dump "$log"
check "bits with several values" has out 'flags=O_WRONLY|O_CREAT|O_EXCL mode=0644$'
check "the value 0 of several bits" has out 'flags=O_RDONLY mode=00*$'
check "octal" has out 'flags=O_RDWR mode=04755$'
check "a list of names for two fields" has out 'a=some b=none$'
check "a signal and a wait status" has out 'sig=SIGSEGV status=killed by SIGSEGV (core dumped) fd=3$'
check "an exit status" has out 'sig=SIGUSR1 status=exited with 1 fd=-1$'

run 0 dump --json "$log"
check "json has name and number" has out '"labels":{"flags":"O_WRONLY|O_CREAT|O_EXCL"}.*"flags":193'
check "json: status" has out '"labels":{"sig":"SIGUSR1","status":"exited with 1"}.*"sig":10,"status":256'

# shown COUNT EXPRESSION
shown() {
	run 0 dump --where "$2" "$log"
	check "$2: $1 events, not $(lines out)" has_lines out "$1"
}
shown 1 'flags & O_CREAT'
shown 2 '!(flags & O_CREAT)'
shown 1 'flags & O_WRONLY'
shown 1 'flags & O_RDONLY'
shown 1 'flags == O_RDONLY'
shown 1 'O_RDWR == flags'
shown 1 'flags == "O_WRONLY|O_CREAT|O_EXCL"'
shown 1 'flags ~ "*O_EXCL*"'
shown 1 'mode == 04755'
shown 1 'sig == SIGSEGV'
shown 1 'status ~ "killed*"'
shown 1 'a == some && b == none'
shown 0 'a == none'
run 2 dump --where 'flags & O_CREAD' "$log"
check "an unknown name is an error" has err 'no event type has a field or a value of this name'

run 0 convert "$log" --to jsonl -o "$tmp/log.jsonl"
check "convert to JSON lines names the values" \
	has log.jsonl '"names":{"flags":"O_WRONLY|O_CREAT|O_EXCL"'
run 0 convert "$log" --to ctf -o "$tmp/ctf"
check "CTF has a type for octal numbers" grep -q -a 'o32 _mode' "$tmp/ctf/metadata"
check "CTF has labels for bits" grep -q -a 'enum : x32 { "O_RDONLY" = 0,' "$tmp/ctf/metadata"
run 0 convert "$log" --to perfetto -o "$tmp/log.perfetto"
check "Perfetto has the names" grep -q -a 'O_WRONLY|O_CREAT|O_EXCL' "$tmp/log.perfetto"
if "$posixtrace" query "$log" 'SELECT 1' >/dev/null 2>&1; then
	run 0 query "$log" "SELECT labels ->> 'flags', [field.flags] FROM events WHERE name = 'open' LIMIT 1"
	check "query has names and numbers" has out 'O_WRONLY|O_CREAT|O_EXCL *193'
fi
finish
