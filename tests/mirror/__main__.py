"""Kills the service and a mirror of it (`examples/mirror`) again and again, while clients write.

Whenever the clients rest, the copy must become equal to the catalogue. The mirror must never
apply a change twice, or the changes of one animal in another order. After a restored backup,
which has another epoch, the mirror must list again by itself.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from tests.mirror import webhooks
from tests.mirror.service import PATIENCE, ROOT, Client, Service, Writers, Wrong, free_port

# How many kills there are between two comparisons.
KILLS_IN_A_ROW = 5


class Mirror:
    """A mirror, and what it says that it applied."""

    def __init__(self, url: str, key: str, copy: pathlib.Path):
        self.url, self.key, self.copy = url, key, copy
        self.process = None
        self.reader = None
        self.wrong = []
        self.listed = self.applied = 0
        self.last = 0
        self.versions = {}

    def start(self, *options: str) -> None:
        command = [sys.executable, str(ROOT / "examples/mirror"), str(self.copy), *options]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PETSTORE_URL": self.url, "PETSTORE_STORE_KEY": self.key},
        )
        self.reader = threading.Thread(target=self.read, args=(self.process.stdout,))
        self.reader.start()

    def read(self, lines) -> None:
        for line in lines:
            if line == "listed\n":
                self.listed += 1
                self.last, self.versions = 0, {}
                continue
            match = re.fullmatch(r"(\d+) \S+ (\w+:-?\d+) (\d+)\n", line)
            if match is None:
                # Cut off by a kill.
                continue
            seq, subject, version = int(match[1]), match[2], int(match[3])
            self.applied += 1
            if seq <= self.last:
                self.wrong.append(f"applied change {seq} after change {self.last}")
            if not subject.startswith("category") and version <= self.versions.get(subject, 0):
                self.wrong.append(f"applied version {version} of {subject} twice or too late")
            self.last, self.versions[subject] = seq, version

    def end(self, how: int) -> None:
        self.process.send_signal(how)
        self.process.wait()
        self.reader.join()

    def content(self) -> dict:
        if not self.copy.exists():
            return {}
        with contextlib.closing(sqlite3.connect(self.copy, timeout=PATIENCE)) as copy:
            try:
                rows = copy.execute("SELECT kind, id, content FROM copy").fetchall()
            except sqlite3.OperationalError:
                # It has not begun yet.
                return {}
        return {(kind, number): json.loads(content) for kind, number, content in rows}


def compare(client: Client, mirror: Mirror) -> int:
    """Waits until the copy is equal to the catalogue, in which nothing changes."""
    catalogue = client.content()
    deadline = time.monotonic() + PATIENCE
    while (copy := mirror.content()) != catalogue:
        if time.monotonic() > deadline:
            different = {
                subject: (catalogue.get(subject), copy.get(subject))
                for subject in catalogue.keys() | copy.keys()
                if catalogue.get(subject) != copy.get(subject)
            }
            raise Wrong(f"the copy differs (catalogue, copy): {dict(list(different.items())[:3])}")
        time.sleep(0.05)
    if mirror.wrong:
        raise Wrong(f"the mirror {mirror.wrong[0]}")
    return len(catalogue)


def run(arguments, folder: pathlib.Path) -> None:
    chance = random.Random(arguments.seed)
    database = arguments.database or f"sqlite:{folder}/petstore.db"
    service = Service(arguments.petstore, database, free_port())
    service.start()
    mirror = None
    try:
        create = ("keys", "create", "--name", "mirror", "--scope")
        client = Client(service.port, service.run(*create, "store:write"))
        url, key = f"http://127.0.0.1:{service.port}/v1", service.run(*create, "store:read")
        mirror = Mirror(url, key, folder / "copy.db")
        mirror.start()
        kills, changes, size, restored = {"service": 0, "mirror": 0}, 0, 0, 0
        while sum(kills.values()) < arguments.count:
            writers = Writers(client, chance.getrandbits(32))
            try:
                for _ in range(KILLS_IN_A_ROW):
                    time.sleep(chance.uniform(0.05, 0.6))
                    victim = chance.choice(["service", "mirror"])
                    kills[victim] += 1
                    if victim == "service":
                        service.end(signal.SIGKILL)
                        time.sleep(chance.uniform(0, 0.2))
                        service.start()
                    else:
                        mirror.end(signal.SIGKILL)
                        mirror.start(*chance.choice([[], ["--stream"]]))
            finally:
                changes += writers.rest()
            size = compare(client, mirror)
            if database.startswith("sqlite:") and restored == 0:
                # The copy is ahead of the restored backup, which only a new list can repair.
                listed, backup = mirror.listed, folder / "backup.db"
                service.run("backup", str(backup))
                writers = Writers(client, chance.getrandbits(32))
                time.sleep(0.3)
                changes += writers.rest()
                service.end(signal.SIGTERM)
                service.run("restore", str(backup), "--force")
                service.start()
                compare(client, mirror)
                deadline = time.monotonic() + PATIENCE
                while mirror.listed == listed:
                    if time.monotonic() > deadline:
                        raise Wrong("the mirror did not list again after the restore")
                    time.sleep(0.05)
                restored += 1
        print(
            f"mirror: killed the service {kills['service']} times and the mirror {kills['mirror']} "
            f"times, restored {restored} backups; {changes} changes by clients, {mirror.applied} "
            f"changes applied and {mirror.listed} lists read by the mirror; the copy of {size} "
            f"resources is equal"
        )
        print(f"{sum(kills.values())} times; seed {arguments.seed}")
    finally:
        if mirror is not None:
            mirror.end(signal.SIGKILL)
        service.end(signal.SIGKILL)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m tests.mirror", description=__doc__)
    parser.add_argument("--petstore", required=True, help="the program")
    parser.add_argument("--database", help="an empty PostgreSQL database; a SQLite file by default")
    parser.add_argument("--count", type=int, default=200, help="how many kills, default 200")
    parser.add_argument("--webhooks", action="store_true", help="a copy that webhooks make")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            (webhooks.run if arguments.webhooks else run)(arguments, pathlib.Path(folder))
        except Wrong as wrong:
            sys.exit(f"seed {arguments.seed}: {wrong}")


if __name__ == "__main__":
    main()
