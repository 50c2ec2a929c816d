# SPDX-License-Identifier: LGPL-2.1-or-later
"""A stream of RKH with one frame of each record: every_record.py RECORDS.csv TO [KEY=N...]

The n-th argument of a record has the value n, and a text is "text n". The keys are those of
posixtrace convert --cfg, with values for the configuration that precedes the frames; without keys
the stream has no configuration. names=1 adds names of the objects and of the signals 1 to 9 first.
"""
import csv
import struct
import sys

sizes = dict(sig=1, ts=4, ptr=4, fun=4, ntimer=2, nblock=1, nelem=1, esize=2, bsize=1, hz=0,
             sender=0, lwmark=0, lwm=0, nseq=1, tstamp=1, chk=1)
given = dict(word.split("=") for word in sys.argv[3:])
names = given.pop("names", None)
sizes.update((key, int(text)) for key, text in given.items())
KINDS = {"sym": "ptr", "sndr": "ptr", "fun": "fun", "sig": "sig", "nblk": "nblock", "lwmnblk": "nblock",
         "nelem": "nelem", "lwmnelem": "nelem", "bsize": "bsize", "esize": "esize", "ntick": "ntimer"}
OPTIONAL = {"sndr": "sender", "lwmnelem": "lwmark", "lwmnblk": "lwm"}
FIXED = {"u8": 1, "u16": 2, "u32": 4}
sequence = time = 0


def stuffed(data, has_sum=True):
    if has_sum:
        data += bytes([-sum(data) & 255])
    return data.replace(b"}", b"}]").replace(b"~", b"}^") + b"~"


def size_of(kind):
    size = FIXED.get(kind) or sizes[KINDS[kind]]
    return 4 if size == 8 and KINDS.get(kind) in ("ptr", "fun") else size


def argument(kind, n):
    if kind == "str":
        return b"text %d\0" % n
    if not sizes.get(OPTIONAL.get(kind), 1):
        return b""
    return n.to_bytes(size_of(kind), "little")


def frame(number, arguments):
    global sequence, time
    head = bytes([number])
    if sizes["nseq"]:
        head += bytes([sequence & 255])
        sequence += 1
    if sizes["tstamp"]:
        time += 10
        head += (time % 256 ** sizes["ts"]).to_bytes(sizes["ts"], "little")
    return stuffed(head + arguments, sizes["chk"])


out = b"~"
if given:
    flags = 4 | sizes["sender"] | sizes["lwmark"] << 11 | sizes["lwm"] << 12 | \
        sizes["nseq"] << 15 | sizes["tstamp"] << 16 | sizes["chk"] << 17
    pair = [(sizes["sig"], sizes["ts"]), (sizes["ptr"], sizes["ntimer"]), (sizes["nblock"], sizes["nelem"]),
            (0, sizes["esize"]), (sizes["bsize"], 3)]
    out += stuffed(struct.pack("<BHI5BH", 0xAC, 0x3400, flags, *(a << 4 | b for a, b in pair), sizes["hz"]))
if names:
    for n in range(1, 10):
        out += frame(0xA6, argument("sym", n) + b"&object %d\0" % n)
        out += frame(0xA7, argument("sig", n) + b"SIGNAL_%d\0" % n)
with open(sys.argv[1], encoding="utf-8") as file:
    rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
for row in rows:
    if row["name"] == "TCFG":
        continue
    kinds = [word.split(":")[1] for word in row["args"].split()]
    if all(kind == "str" or kind in KINDS or kind in FIXED for kind in kinds):
        out += frame(int(row["id"], 16), b"".join(argument(kind, i + 1) for i, kind in enumerate(kinds)))
with open(sys.argv[2], "wb") as file:
    file.write(out)
