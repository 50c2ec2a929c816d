#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace convert --to otlp: otlp.py, which shares no code with the writer, reads the JSON and the
# protobuf, compares them, and checks what OTLP requires: identifiers, parents, unique keys, times.
. "${0%/*}/lib.sh"

here=${0%/*}
command -v python3 >/dev/null || skip "no python3"
compose=${make_log%/*}/compose
otlp() { python3 "$here/otlp.py" "$@"; }

# convert_to FOLDER ARGUMENT...
convert_to() {
	rm -rf "$tmp/$1"
	folder=$1
	shift
	"$posixtrace" convert "$@" --to otlp -o "$tmp/$folder" >"$tmp/out" 2>"$tmp/err"
}

# sound NAME ARGUMENT...: both encodings of this conversion are equal and valid.
sound() {
	name=$1
	shift
	convert_to sound "$@"
	check "$name: JSON and protobuf are equal and valid" worked out otlp compare "$tmp/sound"
}

# ---- the golden logs, damaged ones, hostile ones, other sources
mkdir "$tmp/logs"
for text in "$here"/golden/logs/*.events; do
	name=${text##*/}
	log=$tmp/logs/${name%.events}.ptl
	"$compose" "$log" <"$text" || exit 99
	sound "${name%.events}" "$log"
done
sound "two logs" "$tmp/logs/message-alpha.ptl" "$tmp/logs/message-beta.ptl"
head -c 9000 "$tmp/logs/spans.ptl" >"$tmp/cut.ptl"
sound "a log without its end" "$tmp/cut.ptl"
"$make_log" evil "$tmp/evil.log" >/dev/null || exit 99
sound "hostile names and data" "$tmp/evil.log"
"$posixtrace" convert "$tmp/logs/demo.ptl" --to evt >"$tmp/demo.evt" || exit 99
sound "a source that is no log" "$tmp/demo.evt"
"$posixtrace" convert - --to otlp -o "$tmp/piped" <"$tmp/logs/spans.ptl" >/dev/null 2>"$tmp/err"
check "a pipe: the same as a file" worked out otlp compare "$tmp/piped"

# ---- parents: spans of one thread that nest, by durations and by pairs, ends before their parents'
"$compose" "$tmp/nested.ptl" <<'END' || exit 99
type outer_begin
type outer_end
type call ns time; errno error
type mark u32 n; @level 2
mark 1 7 +1us 1
outer_begin 1 7 +10us
call 1 7 +10us 1000 0
mark 1 7 +1us 2
mark 1 8 +1us 3
call 1 7 +1us 5000 2
outer_end 1 7 +10us
END
convert_to nested "$tmp/nested.ptl"
otlp show "$tmp/nested" >"$tmp/shown"
check "a call inside a call is its child" has shown "^    T1 S[0-9]* R1 'call' .*+1000:"
check "a call is a child of the pair around it" has shown "^  T1 S[0-9]* R1 'call' .*+5000 status"
check "the pair is the root" has shown "^T1 S1 R1 'outer'"
check "the error has its name" has shown 'status={"message": "ENOENT", "code": 2}.*error.type="ENOENT"'
check "an event inside spans belongs to the innermost" has shown '^R1 mark .*in T1/S2: .*n=2'
check "an event outside of spans belongs to none" lacks shown '^R1 mark .*in .* n=1'
check "an event of another thread belongs to none" lacks shown '^R1 mark .*in .* n=3'
check "the severity is that of the level" has shown 'mark .*severityNumber=17 severityText=error'

# ---- identifiers: the same again, also of a selection and of a copy; never twice
convert_to again "$tmp/nested.ptl"
check "two conversions are equal" diff -r "$tmp/nested" "$tmp/again"
convert_to chosen "$tmp/nested.ptl" -e call
otlp ids "$tmp/nested" | sort >"$tmp/all"
otlp ids "$tmp/chosen" | cut -d ' ' -f 2- | sort >"$tmp/few"
cut -d ' ' -f 2- "$tmp/all" | sort >"$tmp/spans"
check "the spans of a selection have the same identifiers" test \
	"$(comm -12 "$tmp/spans" "$tmp/few" | wc -l)" -eq 2 -a "$(wc -l <"$tmp/few")" -eq 2
{ echo 'type call ns time'; yes 'call 1 7 1000 0' | head -n 3000; } | "$compose" "$tmp/equal.ptl" || exit 99
sound "3000 spans with one name and time" "$tmp/equal.ptl"
check "all have identifiers of their own" test "$(otlp ids "$tmp/sound" | sort -u | wc -l)" -eq 3000

