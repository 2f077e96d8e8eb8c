"""Checks an example of a receiver of webhooks with the messages of a service, and with others.

    python3 tests/outside/webhook_receiver.py PETSTORE DATABASE COMMAND...

The command gets PORT and WEBHOOK_SECRET, and prints what it received, or writes it into the file
WEBHOOK_MESSAGES.
"""

import base64
import contextlib
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
from urllib.parse import urlsplit

PATIENCE = 30


def until(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"{what}: not within {PATIENCE} seconds")
        time.sleep(0.05)


def is_listening(port):
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    return False


def send(port, secret, *, message_id="msg_forged", age=0, key=None, body=b'{"type":"pet.added"}', sent=None):
    """Sends a message with this age, signed with the secret or another key; the status."""
    timestamp = int(time.time()) - age
    key = key or base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.digest(key, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256)
    fields = {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request("POST", "/", sent or body, fields)
        return connection.getresponse().status


def main():
    petstore, database, *command = sys.argv[1:]
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    webhooks = [petstore, "webhooks", "--database", database]
    added = subprocess.run([*webhooks, "add", f"http://127.0.0.1:{port}/"], check=True, capture_output=True)
    webhook = json.loads(added.stdout)
    number, secret = str(webhook["id"]), webhook["secret"]
    with tempfile.TemporaryDirectory() as folder:
        messages = pathlib.Path(folder) / "messages"
        messages.touch()
        environment = {"PORT": str(port), "WEBHOOK_SECRET": secret, "WEBHOOK_MESSAGES": str(messages)}
        command = [part.replace("PORT", str(port)) for part in command]
        with open(messages, "a") as out:
            receiver = subprocess.Popen(command, stdout=out, env={**os.environ, **environment})
        try:
            until(lambda: is_listening(port), "the receiver does not listen")
            url = urlsplit(os.environ["PETSTORE_URL"])
            service = http.client.HTTPConnection(url.netloc, timeout=PATIENCE)
            fields = {"Authorization": f"Bearer {os.environ['PETSTORE_KEY']}", "Content-Type": "application/json"}
            service.request("POST", f"{url.path}/pets", json.dumps({"name": "Flöckchen 🐶", "categoryId": 1}), fields)
            assert service.getresponse().status == 201
            until(lambda: messages.read_text().startswith("pet.added msg_"), "no message was accepted")
            attempt = subprocess.run([*webhooks, "test", number], check=True, capture_output=True)
            assert json.loads(attempt.stdout)["error"] is None, attempt.stdout
            until(lambda: "webhook.test msg_" in messages.read_text(), "no test message was accepted")
            before = messages.read_text()
            for status, what in (
                (send(port, secret, key=b"another key"), "with another key"),
                (send(port, secret, sent=b'{"type":"pet.adde!"}'), "with another body"),
                (send(port, secret, age=600), "that is ten minutes old"),
                (send(port, secret, age=-600), "from the future"),
            ):
                assert status in (400, 401), f"a message {what} was not rejected: {status}"
            assert messages.read_text() == before, messages.read_text()
            for _ in range(2):
                assert send(port, secret, message_id="msg_twice") == 204
            until(lambda: "pet.added msg_twice" in messages.read_text(), "a valid message was not accepted")
            assert messages.read_text().count("msg_twice") == 1, "a message was processed twice"
            print("accepted what the service sent, once, and rejected what was forged or old")
        finally:
            receiver.kill()
            receiver.wait()
            subprocess.run([*webhooks, "remove", number], check=True)


if __name__ == "__main__":
    main()
