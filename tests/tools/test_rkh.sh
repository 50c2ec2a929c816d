#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The byte stream of RKH: frames, faults of frames, and events.
. "${0%/*}/lib.sh"
needs_format rkh

samples=${top_srcdir:-${0%/*}/../..}/tests/samples/rkh

# stream HEX...: the bytes into $tmp/s
stream() {
	printf "$(printf '%s' "$*" | tr -d ' \n' | sed 's/../\\x&/g' |
		awk '{ while (match($0, /\\x../)) { printf "\\%03o", hex(substr($0, RSTART + 2, 2)); $0 = substr($0, RSTART + 4) } }
		function hex(t) { return 16 * (index("0123456789abcdef", tolower(substr(t, 1, 1))) - 1) + index("0123456789abcdef", tolower(substr(t, 2, 1))) - 1 }')" >"$tmp/s"
}

# listing STATUS OPTION...: of $tmp/s
listing() {
	status=$1
	shift
	run "$status" convert --from rkh --to listing "$@" "$tmp/s"
}

# frame HEX...: a flag, the bytes and their checksum, stuffed, on standard output as hex
frame() {
	printf '%s\n' "$*" | awk 'function hex(t) { return 16 * (index("0123456789ABCDEF", substr(t, 1, 1)) - 1) + index("0123456789ABCDEF", substr(t, 2, 1)) - 1 }
		function put(b) { printf b == 125 || b == 126 ? " 7D %02X" : " %02X", b == 125 ? 93 : b == 126 ? 94 : b }
		{ for (i = 1; i <= NF; i++) { sum += hex($i); put(hex($i)) } put((256 - sum % 256) % 256); print " 7E" }'
}

for dir in "$samples"/0[1-6]*; do
	case $dir in
	*/05* | */06*) status=3 ;;
	*) status=0 ;;
	esac
	run "$status" convert --from rkh --to listing "$dir/stream.bin"
	check "${dir##*/} is listed as expected" cmp "$tmp/out" "$dir/expected.txt"
	run "$status" convert --from rkh --to listing - <"$dir/stream.bin"
	check "${dir##*/} also from a pipe" cmp "$tmp/out" "$dir/expected.txt"
	test -e "$dir/expected.evt" || continue
	run "$status" convert --from rkh --to evt "$dir/stream.bin"
	{ grep ^name "$tmp/out" | tr a-f A-F | sort
		grep ^evt "$tmp/out" | tr a-f A-F; } >"$tmp/is"
	tr a-f A-F <"$dir/expected.evt" >"$tmp/should"
	check "${dir##*/} becomes the expected events" cmp "$tmp/is" "$tmp/should"
done
run 0 convert "$samples/01-basic/stream.bin" --to evt
check "the contents identify a stream with its configuration" has out rkh.SMA.FIFO
run 0 convert "$samples/04-gap/stream.bin" --to evt
check "two good frames identify a stream without one" has out rkh.QUE.DPT
run 4 convert --fail-on-loss "$samples/04-gap/stream.bin" --to evt
check "a gap counts what is missing" has out '^# 2 events lost: overwritten$'
run 3 convert "$samples/05-damage-resync/stream.bin" --to evt
check "a missing frame that came damaged is counted so" has out '^# 1 event lost: damaged$'

