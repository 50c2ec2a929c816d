#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# record --data: the first bytes that calls move are in their events, and nothing else is read.
. "${0%/*}/lib.sh"

POSIXTRACE_PRELOAD=$shim
export POSIXTRACE_PRELOAD
recorded() {
	wanted=$1
	shift
	run "$wanted" record -q --force -o "$log" "$@"
	"$decode" "$log" >"$tmp/events" 2>"$tmp/why"
	check "$*: every event is what its schema says" is_empty why
}

recorded 0 --data 8 -- "$probe" content
check "the event has the data of write()" shows ' io.write .* size=5 result=5 data=alpha$' 1
check "the event has only the bytes that read() stored" shows ' io.read .* size=400 result=5 data=alpha$' 1
check "only the first bytes" shows ' io.write .* result=300 data=xxxxxxxx$' 1
check "the limit applies to read(), too" shows ' io.read .* result=300 data=xxxxxxxx$' 1
check "several parts" shows ' io.writev .* result=17 data=onetwo-t$' 1
check "in which they arrived" shows ' io.readv .* result=17 data=onetwo-t$' 1
check "at an offset" shows ' io.pwrite .* offset=3 data=beta-at-$' 1
check "the data of pread() is recorded" shows ' io.pread .* offset=3 data=beta$' 1
check "a failed call has none" shows ' io.read .* fd=-1 error=9 size=5 result=-1$' 1
check "send" shows ' net.send .* data=delta$' 1
check "recv" shows ' net.recv .* result=5 flags=0x[0-9a-f]+ data=delta$' 1
check "sendmsg" shows ' net.sendmsg .* result=9 flags=0x[0-9a-f]+ address= data=gamma ra$' 1
check "recvmsg" shows ' net.recvmsg .* result=5 flags=0x[0-9a-f]+ address= data=gamma$' 1
check "recvfrom" shows ' net.recvfrom .* data= ray$' 1
check "sendto" shows ' net.sendto .* data=kappa$' 1
check "the first of several messages" shows ' net.sendmsg .* result=2 flags=0x[0-9a-f]+ address= data=gamma ra$' 1
check "memory that was not filled is not read" shows 'SECRET|SECRE' 0
check "unmapped memory is not recorded" shows ' io.write .* size=8 result=8' 500
run 0 dump -e io.read -e io.write "$log"
check "dump shows text" has out 'io.write .* result=5 data="alpha"$'
check "dump shows unprintable bytes as digits" has out 'io.read .* result=3 data=000102$'

recorded 0 -- "$probe" content
check "without the option there is none" shows ' data=' 0
recorded 0 --data 4K -- "$probe" content
check "up to 4 KiB are not cut" shows " io.write .* data=x{300}\$" 1
recorded 0 --data 8 -- "$probe" content-alone
check "also after the main thread has ended" shows ' io.write .* data=omega$' 1

# A filter that the program inherits kills it for the call that copies memory.
recorded 0 --data 8 -- "$probe" filter-exec copy "$probe" content
check "a program under an inherited filter is traced" shows ' io.write .* size=5 result=5' 2
check "without data" shows ' data=' 0
run 2 record --data 4097 -o "$log" true
check "more are refused" has err '--data 4097: at most 4096 bytes'
run 2 record --data x -o "$log" true
run 2 record --data 1 --trace=none -o "$log" true
run 2 attach --data 1 --trace=none -p $$ -o "$tmp/new"

# The number of bytes belongs to the process: a tracer that did not ask for data is warned.
mkfifo "$tmp/line"
LD_PRELOAD=$shim POSIXTRACE_TRACE=default,data=8 sh -c 'read -r line' <"$tmp/line" &
daemon=$!
exec 8>"$tmp/line" # opens when the daemon has it open
tries=600
until grep -q libposixtrace-preload "/proc/$daemon/maps" || test $tries -eq 0; do
	tries=$((tries - 1))
	sleep 0.05
done
for option in --trace=io --trace=none; do
	run 0 attach $option --duration 1ms -p $daemon -o "$tmp/warned${option#*=}"
	check "attach $option warns" has err "process $daemon: its events contain up to 8 bytes"
done
run 0 attach --data 8 --duration 1ms -p $daemon -o "$tmp/same"
check "not if it wants the same" test "$(grep -c 'bytes of the data' "$tmp/err")" -eq 0
exec 8>&-
wait $daemon

# A process that runs already.
if test "$(uname -m)" = x86_64 && command -v sleep >/dev/null; then
	mkfifo "$tmp/go"
	exec 9<>"$tmp/go"
	sh -c 'while read -r line; do echo "got $line"; test "$line" = end && break; done' <"$tmp/go" >"$tmp/said" &
	busy=$!
	"$posixtrace" attach --data 3 -p $busy -o "$tmp/attached" >"$tmp/out" 2>"$tmp/err" &
	tracer=$!
	tries=600
	until grep -q '"traced"\|.' "$tmp/attached" 2>/dev/null && "$posixtrace" list 2>/dev/null | grep -q attached; do
		tries=$((tries - 1))
		test $tries -gt 0 && kill -0 $tracer 2>/dev/null || break
		sleep 0.05
	done
	if kill -0 $tracer 2>/dev/null; then
		echo middle >&9
		until grep -q 'got middle' "$tmp/said"; do sleep 0.05; done
		echo end >&9
		wait $tracer
		run 0 dump -e io.write --fields field.data "$tmp/attached"
		check "an attached process has it too" has out '^"got"$'
	else
		echo "cannot attach here: $(cat "$tmp/err")"
		echo end >&9
	fi
	wait $busy
fi
finish
