# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads files of Apache Parquet, for tests: written from parquet.thrift and Encodings.md of
github.com/apache/parquet-format, and independent of the writer.

parquet.py FILE...           the columns and the rows of files
parquet.py compare FOLDER POSIXTRACE LOG...
                             compares the tables in the folder with posixtrace query of the logs
parquet.py database FOLDER FILE.db
                             compares those that a database of posixtrace convert has, too
"""
import ctypes
import json
import math
import pathlib
import sqlite3
import struct
import subprocess
import sys

# Tables that query computes from the others
VIEWS = {"stored", "rates", "durations"}
KINDS = {1: "INT32", 2: "INT64", 5: "DOUBLE", 6: "BYTE_ARRAY", 7: "FIXED"}


class Reader:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def take(self, count):
        assert self.at + count <= len(self.data), "the file is too short"
        self.at += count
        return self.data[self.at - count:self.at]

    def value(self, kind):
        """A value of the compact protocol of Thrift."""
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.signed()
        if kind == 7:
            return struct.unpack("<d", self.take(8))[0]
        if kind == 8:
            return bytes(self.take(self.varint()))
        if kind == 9:
            head = self.byte()
            count = self.varint() if head >> 4 == 15 else head >> 4
            return [self.value(head & 15) for _ in range(count)]
        assert kind == 12, "a value of kind %d" % kind
        return self.structure()

    def structure(self):
        fields, number = {}, 0
        while True:
            head = self.byte()
            if not head:
                return fields
            number = number + (head >> 4) if head >> 4 else self.signed()
            assert number not in fields, "field %d twice" % number
            fields[number] = self.value(head & 15)


def numbers(reader, width, count):
    """Numbers in the hybrid of run lengths and bit packing."""
    result = []
    while len(result) < count:
        head = reader.varint()
        if head & 1:
            groups = head >> 1
            bits = int.from_bytes(reader.take(groups * width), "little")
            for i in range(groups * 8):
                result.append(bits >> i * width & (1 << width) - 1)
        else:
            value = int.from_bytes(reader.take((width + 7) // 8), "little")
            assert head >> 1, "a run without numbers"
            result += [value] * (head >> 1)
    return result[:count]


def unpacked(codec, data, size):
    if codec == 0:
        assert len(data) == size
        return data
    assert codec == 6, "codec %d" % codec
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    to = ctypes.create_string_buffer(size or 1)
    assert zstd.ZSTD_decompress(to, size, bytes(data), len(data)) == size, "zstd"
    return to.raw[:size]


class Column:
    def __init__(self, element):
        self.kind = KINDS[element[1]]
        self.bytes = element.get(2, 0)
        assert element[3] == 1, "columns are optional"
        self.name = element[4].decode()
        logical = element.get(10, {})
        self.type = {(): self.kind, (1,): "STRING", (5,): "DECIMAL", (10,): "UINT64"}[tuple(logical)]
        # The converted type says the same to older readers.
        assert element.get(6) == {"STRING": 0, "DECIMAL": 5, "UINT64": 14}.get(self.type), self.name
        if self.type == "DECIMAL":
            assert (logical[5][1], logical[5][2]) == (element[7], element[8]) == (0, 20)
        if self.type == "UINT64":
            assert logical[10] == {1: 64, 2: False}

    def decode(self, plain):
        """A value from its plain bytes."""
        if self.type == "STRING":
            return plain.decode("utf-8", "strict")
        if self.kind == "BYTE_ARRAY":
            return plain
        if self.kind == "FIXED":
            return int.from_bytes(plain, "big", signed=True)
        return struct.unpack("<d" if self.kind == "DOUBLE" else
                             "<Q" if self.type == "UINT64" else "<q", plain)[0]

    def plain(self, reader, count):
        result = []
        for _ in range(count):
            size = {"BYTE_ARRAY": 4, "FIXED": self.bytes}.get(self.kind, 8)
            piece = reader.take(size)
            if self.kind == "BYTE_ARRAY":
                piece = reader.take(struct.unpack("<I", piece)[0])
            result.append(self.decode(bytes(piece)))
        assert reader.at == len(reader.data), "bytes behind the values"
        return result


def check_statistics(column, meta, values):
    """The bounds and the number of NULLs hold."""
    statistics, there = meta[12], [value for value in values if value is not None]
    assert statistics[3] == len(values) - len(there), column.name
    assert (5 in statistics) == (6 in statistics)
    if 5 in statistics:
        key = (lambda text: text.encode()) if column.type == "STRING" else (lambda number: number)
        assert column.decode(statistics[5]) == max(there, key=key), column.name
        assert column.decode(statistics[6]) == min(there, key=key), column.name


def chunk(data, column, meta):
    """The values of a column chunk."""
    assert KINDS[meta[1]] == column.kind and meta[3] == [column.name.encode()]
    begin = min(meta[9], meta.get(11, meta[9]))
    reader, dictionary, values, plain_bytes = Reader(data, begin), None, [], 0
    while len(values) < meta[5]:
        at = reader.at
        head = reader.structure()
        plain_bytes += reader.at - at + head[2]
        assert (at == meta[9]) == (head[1] == 0), "the place of the data page"
        page = Reader(unpacked(meta[4], reader.take(head[3]), head[2]))
        if head[1] == 2:
            assert dictionary is None and at == meta[11] and head[7][2] == 0
            dictionary = column.plain(page, head[7][1])
            assert len(dictionary) == len({repr(value) for value in dictionary}), "a value twice"
            continue
        count, encoding = head[5][1], head[5][2]
        assert encoding in meta[2] and head[5][3] == head[5][4] == 3
        size = struct.unpack("<I", page.take(4))[0]
        levels = Reader(page.take(size))
        there = numbers(levels, 1, count)
        assert levels.at == size, "bytes behind the levels"
        if encoding == 8:
            width = page.byte()
            some = [dictionary[i] for i in numbers(page, width, sum(there))]
            assert page.at == len(page.data), "bytes behind the indices"
        else:
            assert encoding == 0
            some = column.plain(page, sum(there))
        some = iter(some)
        values += [next(some) if is_there else None for is_there in there]
    assert reader.at - begin == meta[7] and plain_bytes == meta[6], "the sizes of the chunk"
    check_statistics(column, meta, values)
    return values


def read(path):
    """The columns of a file, and its rows as lists of values."""
    data = memoryview(pathlib.Path(path).read_bytes())
    assert data[:4] == b"PAR1" and data[-4:] == b"PAR1", "magic"
    size = struct.unpack("<I", data[-8:-4])[0]
    reader = Reader(data, len(data) - 8 - size)
    footer = reader.structure()
    assert reader.at == len(data) - 8, "bytes behind the footer"
    assert footer[2][0][5] == len(footer[2]) - 1 == len(footer[7])
    columns, rows = [Column(element) for element in footer[2][1:]], []
    assert len({column.name.lower() for column in columns}) == len(columns), "a column twice"
    for group in footer[4]:
        assert len(group[1]) == len(columns)
        values = [chunk(data, column, part[3]) for column, part in zip(columns, group[1])]
        assert all(len(some) == group[3] for some in values)
        assert group[6] == sum(part[3][7] for part in group[1])
        assert group[2] == sum(part[3][6] for part in group[1])
        rows += zip(*values)
    assert len(rows) == footer[3]
    read.groups = len(footer[4])
    return columns, rows


def show(path, hidden=()):
    """Prints a file. Values of hidden columns differ from run to run."""
    columns, rows = read(path)
    rows = [[... if column.name in hidden and value is not None else value
             for column, value in zip(columns, row)] for row in rows]
    print("%s: %d rows, %d row groups" % (pathlib.Path(path).name, len(rows), read.groups))
    used = [i for i in range(len(columns)) if any(row[i] is not None for row in rows)] or \
        range(len(columns))
    print("  " + " ".join("%s:%s" % (columns[i].name, columns[i].type) for i in used))
    for row in rows:
        print("  " + " ".join("NULL" if row[i] is None else "..." if row[i] is ... else
                              "x'%s'" % row[i].hex() if isinstance(row[i], bytes) else
                              json.dumps(row[i], ensure_ascii=False) for i in used))


# ---------------------------------------------------------------- the same as query

def escaped(text):
    """Bytes that are not UTF-8 are escaped in Parquet. query --json escapes them in its own way."""
    return "\\x" in text or "\ufffd" in text


def finite(column, value):
    """SQLite has NULL for what is no number, and JSON also for infinity."""
    return None if column.type == "DOUBLE" and value is not None and not math.isfinite(value) else value


def same(column, value, wanted):
    """Whether a value of the file is that of query --json."""
    value = finite(column, value)
    if wanted is None or value is None:
        return value is wanted
    if column.type == "BYTE_ARRAY":
        return value.hex() == wanted
    if column.type == "STRING":
        if isinstance(wanted, float):
            return float(value) == wanted
        return value == str(wanted) or (isinstance(wanted, str) and escaped(wanted))
    if isinstance(wanted, str):  # integers that a double cannot represent exactly
        return value == int(wanted) if wanted.lstrip("-").isdigit() else repr(value) == wanted
    return value == wanted if isinstance(wanted, int) else float(value) == wanted


def query(program, logs, statement):
    run = subprocess.run([program, "query", "--json", *logs, statement], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=False)
    assert run.returncode in (0, 3), statement
    return [json.loads(line) for line in run.stdout.decode("utf-8", "surrogateescape").splitlines()]


def compare(folder, program, logs):
    tables = sorted(path.stem for path in pathlib.Path(folder).iterdir())
    listed = {row["table"] for row in json_tables(program, logs)}
    assert set(tables) == listed - VIEWS, (tables, listed)
    for table in tables:
        columns, rows = read(pathlib.Path(folder) / (table + ".parquet"))
        wanted = query(program, logs, "SELECT * FROM %s" % table)
        names = [column.name for column in columns]
        if wanted:
            assert names == list(wanted[0]), (table, names, list(wanted[0]))
        assert len(rows) == len(wanted), (table, len(rows), len(wanted))
        if len(logs) > 1:
            # Events of several logs are in the order of their times here.
            log, at = names.index("log"), {name: i for i, name in enumerate(logs)}
            rows = sorted(rows, key=lambda row: at.get(row[log], -1))
        for number, (row, other) in enumerate(zip(rows, wanted)):
            for column, value in zip(columns, row):
                assert same(column, value, other[column.name]), (
                    table, number, column.name, column.type, value, other[column.name])
        print("%s: %d rows are equal" % (table, len(rows)))


def json_tables(program, logs):
    run = subprocess.run([program, "query", "--json", "--tables", *logs], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=False)
    return [json.loads(line) for line in run.stdout.splitlines()]


def compare_database(folder, path):
    base = sqlite3.connect(path)
    for table in "events", "spans", "types", "threads", "losses":
        columns, rows = read(pathlib.Path(folder) / (table + ".parquet"))
        cursor = base.execute("SELECT * FROM %s" % table)
        wanted = cursor.fetchall()
        assert [column.name for column in columns] == [part[0] for part in cursor.description], table
        assert len(rows) == len(wanted), (table, len(rows), len(wanted))
        if table in ("losses", "threads"):
            rows, wanted = sorted(rows, key=repr), sorted(wanted, key=repr)
        for row, other in zip(rows, wanted):
            for column, a, b in zip(columns, row, other):
                # The database has a type before it is known to be one of a pair.
                assert b in (a, finite(column, a)) or (column.type == "STRING" and a == str(b)) or (
                    b is None and column.name in ("role", "span")), (table, column.name, a, b)
        print("%s: %d rows are equal" % (table, len(rows)))


if __name__ == "__main__":
    if sys.argv[1] == "database":
        compare_database(sys.argv[2], sys.argv[3])
    elif sys.argv[1] == "compare":
        compare(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        for name in sys.argv[1:]:
            show(name)
