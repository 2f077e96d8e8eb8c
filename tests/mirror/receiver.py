"""A receiver of webhooks that holds a copy of the store in a SQLite file.

It fails for a share of the messages, and can be killed at any time: a message and its change are
in the copy, both or neither, before it responds. `previous` proves that no message is missing. If
one is missing for too long, the receiver lists the store again.
"""

import argparse
import base64
import hashlib
import hmac
import http.server
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import random
import sqlite3
import threading
import time

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/mirror"
loader = importlib.machinery.SourceFileLoader("mirror", str(EXAMPLE))
mirror = importlib.util.module_from_spec(importlib.util.spec_from_loader("mirror", loader))
loader.exec_module(mirror)

SCHEMA = """
    CREATE TABLE IF NOT EXISTS message (
        id TEXT PRIMARY KEY, previous TEXT, at REAL NOT NULL, is_healed INTEGER NOT NULL DEFAULT 0
    );
"""
# The messages before which one is missing.
GAPS = """
    SELECT count(*), min(at) FROM message WHERE previous IS NOT NULL AND NOT is_healed
    AND previous NOT IN (SELECT id FROM message)
"""


class Copy(mirror.Mirror):
    def __init__(self, store, path):
        copy = sqlite3.connect(path, check_same_thread=False, timeout=30)
        # A kill loses nothing; only a power cut would.
        copy.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;" + SCHEMA)
        super().__init__(store, copy, streams=False)
        self.lock = threading.Lock()

    def receive(self, message_id, message):
        """Stores a message, once."""
        data = message["data"]
        kind = message["type"].split(".")[0]
        shown = data["after"] or data["before"]
        lane = f"pet:{shown['petId']}" if kind == "order" else f"{kind}:{shown['id']}"
        with self.lock:
            with self.copy:
                new = "INSERT INTO message (id, previous, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
                values = (message_id, data["previous"], time.time())
                if self.copy.execute(new, values).rowcount == 0:
                    return
                if data["after"] is None:
                    where = "DELETE FROM copy WHERE (kind, id) = (?, ?)"
                    self.copy.execute(where, (kind, shown["id"]))
                else:
                    self.put(kind, shown)
            # One thread at a time, so that lines do not mix.
            print(f"{data['seq']} {lane} {kind}:{shown['id']} {data['version']}", flush=True)

    def heal_forever(self, patience):
        while True:
            time.sleep(0.1)
            with self.lock:
                count, since = self.copy.execute(GAPS).fetchone()
                if count == 0 or time.time() - since < patience:
                    continue
                try:
                    self.list_again()
                except (OSError, mirror.Unavailable, mirror.http.client.HTTPException):
                    self.store.close()
                    continue
                # What was missing came before a message that came before the list.
                with self.copy:
                    self.copy.execute("UPDATE message SET is_healed = 1")


def handler(copy, secret, share):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            message_id, timestamp = self.headers["webhook-id"], self.headers["webhook-timestamp"]
            signed = f"{message_id}.{timestamp}.".encode() + body
            digest = base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode()
            if f"v1,{digest}" not in self.headers["webhook-signature"].split():
                print("forged", flush=True)
                return self.respond(400)
            fault = random.choice(["status", "close", "late"]) if random.random() < share else None
            if fault == "status":
                return self.respond(random.choice([500, 503, 302, 404]))
            if fault != "close":
                copy.receive(message_id, json.loads(body))
            if fault is not None:
                # Without a response, before or after the message was stored.
                self.close_connection = True
                return None
            return self.respond(204)

        def respond(self, status):
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    return Handler


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("copy")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--share", type=float, default=0, help="of the messages that fail")
    parser.add_argument("--heal-after", type=float, default=86400, help="in seconds")
    arguments = parser.parse_args()
    store = mirror.Petstore(os.environ["PETSTORE_URL"], os.environ["PETSTORE_STORE_KEY"])
    copy = Copy(store, arguments.copy)
    secret = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
    threading.Thread(target=copy.heal_forever, args=(arguments.heal_after,), daemon=True).start()
    handle = handler(copy, secret, arguments.share)
    http.server.ThreadingHTTPServer(("127.0.0.1", arguments.port), handle).serve_forever()


if __name__ == "__main__":
    main()
