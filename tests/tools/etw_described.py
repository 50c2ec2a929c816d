# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes logs of Event Tracing for Windows with descriptions of the payloads.

etw_described.py CASE FROM TO    FROM is a sample; its first buffer stays, all others are replaced

Cases: kinds, kernel, lives, tracelogging, texts, large, manifest, metadata, maps, damaged, deep, dropped, bomb
"""
import struct
import sys
import uuid

METADATA = uuid.UUID("bbccf6c1-6cd1-48c4-80ff-839482e37671")
PROVIDER = uuid.UUID("0b111111-2222-4333-8444-555555555555")


def wide(text):
    return (text + "\0").encode("utf-16-le")


def perfinfo(kind, group, payload, version=2):
    """PERFINFO64: no process, no thread."""
    return struct.pack("<H2BH2Bq", version, 17, 0xC0, 16 + len(payload), kind, group, 0) + payload


def system(kind, group, payload, version=2):
    return struct.pack("<H2BH2B2Iq2I", version, 2, 0xC0, 32 + len(payload), kind, group, 4, 8, 0, 0, 0) + payload


def classic(guid, kind, payload, version=0):
    return struct.pack("<H4BH2Iq16s2I", 48 + len(payload), 20, 0xC0, kind, 4, version, 4, 8, 0,
                       guid.bytes_le, 0, 0) + payload


def event(number, payload, version=0, channel=0, opcode=0, task=0, items=(), guid=PROVIDER, narrow=False):
    extra = b""
    for i, (kind, data) in enumerate(items):
        size = (8 + len(data) + 7) // 8 * 8
        extra += struct.pack("<4H", size, kind, int(i + 1 < len(items)), len(data)) + data.ljust(size - 8, b"\0")
    body = extra + payload
    return struct.pack("<H2B2H2Iq16sH4BHQ2I16s", 80 + len(body), 18 if narrow else 19, 0xC0,
                       int(bool(items)) | (0x20 if narrow else 0x40), 0, 4, 8, 0, guid.bytes_le, number,
                       version, channel, 4, opcode, task, 1, 0, 0, bytes(16)) + body


def tracelogging(name, fields, payload):
    schema = b"\0" + name.encode() + b"\0" + fields
    traits = b"Test-Provider\0"
    return event(0, payload, channel=11, items=(
        (12, struct.pack("<H", 2 + len(traits)) + traits),
        (11, struct.pack("<H", 2 + len(schema)) + schema)))


def field(name, *types):
    return name.encode() + b"\0" + bytes(types)


def event_info(number, version, properties, task="Task", opcode="win:Info", guid=PROVIDER, top=None):
    """properties: (name, flags, in, out, map or struct pair, count, length)."""
    fixed = 112 + 24 * len(properties)
    texts, offsets = b"", {}

    def text(value):
        nonlocal texts
        if value not in offsets:
            offsets[value] = fixed + len(texts)
            texts += wide(value)
        return offsets[value]

    array = b""
    for name, flags, kind, out, map_name, count, length in properties:
        array += struct.pack("<2I2HI2HI", flags, text(name), kind, out,
                             text(map_name) if map_name else 0, count, length, 0)
    top = len(properties) if top is None else top
    head = guid.bytes_le + bytes(16) + struct.pack("<H4BHQ", number, version, 0, 4, 0, 0, 0)
    head += struct.pack("<2I", 0, text("Meta-Provider")) + struct.pack("<3I", 0, 0, 0)
    head += struct.pack("<2I", text(task), text(opcode)) + bytes(24)
    head += struct.pack("<3I", len(properties), top, 0)
    assert len(head) == 112, len(head)
    return classic(METADATA, 32, head + array + texts)


def map_info(name, flag, entries, guid=PROVIDER):
    texts, fixed, array = b"", 16 + 8 * len(entries), b""
    at = fixed
    name_at = at
    texts += wide(name)
    for value, text in entries:
        array += struct.pack("<2I", fixed + len(texts), value)
        texts += wide(text)
    return classic(METADATA, 33, guid.bytes_le + struct.pack("<4I", name_at, flag, len(entries), 0) + array + texts)


MANIFEST = """<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation><events><provider name="My-EventSource" guid="{0b111111-2222-4333-8444-555555555555}">
  <tasks><task name="Request" value="1"/></tasks>
  <maps><valueMap name="Color">
   <map value="0x1" message="$(string.map_ColorRed)"/><map value="0x2" message="$(string.map_ColorBlue)"/>
  </valueMap></maps>
  <events><event value="7" version="1" level="win:Informational" symbol="Request" task="Request" template="RequestArgs"/>
   <event value="8" version="0" level="win:Informational" symbol="Nothing"/></events>
  <templates><template tid="RequestArgs">
   <data name="url" inType="win:UnicodeString"/><data name="status" inType="win:Int32"/>
   <data name="color" inType="win:UInt32" map="Color"/>
   <data name="blobSize" inType="win:UInt32"/><data name="blob" inType="win:Binary" length="blobSize"/>
   <data name="ok" inType="win:Boolean"/>
  </template></templates>
 </provider></events></instrumentation>
 <localization><resources culture="en-US"><stringTable>
  <string id="map_ColorRed" value="Red"/><string id="map_ColorBlue" value="Blue"/>
 </stringTable></resources></localization>
