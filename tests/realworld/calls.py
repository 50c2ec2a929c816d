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
    unseen     by a program that cannot load the preload library, if the log has process.untraced
               with the reason for this process and program
    tracer     by the preload library, libposixtrace or record

Prints a line of numbers and the functions of class inside. The exit status is 1 if a call of
class wrapper has no event, an event has no call, or a function that is wrapped was reached without
the wrapper.
"""
import collections
import functools
import json
import re
import subprocess
import sys

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
rt_tgsigqueueinfo wait4 waitid clone clone3 fork vfork prctl ptrace prlimit64 nanosleep
clock_nanosleep
""".split())

# Event types with the functions that have them, if each call is one system call. The call of a pair
# is the one that counts, if the function makes several.
EVENTS = {}
for row in """
io.open open open64 openat openat64 creat creat64 __open __open64 __open_2 __open64_2 __openat_2
  __openat64_2 posix_openpt syscall_openat2
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
io.fopen fopen:openat fopen64:openat
io.fclose fclose:close
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
file.mknod mknod mknodat mkfifo mkfifoat __xmknod __xmknodat
file.opendir opendir:openat
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
process.fork fork:clone _Fork:clone __fork:clone forkpty:clone
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

# Functions that make further system calls of the same kind until one answers.
REPEATS = ("eaccess", "euidaccess", "faccessat", "posix_fallocate", "posix_fallocate64",
           "tcsetattr")

# Functions that make several different system calls and have one event, with the error of the last.
# A text "PREVIOUS ERROR NAME(ARGUMENTS" that matches is a call and a further call of one function.
SEVERAL = {
    "remove": re.compile(r"unlink EISDIR rmdir\("),
    # It compares the attributes of "." and $PWD, and asks the kernel only if these differ.
    "get_current_dir_name":
        re.compile(r'(newfst|st)at(at)? \w* ((newfst|st)at(at)?\((AT_FDCWD, )?"/|getcwd\()'),
}

# Functions whose first string in a system call is not the path of the event: the name of an
# attribute, the folder that the function examines, or a path in /proc.
NO_PATH = ("fgetxattr", "fsetxattr", "fremovexattr", "get_current_dir_name", "lchmod")

# A wrapper with its event type, in the sources of the preload library.
WRAPPER = re.compile(r"\b(\w+), ([A-Z]+_[A-Z0-9_]+)\b")
# fdopendir() opens no file; its events are not compared.
NOT_COMPARED = ("fdopendir",)

LINE = re.compile(r"(\d+) +(.*)")
CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+|\?)(?: (E[A-Z0-9]+))?")
FRAME = re.compile(r" > (.*?)(?: \(deleted\))?\(([^+()]*)(?:\+0x([0-9a-f]+))?")
PATH = re.compile(r'^(?:AT_FDCWD, |-?\d+(?:<[^>]*>)?, )?"((?:[^"\\]|\\.)*)"(\.\.\.)?')


class Call:
    def __init__(self, thread, name, arguments, result, error):
        self.thread, self.name, self.arguments = thread, name, arguments
        self.result, self.error, self.frames = result, error, []
        self.is_interrupted = False  # a handler ran before the event was recorded


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


def of_strace(path):
    """The calls in the order of their returns, and the threads that a signal killed."""
    calls, begun, last, latest, killed = [], {}, None, {}, set()
    for line in open(path, errors="replace"):
        frame = FRAME.match(line)
        if frame:
            if last:
                last.frames.append((frame[1].rsplit("/", 1)[-1], function_of(*frame.groups())))
            continue
        last = None
        found = LINE.match(line)
        if not found:
            continue
        thread, text = int(found[1]), found[2]
        if text.startswith("--- SIG") and thread in latest:
            latest[thread].is_interrupted = True
        if text.startswith("+++ killed by"):
            killed.add(thread)
        if text.endswith("<unfinished ...>"):
            begun[thread] = text[:-len("<unfinished ...>")]
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", text)
        if resumed:
            text = begun.pop(thread, "") + resumed[1]
        call = CALL.match(text)
        if call:
            last = Call(thread, call[1], call[2], call[3], call[4] or "")
            calls.append(last)
            latest[thread] = last
    return calls, killed


def thread_of(calls):
    """Calls of a child of vfork() before its execve() are recorded as the parent's."""
    parent = {int(c.result): c.thread for c in calls
              if c.name == "vfork" and c.result.isdigit() and int(c.result) > 0}
    for call in calls:
        of = parent.get(call.thread)
        if call.name == "execve" and call.result == "0":
            parent.pop(call.thread, None)
        elif of is not None:
            call.thread = of


