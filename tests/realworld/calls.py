#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls of the C library: those that strace -f -k shows beside those in the log of the same run.

    calls.py NAME STRACE EVENTS SHIM    EVENTS is of `posixtrace dump --json`, SHIM of `nm -D`
    calls.py table SHIM SOURCE...       compares the table below with the sources of the wrappers

strace ran `posixtrace record PROGRAM`, so that both saw the same calls. The stack of a system
call shows which way it went:

    wrapper    through a function that the preload library wraps: the log must have its event, in
               the same order for each thread, with the same error and the same path
    inside     by another function of the C library, or by a further call inside a wrapped one
    loader     by the dynamic linker
    direct     by the program's own system call instruction, or by syscall()
    unseen     by a program whose file cannot load the preload library, and that has not loaded it;
               the log must have process.untraced for this process and program
    tracer     by the preload library, libposixtrace or record

Each event has one call, and each call has one event. Only two calls may lack their event: the last
one of a thread that was ended, and one to which a signal handler did not return.
A program that begins, and a child that begins, has its event before those of its calls.
calls_walks.py compares the events of functions of which one call reads many folders or names.
The program proves this for each log: it removes events, one at a time, and must notice each. It
does not remove the few events that no system call decides, and prints their number.

Prints a line of numbers and the functions of class inside. The exit status is 1 if a call of
class wrapper has no event, an event has no call, a function that is wrapped was reached without the
wrapper, or the removal of an event is not noticed.
"""
import collections
import copy
import functools
import json
import os
import re
import struct
import subprocess
import sys

import calls_walks

# The system calls of the families file, io, net, process and time, which are recorded by default.
FAMILIES = set("""
open openat openat2 creat close read write pread64 pwrite64 readv writev preadv pwritev preadv2
pwritev2 lseek sendfile copy_file_range splice tee vmsplice fsync fdatasync sync_file_range
syncfs sync fallocate fadvise64 readahead dup dup2 dup3 pipe pipe2 fcntl ioctl flock close_range
memfd_create eventfd2 timerfd_create timerfd_settime timerfd_gettime signalfd4 stat lstat fstat
newfstatat statx statfs fstatfs access faccessat faccessat2 unlink unlinkat rmdir rename
renameat renameat2 link linkat symlink symlinkat readlink readlinkat mkdir mkdirat mknod mknodat
chdir fchdir getcwd chmod fchmod fchmodat chown lchown fchown fchownat truncate ftruncate utime
utimes utimensat futimesat getdents64 mount umount2 inotify_init inotify_init1 inotify_add_watch
inotify_rm_watch getxattr lgetxattr fgetxattr setxattr lsetxattr fsetxattr listxattr llistxattr
flistxattr removexattr lremovexattr fremovexattr chroot socket socketpair connect bind listen
accept accept4 shutdown sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg poll ppoll select
pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd
signalfd setsockopt getsockopt getsockname getpeername kill tgkill rt_sigqueueinfo
rt_tgsigqueueinfo wait4 waitid clone clone3 fork vfork execve execveat pidfd_open
pidfd_send_signal pidfd_getfd prctl ptrace prlimit64 nanosleep
clock_nanosleep
""".split())

# Event types with the functions that have them, if each call is one system call. The call of a pair
# is the one that counts, if the function makes several.
EVENTS = {}
for row in """
io.open open open64 openat openat64 creat creat64 __open __open64 __open_2 __open64_2 __openat_2
  __openat64_2 posix_openpt getpt syscall_openat2
io.close close __close
io.read read __read __read_chk eventfd_read
io.write write __write eventfd_write
io.pread pread pread64 __pread64 __pread_chk __pread64_chk
io.readv readv
io.writev writev
io.pwrite pwrite pwrite64 __pwrite64
io.lseek lseek lseek64 __lseek
io.preadv preadv preadv64 preadv2 preadv64v2
io.pwritev pwritev pwritev64 pwritev2 pwritev64v2
io.sendfile sendfile sendfile64
io.copy_file_range copy_file_range
io.splice splice tee vmsplice
io.fsync fsync
io.fdatasync fdatasync
io.fallocate fallocate fallocate64 posix_fallocate posix_fallocate64
io.fadvise posix_fadvise posix_fadvise64 readahead
io.sync sync_file_range syncfs sync
io.dup dup dup2 dup3 __dup2
io.pipe pipe pipe2 __pipe
io.fcntl fcntl fcntl64 __fcntl
io.ioctl ioctl isatty tcgetattr tcgetpgrp tcsetpgrp tcgetsid tcdrain tcflush tcflow tcsendbreak
  unlockpt grantpt:ioctl ptsname ptsname_r __ptsname_r_chk sockatmark tcsetattr
