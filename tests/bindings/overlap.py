# SPDX-License-Identifier: LGPL-2.1-or-later
# overlap.py - the spans of two coroutines overlap; then a function is a span: overlap LOG
import asyncio
import sys
import posixtrace

span = posixtrace.AsyncSpan("overlap", level=4)
same = posixtrace.AsyncSpan("overlap", level=4)  # as in another file of the program


async def two():
    begun, ended = asyncio.Event(), asyncio.Event()

    @span
    async def first():
        await begun.wait()

    async def second():
        with same:
            begun.set()
            await ended.wait()

    async def ends():
        await first()
        ended.set()

    await asyncio.gather(ends(), second())


@span
def third(number):
    """A docstring."""
    return number


with span:
    pass  # not traced
with posixtrace.Stream(sys.argv[1]):
    asyncio.run(two())
    assert third(7) == 7 and third.__doc__ == "A docstring."