RECORDER = ("posixtrace", "lt-posixtrace", "posixtrace-guardian")


def classify(call, wrapped, traced):
    """Returns the class, and the function of the C library."""
    frames = call.frames
    if any(f[0].startswith("libposixtrace.so") or f[0] in RECORDER for f in frames):
        return "tracer", ""
    if not frames:
        return "unknown", ""
    if frames[0][0].startswith("ld-linux"):
        return "loader", ""
    shim = [f[1] for f in frames if f[0].startswith("libposixtrace-preload")]
    at = next((i for i, f in enumerate(frames) if not f[0].startswith("libc.so")), len(frames))
    if at < len(frames) and frames[at][0].startswith("libposixtrace-preload"):
        name = frames[at][1]
        if name == "shim_syscall":
            name = "syscall_" + call.name
            return ("wrapper", name) if name in EVENT_OF else ("direct", "")
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
    return "inside", name


def path_of(arguments):
    match = PATH.match(arguments)
    return None if not match or match[2] else match[1].encode().decode("unicode_escape", "replace")


def of_log(path):
    """The events of each thread, all threads, and (process, program) that were not traced."""
    events, traced, untraced = collections.defaultdict(list), set(), set()
    for line in open(path):
        event = json.loads(line)
        traced.add(event["tid"])
        name, fields = event["event"], event.get("fields", {})
        if name == "process.untraced":
            untraced.add((fields["pid"], fields["program"]))
        if name not in EVENTS or (name == "io.fclose" and fields.get("fd") == -1):
            continue
        if name in ("io.fopen", "file.opendir") and not fields.get("path"):
            continue  # fdopen() and fdopendir() open no file
        error = event.get("labels", {}).get("error", "") if fields.get("error") else ""
        events[event["tid"]].append((name, error, fields.get("path")))
    return events, traced, untraced


def check_table(shim, sources):
    """Returns whether the table has each wrapper of its event types."""
    wrapped = {line.split()[-1].split("@")[0] for line in open(shim)}
    types = {name.upper().replace(".", "_"): name for name in EVENTS}
    pairs = {pair for path in sources for pair in WRAPPER.findall(open(path).read())}
    found = [(function, types[kind]) for function, kind in pairs
             if function in wrapped and kind in types and function not in NOT_COMPARED]
    wrong = [pair for pair in found if EVENT_OF.get(pair[0]) != pair[1]]
    for function, name in sorted(wrong):
        print("FAULT %s has events %s, and the table has not" % (function, name))
    print("%d wrappers are in the table" % (len(found) - len(wrong)))
    return found and not wrong


def is_same(call, event):
    """The path of symlink() is not the first string of the call, and is not compared."""
    name, error, path, _, _ = call
    return event[:2] == (name, error) and (
        path is None or event[2] in (None, path) or name == "file.symlink")


