#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows that calls.py misses each event that is removed from a log, and each that is added.

    calls_cases.py CALLS FOLDER    CALLS is calls.py, FOLDER is empty

A case has lines of strace and the events of the log. A line "THREAD FUNCTION: TEXT" is a system
call that the program made by the wrapper of the function; "THREAD TEXT" is another line. An event
is "THREAD TYPE ERROR PATH", with - for no error or no path. Prints one line for each fault.
"""
import contextlib
import io
import json
import os
import struct
import sys

CASES = {
    "tcsetattr() reads, sets and reads": ("""
1 tcgetattr: ioctl(0, TCGETS, {B38400 opost}) = 0
1 tcsetattr: ioctl(0, TCGETS, {B38400 opost}) = 0
1 tcsetattr: ioctl(0, SNDCTL_TMR_START or TCSETS, {B38400 -opost}) = 0
1 tcsetattr: ioctl(0, TCGETS, {B38400 -opost}) = 0
1 tcsetattr: ioctl(0, TCGETS, {B38400 opost}) = 0
1 tcsetattr: ioctl(0, SNDCTL_TMR_STOP or TCSETSW, {B38400 -opost}) = -1 EIO (x)
1 tcsetattr: ioctl(0, TCGETS, {B38400 opost}) = 0
1 tcsetattr: ioctl(0, SNDCTL_TMR_CONTINUE or TCSETSF, {B38400 -opost}) = 0
1 tcsetattr: ioctl(0, TCGETS, {B38400 -opost}) = 0
1 tcsetattr: ioctl(9, TCGETS, 0x1) = -1 EBADF (x)
1 tcsetattr: ioctl(9, SNDCTL_TMR_START or TCSETS, {B0}) = -1 EBADF (x)
""", "1 io.ioctl - -; 1 io.ioctl - -; 1 io.ioctl EIO -; 1 io.ioctl - -; 1 io.ioctl EBADF -"),

    "tcsetattr() of a newer C library sets only": ("""
1 tcsetattr: ioctl(0, SNDCTL_TMR_START or TCSETS2, {B38400 -opost}) = 0
1 tcsetattr: ioctl(0, SNDCTL_TMR_START or TCSETS2, {B38400 -opost}) = 0
""", "1 io.ioctl - -; 1 io.ioctl - -"),

    "eaccess() examines the owner first": ("""
1 eaccess: newfstatat(AT_FDCWD, "/a", {st_dev=makedev(0xfe, 0), st_ino=7}, 0) = 0
1 eaccess: access("/a", X_OK) = 0
1 eaccess: newfstatat(AT_FDCWD, "/a", {st_dev=makedev(0xfe, 0), st_ino=7}, 0) = 0
1 eaccess: access("/a", X_OK) = 0
1 eaccess: newfstatat(AT_FDCWD, "/a", 0x7, 0) = -1 ENOENT (x)
1 eaccess: newfstatat(AT_FDCWD, "/a", 0x7, 0) = -1 ENOENT (x)
""", "1 file.access - /a; 1 file.access - /a; 1 file.access ENOENT /a; 1 file.access ENOENT /a"),

    "get_current_dir_name() asks the kernel if $PWD is another folder": ("""
1 get_current_dir_name: getcwd("/a", 4096) = 3
1 get_current_dir_name: getcwd("/a", 4096) = 3
1 get_current_dir_name: newfstatat(AT_FDCWD, ".", {st_dev=makedev(0xfe, 0), st_ino=7}, 0) = 0
1 get_current_dir_name: newfstatat(AT_FDCWD, "/a", {st_dev=makedev(0xfe, 0), st_ino=7}, 0) = 0
1 get_current_dir_name: getcwd("/a", 4096) = 3
1 get_current_dir_name: newfstatat(AT_FDCWD, ".", {st_dev=makedev(0xfe, 0), st_ino=7}, 0) = 0
1 get_current_dir_name: newfstatat(AT_FDCWD, "/b", {st_dev=makedev(0xfe, 0), st_ino=8}, 0) = 0
1 get_current_dir_name: getcwd("/a", 4096) = 3
1 get_current_dir_name: newfstatat(AT_FDCWD, ".", {st_dev=makedev(0xfe, 0), st_ino=7}, 0) = 0
1 get_current_dir_name: newfstatat(AT_FDCWD, "/c", 0x1, 0) = -1 ENOENT (x)
1 get_current_dir_name: getcwd("/a", 4096) = 3
""", "; ".join(["1 file.getcwd - /a"] * 6)),

    "remove() tries rmdir() after unlink()": ("""
