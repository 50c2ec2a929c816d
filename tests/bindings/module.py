# SPDX-License-Identifier: LGPL-2.1-or-later
# module.py - uses the parts of the module posixtrace that same.py does not use: module LOG. It
# fails by an exception.
import array
import asyncio
import contextlib
import contextvars
import functools
import inspect
import os
import pickle
import signal
import sys
import threading
import tracemalloc
import types
import warnings
import posixtrace


def fails(error, function, *args):
    try:
        function(*args)
    except error:
        return
    raise AssertionError(f"{function} does not raise {error}")


path = sys.argv[1]
event = posixtrace.Event("typed", "s32 x;char c;str[4] s;bytes[2] b;u16[2] array;@level 2")
fails(ValueError, posixtrace.Event, "wrong", "no schema")
try:
    posixtrace.Event("wrong", "s32 a;int b")
except ValueError as error:
    assert str(error) == "the schema of wrong cannot be recorded: this is not a type: s32 a;int b"
fails(ValueError, posixtrace.Event, "typed", "str other")
fails(ValueError, posixtrace.Event, "n" * 64)
fails(ValueError, posixtrace.Span, "two words")
fails(ValueError, posixtrace.Span, "level", 6)
for large in "u8[1025] a", "bytes[1025] b", "u64[128] a;u8 x", "str[1024] s;str t", "u8[1021] a;bytes b":
    fails(ValueError, posixtrace.Event, "large", large)
posixtrace.Event("full", "u8[1019] a;bytes b;str c")
fails(OSError, posixtrace.Log, path + ".missing")
try:
    posixtrace.Log(__file__)
    raise AssertionError("this file is a log")
except OSError as error:
    assert "not a trace log" in error.strerror and error.filename == __file__, error
fails(TypeError, event, "not traced, but the first call is checked")
event(1, "x", "text", b"ab", b"\1\0\2\0")
event("not traced, so not checked")
assert not posixtrace.is_active()


class Thing:
    @posixtrace.Span("method", 3)
    def method(self, number):
        """A docstring."""
        return self, number


thing = Thing()
assert thing.method(1) == (thing, 1)
assert Thing.method.__doc__ == "A docstring." and Thing.method.__name__ == "method"


@posixtrace.Span("waits")
async def waits(number):
    await asyncio.sleep(0)
    event(number, "x", "in", b"ab", b"\1\0\2\0")
    return number


assert inspect.iscoroutinefunction(waits) and waits.__name__ == "waits"
name = posixtrace.Event("name", "str text; s32 behind")


@posixtrace.Span("decorated")
def decorated(number):
    return number + 1


# multiprocessing passes functions to its processes by pickle.
assert pickle.loads(pickle.dumps(decorated)) is decorated
fails(TypeError, pickle.dumps, posixtrace.Span("part")(functools.partial(decorated, 1)))


class Index:
    def __index__(self):
        raise TypeError("inner", 5)


try:
    name("text", Index())
    raise AssertionError("no error")
except TypeError as error:  # the place in the program is known
    assert error.args == ("inner", 5), error
    assert error.__traceback__.tb_next.tb_frame.f_code.co_name == "__index__"
for wrong, message in (
        ((5, 1), "the field text: this must be str, not int"),
        (("text", "1"), "the field behind: 'str' object cannot be interpreted as an integer"),
        (("text", 2**64), "the field behind: int too big to convert")):
    try:
        name(*wrong)
        raise AssertionError(wrong)
    except (TypeError, OverflowError) as error:
        assert str(error) == message, error


def traced(n):
    return traced(n - 1) if n else 0


with posixtrace.Stream(path) as stream:
    assert posixtrace.is_active()
    event(-5, "x", "text", b"ab", b"\1\0\2\0")
    fails(TypeError, event, 1)
    fails(TypeError, event, "no integer", "x", "text", b"ab", b"\1\0\2\0")
    fails(ValueError, event, 1, "x", "text", b"abc", b"\1\0\2\0")
    fails(OverflowError, event, 2**64, "x", "text", b"ab", b"\1\0\2\0")
    fails(ValueError, event, 1, "\u20ac", "text", b"ab", b"\1\0\2\0")
    name(os.fsdecode(b"caf\xe9"), 1)  # a name of a file that is not UTF-8
    name("\ud800", behind=2)
    name(None, 3)
    for parts in bytearray(b"ab"), memoryview(b"aXbX")[::2], array.array("B", b"ab"):
        event(6, "x", "part", parts, array.array("H", [1, 2]))
    fails(TypeError, event, 6, "x", "part", None, b"\1\0\2\0")
    fails(TypeError, name, os.fsdecode(b"\xff"), "no number")
    fails(TypeError, name, "text", 1, 2, 3)
    assert thing.method(2) == (thing, 2)
    assert asyncio.run(waits(7)) == 7
    with posixtrace.trace_functions():
        traced(2)
        thread = threading.Thread(target=traced, args=(1,))
        thread.start()
        thread.join()
    # stop() within traced functions: their spans end, and their later returns are no ends.
    spans = posixtrace.trace_functions()

    def stops():
        spans.stop()
        spans.start()

    spans.start()
    (lambda: stops())()
    traced(0)
    spans.stop()
    stream.level(2)
    assert thing.method(3) == (thing, 3)  # level 3 is filtered now
    stream.flush()