def compare(calls, events, thread, is_killed):
    """Returns the first difference of a thread, the number of equal calls, and the functions that
    made further calls.

    The kernel restarts a call that a signal interrupted, unless the handler says otherwise: only
    then it has an event, with EINTR. The event of an interrupted call follows those of the handler,
    and is missing if the thread was killed before the handler returned.
    """
    late, equal, at, repeated, further = [], 0, 0, None, collections.Counter()

    def take_late():
        nonlocal at, equal
        found = next((c for c in late if at < len(events) and is_same(c, events[at])), None)
        if found:
            late.remove(found)
            at, equal = at + 1, equal + 1
        return found

    for call in calls:
        event, error, path, function, is_interrupted = call
        if error.startswith("ERESTART"):
            late.append((event, "EINTR", path, function, True))
            continue
        while at < len(events) and not is_same(call, events[at]) and take_late():
            pass
        if at < len(events) and is_same(call, events[at]):
            at, equal = at + 1, equal + 1
        elif function in REPEATS and repeated == (function, path):
            further[function] += 1
        elif is_interrupted:
            late.append(call)
        elif at == len(events) and event == "process.kill" and call is calls[-1]:
            pass  # the signal ended the process before the event
        else:
            there = events[at] if at < len(events) else "nothing"
            return ["thread %d: %s in strace, %s in the log" % (thread, call[:4], there)], equal, \
                further
        repeated = function, path
    while take_late():
        pass
    missing = [c for c in late if c[1] != "EINTR" and c is not calls[-1] and not is_killed]
    if at < len(events) or missing:
        return ["thread %d: events without calls %s, calls without events %s"
                % (thread, events[at:at + 3], missing[:3])], equal, further
    return [], equal, further


def main():
    if sys.argv[1] == "table":
        return not check_table(sys.argv[2], sys.argv[3:])
    name, (calls, killed) = sys.argv[1], of_strace(sys.argv[2])
    events, traced, untraced = of_log(sys.argv[3])
    wrapped = {line.split()[-1].split("@")[0] for line in open(sys.argv[4])}
    makers = {int(c.result): c.thread for c in calls
              if c.name in ("clone", "clone3", "fork", "vfork") and c.result.isdigit()}
    thread_of(calls)
    unseen, previous = set(), {}
    count, inside, faults = collections.Counter(), collections.Counter(), []
    threads = collections.defaultdict(list)
    for call in calls:
        if call.name == "execve" and call.result == "0":
            # The event is of the process itself, or of its maker if that was posix_spawn().
            unseen.discard(call.thread)
            if untraced & {(of, path_of(call.arguments))
                           for of in (call.thread, makers.get(call.thread))}:
                unseen.add(call.thread)
        if call.name not in FAMILIES:
            continue
        kind, function = classify(call, wrapped, traced)
        if call.thread in unseen and kind in ("inside", "direct"):
            kind = "unseen"
        before = previous.get(call.thread)
        previous[call.thread] = (function, call) if kind == "wrapper" else None
        if before and before[0] == function and function in SEVERAL and SEVERAL[function].match(
                "%s %s %s(%s" % (before[1].name, before[1].error, call.name, call.arguments)):
            first = threads[call.thread][-1]
            threads[call.thread][-1] = first[:1] + (call.error,) + first[2:]
            kind = "inside"
        elif kind == "wrapper":
            event = EVENT_OF.get(function)
            if event and (not CALL_OF[function] or call.name.startswith(CALL_OF[function])):
                has_path = (event.startswith("file.") or event == "io.open") and \
                    function not in NO_PATH
                path = path_of(call.arguments) if has_path else None
                threads[call.thread].append((event, call.error, path, function,
                                             call.is_interrupted))
            else:
                kind = "inside"
        elif kind == "inside" and function in EVENT_OF:
            faults.append("%s was called without the wrapper: %s" % (function, call.frames[:6]))
        if kind == "inside":
            inside[function] += 1
        count[kind] += 1
    ours = 0
    for thread, made in threads.items():
        found, equal, further = compare(made, events.pop(thread, []), thread, thread in killed)
        faults += found
        inside += further
        count["inside"] += sum(further.values())
        count["wrapper"] -= sum(further.values())
        ours += equal
    faults += ["thread %d: %d events without calls: %s" % (thread, len(rest), rest[:3])
               for thread, rest in events.items() if rest]
    shown = sum(count.values()) - count["tracer"]
    print("CALLS %-8s %7d %8d %7d %7d %7d %7d %7d %7d" % (
        name, shown, count["wrapper"], ours, count["inside"], count["loader"], count["direct"],
        count["unseen"], count["unknown"]))
    print("    inside, by " + ", ".join("%s %d" % pair for pair in inside.most_common(14)))
    for fault in faults[:12]:
        print("    FAULT", fault)
    return bool(faults)


sys.exit(main())