1 remove: unlink("a") = -1 EISDIR (x)
1 remove: rmdir("a") = -1 ENOTEMPTY (x)
1 remove: unlink("a") = -1 EISDIR (x)
1 remove: rmdir("a") = -1 ENOTEMPTY (x)
1 remove: unlink("a") = 0
""", "1 file.unlink ENOTEMPTY a; 1 file.unlink ENOTEMPTY a; 1 file.unlink - a"),

    "posix_fallocate() writes if the file system cannot": ("""
1 posix_fallocate: fallocate(3, 0, 0, 9) = -1 EOPNOTSUPP (x)
1 posix_fallocate: fcntl(3, F_GETFL) = 2
1 posix_fallocate: pread64(3, "", 1, 8) = 0
1 posix_fallocate: pwrite64(3, "", 1, 8) = 1
1 posix_fallocate: fallocate(3, 0, 0, 9) = 0
1 posix_fallocate: fallocate(3, 0, 0, 9) = 0
""", "1 io.fallocate - -; 1 io.fallocate - -; 1 io.fallocate - -"),

    "mkstemp() tries further names": ("""
1 mkstemp: openat(AT_FDCWD, "/a1", O_RDWR|O_CREAT|O_EXCL, 0600) = -1 EEXIST (x)
1 mkstemp: openat(AT_FDCWD, "/a2", O_RDWR|O_CREAT|O_EXCL, 0600) = 3
1 mkstemp: openat(AT_FDCWD, "/a3", O_RDWR|O_CREAT|O_EXCL, 0600) = 4
1 mkdtemp: mkdir("/b1", 0700) = -1 EEXIST (x)
1 mkdtemp: mkdir("/b2", 0700) = -1 EACCES (x)
""", "1 file.mkstemp - /a2; 1 file.mkstemp - /a3; 1 file.mkdtemp EACCES -"),

    "faccessat() of a kernel without faccessat2()": ("""
1 faccessat: faccessat2(AT_FDCWD, "a", R_OK, AT_EACCESS) = -1 ENOSYS (x)
1 faccessat: faccessat(AT_FDCWD, "a", R_OK) = 0
1 faccessat: faccessat2(AT_FDCWD, "a", R_OK, AT_EACCESS) = -1 ENOSYS (x)
1 faccessat: faccessat(AT_FDCWD, "a", R_OK) = 0
""", "1 file.access - a; 1 file.access - a"),

    # The program has a handler without SA_RESTART.
    "a signal ends a call with EINTR": ("""
1 rt_sigaction(SIGUSR1, {sa_handler=0x1, sa_mask=[], sa_flags=0}, NULL, 8) = 0
1 read: read(0, 0x1, 9) = ? ERESTARTSYS (x)
1 --- SIGUSR1 {si_signo=SIGUSR1} ---
1 write: write(1, "a", 1) = 1
1 rt_sigreturn({mask=[]}) = -1 EINTR (x)
1 read: read(0, "", 9) = 0
""", "1 io.write - -; 1 io.read EINTR -; 1 io.read - -"),

    "the kernel restarts a call after the handler": ("""
