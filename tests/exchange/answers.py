# SPDX-License-Identifier: LGPL-2.1-or-later
"""The content of a log, in a form that can be compared with the results of other readers."""
import collections
import hashlib
import re
import struct

import readlog

# ------------------------------------------------------------------ payloads

SCALARS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "s8": "b", "s16": "h", "s32": "i",
           "s64": "q", "x8": "B", "x16": "H", "x32": "I", "x64": "Q", "f32": "f", "f64": "d",
           "bool": "B", "char": "B", "ptr": "Q", "ptr32": "I", "ns": "Q", "time": "q", "errno": "i",
           "o8": "B", "o16": "H", "o32": "I", "o64": "Q", "fd": "i", "signal": "i", "wait": "i"}


def parse_schema(text):
    fields, facts = [], {}
    for item in text.decode().split(";"):
        item = item.strip()
        if not item:
            continue
        if item.startswith("@"):
            word, value = item[1:].split(None, 1)
            facts[word] = value.strip()
            continue
        match = re.match(r"(\w+)(?:\[(\d+)\])?\s+(\w+)\s*(?:\{.*\})?$", item)
        fields.append((match.group(1), int(match.group(2) or 0), match.group(3)))
    return fields, facts


def decode(fields, data):
    """The fields that the data contains completely, and whether it contains exactly all."""
    values, at = {}, 0
    for kind, count, name in fields:
        if kind == "str" and not count:
            if at >= len(data):
                return values, False
            end = data.find(0, at)
            values[name] = bytes(data[at:end if end >= 0 else len(data)])
            at = end + 1 if end >= 0 else len(data)
        elif kind in ("str", "bytes"):
            size = count
            if not count:
                if at + 4 > len(data):
                    return values, False
                size, = struct.unpack_from("=I", data, at)
                at += 4
            if at + size > len(data):
                return values, False
            value = bytes(data[at:at + size])
            values[name] = value.split(b"\0")[0] if kind == "str" else value
            at += size
        else:
            code = SCALARS[kind]
            size = struct.calcsize("=" + code)
            there = min(count or 1, (len(data) - at) // size)
            got = struct.unpack_from("=%d%s" % (there, code), data, at)
            if there:
                values[name] = list(got) if count else got[0]
            if there < (count or 1):
                return values, False
            at += size * there
    return values, at == len(data)


# ------------------------------------------------------------------ the expected answers

Event = collections.namedtuple("Event", "ns name pid tid thread address data truncated late fields")


class Answers(dict):
    """The results of a reader, by property; a missing property was not read."""


def without(answers, *properties):
    for key in properties:
        del answers[key]
    return answers


def digest(items):
    sha = hashlib.sha256()
    for item in sorted(repr(item) for item in items):
        sha.update(item.encode() + b"\n")
    return sha.hexdigest()[:16]


def in_order(events):
    sha = hashlib.sha256()
    for event in events:
        sha.update(repr((event.ns, event.name)).encode())
    return sha.hexdigest()[:16]


def answer(events, **more):
    answers = Answers()
    answers["events"] = len(events)
    answers["names"] = digest(collections.Counter(e.name for e in events).items())
    answers["order"] = in_order(events)
    answers["first and last"] = (min(e.ns for e in events), max(e.ns for e in events))
    answers["times"] = digest((e.ns, e.name) for e in events)
    answers["threads"] = digest(collections.Counter((e.pid, e.tid) for e in events).items())
    answers["handles"] = digest(collections.Counter((e.pid, e.tid, e.thread)
                                                    for e in events).items())
    answers["addresses"] = digest((e.ns, e.name, e.address) for e in events)
    answers["payloads"] = digest((e.ns, e.name, e.data) for e in events)
    answers["truncation"] = digest((e.ns, e.name) for e in events if e.truncated)
    answers["late"] = digest((e.ns, e.name) for e in events if e.late)
    answers["fields"] = digest((e.ns, e.name, sorted(e.fields.items())) for e in events
                               if e.fields)
    answers.update(more)
    return answers


LOSSES = {b"posix_trace_start", b"posix_trace_overflow", b"posix_trace_resume"}


def paired(events, roles, keys=None, took=None):
    """Spans as posixtrace-latency(1) defines them, and the events that are no part of one.

    An end ends the youngest begin of its span with its key, or of its thread; losses cut what is open. took
    has the field of the types that say how long something took.
    """
    stacks, spans, points = collections.defaultdict(list), collections.Counter(), []
    for e in events:
        if e.name in LOSSES:
            for stack in stacks.values():
                points += [begin for begin in stack]
            stacks.clear()
        if took and e.name in took:
            field = took[e.name]
            if field in (e.fields or ()):
                spans[e.name.decode(errors="replace"), e.ns - e.fields[field], e.ns] += 1
            else:
                points.append(e)
            continue
        phase, span = roles.get(e.name, (None, None))
        if not phase:
            points.append(e)
            continue
        key = keys and keys.get(e.name)
        who = tuple((e.fields or {}).get(k) for k in key) if key else (e.tid, e.thread)
        stack = stacks[span, e.pid, who]
        if phase == "begin":
            stack.append(e)
        elif stack:
            spans[span, stack.pop().ns, e.ns] += 1
        else:
            points.append(e)
    for stack in stacks.values():
        points += stack
    return spans, points


def paired_spans(events, roles, keys=None):
    return digest(paired(events, roles, keys)[0].items())


def keys_of(log):
    facts = {log.names[n]: parse_schema(text)[1] for n, text in log.schemas.items()}
    return {name: [k.strip() for k in f["key"].split(",")] for name, f in facts.items() if "key" in f}


def took_of(log):
    """The first field of type ns, of types that begin and end nothing."""
    took = {}
    for number, text in log.schemas.items():
        fields, facts = parse_schema(text)
        times = [f[2] for f in fields if f[0] == "ns"]
        if times and "begin" not in facts and "end" not in facts:
            took[log.names[number]] = times[0]
    return took


ENDINGS = [("_start", "_stop"), ("_start", "_end"), ("_begin", "_end"), ("_enter", "_exit"),
           ("_enter", "_leave"), ("_entry", "_exit")]


def roles_of(log):
    roles, took = {}, took_of(log)
    described = {log.names[n] for n, text in log.schemas.items()
                 if {"begin", "end"} & set(parse_schema(text)[1])}
    names = set(log.names.values()) - set(took) - described
    for number, name in log.names.items():
        facts = parse_schema(log.schemas[number])[1] if number in log.schemas else {}
        if "begin" in facts:
            roles[name] = ("begin", facts["begin"])
        elif "end" in facts:
            roles[name] = ("end", facts["end"])
        elif number >= 64 and name in names:
            for begin, end in ENDINGS:
                for phase, mine, other in ("begin", begin, end), ("end", end, begin):
                    stem = name[:-len(mine)]
                    if name.endswith(mine.encode()) and stem and stem + other.encode() in names:
                        roles[name] = (phase, stem.decode())
    return roles


def lost_of(ledger):
    return sum(count for cause, count in enumerate(ledger["lost"]) if cause != 8)


def attributes_of(log):
    return (log.name, log.host, log.generation, log.clock, log.pid, log.creation_ns)


def events_of(log):
    schemas = {number: parse_schema(text)[0] for number, text in log.schemas.items()}
    for e in log.events():
        fields = decode(schemas[e.type], e.data)[0] if e.type in schemas else None
        yield Event(e.ns, log.names[e.type], e.pid, e.tid, e.thread, e.address, bytes(e.data),
                    e.truncated, e.late, fields)


def answers_of(log):
    events = list(events_of(log))
    levels = {log.names[n]: int(parse_schema(t)[1]["level"]) for n, t in log.schemas.items()
              if "level" in parse_schema(t)[1]}
    return events, answer(
        events, levels=digest(levels.items()), spans=paired_spans(events, roles_of(log), keys_of(log)),
        objects=digest((pid, pointer, name) for _, pid, pointer, _, name in log.objects),
        losses=lost_of(log.ledger), attributes=digest(map(repr, attributes_of(log))),
        ledger=digest([sorted(log.ledger.items()),
                       sorted((log.names[n], sorted(l.items()))
                              for n, l in log.ledger_types.items()),
                       sorted((k, sorted(l.items()))
                              for k, l in log.ledger_threads.items())]))


CAUSES = ["overwritten", "stream full", "log full", "overwritten in the log", "flush error",
          "no memory", "too many threads", "nested too deep", "cleared", "damaged",
          "over budget"]


def answer_of(known):
    answers = Answers()
    answers.update(known)
    return answers