# ---- identifiers from fields
"$compose" "$tmp/ids.ptl" <<'END' || exit 99
type req_begin str trace_id
type req_end
type in_begin str traceparent
type in_end
type own_begin x64 trace_id; x64 span_id; x64 parent_span_id
type own_end
type call ns time
type note str traceparent
type said str trace_id
req_begin 1 7 +1us 4bf92f3577b34da6a3ce929d0e0e4736
call 1 7 +10us 1000
said 1 7 +1us 0af7651916cd43dd8448eb211c80319c
req_end 1 7 +1us
in_begin 1 8 +1us 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
in_begin 1 8 +1us 00-0af7651916cd43dd8448eb211c80319c-c7ad6b7169203331-01
call 1 8 +10us 1000
in_end 1 8 +1us
in_end 1 8 +1us
own_begin 1 9 +1us 0xabc 0xdef 0x123
req_begin 1 9 +1us 4bf92f3577b34da6a3ce929d0e0e4736
req_end 1 9 +1us
own_end 1 9 +1us
note 1 9 +1us 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
req_begin 1 10 +1us 00000000000000000000000000000000
req_end 1 10 +1us
req_begin 1 10 +1us not-hexadecimal-not-hexadecimal!
req_end 1 10 +1us
in_begin 1 10 +1us ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
in_end 1 10 +1us
END
sound "identifiers from fields" "$tmp/ids.ptl"
otlp ids "$tmp/sound" >"$tmp/found"
otlp show "$tmp/sound" >"$tmp/shown"
check "a span has the trace of its field" has found '^4bf92f3577b34da6a3ce929d0e0e4736 .* req '
check "a span inside has it too" has found '^4bf92f3577b34da6a3ce929d0e0e4736 .* call '
check "a span with a traceparent has its trace" test "$(grep -c '^0af7651916cd43dd8448eb211c80319c .* in ' "$tmp/found")" -eq 2
check "its parent is the remote span" has shown "^T[0-9]* S[0-9]* R1 'in' .* parent=b7ad6b7169203331 flags=769"
check "the span around it has precedence over the remote span" has shown "^  T[0-9]* S[0-9]* R1 'in' .* flags=257"
check "numbers are identifiers too" has found '^00000000000000000000000000000abc 0000000000000def own '
check "with the parent" has shown "'own' .* parent=0000000000000123"
check "a span of another trace is linked, not a child" has shown "^T[0-9]* S[0-9]* R1 'req' .* link=T"
check "invalid identifiers are not used" test "$(cut -d ' ' -f 1 "$tmp/found" | sort -u | wc -l)" -eq 6
check "an event has the context of its field" grep -q \
	'"flags":1,"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","eventName":"note"' \
	"$tmp/sound/logs.jsonl"

# ---- the current context in every event: the same identifiers in spans that nest
"$compose" "$tmp/current.ptl" <<'END' || exit 99
type req_begin x64 trace_id; x64 span_id; x64 parent_span_id
type req_end
type mid_begin u32 n
type mid_end
type call ns time; x64 trace_id; x64 span_id; x64 parent_span_id
type loop ns time; x64 span_id; x64 parent_span_id
req_begin 1 7 +10us 0xa 0xb 0xc
call 1 7 +10us 1000 0xa 0xb 0xc
mid_begin 1 7 +10us 1
call 1 7 +10us 2000 0xa 0xb 0xc
mid_end 1 7 +10us
call 1 8 +10us 3000 0xa 0xb 0xc
req_end 1 7 +10us
loop 1 9 +10us 100 0x5 0x5
END
sound "the current context in every event" "$tmp/current.ptl"
otlp show "$tmp/sound" >"$tmp/shown"
check "the outermost span has the identifier" has shown "^T1 S1 R1 'req' .*parent=000000000000000c"
check "a call inside it is its child" has shown "^  T1 S[0-9]* R1 'call' .*+1000"
check "a call deeper inside is a child of the span around it" has shown "^    T1 S[0-9]* R1 'call' .*+2000"
check "a call of another thread at that time is its child" has shown "^  T1 S[0-9]* R1 'call' .*+3000"
check "only the outermost has the identifier" test "$(otlp ids "$tmp/sound" | grep -c ' 000000000000000b ')" -eq 1
check "no span is its own parent" lacks shown "'loop' .*parent=0"

# ---- calls that begin in the same nanosecond: the one that ends earlier is inside
"$compose" "$tmp/ties.ptl" <<'END' || exit 99
type inner ns time
type middle ns time
type outer ns time
type earlier ns time
earlier 1 7 1000 500
inner 1 7 2000 1000
middle 1 7 3000 2000
outer 1 7 4000 3000
inner 1 8 9000 1000
outer 1 8 9000 1000
END
sound "equal begins" "$tmp/ties.ptl"
otlp show "$tmp/sound" >"$tmp/shown"
check "the innermost of three is inside both" has shown "^    T[0-9]* S[0-9]* R1 'inner' .* 1000+1000"
check "the next is inside one" has shown "^  T[0-9]* S[0-9]* R1 'middle' .* 1000+2000"
check "the outermost is the root" has shown "^T[0-9]* S[0-9]* R1 'outer' .* 1000+3000"
check "a call that ended then is not inside" has shown "^T[0-9]* S[0-9]* R1 'earlier' "
check "no order is made up for equal ends" test "$(grep -c '^T.* 8000+1000' "$tmp/shown")" -eq 2

