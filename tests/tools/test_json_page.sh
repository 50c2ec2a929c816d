#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace-json(7) names each member that a command prints with --json, with its type, and says
# when a member is absent. json_page.py reads the tables of the page. Names below fields and labels,
# and the columns of query, are those of the user.
. "${0%/*}/golden.sh"
. "${0%/*}/live.sh"

python3 -c 'import json' 2>/dev/null || skip "no python3 to read JSON with"

top=$(cd "${top_srcdir:-${0%/*}/../..}" && pwd)
pages=$top/tools/posixtrace/man
page=$pages/posixtrace-json.7
json_page() { python3 "$top/tests/tools/json_page.py" "$@"; }

# print FILE COMMAND...: adds what a command prints to $tmp/FILE. Some logs are damaged, and some have
# no answer, so the status is not checked.
print() {
	file=$1
	shift
	"$posixtrace" "$@" >>"$tmp/$file" 2>/dev/null
}

columns=time,delta,pid,tid,thread,address,event,name,id,level,len,data,flags,log,symbol,source
# print_all LOG: what all commands print about a log.
print_all() {
	print dump dump --json --system --symbols --stack "$1"
	print dump dump --json --system --hex "$1"
	print dump-fields dump --json --system --fields $columns "$1"
	print stat stat --json "$1"
	print verify verify --json "$1"
	print latency latency --json --slowest 2 "$1"
	print diff diff --json "$1" "$1"
	print symbols symbols --json "$1"
	print why why --json "$1"
	print why why --json --slowest 2 "$1"
	print why why --json --span upstream --slowest 5 "$1"
	print why-aggregate why --json --span '*' --aggregate "$1"
}

# names SECTION [FILE]: the page has the members of all objects in a file, and explains those that are
# absent.
names() {
	check "posixtrace-json(7), section $1, has the members that the command prints" \
		json_page "$page" "$1" "$tmp/${2:-$1}"
}

# is_seen SECTION FILE [MEMBER...]: the objects in a file have all members of a section but these. So
# the test notices if a row of any other member is missing.
is_seen() {
	json_page "$page" seen "$1" "$tmp/$2" | sort >"$tmp/unseen"
	shift 2
	printf '%s\n' "$@" | sort | sed '/^$/d' | diff - "$tmp/unseen"
}

# --- the page itself

# A member that no source writes was removed or renamed. Names of causes are those of the library.
find "$top/tools/posixtrace" "$top/lib/posix" -name '*.[ch]' -exec cat {} + |
	grep -oE '\\?"[a-z][a-z_0-9 ]*\\?"' | tr -d '\\"' | sort -u >"$tmp/written"
json_page "$page" names | sort >"$tmp/named"
check "the tables are found" test "$(lines named)" -ge 200
none "posixtrace-json(7) names only members that are written" "$(grep -v -x -F -f "$tmp/written" "$tmp/named")"