1 rt_sigaction(SIGUSR1, {sa_handler=0x1, sa_mask=[], sa_flags=SA_RESTART}, NULL, 8) = 0
1 read: read(0, 0x1, 9) = ? ERESTARTSYS (x)
1 --- SIGUSR1 {si_signo=SIGUSR1} ---
1 write: write(1, "a", 1) = 1
1 rt_sigreturn({mask=[]}) = 0
1 read: read(0, "", 9) = 0
""", "1 io.write - -; 1 io.read - -"),

    "the kernel restarts a call at once if the signal has no handler": ("""
1 nanosleep: clock_nanosleep(0, 0, {1, 0}, 0x1) = ? ERESTART_RESTARTBLOCK (x)
1 --- SIGCHLD {si_signo=SIGCHLD} ---
1 nanosleep: restart_syscall(<... resuming interrupted clock_nanosleep ...>) = 0
1 nanosleep: clock_nanosleep(0, 0, {1, 0}, 0x1) = 0
""", "1 time.sleep - -; 1 time.sleep - -"),

    "the event of a call follows that of a handler": ("""
1 rt_sigaction(SIGUSR1, {sa_handler=0x1, sa_mask=[], sa_flags=0}, NULL, 8) = 0
1 close: close(5) = 0
1 --- SIGUSR1 {si_signo=SIGUSR1} ---
1 write: write(1, "a", 1) = 1
1 rt_sigreturn({mask=[]}) = 0
1 --- SIGUSR1 {si_signo=SIGUSR1} ---
1 write: write(1, "b", 1) = 1
1 rt_sigreturn({mask=[]}) = 0
1 close: close(6) = 0
""", "1 io.write - -; 1 io.write - -; 1 io.close - -; 1 io.close - -"),

    "the event of a call precedes that of a handler": ("""
1 rt_sigaction(SIGUSR1, {sa_handler=0x1, sa_mask=[], sa_flags=0}, NULL, 8) = 0
1 close: close(5) = 0
1 --- SIGUSR1 {si_signo=SIGUSR1} ---
1 close: close(6) = 0
1 write: write(1, "a", 1) = 1
1 rt_sigreturn({mask=[]}) = 0
1 close: close(7) = 0
""", "1 io.close - -; 1 io.close - -; 1 io.write - -; 1 io.close - -"),

    "a handler interrupts a handler": ("""
1 rt_sigaction(SIGUSR1, {sa_handler=0x1, sa_mask=[], sa_flags=0}, NULL, 8) = 0
1 rt_sigaction(SIGUSR2, {sa_handler=0x1, sa_mask=[], sa_flags=0}, NULL, 8) = 0
1 poll: poll([], 0, -1) = ? ERESTART_RESTARTBLOCK (x)
1 --- SIGUSR1 {si_signo=SIGUSR1} ---
1 --- SIGUSR2 {si_signo=SIGUSR2} ---
1 write: write(1, "b", 1) = 1
1 rt_sigreturn({mask=[]}) = 0
1 close: close(6) = 0
1 rt_sigreturn({mask=[]}) = -1 EINTR (x)
""", "1 io.write - -; 1 io.close - -; 1 net.poll EINTR -"),

    "the calls of a child of vfork() are those of its maker": ("""
1 open: openat(AT_FDCWD, "/a", O_RDONLY) = 3
2 close: close(3) = 0
2 exit_group(0) = ?
1 vfork() = 2
1 close: close(3) = 0
""", "1 io.open - /a; 1 io.close - -; 1 io.close - -"),

    "a thread that ends in a call has no event of it": ("""
