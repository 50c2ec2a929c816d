#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the failed look-ups of files of strace -f with those of posixtrace record.

    calls.py NAME STRACE EVENTS     EVENTS is of `posixtrace dump --json`

Every failed look-up in the log must be in strace's output, with the same error and in the same order.
Those that only strace shows must be made inside the C library or by the dynamic linker, whose calls do
not pass the preload library: those of realpath(), whose own event has the path, count as such. Processes are
in the order of their first call. Paths of temporary
files differ between two runs and are compared without their random letters.
"""
import json
import os
import re
import sys

INSIDE = re.compile(r"locale|/etc/ld\.so|\.so(\.|$)|\.mo$|gconv|hwcaps|zoneinfo|/nscd/|/etc/nsswitch|^$")
CALL = re.compile(r'^(\d+) +\w+\((?:AT_FDCWD, |-?\d+(?:<[^>]*>)?, )?"((?:[^"\\]|\\.)*)"'
                  r".* = -1 (E[A-Z]+) ")


def plain(path):
    return re.sub(r"/cc[A-Za-z0-9]{6}", "/ccXXXXXX", path)


def of_strace(path):
    calls = {}
    for line in open(path, errors="replace"):
        number = line.split(None, 1)[0]
        calls.setdefault(number, [])
        match = CALL.match(line)
        if match and match.group(3) in ("ENOENT", "ENOTDIR") and "execve(" not in line:
            calls[number].append((plain(match.group(2)), match.group(3)))
    return [c for c in calls.values() if c]


def of_log(path, resolved):
    calls = {}
    for line in open(path):
        event = json.loads(line)
        labels, fields = event.get("labels", {}), event.get("fields", {})
        if event.get("event") == "file.realpath":
            full = os.path.normpath(fields["path"])
            while full not in ("", "/"):
                resolved.add(full)
                full = os.path.dirname(full)
            continue
        if labels.get("error") not in ("ENOENT", "ENOTDIR") or "path" not in fields:
            continue
        if event["event"].startswith("process."):
            continue
        calls.setdefault(event["pid"], []).append((plain(fields["path"]), labels["error"]))
    return list(calls.values())


def only_in_first(first, second):
    """Removes second from first in order; None if it is not a subsequence."""
    rest, at = [], 0
    for call in first:
        if at < len(second) and call == second[at]:
            at += 1
        else:
            rest.append(call)
    return rest if at == len(second) else None


def main():
    resolved = set()
    name, strace, log = sys.argv[1], of_strace(sys.argv[2]), of_log(sys.argv[3], resolved)
    faults, shown, inside, matched = [], 0, 0, 0
    for ours in log:
        shown += len(ours)
        for i, theirs in enumerate(strace):
            rest = only_in_first(theirs, ours)
            if rest is not None:
                matched += 1
                strace[i] = rest
                break
        else:
            faults.append("not in strace, or in another order: %s" % ours[:4])
    for theirs in strace:
        for path, error in theirs:
            inside += 1
            if not INSIDE.search(path) and os.path.normpath(path) not in resolved:
                faults.append("only in strace: %s %s" % (path, error))
    print("CALLS %-8s strace %4d  log %4d  inside the C library %4d  processes %2d"
          % (name, shown + inside, shown, inside, matched))
    for fault in faults[:20]:
        print("   ", fault)
    return bool(faults)


sys.exit(main())
