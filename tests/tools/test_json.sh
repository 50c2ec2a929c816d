#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The JSON of posixtrace is valid, and has the same content as the text.
. "${0%/*}/lib.sh"

python3 -c 'import json' 2>/dev/null || skip "no python3 to read JSON with"

cat >"$tmp/read.py" <<'PY'
import json, sys, datetime

def fail(text):
	print(text)
	sys.exit(1)

def strict(pairs):
	names = [name for name, value in pairs]
	if len(names) != len(set(names)):
		fail("a name twice in one object: %s" % names)
	return dict(pairs)

what, logs, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
raw = open(sys.argv[4], "rb").read()
if any(byte < 32 and byte != 10 for byte in raw):
	fail("a raw control character")
lines = [json.loads(line, object_pairs_hook=strict) for line in raw.decode("utf-8").split("\n")[:-1]]
if len(lines) != count:
	fail("%d lines, not %d" % (len(lines), count))
for line in lines:
	if (logs == "several" or what != "dump") and "log" not in line:
		fail("whose is this line?")
	if what == "dump":
		ns = int(line["ns"])
		seconds = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=ns // 10**9)
		if line["time"] != "%s.%09dZ" % (seconds.isoformat(), ns % 10**9):
			fail("two times: %s and %s" % (line["time"], line["ns"]))
		int(line["address"], 16), int(line["thread"], 16)
		if "text" in line and len(line["text"].encode("utf-8")) != line["len"]:
			fail("text of another length")
		if "hex" in line and len(bytes.fromhex(line["hex"])) != line["len"]:
			fail("bytes of another length")
	else:
		ledger = line["ledger"]
		if sum(ledger["lost_by_cause"].values()) != ledger["lost"]:
			fail("causes")
		if ledger["called"] != ledger["reported"] + ledger["unread"] + ledger["lost"]:
			fail("equation")
		if line["events"] != ledger["reported"]:
			fail("events")
	if what == "stat":
		for group in line["types"], line["threads"]:
			if sum(entry["events"] for entry in group) != line["events"]:
				fail("events of a group")
			if sum(entry["ledger"]["lost"] for entry in group) != ledger["lost"]:
				fail("losses of a group")
PY

reads() { python3 "$tmp/read.py" "$1" "$2" "$3" "$tmp/out"; }

for kind in plain stopped overrun loop evil; do
	log=$tmp/$kind.log
	"$make_log" $kind "$log" 5000 >/dev/null || exit 99
	events=$("$posixtrace" dump "$log" 2>/dev/null | wc -l)
	run 0 dump --json "$log"
	check "$kind: dump --json is read" reads dump one "$events"
	run 0 dump --json --hex "$log"
	check "$kind: dump --json --hex is read" reads dump one "$events"
	run 0 stat --json "$log"
	check "$kind: stat --json is read" reads stat one 1
	run 0 verify --json "$log"
	check "$kind: verify --json is read" reads verify one 1
done
run 0 dump --json --limit 5 "$tmp/plain.log" "$tmp/loop.log"
check "each line of several logs says whose it is" reads dump several 10
run 0 dump --json -e 'posix_trace_*' "$tmp/plain.log"
check "START has its filter" has out '"event":"posix_trace_start",.*"filter":\[\]'
check "FILTER has both sets" has out '"old_filter":\[\],"new_filter":\["job_end"\]'
check "STOP says that it was called for" has out '"event":"posix_trace_stop".*"automatic":false'
run 0 dump --json -e posix_trace_stop "$tmp/stopped.log"
check "STOP says that it was automatic" has out '"automatic":true'

# The names and texts that make_log evil traced are unchanged if they are UTF-8.
run 0 dump --json "$tmp/evil.log"
check "names and texts survive" python3 - "$tmp/out" <<'PY'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
names = {line["event"] for line in lines}
texts = {line.get("text") for line in lines}
data = {bytes.fromhex(line["hex"]) for line in lines if "hex" in line}
assert "clear\x1b[2J\x1b[31m" in names and 'quote"back\\slash' in names, names
assert "line\nbreak\ttab\rreturn" in names and "d\xe9j\xe0 vu" in names, names
assert 'say "hello\\"' in texts and "two\nlines\t." in texts and "d\xe9j\xe0 vu" in texts, texts
assert "d\xe9j\xe0 vu\0" in texts and "padded\0\0\0\0" in texts, texts
assert b"\x1b]0;title\a" in data and b"\xff\xfe\xc2" in data and b"A\0\0\0" in data, data
PY

head -c 6000 "$tmp/plain.log" >"$tmp/cut.log"
run 3 verify --json "$tmp/cut.log"
check "the verdict on a cut log is JSON" python3 -c 'import json, sys
line = json.load(open(sys.argv[1]))
assert line["sound"] is False and line["complete"] is False' "$tmp/out"
finish