1 read: read(0, "a", 1) = 1
1 read: read(0, <unfinished ...>
1 <... read resumed>) = ?
""", "1 io.read - -"),
}

# The last event may be missing: the signal can precede it.
LAST = """
1 kill: kill(0, 0) = 0
1 kill: kill(1, SIGKILL) = 0
1 +++ killed by SIGKILL +++
""", "1 process.kill - -; 1 process.kill - -"


def programs(folder):
    """Executions of a program that is statically linked, and of one that is not."""
    for name, kind, interpreter in (("static", 1, b""), ("dynamic", 3, b"/lib64/ld-linux.so.2\0")):
        with open(os.path.join(folder, name), "wb") as file:
            own = open("/proc/self/exe", "rb").read(20)
            file.write(own + struct.pack("<IQQQIHHHHHH", 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0))
            file.write(struct.pack("<IIQQQQQQ", kind, 4, 120, 0, 0, len(interpreter), 0, 1))
            file.write(interpreter)
    run = "1 execve(\"%s/%%s\", [], 0x1) = 0\n1 write(1, \"\", 0) = 0\n" % folder
    loads = "1 openat(AT_FDCWD, \"/x/libposixtrace-preload.so\", O_RDONLY) = 3\n" \
        " > /x/ld-linux.so.2(open+0x1) [0x1]\n"
    said = "1 process.untraced - %s/%%s" % folder
    return {
        "a static program, with its event": (run % "static", said % "static", 0),
        "a static program, without an event": (run % "static", "", 1),
        "a static program, with the event of another one": (run % "static", said % "other", 1),
        "a static program that loads the library":
            (run % "static" + loads, said % "static", 1),
        "a dynamic program, with an event": (run % "dynamic", said % "dynamic", 1),
    }


def write_case(folder, strace, events):
    with open(os.path.join(folder, "strace"), "w") as file:
        lines = strace.strip().splitlines()
        for line, following in zip(lines, lines[1:] + [""]):
            thread, _, text = line.partition(" ")
            function, colon, call = text.partition(": ")
            if line.startswith(" ") or following.startswith(" "):
                file.write(line + "\n")
            elif colon and function.isidentifier():
                file.write("%s %s\n > /x/libposixtrace-preload.so(%s+0x1) [0x1]\n"
                           " > /x/program(main+0x1) [0x1]\n" % (thread, call, function))
            else:
                file.write(line + "\n > /x/program(main+0x1) [0x1]\n")
    with open(os.path.join(folder, "events"), "w") as file:
        for thread, name, error, path in events:
            fields = {"error": int(error != "-"), "pid": int(thread), "program": path}
            if path != "-":
                fields["path"] = path
            file.write(json.dumps({"tid": int(thread), "event": name, "fields": fields,
                                   "labels": {"error": error}}) + "\n")


def main():
    module, folder = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(module))
    import calls
    os.chdir(folder)
    with open("wrapped", "w") as file:
        file.writelines("0 T %s\n" % name for name in calls.EVENT_OF)
    sys.argv[1:] = ["x", "strace", "events", "wrapped"]
    faults = count = 0

    def expect(name, status, strace, events):
        nonlocal faults, count
        write_case(folder, strace, events)
        with contextlib.redirect_stdout(io.StringIO()) as output:
            result = calls.main()
        count += 1
        if result != bool(status):
            faults += 1
            print("%s: status %d, not %d\n%s" % (name, result, status, output.getvalue()))

    for name, (strace, text) in CASES.items():
        events = [event.split() for event in text.split("; ")]
        strace += "1 exit_group(0) = ?\n"
        expect(name, 0, strace, events)
        for i, event in enumerate(events):
            expect(name + ", without event %d" % (i + 1), 1, strace, events[:i] + events[i + 1:])
            expect(name + ", with event %d twice" % (i + 1), 1, strace, events[:i] + [event] * 2 +
                   events[i + 1:])
            other = [event[0], event[1], "EPERM", event[3]]
            expect(name + ", with another event %d" % (i + 1), 1, strace, events[:i] + [other] +
                   events[i + 1:])
    events = [event.split() for event in LAST[1].split("; ")]
    expect("the last event", 0, LAST[0], events)
    expect("without the last event", 0, LAST[0], events[:1])
    expect("without both events", 1, LAST[0], [])
    for name, (strace, text, status) in programs(folder).items():
        expect(name, status, strace, [event.split() for event in text.split("; ") if event])
    print("%d comparisons, %d faults" % (count, faults))
    return faults > 0


sys.exit(main())
