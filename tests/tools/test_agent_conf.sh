#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The configuration of posixtrace agent: every fault has its file, line and reason.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"

conf=$tmp/a.conf
head="[agent]
folder = $tmp/store
[record one]
executable = /no/such/program"

# conf LINE...: the valid head with these lines behind it.
conf() {
	printf '%s\n' "$head" "$@" >"$conf"
}

# fault LINE TEXT: --check names the line and the reason, and nothing was made.
fault() {
	run 1 agent -c "$conf" --check
	check "line $1: $2" has err "^posixtrace: $conf:$1: $2"
	check "nothing is printed on standard output" is_empty out
	check "nothing is made" test ! -e "$tmp/store"
}

conf
run 0 agent -c "$conf" --check
check "a valid configuration is said to be valid" has out "^$conf: valid: 1 section \[record\], 0 \[trigger\]$"
check "its sections are shown" has out '^record one: 1048576 bytes for each process, inject no$'
check "--check reports that no process matches now" has out '^  no process now$'
check "--check reports that there is no trigger" has out '^  no trigger: '
check "no message" is_empty err
check "--check makes nothing" test ! -e "$tmp/store"

# A path that is not the path of a file here. --check prints nothing about a path that a process
# has, or that the user may not examine.
cp "$(command -v sleep)" "$tmp/program"
ln -s program "$tmp/link"
real=$(readlink -f "$tmp/program")
mkdir "$tmp/closed"
chmod 0 "$tmp/closed"
conf "executable = $tmp/link" "executable = $real" "executable = $tmp/none" "executable = $tmp/l*" \
	"executable = ${real%/*}//program" "executable = $real/none" "executable = $tmp/closed/none"
run 0 agent -c "$conf" --check
check "--check names the path behind a link" has out "^  executable $tmp/link: here this program has the path $real\$"
check "--check names a path with two slashes" has out "^  executable ${real%/*}//program: here this program has the path $real\$"
check "--check names a file that does not exist" has out "^  executable $tmp/none: no such file here\$"
check "--check names a file in a file" has out "^  executable $real/none: no such file here\$"
check "--check names no file that exists" lacks out "^  executable $real:"
check "--check names no pattern" lacks out "^  executable $tmp/l\*"
if test "$(id -u)" -ne 0; then
	check "--check says nothing about a path that cannot be examined" lacks out "^  executable $tmp/closed/"
fi
chmod 700 "$tmp/closed"
rmdir "$tmp/closed"
start "$tmp/program" 1000
sleeper=$pid
runs() { test "$(readlink "/proc/$sleeper/exe")" = "$real"; }
until_true runs
rm "$tmp/program" "$tmp/link"
conf "executable = $real"
run 0 agent -c "$conf" --check
check "--check shows the process of a removed program" has out "^  process $sleeper ("
check "--check says nothing about a path that a process has" lacks out "^  executable $real"
kill "$sleeper"
wait "$sleeper"
run 0 agent -c "$conf" --check
check "--check names the path when the process has ended" has out "^  executable $real: no such file here\$"

# Comments, blanks, quotes, and all keys.
cat >"$conf" <<END
# a comment
; another one

  [agent]
	folder=$tmp/store
