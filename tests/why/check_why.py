# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares an answer of posixtrace why --json with the program's own measurement.

   check_why.py ANSWER MEASURED KIND END
   check_why.py ANSWER                    prints the cause and its chain without waits for a CPU

The part KIND of the thread's time differs from MEASURED by at most 3 % of the thread's time, and
the chain below the largest such part ends in END, a part of a label.
"""
import json
import sys

answer = json.load(open(sys.argv[1]))["answers"][0]
kind, end = sys.argv[3:5] if len(sys.argv) > 2 else ("", "")


def reasons(parts):
    """The parts, without waits for a CPU: on a loaded machine every thread has them."""
    wanted = kind == "runnable" or end == "without a CPU"
    return [p for p in parts if wanted or p["kind"] != "runnable"]


largest = max(reasons(answer["parts"]), key=lambda p: p["ns"], default={"what": "", "parts": []})
chain = [largest]
while reasons(chain[-1]["parts"]):
    chain.append(max(reasons(chain[-1]["parts"]), key=lambda p: p["ns"]))
if len(sys.argv) == 2:
    print("Cause: %s" % chain[-1]["what"])
    print("Chain: thread -> " + " -> ".join(p["what"] for p in chain))
    sys.exit()
reason, total, delay = (int(n) for n in open(sys.argv[2]).read().split())
found = sum(p["ns"] for p in answer["parts"] if p["kind"] == kind)
# A thread that was woken waits for a CPU. Only the kernel's tracing knows when that begins.
points = 100 * max(found - reason, reason - delay - found, 0) / total
gaps = sum(p["ns"] for p in answer["parts"] if p["what"].endswith("the kernel recorded no switch"))
print("%s: why %.1f ms, program %.1f ms of %.1f ms: %.2f points; no switch recorded in %.1f ms" %
      (kind, found / 1e6, reason / 1e6, total / 1e6, points, gaps / 1e6))
print("  " + " -> ".join(p["what"] for p in chain))
assert sum(p["ns"] for p in answer["parts"]) == answer["ns"], "the parts do not add up to 100 %"
assert points <= 3, "more than 3 points"
assert largest["kind"] == kind, "the largest part is " + largest["kind"]
assert any(end in p["what"] for p in chain), "the chain does not have: " + end