io.flock flock
io.close_range close_range closefrom:close_range syscall_close_range
io.memfd_create memfd_create
io.eventfd eventfd
io.timerfd_create timerfd_create
io.timerfd_settime timerfd_settime
io.timerfd_gettime timerfd_gettime
io.signalfd signalfd
io.lockf lockf:fcntl lockf64:fcntl
io.shm_open shm_open:openat
io.shm_unlink shm_unlink:unlink
io.fopen fopen:openat fopen64:openat
io.fclose fclose:close
io.freopen freopen:openat freopen64:openat
file.stat stat stat64 lstat lstat64 fstatat fstatat64 statx __xstat __xstat64 __lxstat __lxstat64
  __fxstatat __fxstatat64
file.fstat fstat fstat64 __fxstat __fxstat64
file.statfs statfs statfs64 fstatfs fstatfs64 __statfs statvfs:statfs fstatvfs:fstatfs
  statvfs64:statfs fstatvfs64:fstatfs
file.access access eaccess euidaccess faccessat
file.unlink unlink unlinkat rmdir remove
file.rename rename renameat renameat2
file.link link linkat
file.symlink symlink symlinkat
file.readlink readlink readlinkat __readlink_chk __readlinkat_chk
file.mkdir mkdir mkdirat
file.mkstemp mkstemp:openat mkstemp64:openat mkostemp:openat mkostemp64:openat mkstemps:openat
  mkstemps64:openat mkostemps:openat mkostemps64:openat
file.mkdtemp mkdtemp:mkdir
file.mknod mknod mknodat mkfifo mkfifoat __xmknod __xmknodat
file.opendir opendir:openat fdopendir
file.readdir readdir:getdents64 readdir64:getdents64 readdir_r:getdents64 readdir64_r:getdents64
file.closedir closedir:close
file.chdir chdir fchdir
file.getcwd getcwd __getcwd_chk getwd __getwd_chk get_current_dir_name
file.chmod chmod fchmod fchmodat lchmod:chmod
file.chown chown lchown fchown fchownat
file.truncate truncate truncate64 ftruncate ftruncate64
file.utimes utime utimes lutimes futimes futimesat utimensat futimens
file.mount mount
file.umount umount umount2
file.inotify_init inotify_init inotify_init1
file.inotify_add_watch inotify_add_watch
file.inotify_rm_watch inotify_rm_watch
file.getdents getdents64
file.getxattr getxattr lgetxattr fgetxattr
file.setxattr setxattr lsetxattr fsetxattr
file.listxattr listxattr llistxattr flistxattr
file.removexattr removexattr lremovexattr fremovexattr
file.chroot chroot
net.socket socket socketpair
net.connect connect __connect
net.bind bind
net.listen listen
net.accept accept accept4
net.shutdown shutdown
net.send send __send
net.recv recv __recv_chk
net.sendto sendto
net.recvfrom recvfrom __recvfrom_chk
net.sendmsg sendmsg sendmmsg
net.recvmsg recvmsg recvmmsg
net.poll poll ppoll __poll __poll_chk __ppoll_chk
net.select select pselect __select
net.epoll_create epoll_create epoll_create1
net.epoll_ctl epoll_ctl
net.epoll epoll_wait epoll_pwait epoll_pwait2
net.setsockopt setsockopt
net.getsockopt getsockopt
net.getsockname getsockname
net.getpeername getpeername
process.kill kill killpg raise:tgkill gsignal:tgkill tgkill pthread_kill:tgkill
  sigqueue:rt_sigqueueinfo pthread_sigqueue:rt_tgsigqueueinfo
process.wait wait waitpid wait3 wait4 waitid __wait __waitpid
process.fork fork:clone _Fork:clone __fork:clone forkpty:clone clone:clone syscall_clone
  syscall_clone3 syscall_fork