log = posixtrace.Log(path)
events = list(log)
assert [e.name for e in log] == [e.name for e in events]  # from the beginning again
typed = [e for e in events if e.name == "typed"]
assert len(typed) == 5
assert [e.fields for e in typed[1:4]] == [
    {"x": 6, "c": "x", "s": "part", "b": b"ab", "array": [1, 2]}] * 3, typed
assert typed[0].fields == {"x": -5, "c": "x", "s": "text", "b": b"ab", "array": [1, 2]}, typed
assert typed[0].pid > 0 and typed[0].tid > 0 and typed[0].time_ns > 10**18
names = [e.name for e in events]
assert names[names.index("waits.begin"):][:3] == ["waits.begin", "typed", "waits.end"], names
assert [e.fields for e in events if e.name == "name"] == [
    {"text": "caf\\xe9", "behind": 1}, {"text": "\\ud800", "behind": 2},
    {"text": "", "behind": 3}]
assert names.count("method.begin") == 1 and names.count("method.end") == 1
calls = [e.fields["function"] for e in events if e.name == "python.begin"]
assert calls.count("traced") == 6, calls
assert names.count("python.begin") == names.count("python.end"), calls
assert not [call for call in calls if "trace_functions" in call], calls
depth = {}
for e in events:
    if e.name in ("python.begin", "python.end"):
        depth[e.tid] = depth.get(e.tid, 0) + (1 if e.name == "python.begin" else -1)
        assert depth[e.tid] >= 0

with posixtrace.Stream() as live:
    thing.method(4)
    live.stop()
    read = [e.name for e in live]
assert read == ["posix_trace_start", "method.begin", "method.end", "posix_trace_stop"], read

# A signal does not end a wait, whatever its length, unless its handler raises an exception.
with posixtrace.Stream() as live:
    def record(number, frame):
        thing.method(5)

    def end(number, frame):
        raise KeyError

    assert live.read().name == "posix_trace_start"
    signal.signal(signal.SIGALRM, record)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    assert live.read(float("inf")).name == "method.begin"
    assert live.read(1e300).name == "method.end"
    assert live.read(float("nan")) is None and live.read(-1) is None
    signal.signal(signal.SIGALRM, end)
    fails(KeyError, lambda: (signal.setitimer(signal.ITIMER_REAL, 0.01), live.read(1e9)))

# Children of fork: an inherited stream traces them, and only its own process controls it.
who = posixtrace.Event("who", "s32 number")
for inherited in (False, True):
    with posixtrace.Stream(path, inherited=inherited) as stream:
        who(1)
        child = os.fork()
        if not child:
            with posixtrace.Stream():  # a stream of the child alone
                who(2)
            fails(OSError, stream.stop)
            stream.__exit__(None, None, None)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        who(3)
    pids = {e.fields["number"]: e.pid for e in posixtrace.Log(path) if e.name == "who"}
    assert pids == ({1: os.getpid(), 2: child, 3: os.getpid()} if inherited else
                    {1: os.getpid(), 3: os.getpid()}), pids

# The span of a generator ends with the generator. An AsyncSpan may be left in another context than
# that in which it was entered, as frameworks do with the two halves of a generator.
of_type = posixtrace.Span("of_type")
apart = posixtrace.AsyncSpan("apart")
stacked = posixtrace.AsyncSpan("stacked")


@of_type
def numbers():
    received = yield 1
    try:
        yield received
    except KeyError:
        yield 3
    return 4


@of_type
async def async_numbers():
    received = yield 1
    try:
        yield received
    except KeyError:
        yield 3


def half():
    with apart:
        yield


async def async_half():
    with apart, apart:
        yield


