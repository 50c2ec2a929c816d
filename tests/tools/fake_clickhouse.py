# SPDX-License-Identifier: LGPL-2.1-or-later
"""A server of ClickHouse that fails on purpose: fake_clickhouse.py RESULT [FAULT...]

It prints its port, and answers the requests of posixtrace ship over HTTP. Each INSERT into a table
of rows meets the next FAULT; without further ones it succeeds:

    500         an error, nothing stored
    500-stored  an error, but the rows are stored
    252         the server has too many parts, nothing stored
    252-stored  the same, but the rows are stored, as with a materialized view behind the table
    252-gone    the same, but the next INSERT of rows is confirmed and ignored, as a replicated table
                does with a block that it has had
    202         the server has too many requests, nothing stored
    28          the disk of the server is full, nothing stored
    28-stored   the same, but the rows are stored
    193, 164    the password is wrong; the user may only read; nothing stored
    16          the table lacks a column of the INSERT, nothing stored
    429, 503    a proxy answers in place of the server, nothing stored
    cut         the connection ends without an answer, nothing stored
    cut-stored  the same, but the rows are stored
    half        the connection ends after a half of the request was read
    late        the connection ends, and the rows are stored when the next INSERT of rows arrives
    slow        no answer until the client has gone; the rows are stored when it has
    redirect    a redirection to another server
    continue    two preliminary answers precede the answer
    early       an error before the request was read, and the connection ends
    long        an answer of a megabyte of control characters, nothing stored
    down        nothing stored, and no request is answered until the file RESULT.up exists
    down-stored the same, but the rows are stored
    down-late   the same, and the rows are stored when the next INSERT of rows arrives
    lost        somebody has removed events_rows, and the server answers that it does not exist until it
                is made again
    319         the server has lost ZooKeeper: it shows the rows, and will remove them
    dropped     somebody has removed the tables with all rows, and the server answers that they do
                not exist until they are made again
    remade      the same, but another process has made them again and has added its mark
    part-remade the same, but only events_rows was removed and made again
    none        no fault

or one of these, which also may meet a SELECT; none of the rows are stored:

    page        success with the page of a web server
    empty       success without a byte
    moved       a redirection to another server
    lines       an error whose text has lines, control characters and a NUL
    blank       an error whose text is empty lines
    reset       the connection is reset
    huge        the length of the answer is ten to the power of 18, and two bytes come
    negative    the length of the answer is -1
    chunks      the answer is said to have chunks, and has none
    cut-chunks  the connection ends within a chunk
    no-length   the answer has no length, and the connection ends
    endless     chunks without an end
    not-http    the answer is not HTTP

With FAKE_LATE in the environment, the server stores and confirms the rows of each INSERT only after
so many seconds. It sends FAKE_REPLICA as the name of its replica. Without FAKE_REPLICA, this answer
is empty, as if the URL lacked a replica. With FAKE_LARGE it refuses to drop a partition, and with FAKE_REFUSE a statement
that begins with this text. With FAKE_STALE it refuses to make the tables of this name until RESULT.restarted exists, because a
file of an earlier statement remains. FAKE_GHOST has names of tables of which ZooKeeper has the replicas {replica}
and {replica}_2, although the server has no such table. FAKE_TABLES has the numbers of tables and views that exist: of all, of
replicated ones, of plain ones, of views per minute, of tables that only the oldest layout has, and 1 if
summary_rows exists, if other_rows exists, if events_rows exists, and if it has the column row_marks, how many views
read summary_rows, how many have the column row_nulls, and 3 if both tables have the present layout. This is 0 if
there are numbers behind those of the views per minute; FAKE_LEAN replaces it.

If the file RESULT.stop has a number and "before" or "after", so many requests later it gives no answer until
the client has gone. It has executed the request, if the word is "after". Then RESULT.stopped exists.

If the file RESULT.delete exists, the next request deletes all rows of events first, as a user does, and
then the file. The file RESULT.remake has the same effect as the fault remade. With RESULT.mark another process
adds a mark, and with RESULT.arrive the rows of the fault late are stored.

If the file RESULT.behind has a number, the server is a replica that has just started and knows no row of the
other one, although it answers SYSTEM SYNC REPLICA. After so many questions for its state it has all rows.
With RESULT.restart this begins at the next SYSTEM SYNC REPLICA. RESULT.faults has the next faults.

It keeps all rows in SQLite, and so answers the requests of --at in the format RowBinary. The file
RESULT.select, if there is one, has a table and a fault that meets each SELECT of this table:

    404         an error: there is no such table
    cut         the connection ends in the middle of the answer
    short       the last bytes of the answer are missing, although the request is complete
    fewer       the last row is missing
    later       the first row is missing
    twice       the last row is there twice
    garbage     the answer is a thousand bytes 255
    type        the numbers of all event types are 70000
    spool       the cause of all losses is spool
    minus       all numbers are -1
    same        all texts are the same text
    none-of     there are no rows
    typeless    the rows of the first type with losses are missing
    older       the rows of losses with the empty name are missing, as an older ship has sent them
    late        there are no rows, and conditions of other statements do not find them either

RESULT, a file, gets a line for each table after each request: its name, the number of rows that
count, and "whole" if their numbers (row_seq) are 0, 1, 2 ... for each log, each one once. A line
"described" has the number of events that were sent with a schema. A line "account" has the sums of
the ledger's terms, the stored events, and the number of types whose account is not even.
"""
import collections
import http.server
import io
import itertools
import os
import re
import select
import socket
import sqlite3
import struct
import sys
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fake_server  # noqa: E402

