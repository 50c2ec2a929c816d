# SPDX-License-Identifier: LGPL-2.1-or-later
"""Threads that serve, send requests, start programs and raise exceptions, until the input ends."""
import http.server
import json
import select
import subprocess
import sys
import threading
import urllib.request

WANTED = b"answer\n" * 1000
over = threading.Event()
rounds = [0]
wrong = []


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(WANTED)

    def log_message(self, *args):
        pass


def work(port):
    while not over.is_set():
        try:
            if urllib.request.urlopen(f"http://127.0.0.1:{port}/").read() != WANTED:
                wrong.append("answer")
            if subprocess.run(["/bin/sh", "-c", "exit 3"]).returncode != 3:
                wrong.append("status")
            try:
                json.loads("{")
                wrong.append("no exception")
            except ValueError:
                pass
        except Exception as error:
            wrong.append(repr(error))
        rounds[0] += 1


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
threads = [threading.Thread(target=work, args=(server.server_port,)) for _ in range(3)]
for thread in threads:
    thread.start()
while not select.select([0], [], [], 1)[0]:
    pass
over.set()
for thread in threads:
    thread.join()
print(f"wrong: {wrong[:3]}" if wrong else f"sound: {rounds[0]} rounds")
sys.exit(bool(wrong))
