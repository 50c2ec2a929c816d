# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs to be recorded for check-fleet: programs.py NAME SECONDS FOLDER

Each works for SECONDS at a rate of its own, and keeps its files in FOLDER.
"""
import http.server
import os
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request

name, seconds, folder = sys.argv[1], float(sys.argv[2]), sys.argv[3]
os.makedirs(folder)
os.chdir(folder)
end = time.time() + seconds


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def web():
    """A server of pages, with a client that asks for two pages a second."""
    with open("page.html", "w") as file:
        file.write("page " * 2000)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while time.time() < end:
        with urllib.request.urlopen("http://127.0.0.1:%d/page.html" % server.server_address[1]) as answer:
            answer.read()
        time.sleep(0.5)
    server.shutdown()


def database():
    """Two transactions a second of SQLite."""
    base = sqlite3.connect("base.db")
    base.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
    while time.time() < end:
        with base:
            base.execute("INSERT INTO t (b) VALUES (?)", ("x" * 100,))
        time.sleep(0.5)


def script():
    """Three programs every ten seconds, as a script of an administrator starts them."""
    while time.time() < end:
        subprocess.run("ls -l /etc | sort >list", shell=True, check=False)
        time.sleep(10)


{"web": web, "database": database, "script": script}[name]()
