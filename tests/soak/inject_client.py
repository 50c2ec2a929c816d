# SPDX-License-Identifier: LGPL-2.1-or-later
"""inject_client.py SOCKET FILE: asks a server for the file until the input ends."""
import http.client
import os
import select
import socket
import sys

path, file = sys.argv[1:]
wanted = open(file, "rb").read()
rounds = 0


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(path)


while not select.select([0], [], [], 0)[0]:
    connection = Connection("localhost")
    connection.request("GET", "/" + os.path.basename(file))
    answer = connection.getresponse()
    if answer.status != 200 or answer.read() != wanted:
        print("wrong: answer", answer.status)
        sys.exit(1)
    connection.close()
    rounds += 1
print(f"sound: {rounds} rounds")