# Each possible fault.
good="$(frame A0 05 01 00 00 00)"
next="$(frame A1 06 02 00 00 00)"
counts='= frames=2 good=2 checksum=0 short=0 abort=0 bad-escape=0 overlong=0 truncated=0 unknown=0 args=0 gaps=0 missing=0 duplicate=0 noise=0'
stream 7E $good 7E 7E $next
listing 0
check "flags between frames are idle time" has out "^$counts\$"
stream 7E $good 25 01 02 00 00 00 10 00 7D 7E $next
listing 3
check "a flag behind an escape aborts the frame" has out '^! off=9 abort len=8$'
check "the next frame is good" has out 'good=2 .* abort=1 '
stream 7E $good A0 7D 41 7E $next
listing 3
check "an escape of another byte is bad" has out '^! off=9 bad-escape len=2$'
check "an escaped escape is other byte too" has out ' bad-escape=1 '
stream 7E $good A0 7D 7D 7E $next
listing 3
check "an escape behind an escape aborts the frame" has out '^! off=9 bad-escape len=2$'
stream 7E $good A0 01 02 7E $next
listing 3
check "a frame without room for its head is short" has out '^! off=9 short len=3$'
stream 7E $good $(awk 'BEGIN { for (i = 0; i < 20; i++) printf "00 " }') 7E $next
listing 3 --max-frame 16
check "a frame that is too long is left out" has out '^! off=9 overlong len=16$'
check "the next flag begins a new frame" has out 'frames=3 good=2 .* overlong=1 '
stream 7E $good $good $next
listing 0
check "the same frame again is a duplicate" has out '^! off=9 duplicate seq=5$'
check "a duplicate is not counted as good" has out 'frames=3 good=2 .* duplicate=1 '
stream 7E $good $(frame A1 05 02 00 00 00)
listing 0
check "another with the same number is a gap" has out '^! off=9 gap expected=6 got=5 missing=255 damaged=0$'
stream 7E $(frame 1F 05 01 00 00 00 AA BB)
listing 0
check "an unknown id is kept with its bytes" has out '^F off=1 id=1F - seq=5 ts=1 raw=\[AA BB\]$'
check "unknown ids are counted" has out ' unknown=1 '
run 0 convert --from rkh --to evt "$tmp/s"
check "as an event too" has out '^name 0x41f "rkh.MP.31"$'
stream 7E $(frame 25 05 01 00 00 00 10 00)
listing 0
check "too few arguments stay bytes" has out '^F off=1 id=25 QUE.DPT seq=5 ts=1 raw=\[10 00\]$'
check "the message precedes the event" has out '^! off=1 args-short$'
stream 7E $(frame A0 05 01 00 00 00 22 0A)
listing 0
check "bytes that are left over are kept" has out '^F off=1 id=A0 FWK.EN seq=5 ts=1 raw=\[22 0A\]$'
check "their number is reported" has out '^! off=1 args-trailing bytes=2$'
stream 7E $(frame C3 05 01 00 00 00 31 07 0C 00 00 00 00 00 00 00 00)
listing 0
check "an argument of no type leaves the record raw" has out '^F off=1 id=C3 USR.3 seq=5 ts=1 raw=\[31 07 0C'
listing 0 --dialect ptx
check "our own dialect has more types" has out ' u8/3=7 i64=0$'
stream 7E $(frame A6 05 01 00 00 00 10 00 00 00 61)
listing 0
check "a string without its end is too short" has out '^! off=1 args-short$'
stream 00 01 02
listing 3
check "bytes without a flag are noise" has out '^! off=0 noise bytes=3$'
stream 7E $good A1 06 7D
listing 3
check "an end behind an escape is one within a frame" has out '^! off=9 truncated len=2$'
stream ''
listing 0
check "an empty stream has counts" has out '^= frames=0 good=0 '

# Configurations and names.
stream 7E $(frame A6 00 01 00 00 00 10 00 00 00 26 6F 22 5C 01 00) $(frame 25 01 02 00 00 00 10 00 00 00)
listing 0
check "a name is printed as it was received" has out ' obj=0x00000010 nm="&o\\"\\\\\\x01"$'
check "a name is used without its mark" has out ' q=0x00000010(o\\"\\\\\\x01)$'
stream 7E $(frame A6 00 01 00 00 00 10 00 00 00 61 00) $(frame AC 00 34 00 80 03 00 22 22 22 02 10 E8 03) $(frame 43 07 05 00 10 00 03 00 01 02 04 00)
listing 0
check "a configuration changes sizes, removes names and restarts" has out ' seq=7 ts=5 ao=0x0010 sig=3 pid=1 rc=2 nelem=4$'
check "without a gap" has out ' gaps=0 '
stream 7E A0 7E A0 05 00 7E 43 01 02 03 04 05 06 07 08 7E
listing 0 --cfg nseq=0,tstamp=0,chk=0,sender=0
check "an absent value is a dash" has out '^F off=1 id=A0 FWK.EN seq=- ts=-$'
listing 0 --cfg nseq=0,tstamp=0,chk=0,ptr=1,sender=1,lwmark=1
check "flags add arguments" has out ' ao=0x01 sig=2 snr=0x03 pid=4 rc=5 nelem=6 nmin=7 raw=\[08\]$'
for bad in sig=3 sig foo=1 chk=2 hz=; do
	run 2 convert --from rkh --to listing --cfg "$bad" "$tmp/s"
done
run 2 convert --from rkh --to listing --dialect qs "$tmp/s"
run 2 convert --from rkh --to listing --max-frame 3 "$tmp/s"
stream 7E $(frame 2B 00 78 00 00 00 10 00 00 00 61 00) $(frame 01 01 78 00 00 00 10 00 00 00 03) $(frame AC 02 00 00 00 00)
listing 0 --dialect rkh2
check "ids of the old dialect are flat" has out ' id=01 MP.GET seq=1 ts=120 mp=0x00000010(a) nfree=3$'
check "the old dialect has no configuration" has out ' id=AC - seq=2 '
# 200 + 256 ticks after ticks that decreased, at 100 Hz.
stream 7E $(frame AC 00 34 00 80 03 00 11 42 11 02 14 64 00) $(frame A0 00 FA) $(frame A0 01 0A)
run 0 convert --from rkh --to evt "$tmp/s"
check "ticks that go back went around" has out '^evt id=0x4a0 time=2.660000000 data=-$'

