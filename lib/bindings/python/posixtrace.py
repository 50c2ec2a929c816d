# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tracing with libposixtrace.

    import posixtrace

    accept = posixtrace.Event("net.accept", "s32 fd; str peer")
    work = posixtrace.Span("work")

    @work                              # each call is a span
    def answer(fd):
        accept(fd, peer="localhost")

    with posixtrace.Stream("first.ptl"):   # records into a log
        with posixtrace.Span("main"):
            answer(3)

    for event in posixtrace.Log("first.ptl"):
        print(event.name, event.fields)

The first call of an Event examines its arguments. While no stream traces the process, further calls
and spans cost one test, and their arguments are not examined. A schema lists the fields of an event
type: posix_trace_eventid_describe_np(3).

Errors of the library raise OSError. Wrong arguments raise TypeError, ValueError or OverflowError.
"""
import contextlib
import contextvars
import functools
import inspect
import itertools
import sys
import threading
import types

from _posixtrace import (Event, Record, TracedFunction, is_active, _end_calls, _hide_file, _Log,
                         _profile_thread, _Span, _Stream, _on_end, _on_start)

__all__ = ["AsyncSpan", "Event", "Log", "Record", "Span", "Stream", "TracedFunction", "is_active",
           "trace_functions"]


class Span(_Span):
    """Span(name, level=0): a kind of span with the events name.begin and name.end.

    A Span is a context manager and a decorator, also for methods. Make one Span for each name. The
    end is also recorded if an exception ends the block.

    The span of an async function ends when its coroutine ends. The span of a generator, also of an
    async one, begins when the first value is requested, and ends with the generator. If several
    coroutines or generators of a thread wait at the same time, their spans overlap, and readers
    pair a begin with a wrong end. Use AsyncSpan for them.
    """

    __slots__ = ()

    def __call__(self, function):
        return _traced_later(self, function) or functools.update_wrapper(
            super().__call__(function), function)


def _traced_later(span, function):
    """Returns a wrapper of a function whose call only makes an object that runs later, or None."""
    make_inner, take = function, lambda inner: inner
    if inspect.iscoroutinefunction(function):
        is_kind, make_outer = inspect.iscoroutinefunction, _outer_coroutine
        make_inner, take = _Unawaited.maker(function), _Unawaited.take
    elif inspect.isgeneratorfunction(function):
        is_kind, make_outer = inspect.isgeneratorfunction, _outer_generator
    elif inspect.isasyncgenfunction(function):
        is_kind, make_outer = inspect.isasyncgenfunction, _outer_async_generator
    else:
        return None
    # In older versions of Python, the module inspect recognizes only functions as functions of
    # these kinds, so the wrapper is a function, and wrong arguments fail at the first step. The
    # same is true of an object that inspect.markcoroutinefunction() has marked and that has no
    # __code__.
    if hasattr(_inside(function), "__code__"):
        traced = _TracedLater(function, make_inner, make_outer(span, function, take))
        if is_kind(traced):
            return traced
    return functools.wraps(function)(make_outer(span, function, function))


def _inside(function):
    """Returns the function behind each functools.partial, which has no code and no name itself."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _named(outer, function):
    """Gives `outer`, and so its coroutines or generators, the names of `function`."""
    inside = _inside(function)
    for name in "__name__", "__qualname__":
        setattr(outer, name, getattr(inside, name, type(inside).__name__))
    return outer


class _Unawaited:
    """Holds the inner coroutine until the outer coroutine awaits it.

    If the program never awaits the outer coroutine, Python warns about the outer coroutine. Without
    this object, Python would warn about the inner coroutine, too.
    """

    __slots__ = ("_coroutine",)

    def __init__(self, coroutine):
        self._coroutine = coroutine

    @classmethod
    def maker(cls, function):
        return lambda *args, **keywords: cls(function(*args, **keywords))

    def take(self):
        coroutine, self._coroutine = self._coroutine, None
        return coroutine

    def __del__(self):
        # A function that is only marked as a coroutine function may return any awaitable.
        close = getattr(self._coroutine, "close", None)
        if close:
            close()


def _outer_coroutine(span, function, make):
    """Returns an async function whose span is around the coroutine that `make` returns."""
    async def outer(*args, **keywords):
        with span:
            return await make(*args, **keywords)
    return _named(outer, function)


def _outer_generator(span, function, make):
    """Returns a generator function whose span is around the generator that `make` returns."""
    def outer(*args, **keywords):
        with span:
            return (yield from make(*args, **keywords))
    # A generator of @types.coroutine can be awaited, so the outer one must be awaitable, too.
    if _inside(function).__code__.co_flags & inspect.CO_ITERABLE_COROUTINE:
        outer = types.coroutine(outer)
    return _named(outer, function)


