#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the tree of processes of a log of record, or of strace -f -e trace=process.

	tree.py log EVENTS      of `posixtrace dump --json`
	tree.py strace FILE

One line for each process: as deep as it stands, what it executed, its exit status. Children stand in the
order in which they were made; process numbers, which differ from run to run, are left out. The status of
the first is what record exits with: its parent is not in the log.
"""
import json
import re
import sys


class Process:
    def __init__(self):
        self.children = []
        self.programs = []
        self.status = None


class Tree:
    def __init__(self):
        self.process = {}
        self.first = None

    def of(self, pid):
        if self.first is None:
            self.first = pid
        return self.process.setdefault(pid, Process())

    def child(self, pid, child):
        process = self.of(pid)
        if child not in process.children:
            process.children.append(child)
        self.of(child)

    def show(self, pid=None, depth=0):
        pid = self.first if pid is None else pid
        process = self.of(pid)
        status = "" if depth == 0 else process.status
        print("  " * depth + " ".join(process.programs or ["-"]), status)
        for child in process.children:
            self.show(child, depth + 1)


def of_log(path):
    tree = Tree()
    for line in open(path):
        event = json.loads(line)
        fields = event.get("fields", {})
        name, pid = event["event"], event["pid"]
        if name == "process.start":
            # A process whose parent is not traced is a root of the tree.
            if tree.first is None or pid == tree.first:
                tree.of(pid)
            tree.of(pid).programs.append(fields["program"])
        elif name in ("process.fork", "process.vfork", "process.spawn") and int(fields["child"]) > 0:
            tree.child(pid, int(fields["child"]))
        elif name in ("process.child", "process.vchild"):
            tree.child(int(fields["parent"]), int(fields["pid"]))
        elif name == "process.wait" and int(fields["child"]) > 0 and int(fields["known"]):
            tree.of(int(fields["child"])).status = exit_status(int(str(fields["status"]), 0))
    return tree


def exit_status(status):
    return "killed by %d" % (status & 127) if status & 127 else (status >> 8) & 255


def of_strace(path):
    tree = Tree()
    begun = {}
    for line in open(path, errors="replace"):
        found = re.match(r"(\d+) +(.*)", line)
        pid, text = int(found[1]), found[2]
        if text.endswith("<unfinished ...>"):
            begun[pid] = text[: -len("<unfinished ...>")]
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", text)
        if resumed:
            text = begun.pop(pid, "") + resumed[1]
        call = re.match(r"(\w+)\((.*)\) += (-?\d+|\?)", text)
        ended = re.match(r"\+\+\+ exited with (\d+)", text)
        if ended:
            tree.of(pid).status = int(ended[1])
        elif call and call[1] in ("clone", "clone3", "fork", "vfork") and call[3] not in ("?", "-1"):
            if "CLONE_THREAD" not in call[2]:
                tree.child(pid, int(call[3]))
        elif call and call[1] == "execve" and call[3] == "0":
            tree.of(pid).programs.append(re.match(r'"([^"]*)"', call[2])[1])
    return tree


def main():
    tree = of_log(sys.argv[2]) if sys.argv[1] == "log" else of_strace(sys.argv[2])
    tree.show()


if __name__ == "__main__":
    main()
