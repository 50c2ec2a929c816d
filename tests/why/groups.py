# SPDX-License-Identifier: LGPL-2.1-or-later
"""groups.py - as groups.c, in Python: a pool, the lock of the interpreter, a loop that drifts.

    groups.py NAME
"""
import concurrent.futures
import sys
import threading
import time


def work_slowly(seconds):
    time.sleep(seconds)


def pool():
    """The last request waits until one of two workers has finished the requests before it."""
    with concurrent.futures.ThreadPoolExecutor(2, 'worker') as executor:
        for first in [executor.submit(work_slowly, 0.1) for _ in range(2)]:
            first.result()
        time.sleep(0.05)
        clients = [threading.Thread(target=lambda: executor.submit(work_slowly, 0.2).result())
                   for _ in range(6)]
        for client in clients:
            client.start()
        time.sleep(0.05)
        executor.submit(work_slowly, 0.02).result()
        for client in clients:
            client.join()


def load():
    """The main thread gives all work to the pool, and waits for one result after the other."""
    with concurrent.futures.ThreadPoolExecutor(2, 'worker') as executor:
        for first in [executor.submit(work_slowly, 0.03) for _ in range(2)]:
            first.result()
        time.sleep(0.02)
        for _ in executor.map(work_slowly, [0.1] * 12):
            pass


def count_up(until):
    number = 0
    while time.thread_time() < until:
        number += 1


def gil():
    """Four threads compute, but only one at a time can."""
    threads = [threading.Thread(target=count_up, args=(0.3,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def drift():
    for _ in range(20):
        threading.Event().wait(0.004)
        time.sleep(0.04)


{'pool': pool, 'load': load, 'gil': gil, 'drift': drift}[sys.argv[1]]()
