# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that a database has the tables of posixtrace query: database.py POSIXTRACE LOG DATABASE

Columns and rows of every table are compared; each value as SQLite quotes it, with its type.
"""
import csv
import sqlite3
import subprocess
import sys

tool, log, path = sys.argv[1:4]
db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)


def query(sql):
    done = subprocess.run([tool, "query", "--csv", log, sql], capture_output=True, check=True)
    return list(csv.reader(done.stdout.decode(errors="surrogateescape").splitlines(True)))


failed = False
for table in "events", "spans", "losses", "types", "threads", "objects":
    here = [row[1] for row in db.execute("select * from pragma_table_info('%s')" % table)]
    there = [row[0] for row in query("select name from pragma_table_info('%s')" % table)[1:]]
    if here != there or not here:
        print("%s: columns %s, and in query %s" % (table, here, there))
        failed = True
        continue
    # A blob with text in it is not valid CSV: everything as one hexadecimal text.
    columns = " || '|' || ".join('quote("%s")' % name.replace('"', '""') for name in here)
    sql = "select hex(%s) from %s" % (columns, table)
    ours, theirs = [row[0] for row in db.execute(sql)], [row[0] for row in query(sql)[1:]]
    if table not in ("events", "spans"):
        ours, theirs = sorted(ours), sorted(theirs)
    for n, (a, b) in enumerate(zip(ours, theirs)):
        if a != b:
            print("%s, row %d: %s, and in query %s" % (table, n, bytes.fromhex(a), bytes.fromhex(b)))
            failed = True
            break
    if len(ours) != len(theirs):
        print("%s: %d rows, and in query %d" % (table, len(ours), len(theirs)))
        failed = True
sys.exit(failed)
