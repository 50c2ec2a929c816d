# SPDX-License-Identifier: LGPL-2.1-or-later
import sys
import posixtrace

accept = posixtrace.Event("net.accept", "s32 fd; str peer; @level 4")

@posixtrace.Span("answer")
def answer(fd):
    accept(fd, "localhost")

path = sys.argv[1] if len(sys.argv) > 1 else "first.ptl"
with posixtrace.Stream(path):
    for fd in range(3, 6):
        answer(fd)
for event in posixtrace.Log(path):
    if event.fields:
        print(event.name, event.fields)
