# SPDX-License-Identifier: LGPL-2.1-or-later
"""Functions that read folders or names: their events beside the system calls that strace shows.

One call of such a function makes many system calls, or none. So their events have no places in the
order of the thread (calls.py). The events and the system calls of a kind are compared in their own
order:

    readdir     each buffer of getdents64() is a run of events with the names in the buffer
    scandir     each event opens its folder once, with the same error
    ftw         each event begins with the attributes of its path; then all names are below it
    glob        each folder that was opened is one in which an event's pattern has to look
    fts         the names of each folder that was read are those of events, each one once
    realpath    the links that were read are those of the event's path, one after the other

A fault is a system call that no event explains, or an event that explains no system call although
its function makes some.
"""
import collections
import fnmatch
import posixpath
import re

READERS = ("readdir", "readdir64", "readdir_r", "readdir64_r")
KIND_OF = {function: kind for kind, functions in {
    "scandir": "scandir scandir64 scandirat scandirat64",
    "ftw": "ftw ftw64 nftw nftw64",
    "glob": "glob glob64",
    "fts": "fts_open fts64_open fts_read fts64_read fts_close fts64_close",
    "realpath": "realpath __realpath_chk canonicalize_file_name",
}.items() for function in functions.split()}
TYPES = ("file.scandir", "file.ftw", "file.glob", "file.fts_open", "file.fts_read",
         "file.fts_close", "file.realpath")
NAME = re.compile(r'd_name="((?:[^"\\]|\\.)*)"')
# Errors of realpath() without a system call that fails in the same way.
FAILURES = ("", "ENOTDIR", "ELOOP", "ENOENT", "ENAMETOOLONG", "EINVAL")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(\.\.\.)?')


def plain(text):
    """A string as strace prints it, as the log has it."""
    return text.encode().decode("unicode_escape", "replace").encode("latin-1", "replace").decode(
        "utf-8", "replace")


def strings_of(arguments):
    """The strings of a call; None for one that strace has abbreviated."""
    return [None if cut else plain(text) for text, cut in STRING.findall(arguments)]


def descriptor_of(arguments):
    found = re.match(r"-?\d+", arguments)
    return int(found[0]) if found else None


class Buffer:
    """The names that one getdents64() returned, with its error. At the end there are none.

    is_cut says that the program did not have to read all of them: it closed the folder, began
    again, or ended.
    """
    def __init__(self, names, error):
        self.names, self.error, self.is_cut = names, error, False


class Streams:
    """The folders that each thread reads by readdir(), by their descriptors."""
    def __init__(self):
        self.buffers = collections.defaultdict(list)  # of (thread, descriptor)

    def note(self, call, function):
        """Returns the name that the event of the call has, if it is getdents64() of readdir()."""
        at = call.thread, descriptor_of(call.arguments)
        if call.name == "getdents64" and function in READERS:
            buffer = Buffer([plain(name) for name in NAME.findall(call.arguments)], call.error)
            self.buffers[at].append(buffer)
            return buffer
        if call.name in ("close", "lseek") and at in self.buffers:
            self.buffers[at][-1].is_cut = True
        return None

    def end(self):
        """The program may end before it has read a buffer."""
        for buffers in self.buffers.values():
            buffers[-1].is_cut = True

    def sift(self, thread, events):
        """Returns the events without those of names in a buffer that was there before, the first
        fault, and the indices of the events that strace does not decide."""
        kept, at, undecided = [], {}, []
        for i, event in enumerate(events):
            if event[0] != "file.readdir":
                kept.append(event)
                continue
            fd = event.fields["fd"]
            number, used, _ = at.get(fd, (-1, 0, 0))
            buffers = self.buffers.get((thread, fd), [])
            rest = buffers[number].names[used:] if number >= 0 else []
            if rest and rest[0] == event.fields["name"] and not event[1]:
                at[fd] = number, used + 1, i
                continue
            if rest and not buffers[number].is_cut:
                return kept, "readdir() of descriptor %d: %s in strace, %s in the log" % (
                    fd, rest[0], event.fields["name"]), []
            if rest and used > 1:
                undecided.append(at[fd][2])
            if number + 1 == len(buffers):
                return kept, "readdir() of descriptor %d: nothing in strace, %s in the log" % (
                    fd, event.fields["name"]), []
            at[fd] = number + 1, 1, i
            kept.append(event)
        for (of, fd), buffers in self.buffers.items():
            number, used, last = at.get(fd, (-1, 0, 0))
            if of != thread or not buffers:
                continue
            rest = buffers[number].names[used:] if number >= 0 else []
            if number + 1 < len(buffers) or (rest and not buffers[number].is_cut):
                return kept, "readdir() of descriptor %d: %s in strace, nothing in the log" % (
                    fd, (rest or ["a further system call"])[0]), []
            if rest and used > 1:
                undecided.append(last)
        return kept, None, undecided


