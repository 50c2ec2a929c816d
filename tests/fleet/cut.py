# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows that an INSERT in the format Native that is cut stores no row: cut.py PORT

A block of rows is sent with its whole length, and the connection ends after each number of bytes.
"""
import http.client
import socket
import struct
import sys
import urllib.parse

port = int(sys.argv[1])
ROWS = 40


def text(value):
    return bytes([len(value)]) + value.encode()


def ask(sql):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/", sql.encode())
    answer = connection.getresponse()
    body = answer.read().decode()
    assert answer.status == 200, body
    return body.strip()


def send(body, length):
    """Sends a part of the body, ends the connection, and waits until the server has ended it."""
    query = urllib.parse.quote("INSERT INTO cut (n, t) FORMAT Native")
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(("POST /?query=%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
                            % (query, len(body))).encode() + body[:length])
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass


block = (b"\x02" + bytes([ROWS]) + text("n") + text("UInt64") +
         b"".join(struct.pack("<Q", i) for i in range(ROWS)) + text("t") + text("String") +
         b"".join(text("row %d" % i) for i in range(ROWS)))
ask("CREATE TABLE cut (n UInt64, t String) ENGINE = MergeTree() ORDER BY n")
for cut in range(0, len(block), 7):
    send(block, cut)
send(block, len(block) - 1)
rows = ask("SELECT count() FROM cut")
assert rows == "0", rows
send(block, len(block))
assert ask("SELECT count() FROM cut") == str(ROWS)
