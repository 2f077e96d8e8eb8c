"""Kills two processes of the service, and a receiver of its webhooks that holds a copy.

The receiver fails for a third of the messages. Whenever the clients rest, the copy must become
equal to the catalogue by the messages only, `previous` of each message must be known, and the
messages of one animal must have come in order. When the process that sends dies, the other one
must take over within 15 seconds. After messages were dropped, and after a restored backup, the
receiver must notice it and list the store again.
"""

import contextlib
import json
import os
import pathlib
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

from tests.mirror.receiver import GAPS
from tests.mirror.service import PATIENCE, ROOT, Client, Service, Writers, Wrong, free_port

KILLS_IN_A_ROW = 5
SHARE = 1 / 3
TAKE_OVER = 15


class AnyClient(Client):
    """A client of both processes."""

    def __init__(self, services, key):
        super().__init__(services[0].port, key)
        self.services = services

    def request(self, *arguments, **fields):
        self.port = random.choice(self.services).port
        return super().request(*arguments, **fields)


class Receiver:
    """The receiver, and what it says that it received."""

    def __init__(self, copy: pathlib.Path, environment: dict):
        self.copy, self.environment = copy, environment
        self.port = free_port()
        self.process = self.reader = None
        self.wrong = []
        self.listed = self.received = 0
        self.forget()

    def forget(self) -> None:
        self.last, self.versions = {}, {}

    def start(self, share: float = SHARE, heal_after: float = 86400) -> None:
        command = [sys.executable, "-m", "tests.mirror.receiver", str(self.copy)]
        command += ["--port", str(self.port), "--share", str(share), "--heal-after", str(heal_after)]
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **self.environment},
        )
        self.reader = threading.Thread(target=self.read, args=(self.process.stdout,))
        self.reader.start()

    def read(self, lines) -> None:
        for line in lines:
            if line == "listed\n":
                self.listed += 1
                self.forget()
            elif line == "forged\n":
                self.wrong.append("received a message with a wrong signature")
            elif match := re.fullmatch(r"(\d+) (\S+) (\S+) (\d+)\n", line):
                seq, lane, subject, version = int(match[1]), match[2], match[3], int(match[4])
                self.received += 1
                if seq <= self.last.get(lane, 0):
                    self.wrong.append(f"received change {seq} of {lane} after {self.last[lane]}")
                if not subject.startswith("category") and version <= self.versions.get(subject, 0):
                    self.wrong.append(f"received version {version} of {subject} twice or too late")
                self.last[lane], self.versions[subject] = seq, version
            elif line.endswith("\n"):
                self.wrong.append(f"wrote {line!r}")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.reader.join()

    def state(self) -> tuple:
        """The number of gaps, and the version of each resource in the copy."""
        with contextlib.closing(sqlite3.connect(self.copy, timeout=PATIENCE)) as copy:
            rows = copy.execute("SELECT kind, id, content FROM copy").fetchall()
            return copy.execute(GAPS).fetchone()[0], dict(((kind, id), text) for kind, id, text in rows)