</instrumentationManifest>"""


def manifest(text, pieces, order=None):
    data = text.encode()
    size = -(-len(data) // pieces)
    made = [event(0xFFFE, struct.pack("<4B2H", 1, 1, 0, 0x5B, pieces, i) + data[i * size:(i + 1) * size],
                  opcode=0xFE, task=0xFFFE) for i in range(pieces)]
    return [made[i] for i in order or range(pieces)]


REQUEST = wide("/index") + struct.pack("<iII", 200, 2, 3) + b"abc" + struct.pack("<I", 1)

LARGE = field("s", 0x80 | 0x40 | 24, 2) + field("long_name_" * 6, 8) + field("other_name" * 6, 8)

def compact(kind, group, payload):
    return struct.pack("<H2BH2B2Iq", 2, 4, 0xC0, 24 + len(payload), kind, group, 4, 8, 0) + payload


def instance(payload, old=False):
    """INSTANCE64, or that of Windows 2000 without the parent's class."""
    body = struct.pack("<2I", 21, 12) + (b"" if old else uuid.UUID(int=7).bytes_le) + payload
    return struct.pack("<H4BH2Iq16s2I", 48 + len(body), 11 if old else 21, 0xC0, 1, 4, 0, 4, 8, 0,
                       PROVIDER.bytes_le, 1, 2) + body


def message(number, options, parts, payload):
    """A message of WPP: options say which parts precede the payload."""
    return struct.pack("<H2BHH", 8 + len(parts) + len(payload), 0, 0x90, number, options) + parts + payload


