# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a log of Event Tracing for Windows with each event of the kernel's public classes.

etw_classes.py CLASS[,CLASS...] FROM TO [first]    FROM is a sample whose header stays

With "first" it has one event of each layout, and all of them otherwise.

The n-th field of a payload has the value n: an address ends with its three digits, a text has them
at its end. A shifted or missing field is therefore visible. The layouts are those of Microsoft's
documentation of the MOF classes, written in the words of FORMS.
"""
import struct
import sys
import uuid

sys.dont_write_bytecode = True
from etw_described import CASES, classic, main, system, wide  # noqa: E402

GROUPS = {"diskio": 1, "pagefault": 2, "process": 3, "fileio": 4, "thread": 5, "tcpip": 6, "udpip": 8,
          "registry": 9, "config": 11, "perfinfo": 15, "heap": 16, "image": 20, "stackwalk": 24,
          "alpc": 26, "splitio": 27}
IMAGE_ID = uuid.UUID("b3e675d7-2554-4f18-830b-2762732560de")

FORMS = {
    "u8": lambda n: struct.pack("<B", n), "u16": lambda n: struct.pack("<H", n),
    "u32": lambda n: struct.pack("<I", n), "u64": lambda n: struct.pack("<Q", n),
    "s8": lambda n: struct.pack("<b", -n), "s16": lambda n: struct.pack("<h", -n),
    "s32": lambda n: struct.pack("<i", -n), "s64": lambda n: struct.pack("<q", -n),
    "p": lambda n: struct.pack("<Q", 0xFFFF80000000A000 + n), "z": lambda n: struct.pack("<Q", 1000 + n),
    "w": lambda n: wide("t\u00e9xt %d" % n), "a": lambda n: b"text %d\0" % n,
    "ip4": lambda n: bytes((10, 0, 0, n)),
    "ip6": lambda n: uuid.UUID("20010db8-0000-0000-0000-0000000000%02x" % n).bytes,
    "port": lambda n: struct.pack(">H", 1000 + n),
    "guid": lambda n: uuid.UUID(int=n).bytes_le,
    "sid": lambda n: struct.pack("<QQ", n, 0) + bytes((1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0)),
    "p*": lambda n: FORMS["p"](n) + FORMS["p"](n + 1),
}


def value(form, n):
    if form[0] == "w" and form[1:].isdigit():       # a text of a fixed number of characters
        return ("%d" % n if int(form[1:]) < 8 else "text %d" % n).encode("utf-16-le").ljust(2 * int(form[1:]), b"\0")
    return FORMS[form](n)


REGISTRY = " ".join(str(kind) for kind in range(10, 28))
IP4, IP6 = "u32 u32 ip4 ip4 port port", "u32 u32 ip6 ip6 port port"
CONNECT = "u16 u16 u16 u16 u32 s16 s16"

# class, version, types, layout
EVENTS = [
    ("process", 0, "1 2 3 4", "z z sid a"),
    ("process", 1, "1 2 3 4", "p u32 u32 u32 s32 sid a"),
    ("process", 2, "1 2 3 4 39", "p u32 u32 u32 s32 sid a w"),
    ("process", 3, "1 2 3 4 39", "p u32 u32 u32 s32 p sid a w"),
    ("process", 4, "1 2 3 4 39", "p u32 u32 u32 s32 p u32 sid a w w w"),
    ("process", 2, "32 33", "u32 u32 u32 u32" + 11 * " z"),
    ("thread", 0, "1 2 3 4", "u32 u32"),
    ("thread", 1, "1 3", "u32 u32 p p p p p p s8"),
    ("thread", 1, "2 4", "u32 u32"),
    ("thread", 2, "1 2 3 4", "u32 u32 p p p p p p p u32"),
    ("thread", 3, "1 2 3 4", "u32 u32 p p p p p p p u32 u8 u8 u8 u8"),
    ("thread", 1, "36", "u32 u32 s8 s8 s8 s8 s8 s8 s8 s8 u32"),
    ("thread", 2, "36", "u32 u32 s8 s8 u8 s8 s8 s8 s8 s8 u32 u32"),
    ("thread", 2, "50", "u32 s8 s8 s8 s8"),
    ("thread", 1, "57", "u32 u64 p"),
    ("image", 0, "10", "p u32 w"),
    ("image", 1, "2 3 4 10", "p p u32 w"),
    ("image", 2, "2 3 4 10", "p p u32 u32 u32 u8 u8 u16 p u32 u32 u32 u32 w"),
    ("diskio", 0, "10 11", "u32 u32 u32 u32 u64 p p u64"),
    ("diskio", 3, "10 11", "u32 u32 u32 u32 u64 p p u64 u32"),
    ("diskio", 0, "12 13 15", "p"),
    ("diskio", 3, "12 13 15", "p u32"),
    ("diskio", 0, "14", "u32 u32 u64 p"),
    ("diskio", 3, "14", "u32 u32 u64 p u32"),
    ("diskio", 2, "34", "u32 u32 p p p u32"),
    ("diskio", 2, "35 53", "p u32"),
    ("diskio", 2, "37 52", "p p u32"),
    ("fileio", 2, "0 32 35 36", "p w"),
    ("fileio", 2, "64", "p p p u32 u32 u32 w"),
    ("fileio", 3, "64", "p p u32 u32 u32 u32 w"),
    ("fileio", 2, "65 66 73", "p p p p"),
    ("fileio", 3, "65 66 73", "p p p u32"),
    ("fileio", 2, "67 68", "u64 p p p p u32 u32"),
    ("fileio", 3, "67 68", "u64 p p p u32 u32 u32"),
    ("fileio", 2, "69 70 71 74 75", "p p p p p u32"),
    ("fileio", 3, "69 70 71 74 75", "p p p p u32 u32"),
    ("fileio", 2, "72 77", "p p p p u32 u32 u32 w"),
    ("fileio", 3, "72 77", "p p p u32 u32 u32 u32 w"),
    ("fileio", 2, "76", "p p u32"),
    ("pagefault", 2, "10 11 12 13 14 15", "p p"),
    ("pagefault", 2, "32", "u64 u64 p p u32 u32"),
    ("pagefault", 2, "98 99", "p z u32 u32"),
    ("pagefault", 2, "105", "p u32 u16 u16"),
    ("perfinfo", 2, "46", "p u32 u32"),
    ("perfinfo", 2, "51", "p"),
    ("perfinfo", 2, "52", "u32"),
    ("perfinfo", 1, "67", "u64 p u32"),
    ("perfinfo", 2, "67", "u64 p u8 u8 u16"),
    ("perfinfo", 2, "66 68 69", "u64 p"),
    ("perfinfo", 2, "72 73 74", "u32 u32 u32"),
    ("stackwalk", 2, "32", "u64 u32 u32 p*"),
    ("stackwalk", 2, "35 36", "p p*"),
    ("stackwalk", 2, "37 38", "u64 u32 u32 p"),
    ("tcpip", 2, "10", IP4 + " u32 u32 u32 p"),
    ("tcpip", 2, "11 13 14 16 18", IP4 + " u32 p"),
    ("tcpip", 2, "12 15", IP4 + " " + CONNECT + " u32 p"),
    ("tcpip", 2, "17", "u16 u16"),
    ("tcpip", 2, "26", IP6 + " u32 u32 u32 p"),
    ("tcpip", 2, "27 29 30 32 34", IP6 + " u32 p"),
    ("tcpip", 2, "28 31", IP6 + " " + CONNECT + " u32 p"),
    ("udpip", 1, "10 11", IP4),
    ("udpip", 2, "10 11", IP4 + " u32 p"),
    ("udpip", 2, "17", "u16 u16"),
    ("udpip", 2, "26 27", IP6 + " u32 p"),
    ("registry", 2, REGISTRY, "s64 u32 u32 p w"),
    ("alpc", 2, "33 34 35", "u32"),
    ("alpc", 2, "36", "u32 a"),
    ("alpc", 2, "37", "u32"),
    ("splitio", 2, "32", "p p"),
    ("heap", 2, "32", "p u32"),
    ("heap", 2, "33", "p z p u32"),
    ("heap", 2, "34", "p p p z z u32"),
    ("heap", 2, "36", "p p u32"),
    ("heap", 2, "35 43 44 45 46", "p"),
    ("imageid", 2, "0", "p z u32 u32 w"),
    ("imageid", 2, "32", "p u32"),
    ("imageid", 2, "36 37", "p u32 guid u32 a"),
    ("imageid", 2, "64", "u32 u32" + 10 * " w"),
    ("config", 2, "10", "u32 u32 u32 u32 u32 w256 w134 z"),
    ("config", 2, "11", "u32 u32 u32 u32 u64 u32 u32 u32 u32 w256 u32 u8 u8 w3 w2"),
    ("config", 2, "12", "u64 u64 u32 u32 u32 w4 u32 u32 u32 u32 u32 s64 s64 w16 u32 u32"),
    ("config", 2, "13", "u64 u32 u32 u32 w w w"),
    ("config", 2, "15", "u32 u32 u32 w w w"),
    ("config", 2, "16", "u8 u8 u8 u8 u8"),
    ("config", 2, "17", "u32 u32 u32"),
    ("config", 2, "21", "u64 u32 u32 w"),
    ("config", 2, "23", "u32 u32 u32 u32 w"),
]


def records(wanted, types_each):
    for name, version, types, layout in EVENTS:
        for kind in types.split()[:types_each] if name in wanted else ():
            payload = b"".join(value(form, i + 1) for i, form in enumerate(layout.split()))
            yield (classic(IMAGE_ID, int(kind), payload, version) if name == "imageid" else
                   system(int(kind), GROUPS[name], payload, version))


if __name__ == "__main__":
    CASES["classes"] = lambda: list(records(sys.argv[1].split(","), 1 if len(sys.argv) > 4 else None))
    main("classes", *sys.argv[2:4])
