"""Kills the service and a mirror of it (`examples/mirror`) again and again, while clients write.

Whenever the clients rest, the copy must become equal to the catalogue. The mirror must never
apply a change twice, or the changes of one animal in another order. After a restored backup,
which has another epoch, the mirror must list again by itself.
"""

import argparse
import contextlib
import http.client
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
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRITERS = 4
# How long the service may take to start, and the mirror to become equal, in seconds.
PATIENCE = 60
# How many kills there are between two comparisons.
KILLS_IN_A_ROW = 5


class Wrong(Exception):
    """What must not happen."""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Service:
    def __init__(self, program: str, database: str, port: int):
        self.program = program
        self.database = database
        self.port = port
        self.process = None

    def start(self) -> None:
        command = [self.program, "serve", "--listen", f"127.0.0.1:{self.port}"]
        command += ["--database", self.database]
        command += ["--log-level", "error"]
        self.process = subprocess.Popen(command)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise Wrong(f"the service ended with {self.process.returncode}")
            with contextlib.suppress(OSError, http.client.HTTPException):
                Client(self.port, "").request("GET", "/v1")
                return
            time.sleep(0.02)
        raise Wrong("the service does not start")

    def end(self, how: int) -> None:
        self.process.send_signal(how)
        self.process.wait()

    def run(self, *arguments: str) -> str:
        command = [self.program, *arguments, "--database", self.database]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


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
            env={**os.environ, "PETSTORE_URL": self.url, "PETSTORE_KEY": self.key},
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


class Client:
    def __init__(self, port: int, key: str):
        self.port, self.key = port, key

    def request(self, method: str, path: str, body=None, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        headers = {"Authorization": f"Bearer {self.key}"}
        headers |= {name.replace("_", "-"): value for name, value in fields.items()}
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            text = response.read()
            return response.status, json.loads(text) if text else None, response.headers

    def walk(self, path: str) -> list:
        elements = []
        while path:
            status, page, headers = self.request("GET", path)
            if status != 200:
                raise Wrong(f"GET {path}: {status} {page}")
            elements += page
            link = re.search(r'<([^>]*)>; rel="next"', headers.get("Link", ""))
            path = link and link[1]
        return elements

    def content(self) -> dict:
        base = "/v1/store"
        pets = self.walk(f"{base}/pets?limit=100") + self.walk(f"{base}/pets?withdrawn=true&limit=100")
        content = {("pet", pet["id"]): pet for pet in pets}
        content |= {("order", order["id"]): order for order in self.walk(f"{base}/orders?limit=100")}
        categories = self.walk(f"{base}/categories?limit=100")
        return content | {("category", category["id"]): category for category in categories}


class Writers:
    """Clients that change what they find until they are told to rest."""

    def __init__(self, client: Client, seed: int):
        self.client = client
        self.resting = threading.Event()
        self.lock = threading.Lock()
        self.made = 0
        randoms = [random.Random(seed + number) for number in range(WRITERS)]
        self.threads = [threading.Thread(target=self.write, args=(one,)) for one in randoms]
        for thread in self.threads:
            thread.start()

    def rest(self) -> int:
        self.resting.set()
        for thread in self.threads:
            thread.join()
        return self.made

    def write(self, chance: random.Random) -> None:
        while not self.resting.is_set():
            try:
                status = self.write_once(chance)
                with self.lock:
                    self.made += status < 300
            except (OSError, http.client.HTTPException):
                # The service was killed.
                time.sleep(0.02)

    def write_once(self, chance: random.Random) -> int:
        request, base = self.client.request, "/v1/store"
        key = {"Idempotency_Key": f'"{chance.getrandbits(64)}"'}
        act = chance.randrange(8)
        if act == 0:
            return request("POST", "/v1/pets", {"name": f"Rex {chance.random()}", "categoryId": 1})[0]
        if act == 1:
            path = f"{base}/categories/{chance.randrange(5)}"
            status, _, headers = request("PUT", path, {"label": "a"}, If_None_Match="*")
            if status == 412:
                found = next((c for c in self.client.walk(f"{base}/categories") if path.endswith(str(c["id"]))), None)
                tag = f'"{found["version"]}"' if found else '"1"'
                label = {"label": f"Dogs {chance.random()}"}
                if chance.random() < 0.5:
                    return request("DELETE", path, If_Match=tag)[0]
                return request("PUT", path, label, If_Match=tag)[0]
            return status
        query = chance.choice(["?limit=100", "?withdrawn=true&limit=20", "?status=available"])
        _, pets, _ = request("GET", f"{base}/pets{query}")
        if not pets:
            return request("POST", "/v1/pets", {"name": "Rex", "categoryId": 1})[0]
        pet = chance.choice(pets)
        path, tag = f"{base}/pets/{pet['id']}", f'"{pet["version"]}"'
        if pet["withdrawn"]:
            return request("POST", f"{path}/restore", {}, If_Match=tag)[0]
        if pet["orderId"]:
            end = chance.choice(["complete", "cancel"])
            return request("POST", f"{base}/orders/{pet['orderId']}/{end}", {})[0]
        if act in (2, 3):
            return request("POST", f"{base}/orders", {"petId": pet["id"]}, **key)[0]
        if act == 4:
            return request("POST", f"{path}/withdraw", {"reason": "died"}, If_Match=tag)[0]
        if act == 5:
            commands = [
                {"command": "patchPet", "petId": pet["id"], "ifMatch": pet["version"], "name": "B"},
                {"command": "addPet", "name": "C", "categoryId": 2},
            ]
            return request("POST", f"{base}/batch", commands, **key)[0]
        change = {"name": f"Frank {chance.random()}", "status": "available"}
        return request("PATCH", path, change, If_Match=tag)[0]


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
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            run(arguments, pathlib.Path(folder))
        except Wrong as wrong:
            sys.exit(f"seed {arguments.seed}: {wrong}")


if __name__ == "__main__":
    main()
