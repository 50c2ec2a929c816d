#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows that calls.py misses each event that is removed from a log, and each that is added.

    calls_cases.py CALLS FOLDER    CALLS is calls.py, FOLDER is empty

A case has lines of strace and the events of the log. A line "THREAD FUNCTION: TEXT" is a system
call that the program made by the wrapper of the function; "THREAD TEXT" is another line. An event
is "THREAD TYPE ERROR PATH FIELD=VALUE...", with - for no error or no path. Prints one line for each
fault.
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

    "one event for each name of a folder, and one for its end": ("""
1 opendir: openat(AT_FDCWD, "a", O_RDONLY) = 3
1 readdir: getdents64(3, [{d_ino=1, d_name="."}, {d_ino=2, d_name="b"}], 32768) = 48
1 access: access("b", R_OK) = 0
1 readdir: getdents64(3, [{d_ino=3, d_name="\\303\\244"}], 32768) = 24
1 readdir: getdents64(3, [], 32768) = 0
1 closedir: close(3) = 0
1 opendir: openat(AT_FDCWD, "c", O_RDONLY) = 3
1 readdir: getdents64(3, 0x1, 32768) = -1 ENOENT (x)
1 closedir: close(3) = 0
""", "1 file.opendir - a; 1 file.readdir - - fd=3 name=.; 1 file.readdir - - fd=3 name=b; "
     "1 file.access - b; 1 file.readdir - - fd=3 name=\u00e4; 1 file.readdir - - fd=3 name=; "
     "1 file.closedir - -; 1 file.opendir - c; 1 file.readdir ENOENT - fd=3 name=; "
     "1 file.closedir - -"),

    "scandir(), glob() and ftw() read folders": ("""
1 scandir: openat(AT_FDCWD, "a", O_RDONLY) = 3
1 scandir: openat(AT_FDCWD, "a", O_RDONLY) = 3
1 scandir: openat(AT_FDCWD, "b", O_RDONLY) = -1 ENOENT (x)
1 glob: openat(AT_FDCWD, "a", O_RDONLY) = 3
1 glob: openat(AT_FDCWD, "a", O_RDONLY) = 3
1 glob: openat(AT_FDCWD, "a/c", O_RDONLY) = 3
1 glob: openat(AT_FDCWD, ".", O_RDONLY) = 3
1 nftw: newfstatat(AT_FDCWD, "a", {}, 0) = 0
1 nftw: openat(AT_FDCWD, "a", O_RDONLY) = 3
1 nftw: newfstatat(3, "c", {}, 0) = 0
1 nftw: openat(AT_FDCWD, "a/c", O_RDONLY) = 3
1 nftw: newfstatat(AT_FDCWD, "a", {}, 0) = 0
""", "1 file.scandir - a; 1 file.scandir - a; 1 file.scandir ENOENT b; 1 file.glob - a/*; "
     "1 file.glob - a/*/x*; 1 file.glob - *; 1 file.ftw - a flags=0; 1 file.ftw - a flags=0"),

    "fts_read() has the names of each folder": ("""
1 fts_open: newfstatat(AT_FDCWD, "a", {}, 0) = 0
1 fts_open: newfstatat(AT_FDCWD, "n", {}, 0) = -1 ENOENT (x)
1 fts_read: openat(AT_FDCWD, "a", O_RDONLY) = 3
1 fts_read: getdents64(3, [{d_ino=1, d_name="."}, {d_ino=2, d_name="b"}], 32768) = 48
1 fts_read: getdents64(3, [{d_ino=1, d_name="c"}], 32768) = 24
""", "1 file.fts_read - a kind=1; 1 file.fts_read - a/b kind=8; 1 file.fts_read - a/c kind=8; "
     "1 file.fts_read - a kind=6; 1 file.fts_read - n kind=10"),

    "realpath() reads each part that can be a link": ("""
1 realpath: readlink("/a", 0x1, 1023) = -1 EINVAL (x)
1 realpath: readlink("/a/b", "../c", 1023) = 4
1 realpath: readlink("/c", 0x1, 1023) = -1 EINVAL (x)
1 realpath: getcwd("/c", 1024) = 3
1 realpath: readlink("/c/d", 0x1, 1023) = -1 ENOENT (x)
1 realpath: readlink("/c", 0x1, 1023) = -1 EINVAL (x)
""", "1 file.realpath - /a/b to=/c; 1 file.realpath ENOENT d to=; 1 file.realpath - /c to=/c"),

    "execvp() looks for the program": ("""
1 execvp: execve("/a/b", [], []) = -1 ENOENT (x)
1 execvp: execve("/c/b", [], []) = -1 EACCES (x)
1 execvp: execve("/d/b", [], []) = -1 ENOENT (x)
1 close: close(3) = 0
1 execvp: execve("/a/b", [], []) = -1 E2BIG (x)
1 execve: execve("/a/b", [], []) = -1 ENOENT (x)
1 execve: execve("/a/b", [], []) = -1 ENOENT (x)
""", "1 process.exec - b; 1 process.exec_failed EACCES -; 1 io.close - -; 1 process.exec - b; "
     "1 process.exec_failed E2BIG -; 1 process.exec - /a/b; 1 process.exec_failed ENOENT -; "
     "1 process.exec - /a/b; 1 process.exec_failed ENOENT -"),

    "a child of vfork() executes a program": ("""
1 vfork: vfork() = 2
2 execve: execve("/none", [], ["LD_PRELOAD=/x/libposixtrace-preload.so"]) = 0
1 close: close(3) = 0
2 close: close(4) = 0
2 exit_group(0) = ?
""", "1 process.vchild - -; 1 process.exec - /none; 1 process.vfork - - child=2; 1 io.close - -; "
     "2 process.start - /none; 2 io.close - -"),

    "posix_spawn() has the error of its child": ("""
1 x: clone3({flags=CLONE_VM|CLONE_VFORK}, 88) = 2
2 execve("/none", [], ["LD_PRELOAD=/x/libposixtrace-preload.so"]) = -1 ENOENT (x)
2 exit_group(127) = ?
1 posix_spawn: munmap(0x1, 9) = 0
1 x: clone3({flags=CLONE_VM|CLONE_VFORK}, 88) = 3
3 execve("/none", [], ["LD_PRELOAD=/x/libposixtrace-preload.so"]) = 0
3 exit_group(0) = ?
1 posix_spawnp: munmap(0x1, 9) = 0
""", "1 process.spawn ENOENT /none child=-1; 1 process.spawn - none child=3; "
     "3 process.start - /none"),

    "a child of fork() sends a signal by a descriptor": ("""
1 fork: clone(child_stack=NULL, flags=SIGCHLD) = 2
2 pidfd_open: pidfd_open(1, 0) = 3
2 pidfd_send_signal: pidfd_send_signal(3, SIGTERM, NULL, 0) = -1 EPERM (x)
2 pidfd_getfd: pidfd_getfd(3, 1, 0) = 4
2 exit_group(0) = ?
1 freopen: openat(AT_FDCWD, "b", O_RDONLY) = 4
1 freopen: openat(AT_FDCWD, "/proc/self/fd/4", O_RDONLY) = 4
""", "1 process.fork - - child=2; 2 process.child - -; 2 process.pidfd_open - -; "
     "2 process.pidfd_send_signal EPERM -; 2 process.pidfd_getfd - -; 1 io.freopen - b; "
     "1 io.freopen - -"),

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
    run = "1 execve(\"%s/%%s\", [], [\"LD_PRELOAD=/x/libposixtrace-preload.so\"]) = 0\n" \
        "1 write(1, \"\", 0) = 0\n" % folder
    bare = run.replace("LD_PRELOAD", "A")
    start = "; 1 process.start - %s/%%s" % folder
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
        "a dynamic program that begins":
            (run % "dynamic", said % "other" + start % "dynamic", 0),
        "a dynamic program that does not begin": (run % "dynamic", "", 1),
        "a program without LD_PRELOAD, with its event": (bare % "dynamic", said % "dynamic", 0),
        "a program without LD_PRELOAD, without an event": (bare % "dynamic", "", 1),
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
        for thread, name, error, path, *more in events:
            fields = {"error": int(error != "-"), "pid": int(thread), "program": path}
            if path != "-":
                fields["path"] = path
            for field, _, value in (word.partition("=") for word in more):
                fields[field] = int(value) if value.lstrip("-").isdigit() else value
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
            other = event[:2] + ["EPERM" if event[2] != "EPERM" else "EIO"] + event[3:]
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