# ---- truncated and late events at both ends of a span
"$compose" "$tmp/flags.ptl" <<'END' || exit 99
type both_begin u32 x; u32 y; str truncated
type both_end u32 r; str truncated
both_begin 1 7 +1us @cut 1
both_end 1 7 +1us @cut @late 2
both_begin 1 7 +1us @late 1 2 a
both_end 1 7 +1us 3 b
END
sound "truncated ends of spans" "$tmp/flags.ptl"
otlp show "$tmp/sound" >"$tmp/shown"
check "the fields that both lack are counted" has shown "droppedAttributesCount=3: "
check "the begin is truncated" has shown ' posixtrace.truncated=true .*posixtrace.truncated.end=true'
check "the end is late" has shown 'dropped.* posixtrace.late.end=true'
check "a late begin is no late end" test "$(grep -c 'posixtrace.late=true' "$tmp/shown")" -eq 1
check "a field of that name is another attribute" has shown 'truncated="a" .*posixtrace.end.truncated="b"'

# ---- losses and the account
"$make_log" stopped "$tmp/full.log" 20000 >/dev/null || exit 99
convert_to full "$tmp/full.log"
otlp show "$tmp/full" >"$tmp/shown"
lost=$(sed -n 's/.* posixtrace.account.*account.lost=\([0-9]*\).*/\1/p' "$tmp/shown")
check "the account has losses" test "$lost" -gt 0
check "each loss is a warning with its cause and number" has shown \
	"posixtrace.lost .*severityNumber=13 .*lost.cause=\"stream full\" posixtrace.lost.count=$lost "
check "the account adds up" test "$(sed -n \
	's/.*account.called=\([0-9]*\) .*reported=\([0-9]*\) .*unread=\([0-9]*\) .*account.lost=\([0-9]*\).*/$((\1 - \2 - \3 - \4))/p' \
	"$tmp/shown" | head -n 1 | sed 's/^/echo /' | sh)" = 0

echo 'trace pid=5 host=first created=1000
type mark u32 n
mark 5 7 +1us 1' | "$compose" "$tmp/first.ptl" || exit 99
echo 'trace pid=6 host=second created=1000
type mark u32 n
mark 6 8 +1us 1
lost mark 4' | "$compose" "$tmp/second.ptl" || exit 99
sound "losses of the second of two logs" "$tmp/first.ptl" "$tmp/second.ptl"
otlp show "$tmp/sound" >"$tmp/shown"
check "the losses of all logs are those of no host" lacks shown "^R3: .*\(host\|log\)[.]"
check "the account has no host" has shown '^R3 posixtrace.account .*called=6 .*account.lost=4 '
check "each loss has no host" has shown '^R3 posixtrace.lost .*posixtrace.lost.count=4'
sound "the second log alone" "$tmp/second.ptl"
otlp show "$tmp/sound" >"$tmp/shown"
check "one log has the resource of its host" has shown '^R1: .*host.name="second"'
check "with the account" has shown '^R1 posixtrace.account .*account.lost=4 '

# ---- options and failures
convert_to json "$tmp/nested.ptl" --encoding=json
check "--encoding=json writes JSON alone" test "$(ls "$tmp/json" | tr '\n' ' ')" = "logs.jsonl traces.jsonl "
convert_to binary "$tmp/nested.ptl" --encoding=protobuf
check "--encoding=protobuf writes protobuf alone" test "$(ls "$tmp/binary" | tr '\n' ' ')" = "logs.binpb traces.binpb "
check "each as without the option" cmp "$tmp/binary/traces.binpb" "$tmp/nested/traces.binpb"
run 2 convert "$tmp/nested.ptl" --to otlp -o "$tmp/none" --encoding=xml
check "another encoding is refused" has err '--encoding xml: must be json or protobuf'
check "no folder is left" test ! -e "$tmp/none"
run 1 convert "$tmp/nested.ptl" --to otlp
check "a folder is needed" has err 'name the folder with -o'
run 0 convert "$tmp/nested.ptl" -o "$tmp/named.otlp"
check "the suffix selects the format" test -s "$tmp/named.otlp/traces.jsonl"
check "only the owner reads the events" test \
	"$(stat -c %a "$tmp/named.otlp" "$tmp/named.otlp/logs.binpb" | tr '\n' ' ')" = "700 600 "
{ echo 'type mark u64 a; u64 b'; yes 'mark 1 7 +1us 1 2' | head -n 50000; } | "$compose" "$tmp/many.ptl" || exit 99
(
	ulimit -f 64
	trap '' XFSZ
	"$posixtrace" convert "$tmp/many.ptl" --to otlp -o "$tmp/small" >"$tmp/out" 2>"$tmp/err"
)
check "a full disk fails" test $? -eq 1
check "a full disk leaves no folder" test ! -e "$tmp/small"
convert_to many "$tmp/many.ptl"
check "many events are several requests" test "$(wc -l <"$tmp/many/logs.jsonl")" -gt 40
finish
