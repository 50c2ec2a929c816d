#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# File descriptors have their paths, sockets their addresses, in all printed values.
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
type io.mq_open errno error; fd fd; x32 flags; str name
type io.mq_close errno error; fd fd
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
io.mq_open 1 1 1019 0 15 0 /jobs
io.read 1 1 1020 15 0
process.child 2 2 1020 2 1
io.read 2 2 1021 9 0
io.read 2 2 1022 7 0
process.start 2 2 1023 2 1 prog
io.read 2 2 1024 7 0
io.read 2 2 1025 9 0
io.read 2 2 1025 15 0
io.mq_close 1 1 1025 0 15
io.read 1 1 1026 15 9
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
15 <mq:/jobs>
9 </etc/hosts>
7 <dir/sub/file>
7
9 </etc/hosts>
15
15
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
for format in jsonl chrome; do
	run 0 convert --to $format "$log"
	check "$format: the same four events have the name" test "$(grep -c 'io.read.*"names":{.*"fd":"/etc/hosts"' "$tmp/out")" -eq 4
	check "$format: open has none" lacks out 'io.open.*"fd":"/etc/hosts"'
done
run 0 convert --to csv "$log"
check "csv has the name" test "$(grep -c 'io.read.*""fd"":""/etc/hosts""' "$tmp/out")" -eq 4
check "a closed descriptor has no name" has out '1008,.*io.read.*""fd"":3,.*EBADF""}"'
run 0 convert --to perfetto -o "$tmp/pftrace" "$log"
check "perfetto has the name of the peer" grep -q -a -F 'tcp 127.0.0.1:80 <- 127.0.0.1:4711' "$tmp/pftrace"
if has_format sqlite && command -v python3 >/dev/null; then
	run 0 convert --to sqlite -o "$tmp/db" "$log"
	check "sqlite has the name" test "$(python3 -c 'import sqlite3, sys
print(*sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM event JOIN type ON type.id = event.type" +
	" WHERE name = ?1 AND json_extract(labels, ?2) = ?3", ("io.read", "$.fd", "/etc/hosts")).fetchone())' "$tmp/db")" = 4
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
check "the descriptors have no names" has out 'io.read fd=5$'
# The bits of this float are those of the integer 3.
"${top_builddir:-..}/tests/tools/compose" "$tmp/float" <<'EOF' || exit 99
type io.open f64 fd; errno error; s32 folder; x32 flags; str path
type io.close fd fd; errno error
type io.read fd fd
io.open 1 1 1 1.5e-323 0 -100 0 /etc/hosts
io.read 1 1 2 3
EOF
run 0 dump "$tmp/float"
check "a float is no descriptor" has out 'io.read fd=3$'
compose="${top_builddir:-..}/tests/tools/compose"
# Prints the descriptors of each call of a log that has the usual types and the given lines.
names_of() {
	{
		cat <<'EOT'
type io.open ns time; fd fd; errno error; fd folder; x32 flags; str path
type io.close ns time; fd fd; errno error
type io.fclose ns time; fd fd; errno error
type io.read fd fd; errno error
type io.dup errno error; fd fd; fd copy; x32 flags
type process.child s32 pid; s32 parent
type process.fork ns time; s32 child; errno error
type process.vchild s32 pid; s32 parent
type process.vfork ns time; s32 child; errno error
type process.start s32 pid; s32 parent; str program
type io.freopen ns time; fd fd; errno error; ptr file; fd old; str mode; str path
type io.close_range ns time; errno error; u32 first; u32 last; x32 flags
type io.uring_init ns time; errno error; fd fd
type io.uring_exit ns time; errno error; fd fd
EOT
		cat
	} >"$tmp/lines"
	"$compose" "$tmp/made" <"$tmp/lines" || exit 99
	run 0 dump "$tmp/made"
	sed -n 's/.* io\.\([a-z]*\) \(time=[^ ]* \)*\(error=0 \)*\(fd=.*\)/\1 \4/p' "$tmp/out" |
		sed 's/ error=.*//; s/ flags=.*//'
}
same() {
	check "$1: $(diff "$tmp/expected" "$tmp/got" | head -n 20)" \
		cmp -s "$tmp/expected" "$tmp/got"
}

