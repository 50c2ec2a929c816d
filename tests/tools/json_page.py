# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares JSON of the commands of posixtrace with the tables of posixtrace-json(7).

    json_page.py PAGE SECTION FILE       prints each difference of the objects in FILE
    json_page.py PAGE seen SECTION FILE  prints the members of SECTION that FILE does not have
    json_page.py PAGE names              prints all names of members

A table is a list with columns. A row has names, a type and a meaning. "The members of" and a line
with .Va before a table say to which members it belongs; otherwise it belongs to the object itself.
"has the members of" and a line with .Sx add those of another section. A reference to a section in
the row of an object has the same effect for that object.
"""
import json
import re
import sys


class Row:
    def __init__(self, section, path, kind):
        self.section, self.path, self.kind = section, path, kind
        self.meaning = []

    def is_optional(self):
        return any("Absent" in line for line in self.meaning)

    def may_be_null(self):
        return any(line.startswith(".Li null") for line in self.meaning)

    def reference(self):
        if self.kind in ("object", "objects"):
            for line in self.meaning:
                if line.startswith(".Sx "):
                    return section_of(line)
        return None


def section_of(line):
    return re.sub(r" [.,;]$", "", line[len(".Sx "):])


def names_of(text):
    return text.rstrip(" :").split(" , ")


class Page:
    def __init__(self, path):
        self.rows = {}     # by section, path and name
        self.includes = {} # sections by section and path
        section, paths, row, before, in_table = "", [""], None, "", False
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        for line in lines:
            if line.startswith(".Ss ") or line.startswith(".Sh "):
                section, paths, in_table = line[4:], [""], False
            elif line.startswith(".Bl "):
                in_table, row = line.startswith(".Bl -column"), None
            elif line == ".El":
                in_table = False
            elif in_table and line.startswith(".It Va "):
                names, kind = line[len(".It Va "):].split(" Ta ")[:2]
                row = Row(section, paths, kind.replace(" Ta", "").split(",")[0])
                for path in paths:
                    for name in names_of(names):
                        self.rows.setdefault((section, path), {})[name] = row
            elif in_table and row:
                row.meaning.append(line)
            elif before == "The members of" and line.startswith(".Va "):
                paths = names_of(line[len(".Va "):])
            elif before.endswith("has the members of") and line.startswith(".Sx "):
                for path in paths:
                    self.includes.setdefault((section, path), []).append(section_of(line))
            before = line

    def table(self, section, path):
        """Returns the rows of an object by name, each with the section and path of its own."""
        found = {name: (row, section, path)
                 for name, row in self.rows.get((section, path), {}).items()}
        for other in self.includes.get((section, path), []):
            found.update(self.table(other, ""))
        return found


SPACE = re.compile(r"\s*")
FORMS = {
    "digits": r"-?[0-9]+",
    "time": r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{9}Z",
    "address": r"0x[0-9a-f]+",
    "hex": r"([0-9a-f]{2})*",
}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_of(kind, value):
    if kind in FORMS:
        return isinstance(value, str) and re.fullmatch(FORMS[kind], value)
    if kind in ("objects", "texts", "numbers"):
        return isinstance(value, list) and all(is_of(kind[:-1], each) for each in value)
    return {"number": is_number(value), "text": isinstance(value, str),
            "bool": isinstance(value, bool), "object": isinstance(value, dict),
            "value": True}.get(kind, False)


class Comparison:
    def __init__(self, page):
        self.page = page
        self.seen = set()
        self.differences = {}

    def differ(self, where, text):
        self.differences.setdefault("%s %s" % (where, text), None)

    def compare(self, value, section, path, where):
        known = self.page.table(section, path)
        for name in value:
            if name not in known:
                self.differ("%s.%s" % (where, name), "is not in the page")
        for name, (row, own_section, own_path) in known.items():
            place = "%s.%s" % (where, name)
            if name not in value:
                if not row.is_optional():
                    self.differ(place, "is absent, but the page does not say when")
                continue
            self.seen.add((own_section, own_path, name))
            each = value[name]
            if each is None:
                if not row.may_be_null():
                    self.differ(place, "is null, but the page does not say when")
            elif not is_of(row.kind, each):
                self.differ(place, "is not of the type %s: %.60r" % (row.kind, each))
            else:
                self.descend(each, row, own_section, own_path, name, place)

    def descend(self, value, row, section, path, name, where):
        """Compares the objects in a member. Without a table the names in it are those of users."""
        section_inside, inside = row.reference(), ""
        if not section_inside:
            section_inside, inside = section, "%s.%s" % (path, name) if path else name
        if not self.page.table(section_inside, inside):
            return
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, dict):
                self.compare(each, section_inside, inside, where)


def objects_of(path):
    """Returns the objects of a file, of which each may be on several lines."""
    decoder = json.JSONDecoder()
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = []
    at = SPACE.match(text).end()
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        at = SPACE.match(text, at).end()
    return found


def main(arguments):
    page = Page(arguments[0])
    if arguments[1:] == ["names"]:
        print("\n".join(sorted({name for rows in page.rows.values() for name in rows})))
        return 0
    wants_seen = arguments[1] == "seen"
    section, path = arguments[1 + wants_seen:]
    comparison = Comparison(page)
    found = objects_of(path)
    for each in found:
        comparison.compare(each, section, "", section)
    if wants_seen:
        for (own_section, own_path), rows in page.rows.items():
            if own_section == section:
                for name in rows:
                    if (own_section, own_path, name) not in comparison.seen:
                        print("%s.%s" % (own_path, name) if own_path else name)
        return 0
    if not page.table(section, ""):
        comparison.differ(section, "has no table in the page")
    if not found:
        comparison.differ(section, "has no objects in %s" % path)
    for text in comparison.differences:
        print(text)
    return len(comparison.differences) > 0


sys.exit(main(sys.argv[1:]))