def stacked_half(stacks):
    with contextlib.ExitStack() as stack:
        stack.enter_context(stacked)
        stacks.append(stack)
        yield


@of_type
async def closes_slowly(stop):
    try:
        while not stop:
            yield 1
    finally:
        await asyncio.sleep(0)
        await asyncio.sleep(0)


kept, reported = [], []


async def leaves_open():
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))
    kept.append(closes_slowly(False))
    await kept[0].__anext__()


async def abandons():
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))
    generator = closes_slowly(False)
    await generator.__anext__()
    del generator
    for _ in range(9):
        await asyncio.sleep(0)


async def halves():
    async def step(generator):
        return await generator.__anext__()

    generator = async_numbers()
    assert [await generator.__anext__(), await generator.asend(2),
            await generator.athrow(KeyError)] == [1, 2, 3]
    assert [value async for value in generator] == []
    generator = async_numbers()
    await generator.__anext__()
    await generator.aclose()
    first, second = async_half(), async_half()
    await asyncio.create_task(step(first))
    await asyncio.create_task(step(second))
    await asyncio.create_task(first.aclose())
    await asyncio.create_task(second.aclose())
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(apart)


class Makes:
    @of_type
    def items(self, count):
        """Documented."""
        yield from [self] * count


makes = Makes()
assert inspect.isgeneratorfunction(numbers) and inspect.isasyncgenfunction(async_numbers)
assert inspect.isgeneratorfunction(makes.items) and Makes.items.__doc__ == "Documented."
assert str(inspect.signature(makes.items)) == "(count)" and numbers().__name__ == "numbers"
assert pickle.loads(pickle.dumps(numbers)) is numbers
for wrong in numbers, async_numbers, makes.items, waits:  # wrong arguments fail at the call
    fails(TypeError, wrong, 1, 2, 3)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    waits(1)
    waits(2).close()
    name_of_waits = functools.partial(waits, 3)
    asyncio.run(asyncio.wait_for(name_of_waits(), 60))
assert [str(warning.message) for warning in caught] == ["coroutine 'waits' was never awaited"], caught
fails(TypeError, closes_slowly)
assert list(makes.items(2)) == [makes, makes]
bound = of_type(functools.partial(Makes.items.__wrapped__, makes, 3))
assert list(bound()) == [makes] * 3 and inspect.isgeneratorfunction(bound)
assert str(inspect.signature(bound)) == "()"
assert inspect.isasyncgenfunction(of_type(functools.partial(closes_slowly.__wrapped__, True)))
assert asyncio.run(of_type(functools.partial(waits.__wrapped__, 5))()) == 5
with posixtrace.Stream(path):
    generator = numbers()
    assert [next(generator), generator.send(2), generator.throw(KeyError), *generator] == [1, 2, 3]
    next(numbers())  # is closed without its end
    asyncio.run(halves())
    first, second = half(), half()
    for generator in first, second, first, second:
        contextvars.copy_context().run(next, generator, None)
    with contextlib.ExitStack() as stack:
        stack.enter_context(apart)
    stacks = []
    first, second = stacked_half(stacks), stacked_half(stacks)
    next(first), next(second)
    moved = stacks[0].pop_all()
    moved.close()
    stacks[1].close()
    for generator in first, second:
        next(generator, None)
    contextvars.copy_context().run(apart.__enter__)
    apart.__exit__(None, None, None)  # cannot be found, and does not fail
assert not apart._owned and not stacked._owned
spans = [(e.name, e.fields.get("id")) for e in posixtrace.Log(path)]
assert [name for name, _ in spans if name.startswith("of_type")] == [
    "of_type.begin", "of_type.end"] * 4, spans
begun = [number for name, number in spans if name == "apart.begin"]
ended = [number for name, number in spans if name == "apart.end"]
assert [(name, number) for name, number in spans if name.startswith("stacked")] == [
    ("stacked.begin", 1), ("stacked.begin", 2), ("stacked.end", 1), ("stacked.end", 2)], spans
assert begun == list(range(1, 10)), spans
assert ended == [2, 1, 4, 3, 5, 6, 7, 8], spans

# The event loop closes a traced generator once, although an outer generator has the span and an inner
# one the code.
with posixtrace.Stream(path):
    asyncio.run(leaves_open())
    asyncio.run(abandons())
assert not reported, reported
assert [e.name for e in posixtrace.Log(path) if e.name.startswith("of_type")] == [
    "of_type.begin", "of_type.end"] * 2

