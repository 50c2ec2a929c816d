# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads a completed log of libposixtrace; written from lib/log/FORMAT alone.

	python3 readlog.py LOG		proves every block and prints what it holds in a few lines
"""
import struct
import sys


class Damaged(Exception):
    pass


def _table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = _table()


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xffffffff


assert crc32c(b"123456789") == 0xe3069283


def without(data, at):
    """The bytes with the checksum at that offset set to zero."""
    return data[:at] + bytes(4) + data[at + 4:]


def text(data):
    end = data.index(0)
    return bytes(data[:end])


DATA, NAMES, INDEX, TOP, LEDGER, END, SCHEMAS, OBJECTS, MAPPINGS, SKIPS = range(1, 11)
LOST_CAUSES = 10


class Block:
    def __init__(self, log, offset):
        data = log.data
        if offset % 8 or data[offset:offset + 4] != b"PXBK":
            raise Damaged("no block at %d" % offset)
        (self.type, self.header_bytes, self.flags, payload, log_id, self.number,
         self.first_record, self.oldest, self.time_min, self.time_max, self.records,
         self.sources, self.record_bytes, self.shapes, payload_crc,
         header_crc) = struct.unpack_from("=HHIIQQQQqqIIIIII", data, offset + 4)
        header = data[offset:offset + self.header_bytes]
        if crc32c(without(header, 84)) != header_crc:
            raise Damaged("header of the block at %d" % offset)
        if log_id != log.log_id:
            raise Damaged("the block at %d is of another log" % offset)
        self.offset = offset
        self.end = offset + self.header_bytes + payload
        self.payload = data[offset + self.header_bytes:self.end]
        if payload % 8 or len(self.payload) != payload or crc32c(self.payload) != payload_crc:
            raise Damaged("payload of the block at %d" % offset)


class Event:
    __slots__ = ("type", "ns", "pid", "tid", "thread", "address", "truncated", "late", "data")


def line(data, at):
    values = struct.unpack_from("=%dQ" % (3 + LOST_CAUSES), data, at)
    result = {"called": values[0], "reported": values[1], "unread": values[2],
              "lost": list(values[3:]) + [0]}
    if values[0] != sum(values[1:]):
        raise Damaged("a line of the ledger does not add up")
    return result


class Log:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self._header()
        self._end()
        self.names, self.schemas, self.objects, self.mappings = {}, {}, [], []
        self._names()
        self._lists()
        self._ledger()

    def _header(self):
        data = self.data
        if data[:8] != b"PXTRLOG1" or len(data) < 4096:
            raise Damaged("no log")
        if struct.unpack_from("=H", data, 8) != (1,):
            raise Damaged("another version")
        if struct.unpack_from("=Q", data, 24) != (0x0102030405060708,):
            raise Damaged("another byte order")
        if crc32c(without(data[:3584], 44)) != struct.unpack_from("=I", data, 44)[0]:
            raise Damaged("header")
        self.log_id, self.begin_ns, self.pid = struct.unpack_from("=QqI", data, 64)
        self.clock_hz, = struct.unpack_from("=Q", data, 136)
        self.clock, self.host = text(data[144:176]), text(data[176:240])
        (self.stream_size, self.max_data_size, self.log_size, self.inheritance,
         self.stream_policy, self.log_policy, _, self.resolution_ns,
         self.creation_ns) = struct.unpack_from("=QQQIIIIqq", data, 240)
        self.name, self.generation = text(data[296:360]), text(data[360:424])

    def _end(self):
        offset, magic = struct.unpack_from("=Q8s", self.data, len(self.data) - 16)
        if magic != b"PXTREND1":
            raise Damaged("not complete")
        end = Block(self, offset)
        if end.type != END or end.end != len(self.data):
            raise Damaged("the END block is not the last")
        self.status = struct.unpack_from("=7i", end.payload, 0)
        (self.blocks, self.records, self.record_bytes, self.first_ns, self.last_ns,
         self.overwritten) = struct.unpack_from("=QQQqqQ", end.payload, 32)
        (self.names_offset, self.ledger_offset, self.top_offset,
         self.lists_offset) = struct.unpack_from("=QQQQ", end.payload, 80)

    def _names(self):
        block = Block(self, self.names_offset)
        for i in range(block.records):
            number, = struct.unpack_from("=I", block.payload, 72 * i)
            self.names[number] = text(block.payload[72 * i + 8:72 * i + 72])

    def _lists(self):
        offset = self.lists_offset
        while offset and offset < self.names_offset:
            block = Block(self, offset)
            at = 0
            for _ in range(block.records):
                if block.type == SCHEMAS:
                    number, size = struct.unpack_from("=II", block.payload, at)
                    self.schemas.setdefault(number, text(block.payload[at + 8:at + 8 + size]))
                    at += 8 + (size + 7 & ~7)
                elif block.type == OBJECTS:
                    kind, pid, pointer, ns = struct.unpack_from("=IIQq", block.payload, at)
                    name = text(block.payload[at + 24:at + 72])
                    self.objects.append((kind, pid, pointer, ns, name))
                    at += 72
                elif block.type == MAPPINGS:
                    kind, pid, start, end, file_offset, base, ns, id_size, size = \
                        struct.unpack_from("=IIQQQQqII", block.payload, at)
                    build_id = block.payload[at + 56:at + 56 + min(id_size, 32)]
                    path = text(block.payload[at + 88:at + 88 + size]) if size else b""
                    if kind in (1, 2) and start >= end or id_size > 32 or len(path) != max(size, 1) - 1:
                        raise Damaged("a mapping")
                    self.mappings.append((kind, pid, start, end, file_offset, base, ns,
                                          build_id.hex(), path))
                    at += 88 + (size + 7 & ~7)
            offset = block.end

    def _ledger(self):
        block = Block(self, self.ledger_offset)
        self.ledger = line(block.payload, 0)
        self.ledger_types, self.ledger_threads = {}, {}
        at = 104
        for _ in range(block.records):
            number, = struct.unpack_from("=I", block.payload, at)
            self.ledger_types[number] = line(block.payload, at + 8)
            at += 112
        for _ in range(block.sources):
            self.ledger_threads[struct.unpack_from("=IIQ", block.payload, at)] = \
                line(block.payload, at + 16)
            at += 120
        self._skips(Block(self, block.end))
        # Rule L2: the type of some events is not known.
        for column in "called", "reported", "unread":
            of_types, of_threads = (sum(entry[column] for entry in lines.values())
                                    for lines in (self.ledger_types, self.ledger_threads))
            total = self.ledger[column]
            if of_types > total or of_threads != total:
                raise Damaged("the ledger: %s is %d, of types %d, of threads %d" % (
                    column, total, of_types, of_threads))

    def _skips(self, block):
        """Adds the events of a SKIPS block, if that is what follows the LEDGER block."""
        if block.type != SKIPS:
            return
        none = dict(called=0, reported=0, unread=0, lost=[0] * (LOST_CAUSES + 1))
        for i in range(block.records):
            number, _, events = struct.unpack_from("=IIQ", block.payload, 16 * i)
            lines = [self.ledger,
                     self.ledger_threads.setdefault((0, 0, 0), dict(none, lost=none["lost"][:]))]
            if number:
                lines.append(self.ledger_types.setdefault(number, dict(none, lost=none["lost"][:])))
            for entry in lines:
                entry["called"] += events
                entry["lost"][LOST_CAUSES] += events

    def data_blocks(self):
        top = Block(self, self.top_offset)
        for i in range(top.records):
            index = Block(self, struct.unpack_from("=Q", top.payload, 32 * i)[0])
            for j in range(index.records):
                yield Block(self, struct.unpack_from("=Q", index.payload, 32 * j)[0])

    def events(self):
        count = 0
        for block in self.data_blocks():
            for event in self._events_of(block):
                if not block.time_min <= event.ns <= block.time_max:
                    raise Damaged("a time outside of its block")
                count += 1
                yield event
        if count != self.records or count != self.ledger["reported"]:
            raise Damaged("%d events, %d are promised" % (count, self.records))

    def _events_of(self, block):
        payload = block.payload
        table = len(payload) - 16 * block.sources
        sources = [struct.unpack_from("=IIQ", payload, table + 16 * i)
                   for i in range(block.sources)]
        table -= 16 * block.shapes
        shapes = [struct.unpack_from("=IHHQ", payload, table + 16 * i)
                  for i in range(block.shapes)]
        at, ns = 0, block.time_min
        for _ in range(block.records):
            if block.shapes:
                number, = struct.unpack_from("=H", payload, at)
                width = 1 << (number >> 14)
                delta = int.from_bytes(payload[at + 2:at + 2 + width], sys.byteorder)
                flags, kind, source, address = shapes[number & 0x3fff]
                ns = ns + delta & (1 << 64) - 1
                ns -= (ns >> 63) << 64
                at += 2 + width
            else:
                flags, kind, source, address, ns = struct.unpack_from("=IHHQq", payload, at)
                at += 24
            event = Event()
            size = flags & (1 << 28) - 1
            event.type, event.ns, event.address = kind, ns, address
            event.truncated, event.late = bool(flags >> 28 & 1), bool(flags >> 30 & 1)
            event.pid, event.tid, event.thread = sources[source]
            event.data = payload[at:at + size]
            at += size if block.shapes else size + 7 & ~7
            yield event
        if at > table or table - at >= 8:
            raise Damaged("the events of the block at %d do not fill it" % block.offset)


if __name__ == "__main__":
    log = Log(sys.argv[1])
    events = list(log.events())
    print("%s: %d events in %d blocks, %d names, %d schemas, %d objects, %d threads" % (
        log.name.decode(errors="replace"), len(events), log.blocks, len(log.names),
        len(log.schemas), len(log.objects), len(log.ledger_threads)))