def _outer_async_generator(span, function, make):
    """As _outer_generator(), for async generators."""
    async def outer(*args, **keywords):
        with span:
            inner = make(*args, **keywords)
            step = _first_step(inner)
            while True:
                try:
                    value = await step
                except StopAsyncIteration:
                    return
                try:
                    step = inner.asend((yield value))
                except GeneratorExit:
                    await inner.aclose()
                    raise
                except BaseException as error:
                    step = inner.athrow(error)
    return _named(outer, function)


def _first_step(inner):
    """Starts an async generator without the hooks of the event loop.

    Returns the first __anext__(). The event loop knows the outer generator, which closes the inner
    one. If the loop knew the inner one, too, it would close both at its end by two calls of
    aclose() at the same time, and one of the two would fail because the other one is running.
    """
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, hooks.finalizer and (lambda abandoned: None))
    try:
        return inner.__anext__()
    finally:
        sys.set_asyncgen_hooks(*hooks)


class _TracedLater:
    """An async function or a generator function, also an async one, that is traced as a span.

    A call of the object makes the coroutine or generator of the function, so wrong arguments fail at
    the call and not at the first step. The object has the attributes by which the module inspect
    recognizes a function.
    """

    def __init__(self, function, make_inner, make_outer):
        inside = _inside(function)
        functools.update_wrapper(self, inside)
        self.__wrapped__ = function
        self.__code__ = inside.__code__
        self.__defaults__ = inside.__defaults__
        self.__kwdefaults__ = inside.__kwdefaults__
        self.__make_inner = make_inner
        self.__make_outer = make_outer

    def __call__(self, /, *args, **keywords):
        return self.__make_outer(self.__make_inner(*args, **keywords))

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self):
        return self.__qualname__


# The flags of the code of a frame that can be left and entered again: of generators, coroutines and
# async generators.
_IS_RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def _owner_of(frame):
    """Returns the id of the owner of a block that this frame enters or leaves, or None.

    The owner is the list of callbacks of an ExitStack, or the frame if it can be left and entered
    again. A block in any other frame has no owner.
    """
    if not frame:
        return None
    if frame.f_globals is vars(contextlib):
        callbacks = getattr(frame.f_locals.get("self"), "_exit_callbacks", None)
        return None if callbacks is None else id(callbacks)
    return id(frame) if frame.f_code.co_flags & _IS_RESUMED else None


class AsyncSpan:
    """AsyncSpan(name, level=0): a kind of span whose spans may overlap in one thread.

    Use it like a Span. Each span has a number, the field id of name.begin and name.end. By this
    key, readers find the end of a span, whatever the coroutines and threads of the process do. A
    generator may begin a span in one thread or task, and end it in another.
    """

    __slots__ = ("_begin", "_end", "_numbers", "_open", "_owned")
    _numbers_of = {}  # objects with the same name share the numbers

    def __init__(self, name, level=0):
        more = f"; @level {level}" if level else ""
        self._begin = Event(f"{name}.begin", f"u64 id; @begin {name}; @key id{more}")
        self._end = Event(f"{name}.end", f"u64 id; @end {name}; @key id{more}")
        self._numbers = self._numbers_of.setdefault(name, itertools.count(1))
        # The numbers of the open spans; 0 if a begin was not recorded. A coroutine or generator may
        # leave its block in another context than that in which it entered the block, so _owned has
        # its numbers under the id of its frame. A reference to the frame would keep an abandoned
        # generator alive. An ExitStack enters and leaves a block in different frames, and may be in
        # a generator, so _owned has its numbers under the id of its list of callbacks, which
        # pop_all() moves to another ExitStack. Any other function runs in one context, so _open has
        # its numbers.
        self._owned = {}
        self._open = contextvars.ContextVar(name, default=())

    def __enter__(self):
        number = next(self._numbers) if is_active() else 0
        owner = _owner_of(sys._getframe().f_back)
        if owner:
            self._owned.setdefault(owner, []).append(number)
        else:
            self._open.set((number, *self._open.get()))
        if number:
            self._begin(number)
        return self

    def __exit__(self, *exception):
        owner = _owner_of(sys._getframe().f_back)
        numbers = self._owned.get(owner)
        if numbers:
            number = numbers.pop()
            if not numbers:
                del self._owned[owner]
        else:
            # Without a number, the caller has entered in another context. The span has no end.
            number, *outer = self._open.get() or (0,)
            self._open.set(tuple(outer))
        if number:
            self._end(number)

    def __call__(self, function):
        later = _traced_later(self, function)
        if later:
            return later

        @functools.wraps(function)
        def traced(*args, **keywords):
            with self:
                return function(*args, **keywords)
        return traced