# Our own dialect.
run 0 convert "$samples/08-export/input.evt" -o "$tmp/o.rkh"
check "events are written as expected" cmp "$tmp/o.rkh" "$samples/08-export/expected.bin"
run 0 convert "$tmp/o.rkh" --to evt
check "the events can be read without the configuration" has_lines out 4
check "with their name" has out '^name 0x1000 "app.loop"$'
check "events have their context and data" has out '^evt id=0x1000 pid=7 tid=9 addr=0x401000 time=100.000001500 data=01020304$'
check "time has whole microseconds from the epoch on" has out ' time=100.002001500 data=-$'
run 0 convert "$tmp/o.rkh" --dialect rkh3 --to evt
check "another dialect takes it for user events" has out '"rkh.USR.app.loop"'
run 0 convert --no-context "$samples/08-export/input.evt" -o "$tmp/n.rkh"
run 0 convert "$tmp/n.rkh" --to evt
check "without a context there is none" has out '^evt id=0x1000 time=100.000001500 data=01020304$'
{
	awk 'BEGIN { for (i = 0; i < 40; i++) { printf "name 0x%x \"&type %d\"\n", 4096 + i, i
		printf "evt id=0x%x pid=%d tid=18446744073709551615 addr=0xffffffffffffffff time=%d.%09d trunc=%d data=", 4096 + i, i % 3 + 1, i * i * 97 % 5000, i * 1000, i % 2 + 1
		if (!i) printf "-"
		for (n = 0; n < i * 16; n++) printf "%02x", (n * 7 + 0x7d) % 256
		print "" } }'
	echo 'name 0x2000 "rkh.USR.items"'
	for data in 0701020300 30ff0763616c6c00 0801aa0802bbcc 31ff f102 -; do
		echo "evt id=0x2000 pid=1 time=-9223372036.854775000 data=$data"
	done
	echo 'evt id=0x1000 pid=1 time=9223372036.854775000 data=-'
} >"$tmp/many.evt"
run 0 convert "$tmp/many.evt" -o "$tmp/many.rkh"
run 0 convert "$tmp/many.rkh" --to evt
grep -a '^evt' "$tmp/many.evt" | sed 's/^evt id=[^ ]* //' >"$tmp/should"
grep -a '^evt' "$tmp/out" | sed 's/^evt id=[^ ]* //' >"$tmp/is"
check "any data, status, context and time comes back" cmp "$tmp/is" "$tmp/should"
grep -a '^name' "$tmp/many.evt" | sed 's/^name [^ ]* //' >"$tmp/should"
grep -a '^name' "$tmp/out" | sed 's/^name [^ ]* //' >"$tmp/is"
check "names of more types than there are ids can be read again" cmp "$tmp/is" "$tmp/should"
run 0 convert "$tmp/many.rkh" --to rkh --force -o "$tmp/again.rkh"
check "a second conversion gives the same stream" cmp "$tmp/many.rkh" "$tmp/again.rkh"
head -c 1200 /dev/zero | od -An -v -tx1 | tr -d ' \n' >"$tmp/zeros"
echo "evt id=0x10 time=1.0 data=$(cat "$tmp/zeros")" >"$tmp/big.evt"
run 0 convert --from evt "$tmp/big.evt" -o "$tmp/big.rkh"
check "a long frame is announced" has err '[-]-max-frame=1217 '
run 3 convert "$tmp/big.rkh" --to evt
run 0 convert --max-frame=1217 "$tmp/big.rkh" --to evt
check "a long frame is read with the announced limit" has out "data=$(cat "$tmp/zeros")\$"
for bad in 'DC 00 00 00 00 00 05 00 00 00 00' 'DD 00 00 00 00 00 05 01' 'DE 00 00 00 00 00 05 01 00 00 00' \
	'DF 00 00 00 00 00 07 00'; do
	stream 7E $(frame $bad)
	run 3 convert --from rkh --dialect ptx --to evt "$tmp/s"
	check "$bad is no record of ours" has err '1: record: '
