#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace agent: triggers on spans and errors, and metrics for Prometheus by file and by HTTP.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"
. "${0%/*}/agents.sh"

needs_shim
textfile=$tmp/metrics/agent.prom
mkdir "$tmp/metrics"

# value METRIC: the value of the line that begins so.
value() { sed -n "s/^$1 //p" "$textfile" 2>/dev/null | head -n 1; }
has_value() { test "$(value "$1")" = "$2"; }
is_at_least() { test "$(value "$1" | sed 's/[.e].*//')" -ge "$2"; }

# A shell of its own, so that no other process has its path. It opens a missing file for each line
# that it reads, in a call that fails at once; a line that comes late makes its read a long one.
cp -L "$(command -v dash || command -v sh)" "$tmp/shell"
start_shell() {
	rm -f "$tmp/lines"
	mkfifo "$tmp/lines" || exit 99
	# The redirection is that of a shell in the background: opening a FIFO waits for its writer.
	start sh -c 'exec env LD_PRELOAD="$0" POSIXTRACE_TRACE=io,file "$1" -c "$2" <"$3"' "$shim" "$tmp/shell" \
		'while read -r line; do { true </no/such/file; } 2>/dev/null; done' "$tmp/lines"
	target=$pid
	exec 5>"$tmp/lines"
}
line() { echo x >&5; }

write_conf "textfile = $textfile" 'listen = 127.0.0.1:0' '[record shell]' "executable = $tmp/shell" 'durations = yes' \
	'size = 8M' '[record none]' "executable = $tmp/other" \
	'[trigger slow]' 'when = span io.read > 200ms' 'hold-off = 1h' \
	'[trigger long]' 'when = span io.read > 1h' \
	'[trigger errors]' 'when = errors io.open > 3 per 1h' 'hold-off = 1h' \
	'[trigger never]' 'when = errors net.* > 1 per 1h' '[trigger end]' 'when = end'
