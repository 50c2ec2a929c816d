#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""make check-mutations: one fault at a time is put into the engine, and a check must notice it.

run.py CASES --check SOURCE          every case still says where it belongs
run.py CASES SOURCE BUILD [WORD...]  builds each in BUILD, configured for SOURCE, a copy of the tree;
                                     of those only whose name or file has one of the WORDs in it

A case that no check notices is a test that is missing. Prints a line for each: the fault and who
noticed it, and ends with the closing line of Check.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

# The time limit of a check that hangs because of the fault.
HANGS_S = 240


class Case:
    def __init__(self, name):
        self.name, self.file = name, None
        self.old, self.new, self.by = [], [], []


def read_cases(path):
    cases = []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            cases.append(Case(line.strip("[]")))
        elif line.startswith("file "):
            cases[-1].file = line[5:].strip()
        elif line.startswith("- "):
            cases[-1].old.append(line[2:].strip())
        elif line.startswith("+ "):
            cases[-1].new.append(line[2:].strip())
        elif line.startswith("by "):
            cases[-1].by = line.split()[1:]
        else:
            sys.exit("%s:%d: what is this?" % (path, number))
    return cases


def mutated(case, text):
    """The file with the fault in it, or None and the reason why it has no unique place."""
    lines = text.split("\n")
    bare = [line.strip() for line in lines]
    count = len(case.old)
    places = [i for i in range(len(bare) - count + 1) if bare[i:i + count] == case.old]
    if not case.old or len(places) != 1:
        return None, "%d places of %s have its old text" % (len(places), case.file)
    at = places[0]
    indent = lines[at][:len(lines[at]) - len(lines[at].lstrip())]
    lines[at:at + count] = [indent + line for line in case.new]
    return "\n".join(lines), None


def fault_of(source, check):
    """The line of tests/model/cases behind model:MODEL/FAULT."""
    model, fault = check[len("model:"):].split("/")
    for line in open(os.path.join(source, "tests/model/cases"), encoding="utf-8"):
        if line.split()[:2] == [model, fault]:
            return line
    return None


def path_of(check):
    """The path and the action behind steps:PATH/ACTION."""
    return check[len("steps:"):].replace("_", " ").split("/")


def why_wrong(case, source):
    path = os.path.join(source, case.file or "?")
    if not os.path.exists(path):
        return "there is no %s" % case.file
    _, why = mutated(case, open(path, encoding="utf-8").read())
    if why:
        return why
    if not case.by:
        return "no check is to notice it"
    for check in case.by:
        if check.startswith("model:"):
            if not fault_of(source, check):
                return "tests/model/cases has no %s" % check
        elif check.startswith("steps:"):
            if '"%s"' % path_of(check)[0] not in open(
                    os.path.join(source, "tests/steps/path.c"), encoding="utf-8").read():
                return "tests/steps has no path of %s" % check
        elif not any(os.path.exists(os.path.join(source, "tests", check + end))
                     for end in (".c", "")):
            return "there is no tests/%s" % check
    return None