done
# Filters: the events that a set bit admits, at three levels.
# passes IDS RULE...: of $tmp/s
passes() {
	ids=$1
	shift
	"$posixtrace" convert --from rkh --to listing "$@" "$tmp/s" >"$tmp/out" 2>"$tmp/err"
	check "$* passes $ids" test "$(sed -n 's/^F .* id=\([0-9A-F]*\) .*/\1/p' "$tmp/out" | tr '\n' ' ')" = "$ids "
}
stream 7E $(frame AE 00 01 00 00 00 10 00 00 00 61 00) $(frame A7 01 02 00 00 00 03 53 00) \
	$(frame 25 02 03 00 00 00 10 00 00 00) $(frame 42 03 04 00 00 00 10 00 00 00 03 00 00 00) \
	$(frame 42 04 05 00 00 00 20 00 00 00 04 00 00 00) $(frame 40 05 06 00 00 00 10 00 00 00 01 02) \
	$(frame 6A 06 07 00 00 00 20 00 00 00 FE) $(frame AB 07 08 00 00 00 02 75 00) \
	$(frame C2 08 09 00 00 00 01 07) $(frame 1F 09 0A 00 00 00)
passes 'AE A7 25 42 42 40 6A AB C2 1F' --filter 'pass all'
passes 'AE A7 AB' --filter 'drop all'
passes 'AE A7 AB' --filter 'pass SMA'
passes 'AE A7 42 42 40 AB' --filter 'pass SMA.*'
passes 'AE A7 42 42 AB' --filter 'pass SMA.GET'
passes 'AE A7 42 42 AB' --filter 'pass SMA.2'
passes 'AE A7 25 42 42 6A AB C2 1F' --filter 'drop SMA.ACT'
passes 'AE A7 25 6A AB C2 1F' --filter 'drop SMA'
passes 'AE A7 25 42 42 40 6A AB C2 1F' --filter 'drop SMA, pass SMA' --filter 'pass QUE.DPT'
passes 'AE A7 42 42 AB' --filter 'pass SMA.*, drop SMA.ACT'
passes 'AE A7 42 42 40 AB' --filter 'drop all, pass SMA.GET, pass SMA.*'
passes 'AE A7 25 42 42 40 AB' --filter 'pass all, drop SM.*, drop USR, drop MP'
passes 'AE A7 25 42 42 40 AB' --filter 'pass all' --filter 'drop SM' --filter 'drop USR.u, drop MP.31'
passes 'AE A7 25 42 40 AB C2 1F' --filter 'pass ao=a'
passes 'AE A7 25 42 40 AB C2 1F' --filter 'pass ao=0x10'
passes 'AE A7 25 42 6A AB C2 1F' --filter 'drop ao=a'
passes 'AE A7 25 42 40 6A AB C2 1F' --filter 'pass sig=S'
passes 'AE A7 25 42 40 6A AB C2 1F' --filter 'drop sig=4'
check "the completion signal always passes the third level" has out ' id=6A SM.EVT_NFOUND .* sig=254$'
passes 'AE A7 25 42 40 AB C2 1F' --filter 'drop sig=*, pass sig=3, drop ao=32'
passes 'AE A7 42 40 AB' --filter 'pass SMA.*, pass ao=16, pass sig=3'
passes 'AE A7 AB C2' --filter 'pass USR.u'
for bad in '' pass 'pass ' 'let all' 'pass  ' 'pass .x' 'pass SMA.' 'pass ao=' 'pass sig=' 'pass q=1' 'pass all,' 'passall'; do
	run 2 convert --from rkh --to listing --filter "$bad" "$tmp/s"
done
run 0 convert --from rkh --to evt --filter 'pass USR.*' "$tmp/s"
check "a record that does not pass the filter is no event" test "$(grep -c ^evt "$tmp/out")" -eq 4
run 0 convert "$tmp/many.rkh" --to evt --filter 'pass USR.items,pass USR.&type 3'
check "an own event that does not pass the filter is no event" test "$(grep -a -c ^evt "$tmp/out")" -eq 0
run 0 convert "$tmp/many.rkh" --to evt --filter 'pass USR.rkh.USR.items,pass USR.type 3'
check "own events that pass have their whole name" test "$(grep -a -c ^evt "$tmp/out")" -eq 7
awk 'BEGIN { for (i = 0; i < 33000; i++) printf "name 0x%x \"t%d\"\nevt id=0x%x time=1.0 data=-\n", 65536 + i, i, 65536 + i }' \
	>"$tmp/names.evt"
run 0 convert "$tmp/names.evt" -o "$tmp/names.rkh"
run 0 convert "$tmp/names.rkh" -o "$tmp/names2.evt"
check "names without room are reported" has err ' names: .*more names than'
check "the events of names without room are kept" test "$(grep -c ^evt "$tmp/names2.evt")" -eq 33000
run 1 convert "$samples/08-export/input.evt" --to listing
check "a format without a listing is reported" has err 'no listing'
finish
