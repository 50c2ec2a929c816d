#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Converts a log to commented hexadecimal text: annotate.py FORMAT LOG."""
import re
import struct
import sys

TYPES = {1: "DATA", 2: "NAMES", 3: "INDEX", 4: "TOP", 5: "LEDGER", 6: "END", 7: "SCHEMAS", 8: "OBJECTS",
         9: "MAPPINGS", 10: "SKIPS"}
INSIDE = {"sum": "ptx_log_sum", "status": "ptx_log_status", "total": "ptx_log_line",
          "line": "ptx_log_line"}
COLUMNS = ["overwritten", "stream full", "log full", "log overwritten", "flush error",
           "no memory", "no slot", "nesting", "cleared", "damaged"]


def tables(path):
    found, name, inside = {}, None, False
    for line in open(path, encoding="ascii"):
        match = re.search(r"struct (ptx_[a-z_]+)", line)
        if match:
            name = match.group(1)
        if line.startswith("  offset  size  field"):
            inside = True
            found[name] = []
        elif inside:
            match = re.match(r"  +(\d+) +(\d+)  (\w+)", line)
            if match:
                found[name].append((match.group(3), int(match.group(2))))
            elif not line.strip():
                inside = False
    return found


def as_text(data):
    """Returns the bytes as text: letters in quotes, a run of one byte as 00*n, else hexadecimal."""
    match = re.fullmatch(rb'([ !#-~]{3,})(\0*)', data)
    if match:
        zeros = len(match.group(2))
        return '"%s"' % match.group(1).decode() + (" 00*%d" % zeros if zeros else "")
    if len(data) > 8 and len(set(data)) == 1:
        return "%02x*%d" % (data[0], len(data))
    out, i = [], 0
    while i < len(data):
        run = 1
        while i + run < len(data) and data[i + run] == data[i]:
            run += 1
        if run > 8:
            out.append("%02x*%d" % (data[i], run))
        else:
            run = 1
            out.append("%02x" % data[i])
        i += run
    return " ".join(out)


class Writer:
    def __init__(self, data, structures):
        self.data, self.at, self.structures = data, 0, structures

    def line(self, size, comment, indent=1):
        text = as_text(self.data[self.at:self.at + size])
        words, first = text.split(" ") if '"' not in text else [text], True
        while words:
            part = []
            while words and (not part or len(" ".join(part + [words[0]])) <= 48):
                part.append(words.pop(0))
            pad = "\t" * indent + " ".join(part)
            print(pad + (" " * max(1, 50 - len(pad)) + "# " + comment if first else ""))
            first = False
        self.at += size

    def structure(self, name, prefix="", indent=1):
        for field, size in self.structures[name]:
            if field in INSIDE and size > 8:
                self.structure(INSIDE[field], prefix + field + ".", indent)
            elif name == "ptx_log_line" and field == "lost":
                for column in COLUMNS:
                    self.line(8, prefix + "lost: " + column, indent)
            else:
                self.line(size, prefix + field, indent)

    def records(self, count):
        for n in range(count):
            length, = struct.unpack_from("<I", self.data, self.at)
            print("\t# record %d" % n)
            self.structure("ptx_record", "", 2)
            length &= 0x0fffffff
            if length:
                self.line(length, "data", 2)
            if length % 8:
                self.line(8 - length % 8, "padding", 2)

    def packed(self, count, table, shapes):
        for n in range(count):
            head, = struct.unpack_from("<H", self.data, self.at)
            index, w = head & 0x3fff, head >> 14
            print("\t# packed event %d" % n)
            self.line(2, "shape %d, w %d" % (index, w), 2)
            self.line(1 << w, "time since the one before", 2)
            length = struct.unpack_from("<I", self.data, table + 16 * index)[0] & 0x0fffffff
            if length:
                self.line(length, "data", 2)
        if self.at < table:
            self.line(table - self.at, "padding")
        for n in range(shapes):
            print("\t# shape %d" % n)
            self.structure("ptx_log_shape", "", 2)

    def block(self):
        print("\n# offset %d" % self.at)
        kind, = struct.unpack_from("<H", self.data, self.at + 4)
        length, = struct.unpack_from("<I", self.data, self.at + 12)
        records, sources, _, shapes = struct.unpack_from("<IIII", self.data, self.at + 64)
        print("# %s block" % TYPES[kind])
        self.structure("ptx_log_block")
        end = self.at + length
        if kind == 1:
            if shapes:
                self.packed(records, end - 16 * (sources + shapes), shapes)
            else:
                self.records(records)
            for n in range(sources):
                print("\t# thread %d" % n)
                self.structure("ptx_log_source", "", 2)
        elif kind == 2:
            for n in range(records):
                self.structure("ptx_log_name", "", 2)
        elif kind in (3, 4):
            for n in range(records):
                print("\t# place %d" % n)
                self.structure("ptx_log_place", "", 2)
        elif kind == 5:
            self.structure("ptx_log_line", "total.", 2)
            for n in range(records):
                print("\t# an event type")
                self.structure("ptx_log_type_line", "", 2)
            for n in range(sources):
                print("\t# a thread")
                self.structure("ptx_log_thread_line", "", 2)
        elif kind == 6:
            self.structure("ptx_log_end", "", 2)
        elif kind == 7:
            for n in range(records):
                print("\t# schema %d" % n)
                length, = struct.unpack_from("<I", self.data, self.at + 4)
                self.structure("ptx_log_schema", "", 2)
                self.line(length + 7 & ~7, "text", 2)
        elif kind == 8:
            for n in range(records):
                print("\t# object %d" % n)
                self.structure("ptx_object", "", 2)
        elif kind == 9:
            for n in range(records):
                print("\t# mapping %d" % n)
                length, = struct.unpack_from("<I", self.data, self.at + 52)
                self.structure("ptx_log_mapping", "", 2)
                if length:
                    self.line(length + 7 & ~7, "path", 2)
        assert self.at == end

    def log(self):
        print("# offset 0\n# header")
        self.structure("ptx_log_header")
        print("\n# offset 3584\n# closing area")
        self.structure("ptx_log_closing")
        while self.at < len(self.data):
            if self.data[self.at:self.at + 4] == b"PXBK":
                self.block()
                continue
            left = self.data.find(b"PXBK", self.at)
            left = (len(self.data) if left < 0 else left) - self.at
            print("\n# offset %d: no meaning" % self.at)
            self.line(left, "left over")


if __name__ == "__main__":
    print("# SPDX-License-Identifier: LGPL-2.1-or-later")
    Writer(open(sys.argv[2], "rb").read(), tables(sys.argv[1])).log()
