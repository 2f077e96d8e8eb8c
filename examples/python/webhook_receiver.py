#!/usr/bin/env python3
"""A receiver of webhooks in Python. Prints each message once, with its webhook-id.

    pip install standardwebhooks
    export WEBHOOK_SECRET=whsec_...   # printed by `petstore webhooks add`
    PORT=9000 python3 examples/python/webhook_receiver.py
"""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["WEBHOOK_SECRET"])
# A real receiver stores the ids with the messages, so that it knows them after a restart.
seen = set()


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        # The exact bytes: parsed and written again, they would have another signature.
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            webhook.verify(body, dict(self.headers), json_parse=False)
        except (WebhookVerificationError, ValueError):
            return self.respond(400)
        message_id = self.headers["webhook-id"]
        if message_id not in seen:
            seen.add(message_id)
            print(json.loads(body)["type"], message_id, flush=True)
        return self.respond(204)

    def respond(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver).serve_forever()