CASES = {
    # Each kind of header, with and without its optional parts.
    "kinds": lambda: [
        system(34, 2, b"soft"), compact(36, 5, b"switch"), perfinfo(66, 15, struct.pack("<QQ", 5, 0x1000)),
        classic(PROVIDER, 0, b"info"), classic(PROVIDER, 6, b"reply"), classic(PROVIDER, 9, b"send"),
        classic(PROVIDER, 0xF0, b"receive"), classic(PROVIDER, 200, b""),
        instance(b"new"), instance(b"old", old=True),
        event(1, b"plain"), event(2, b"narrow", narrow=True), event(3, b"", channel=9, opcode=9, task=7),
        event(4, b"items", items=((1, PROVIDER.bytes), (2, b"\1\1\0\0\0\0\0\5\x12\0\0\0"), (3, struct.pack("<I", 1)))),
        message(10, 0x1 | 0x2 | 0x8 | 0x20, struct.pack("<I16sq2I", 77, PROVIDER.bytes_le, 2603587661205, 4, 8), b"all"),
        message(11, 0x4 | 0x40, struct.pack("<I", 5), b"component"), message(12, 0, b"", b"nothing"),
    ],
    "kernel": lambda: [
        system(1, 3, struct.pack("<QIIIiI", 0xFFFF800012345678, 4711, 4, 1, 259, 0) + b"notepad.exe\0" +
               wide("notepad ü.txt"), version=2),
        perfinfo(46, 15, struct.pack("<QII", 0x7FF612345678, 77, 1)),
        perfinfo(67, 15, struct.pack("<QQBBH", 5, 0xFFFFF80000001000, 1, 0x51, 0)),
        system(10, 20, struct.pack("<QQ3I2BHQ4I", 0x400000, 0x1000, 4711, 1, 2, 3, 4, 0, 0x400000, 0, 0, 0, 0) +
               wide("\\Windows\\a.dll")),
        system(12, 6, struct.pack("<II4s4s", 4711, 0, bytes([10, 0, 0, 2]), bytes([10, 0, 0, 1])) +
               struct.pack(">HH", 443, 50000) + struct.pack("<4HI2hIQ", 1460, 1, 0, 1, 65535, 2, 3, 9, 11)),
        system(36, 5, struct.pack("<II2bB5bII", 10, 20, 8, 9, 1, 0, -1, 0, 5, 2, 100, 0)),
        perfinfo(32, 24, struct.pack("<QII3Q", 1, 4711, 77, 0x1000, 0x2000, 0x3000)),
        perfinfo(46, 15, struct.pack("<QI", 0x7FF612345678, 77)),   # too short
    ],
    # Two of each overlap; one thread logs all of them, as a creator does.
    "lives": lambda: [
        system(kind, 3, struct.pack("<QIIIiI", 1, number, 4, 1, 259, 0) + b"a\0" + wide("a"))
        for kind, number in ((1, 4711), (1, 4712), (2, 4711), (2, 4712))
    ] + [
        system(kind, 5, struct.pack("<2I7QI4B", 4711, number, *range(7), 0, 0, 0, 0, 0), version=3)
        for kind, number in ((1, 71), (1, 72), (2, 71), (2, 72))
    ] + [
        system(kind, 20, struct.pack("<QQ3I2BHQ4I", base, 0x1000, 4711, 1, 2, 3, 4, 0, base, 0, 0, 0, 0) + wide("a"))
        for kind, base in ((10, 0x40000), (10, 0x50000), (2, 0x40000), (2, 0x50000))
    ] + [
        perfinfo(51, 15, struct.pack("<Q", 0x1000)), perfinfo(52, 15, struct.pack("<I", 0)),
        system(24, 9, struct.pack("<qIIQ", 1, 0, 0, 7) + wide("k")), system(25, 9, struct.pack("<qIIQ", 1, 0, 0, 7) + wide("k")),
        system(1, 5, bytes(4), version=3), system(2, 5, bytes(4), version=3),  # without their threads
    ],
    # An overlong form, a surrogate, above U+10FFFF, a piece of a character; half a surrogate; long names.
    "texts": lambda: [
        tracelogging("Bad", field("ansi", 2) + field("wide", 1) + field("list", 2 | 0x20, 1, 0),
                     b"<\xe0\x80\x80><\xed\xa0\x80><\xf4\x90\x80\x80><\xe2\x82>\0" +
                     struct.pack("<4H", 0x3c, 0xd83d, 0x3e, 0) + b"\xc1\x81\0"),
        tracelogging("N" * 34 + "ü" * 20, field("p", 0x80 | 24, 1) + field("a", 4 | 0x20, 1, 0), b"\1"),
        tracelogging("Element", field("s", 0x80 | 0x20 | 24, 1, 1, 0) + field("x" * 62 + "ü", 4), b"\1"),
    ],
    # The decoded form is much longer than the payload.
    "large": lambda: [
        tracelogging("Large", LARGE, struct.pack("<H", 8000) + struct.pack("<I", 10 ** 9) * 16000),
        tracelogging("Large", LARGE, struct.pack("<H2I", 1, 1, 1)),
        tracelogging("Small", field("s", 0x80 | 0x40 | 24, 1) + field("a", 4), struct.pack("<H", 3000) + b"\1" * 3000),
    ],
    "tracelogging": lambda: [
        tracelogging("Mixed", field("text", 1) + field("n", 7) + field("hex", 20) + field("port", 0x86, 22) +
                     field("list", 8 | 0x40) + field("three", 6 | 0x20, 3, 0) +
                     field("point", 0x80 | 24, 2) + field("x", 7) + field("y", 7) +
                     field("points", 0x80 | 0x40 | 24, 2) + field("a", 4) + field("b", 2) +
                     field("counted", 22) + field("blob", 14) + field("utf8", 0x82, 35) +
                     field("flag", 0x84, 13) + field("letter", 0x84, 1) + field("etw_id", 8),
                     wide("hé\U0001F600") + struct.pack("<iIH", -5, 0xABCD, 0x1234) +
                     struct.pack("<H3I", 3, 1, 2, 3) + struct.pack("<3H", 7, 8, 9) +
                     struct.pack("<2i", -1, -2) + struct.pack("<H", 2) + b"\x01one\0" + b"\x02two\0" +
                     struct.pack("<H", 4) + "ab".encode("utf-16-le") + struct.pack("<H", 3) + b"\1\2\3" +
                     "grün".encode() + b"\0" + b"\x02" + b"Z" + struct.pack("<I", 99)),
        tracelogging("Mixed", field("text", 1), wide("another layout")),
        tracelogging("Many", b"".join(field("field_with_a_long_name_%02d" % i, 8) for i in range(60)),
                     struct.pack("<60I", *range(60))),
    ],
    "manifest": lambda: [event(7, REQUEST, version=1), event(8, b"")] + manifest(MANIFEST, 3, (2, 0, 1)) +
                        manifest(MANIFEST, 3),
    "metadata": lambda: [
        event(5, struct.pack("<IQI", 3, 0x40, 2) + struct.pack("<2H", 1, 2) + wide("end"), opcode=1, task=3),
        event(5, struct.pack("<III", 3, 0x40, 1) + struct.pack("<H", 1) + wide("32"), opcode=1, task=3, narrow=True),
        map_info("Colors", 1, ((1, "Red "), (3, "Green Light"))), map_info("Bits", 2, ((0x40, "Slow"), (1, "Cold"))),
        event_info(5, 0, (("color", 0, 8, 0, "Colors", 1, 4), ("where", 0, 16, 0, None, 1, 0),
                          ("count", 0, 8, 0, None, 1, 4), ("values", 4, 6, 0, None, 2, 2),
                          ("text", 0, 1, 0, None, 1, 0)), task="Drawing ", opcode="win:Start"),
    ],
    # A map of many values: unsorted, and one value twice, of which the first name is valid.
    "maps": lambda: [
        map_info("Many", 1, tuple((i * 7919 % 4001, "n%d" % i) for i in range(3000)) + ((0, "again"),)),
        event_info(5, 0, (("v", 32, 8, 0, "Many", 4, 0),), opcode="win:Start"),
        event(5, struct.pack("<4I", 7919 * 2999 % 4001, 0, 7919 % 4001, 5000), opcode=1),
    ],
    "damaged": lambda: [
        classic(METADATA, 32, bytes(50)),
        classic(METADATA, 32, bytes(100) + struct.pack("<3I", 0xFFFFFFFF, 1, 0)),
        classic(METADATA, 33, bytes(20)),
        event(0xFFFE, struct.pack("<4B2H", 1, 1, 0, 0x5B, 0, 0) + b"x"),
    ] + manifest("<a><event value='1'", 1) + [
        tracelogging("Short", field("a", 8), b"\1"),
        event(0, b"", channel=11, items=((11, struct.pack("<H", 900) + b"\0x\0"),)),
    ],
    # A struct that contains itself, counts larger than any payload, and an entity that grows.
    "deep": lambda: [
        event_info(6, 0, (("a", 1, 1, 2, None, 1, 0), ("b", 1, 0, 2, None, 1, 0), ("c", 0, 8, 0, None, 1, 4)), top=1),
        event_info(9, 0, (("n", 0, 8, 0, None, 1, 4), ("v", 4, 6, 0, None, 0, 2))),
        event(6, bytes(64)), event(9, struct.pack("<I", 0xFFFFFFFF)), event(9, struct.pack("<IH", 60000, 1)),
    ] + manifest('<!DOCTYPE a [<!ENTITY e "eeee"><!ENTITY f "&e;&e;&e;">]><a>&f;</a>', 1),
    # A layout is discarded after one of its fields requested a map; and a list of fields is too
    # long.
    "dropped": lambda: [
        map_info("Colors", 1, ((1, "Red"),)),
        event_info(6, 0, (("color", 0, 8, 0, "Colors", 1, 4), ("s", 1, 5, 9, None, 1, 0))),
        event_info(7, 0, (("color", 0, 8, 0, "Colors", 1, 4),)), event_info(7, 0, (("color", 0, 8, 0, "Colors", 1, 4),)),
        event(7, struct.pack("<I", 1)),
    ] + manifest("<provider><template tid='a'>" + "<data name='a' inType='win:UInt8'/>" * 1100 +
                 "</template></provider>", 2),
    # Small descriptions that refer very often to one long text, or to one long list of fields.
    "bomb": lambda: bomb() + [event(7, struct.pack("<I", 1))],
}


