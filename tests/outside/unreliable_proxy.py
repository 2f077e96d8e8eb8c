"""Runs a client against an unreliable service.

    PETSTORE_URL=... unreliable_proxy.py COMMAND...

A proxy between the client and the service rejects some requests with 503, and drops
the responses of others. A client that retries correctly succeeds. Fails if the command
fails, or if one of these faults never occurred.
"""

import contextlib
import http.client
import itertools
import os
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

SERVICE = urlsplit(os.environ["PETSTORE_URL"])
# The faulty requests in each round of ROUND.
REJECTED, DROPPED, ROUND = {4}, {9, 16}, 30

UNAVAILABLE = b'{"code":"unavailable","message":"Retry in a moment.","status":503}'

requests = itertools.count()
faults = Counter()


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle(self):
        # A client may disconnect at any time.
        with contextlib.suppress(ConnectionError):
            super().handle()

    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        number = next(requests) % ROUND
        if number in REJECTED:
            faults["rejected"] += 1
            headers = [("Content-Type", "application/json"), ("Retry-After", "1")]
            return self.respond(503, headers, UNAVAILABLE)
        service = http.client.HTTPConnection(SERVICE.netloc, timeout=30)
        service.request(self.command, self.path, body, dict(self.headers))
        response = service.getresponse()
        content = response.read()
        service.close()
        if number in DROPPED:
            faults["dropped"] += 1
            self.close_connection = True
            return None
        return self.respond(response.status, response.getheaders(), content)

    do_GET = do_POST = do_PATCH = forward

    def respond(self, status, headers, content):
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("content-length", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def main():
    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    proxy.daemon_threads = True
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    url = SERVICE._replace(netloc=f"127.0.0.1:{proxy.server_port}").geturl()
    done = subprocess.run(sys.argv[1:], env={**os.environ, "PETSTORE_URL": url}, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    if not (faults["rejected"] and faults["dropped"]):
        sys.exit(f"the client met too few faults: {dict(faults)}")


if __name__ == "__main__":
    main()