result, faults = sys.argv[1], sys.argv[2:]
# events has the number of rows of each log, attempt, type and thread.
events, ledger = collections.Counter(), []
tables, voided, fields, waiting = {}, set(), set(), []
statements, dropped, is_down, is_gone = [], [], [], []
# By (source, number, attempt): twice row_took, plus 1 if the schema of the event was known; and whether
# events have row_took, as an element.
shown_of, is_lean = {}, []
lock = threading.Lock()
marks = itertools.count(1000)
SHARED = "row_table", "row_nulls", "row_missing", "row_integers", "row_strings"
# The columns of the tables that share a table, in the order of their numbers in other_rows; a text has the prefix $.
SMALL = {
    "spans": "$span $kind begin end duration cpu pid tid begin_tid $event $log",
    "types": "type $name events called lost level $role $span $schema $log",
    "threads": "pid tid thread events called lost $log",
    "losses": "$name $cause lost $log",
    "objects": "$kind pid pointer $name since $log",
    "stacks": "stack pid depth address $function $source $log",
    "streams": "$log $name pid $host $clock hz created first last events called lost complete bytes",
    "ledger": "$host pid $name $term count $log",
    "logs": "$log $uuid $host pid begun complete",
    "hosts": "$host $boot $log",
    "clocks": "$host $boot $clock hz resolution begun $log",
}
ignored = []
is_lost = []
ghosts = set()  # the attempts whose rows the server shows and ZooKeeper does not know
REFUSALS = {
    "252": (500, b"Code: 252, e.displayText() = DB::Exception: Too many parts (301)\n"),
    "202": (500, b"Code: 202. DB::Exception: Too many simultaneous queries\n"),
    "28": (500, b"Code: 75, e.displayText() = DB::ErrnoException: Cannot write to file /x%d, errno: 28, strerror: "
           b"No space left on device, e.what() = DB::ErrnoException\n"),
    "193": (500, b"Code: 193, e.displayText() = DB::Exception: Wrong password for user u\n"),
    "164": (500, b"Code: 164, e.displayText() = DB::Exception: Cannot insert into table in readonly mode\n"),
    "16": (500, b"Code: 16, e.displayText() = DB::Exception: No such column row_marks in table fleet.x\n"),
    "429": (429, b"<html>slow down</html>\n"),
    "503": (503, b"<html>Service Unavailable</html>\n"),
}
GHOSTS = b"{replica}", b"{replica}_2"
database = sqlite3.connect(":memory:", check_same_thread=False)
kinds = {}  # by table: the kinds of its columns
results = {}  # what write_result() has computed, until rows are deleted
unread = []  # the blocks that the database lacks: each has a table and its columns
FACTS = "function", "file", "module", "labels", "message"  # in the order of their keys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            return value, at


def text(data, at):
    length, at = varint(data, at)
    assert at + length <= len(data)
    return data[at:at + length], at + length


# The numbers of a column are read at once: the size of each, and the letter of struct.
SIZES = {"Date": 2, "UInt8": 1, "UInt32": 4, "Int32": 4, "UInt64": 8, "Int64": 8}
LETTERS = {"Date": "H", "UInt8": "B", "UInt32": "I", "Int32": "i", "UInt64": "Q", "Int64": "q"}


def texts(data, at, rows):
    """The texts of a column. Nearly all lengths have one byte."""
    found = []
    for _ in range(rows):
        length = data[at]
        at += 1
        if length & 128:
            length, at = varint(data, at - 1)
        found.append(data[at:at + length])
        at += length
    assert at <= len(data), "a text behind the end"
    return found, at


def values(data, at, kind, rows):
    """The values of a column. Each byte of the block is accounted for."""
    if kind.startswith("Array("):
        ends = struct.unpack_from("<%dQ" % rows, data, at)
        all_values, at = values(data, at + 8 * rows, kind[6:-1], ends[-1] if rows else 0)
        begins = (0,) + ends
        return [all_values[begins[i]:ends[i]] for i in range(rows)], at
    if kind.startswith("Nullable("):
        nulls = data[at:at + rows]
        assert len(nulls) == rows and set(nulls) <= {0, 1}
        found, at = values(data, at + rows, kind[9:-1], rows)
        return [None if n else v for n, v in zip(nulls, found)], at
    if kind == "String":
        return texts(data, at, rows)
    return list(struct.unpack_from("<%d%s" % (rows, LETTERS[kind]), data, at)), at + SIZES[kind] * rows


