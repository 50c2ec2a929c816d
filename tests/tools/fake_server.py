# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the servers of tests have in common. FAKE_ADDRESS and FAKE_PORT choose where they listen.
FAKE_TLS is a folder with cert.pem and key.pem of a server with TLS."""
import http.server
import os
import socket
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
    Server.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
    server = Server((address, int(os.environ.get("FAKE_PORT", "0"))), handler)
    if "FAKE_TLS" in os.environ:
        import ssl
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.environ["FAKE_TLS"] + "/cert.pem", os.environ["FAKE_TLS"] + "/key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_address[1], flush=True)
    server.serve_forever()