process.vfork vfork __vfork
process.spawn posix_spawn:clone posix_spawnp:clone
process.system system:clone
process.popen popen:clone
process.pclose pclose:wait4
process.exec execve execv execl execle fexecve execveat execvp execvpe execlp
process.pidfd_open pidfd_open syscall_pidfd_open
process.pidfd_getfd pidfd_getfd syscall_pidfd_getfd
process.pidfd_send_signal pidfd_send_signal syscall_pidfd_send_signal
process.ptrace ptrace
process.prctl prctl
process.limit getrlimit getrlimit64 setrlimit setrlimit64 prlimit prlimit64
time.sleep nanosleep clock_nanosleep usleep sleep __nanosleep
""".replace("\n  ", " ").split("\n")[1:-1]:
    EVENTS[row.split()[0]] = " ".join(row.split()[1:])
EVENT_OF, CALL_OF = {}, {}
for event_name, functions in EVENTS.items():
    for word in functions.split():
        function, _, main_call = word.partition(":")
        EVENT_OF[function] = event_name
        CALL_OF[function] = main_call
# calls_walks.py compares the events of these functions.
for function in calls_walks.KIND_OF:
    EVENT_OF[function], CALL_OF[function] = "file", "none"

# The events of programs and children that begin, in their own process or in that of the parent.
BEGINNINGS = ("process.start", "process.child", "process.vchild", "process.exec_failed")
# These functions look for a program in each folder of PATH.
SEARCHES = ("execvp", "execvpe", "execlp", "posix_spawnp")


def repeats_getcwd(run, call):
    """get_current_dir_name() compares the files "." and $PWD, and calls getcwd() if they differ."""
    if call.name == "getcwd":
        files = [re.search(r"st_dev=.*?, st_ino=\d+", c.arguments) for c in run]
        return run[-1].name != "getcwd" and (run[-1].error != "" or len(run) == 2 and
                                             files[0][0] != files[1][0])
    return len(run) == 1 and path_of(run[0].arguments) == "." and not run[0].error


def repeats_tcsetattr(run, call):
    """The C library reads the attributes, sets them, and reads them again after a success."""
    request = [re.search(r"\bTC[GS]ETS[WF]?\b", c.arguments) for c in run + [call]]
    names = [found[0] if found else "" for found in request]
    return names[-1].startswith("TCSETS") or (
        names[-2].startswith("TCSETS") and not run[-1].error and names[-1] == "TCGETS")


# Functions of which one call may make several system calls that count, and has one event with the
# error of the last. The value says whether a system call belongs to the same call of the function
# as the run of system calls before it. It decides by the system calls alone and never by the log,
# so a missing event cannot hide behind the system calls of another one.
SEVERAL = {
    # These try another name.
    **dict.fromkeys(
        (function for kind in ("file.mkstemp", "file.mkdtemp")
         for function in EVENTS[kind].replace(":openat", "").replace(":mkdir", "").split()),
        lambda run, call: run[-1].error == "EEXIST"),
    "remove": lambda run, call: call.name == "rmdir",
    "get_current_dir_name": repeats_getcwd,
    "tcsetattr": repeats_tcsetattr,
    # These two compare the owner of the file first.
    "eaccess": lambda run, call: call.name == "access",
    "euidaccess": lambda run, call: call.name == "access",
    # A kernel without faccessat2() cannot use the flags.
    "faccessat": lambda run, call: run[-1].name == "faccessat2" and run[-1].error == "ENOSYS",
    # It examines the descriptor first.
    "fdopendir": lambda run, call: call.name == "fcntl",
    # It waits again after a signal.
    "pclose": lambda run, call: run[-1].error == "EINTR",
    # An older kernel has no clone3().
    **dict.fromkeys(("posix_spawn", "posix_spawnp", "system", "popen"),
                    lambda run, call: run[-1].error == "ENOSYS"),
    # A file system without fallocate() gets a byte for each block.
    "posix_fallocate": lambda run, call: call.name != "fallocate",
    "posix_fallocate64": lambda run, call: call.name != "fallocate",
}

# Functions whose first string in a system call is not the path of the event: the name of an
# attribute, the folder that the function examines, or a path in /proc.
NO_PATH = ("fgetxattr", "fsetxattr", "fremovexattr", "get_current_dir_name", "lchmod")

# A wrapper with its event type, in the sources of the preload library.
WRAPPER = re.compile(r"\b(\w+), ([A-Z]+_[A-Z0-9_]+)\b")
LINE = re.compile(r"(\d+) +(.*)")
CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+|\?)(?: (E[A-Z0-9]+))?")
FRAME = re.compile(r" > (.*?)(?: \(deleted\))?\(([^+()]*)(?:\+0x([0-9a-f]+))?")
PATH = re.compile(r'^(?:AT_FDCWD, |-?\d+(?:<[^>]*>)?, )?"((?:[^"\\]|\\.)*)"(\.\.\.)?')


class Call:
    """A system call.

    A signal handler may run between the call and its event. So the event is at the call, or where a
    handler returns to the function: there rt_sigreturn() has the call in `of`.
    """
    def __init__(self, thread, name, arguments, result, error):
        self.thread, self.name, self.arguments = thread, name, arguments
        self.result, self.error, self.frames = result, error, []
        # The kernel restarts a call with an error ERESTART..., unless a handler prevents that.
        self.has_returned = result != "?" or (error and not error.startswith("ERESTART"))
        self.was_interrupted = not self.has_returned
        self.may_lack_event = False
        self.of = None  # only for rt_sigreturn()
        self.was_killed = False  # in the last call of the thread
        self.begins = []  # the events of a child that precede its first call


@functools.lru_cache(None)
def sizes_of(module):
    """The bytes of each exported function of a library."""
    lines = subprocess.run(["nm", "-D", "-S", "--defined-only", module], stdout=subprocess.PIPE,
                           text=True, check=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0]: int(line.split()[1], 16)
            for line in lines if len(line.split()) == 4}


@functools.lru_cache(None)
def function_of(module, name, offset):
    """The function of a frame. strace prints the exported function before the address: an address
    behind its end is in a function of the C library that has no name there."""
    if not module.rsplit("/", 1)[-1].startswith("libc.so") or name not in sizes_of(module):
        return name.split(".")[0]
    # The address of a return can be the end, if the function does not return after the call.
    return name if int(offset or "0", 16) <= sizes_of(module)[name] else "(no name)"


def lines_of(path):
    """Yields (thread, text, frames) of each line, with resumed calls as one line at their end."""
    begun, latest = {}, None
    for line in open(path, errors="replace"):
        frame = FRAME.match(line)
        if frame and latest:
            latest[2].append((frame[1].rsplit("/", 1)[-1], function_of(*frame.groups())))
        found = LINE.match(line)
        if frame or not found:
            continue
        if latest:
            yield latest
        latest, thread, text = None, int(found[1]), found[2]
        if text.endswith("<unfinished ...>"):
            begun[thread] = text[:-len("<unfinished ...>")]
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", text)
        latest = thread, begun.pop(thread, "") + resumed[1] if resumed else text, []
    if latest:
        yield latest


EXECUTES = ("execve", "execveat")
MAKERS = ("clone", "clone3", "fork", "vfork")


class Handlers:
    """Which signals have a handler, for each process."""
    def __init__(self, lines):
        self.table, self.makers = {}, {}
        for thread, text, _ in lines:
            call = CALL.match(text)
            if call and call[1] in MAKERS and call[3].isdigit():
                self.makers[int(call[3])] = thread, "CLONE_SIGHAND" in call[2]

    def of(self, thread):
        if thread not in self.table:
            maker, is_shared = self.makers.get(thread, (None, False))
            table = self.of(maker) if maker is not None else set()
            self.table[thread] = table if is_shared else set(table)
        return self.table[thread]

    def note(self, thread, call):
        if call.name == "rt_sigaction" and call.result == "0":
            action = re.match(r"(\w+), \{sa_handler=(\w+)", call.arguments)
            if action and action[2] in ("SIG_DFL", "SIG_IGN"):
                self.of(thread).discard(action[1])
            elif action:
                self.of(thread).add(action[1])
        elif call.name == "execve" and call.result == "0":
            self.table[thread] = set()
        elif call.name in MAKERS and call.result.isdigit():
            self.of(int(call.result))


def entered_first(calls):
    """A child of vfork() executes a program before its maker goes on. strace may print the end of
    execve() later."""
    ends = {}
    for i, call in enumerate(calls):
        if call.name in EXECUTES and call.result == "0":
            ends.setdefault(call.thread, i)
    order = list(range(len(calls)))
    for i, call in enumerate(calls):
        end = ends.get(int(call.result)) if call.name == "vfork" and call.result.isdigit() else None
        if end is not None and end > i:
            order[end] = i - 0.5
    return [calls[i] for i in sorted(range(len(calls)), key=order.__getitem__)]


def of_strace(path):
    """The calls in the order of their returns."""
    lines = list(lines_of(path))
    calls, handlers = [], Handlers(lines)
    # The last call of each thread, outside of handlers that run; and those below the handlers.
    latest, below, spawns = {}, collections.defaultdict(list), {}
    for thread, text, frames in lines:
        signal = re.match(r"--- (SIG\w+) ", text)
        if signal and signal[1] in handlers.of(thread):
            below[thread].append(latest.pop(thread, None))
        found = CALL.match(text)
        if not found:
            continue
        call = Call(thread, found[1], found[2], found[3], found[4] or "")
        call.frames = frames
        previous = latest.get(thread)
        # posix_spawn() frees the stack of its child. strace cannot print the stack of clone3().
        if "CLONE_VFORK" in call.arguments and call.name in MAKERS:
            spawns[thread] = call
        elif call.name == "munmap" and thread in spawns:
            spawns.pop(thread).frames = frames
        if call.name == "restart_syscall" and previous:
            call.name, call.arguments = previous.name, previous.arguments
        calls.append(call)
        handlers.note(thread, call)
        latest[thread] = call
        if call.name == "execve" and call.result == "0":
            for other in below.pop(thread, []):
                if other:
                    other.may_lack_event = True
        if call.name == "rt_sigreturn" and below[thread]:
            call.of = latest[thread] = below[thread].pop()
            if call.of and call.of.was_interrupted and call.error == "EINTR":
                call.of.error, call.of.has_returned = "EINTR", True
    for thread, text, _ in lines:
        if thread in latest and text.startswith("+++ killed by "):
            latest[thread].was_killed = True
    for thread, call in latest.items():
        for other in below[thread] + [call]:
            if other:
                other.may_lack_event = True
    return entered_first(calls)


def note_children(calls, wrapped, traced):
    """The first call of a child follows the event with which the child begins."""
    begins = {}
    for call in calls:
        if call.name in MAKERS and call.result.isdigit() and call.result != "0":
            kind, function = classify(call, wrapped, traced)
            if kind == "wrapper" and EVENT_OF.get(function) == "process.vfork":
                begins[int(call.result)] = "process.vchild"
            elif kind == "wrapper" and not re.search("CLONE_(VM|SETTLS)", call.arguments) and (
                    EVENT_OF.get(function) == "process.fork" or function == "daemon"):
                begins[int(call.result)] = "process.child"
    for call in calls:
        if call.thread in begins:
            call.begins.append(begins.pop(call.thread))


def ends_of_spawned(calls):
    """The error and the path of the program that each child has executed, or tried to."""
    ends = {}
    for call in calls:
        if call.name in EXECUTES and ends.get(call.thread, (1, ""))[0]:
            ends[call.thread] = call.error, path_of(call.arguments)
    return ends


def thread_of(calls):
    """Calls of a child of vfork() before its execve() are recorded as the parent's."""
    parent = {int(c.result): c.thread for c in calls
              if c.name == "vfork" and c.result.isdigit() and int(c.result) > 0}
    for call in calls:
        of = parent.get(call.thread)
        call.recorder = call.thread if of is None else of
        if call.name in EXECUTES and call.result == "0":
            parent.pop(call.thread, None)
        elif of is not None:
            call.thread = of