class Stream(_Stream):
    """Stream(path=None, pid=0, *, inherited=False): a stream that traces this process, or the
    process pid.

    With a path, the stream writes its events into a log in this file. Without a path, each call of
    read(timeout) returns one event, or None after that time in seconds. With inherited=True, the
    stream also traces the children that the process later creates by fork, as os.fork() and
    multiprocessing do. Only the process that made the stream controls it: in a child, shutdown does
    nothing, and the other methods raise OSError. Methods: start, stop, flush, clear, shutdown,
    level(1 to 5), exclude("io.*,!io.read") and read(timeout). As a context manager, the object
    starts the stream and shuts it down.
    """

    __slots__ = ()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.shutdown()

    def __iter__(self):
        """Yields the events while they happen, up to the stop of the stream."""
        while True:
            event = self.read(0.5)
            if event is not None:
                yield event
                if event.name == "posix_trace_stop":
                    return


class Log(_Log):
    """Log(path): the events of a log. Each loop over the log begins with the first event. Loops
    over one Log share its position: for a loop in a loop, open the log twice.

    An event has name, time_ns, pid, tid, fields (a dictionary), message, data and address. A
    message is cut to 4095 bytes.
    """

    __slots__ = ()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def frame(self, name=None):
        """Returns the events, or only those with the given name, as a pandas.DataFrame.

        The frame has the columns name, time, pid, tid and message, and a column for each field. If
        a field has the name of another column, "_" follows the name of its column. A column of
        integers or truth values that some events do not have keeps its values: its type is Int64,
        UInt64 or boolean, with pandas.NA for the events without a value.
        """
        import pandas

        columns = {column: [] for column in ("name", "time", "pid", "tid", "message")}
        rows = 0
        for event in self:
            if name is not None and event.name != name:
                continue
            own = (event.name, event.time_ns, event.pid, event.tid, event.message)
            row = dict(zip(columns, own))
            for column, value in event.fields.items():
                while column in row:
                    column += "_"
                row[column] = value
            for column, value in row.items():
                values = columns.setdefault(column, [])
                values.extend(itertools.repeat(None, rows - len(values)))
                values.append(value)
            rows += 1
        for values in columns.values():
            values.extend(itertools.repeat(None, rows - len(values)))
        columns["time"] = pandas.to_datetime(columns["time"], unit="ns", utc=True)
        # Without a value, pandas would make floats of all columns.
        return pandas.DataFrame({
            column: _whole(pandas, values) if rows or column == "time" else
            pandas.array(values, dtype=object) for column, values in columns.items()})


def _whole(pandas, values):
    """Returns the values of a column, as an array of pandas if their numbers would become floats."""
    if not isinstance(values, list):
        return values
    kinds = {type(value) for value in values}
    numbers = [value for value in values if type(value) is int]
    if kinds - {type(None)} == {int, float} and max(map(abs, numbers)) > 1 << 53:
        return pandas.array(values, dtype=object)
    if type(None) not in kinds:
        return values
    if kinds == {bool, type(None)}:
        return pandas.array(values, dtype="boolean")
    if kinds != {int, type(None)}:
        return values
    if max(numbers) < 1 << 63:
        return pandas.array(values, dtype="Int64")
    # Signed and unsigned fields of the same name may have values that no type of pandas has.
    return pandas.array(values, dtype="UInt64" if min(numbers) >= 0 else object)


class trace_functions:
    """Records each call of a Python function as a span with the name python.

    The event python.begin has the fields function, file and line. Use the object as a context
    manager, or call start() and stop(). With Python 3.12 and later, sys.monitoring traces all
    threads. With older versions, the profile hook traces only the calling thread and threads that
    begin later. A generator or coroutine ends its span where it yields. stop() ends the open spans
    of the calling thread. Functions of this module have no spans. Each call of a function costs two
    events; README has the cost.
    """

    _hide_file((lambda: None).__code__.co_filename)

    def __init__(self, tool=None):
        self._tool = tool

    def start(self):
        monitoring = getattr(sys, "monitoring", None)
        if not monitoring:
            threading.setprofile(lambda *event: _profile_thread(True))
            _profile_thread(True)
            return
        if self._tool is None:
            self._tool = monitoring.PROFILER_ID
        monitoring.use_tool_id(self._tool, "posixtrace")
        events = monitoring.events
        for event in (events.PY_START, events.PY_RESUME, events.PY_THROW):
            monitoring.register_callback(self._tool, event, _on_start)
        for event in (events.PY_RETURN, events.PY_YIELD, events.PY_UNWIND):
            monitoring.register_callback(self._tool, event, _on_end)
        monitoring.set_events(self._tool, events.PY_START | events.PY_RESUME | events.PY_THROW |
                              events.PY_RETURN | events.PY_YIELD | events.PY_UNWIND)

    def stop(self):
        monitoring = getattr(sys, "monitoring", None)
        if not monitoring:
            _profile_thread(False)
            threading.setprofile(None)
            return
        monitoring.set_events(self._tool, 0)
        _end_calls()
        monitoring.free_tool_id(self._tool)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.stop()
