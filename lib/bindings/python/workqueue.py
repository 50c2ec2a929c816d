# SPDX-License-Identifier: LGPL-2.1-or-later
"""Four workers empty a queue while a thread prints their events; then the log is analyzed."""
import collections
import concurrent.futures
import sys
import threading
import time
import posixtrace

taken = posixtrace.Event("queue.take", "u64 worker; s32 job")
slept = posixtrace.Event("slept", "s32 job; str size")

@posixtrace.Span("job")  # job.begin and job.end
def work(job):
    taken(threading.get_native_id(), job)
    time.sleep(job % 5 / 10000)
    slept(job, "big" if job % 5 > 2 else "small")

path = sys.argv[1] if len(sys.argv) > 1 else "queue.ptl"
with posixtrace.Stream(path), posixtrace.Stream() as live:
    watcher = threading.Thread(target=lambda: [print(e.name, e.fields) for e in live])
    watcher.start()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(40)))
    live.stop()
    watcher.join()
log = posixtrace.Log(path)
print(collections.Counter(e.fields["worker"] for e in log if e.name == "queue.take"))