class Run:
    def __init__(self, arguments, folder: pathlib.Path):
        self.chance = random.Random(arguments.seed)
        self.database = arguments.database or f"sqlite:{folder}/petstore.db"
        os.environ["PETSTORE_WEBHOOK_ALLOW"] = "127.0.0.1"
        os.environ["PETSTORE_SECRET_KEY_FILE"] = str(folder / "secret-key")
        self.services = [Service(arguments.petstore, self.database, free_port()) for _ in range(2)]
        self.folder, self.count = folder, arguments.count
        self.kills = {"service": 0, "receiver": 0}
        self.changes = self.size = 0
        self.slowest = 0.0

    def begin(self) -> None:
        for service in self.services:
            service.start()
        create = ("keys", "create", "--name", "mirror", "--scope")
        self.client = AnyClient(self.services, self.services[0].run(*create, "store:admin"))
        environment = {
            "PETSTORE_URL": f"http://127.0.0.1:{self.services[0].port}/v1",
            "PETSTORE_STORE_KEY": self.services[0].run(*create, "store:read"),
        }
        self.receiver = Receiver(self.folder / "copy.db", environment)
        url = {"url": f"http://127.0.0.1:{self.receiver.port}/"}
        status, webhook, _ = self.client.request("POST", "/v1/store/webhooks", url)
        if status != 201:
            raise Wrong(f"cannot add the webhook: {status} {webhook}")
        self.webhook = f"/v1/store/webhooks/{webhook['id']}"
        environment["WEBHOOK_SECRET"] = webhook["secret"]
        self.receiver.start()

    def end(self) -> None:
        for process in [*self.services, self.receiver]:
            if process.process is not None:
                process.process.kill()

    def write(self) -> None:
        self.changes += 1
        status, *_ = self.client.request("POST", "/v1/pets", {"name": "Rex", "categoryId": 1})
        if status != 201:
            raise Wrong(f"cannot add an animal: {status}")

    def resume(self, where: str = "resume") -> None:
        """Makes messages due that wait for their next attempt, or drops them."""
        self.client.request("PATCH", self.webhook, {"enabled": False})
        status, body, _ = self.client.request("POST", f"{self.webhook}/enable", {"from": where})
        if status != 200:
            raise Wrong(f"cannot enable the webhook: {status} {body}")

    def compare(self) -> None:
        """Waits until the copy is equal to the catalogue, in which nothing changes."""
        catalogue = self.client.content()
        deadline = time.monotonic() + 3 * PATIENCE
        received, since = self.receiver.received, time.monotonic()
        while True:
            gaps, copy = self.receiver.state()
            if gaps == 0 and copy.keys() == catalogue.keys():
                if all(catalogue[at] == json.loads(copy[at]) for at in copy):
                    break
            now = time.monotonic()
            if now > deadline:
                raise Wrong(f"the copy differs, {gaps} gaps, {len(copy)} of {len(catalogue)} resources")
            if received < self.receiver.received:
                received, since = self.receiver.received, now
            elif now - since > 1:
                # What is left waits for its next attempt.
                self.resume()
                since = now
            time.sleep(0.1)
        self.size = len(copy)
        if self.receiver.wrong:
            raise Wrong(f"the receiver {self.receiver.wrong[0]}")

    def kill_while_writing(self) -> None:
        writers = Writers(self.client, self.chance.getrandbits(32))
        try:
            for _ in range(KILLS_IN_A_ROW):
                time.sleep(self.chance.uniform(0.05, 0.6))
                if self.chance.random() < 0.5:
                    self.kills["receiver"] += 1
                    self.receiver.end()
                    self.receiver.start()
                else:
                    self.kills["service"] += 1
                    service = self.chance.choice(self.services)
                    service.end(signal.SIGKILL)
                    time.sleep(self.chance.uniform(0, 0.2))
                    service.start()
        finally:
            self.changes += writers.rest()
        self.compare()
        if self.receiver.listed:
            raise Wrong("the receiver listed the store, although no message was lost")

    def take_over(self) -> None:
        """Kills each process in turn: when the second one dies, the first one has taken over."""
        self.restart_receiver(share=0)
        for service in self.services:
            self.kills["service"] += 1
            service.end(signal.SIGKILL)
            began = time.monotonic()
            other = next(one for one in self.services if one is not service)
            Client(other.port, self.client.key).request("POST", "/v1/pets", {"name": "Rex", "categoryId": 1})
            self.changes += 1
            received = self.receiver.received
            while self.receiver.received == received:
                if time.monotonic() - began > TAKE_OVER:
                    raise Wrong(f"nobody took over within {TAKE_OVER} seconds")
                time.sleep(0.02)
            self.slowest = max(self.slowest, time.monotonic() - began)
            service.start()
        self.restart_receiver()
        self.compare()

    def restart_receiver(self, **options) -> None:
        self.receiver.end()
        self.receiver.start(**options)
        # The second attempt for a message that it misses is not soon.
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.receiver.port)):
                return
            time.sleep(0.02)

    def expect_heal(self) -> None:
        """The receiver must notice that messages are missing, and list the store again."""
        listed = self.receiver.listed
        self.restart_receiver(share=0, heal_after=0.5)
        self.write()
        deadline = time.monotonic() + PATIENCE
        while self.receiver.listed == listed:
            if time.monotonic() > deadline:
                raise Wrong("the receiver did not notice that messages are missing")
            time.sleep(0.05)
        self.compare()

    def drop_messages(self) -> None:
        self.receiver.end()
        for _ in range(5):
            self.write()
        self.resume("now")
        self.receiver.start()
        self.expect_heal()

    def restore(self) -> None:
        backup = self.folder / "backup.db"
        self.services[0].run("backup", str(backup))
        self.write()
        self.compare()
        for service in self.services:
            service.end(signal.SIGTERM)
        self.services[0].run("restore", str(backup), "--force")
        self.receiver.end()
        self.receiver.forget()
        for service in self.services:
            service.start()
        self.receiver.start()
        self.expect_heal()


def run(arguments, folder: pathlib.Path) -> None:
    it = Run(arguments, folder)
    try:
        it.begin()
        while sum(it.kills.values()) < it.count - 2:
            it.kill_while_writing()
        it.take_over()
        it.drop_messages()
        if it.database.startswith("sqlite:"):
            it.restore()
        print(
            f"webhooks: killed the service {it.kills['service']} times and the receiver "
            f"{it.kills['receiver']} times; {it.changes} changes by clients, {it.receiver.received} "
            f"messages received; the other process took over within {it.slowest:.1f} s; lists read: "
            f"{it.receiver.listed}, each after messages were lost; the copy of {it.size} resources "
            f"is equal"
        )
        print(f"{sum(it.kills.values())} times; seed {arguments.seed}")
    finally:
        it.end()