# Only the part of a large value that fits is copied.
raw = posixtrace.Event("raw", "bytes data; u8 behind")
large = bytearray(range(256)) * (1 << 15)
table = memoryview(bytes(range(120))).cast("B", (2, 3, 20))
with posixtrace.Stream(path):
    tracemalloc.start()
    raw(memoryview(large)[::2], 1)
    raw(large, 2)
    text = "\u20ac" * (1 << 20)
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    raw(memoryview(large)[::2], 4)
    raw(memoryview(large), 5)
    name(text, 6)
    copied = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert copied < 1 << 16, copied
    raw(table, 7)
    raw(array.array("H", [1, 2, 3]), 8)
    fails(ValueError, event, 1, "x", "text", memoryview(large), b"\1\0\2\0")
datas = {e.fields["behind"]: e.fields["data"] for e in posixtrace.Log(path) if e.name == "raw"}
assert datas[1] == datas[4] == bytes(large[:2 * len(datas[1]):2]) and len(datas[1]) > 900, datas
assert datas[2] == datas[5] == bytes(large[:len(datas[2])]), datas
assert datas[7] == bytes(range(120)) and datas[8] == array.array("H", [1, 2, 3]).tobytes()
texts = [e.fields for e in posixtrace.Log(path) if e.name == "name"]
assert texts[0]["behind"] == 6 and texts[0]["text"].startswith("\u20ac" * 300), texts

# An interpreter with a lock of its own refuses the module with an ImportError.
if sys.version_info >= (3, 12):
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    try:
        failed = interpreters.run_string(
            interpreters.create(),
            "try:\n import posixtrace\nexcept ImportError as error: assert '_posixtrace' in str(error)"
            "\nelse: raise AssertionError('imported')")
        assert failed is None, failed
    except RuntimeError as error:
        raise AssertionError(error)

# Frames, also of fields whose names are those of other columns, and of no event. Without pandas, a
# class with the same interface replaces it.
try:
    import pandas
except ImportError:
    class Frame(dict):
        columns = property(list)

    sys.modules["pandas"] = types.SimpleNamespace(
        DataFrame=Frame, to_datetime=lambda times, unit, utc: times,
        array=lambda values, dtype: values)
    pandas = None
    print("no pandas: a replacement tests frame()")
alike = posixtrace.Event("alike", "s32 pid; str name; u8 name_; s32 other")
wide = posixtrace.Event("wide", "u64 id; s64 low; bool is; f64 real; u64 both; u64 mixed")
narrow = posixtrace.Event("narrow", "s64 both; f64 mixed")
with posixtrace.Stream(path):
    alike(-5, "first", 1, 2)
    alike(-6, "second", 3, 4)
    wide(2**64 - 1, -2**63, True, 0.5, 2**64 - 1, 2**64 - 1)
    narrow(-1, 0.5)
    name("third", 7)
frame = posixtrace.Log(path).frame("alike")
own = ["name", "time", "pid", "tid", "message"]
assert list(frame.columns) == own + ["pid_", "name_", "name__", "other"], frame.columns
assert list(frame["name"]) == ["alike", "alike"] and list(frame["pid"]) == [os.getpid()] * 2
assert list(frame["pid_"]) == [-5, -6] and list(frame["name_"]) == ["first", "second"]
assert list(frame["name__"]) == [1, 3] and list(frame["other"]) == [2, 4]
assert set(posixtrace.Log(path).frame()["name"]) >= {"alike", "name", "posix_trace_start"}
none = posixtrace.Log(path).frame("no such event")
assert list(none.columns) == own and len(none["name"]) == 0
if pandas:
    assert len(none) == 0 and len(frame) == 2
    for each in frame, none:
        assert str(each["time"].dtype) == "datetime64[ns, UTC]", each.dtypes
    # The numbers that some events do not have are whole.
    frame = posixtrace.Log(path).frame()
    types_of = {column: str(frame[column].dtype) for column in ("id", "low", "is", "real", "other")}
    assert types_of == {"id": "UInt64", "low": "Int64", "is": "boolean", "real": "float64",
                        "other": "Int64"}, types_of
    row = frame[frame["name"] == "wide"].iloc[0]
    assert (int(row["id"]), int(row["low"]), bool(row["is"])) == (2**64 - 1, -2**63, True), row
    assert sorted(frame["both"].dropna()) == [-1, 2**64 - 1], frame["both"]
    assert sorted(frame["mixed"].dropna()) == [0.5, 2**64 - 1], frame["mixed"]
    assert not list(none["name"].str.startswith("x")) and none["pid"].dtype == object
    assert frame["other"].sum() == 6 and frame["real"].count() == 1
