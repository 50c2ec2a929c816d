# SPDX-License-Identifier: LGPL-2.1-or-later
"""For the scripts about foreign formats: the lines of convert --to jsonl, and failures."""
import json
import sys


def fail(text):
    print(text)
    sys.exit(1)


def same(what, got, wanted):
    if got != wanted:
        fail("%s: %s, wanted %s" % (what, got, wanted))


def lines(path):
    with open(path, "rb") as file:
        return [json.loads(line) for line in file.read().decode("utf-8").split("\n") if line]


def data_of(line):
    return bytes.fromhex(line["hex"]) if "hex" in line else line.get("text", "").encode("utf-8")