RECORDER = ("posixtrace", "lt-posixtrace", "posixtrace-guardian")


def shares(call, *flags):
    return all(re.search(flag + r"\b", call.arguments) for flag in flags)


def kind_of_clone(call):
    """The function with the same events as this call of clone()."""
    return "vfork" if shares(call, "CLONE_VM", "CLONE_VFORK") else "clone"


def by_program(frames):
    """A wrapper that the program called. Its malloc() may have been called by libposixtrace."""
    files = [f[0] for f in frames]
    while files and files[0].startswith("libc.so"):
        files.pop(0)
    if not files or not files[0].startswith("libposixtrace-preload"):
        return False
    while files and files[0].startswith("libposixtrace-preload"):
        files.pop(0)
    return bool(files) and not files[0].startswith(("libposixtrace", "libc.so", "ld-linux"))


def classify(call, wrapped, traced):
    """Returns the class, and the function of the C library."""
    frames = call.frames
    if any(f[0] in RECORDER for f in frames) or \
            any(f[0].startswith("libposixtrace.so") for f in frames) and not by_program(frames):
        return "tracer", ""
    if not frames:
        return "unknown", ""
    if frames[0][0].startswith("ld-linux"):
        return "loader", ""
    shim = [f[1] for f in frames if f[0].startswith("libposixtrace-preload")]
    at = next((i for i, f in enumerate(frames) if not f[0].startswith("libc.so")), len(frames))
    if at < len(frames) and frames[at][0].startswith("libposixtrace-preload"):
        name = frames[at][1]
        if name == "syscall" or "shim_syscall" in [f[1] for f in frames[at:at + 3]]:
            name = "vfork" if kind_of_clone(call) == "vfork" else "syscall_" + call.name
            return ("wrapper", name) if name in EVENT_OF else ("direct", "")
        if name in ("clone", "__clone"):
            name = kind_of_clone(call)
        return ("wrapper", name) if name in wrapped else ("tracer", "")
    if at == 0:
        return ("tracer" if shim and frames[0][0].startswith("libposixtrace") else "direct"), ""
    if at == len(frames) and call.thread not in traced:
        return "tracer", ""  # a thread of the recorder
    name = frames[at - 1][1]
    if at < len(frames) and frames[at][0].startswith("ld-linux"):
        return "loader", ""
    if name == "syscall":
        return "direct", ""
    if name in ("clone", "__clone") and call.name == "clone" and not shares(call, "CLONE_VM"):
        return "wrapper", "clone"  # strace cannot print the stack of a child with another one
    return "inside", name


