# SPDX-License-Identifier: LGPL-2.1-or-later
# same.py - records the events of same.c. Usage: same LOG
import sys
import posixtrace

accept = posixtrace.Event("net.accept", "s32 fd;str peer;@level 4;@counter fd;")
numbers = posixtrace.Event(
    "numbers", "u8 a;u16 b;u32 c;s64 d;u64 e;str text;f64 f;f32 g;bool h;")
memory = posixtrace.Event("memory", "bytes raw")
took = posixtrace.Event("took", "ns time")

with posixtrace.Stream(sys.argv[1]):
    accept(3, "localhost")
    accept(-1, peer="")
    with posixtrace.Span("work"):
        numbers(255, 65535, 4294967295, -2**63, 2**64 - 1, "grün", -2.5, h=True, g=0.5)
    memory(b"\0\xff\x10")
    took(1500)
    for i in range(3):
        accept(i, "turn")
    try:
        with posixtrace.Span("outer"), posixtrace.Span("inner"):
            raise KeyError
    except KeyError:
        pass