umask 077
start_agent
umask 022
start_shell
until_true records "$target"
check "a process with the preloaded library is recorded" records "$target"
shared=$(sed -n 's/^RssShmem:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$agent/status")
check "its stream of 8 MB is not memory of the agent: $shared kB" test "$shared" -lt 3000

# Errors: three are allowed.
line; line; line
until_true is_at_least 'posixtrace_typed_events_total{record="shell",event="io.open"}' 3
check "three errors are not too many" has_logs errors 0
line
until_true has_logs errors 1
log=$(log_of errors)
check "the fourth one writes a log" reason_in "$log" 'errors io.open: more than 3 in 3600.0* s, the last one of io.open'
check "the log has the errors" test "$("$posixtrace" dump -e io.open --where 'error != 0' "$log" | wc -l)" -ge 4

# A long span: a read that waits for its line.
sleep 0.3
line
until_true has_logs slow 1
run 0 agent -c "$conf" --status
check "a long span fires its trigger" has out '^trigger slow: record shell: 1 written, '
check "the reason is in the agent's messages" said 'trigger slow: process [0-9]* (shell): span io.read took [0-9.]* s, more than 0.200000000 s$'
check "a span that does not exceed the limit of a trigger does not fire it" has_logs long 0
check "a trigger without its events does not fire" has_logs never 0

# The file.
until_true is_at_least 'posixtrace_span_duration_seconds_count{record="shell",span="io.open"}' 5
check "the sections have their processes" has_value 'posixtrace_processes{record="shell"}' 1
check "also those without one" has_value 'posixtrace_processes{record="none"}' 0
check "the events of a section are counted" is_at_least 'posixtrace_events_total{record="shell"}' 10
check "losses have their causes" has_value 'posixtrace_events_lost_total{record="shell",cause="stream full"}' 0
until_true has_value 'posixtrace_logs_written_total{record="shell",trigger="errors"}' 1
check "logs are counted" has_value 'posixtrace_logs_written_total{record="shell",trigger="errors"}' 1
check "spans have buckets" is_at_least 'posixtrace_span_duration_seconds_bucket{record="shell",span="io.open",le="+Inf"}' 5
check "every user reads the file" test "$(stat -c %a "$textfile")" = 644
check "nothing is left beside it" test "$(ls "$tmp/metrics")" = agent.prom
now=$(date +%s)
check "the file has its time" is_at_least posixtrace_agent_update_time_seconds $((now - 600))
if command -v promtool >/dev/null; then
	promtool check metrics <"$textfile" >"$tmp/lint" 2>&1
	got=$?
	check "promtool accepts the file" test $got -eq 0
	check "promtool has no advice" is_empty lint
fi

# HTTP.
url=$(sed -n 's,^posixtrace: metrics: \(http://127.0.0.1:[0-9]*/metrics\)$,\1,p' "$agent_err")
check "the address is printed" test -n "$url"
if command -v curl >/dev/null; then
	# The agent closes the connection of a slow client, and under load curl may be one.
	get() {
		for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			answer=$(curl -s --noproxy '*' -o "$tmp/body" -w '%{http_code} %{content_type}' "$@") && break
		done
		echo "$answer"
	}
	check "the metrics are answered" test "$(get "$url")" = '200 text/plain; version=0.0.4; charset=utf-8'
	check "they are those of the file" grep -q '^posixtrace_processes{record="shell"} 1$' "$tmp/body"
	check "another path is none" test "$(get "${url%metrics}" | cut -c 1-3)" = 404
	check "another method is refused" test "$(get -X POST "$url" | cut -c 1-3)" = 405
	check "a query is ignored" test "$(get "$url?x=1" | cut -c 1-3)" = 200
	if command -v promtool >/dev/null; then
		get "$url" >/dev/null
		check "promtool accepts the answer" sh -c 'promtool check metrics <"$0"' "$tmp/body"
	fi
fi
# A client that sends a byte from time to time does not keep the agent from its work.
if command -v python3 >/dev/null; then
	url_port=${url#http://127.0.0.1:}
	python3 -c 'import socket, sys, time
client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
client.settimeout(0.05)
for n in range(400):
	try:
		client.sendall(b"G")
		if not client.recv(1): break
	except socket.timeout: pass
	except OSError: break
else: sys.exit(1)' "${url_port%/metrics}"
	got=$?
	check "a slow client loses its connection" test $got -eq 0
fi
# Clients that send nothing, or a part of a request, neither delay nor prevent the answers to others.
if command -v python3 >/dev/null; then
	python3 - "${url_port%/metrics}" >"$tmp/clients" 2>&1 <<-'END'
		import socket
		import sys
		GET = b"GET /metrics HTTP/1.1\r\n"
		def connect(text=b""):
		    client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
		    client.settimeout(60)
		    client.sendall(text)
		    return client
		def answer(client):
		    data = b""
		    try:
		        while piece := client.recv(65536):
		            data += piece
		    except OSError:
		        pass
		    return data
		def is_whole(data):
		    return data.startswith(b"HTTP/1.1 200 OK\r\n") and b"posixtrace_processes{" in data
		def overtakes():
		    early, late = connect(GET), connect(GET + b"\r\n")
		    if not is_whole(answer(late)):
		        return False
		    try:
		        early.sendall(b"\r\n")
		    except OSError:
		        return False
		    return is_whole(answer(early))
		# A connection has five seconds, which may be too short under load: so there are several tries.
		print("overtaken:", any(overtakes() for n in range(20)))
		idle = [connect() for n in range(100)]
		print("beside 100:", any(is_whole(answer(connect(GET + b"\r\n"))) for n in range(20)))
		print("the oldest:", answer(idle[0]))
		for name, text in ("long head", GET + b"a: b\r\n" * 2000), ("body", b"POST / HTTP/1.1\r\n\r\n" + 5000 * b"x"):
		    for n in range(20):
		        first = answer(connect(text)).split(b"\r\n")[0].decode()
		        if first:
		            break
		    print(name + ":", first)
	END
	printf '%s\n' 'overtaken: True' 'beside 100: True' "the oldest: b''" \
		'long head: HTTP/1.1 431 Request Header Fields Too Large' 'body: HTTP/1.1 405 Method Not Allowed' >"$tmp/wanted"
	check "clients do not wait for each other" diff "$tmp/wanted" "$tmp/clients"
fi
check "nothing but the loopback address listens" test -z "$(ss -Hltnp 2>/dev/null | grep "pid=$agent," | grep -v '127\.0\.0\.1:')"

# Counts remain when a process ends and when the configuration is loaded again.
before=$(value 'posixtrace_events_total{record="shell"}')
exec 5>&-
until_true has_value 'posixtrace_processes{record="shell"}' 0
check "the end is a trigger" has_logs end 1
check "counts do not fall" is_at_least 'posixtrace_events_total{record="shell"}' "$before"
log=$(log_of end)
set -- $(account_of "$log")
check "the last count is that of the log" has_value 'posixtrace_events_total{record="shell"}' "$1"
sed -i "/^listen/d; /^durations/d; s|^textfile.*|textfile = $tmp/metrics/other.prom|" "$conf"
kill -HUP "$agent"
until_true said ': loaded$'
if command -v curl >/dev/null; then
	check "the port is closed by a reload" test "$(get "$url")" = '000 '
fi
check "a file that the configuration no longer has is removed" test ! -e "$textfile"
textfile=$tmp/metrics/other.prom
until_true test -e "$textfile"
check "the other one is written" test -e "$textfile"
end_agent TERM 0
check "the file is removed at the end" test ! -e "$textfile"
check "every log is sound" all_sound

# A span that is the last event of a process, which ends before its events are read.
rm -rf "$store"
cp "$tmp/shell" "$tmp/$(printf 'odd\033[2J')"
write_conf '[record odd]' "executable = $tmp/odd*" '[trigger slow]' 'when = span io.read > 50ms'
start_agent
rm "$tmp/lines"
mkfifo "$tmp/lines"
start sh -c 'exec env LD_PRELOAD="$0" POSIXTRACE_TRACE=io "$1" -c "read -r line; read -r line; kill -KILL \$\$" <"$2"' "$shim" \
	"$(echo "$tmp"/odd*)" "$tmp/lines"
target=$pid
exec 5>"$tmp/lines"
until_true records "$target"
run 0 agent -c "$conf" --status
check "the path of a program cannot harm the terminal" has out "^record odd: process $target ($tmp/odd.x1b.2J): "
# The first read began before the recording.
line
sleep 0.2
line
until_true is_grounded
exec 5>&-
check "the last span of a process fires its trigger" has_logs slow 1
check "with the reason" said 'trigger slow: process [0-9]* (.*): span io.read took '
end_agent TERM 0

# A trigger whose logs the quota refuses fires again and again: the reason is printed once.
rm -rf "$store"
textfile=$tmp/metrics/agent.prom
write_conf "textfile = $textfile" 'quota = 1' 'quota-full = refuse' '[record shell]' "executable = $tmp/shell" \
	'[trigger errors]' 'when = errors io.open > 1 per 1h' 'hold-off = none'
start_agent
start_shell
until_true records "$target"
has_failed() {
	line
	is_at_least 'posixtrace_logs_failed_total{record="shell",trigger="errors"}' 3
}
until_true has_failed
check "logs that are not written are counted" is_at_least 'posixtrace_logs_failed_total{record="shell",trigger="errors"}' 3
check "the reason is printed once" test "$(grep -c 'the quota of 1 bytes has no room' "$agent_err")" -eq 1
run 0 agent -c "$conf" --status
check "the status has their number" has out '^trigger errors: record shell: 0 written, 0 held off, [0-9]* not written; '
exec 5>&-
end_agent TERM 0

# A process with the injected library executes its own program again. The library passes itself on, so
# the recording continues.
executes() {
	rm -rf "$store" "$tmp/lines"
	mkfifo "$tmp/lines"
	start sh -c 'exec "$0" -c "read -r line; $2 exec \"\$0\" -c \"while read -r line; do :; done\"" "$0" <"$1"' \
		"$tmp/shell" "$tmp/lines" "$1"
	target=$pid
	exec 5>"$tmp/lines"
}
has_executed() { tr '\0' ' ' <"/proc/$target/cmdline" | grep -q ' -c while '; }
has_library() { has_executed && grep -q libposixtrace-preload "/proc/$target/maps"; }
executes ''
write_conf '[record shell]' "executable = $tmp/shell" 'inject = yes' 'trace = io'
# Where no process may trace another one, attach fails, too.
if "$posixtrace" attach -p "$target" -d 1ms --trace io --force -o "$tmp/can.ptl" >/dev/null 2>"$tmp/err"; then
	start_agent
	until_true records "$target"
	line
	until_true has_executed
	check "the executed program has the library" until_true has_library
	run 0 agent -c "$conf" --snapshot shell
	check "the recording continues" test "$(cat "$tmp/out")"
	end_agent TERM 0
	check "no program without the library was reported" lacks agent.err 'without the library'
fi
exec 5>&-

# The library does not copy a large environment, so the new program does not have it.
executes 'i=0; while test $i -lt 2500; do export V$i=; i=$((i + 1)); done;'
write_conf '[record shell]' "executable = $tmp/shell" 'inject = yes' 'trace = io'
# Where no process may trace another one, attach fails, too.
if "$posixtrace" attach -p "$target" -d 1ms --trace io --force -o "$tmp/can.ptl" >/dev/null 2>"$tmp/err"; then
	start_agent
	until_true records "$target"
	line
	until_true has_logs change 1
	check "the recording of the former program ends" reason_in "$(log_of change)" 'it executes a program without the library'
	until_true records "$target"
	check "the new one is recorded" grep -q libposixtrace-preload "/proc/$target/maps"
	end_agent TERM 0
fi
exec 5>&-
finish