def path_of(arguments):
    match = PATH.match(arguments)
    return None if not match or match[2] else match[1].encode().decode("unicode_escape", "replace")


class Event(tuple):
    """(type, error, path), and all fields."""
    def __new__(cls, name, error, path, fields):
        event = tuple.__new__(cls, (name, error, path))
        event.fields = fields
        return event


def of_log(path):
    """The events of each thread, all threads, and (process, program) that were not traced."""
    events, traced, untraced = collections.defaultdict(list), set(), set()
    searches_nothing = set()
    for line in open(path):
        event = json.loads(line)
        traced.add(event["tid"])
        name, fields = event["event"], event.get("fields", {})
        if name == "process.untraced":
            untraced.add((fields["pid"], fields["program"]))
        if name not in EVENTS and name not in BEGINNINGS and name not in calls_walks.TYPES or (
                name == "io.fclose" and fields.get("fd") == -1):
            continue
        if name == "io.fopen" and not fields.get("path"):
            continue  # fdopen() opens no file
        if name == "process.exec" and fields.get("fd") == -1 and not fields["path"]:
            searches_nothing.add(event["tid"])  # execvp("") fails without a system call
            continue
        if name == "process.exec_failed" and event["tid"] in searches_nothing:
            searches_nothing.remove(event["tid"])
            continue
        error = event.get("labels", {}).get("error", "") if fields.get("error") else ""
        path = fields.get({"process.start": "program", "file.readdir": "name"}.get(name, "path"))
        events[event["tid"]].append(Event(name, error, path, fields))
    return events, traced, untraced