def is_below(path, top):
    return path.startswith(top.rstrip("/") + "/")


def plain_parts(pattern):
    """The number of folders before the first wildcard, or None if there is no wildcard."""
    parts = pattern.split("/")
    return next((i for i, part in enumerate(parts) if re.search(r"[*?\[]", part)), None)


def begins(pattern):
    """The folder in which glob() looks first, or None if the pattern has no wildcard."""
    plain_ones = plain_parts(pattern)
    if plain_ones is None:
        return None
    return "/".join(pattern.split("/")[:plain_ones]) or ("/" if plain_ones else ".")


def looks_in(pattern, folder):
    """Whether glob() looks in the folder after the first one."""
    folders, parts = folder.rstrip("/").split("/"), pattern.rstrip("/").split("/")
    return plain_parts(pattern) < len(folders) < len(parts) and \
        all(map(fnmatch.fnmatchcase, folders, parts))


def compare(streams, walks, thread, events):
    """Returns the events that have a place in the order of the thread, the first fault, and the
    indices of the events that strace does not decide."""
    kept, fault, undecided = streams.sift(thread, events)
    if not fault:
        fault, more = walks.sift(thread, events)
        undecided += more
    return [event for event in kept if event[0] not in TYPES], fault, undecided


class Walks:
    """The system calls of each thread and kind: (name, path, error, what the kind needs)."""
    def __init__(self):
        self.calls = collections.defaultdict(list)
        self.opened = {}  # the path of each descriptor that fts_read() has opened

    def note(self, call, function):
        kind, strings = KIND_OF[function], strings_of(call.arguments)
        at = call.thread, kind
        if kind == "fts":
            if function in ("fts_open", "fts64_open"):
                if call.name == "newfstatat" and strings[0]:
                    self.calls[call.thread, "fts roots"].append(strings[0])
            elif call.name == "openat" and strings and not call.error:
                self.opened[call.thread, int(call.result)] = strings[0]
            elif call.name == "getdents64":
                fd = descriptor_of(call.arguments)
                names = [plain(name) for name in NAME.findall(call.arguments)]
                folder = self.opened.get((call.thread, fd))
                if names and self.calls[at] and self.calls[at][-1][:2] == (fd, folder):
                    self.calls[at][-1][3].extend(names)
                elif names:
                    self.calls[at].append((fd, folder, "", names))
        elif kind == "realpath":
            if call.name in ("readlink", "getcwd"):
                self.calls[at].append((call.name, strings[0] if strings else None, call.error,
                                       strings[1:]))
        elif call.name == "openat" or (
                kind == "ftw" and call.name in ("newfstatat", "stat", "lstat") and strings[0]):
            # A name in a folder that the function has opened.
            is_inner = kind == "ftw" and re.match(r"\d", call.arguments) is not None
            path = strings[0] if strings else None
            self.calls[at].append((call.name, path, call.error, is_inner))

    def sift(self, thread, events):
        """Returns the first fault, and the indices of events that strace does not decide."""
        found, undecided = collections.defaultdict(list), []
        for i, event in enumerate(events):
            if event[0] in TYPES:
                found[event[0].split(".")[1].split("_")[0]].append((i, event))
        for kind in ("scandir", "ftw", "glob", "fts", "realpath"):
            theirs = self.calls[thread, kind]
            if kind == "fts":
                theirs = theirs, self.calls[thread, "fts roots"]
            fault = getattr(self, kind)(theirs, found[kind], undecided)
            if fault:
                return "%s: %s" % (kind, fault), []
        return None, undecided

    @staticmethod
    def scandir(calls, events, _):
        ours = [(event[2], event[1]) for _, event in events]
        theirs = [call[1:3] for call in calls]
        return None if ours == theirs else "%s in strace, %s in the log" % (theirs, ours)

    @staticmethod
    def ftw(calls, events, _):
        at = 0
        for _, event in events:
            path, changes = event[2], event.fields["flags"] & 4
            at += changes and at < len(calls) and calls[at][:2] == ("openat", ".")
            if at == len(calls) or calls[at][0] == "openat" or calls[at][1:3] != (path, event[1]):
                return "%s in strace, %s in the log" % (calls[at:at + 1], path)
            at += 1
            while at < len(calls) and (
                    is_below(calls[at][1], path) or calls[at][:2] == ("openat", path) or
                    calls[at][3] or
                    (changes and not calls[at][1].startswith("/") and calls[at][1] != path)):
                at += 1
        return "%s in strace, nothing in the log" % (calls[at],) if at < len(calls) else None

    @staticmethod
    def glob(calls, events, undecided):
        at = 0
        for i, event in events:
            pattern = event[2] or ""
            if event[1]:
                return "%s fails with %s in the log only" % (pattern, event[1])
            if at < len(calls) and calls[at][1] == begins(pattern):
                at += 1
                while at < len(calls) and looks_in(pattern, calls[at][1]):
                    at += 1
            else:
                undecided.append(i)  # the files of a pattern without wildcards have no folder
        return "%s in strace, nothing in the log" % (calls[at],) if at < len(calls) else None

    @staticmethod
    def fts(calls, events, undecided):
        calls, roots = calls
        at, folders, entered = 0, set(), collections.Counter()
        left = collections.Counter(roots)
        for i, event in events:
            if event[0] != "file.fts_read":
                undecided.append(i)
                continue
            kind, path = event.fields["kind"], event[2] or ""
            folder, name = posixpath.split(path)
            if kind and event[1]:
                return "%s fails with %s in the log only" % (path, event[1])
            if kind in (0, 4, 5, 7):  # the end, and folders that cannot be read
                undecided.append(i)
            elif kind == 6:
                entered[path] -= 1
                if entered[path] < 0:
                    return "%s is left, and was not entered" % path
            else:
                entered[path] += kind == 1
                if left[path]:
                    left[path] -= 1
                elif folder in folders:
                    return "nothing in strace, %s in the log" % path
                if kind == 1 and at < len(calls) and calls[at][1] in (path, name):
                    left.update(posixpath.join(path, one) for one in calls[at][3]
                                if one not in (".", ".."))
                    folders.add(path)
                    at += 1
        missed = list(left.elements()) + [path for path, count in entered.items() if count] + \
            calls[at:]
        return "%s in strace, nothing in the log" % (missed[0],) if missed else None

    @staticmethod
    def realpath(calls, events, undecided):
        calls = collections.deque(calls)
        for i, event in events:
            path, error = event[2] or "", event[1]
            if calls and calls[0][0] == "getcwd" and not path.startswith("/"):
                now = calls.popleft()[1]
            elif path and not path.startswith("/"):
                return "no system call in strace, %s in the log" % path
            else:
                now = "/"
            left, made = collections.deque(path.split("/")), 0
            while left:
                part = left.popleft()
                if part == "..":
                    now = posixpath.dirname(now)
                if part in ("", ".", ".."):
                    continue
                one = posixpath.join(now, part)
                if not calls or calls[0][:2] != ("readlink", one):
                    return "%s in strace, %s of %s in the log" % (list(calls)[:1], one, path)
                made += 1
                _, _, failure, target = calls.popleft()
                if failure == "EINVAL":
                    now = one
                elif failure:
                    if error != failure:
                        return "%s fails with %s in strace" % (path, failure)
                    break
                else:
                    now = "/" if target[0].startswith("/") else now
                    left.extendleft(reversed(target[0].split("/")))
            else:
                if error not in FAILURES:
                    return "%s fails with %s in the log only" % (path, error)
                if not error and event.fields["to"] != now:
                    return "%s is %s in strace, %s in the log" % (path, now, event.fields["to"])
            if not made and path.startswith("/") or not path:
                undecided.append(i)
        return "%s in strace, nothing in the log" % (calls[0],) if calls else None
