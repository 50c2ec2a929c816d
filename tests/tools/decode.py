# SPDX-License-Identifier: LGPL-2.1-or-later
"""A file of a binary format as text, for transcripts: decode.py FORMAT [FILE]. The formats are:

perfetto  the fields of each message of standard input, by their numbers; texts and numbers as such
perfetto_tables   switches and states of threads, CPU samples, call stacks and flows of standard input
ctf       the metadata, then the head of each packet and its bytes
sqlite    the statements that make the schema, then the rows of each table
parquet   the columns that have values, then the rows, of each file of a folder
otlp      the spans of a folder as trees, then the log records, after both encodings were compared
"""
import pathlib
import re
import sqlite3
import struct
import sys

sys.dont_write_bytecode = True
import otlp as telemetry  # noqa: E402
import parquet as tables  # noqa: E402
import perfetto_tables as states  # noqa: E402
import spans_of  # noqa: E402

PACKET = struct.Struct("<I16sIQQQQQQQ")

# Names of the fields that exports have: those of messages by the path of field numbers to them.
NAMES = {
    "1": "packet", "1.8": "timestamp", "1.10": "sequence", "1.11": "event", "1.12": "interned",
    "1.13": "sequence_flags", "1.6": "clock_snapshot", "1.58": "clock", "1.60": "track",
    "1.59": "defaults", "1.11.9": "type", "1.11.10": "name_iid", "1.11.11": "track_uuid",
    "1.11.23": "name", "1.11.4": "annotation", "1.60.1": "uuid", "1.60.2": "name",
    "1.60.3": "process", "1.60.4": "thread", "1.60.5": "parent", "1.12.2": "event_name",
}


def is_message(data):
    """Whether bytes are fields, as far as one can see; text that is printed as such is not."""
    if not data or all(32 <= byte < 127 for byte in data):
        return False
    try:
        return all(0 < number < 1000 for number, _ in spans_of.fields(data))
    except (IndexError, ValueError, struct.error):
        return False


def shown(data):
    return '"%s"' % "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else "\\x%02x" % byte
                            for byte in data)


TEXTS = {"1.11.23", "1.60.2"}  # names, which may look like a message


def leaf(value, path):
    """A number or a text, None for a message."""
    if isinstance(value, int):
        return "%d" % spans_of.signed(value)
    return shown(value) if path in TEXTS or not is_message(value) else None


def put_fields(data, path, depth):
    """A message without messages in it is one line."""
    for number, value in spans_of.fields(data):
        here = path + "." + str(number) if path else str(number)
        name = "  " * depth + NAMES.get(here, str(number))
        text = leaf(value, here)
        inner = [] if text is not None else list(spans_of.fields(value))
        leaves = [leaf(of, here + ".%d" % n) for n, of in inner]
        if text is not None:
            print("%s: %s" % (name, text))
        elif None in leaves:
            print(name)
            put_fields(value, here, depth + 1)
        else:
            print("%s: { %s }" % (name, ", ".join(
                "%s: %s" % (NAMES.get(here + ".%d" % n, n), of) for (n, _), of in zip(inner, leaves))))


def perfetto(_):
    put_fields(sys.stdin.buffer.read(), "", 0)


def perfetto_tables(_):
    states.show(sys.stdin.buffer.read())


def ctf(path):
    folder = pathlib.Path(path)
    metadata = (folder / "metadata").read_bytes().decode("utf-8", "surrogateescape")
    print(re.sub(r'uuid = "[^"]*"', 'uuid = "..."', metadata), end="")
    for stream in sorted(folder.glob("stream_*")):
        data, at = stream.read_bytes(), 0
        while at < len(data):
            magic, _, number, instance, begin, end, content, packet, sequence, discarded = (
                PACKET.unpack_from(data, at))
            print("%s, offset %d: magic %x, stream %d.%d, times %d to %d, %d of %d bits, number %d, "
                  "%d discarded" % (stream.name, at, magic, number, instance, begin, end, content,
                                    packet, sequence, discarded))
            bytes_ = data[at + PACKET.size:at + content // 8]
            for line in range(0, len(bytes_), 32):
                print("  %s" % bytes_[line:line + 32].hex())
            at += packet // 8


def sqlite(path):
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    db.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    for sql, in db.execute("select sql from sqlite_master where sql is not null"):
        print(sql)
    for name, in db.execute("select name from sqlite_master where type = 'table' order by 1").fetchall():
        columns = [row[1] for row in db.execute("pragma table_info('%s')" % name)]
        print("%s: %s" % (name, ", ".join(columns)))
        quoted = " || ', ' || ".join('quote("%s")' % column for column in columns)
        for row, in db.execute("select %s from '%s'" % (quoted, name)):
            print("  %s" % shown(row.encode("utf-8", "surrogateescape"))[1:-1])


def parquet(path):
    for file in sorted(pathlib.Path(path).glob("*.parquet")):
        tables.show(file, ("boot", "uuid", "begun"))


def otlp(path):
    telemetry.compare(pathlib.Path(path))
    telemetry.show(pathlib.Path(path))


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    globals()[sys.argv[1]](sys.argv[2] if len(sys.argv) > 2 else None)