def check_table(shim, sources):
    """Returns whether the table has each wrapper of its event types."""
    wrapped = {line.split()[-1].split("@")[0] for line in open(shim)}
    types = {name.upper().replace(".", "_"): name for name in EVENTS}
    pairs = {pair for path in sources for pair in WRAPPER.findall(open(path).read())}
    types.update((name.upper().replace(".", "_"), "file") for name in calls_walks.TYPES)
    types.update(FILE_GETDENTS="file.getdents", PROCESS_PIDFD="process.pidfd_open",
                 PROCESS_PIDFD_GET="process.pidfd_getfd",
                 PROCESS_PIDFD_KILL="process.pidfd_send_signal")
    found = [(function, types[kind]) for function, kind in pairs
             if function in wrapped and kind in types]
    wrong = [pair for pair in found if EVENT_OF.get(pair[0]) != pair[1]]
    for function, name in sorted(wrong):
        print("FAULT %s has events %s, and the table has not" % (function, name))
    print("%d wrappers are in the table" % (len(found) - len(wrong)))
    return found and not wrong


class Expected:
    """The event that a call must have, at one of `places` places in the order of the thread."""
    def __init__(self, event, call, path, function, child=None):
        self.event, self.call, self.path, self.function = event, call, path, function
        self.child = child  # the id of the process that the call made
        self.places = 0

    def is_like(self, event):
        """The path of symlink() is not the first string of the call, and is not compared."""
        if self.function in SEARCHES and self.path and "/" not in (event[2] or "/"):
            has_path = self.path.endswith("/" + event[2])
        else:
            has_path = self.path is None or event[2] in (None, self.path) or \
                self.event == "file.symlink"
        return event[:2] == (self.event, self.call.error) and has_path and \
            self.child in (None, event.fields.get("child"))

    def __str__(self):
        return str((self.event, self.call.error, self.path, self.function))


def difference(places, events):
    """Returns the first difference between the expected events of a thread and those of its log.

    `places` has each expected event at all places where it can be. Several assignments of events to
    places are possible until later events decide, so the loop keeps all of them: the number of
    events that have a place, and the expected events that still need one. Returns None if one of
    them gives each expected event one event, and each event one expected event.
    """
    left = collections.Counter(places)
    states = {(0, frozenset())}
    for expected in places:
        left[expected] -= 1
        is_first = left[expected] == expected.places - 1
        following = set()
        for at, open_ones in states:
            if not is_first and expected not in open_ones:
                following.add((at, open_ones))  # an earlier place has the event
                continue
            if at < len(events) and expected.is_like(events[at]):
                following.add((at + 1, open_ones - {expected}))
            if left[expected]:
                following.add((at, open_ones | {expected}))
            elif expected.call.may_lack_event:
                following.add((at, open_ones - {expected}))
        if not following:
            at = max(state[0] for state in states)
            return "%s in strace, %s in the log after %d events" % (
                expected, events[at] if at < len(events) else "nothing", at)
        states = following
    at = max(state[0] for state in states)
    return None if at == len(events) else "events without calls: %s" % events[at:at + 3]


REMOVALS = 200  # of a thread with many events, only so many are removed in turn