def environment(source, build):
    env = dict(os.environ, top_srcdir=source, top_builddir=build,
               POSIXTRACE_GUARDIAN=os.path.join(build, "lib/posixtrace-guardian"))
    env.setdefault("CK_DEFAULT_TIMEOUT", "60")
    env.setdefault("CC", "cc")
    for name in ("CK_RUN_CASE", "CK_RUN_SUITE", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        env.pop(name, None)
    return env


def run(command, where, env, seconds):
    """Exit status and output; status None when it did not end."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, cwd=where, env=env, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            status = None
        out.seek(0)
        return status, out.read().decode("utf-8", "replace")


def make(build, env, checks, all_of_it=False):
    """None, or the compiler's messages. A suite of a unit contains the library's objects."""
    programs = [check for check in checks if ":" not in check and not check.endswith(".sh")]
    if any(check.startswith("steps") for check in checks):
        programs.append("steps/steps")
    library = ["libptx.la"]
    if all_of_it:
        library = ["all"]
    elif not all(check.startswith(("unit/", "model:", "check_")) for check in checks):
        library = ["libposixtrace.la", "posixtrace-guardian"]
    for where, targets in (("lib", library), ("tests", ["libsupport.la"] + programs)):
        status, text = run(["make", "-s", "-j2"] + targets, os.path.join(build, where), env, 1200)
        if status != 0:
            return text
    return None


def search_model(source, check, env):
    """Runs check_model.sh for this fault alone, in a tree that has nothing else."""
    with tempfile.TemporaryDirectory() as tree:
        for folder in ("tests/model", "tests/support"):
            shutil.copytree(os.path.join(source, folder), os.path.join(tree, folder))
        with open(os.path.join(tree, "tests/model/cases"), "w", encoding="utf-8") as cases:
            cases.write(fault_of(source, check))
        return run(["sh", "tests/model/check_model.sh"], tree,
                   dict(env, top_srcdir=tree), 600)


def notices(check, source, build, env):
    """The tests of the check that failed; None if none did."""
    if check.startswith("model:"):
        status, text = search_model(source, check, env)
        # Here the model finds the given fault, which is success.
        return "the model" if status == 0 and " found" in text else None
    tests = os.path.join(build, "tests")
    if check.startswith("steps:"):
        command = ["./steps/steps"] + path_of(check)
    elif check.endswith(".sh"):
        command = ["sh", os.path.join(source, "tests", check)]
    else:
        command = ["./" + check]
    status, text = run(command, tests, env, HANGS_S)
    if status is None:
        return "hangs"
    if status in (0, 77):
        return None
    found = re.search(r"^\S+:\d+:[FE]:.*?:(\w+):\d+: ", text, re.M)
    if found:
        return found.group(1)
    found = re.search(r"^FAILED: (.*)", text, re.M)
    return found.group(1)[:60] if found else "status %d" % status


def main():
    cases = read_cases(sys.argv[1])
    if sys.argv[2] == "--check":
        source = os.path.abspath(sys.argv[3])
        wrong = [(case.name, why_wrong(case, source)) for case in cases]
        for name, why in wrong:
            if why:
                print("FAILED: [%s]: %s" % (name, why))
        bad = sum(1 for _, why in wrong if why)
        return finish(len(cases), bad, 0)
    source, build = os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
    words = sys.argv[4:]
    if words:
        cases = [case for case in cases
                 if any(word in case.name or word in case.file for word in words)]
    env = environment(source, build)
    for case in cases:
        why = why_wrong(case, source)
        if why:
            print("FAILED: [%s]: %s" % (case.name, why))
            return finish(len(cases), 0, 1)
    # A check that fails without a fault proves nothing.
    every = sorted({check for case in cases for check in case.by})
    said = make(build, env, every, True)
    if said:
        print(said)
        return finish(len(cases), 0, 1)
    for check in every:
        if not check.startswith("model:"):
            found = notices(check, source, build, env)
            if found:
                print("FAILED: %s fails without any fault: %s" % (check, found))
                return finish(len(cases), 0, 1)
    survived = errors = 0
    for case in cases:
        path = os.path.join(source, case.file)
        whole = open(path, encoding="utf-8").read()
        began, found = time.monotonic(), None
        os.chmod(path, 0o644)
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(mutated(case, whole)[0])
            for check in case.by:
                said = make(build, env, [check])
                found = None if said else notices(check, source, build, env)
                if said or found:
                    break
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(whole)
        room = os.path.dirname(case.file)[len("lib/"):]
        if said:
            errors += 1
            print("%-7s %s: CANNOT BE BUILT\n%s" % (room, case.name, said), flush=True)
        elif not found:
            survived += 1
            print("%-7s %s: SURVIVES %s" % (room, case.name, " ".join(case.by)), flush=True)
        else:
            print("%-7s %s: %s, %s (%d s)" % (room, case.name, check, found,
                                              time.monotonic() - began), flush=True)
    make(build, env, [], True)
    return finish(len(cases), survived, errors)


def finish(checks, failures, errors):
    good = checks - failures - errors
    print("%d%%: Checks: %d, Failures: %d, Errors: %d" %
          (good * 100 // checks if checks else 0, checks, failures, errors))
    return 1 if failures or errors or not checks else 0


if __name__ == "__main__":
    sys.exit(main())