def block(data):
    """Columns of a block in the format Native, which must be the whole request."""
    columns, at = varint(data, 0)
    rows, at = varint(data, at)
    found, kinds_of = {}, {}
    for _ in range(columns):
        name, at = text(data, at)
        kind, at = text(data, at)
        kinds_of[name.decode()] = kind.decode()
        found[name.decode()], at = values(data, at, kind.decode(), rows)
    assert at == len(data), "bytes behind the block"
    return found, rows, kinds_of


def keep(table, columns, kinds_of):
    """Adds the rows to the table, which SQLite gets when a statement reads it."""
    if "row_marks" in columns:
        kinds_of.update({"row_" + fact: "String" for fact in FACTS}, row_level="UInt8", row_flags="UInt8",
                        row_line="UInt32")
    assert kinds.setdefault(table, kinds_of) == kinds_of, "other columns than in the last INSERT"
    unread.append((table, columns))


def with_sign(value):
    return value - 2 ** 64 if value is not None and value >= 2 ** 63 else value


def read_blocks():
    """Adds the rows that SQLite lacks: integers with a sign, and blobs."""
    for table, columns in unread:
        if "row_marks" in columns:
            add_aliases(columns)
        names = [name for name, kind in kinds[table].items() if not kind.startswith("Array(")]
        database.execute("CREATE TABLE IF NOT EXISTS %s (%s)" % (table, ", ".join("`%s`" % n for n in names)))
        database.executemany(
            "INSERT INTO %s (%s) VALUES (%s)" % (table, ", ".join("`%s`" % n for n in names),
                                                 ", ".join("?" * len(names))),
            zip(*(columns[n] if "String" in kinds[table][n] else map(with_sign, columns[n]) for n in names)))
    unread.clear()


def store(table, data):
    columns, rows, kinds_of = block(data)
    if table not in ("summary_rows", "other_rows"):
        if "row_took" in columns:
            store_event_spans(columns)
        store_rows(table, columns, rows, kinds_of)
        return
    if table == "other_rows":
        assert columns["row_table"] == sorted(columns["row_table"]), "the server must sort the rows"
        columns["row_table"] = [list(SMALL)[value % 100].encode() for value in columns["row_table"]]
    for name in dict.fromkeys(columns["row_table"]):
        chosen = [i for i in range(rows) if columns["row_table"][i] == name]
        store_rows(name.decode() + "_rows", *small_rows(name.decode(), columns, chosen))


def store_event_spans(columns):
    """The spans that are one event each, in the order of all spans."""
    is_lean.append(True)
    for source, seq, attempt, took, marks, keys in zip(*(columns[name] for name in (
            "row_source", "row_seq", "row_attempt", "row_took", "row_marks", "row_keys"))):
        shown_of[source, seq, attempt] = 2 * took + (marks >= 4 or 5 in keys or max(keys, default=0) > 6)
        if took:
            tables.setdefault("spans_rows", []).append((source, 64 * seq, attempt))


def text_at(columns, row, element):
    """A text of the arrays. A number that is no place of a text may give any text, but no error."""
    if "row_texts" in columns:
        return columns["row_texts"][row][element]
    at, length = columns["row_numbers"][row][element] >> 32, columns["row_numbers"][row][element] & 0xffffffff
    return (columns["row_data"][row] + columns["row_text"][row])[at:at + length]