def unnoticed(compare, places, events, undecided):
    """Returns the number of events whose removal is not noticed, if more are than calls that may
    lack their event, and the number of removals."""
    step = max(1, len(events) // REMOVALS)
    removed = [i for i in range(0, len(events), step) if i not in undecided]
    passed = sum(compare(events[:i] + events[i + 1:])[0] is None for i in removed)
    # The events beside an event that may be missing can be equal to it.
    return passed if passed and not any(e.call.may_lack_event for e in places) else 0, len(removed)


class Programs:
    """Which processes execute programs that cannot load the preload library."""
    def __init__(self, calls, untraced):
        self.untraced, self.unseen, self.faults = untraced, {}, []
        self.makers = {int(c.result): c.thread for c in calls
                       if c.name in MAKERS and c.result.isdigit()}

    def note(self, call):
        """The event is of the process itself, or of its maker if that was posix_spawn()."""
        if call.name in EXECUTES and call.result == "0":
            path = path_of(call.arguments)
            is_said = self.untraced & {(of, path) for of in
                                       (call.thread, self.makers.get(call.thread))}
            why, was_unseen = obstacle_of(call), self.is_unseen(call.thread)
            self.unseen[call.thread] = bool(why)
            if why and not is_said and not was_unseen:
                self.faults.append("%s is %s, and the log has no process.untraced" % (path, why))
            if is_said and not why:
                self.faults.append("the log has process.untraced of %s, which can be traced" % path)
        elif call.name == "openat" and "/libposixtrace-preload.so" in call.arguments and \
                call.result.isdigit() and self.is_unseen(call.thread) and call.frames and \
                call.frames[0][0].startswith("ld-"):
            self.faults.append("thread %d loads the preload library, and the log has "
                               "process.untraced" % call.thread)

    def is_unseen(self, thread):
        while thread not in self.unseen and thread in self.makers:
            thread = self.makers[thread]
        return self.unseen.get(thread, False)


@functools.lru_cache(None)
def obstacle(path, depth=0):
    """Why the file of a program cannot load the preload library, or "" if it can."""
    try:
        with open(path, "rb") as file:
            mode, begin = os.stat(path), file.read(64)
            if begin[:2] == b"#!":
                file.seek(2)
                words = file.read(254).split(b"\n")[0].split()
                return obstacle(words[0].decode(), depth + 1) if words and depth < 5 else ""
            if begin[:4] != b"\x7fELF":
                return ""
            if begin[4] != 2 or begin[18:20] != open("/proc/self/exe", "rb").read(20)[18:]:
                return "of another processor"
            offset, size, count = struct.unpack_from("<Q", begin, 32) + \
                struct.unpack_from("<HH", begin, 54)
            for i in range(count):
                file.seek(offset + i * size)
                kind, _, where, _, _, length = struct.unpack("<IIQQQQ", file.read(40))
                if kind == 3:
                    file.seek(where)
                    loader = file.read(length).rstrip(b"\0").decode()
                    if not os.path.basename(loader).startswith("ld-linux"):
                        return "of another C library"
                    changes = (mode.st_mode & 0o4000 and mode.st_uid != os.geteuid()) or \
                        (mode.st_mode & 0o2010 == 0o2010 and mode.st_gid != os.getegid())
                    return "set-user-ID or set-group-ID" if changes else ""
            return "statically linked"
    except (OSError, struct.error, UnicodeDecodeError):
        return ""


class Executions:
    """The events of programs that are executed: process.exec before the call, then process.start of
    the program or process.exec_failed.

    `begun` has the programs of each thread. Their events process.start have no places in the order:
    the libraries of the program may make calls before.
    """
    def __init__(self, put):
        self.put, self.failed, self.begun = put, {}, collections.defaultdict(list)

    def note(self, call, kind, function):
        is_execution = call.name in EXECUTES and kind == "wrapper"
        run_of, run = self.failed.get(call.recorder, ("", []))
        paths, path = [path_of(c.arguments) for c in run], path_of(call.arguments)
        belongs = is_execution and run_of == function and function in SEARCHES and (
            run[-1].error == "ENOEXEC" or
            os.path.basename(path) == os.path.basename(paths[0]))
        if run and not belongs:
            self.fail(call.recorder)
            run = []
        for event in call.begins:
            self.put_event(event, call.recorder, call, "", None, "")
        if is_execution and not belongs:
            self.put_event("process.exec", call.recorder, call, "",
                           None if function == "fexecve" else path, function)
        if is_execution and call.error:
            self.failed[call.recorder] = function, run + [call]
        elif belongs:
            del self.failed[call.recorder]
        if call.name in EXECUTES and call.result == "0" and not obstacle_of(call) and \
                os.path.basename(path) not in RECORDER:
            self.begun[call.thread].append(path if call.name == "execve" else None)

    def put_event(self, event, thread, call, error, path, function):
        call = copy.copy(call)
        call.thread, call.error, call.may_lack_event = thread, error, False
        self.put(Expected(event, call, path, function))

    def fail(self, thread):
        """The error of a search is that of the first folder with the program, if there is one."""
        function, run = self.failed.pop(thread)
        errors = [call.error for call in run]
        is_searched = function in SEARCHES and errors[-1] in ("ENOENT", "ENOTDIR", "EACCES")
        error = "EACCES" if is_searched and "EACCES" in errors else errors[-1]
        self.put_event("process.exec_failed", thread, run[-1], error, None, function)

    def end(self):
        for thread in list(self.failed):
            self.fail(thread)

    def difference(self, thread, events, was_killed):
        ours = [event[1:] for event in events if event[0] == "process.start"]
        theirs = self.begun[thread]
        if was_killed and events and events[-1][0] == "process.exec":
            theirs = theirs[:len(ours)]  # a signal can precede the first event of a program
        is_same = len(ours) == len(theirs) and all(
            not error and path in (None, program) for path, (error, program) in zip(theirs, ours))
        return None if is_same else "%s begin in strace, %s in the log" % (theirs, ours)


def obstacle_of(call):
    """Why the program that the call executes cannot load the preload library, or ""."""
    has_library = re.search(r'"LD_PRELOAD=[^"]*/libposixtrace-preload\.so', call.arguments)
    why = obstacle(path_of(call.arguments))
    if why or os.path.basename(path_of(call.arguments)) in RECORDER:
        return why
    return "" if has_library else "executed without LD_PRELOAD"


def is_event(event, call, function):
    """Whether this system call of the function is the one that has the event."""
    main_call = CALL_OF.get(function)
    return event and event != "process.exec" and (not main_call or call.name.startswith(main_call))


def main():
    if sys.argv[1] == "table":
        return not check_table(sys.argv[2], sys.argv[3:])
    name, calls = sys.argv[1], of_strace(sys.argv[2])
    events, traced, untraced = of_log(sys.argv[3])
    wrapped = {line.split()[-1].split("@")[0] for line in open(sys.argv[4])}
    note_children(calls, wrapped, traced)
    ends = ends_of_spawned(calls)
    thread_of(calls)
    programs, runs, expected = Programs(calls, untraced), {}, {}
    streams, walks = calls_walks.Streams(), calls_walks.Walks()
    count, inside, faults = collections.Counter(), collections.Counter(), programs.faults
    places = collections.defaultdict(list)

    def put(one):
        one.places += 1
        places[one.call.thread].append(one)

    executions = Executions(put)
    for call in calls:
        programs.note(call)
        executions.note(call, *classify(call, wrapped, traced))
        if call.of in expected and call.of.has_returned:
            # The event of an interrupted function follows the events of the handler.
            put(expected[call.of])
        if call.name not in FAMILIES:
            continue
        kind, function = classify(call, wrapped, traced)
        if kind in ("inside", "direct") and programs.is_unseen(call.thread):
            kind = "unseen"
        event = EVENT_OF.get(function)
        if kind == "wrapper" and function in calls_walks.KIND_OF:
            walks.note(call, function)
        buffer = streams.note(call, function if kind == "wrapper" else "")
        run_of, run = runs.pop(call.thread, ("", []))
        if kind == "wrapper" and function in SEVERAL:
            if run_of == function and SEVERAL[function](run, call):
                # The event is that of the run, and has the error and path of its last call.
                first = expected[run[0]]
                if first.path is not None:
                    first.path = path_of(call.arguments)
                first.call.error = call.error
                first.call.may_lack_event |= call.may_lack_event
                runs[call.thread] = function, run + [call]
                event = None
            else:
                runs[call.thread] = function, [call]
        if kind == "wrapper" and is_event(event, call, function):
            has_path = (event.startswith("file.") or event in ("io.open", "io.freopen")) and \
                function not in NO_PATH
            path, child = path_of(call.arguments) if has_path else None, None
            if buffer:
                path = (buffer.names + [""])[0]
            if event == "io.freopen" and path.startswith("/proc/self/fd/"):
                path = None  # the stream gets another mode
            if call.name in MAKERS and call.result.isdigit():
                child = int(call.result)
            if event == "process.spawn" and child in ends:
                call.error, path = ends[child]
                child = None if call.error else child
            if event in ("process.system", "process.popen"):
                child = None
            expected[call] = Expected(event, call, path, function, child)
            if call.has_returned and not call.was_interrupted:
                put(expected[call])
            elif not call.has_returned:
                kind = "inside"  # the kernel restarts it, or the thread ended in it
        elif kind == "wrapper" and event != "process.exec":
            kind = "inside"
        elif kind == "inside" and function in EVENT_OF:
            faults.append("%s was called without the wrapper: %s" % (function, call.frames[:6]))
        if kind == "inside":
            inside[function] += 1
        count[kind] += 1
    executions.end()
    streams.end()
    ours = removed = open_calls = undecided = 0
    killed = {call.thread for call in calls if call.was_killed}
    for thread in killed:
        # A signal can precede the event of a child that makes no other call.
        if [one.event for one in places[thread]] == ["process.child"]:
            places[thread][0].call.may_lack_event = True
    of_walks = {thread for thread, _ in list(walks.calls) + list(streams.buffers)}
    for thread in sorted(set(places) | set(events) | of_walks | set(executions.begun)):
        def compare(some, thread=thread):
            kept, fault, left = calls_walks.compare(streams, walks, thread, some)
            fault = fault or executions.difference(thread, some, thread in killed)
            kept = [event for event in kept if event[0] != "process.start"]
            return fault or difference(places[thread], kept), set(left)
        found, left = compare(events[thread])
        undecided += len(left)
        if found:
            faults.append("thread %d: %s" % (thread, found))
            continue
        ours += len(events[thread])
        open_calls += sum(e.call.may_lack_event for e in places[thread])
        # A signal may precede the first event of a program: it is then the last one.
        if thread in killed and events[thread] and events[thread][-1][0] == "process.start":
            left.add(len(events[thread]) - 1)
        missed, tried = unnoticed(compare, places[thread], events[thread], left)
        removed += tried
        if missed:
            faults.append("thread %d: %d of %d removed events are not missed"
                          % (thread, missed, tried))
    shown = sum(count.values()) - count["tracer"]
    print("CALLS %-8s %7d %8d %7d %7d %7d %7d %7d %7d" % (
        name, shown, count["wrapper"], ours, count["inside"], count["loader"], count["direct"],
        count["unseen"], count["unknown"]))
    print("    inside, by " + ", ".join("%s %d" % pair for pair in inside.most_common(14)))
    print("    %d events were removed in turn; %d calls may lack theirs, no call decides %d events"
          % (removed, open_calls, undecided))
    for fault in faults[:12]:
        print("    FAULT", fault)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