def bomb():
    texts = wide("x" * 15000)
    maps = [classic(METADATA, 33, PROVIDER.bytes_le + struct.pack("<4I", 16 + 8 * 2000, 1, 2000, 0) +
                    struct.pack("<2I", 16 + 8 * 2000, 1) * 2000 + texts)] * 4
    text = "<provider name='%s'><template tid='a'>%s</template>%s</provider>" % (
        "p" * 60000, "<data name='a' inType='win:UInt32' map='m'/>" * 1000,
        "".join("<event value='%d' template='a'/>" % i for i in range(16000)))
    return maps + manifest(text, 20)


def main(case, source, target):
    with open(source, "rb") as file:
        data = file.read()
    first = struct.unpack("<I", data[:4])[0]
    head = bytearray(data[:first])
    log = 72 + 32
    struct.pack_into("<I", head, log + 0x24, 2)
    start = struct.unpack("<q", data[72 + 16:72 + 24])[0]
    body = b""
    for i, record in enumerate(CASES[case]()):
        if record[3] == 0x90:           # its time, if any, is behind the other parts
            body += record.ljust((len(record) + 7) // 8 * 8, b"\0")
            continue
        at = 8 if record[2] == 17 else 16
        record = record[:at] + struct.pack("<q", start + 1000 * (i + 1)) + record[at + 8:]
        body += record.ljust((len(record) + 7) // 8 * 8, b"\0")
    size = max(first, (72 + len(body) + 1023) // 1024 * 1024)
    buffer = bytearray(data[first:first + 72])
    struct.pack_into("<2I", buffer, 0, size, 72 + len(body))
    struct.pack_into("<I", buffer, 0x30, 72 + len(body))
    with open(target, "wb") as file:
        file.write(head + buffer + body + b"\xff" * (size - 72 - len(body)))


if __name__ == "__main__":
    main(*sys.argv[1:])
