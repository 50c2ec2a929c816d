#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Trace buffers of ThreadX: the result equals the known content, and written ones can be read again.
. "${0%/*}/lib.sh"
needs_format tracex

python3 -c 'import json' 2>/dev/null || skip "no python3 to compare with"
samples=${top_srcdir:-${0%/*}/../..}/tests/samples/tracex
tracex() { python3 "${0%/*}/tracex.py" "$@"; }

# import FILE NAME [OPTION...]: to $tmp/NAME.jsonl
import() {
	file=$1 name=$2
	shift 2
	run 0 convert "$file" -o "$tmp/$name.jsonl" --force "$@"
}

for name in demo_filex demo_threadx derived_be_txlinux_wrapped txlinux_init_unwrapped txlinux_wrapped; do
	import "$samples/$name.trx" "$name"
	check "$name is what it is known to be" \
		tracex expected "$tmp/$name.jsonl" "$samples/$name.trx.expected.json"
done
for twin in derived_txlinux_wrapped.hex derived_txlinux_wrapped.srec derived_be_txlinux_wrapped.trx; do
	import "$samples/$twin" twin
	check "$twin has the events of txlinux_wrapped.trx" \
		tracex same "$tmp/twin.jsonl" "$tmp/txlinux_wrapped.jsonl"
done
od -An -v -tx1 "$samples/txlinux_wrapped.trx" >"$tmp/plain.txt"
import "$tmp/plain.txt" twin
check "hexadecimal text is read" tracex same "$tmp/twin.jsonl" "$tmp/txlinux_wrapped.jsonl"
tr 'A-F' 'a-f' <"$samples/derived_txlinux_wrapped.hex" | sed 's/\r*$/\r/; s/^\r$//; 20s/$/\n\r/' >"$tmp/low.hex"
import "$tmp/low.hex" twin
check "small letters, CR LF and blank lines are read" \
	tracex same "$tmp/twin.jsonl" "$tmp/txlinux_wrapped.jsonl"

# Facts that follow from entries; the entries themselves are the same.
run 0 convert --spans "$samples/txlinux_wrapped.trx" -o "$tmp/spans.jsonl" --force
check "threads run and mutexes are held as the entries say" tracex spans "$tmp/spans.jsonl"
grep -v -E '^\{"(type|event)":"tracex_(running|mutex_held)"' "$tmp/spans.jsonl" >"$tmp/entries.jsonl"
check "the rest is as it is without that" cmp "$tmp/entries.jsonl" "$tmp/txlinux_wrapped.jsonl"
run 0 convert --spans "$samples/txlinux_wrapped.trx" -o "$tmp/spans.log" --to log --force
run 0 latency "$tmp/spans.log"
check "latency knows how long threads ran" has out ' tracex_running$'
check "latency has the holds of each mutex" has out ' 0x8552be60'
run 0 convert "$tmp/spans.log" -o "$tmp/spans.trx" --to tracex --force
check "a conversion back omits the spans" tracex parts "$tmp/spans.trx" "$samples/txlinux_wrapped.trx"

# Export writes back the data that import keeps.
for name in demo_filex demo_threadx txlinux_init_unwrapped txlinux_wrapped; do
	run 0 convert "$samples/$name.trx" --to tracex -o "$tmp/$name.trx" --force
	check "$name is put back byte for byte" tracex parts "$tmp/$name.trx" "$samples/$name.trx"
	import "$tmp/$name.trx" again
	check "$name has the same events again" tracex same "$tmp/again.jsonl" "$tmp/$name.jsonl"
done
for name in demo_filex demo_threadx txlinux_init_unwrapped txlinux_wrapped; do
	run 0 convert "$samples/$name.trx" -o "$tmp/there.log" --to log --force
	run 0 convert "$tmp/there.log" -o "$tmp/back.trx" --force
	check "$name is the same by way of a log" cmp "$tmp/back.trx" "$tmp/$name.trx"
done
run 0 dump "$tmp/there.log"
check "a log of it says what pointers are called" \
	has out 'tx_mutex_get context=thread:0x8552c4b8 "locker A" .* owning_thread=thread:0x8552c4b8 "locker A"'
check "values have their names" has out 'new_state=mutex '
run 0 convert "$samples/derived_be_txlinux_wrapped.trx" -o "$tmp/be.trx"
check "big endian becomes little endian" cmp -s "$tmp/be.trx" "$tmp/txlinux_wrapped.trx"

# made CASE STATUS: the dump with that fault; the message has its code.
made() {
	check "$1 can be made" tracex make "$1" "$samples/${3:-txlinux_wrapped}.trx" "$tmp/made.trx"
	run "$2" convert --from tracex "$tmp/made.trx" -o "$tmp/made.jsonl" --force
	check "$1 is reported" has err "made.trx:.* ${1%%-*}: "
}
made T01 1
made T02 1
made T02-tiny 1
made T02-width 1
made T03 1
made T04 0
made T05 1
made T05-long 1
made T05-warn 0 demo_threadx
made T06 1
made T06-empty 1
made T07 0
made T08 0
check "the parts are then taken one after the other" test "$(grep -c '^{"event"' "$tmp/made.jsonl")" -eq \
	"$(grep -c '^{"event"' "$tmp/txlinux_wrapped.jsonl")"
made T08-refused 1
made T09 1
made T09-buffer 1
made T10 1
made T10-entry 1
made T11 3
made T11-refused 1
made T12 0
made T12-odd 0
made T13 0
made T14 0
made T15 0
check "an unknown event is kept" has made.jsonl '"event":"tx_event_190"'
made T15-zero 0
made T15-invalid 0
check "an invalid one is not" test "$(grep -c '^{"event"' "$tmp/made.jsonl")" -eq \
	"$(($(grep -c '^{"event"' "$tmp/txlinux_wrapped.jsonl") - 1))"
made T18-type 0
made T18-available 0
made T18-name 0
made T18-twice 0
check "T19 can be made" tracex make T19 "$samples/txlinux_wrapped.trx" "$tmp/made.trx"
run 0 convert "$tmp/made.trx" -o "$tmp/made.jsonl" --force
check "T19: a thread that no slot has is one nevertheless" \
	test "$(grep -c '"thread":"0x12345678"' "$tmp/made.jsonl")" -eq 1
check "T19: no message is printed" lacks err T19
made T20 0
check "without a mask all times are one" lacks made.jsonl '"ns":"[1-9]'
made T20-odd 0
made T21 0
made T21-part 0
check "a second dump is offered" has err 'part=2'
import "$tmp/made.trx" part2 --part 2
check "the second dump is read" has part2.jsonl '"event":"tracex_user_5555"'
run 1 convert "$tmp/made.trx" --to jsonl --part 3
check "there is no third" has err 'T21: .*no part 3'

sed '30s/.$/x/' "$samples/derived_txlinux_wrapped.hex" >"$tmp/bad.hex"
run 1 convert "$tmp/bad.hex" --to jsonl
check "T16: the line of a bad digit" has err 'T16: line 30: not a hex'
sed '30s/^\(.\{12\}\)../\1EE/' "$samples/derived_txlinux_wrapped.srec" >"$tmp/bad.srec"
run 1 convert "$tmp/bad.srec" --to jsonl
check "T16: the line of a wrong checksum" has err 'T16: line 30: wrong checksum'
sed '30s/..\r*$//' "$samples/derived_txlinux_wrapped.srec" >"$tmp/bad.srec"
run 1 convert "$tmp/bad.srec" --to jsonl
check "T16: the line of a wrong count" has err 'T16: line 30: the count'
printf ':0100000000FF\n:020000047FFF7C\n:0100000000FF\n:00000001FF\n' >"$tmp/far.hex"
run 1 convert "$tmp/far.hex" --to jsonl
check "T16: bytes too far apart" has err 'T16: .*span'
grep -v '^:00000001' "$samples/derived_txlinux_wrapped.hex" >"$tmp/open.hex"
run 3 convert "$tmp/open.hex" -o "$tmp/open.jsonl"
check "T17: no end record" has err 'T17: no end'
sed 90d "$samples/derived_txlinux_wrapped.hex" >"$tmp/hole.hex"
run 0 convert "$tmp/hole.hex" -o "$tmp/hole.jsonl"
check "a hole is reported" has err 'in no record'

for wide in wide wide-big; do
	check "$wide can be made" tracex make $wide "$samples/txlinux_init_unwrapped.trx" "$tmp/wide.trx"
	import "$tmp/wide.trx" wide
	check "$wide: the same events" tracex narrow "$tmp/wide.jsonl" "$tmp/txlinux_init_unwrapped.jsonl"
done
check "one slot can be made" tracex make one "$samples/txlinux_init_unwrapped.trx" "$tmp/one.trx"
import "$tmp/one.trx" one --no-meta
check "a buffer of one slot has one event" test "$(grep -c '^{"event"' "$tmp/one.jsonl")" -eq 1
tracex make no-registry "$samples/txlinux_wrapped.trx" "$tmp/none.trx"
import "$tmp/none.trx" none --no-meta
check "a registry of no slots is read" test "$(grep -c '^{"event"' "$tmp/none.jsonl")" -eq 492

tracex make never-used "$samples/txlinux_wrapped.trx" "$tmp/never.trx"
import "$tmp/never.trx" never --no-meta
check "a buffer that was never used has no events" lacks never.jsonl '^{"event"'
tracex make smp "$samples/txlinux_wrapped.trx" "$tmp/smp.trx"
import "$tmp/smp.trx" smp --no-meta
check "an event of another processor" has smp.jsonl '^{"event":"t[^"]*",.*"cpu":7'
tracex make legacy "$samples/txlinux_wrapped.trx" "$tmp/legacy.trx"
import "$tmp/legacy.trx" legacy --no-meta
check "without USB, 1030 is a user event" has legacy.jsonl '"event":"tracex_user_1030"'
tracex make usb "$samples/txlinux_wrapped.trx" "$tmp/usb.trx"
import "$tmp/usb.trx" usb --no-meta
check "with USB it is USBX's" has usb.jsonl '"event":"ux_dc_ccid_auto_seq_start"'
import "$tmp/usb.trx" usb --no-meta --tracex-user-ids 1025
check "unless one says so" has usb.jsonl '"event":"tracex_user_1030"'
check "pointers are fields that objects are looked up by" \
	has txlinux_wrapped.jsonl '"type":"tx_mutex_get".*ptr32 context;.*ptr32 mutex_ptr;u32 wait_option{'

# Times by options.
import "$samples/txlinux_wrapped.trx" timed --tick-hz 1000 --start 2001-09-09T01:46:40Z --no-meta
check "ticks of 1 ms" has timed.jsonl '"ns":"1000000000180000000"'
check "no events of the file's own" lacks timed.jsonl tracex_header
run 2 convert "$samples/txlinux_wrapped.trx" --to jsonl --tick-hz 5 --tick-ns 5
import "$samples/txlinux_wrapped.trx" modulus --tick-modulus 1000000000
check "a modulus that is not met changes nothing" \
	tracex same "$tmp/modulus.jsonl" "$tmp/txlinux_wrapped.jsonl"

# Names from a side file.
printf 'Start\n4097, ping, P, (1,2,3), (4,5,6), number, I2, I3, I4\nEnd\n' >"$tmp/names"
import "$samples/txlinux_wrapped.trx" named --tracex-names "$tmp/names"
check "a name by the side file" has named.jsonl '"event":"ping"'
check "with labels as fields" has named.jsonl '"type":"ping".*u32 number;'
printf 'Start\n4097, ping, P, (1,2,3)\nEnd\n' >"$tmp/names"
run 1 convert "$samples/txlinux_wrapped.trx" --to jsonl --tracex-names "$tmp/names"
check "a bad side file is reported" has err 'names:2: '

# A log of ours, converted and back.
for kind in plain evil; do
	"$make_log" $kind "$tmp/$kind.log" 2000 >/dev/null || exit 99
	run 0 convert "$tmp/$kind.log" -o "$tmp/$kind.trx"
	check "$kind: a side file with the names begins" test "$(head -n 1 "$tmp/$kind.trx.trxc")" = Start
	check "$kind: a side file with the names ends" test "$(tail -n 1 "$tmp/$kind.trx.trxc")" = End
	import "$tmp/$kind.trx" $kind --tracex-names "$tmp/$kind.trx.trxc"
done
run 0 convert "$tmp/plain.log" -o "$tmp/log.jsonl"
check "plain: events, times, threads and data come back" \
	tracex back "$tmp/log.jsonl" "$tmp/plain.jsonl"
run 0 convert "$tmp/plain.log" -o "$tmp/len.trx" --tracex-fields len
import "$tmp/len.trx" len
check "with the lengths of the data" tracex lens "$tmp/log.jsonl" "$tmp/len.jsonl"
run 2 convert "$tmp/plain.log" -o "$tmp/len2.trx" --tracex-fields nonsense
finish