sed -n '/^\.Sh COMMANDS/,/^\.Sh EXAMPLES/s/^\.Ss \([a-z]*\)$/\1/p' "$page" | sort >"$tmp/sections"
for command in $("$posixtrace" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	! "$posixtrace" $command --help | grep -q -- '^ *--json ' || echo "$command"
done | sort >"$tmp/commands"
check "posixtrace-json(7) has a section for each command with --json" \
	diff "$tmp/commands" "$tmp/sections"
for command in $(cat "$tmp/commands"); do
	check "posixtrace-$command(1) refers to posixtrace-json(7) at --json and in SEE ALSO" \
		test "$(grep -c '^\.Xr posixtrace-json 7' "$pages/posixtrace-$command.1")" -ge 2
done

# --- logs that never change

make_logs
cd "$tmp/logs" || exit 99
"$compose" rare.ptl <<'END' || exit 99
type tick ns time; u32 n; @span tick
type posixtrace_agent str what; str trigger; str reason
tick 7 7 1s 5 1
repeat 9000 tick 7 7 +1us 5 1
posixtrace_agent 7 7 +1us snapshot crash killed
lost tick 3 10
lost - 2
END
# Pools, loops that drift, and readers that overtake a writer.
"$compose" groups-pool.ptl <<'END' || exit 99
trace pid=7
type lock.cond ns time; ptr lock; ptr mutex; errno error
type lock.cond_signal ns time; ptr lock; errno error; s32 all
type time.sleep ns time; s64 asked; errno error; str by
lock.cond_signal 7 7 1s @0x20 1000 0x1040 0 0
lock.cond 7 8 +10us @0x30 9000 0x1040 0x1000 0
lock.cond_signal 7 7 +10us @0x20 1000 0x1040 0 0
lock.cond 7 9 +10us @0x30 9000 0x1040 0x1000 0
time.sleep 7 8 +90ms @0x40 90000000 90000000 0 usleep
lock.cond_signal 7 8 +10us @0x50 1000 0x1080 0 0
lock.cond 7 7 +10us @0x60 90000000 0x1080 0x1000 0
time.sleep 7 9 +1ms @0x40 91000000 91000000 0 usleep
END
"$compose" groups-drift.ptl <<'END' || exit 99
trace pid=7
type time.sleep ns time; s64 asked; errno error; str by
time.sleep 7 7 1s @0x40 10000000 10000000 0 usleep
repeat 12 time.sleep 7 7 +12ms @0x40 10000000 10000000 0 usleep
END
"$compose" groups-readers.ptl <<'END' || exit 99
trace pid=7
type lock.rwlock_held ns time; ptr lock
type lock.rwlock_write ns time; ptr lock; errno error; s32 owner
lock.rwlock_held 7 8 1s 3000000 0x1000
lock.rwlock_held 7 9 +2ms 3000000 0x1000
lock.rwlock_held 7 8 +2ms 3000000 0x1000
lock.rwlock_held 7 9 +2ms 3000000 0x1000
lock.rwlock_write 7 7 +1us 6500000 0x1000 0 0
END
changed rare.ptl bad.ptl 4097 XXXX || exit 99
"$posixtrace" dump --json --limit 1 rare.ptl bad.ptl >>"$tmp/dump" 2>/dev/null
print stat stat --json rare.ptl bad.ptl
print verify verify --json rare.ptl bad.ptl "$page"
rm rare.ptl bad.ptl
for log in *.ptl; do
	print_all "$log"
done
print dump dump --json --merge --clock-error 1s message-alpha.ptl message-beta.ptl

for section in dump stat verify latency diff why; do
	names $section
done
names "dump with fields" dump-fields
names "why with aggregate" why-aggregate
# Source lines need a program with debug information, and functions need libdw.
has_elfutils && without= || without='symbol stack.module stack.symbol'
# shellcheck disable=SC2086 # several words
check "dump prints the other members" is_seen dump dump source stack.source $without
check "dump --fields prints all members" is_seen "dump with fields" dump-fields
for section in verify latency diff; do
	check "$section prints all members" is_seen $section $section
done
# Only a recording has several logs: test_rotate.sh.
check "stat prints the other members" is_seen stat stat logs
# Only a real program fails.
check "why prints the other members" is_seen why why failures.at failures.at_end failures.at_ns failures.code \
	failures.failed_calls failures.failed_calls.at failures.failed_calls.at_ns failures.failed_calls.error \
	failures.failed_calls.error_name failures.failed_calls.event failures.failed_calls.function \
	failures.failed_calls.path failures.name failures.pid failures.signal
check "why --aggregate prints all members" is_seen "why with aggregate" why-aggregate
# Only these logs have holders, which are in a section of their own.
"$posixtrace" why --json groups-readers.ptl >"$tmp/holders" 2>/dev/null
check "why prints the holders of a lock" grep -q '"holders":\[{' "$tmp/holders"
names why holders
names symbols
# A file that is found is one of this system.
check "symbols prints the other members" is_seen symbols symbols found

# The comparison notices each kind of fault of the page.
# wrong TEXT SECTION SED: a page that sed has changed has a difference with this text.
wrong() {
	sed "$3" "$page" >"$tmp/changed.7"
	! json_page "$tmp/changed.7" "$2" "$tmp/$2" >"$tmp/differences" && grep -q -e "$1" "$tmp/differences"
}
check "a member that is missing in the page is noticed" \
	wrong '^stat\.host is not in the page$' stat '/^\.It Va host /d'
check "a missing member of an object in an array is noticed" \
	wrong '^latency\.series\.backwards is not in the page$' latency '/^\.It Va backwards /d'
check "a missing member of an object in several sections is noticed" \
	wrong '^verify\.ledger\.unread is not in the page$' verify '/^\.It Va unread /d'
check "a missing member of several in one entry is noticed" \
	wrong '^why\.answers\.tid is not in the page$' why 's/^\.It Va pid , tid /.It Va pid /'
check "a wrong type is reported" \
	wrong '^stat\.pid is not of the type digits' stat 's/^\(\.It Va pid Ta \)number/\1digits/'
check "a member that can be absent without a note is noticed" \
	wrong '^dump\.level is absent' dump '/^Absent: its schema has no @level/d'

# --- query and doctor

if has_command query; then
	"$posixtrace" query --json demo.ptl 'SELECT tid, labels, NULL AS unknown FROM events' >"$tmp/query"
	check "query --json is JSON with the columns of the statement" python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
assert rows and all(list(row) == ["tid", "labels", "unknown"] for row in rows), rows' "$tmp/query"
fi
print doctor doctor --json
names doctor

# --- a real recording, and processes that run

cd "$tmp" || exit 99
rm -f dump dump-fields stat verify latency diff symbols why why-aggregate
if can_attach; then
	"$posixtrace" record -q --stack -o real.ptl sh -c 'cat /nonexistent; exit 3' >/dev/null 2>&1
	print_all real.ptl
	for section in dump stat verify latency diff symbols why; do
		names $section
	done
	names "dump with fields" dump-fields
	json_page "$page" seen why why >unseen
	check "why prints why the program failed" lacks unseen '^failures'

	# A shell that starts a program when it gets a line.
	runs sh -c 'read line; ls / >&2; read line' >/dev/null 2>&1
	log=$tmp/a.ptl
	attach --inherit --json --rotate-time 1h
	go
	has_end() {
		"$posixtrace" snapshot -p "$target" -o now.ptl --force >/dev/null &&
			"$posixtrace" dump -e 'process.wait*' now.ptl | grep -q .
	}
	check "its program has ended" until_true has_end
	print list list --json
	print status status --json "$target"
	print snapshot snapshot --json -p "$target" -o "$tmp/now.ptl" --force --last 10m
	stop_target
	print recover recover --json "$target" -o "$tmp/now.ptl" --force
	kill -CONT "$target"
	exec 5>&-
	finish_attach 0
	cp out attach
	for section in list status recover snapshot attach; do
		names $section
	done
	for section in snapshot attach; do
		check "$section prints all members" is_seen $section $section
	done
	check "status prints all members" is_seen status status
else
	echo "no process can be traced here: only logs were tested"
fi
finish