interval = 500ms
quota = 10M
quota-full = refuse
expire = 7d
spool = no
textfile = /var/x.prom
listen = [::1]:9464
[ record "two" ]
executable = /usr/bin/*
executable = *
user = root
user = 12345
cgroup = /system.slice/*
unit = nginx
inject = yes
trace = io,net
event = io.*
event = u
exclude = io.read
size = 64K
compress = -1
budget = 0.5%
durations = yes
[trigger crash]
when = crash
record = t*
hold-off = none
[trigger slow]
when = span io.* > 1.5ms
[trigger errors]
when = errors * > 3 per 1m
[trigger rule]
when = rule order: every "a b" where "n > 1" is followed by end of the same n within 5ms
END
run 0 agent -c "$conf" --check
check "every key is known" is_empty err
check "the section has its values" has out '^record two: 65536 bytes for each process, inject yes, budget 0.5%$'
check "the trigger belongs to it" has out '^  trigger crash: crash$'
# The same without the end of the last line, and with line ends of other systems.
printf '%s\r\n' "[agent]" "folder = $tmp/store" "[record one]" >"$conf"
printf 'executable = /x' >>"$conf"
run 0 agent -c "$conf" --check

conf 'exekutable = /x'; fault 5 'exekutable: no such key in \[record\]; did you mean executable?'
conf 'when = crash'; fault 5 'when is a key of \[trigger\], but this section is \[record\]'
conf 'inject'; fault 5 'inject: expected key = value$'
conf 'inject ='; fault 5 'inject: the value is missing$'
conf 'inject = maybe'; fault 5 'inject maybe: must be yes or no$'
conf 'inject = no' 'inject = yes'; fault 6 'inject: line 5 has this key already$'
conf 'executable = server'; fault 5 'executable server: expected a pattern for the whole path'
conf 'cgroup = system.slice'; fault 5 'cgroup system.slice: expected a pattern for the whole path'
conf 'unit = a/b'; fault 5 'unit a/b: a unit has no / in its name'
conf 'user = nobody-of-this-name'; fault 5 'user nobody-of-this-name: there is no such user$'
conf 'user = 99999999999999999999'; fault 5 'user 9*: there is no such user$'
conf 'user = -1'; fault 5 'user -1: there is no such user$'
conf 'size = 0'; fault 5 'size 0: not a size'
conf 'size = 4T'; fault 5 'size 4T: not a size'
conf 'trace = io,nothing'; fault 5 'trace io,nothing: no such family'
conf '[record one]'; fault 5 '\[record one\]: line 3 has a section of this name already$'
conf '[record]'; fault 5 '\[record\] needs a name'
conf '[record a/b]'; fault 5 '\[record a/b\]: a name has letters'
conf '[record ../x]'; fault 5 '\[record ../x\]: a name has letters'
conf "[record $(printf '%040d' 1)]"; fault 5 '\[record 0*1\]: a name has letters'
conf '[records x]'; fault 5 '\[records\]: no such section'
conf '[record x'; fault 5 '\[record x: there is no \] at the end$'
conf '[record x]'; fault 5 '\[record x\] has none of executable, user, cgroup and unit'
conf '[agent]'; fault 5 '\[agent\]: line 1 has this section already$'
conf '[agent x]'; fault 5 '\[agent x\]: expected \[agent\], which has no name$'
conf '[trigger t]'; fault 5 '\[trigger t\] has no key when$'
conf '[trigger t]' 'when = never'; fault 6 'when never: expected crash'
conf '[trigger t]' 'when = span x'; fault 6 'when span x: expected crash'
conf '[trigger t]' 'when = span x > 5 bananas'; fault 6 'when span x > 5 bananas: expected crash'
conf '[trigger t]' 'when = span x > fast'; fault 6 'when fast: not a time'
conf '[trigger t]' 'when = errors x > 0 per 1s'; fault 6 'when errors x > 0 per 1s: the number must be 1 to'
conf '[trigger t]' 'when = errors x > -1 per 1s'; fault 6 'when errors x > -1 per 1s: the number must be 1 to'
conf '[trigger t]' 'when = errors x > 99999999 per 1s'; fault 6 'when errors x > 99999999 per 1s: the number'
conf '[trigger t]' 'when = errors x > 3 per always'; fault 6 'when always: not a time'
# rule LINE TEXT: as fault, for a message with a column.
rule() {
	run 1 agent -c "$conf" --check
	check "line $1: $2" has err "^$conf:$1:$2"
	check "nothing is made" test ! -e "$tmp/store"
}
conf '[trigger t]' 'when = every'; fault 6 'when every: expected crash'
conf '[trigger t]' 'when = every day now'; fault 6 'when every day now: expected crash'
conf '[trigger t]' 'when = every day'; fault 6 'when day: not a time'
conf '[trigger t]' 'when = every 999ms'; fault 6 'when every 999ms: the time must be 1s to 36500d'
# With a time near the greatest number, the time of the next log does not fit into 64 bits.
conf '[trigger t]' 'when = every 106751d'; fault 6 'when every 106751d: the time must be 1s to 36500d'
conf '[trigger t]' 'when = rule'; fault 6 'when rule: expected crash'
conf '[trigger t]' 'when = rule # nothing'; rule 6 '1: error: expected every, never, count or rate, found the end'
conf '[trigger t]' 'when = rule always x'; rule 6 '1: error: expected every, never, count or rate, found "always"'
conf '[trigger t]' 'when = rule never x where "n >"'; run 1 agent -c "$conf" --check
check "a wrong expression has its place" has err "^posixtrace: $conf:6:[0-9]*: error: "
conf '[trigger t]' 'when = rule never x y'; rule 6 '9: error: expected the end of the line, found "y"'
conf 'budget = 0'; fault 5 'budget 0: not a share of the processor time'
conf 'budget = much'; fault 5 'budget much: not a share of the processor time'
conf '[trigger t]' 'when = rule count x <= 3'; fault 6 'when rule count x <= 3: the result of "count" is known only'
conf '[trigger t]' 'when = rule every x is followed by y'; fault 6 'when rule every .*: without "within" the result'
conf '[trigger t]' 'when = rule never x where "event.tid == 3"'; fault 6 'when rule never .*: event.tid is not known'
conf 'compress = 99'; fault 5 'compress=99: levels are 1 to 19, and -1 to -20$'
conf 'compress = fast'; fault 5 'compress=fast: levels are 1 to 19, and -1 to -20$'
conf 'durations = some'; fault 5 'durations some: must be yes or no'
conf '[trigger t]' 'when = crash' 'record = other*'; fault 5 '\[trigger t\]: its key record matches the name of no section'
conf '[trigger t]' 'when = crash' 'hold-off = soon'; fault 7 'hold-off soon: not a time'
conf '[trigger t]' 'when = crash' '[trigger t]'; fault 7 '\[trigger t\]: line 5 has a section of this name already$'
printf 'folder = /x\n' >"$conf"; fault 1 'folder = /x: no section, such as \[agent\], begins before'
printf '[agent]\n[record a]\nuser = root\n' >"$conf"; fault 1 'the section \[agent\] has no key folder$'
printf '[agent]\nfolder = /x\n' >"$conf"; fault 1 'there is no section \[record NAME\]'
for wrong in 'folder = x' 'interval = 1ms' 'quota = much' 'quota-full = ask' 'expire = 1y' 'spool = 2G' 'interval = -1' \
	'textfile = x.prom' 'textfile = /x' 'textfile = /.prom' 'listen = localhost:1' 'listen = :1' \
	'listen = 1.2.3.4:' 'listen = 1.2.3.4:65536' 'listen = 1.2.3.4:x' 'listen = [::1' 'listen = x'; do
	printf '%s\n' '[agent]' "$wrong" >"$conf"
	fault 2 "${wrong%% *}[: ]"
done
printf '[agent]\nlisten = %0200d:1\n' 1 >"$conf"; fault 2 'listen 0*1:1: expected ADDRESS:PORT in numbers'
printf '[agent]\nfolder = /x\0\n' >"$conf"; fault 2 'the line has a NUL$'
{ printf '[agent]\nfolder = /'; head -c 5000 /dev/zero | tr '\0' x; } >"$conf"
fault 2 'the line has more than 4096 bytes$'
: >"$conf"; fault 1 'the section \[agent\] with the key folder is missing$'

# All faults are printed.
conf 'inject = maybe' 'sise = 4' '[trigger t]' 'when = never'
run 1 agent -c "$conf" --check
check "every fault has a line" has_lines err 3

# Files that are none.
run 1 agent -c "$tmp/none.conf" --check
check "a missing file is named" has err "^posixtrace: $tmp/none.conf: No such file"
run 1 agent -c "$tmp" --check
check "a folder is named" has err "^posixtrace: $tmp: Is a directory$"
run 1 agent -c /dev/null --check
check "a device is no file" has err "^posixtrace: /dev/null: not a file$"
mkfifo "$tmp/fifo"
run 1 agent -c "$tmp/fifo" --check
check "a FIFO does not block" has err 'not a file$'
head -c 2000000 /dev/zero | tr '\0' '#' >"$conf"
run 1 agent -c "$conf" --check
check "a large file is refused" has err 'larger than 1048576 bytes$'

# The command line.
conf
run 2 agent -c "$conf" more
check "an argument is named" has err '^posixtrace: agent: more: unexpected argument; give the configuration after -c$'
run 2 agent -c "$conf" --check --status
check "one action only" has err 'only one of'
run 2 agent -c "$conf" --snapshot ''
run 1 agent -c "$conf" --status
check "no agent is said" has err "store: "
mkdir "$tmp/store"
run 1 agent -c "$conf" --status
check "no agent is said when the folder is there" has err "^posixtrace: $tmp/store: no agent uses this folder now; start one with 'posixtrace agent'$"
# The files for services.
src=$(cd "${top_srcdir:-${0%/*}/../..}" && pwd)
sed "s|^folder = .*|folder = $tmp/store|" "$src/examples/agent/agent.conf" >"$conf"
run 0 agent -c "$conf" --check
check "the example of a configuration is valid" has out ': valid: 1 section \[record\], 1 \[trigger\]$'
if command -v systemd-analyze >/dev/null; then
	# The program is not installed; the unit is checked with one that is.
	sed -e 's|/usr/bin/posixtrace |/bin/true |; /^Documentation=/d' \
		"$src/tools/debian/posixtrace.posixtrace-agent.service" >"$tmp/posixtrace-agent.service"
	systemd-analyze verify "$tmp/posixtrace-agent.service" >"$tmp/out" 2>&1
	got=$?
	check "systemd-analyze accepts the unit" test $got -eq 0
	check "systemd-analyze reports no fault of the unit" test -z "$(grep posixtrace "$tmp/out")"
fi
if command -v python3 >/dev/null; then
	python3 -c 'import json, sys
for panel in json.load(open(sys.argv[1]))["panels"]:
	for target in panel["targets"]:
		print(target["expr"])' "$src/examples/agent/posixtrace-agent.json" >"$tmp/expressions"
	check "the dashboard is JSON, and has expressions" test "$(lines expressions)" -ge 6
	grep -o 'posixtrace_[a-z_]*' "$tmp/expressions" | sed 's/_bucket$//' | sort -u >"$tmp/metrics"
	for each in $(cat "$tmp/metrics"); do
		check "the page has the metric $each of the dashboard" grep -q "$each" \
			"$src/tools/posixtrace/man/posixtrace-agent.1"
	done
fi
finish
