#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Payloads of Event Tracing for Windows that the log itself or a public class of the kernel describes.
. "${0%/*}/lib.sh"
needs_format etw

python3 -c 'import json' 2>/dev/null || skip "no python3 to make logs with"
sample=${top_srcdir:-${0%/*}/../..}/tests/samples/etw/primitive-types.etl

# described CASE [OPTION...]: that log, imported to $tmp/CASE.ptl, its events in $tmp/out.
described() {
	case=$1
	shift
	check "$case can be made" python3 "${0%/*}/etw_described.py" "$case" "$sample" "$tmp/$case.etl"
	run 0 convert "$tmp/$case.etl" -o "$tmp/$case.ptl" --force "$@"
	cp "$tmp/err" "$tmp/$case.err"
	run 0 verify "$tmp/$case.ptl"
	run 0 dump -e 'etw.*' "$tmp/$case.ptl"
}

described kernel
check "a process start has its image and command line" \
	has out ' etw.process.start .*ProcessId=4711 .*ImageFileName="notepad.exe" CommandLine="notepad ü.txt" etw_type=start'
check "a sampled profile has its address" \
	has out ' etw.perfinfo.sampled_profile InstructionPointer=0x7ff612345678 ThreadId=77 Count=1 '
check "an interrupt" has out ' etw.perfinfo.isr .*Routine=0xfffff80000001000 ReturnValue=1 Vector=81 '
check "an image" has out ' etw.image.load .*FileName="\\\\Windows\\\\a.dll"'
check "addresses and ports" has out ' etw.tcpip.connect .*daddr="10.0.0.2" saddr="10.0.0.1" dport=443 sport=50000 '
check "a context switch" has out ' etw.thread.cswitch NewThreadId=10 OldThreadId=20 .*OldThreadWaitReason=-1 '
check "a stack of any depth" has out ' etw.stackwalk.stack .*Stack="\[0x1000 0x2000 0x3000\]"'
check "a payload that is too short stays bytes" has out ' etw.perfinfo.sampled_profile~[0-9a-f]* .*size=28 .* +7856'
check "the wrong payload is reported" has kernel.err 'E24: warning: the payload of an event "etw.perfinfo.sampled_profile"'
run 0 convert "$tmp/kernel.etl" --to listing
check "a listing has the fields" has out '^R .* etw.perfinfo.sampled_profile .* InstructionPointer=0x7ff612345678 .*cost='

described lives
run 0 latency "$tmp/lives.ptl" --json
for class in process thread image; do
	check "overlapping spans of the class $class are paired by what they are of" \
		has out "\"etw.$class\",\"kind\":\"span\",\"count\":2,[^}]*\"min_ns\":200000,[^}]*\"max_ns\":200000"
done
check "an event with neither START nor END is no span, whatever its name" \
	lacks out 'dc"\|syscall"\|kcb_rundown"'
run 0 convert "$tmp/lives.etl" --to listing
for class in process thread image; do
	check "a listing pairs the spans of the class $class" test \
		"$(grep -c "^S etw.$class .* took=0.000200000 " "$tmp/out")" -eq 2
done

described texts
check "bytes that are no UTF-8 are Latin-1, whatever form they imitate" \
	has out ' etw.Test-Provider.Bad ansi="<à\\xc2\\x80\\xc2\\x80><í.\\xc2\\x80><ô\\xc2\\x90\\xc2\\x80\\xc2\\x80><â\\xc2\\x82>" '
check "names are cut between characters" has out ' etw.Test-Provider.N*ü*~[0-9a-f]* '
check "the names of fields are cut between characters" has out ' etw.Test-Provider.Element s="\[{x*=1}\]" '
check "texts and names are UTF-8" iconv -f UTF-8 -t UTF-16 "$tmp/out" -o /dev/null
run 0 convert "$tmp/texts.ptl" --to jsonl
check "exactly, so that JSON has them as they are" lacks out '"exact":false'

described large
check "an event that decodes to more than a log takes is not cut" \
	has out ' etw.Test-Provider.Large~[0-9a-f]* .*size=64[0-9]* '
check "the wrong payload is reported" has large.err 'E26: warning: the payload of an event "etw.Test-Provider.Large"'
check "no event is cut" lacks large.err 'cut'
check "others of its type are decoded" has out ' etw.Test-Provider.Large s="\[{long_name_[^ ]*=1 other_name[^ ]*=1}\]" '
check "many elements of one byte are decoded" has out ' etw.Test-Provider.Small s="\[{a=1} {a=1} .* {a=1}\]" '

described maps
check "values have their first names" has out ' v="\[n2999 n0 n1 5000\]" '

described tracelogging
check "each type of TraceLogging, arrays and structs" has out ' etw.Test-Provider.Mixed text="hé😀" n=-5 hex=0xabcd port=13330 list="\[1 2 3\]" three="\[7 8 9\]" point_x=-1 point_y=-2 points="\[{a=1 b=one} {a=2 b=two}\]" counted="ab" blob=010203 utf8="grün" flag=true letter=.Z. etw_id_2=99 etw_id=0 '
check "another layout of one name is another type" has out ' etw.Test-Provider.Mixed~[0-9a-f]* text="another layout"'
check "fields past a schema's limit are one text" has out 'name_17=17 more="field_with_a_long_name_18=18 .*name_59=59"'

described manifest
if has manifest.err 'E25: '; then
	echo "# manifests are not read: built without expat"
else
check "a manifest describes events before it, its pieces in any order" has out ' etw.My-EventSource.Request url="/index" status=200 color=Blue blobSize=3 blob="abc" ok=true etw_id=7 '
check "an event without fields has its name" has out ' etw.My-EventSource.Nothing etw_id=8 '
check "nothing is wrong with it" test ! -s "$tmp/manifest.err"
fi

described metadata
check "an event of a merged log, with the names of its values" \
	has out ' etw.Meta-Provider.Drawing/Start color=Green_Light where=0x40 count=2 values="\[1 2\]" text="end" '
check "an event of a merged log with pointers of 32 bits" has out ' color=Green_Light where=0x40 count=1 values="\[1\]" text="32" '

described damaged
check "each damaged description is reported" test \
	"$(grep -c 'E24: warning' "$tmp/damaged.err")" -ge 5
check "events of no good description stay bytes" has out ' etw.Test-Provider.Short~[0-9a-f]* .*size=129 '

described deep
check "a struct that contains itself describes nothing" has out ' etw.0b111111-2222-4333-8444-555555555555.6 size='
check "a count past the payload is not believed" test "$(grep -c '555555555555.9 size=' "$tmp/out")" -eq 2
has manifest.err 'E25: ' ||
	check "an entity is not expanded" has deep.err 'it declares an entity'

described dropped
check "a layout that is dropped takes its maps with it" \
	has out ' etw.Meta-Provider.Task color=Red '
has manifest.err 'E25: ' ||
	check "a list of fields that is too long is reported" has dropped.err 'a template of it has too many fields'

check "a bomb can be made" python3 "${0%/*}/etw_described.py" bomb "$sample" "$tmp/bomb.etl"
rm -f "$tmp/bomb.ptl"
if ! ldd "$posixtrace" | grep -q 'lib[atu]b*san'; then
	got=$(
		ulimit -v 400000
		"$posixtrace" convert "$tmp/bomb.etl" -o "$tmp/bomb.ptl" >"$tmp/out" 2>"$tmp/err"
		echo $?
	)
	wanted=0
	check "descriptions of 1 MB take less than 400 MB" exited
fi

# The records behind the fields are written back; --etw-raw and --no-meta select one of the two.
for case in kernel lives tracelogging texts large manifest metadata maps damaged deep dropped; do
	run 0 convert "$tmp/$case.ptl" -o "$tmp/back.etl" --force
	run 0 convert "$tmp/back.etl" -o "$tmp/back.ptl" --force
	run 0 dump -e 'etw.*' "$tmp/back.ptl"
	cp "$tmp/out" "$tmp/back.txt"
	run 0 dump -e 'etw.*' "$tmp/$case.ptl"
	check "$case goes back as it was" cmp "$tmp/back.txt" "$tmp/out"
done
run 0 convert "$tmp/kernel.etl" -o "$tmp/raw.ptl" --etw-raw
run 0 dump -e 'etw.*' "$tmp/raw.ptl"
check "--etw-raw decodes nothing" has out ' etw.perfinfo.sampled_profile version=2 header_type=17 .* +7856'
run 0 convert "$tmp/kernel.etl" -o "$tmp/bare.ptl" --no-meta
run 0 stat "$tmp/bare.ptl"
check "--no-meta keeps fields alone" has out ' 18 .* etw.perfinfo.sampled_profile$'
finish