# A descriptor that an event creates has no older name; the old number is closed.
names_of >"$tmp/got" <<'EOF'
io.open 1 1 1000 1 3 0 -100 0 /a
io.close 1 1 1010 1 3 0
io.open 1 1 1020 1 3 0 -100 0 /b
io.open 1 1 1030 1 4 0 -100 0 /c
io.dup 1 1 1040 0 3 4 0
io.read 1 1 1050 4 0
EOF
cat >"$tmp/expected" <<'EOF'
open fd=3
close fd=3 </a>
open fd=3
open fd=4
dup fd=3 </b> copy=4
read fd=4 </b>
EOF
same "descriptors that the event makes"

# Without the close it is not known how long the first name is right.
names_of >"$tmp/got" <<'EOF'
io.open 1 1 1000 1 3 0 -100 0 /a
io.read 1 1 1005 3 0
io.open 1 1 1010 1 3 0 -100 0 /b
io.read 1 1 1020 3 0
EOF
cat >"$tmp/expected" <<'EOF'
open fd=3
read fd=3
open fd=3
read fd=3 </b>
EOF
same "a close that no event shows"

# Names are found in any order of the log, for small and large numbers of processes and
# descriptors. Each process opens, reads and closes each descriptor; the paths have both numbers.
# With backward=1 all events of the log are late, the youngest first.
many_names() {
	awk -v backward="$1" -v got="$2" 'BEGIN {
		processes = split("7 300 70000 16777221", process)
		descriptors = split("3 4 255 256 65540 16777300", descriptor)
		for (round = 0; round < 40; round++)
			for (p = 1; p <= processes; p++)
				for (d = 1; d <= descriptors; d++)
					for (step = 0; step < 3; step++)
						line[n++] = event(step, process[p], descriptor[d], 1000 + 10 * n)
		for (i = backward ? n - 1 : 0; i >= 0 && i < n; i += backward ? -1 : 1)
			print line[i]
	}
	function event(step, pid, fd, time, path) {
		path = "/" pid "/" fd "/" round
		if (got)
			return (step == 0 ? "open fd=" : step == 1 ? "read fd=" : "close fd=") fd \
				(step ? " <" path ">" : "")
		return (backward ? "late " : "") (step == 0 ? "io.open" : step == 1 ? "io.read" : "io.close") \
			" " pid " " pid " " time (step == 1 ? " " fd " 0" : " 1 " fd " 0") \
			(step ? "" : " -100 0 " path)
	}'
}
for backward in 0 1; do
	many_names $backward 0 | names_of >"$tmp/got"
	many_names $backward 1 >"$tmp/expected"
	same "many processes and descriptors, backward=$backward"
done

# freopen() ends a name and gives another one; close_range() ends several, now or at exec.
names_of >"$tmp/got" <<'EOF'
process.start 1 1 990 1 99 prog
io.open 1 1 1000 1 3 0 -100 0 /a
io.freopen 1 1 1010 1 3 0 77 3 w /b
io.read 1 1 1020 3 0
io.freopen 1 1 1030 1 -1 2 77 3 w /none
io.read 1 1 1040 3 0
io.open 1 1 1050 1 5 0 -100 0 /c
io.open 1 1 1051 1 6 0 -100 0 /d
io.open 1 1 1052 1 7 0 -100 0 /e
io.close_range 1 1 1060 1 0 6 6 0
io.read 1 1 1070 5 0
io.read 1 1 1071 6 0
io.read 1 1 1072 7 0
io.close_range 1 1 1080 1 22 5 4 0
io.close_range 1 1 1090 1 0 7 4294967295 4
io.read 1 1 1100 7 0
process.start 1 1 1110 1 99 prog
io.read 1 1 1120 5 0
io.read 1 1 1121 7 0
io.uring_init 1 1 1130 1 0 8
io.read 1 1 1140 8 0
io.uring_exit 1 1 1150 1 0 8
io.read 1 1 1160 8 0
EOF
cat >"$tmp/expected" <<'EOF'
open fd=3
freopen fd=3
read fd=3 </b>
freopen fd=-1
read fd=3
open fd=5
open fd=6
open fd=7
read fd=5 </c>
read fd=6
read fd=7 </e>
read fd=7 </e>
read fd=5 </c>
read fd=7
read fd=8 <uring>
read fd=8
EOF
same "freopen, close_range, and rings"

