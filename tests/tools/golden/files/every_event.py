# SPDX-License-Identifier: LGPL-2.1-or-later
"""A trace buffer of ThreadX with one entry of each event: every_event.py EVENTS.csv FROM.trx TO.trx

The header and the registry are those of FROM. An entry has the numbers 1 to 4 as its information.
"""
import csv
import re
import struct
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    lines = [line for line in file if not line.startswith("#")]
ids = sorted({int(row[0], 0) for row in csv.reader(lines) if row and re.fullmatch(r"\d+|0x[0-9a-f]+", row[0])})
data = bytearray(open(sys.argv[2], "rb").read())
base, start, end = (struct.unpack_from("<I", data, at)[0] for at in (8, 24, 28))
entries, room = start - base, (end - start) // 32
for n in range(room):
    event = ids[n] if n < len(ids) else 0
    thread = struct.unpack_from("<I", data, entries)[0] if n == 0 else thread
    struct.pack_into("<8I", data, entries + 32 * n, thread, 0, event, 1000 + n, 1, 2, 3, 4)
struct.pack_into("<I", data, 32, start + 32 * min(len(ids), room - 1))
open(sys.argv[3], "wb").write(data)
print("%d events, room for %d" % (len(ids), room))