def add_aliases(columns):
    """The columns of events_rows that readers have and INSERTs have not."""
    rows = range(len(columns["row_marks"]))
    columns["row_level"] = [mark // 4 for mark in columns["row_marks"]]
    columns["row_flags"] = [mark % 4 for mark in columns["row_marks"]]
    facts = [{key: i for i, key in enumerate(keys) if key < 16} for keys in columns["row_keys"]]
    for key, fact in enumerate(FACTS, 1):
        columns["row_" + fact] = [text_at(columns, i, facts[i][key]) if key in facts[i] else b"" for i in rows]
    line = 6 if "row_took" in columns else 2
    columns["row_line"] = [columns["row_numbers"][i][facts[i][line]] & 0xffffffff if line in facts[i] else 0
                           for i in rows]


def small_rows(name, columns, chosen):
    """The rows of summary_rows or other_rows that belong to a table, as the view of this table has them."""
    found = {c: [columns[c][i] for i in chosen] for c in columns if c not in SHARED}
    kinds_of = {c: fixed for c, fixed in zip(found, ("Date", "UInt64", "UInt64", "UInt64", "String"))}
    at = {"row_integers": 0, "row_strings": 0}
    nulls = columns["row_missing" if "row_missing" in columns else "row_nulls"]
    for bit, column in enumerate(SMALL[name].split()):
        array = "row_strings" if column.startswith("$") else "row_integers"
        column = column.lstrip("$")
        place = at[array]
        at[array] += 1
        kinds_of[column] = "Nullable(String)" if array == "row_strings" else "Nullable(Int64)"
        found[column] = [None if nulls[i] >> bit & 1 else columns[array][i][place] for i in chosen]
    for array in at:
        assert all(len(columns[array][i]) == at[array] for i in chosen)
    return found, len(chosen), kinds_of


def store_rows(table, columns, rows, kinds_of):
    tables.setdefault(table, []).extend(zip(*(columns[name] for name in ("row_source", "row_seq", "row_attempt"))))
    lengths = {len(columns[name]) for name in columns}
    assert lengths == {rows}
    keep(table, columns, kinds_of)
    if table == "events_rows":
        events.update(zip(*(columns[name] for name in (
            "row_source", "row_attempt", "row_name", "row_pid", "row_tid", "row_thread"))))
    elif table == "ledger_rows":
        ledger.extend(zip(*(columns[name] for name in ("row_attempt", "name", "term", "count"))))


def account():
    """The account of the fleet: the sums, and the number of types whose account is not even."""
    totals, opened = {}, {}
    for attempt, key, term, count in ledger:
        term = term.decode()
        if attempt not in voided and term != "reported":
            totals[term] = totals.get(term, 0) + count
            opened[key] = opened.get(key, 0) + (count if term == "called" else -count)
    for (_, attempt, name, *_), count in events.items():
        if attempt not in voided:
            totals["stored"] = totals.get("stored", 0) + count
            opened[name] = opened.get(name, 0) - count
    terms = " ".join("%s=%d" % (term.replace("lost: ", ""), totals[term]) for term in sorted(totals))
    return "account %s open=%d\n" % (terms, sum(map(bool, opened.values())))


def table_line(table):
    seqs = {}
    for source, seq, attempt in tables[table]:
        if attempt not in voided and attempt not in ghosts:
            seqs.setdefault(source, []).append(seq)
    if table == "spans_rows" and is_lean:
        whole = all(len(found) == len(set(found)) for found in seqs.values())
    else:
        whole = all(sorted(found) == list(range(len(found))) for found in seqs.values())
    return "%s %d %s\n" % (table, sum(map(len, seqs.values())), "whole" if whole else "BROKEN")


def count_described():
    return sum(n % 2 for (_, _, attempt), n in shown_of.items() if attempt not in voided)


def if_changed(name, state, compute, *args):
    """The last result of compute(), unless the state has changed. Most requests change no rows."""
    if results.get(name, (None,))[0] != state:
        results[name] = state, compute(*args)
    return results[name][1]


def write_result():
    lines = [if_changed(table, (len(tables[table]), len(voided), len(ghosts)), table_line, table) for table in sorted(tables)]
    with open(result + ".new", "w", encoding="utf-8") as file:
        file.writelines(lines)
        file.write("statements %d\n" % len(statements))
        file.write("synchronized %d\n" % sum(s.startswith("SYSTEM SYNC") for s in statements))
        file.write("voided %d\n" % len(voided))
        file.write("described %d\n" % if_changed("described", (len(shown_of), len(voided)), count_described))
        file.write(if_changed("account", (sum(events.values()), len(ledger), len(voided)), account))
        file.write("replicas %s\n" % " ".join(sorted(set(re.findall(r"'({replica}\w*)'", " ".join(statements))))))
        file.write("dropped %s\n" % " ".join(dropped))
        for sql in statements[-30:]:
            if sql.endswith(" FORMAT RowBinary"):
                file.write("asked %s\n" % sql)
        file.write("fields %s\n" % " ".join(sorted(f[0] for f in fields if " " not in f[0])))
    os.rename(result + ".new", result)


def row_binary(*cells):
    out = b""
    for cell in cells:
        out += struct.pack("<B", cell) if isinstance(cell, int) else bytes([len(cell)]) + cell.encode()
    return out


# ---------------------------------------------------------------- requests of --at

def to_integer(value):
    return None if value is None else int(value)


for function in "toInt64", "toUInt64", "toUInt32", "toUInt8":
    database.create_function(function, 1, to_integer, deterministic=True)
database.create_function("intDiv", 2, lambda a, b: a // b, deterministic=True)


def literal(found):
    plain = re.sub(r"\\(.)", r"\1", found[1], flags=re.S)
    return "x'%s'" % plain.encode("utf-8", "surrogateescape").hex()


def signed(found):
    number = int(found[0])
    return str(number - 2 ** 64 if number >= 2 ** 63 else number)


def parts_of(selected):
    """The expressions of a SELECT, between the outer commas."""
    depth, begin = 0, 0
    for i, c in enumerate(selected + ","):
        depth += {"(": 1, ")": -1}.get(c, 0)
        if c == "," and not depth:
            yield selected[begin:i].strip()
            begin = i + 1


def kind_of(expression, table):
    expression = expression.split(" AS ")[0]
    found = re.match(r"to(U?Int\d+)\(", expression)
    if found:
        return found[1]
    return "String" if "'" in expression else kinds[table][expression]


def put_varint(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def encode(kind, value):
    if kind == "String":
        return put_varint(len(value)) + value
    size = SIZES[kind]
    return (value & (1 << 8 * size) - 1).to_bytes(size, "little")


def fault_of(table):
    try:
        with open(result + ".select", encoding="utf-8") as file:
            words = file.read().split()
    except FileNotFoundError:
        return None
    return words[1] if words and words[0] == table else None


def select_rows(sql):
    """The rows of the answer, each as bytes, and the fault of the table."""
    sql = re.sub(r" PREWHERE (.*?) WHERE ", r" WHERE \1 AND ", sql, flags=re.S)
    found = re.fullmatch(r"SELECT (.*?) FROM (\w+) WHERE (.*) FORMAT RowBinary", sql, re.S)
    assert found, "unknown statement: " + sql
    table, fault = found[2], fault_of(found[2])
    voids = ", ".join(str(v - 2 ** 64 if v >= 2 ** 63 else v) for v in voided)
    where = found[3].replace("(SELECT attempt FROM fleet.voided)", "(%s)" % voids)
    if table not in kinds:
        return [], fault
    read_blocks()
    if fault == "typeless":
        where = ("name <> (SELECT min(name) FROM ledger_rows WHERE substr(term, 1, 5) = 'lost:' AND name <> '') AND " +
                 where)
    if fault == "older":
        where = "name <> '' AND " + where
    if fault == "late":
        where = "0"
    if fault_of("losses_rows") == "older":
        where = where.replace("FROM losses_rows WHERE name = ''", "FROM losses_rows WHERE 0")
    if fault_of("losses_rows") == "late":
        where = where.replace("FROM losses_rows WHERE", "FROM losses_rows WHERE 0 AND")
    plain = "SELECT %s FROM %s WHERE %s" % (found[1], table, where)
    plain = re.sub(r"\b\d{19,20}\b", signed, plain)
    plain = re.sub(r"'((?:[^'\\]|\\.)*)'", literal, plain, flags=re.S)
    expressions = list(parts_of(found[1]))
    columns = [kind_of(e, table) for e in expressions]
    rows = []
    for row in database.execute(plain):
        if fault == "type":
            row = [70000 if e == "row_type" else v for e, v in zip(expressions, row)]
        elif fault == "spool":
            row = [b"lost: spool" if isinstance(v, bytes) and v.startswith(b"lost: ") else v for v in row]
        elif fault == "minus":
            row = [-1 if isinstance(v, int) and e != "row_source" else v for e, v in zip(expressions, row)]
        elif fault == "same":
            row = [b"\x1b[2J" if isinstance(v, bytes) else v for v in row]
        rows.append(b"".join(encode(kind, value) for kind, value in zip(columns, row)))
    return rows, fault


def answer(sql):
    """The answer to a statement without a block, or an assertion."""
    statements.append(sql)
    if sql.startswith("SELECT toString(count()), toString(countIf(engine LIKE"):
        assert "name IN ('voided', " in sql
        assert "countIf(name IN ('rates', 'durations'))" in sql
        assert "countIf(engine LIKE '%MergeTree' AND name IN ('types_rows', 'threads_rows', " in sql
        numbers = ["0"] * 12 if is_gone or is_lost else os.environ.get("FAKE_TABLES", "1000 0 0").split()
        rest = ["2", "0", "0"] + ["0" if numbers[0] == "0" else "1"] * 3 + ["0", "0"]
        rest.append("0" if numbers[0] == "0" or len(numbers) > 4 else "3")
        rest[-1] = os.environ.get("FAKE_LEAN", rest[-1])
        return "\t".join(numbers + rest[len(numbers) - 3:]).encode() + b"\n"
    if sql.startswith("SYSTEM SYNC REPLICA fleet."):
        if os.path.exists(result + ".restart"):
            os.rename(result + ".restart", result + ".behind")
        return b""
    if re.fullmatch(r"SELECT toString\(count\(\)\), toString\(countIf\(is_readonly = 0 AND is_session_expired = 0 AND "
                    r"absolute_delay < 1000000000 AND uptime\(\) > \d+\)\) FROM system\.replicas WHERE database = 'fleet' AND "
                    r"table IN \('voided', 'events_rows', '\w+'\)", sql):
        return b"2\t2\n" if is_lost else b"3\t2\n" if is_behind(1) else b"3\t3\n"
    found = re.fullmatch(r"SELECT replica_path FROM system\.replicas WHERE database = 'fleet' AND table = '(\w+)'", sql)
    if found:
        return b"/clickhouse/tables/1/fleet/%s/replicas/1\n" % found[1].encode()
    found = re.fullmatch(r"SELECT arrayStringConcat\(groupUniqArray\(_part\), ','\) FROM \w+ WHERE row_source = \d+ AND "
                         r"row_attempt = (\d+)", sql)
    if found:
        return b"20261130-5_%d_%d_0\n" % ((int(found[1]) in ghosts,) * 2)
    found = re.fullmatch(r"SELECT toString\(count\(\) = length\(splitByChar\(',', '([\w-]+)'\)\)\) FROM system\.zookeeper WHERE "
                         r"path = '/clickhouse/tables/1/fleet/\w+/replicas/1/parts' AND has\(splitByChar\(',', '\1'\), name\)", sql)
    if found:
        return b"%d\n" % (found[1] != "20261130-5_1_1_0")
    if sql.startswith("SELECT if(count() = 3 AND min(total_replicas) > 0 AND max(total_replicas) <= "):
        return os.environ.get("FAKE_REPLICA", "").encode() + b"\n"
    found = re.fullmatch(r"SELECT toString\(count\(\) \+ \(SELECT count\(\) FROM (logs_rows|summary_rows|other_rows) WHERE "
                         r"(?:row_table = ('logs'|8|108) AND )?row_source = (\d+)\)\) FROM events_rows WHERE row_source = (\d+)",
                         sql)
    if found:
        assert found[2] in {"summary_rows": ("'logs'",), "other_rows": ("8", "108")}.get(found[1], (None,))
        return b"%d\n" % sum(s == int(found[3]) for name in ("logs_rows", "events_rows")
                             for s, _, _ in tables.get(name, []))
    if sql.startswith("SELECT toString(count()) FROM system.columns"):
        return b"1000\n"
    if sql.startswith("CREATE TABLE IF NOT EXISTS fleet.fields "):
        is_gone.clear()
    if sql.startswith("CREATE TABLE IF NOT EXISTS fleet.events_rows "):
        is_lost.clear()
    if sql.startswith(("CREATE ", "RENAME ", "DROP ")):
        return b""
    found = re.fullmatch(r"SELECT partition FROM system\.parts WHERE active AND database = 'fleet' AND table = '(\w+)' AND "
                         r"max_date < toDate\('\d{4}-\d\d-\d\d'\) GROUP BY partition ORDER BY partition "
                         r"FORMAT RowBinary", sql)
    if found:
        return row_binary(*os.environ.get("FAKE_DAYS", "").split()) if found[1] == "events_rows" else b""
    found = re.fullmatch(r"ALTER TABLE fleet\.events_rows DROP PARTITION ('[\d-]{10}'|\('[\d-]{10}',\d+\))", sql)
    if found:
        dropped.append(found[1])
        return b""
    if sql.startswith("SELECT name, kind FROM fields"):
        return b"".join(row_binary(name, kind) for name, kind in sorted(fields))
    if sql == ("SELECT toUInt64(sum(number)) FROM (SELECT toUInt64OrZero(substring(name, 8)) AS number FROM "
               "fleet.fields WHERE name LIKE 'tables %' GROUP BY number) FORMAT RowBinary"):
        return struct.pack("<Q", sum(int(n[7:]) for n, _ in fields if n.startswith("tables ")) % 2 ** 64)
    found = re.fullmatch(r"INSERT INTO fleet\.fields VALUES \('(tables \d+)', 0\)", sql)
    if found:
        fields.add((found[1], 0))
        return b""
    if sql.startswith("INSERT INTO fields VALUES "):
        fields.update((n, int(k)) for n, k in re.findall(r"\('(\w+)', (\d)\)", sql))
        return b""
    if re.fullmatch(r"INSERT INTO voided VALUES \(\d+\)(,\(\d+\))*", sql):
        voided.update(map(int, re.findall(r"\d+", sql)))
        return b""
    found = re.fullmatch(r"SELECT groupUniqArray\(row_attempt\) FROM (logs_rows|events_rows|summary_rows|other_rows) WHERE "
                         r"(?:row_table = ('logs'|8|108) AND )?row_source = (\d+) FORMAT RowBinary", sql)
    if found:
        assert found[2] in {"summary_rows": ("'logs'",), "other_rows": ("8", "108")}.get(found[1], (None,))
        name = "logs_rows" if found[2] else found[1]
        attempts = {a for s, _, a in tables.get(name, []) if s == int(found[3]) and not is_behind(0)}
        return put_varint(len(attempts)) + struct.pack("<%dQ" % len(attempts), *attempts)
    found = re.fullmatch(r"SELECT toString\(count\(\)\) FROM (\w+) WHERE row_source = (\d+) AND "
                         r"row_attempt = (\d+)", sql)
    if found:
        wanted = int(found[2]), int(found[3])
        apart = {"summary_rows": ("events_rows", "spans_rows"), "other_rows": ("events_rows",)}.get(found[1])
        shared = [name for name in tables if apart and name not in apart]
        return b"%d\n" % sum((s, a) == wanted for name in shared or [found[1]]
                             for s, _, a in tables.get(name, []))
    found = re.match(r"SELECT row_name, toInt64\(row_pid\), .* WHERE row_source = (\d+) AND ", sql)
    if found:
        groups = collections.Counter()
        for (source, attempt, *group), count in events.items():
            if source == int(found[1]) and attempt not in voided:
                groups[tuple(group)] += count
        return b"".join(bytes([len(name)]) + name + struct.pack("<qqqQ", pid, tid, thread, count)
                        for (name, pid, tid, thread), count in groups.items())
    if sql.startswith("SELECT toUInt64(count()), toUInt64(max(row_seq) + 1), "):
        source = int(re.search(r"row_source = (\d+)", sql)[1])
        seqs = [q for s, q, a in tables.get("events_rows", []) if s == source and a not in voided and not is_behind(0)]
        shown = sum(n * (2 * q + 1) for (s, q, a), n in shown_of.items() if s == source and a not in voided)
        assert is_lean or "row_took" not in sql or not seqs
        return struct.pack("<QQQ", len(seqs), max(seqs, default=-1) + 1,
                           shown % 2 ** 64 if "row_took" in sql else 0)
    rows, fault = select_rows(sql)
    if fault in ("fewer", "later", "none-of"):
        rows = rows[:-1] if fault == "fewer" else rows[1:] if fault == "later" else []
    elif fault == "twice":
        rows += rows[-1:]
    body = b"\xff" * 1000 if fault == "garbage" else b"".join(rows)
    return body[:-3] if fault == "short" else body


def drop(table):
    unread[:] = [of_table for of_table in unread if of_table[0] != table]
    kinds.pop(table, None)
    database.execute("DROP TABLE IF EXISTS " + table)


def delete_events():
    results.clear()
    events.clear()
    shown_of.clear()
    attempts = {a for _, _, a in tables.pop("events_rows", [])}
    if "spans_rows" in tables:
        tables["spans_rows"] = [row for row in tables["spans_rows"] if row[2] not in attempts]
    drop("events_rows")


def delete_all():
    for of_rows in events, ledger, tables, voided, fields, waiting, shown_of, results:
        of_rows.clear()
    for name in list(kinds):
        drop(name)


def remake():
    delete_all()
    mark()


def due_stop():
    """The word of RESULT.stop, if this request is the one that gets no answer."""
    if not os.path.exists(result + ".stop"):
        return None
    with open(result + ".stop", encoding="utf-8") as file:
        left, word = file.read().split()
    if left == "1":
        os.unlink(result + ".stop")
        return word
    with open(result + ".stop", "w", encoding="utf-8") as file:
        file.write("%d %s\n" % (int(left) - 1, word))
    return None


def is_behind(asked):
    """Whether the replica lacks the rows of the other one: RESULT.behind."""
    try:
        with open(result + ".behind", encoding="utf-8") as file:
            left = int(file.read()) - asked
    except FileNotFoundError:
        return False
    if left < 0:
        os.unlink(result + ".behind")
        return False
    with open(result + ".behind", "w", encoding="utf-8") as file:
        file.write("%d\n" % left)
    return True


def arrive():
    while waiting:
        store(*waiting.pop())


def mark():
    fields.add(("tables %d" % next(marks), 0))


def add_faults():
    with open(result + ".faults", encoding="utf-8") as file:
        faults[:] = file.read().split()


def meddle():
    """What others do to the tables between two requests."""
    for name, act in ("delete", delete_events), ("remake", remake), ("mark", mark), ("arrive", arrive), ("faults", add_faults):
        if os.path.exists(result + "." + name):
            act()
            os.unlink(result + "." + name)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, status, body, more=()):
        self.send_response(status)
        for name, value in more:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def fail(self, fault, table, data):
        """Returns whether the request is done."""
        if fault == "500":
            self.reply(500, b"Code: 241. DB::Exception: Memory limit exceeded\n")
        elif fault == "500-stored":
            store(table, data)
            self.reply(500, b"Code: 999. DB::Exception: Session expired\n")
        elif fault.split("-")[0] in REFUSALS:
            if fault.endswith("-stored"):
                store(table, data)
            elif fault.endswith("-gone"):
                ignored.append(True)
            status, body = REFUSALS[fault.split("-")[0]]
            self.reply(status, body.replace(b"%d", b"%d" % next(marks)))
        elif fault == "319":
            store(table, data)
            ghosts.update(block(data)[0]["row_attempt"])
            self.reply(500, b"Code: 319, e.displayText() = DB::Exception: Unknown status, client must retry.\n")
        elif fault in ("cut", "half"):
            self.close_connection = True
        elif fault == "cut-stored":
            store(table, data)
            self.close_connection = True
        elif fault == "late":
            waiting.append((table, data))
            self.close_connection = True
        elif fault.startswith("down"):
            if fault == "down-stored":
                store(table, data)
            elif fault == "down-late":
                waiting.append((table, data))
            is_down.append(True)
            self.close_connection = True
        elif fault == "dropped":
            delete_all()
            is_gone.append(True)
            return False
        elif fault == "remade":
            remake()
            return False
        elif fault == "lost":
            delete_events()
            is_lost.append(True)
            return False
        elif fault == "part-remade":
            delete_events()
            mark()
            return False
        elif fault == "continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n")
            return False
        elif fault == "redirect":
            self.reply(302, b"", [("Location", "http://127.0.0.1:1/")])
        elif fault == "long":
            self.reply(500, b"\x1b[31m\0" * 200000)
        else:
            return self.misbehave(fault, b"")
        return True

    def no_table(self, name):
        self.reply(404, b"Code: 60. DB::Exception: Table fleet.%s doesn't exist\n" % name)

    def misbehave(self, fault, body):
        """Answers as no server of ClickHouse does. Returns whether the request is done."""
        line = b"HTTP/1.1 200 OK\r\n"
        raw = {
            "reset": b"",
            "huge": line + b"Content-Length: 1000000000000000000\r\n\r\n1\n",
            "negative": line + b"Content-Length: -1\r\n\r\n1\n",
            "chunks": line + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n1\n\r\n",
            "cut-chunks": line + b"Transfer-Encoding: chunked\r\n\r\n10\r\n1\n",
            "no-length": line + b"\r\n" + body[:len(body) // 2],
            "not-http": b"220 mail.example ESMTP\r\n",
        }
        if fault == "page":
            self.reply(200, b"\n<html>\x1b[2J<body>Welcome</body>\n</html>\n")
        elif fault == "empty":
            self.reply(200, b"")
        elif fault == "moved":
            self.reply(301, b"<html>Moved</html>", [("Location", "http://127.0.0.1:1/")])
        elif fault == "lines":
            self.reply(500, b"\r\n\r\n\x1b]0;title\x07Code: 241. DB::Exception:\r\nMemory\0limit\n")
        elif fault == "blank":
            self.reply(500, b"\r\n \r\n")
        elif fault == "endless":
            self.wfile.write(line + b"Transfer-Encoding: chunked\r\n\r\n")
            for _ in itertools.count():
                self.wfile.write(b"4000\r\n" + b"1\n" * 8192 + b"\r\n")
        elif fault in raw:
            self.wfile.write(raw[fault])
            self.close_connection = True
            if fault == "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                os.close(self.connection.detach())
        else:
            return False
        return True

    def wait_for_end(self, name):
        """The client closes its end when it waits no longer."""
        open(result + name, "w", encoding="utf-8").close()
        select.select([self.connection], [], [], 120)
        self.close_connection = True

    def do_POST(self):
        with lock:
            stop = due_stop()
        if stop == "before":
            self.rfile.read(int(self.headers["Content-Length"]))
        else:
            if stop:
                self.wfile = io.BytesIO()
            self.serve()
        if stop:
            self.wait_for_end(".stopped")

    def serve(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        length = int(self.headers["Content-Length"])
        sql = query.get("query", [None])[0]
        fault = "none"
        if sql and not (is_down and not os.path.exists(result + ".up")):
            with lock:
                fault = faults.pop(0) if faults else "none"
        if is_down and not os.path.exists(result + ".up"):
            self.close_connection = True
            return
        if fault == "early":
            self.reply(413, b"the request is too large\n")
            self.close_connection = True
            return
        data = self.rfile.read(length // 2 if fault == "half" else length)
        table = re.match(r"INSERT INTO (\w+) \(.*\) FORMAT Native$", sql or "")
        # Without a name of its own, each such statement could stay on a server that lacks a part.
        if data.startswith(b"SYSTEM SYNC") and not re.fullmatch(
                r"posixtrace-sync-\w+-[0-7]", query.get("query_id", [""])[0]):
            self.reply(500, b"the statement has no query_id\n")
            return
        if fault == "slow":
            self.wait_for_end(".slow")
        if table:
            time.sleep(float(os.environ.get("FAKE_LATE", "0")))
        with lock:
            meddle()
            if sql and not table:
                self.reply(400, b"Code: 62. DB::Exception: Syntax error\n")
                return
            if table:
                arrive()
                if self.fail(fault, table[1], data):
                    write_result()
                    return
                if is_gone or (is_lost and table[1] == "events_rows"):
                    self.no_table(table[1].encode())
                    return
                if not ignored:
                    store(table[1], data)
                ignored.clear()
                body = b""
            elif "FAKE_LARGE" in os.environ and b" DROP PARTITION " in data:
                # max_partition_size_to_drop
                self.reply(500, b"Code: 359. DB::Exception: Table or Partition was not dropped\n")
                return
            elif any(b".%s (" % word.encode() in data and b"'%s'" % name in data for name in GHOSTS
                     for word in os.environ.get("FAKE_GHOST", "").split()):
                self.reply(500, b"Code: 253, e.displayText() = DB::Exception: Replica /clickhouse/tables/1/"
                           b"fleet/x/replicas/r already exists., e.what() = DB::Exception\n")
                return
            elif (b" fleet.%s (" % os.environ.get("FAKE_STALE", " ").encode() in data and
                  not os.path.exists(result + ".restarted")):
                self.reply(500, b"Code: 76, e.displayText() = DB::ErrnoException: Cannot open file /x/metadata/fleet/"
                           b"other_rows.sql.tmp, errno: 17, strerror: File exists, e.what() = DB::ErrnoException\n")
                return
            elif "FAKE_REFUSE" in os.environ and data.startswith(os.environ["FAKE_REFUSE"].encode()):
                self.reply(403, b"Code: 497. DB::Exception: Not enough privileges\n")
                return
            else:
                sql = data.decode("utf-8", "surrogateescape")
                if is_gone and not re.match(r"CREATE |SELECT toString\(count\(\)\), toString\(countIf\(engine", sql):
                    self.no_table(b"x")
                    return
                if is_lost and re.search(r" (FROM|fleet)[ .]events_rows ", sql) and not sql.startswith("CREATE "):
                    self.no_table(b"events_rows")
                    return
                body = answer(sql)
                found = re.match(r"SELECT .*? FROM ([\w.]+) ", sql.replace("FROM system.columns WHERE database", ""), re.S)
                fault = fault_of(found[1]) if found else None
            write_result()
        if fault == "404":
            self.no_table(found[1].encode())
        elif fault == "cut" and not table:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:len(body) // 2])
            self.close_connection = True
        elif table or not self.misbehave(fault, body):
            self.reply(200, body)


fake_server.serve(Handler)