# The recorder's filter removes the closes for some time.
names_of >"$tmp/got" <<'EOF'
io.open 1 1 1000 1 3 0 -100 0 /a
io.open 1 1 1001 1 4 0 -100 0 /x
io.read 1 1 1005 3 0
filter 1010 io.close
io.open 1 1 1020 1 3 0 -100 0 /b
io.read 1 1 1030 3 0
io.read 1 1 1031 4 0
filter 1040
io.read 1 1 1050 3 0
io.open 1 1 1060 1 5 0 -100 0 /c
io.read 1 1 1070 5 0
EOF
cat >"$tmp/expected" <<'EOF'
open fd=3
open fd=4
read fd=3 </a>
open fd=3
read fd=3
read fd=4
read fd=3
open fd=5
read fd=5 </c>
EOF
same "a filter without close"

# Lost events may have closed any descriptor.
names_of >"$tmp/got" <<'EOF'
io.open 1 1 1000 1 3 0 -100 0 /a
process.fork 1 1 1002 1 2 0
process.child 2 2 1003 2 1
io.read 2 2 1004 3 0
posix_trace_overflow 0 0 1010
posix_trace_resume 0 0 1020
io.read 1 1 1030 3 0
io.read 2 2 1031 3 0
io.open 1 1 1040 1 4 0 -100 0 /b
io.read 1 1 1050 4 0
EOF
cat >"$tmp/expected" <<'EOF'
open fd=3
read fd=3 </a>
read fd=3
read fd=3
open fd=4
read fd=4 </b>
EOF
same "a gap of lost events"

# A late event is older than its place in the log.
names_of >"$tmp/got" <<'EOF'
io.open 1 1 1000 1 3 0 -100 0 /a
io.read 1 1 1005 3 0
io.close 1 1 1030 1 3 0
io.open 1 1 1040 1 3 0 -100 0 /c
io.dup 1 2 1050 0 4 5 0
late io.open 1 2 1020 1 4 0 -100 0 /late
io.read 1 1 1060 3 0
io.read 1 1 1061 4 0
io.read 1 1 1062 5 0
EOF
cat >"$tmp/expected" <<'EOF'
open fd=3
read fd=3 </a>
close fd=3 </a>
open fd=3
dup fd=4 </late> copy=5
open fd=4
read fd=3 </c>
read fd=4 </late>
read fd=5 </late>
EOF
same "late events"

# The descriptors of a child are those at the call of fork(); a number may be of two processes. A
# thread may get the number of a descriptor before close() returns in another.
names_of >"$tmp/got" <<'EOF'
io.open 1 1 1000 1 3 0 -100 0 /a
io.close 1 1 1020 1 3 0
io.open 1 1 1021 1 3 0 -100 0 /b
process.child 2 2 1030 2 1
process.fork 1 1 1031 20 2 0
io.read 2 2 1032 3 0
process.child 2 2 1040 2 1
io.read 2 2 1041 3 0
io.open 1 1 1050 1 4 0 -100 0 /c
io.open 1 2 1058 2 4 0 -100 0 /d
io.close 1 1 1060 5 4 0
io.read 1 2 1061 4 0
process.start 3 3 1070 3 1 spawned
io.read 3 3 1071 3 0
EOF
cat >"$tmp/expected" <<'EOF'
open fd=3
close fd=3 </a>
open fd=3
read fd=3 </a>
read fd=3 </b>
open fd=4
open fd=4
close fd=4 </c>
read fd=4 </d>
read fd=3
EOF
same "fork, numbers of processes, threads"

