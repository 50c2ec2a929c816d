# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the servers of tests have in common. FAKE_ADDRESS and FAKE_PORT choose where they listen."""
import http.server
import os
import sys


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        kind = sys.exc_info()[0]
        if not issubclass(kind, (BrokenPipeError, ConnectionResetError)):
            super().handle_error(request, client_address)


def serve(handler):
    """Prints the port, then answers requests until the process is ended."""
    address = os.environ.get("FAKE_ADDRESS", "127.0.0.1")
    server = Server((address, int(os.environ.get("FAKE_PORT", "0"))), handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