# The events of a child of vfork() have the thread of the parent, but the child has a table of its own. It
# keeps this table when it executes a program. Another thread of the parent goes on meanwhile.
names_of >"$tmp/got" <<'EOF'
io.open 1 1 1000 1 3 0 -100 0 /a
process.vchild 1 1 1010 2 1
io.read 1 1 1011 3 0
io.close 1 1 1012 0 3 0
io.open 1 1 1013 0 3 0 -100 0 /b
io.dup 1 1 1014 0 3 5 0
io.read 1 1 1015 5 0
io.read 1 9 1016 3 0
io.read 1 9 1017 5 0
process.vfork 1 1 1020 11 2 0
io.read 1 1 1021 3 0
io.read 1 1 1022 5 0
process.start 2 2 1023 2 1 executed
io.read 2 2 1024 3 0
io.read 2 2 1025 5 0
EOF
cat >"$tmp/expected" <<'EOF'
open fd=3
read fd=3 </a>
close fd=3 </a>
open fd=3
dup fd=3 </b> copy=5
read fd=5 </b>
read fd=3 </a>
read fd=5
read fd=3 </a>
read fd=5
read fd=3 </b>
read fd=5 </b>
EOF
same "vfork"

# Threads that were killed in vfork() do not make a log slow: the oldest child ends when 256 others began.
{
	printf '%s\n' 'process.vchild 1 1 1000 2 1' 'io.open 1 1 1001 1 3 0 -100 0 /child' 'io.read 1 9 1002 3 0'
	awk 'BEGIN { for (i = 0; i < 256; i++) print "process.vchild 7", 10 + i, 1010 + i, 1000 + i, 7 }'
	printf '%s\n' 'io.open 1 1 2000 1 3 0 -100 0 /parent' 'io.read 1 9 2001 3 0'
} | names_of >"$tmp/got"
printf 'open fd=3\nread fd=3\nopen fd=3\nread fd=3 </parent>\n' >"$tmp/expected"
same "256 children of vfork() without an end"

# Losses whose time is unknown, and a log without close: no names.
names_of >"$tmp/got" <<'EOF'
io.open 1 1 1000 1 3 0 -100 0 /a
io.read 1 1 1010 3 0
lost io.close 1 7
EOF
printf 'open fd=3\nread fd=3\n' >"$tmp/expected"
same "losses without a time"
"$compose" "$tmp/few" <<'EOF' || exit 99
type io.open fd fd; errno error; fd folder; x32 flags; str path
type io.read fd fd
io.open 1 1 1000 3 0 -100 0 /a
io.read 1 1 1010 3
EOF
run 0 dump "$tmp/few"
check "a log without io.close has no names" has out 'io.read fd=3$'

# The selection of a command does not matter, and report has the same names.
run 0 dump -x io.close -x io.dup "$log"
check "dump -x io.close has the names" has out 'io.read fd=9 </etc/hosts> error=0'
check "dump -x io.close has no names of closed descriptors" has out 'io.read fd=3 error='
run 0 dump "$log"
reads >"$tmp/expected"
reads_of_report() { sed -n 's/.* io.read  *fd=\(.*\) error=.*/\1/p' "$tmp/out"; }
run 0 report "$log"
reads_of_report >"$tmp/got"
same "report"
run 0 report - <"$log"
reads_of_report >"$tmp/got"
same "report of standard input"
run 0 report --tail 2 -e io.read "$log"
check "report --tail" has out 'io.read  *fd=7 <dir/sub/file>'

# Descriptors that the recorder found open when it attached. The look of process 1 took 100 us.
# If the program changed a descriptor in this time, the name from the program's event is valid. The
# other descriptors have the names of the look. A copy, a child, and a program that one of them starts
# have the same names.
"${top_builddir:-..}/tests/tools/compose" "$log" <<'EOF' || exit 99
type io.open fd fd; errno error; fd folder; x32 flags; str path
type io.close fd fd; errno error
type io.read fd fd; errno error
type io.dup errno error; fd fd; fd copy; x32 flags
type process.child s32 pid; s32 parent
type process.start s32 pid; s32 parent; str program
type posixtrace_descriptor s32 pid; s32 fd; u64 looked_ns; u8 closes_at_exec; str kind; str name; str client; str peer
type posixtrace_attached s32 pid; str program
posixtrace_attached 9 9 990000 1 /bin/prog
io.open 1 1 1000000 7 0 -100 0 /during
io.open 1 1 1010000 8 0 -100 0 /closed
io.close 1 1 1020000 8 0
io.read 1 1 1030000 3 0
io.dup 1 1 1030001 0 3 11 0
io.read 1 1 1030002 11 0
posixtrace_descriptor 9 9 1050000 1 3 100000 0 file /var/log "" ""
posixtrace_descriptor 9 9 1050001 1 4 100000 1 accepted "tcp 10.0.0.1:80 <- 10.0.0.2:4711" 10.0.0.2:4711 ""
posixtrace_descriptor 9 9 1050002 1 7 100000 0 file /old "" ""
posixtrace_descriptor 9 9 1050003 1 8 100000 0 file /old "" ""
posixtrace_descriptor 9 9 1050004 0 5 100000 0 file /none "" ""
posixtrace_descriptor 9 9 1050005 1 11 100000 0 file /old "" ""
io.read 1 1 1060000 3 0
io.read 1 1 1060001 4 0
io.read 1 1 1060002 7 0
io.read 1 1 1060003 8 9
io.read 1 1 1060004 5 0
io.open 1 1 1060005 9 0 3 0 x
io.read 1 1 1060006 9 0
io.dup 1 1 1060007 0 4 10 0
io.read 1 1 1060008 10 0
process.child 2 2 1060009 2 1
process.start 2 2 1060010 2 1 prog
io.read 2 2 1060011 3 0
io.read 2 2 1060012 4 0
io.read 2 2 1060013 10 0
process.start 1 1 1060015 1 5 next
io.read 1 1 1060016 3 0
io.read 1 1 1060017 4 0
io.read 1 1 1060018 10 0
io.close 1 1 1060019 3 0
io.read 1 1 1060020 3 9
EOF
cat >"$tmp/expected" <<'EOF'
3 </var/log>
11 </var/log>
3 </var/log>
4 <tcp 10.0.0.1:80 <- 10.0.0.2:4711>
7 </during>
8
5
9 </var/log/x>
10 <tcp 10.0.0.1:80 <- 10.0.0.2:4711>
3 </var/log>
4
10 <tcp 10.0.0.1:80 <- 10.0.0.2:4711>
3 </var/log>
4
10 <tcp 10.0.0.1:80 <- 10.0.0.2:4711>
3
EOF
run 0 dump "$log"
reads >"$tmp/got"
same "descriptors that were open before"
check "dump hides how they were found" lacks out posixtrace_descriptor
run 0 report "$log"
check "report hides how the names were found" lacks out posixtrace_descriptor
run 0 dump -e posixtrace_descriptor "$log"
check "a pattern shows them" has out 'fd=7 .*name="/old"'

# Many changes of one descriptor, whose search must not walk through them: 200,000 of descriptors
# whose numbers differ by a power of two, a chain of copies, and forks.
awk 'BEGIN {
	for (i = 0; i < 100000; i++) {
		fd = 3 + i % 2 * 4096
		printf "io.open 1 1 %d 1 %d 0 -100 0 /f%d\nio.close 1 1 %d 1 %d 0\n",
			1000 + 10 * i, fd, i % 7, 1005 + 10 * i, fd
	}
	print "io.open 1 1 2000000 1 3 0 -100 0 /last"
	for (i = 0; i < 50000; i++)
		printf "io.dup 1 1 %d 0 %d %d 0\n", 2000010 + i, 3 + i % 2, 4 - i % 2
	print "io.read 1 1 3000000 3 0"
	for (i = 0; i < 30; i++)
		printf "process.child %d 2 %d %d %d\n", i + 2, 3000001 + i, i + 2, i + 1
	print "io.read 31 1 3100000 3 0"
}' | names_of >"$tmp/all"
tail -n 1 "$tmp/all" >"$tmp/got"
echo 'read fd=3 </last>' >"$tmp/expected"
same "many changes, copies and forks"
check "all calls are shown" test "$(wc -l <"$tmp/all")" -eq 250003
grep '^close fd=4099' "$tmp/all" | tail -n 1 >"$tmp/got"
echo 'close fd=4099 </f4>' >"$tmp/expected"
same "the last close"
finish
