"""Clients of the service, and the responses that they got."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
import uuid
from dataclasses import dataclass, field

# How long a client waits for a response: the key lookup takes at most 5 seconds and the operation
# at most 5 (docs/postgres.md), on a busy machine.
PATIENCE = 12.0

# The service closes connections that are silent for 30 seconds.
REST = 10.0

# The longest pause between two requests of a writer.
PAUSE = 0.25


@dataclass
class Service:
    """A `petstore` process."""

    name: str
    port: int


@dataclass
class Book:
    """All responses, guarded by a lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    # The ids of acknowledged animals by name. Names are unique.
    acknowledged: dict[str, int] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)
    # Names whose only request got 503, or is in flight.
    perhaps: set[str] = field(default_factory=set)
    responses: dict[str, int] = field(default_factory=dict)
    # When each service acknowledged an animal: (requested at, responded at).
    times: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    longest: float = 0.0
    newest: int = 0
    # By service, pages and animals that lack acknowledged writes.
    stale: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def fault(self, what: str) -> None:
        with self.lock:
            self.faults.append(what)

    def count(self, response: str, seconds: float) -> None:
        with self.lock:
            self.responses[response] = self.responses.get(response, 0) + 1
            self.longest = max(self.longest, seconds)

    def acknowledge(self, service: Service, name: str, id: int, asked: float) -> None:
        with self.lock:
            self.times.setdefault(service.name, []).append((asked, time.monotonic()))
            if self.ids.setdefault(id, name) != name:
                self.faults.append(f"the id {id} was given to {self.ids[id]} and to {name}")
            self.acknowledged[name] = id
            self.perhaps.discard(name)
            self.newest = max(self.newest, id)

    def known_above(self, id: int) -> dict[int, str]:
        with self.lock:
            return {known: name for known, name in self.ids.items() if known > id}


class Client:
    """One connection to each service, and one request at a time."""

    def __init__(self, key: str, book: Book):
        self.key, self.book = key, book
        # With the time of their last use.
        self.connections: dict[str, tuple[http.client.HTTPConnection, float]] = {}

    def ask(self, service: Service, method: str, target: str, body: dict | None = None, **fields: str):
        """Status, header fields and content; status 0 without a response, which
        is a fault."""
        connection, used = self.connections.get(service.name, (None, 0.0))
        if connection is None or time.monotonic() - used > REST:
            if connection is not None:
                connection.close()
            connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)
        self.connections[service.name] = (connection, time.monotonic())
        sent = {"Authorization": f"Bearer {self.key}", **{k.replace("_", "-"): v for k, v in fields.items()}}
        if body is not None:
            sent["Content-Type"] = "application/json"
        asked = time.monotonic()
        try:
            connection.request(method, target, json.dumps(body) if body is not None else None, sent)
            response = connection.getresponse()
            content = json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            seconds = time.monotonic() - asked
            self.book.count(f"{method} none", seconds)
            self.book.fault(f"{service.name}, {method} {target}: {error!r} after {seconds:.1f} s")
            connection.close()
            return 0, {}, None
        self.book.count(f"{method} {response.status}", time.monotonic() - asked)
        if response.status == 503 and not response.headers.get("Retry-After"):
            self.book.fault(f"{service.name}: 503 without Retry-After")
        return response.status, response.headers, content


class Clients:
    """Writers and walkers that run until they are stopped."""

    def __init__(self, services: list[Service], key: str, seed: int, keyless: bool = False):
        self.services, self.key, self.keyless = services, key, keyless
        self.random = random.Random(seed)
        self.book = Book()
        self.stopping = threading.Event()
        self.threads: list[threading.Thread] = []
        # The page at which walks start, and the last id before it.
        self.start_page, self.start_after = "/v1/pets?limit=100", 0

    def start(self, writers: int) -> None:
        for number in range(writers):
            # A third of the writers do not retry.
            kind = self.write_once if number % 3 == 2 else self.write_until_acknowledged
            self.spawn(kind, f"w{number}", self.services[number % len(self.services)])
        for service in self.services:
            self.spawn(self.walk_on, service)

    def spawn(self, work, *arguments) -> None:
        client, seed = Client(self.key, self.book), self.random.getrandbits(32)

        def guarded() -> None:
            try:
                work(client, random.Random(seed), *arguments)
            except Exception as error:  # Nothing may end a client unseen.
                self.book.fault(f"a client ended: {error!r}")

        thread = threading.Thread(target=guarded, daemon=True)
        thread.start()
        self.threads.append(thread)

    def stop(self) -> None:
        self.stopping.set()
        for thread in self.threads:
            thread.join(PATIENCE * 10)
            if thread.is_alive():
                self.book.fault("a client does not end")

    def write_until_acknowledged(self, client: Client, draw: random.Random, me: str, home: Service) -> None:
        number, names = 0, uuid.UUID(int=draw.getrandbits(128)).hex[:6]
        while not self.stopping.is_set():
            number += 1
            name, service = f"{me}-{names}-{number}", home
            key = {} if self.keyless else {"Idempotency_Key": f'"{uuid.UUID(int=draw.getrandbits(128))}"'}
            while not self.create(client, service, name, (201, 409, 503), **key):
                # The outcome may be unknown. The other process must recognize the retry as well.
                service = draw.choice(self.services)
                time.sleep(draw.uniform(0, 0.5))
            time.sleep(draw.uniform(0, PAUSE))

    def write_once(self, client: Client, draw: random.Random, me: str, home: Service) -> None:
        number, names = 0, uuid.UUID(int=draw.getrandbits(128)).hex[:6]
        while not self.stopping.is_set():
            number += 1
            name = f"{me}-{names}-{number}"
            with self.book.lock:
                self.book.perhaps.add(name)
            if not self.create(client, home, name, (201, 503)):
                time.sleep(draw.uniform(0, 0.5))
            time.sleep(draw.uniform(0, PAUSE))

    def create(self, client: Client, service: Service, name: str, allowed: tuple[int, ...], **key: str) -> bool:
        asked = time.monotonic()
        pet = {"name": name, "categoryId": 1}
        status, _, content = client.ask(service, "POST", "/v1/pets", pet, **key)
        if status == 201:
            if content["name"] != name:
                self.book.fault(f"{name} came back as {content['name']}")
            self.book.acknowledge(service, name, content["id"], asked)
        elif status and status not in allowed:
            self.book.fault(f"{service.name}: POST got {status} {content}")
        return status == 201

    def walk_on(self, client: Client, draw: random.Random, service: Service) -> None:
        while not self.stopping.is_set():
            with self.book.lock:
                page, after = self.start_page, self.start_after
            self.walk(client, service, page, after, watch=True)
            time.sleep(draw.uniform(0, 0.3))

    def walk(self, client: Client, service: Service, page: str, after: int, watch: bool = False):
        """Walks to the end despite faults. Every animal acknowledged before must be
        read, once and in order. Returns the animals, the last page, and the id
        before it."""
        expected = self.book.known_above(after)
        seen: dict[int, str] = {}
        last = after
        while True:
            began = (page, last)
            status, fields, pets = self.read(client, service, page)
            if status != 200:
                if watch and self.stopping.is_set():
                    return seen, began
                time.sleep(0.1)
                continue
            for pet in pets:
                if pet["id"] <= last:
                    # Such a walk may never end.
                    self.book.fault(f"{service.name}: {pet['id']} after {last} on {page}")
                    return seen, began
                last = pet["id"]
                seen[last] = pet["name"]
            if watch:
                self.look_at_newest(client, service)
            link = fields.get("Link")
            if not link:
                break
            page = link[link.index("<") + 1:link.index(">")]
        unseen = [id for id, name in expected.items() if seen.get(id) != name]
        if unseen and watch:
            self.see_later(service, f"a walk missed {len(unseen)}")
        return seen, began

    def look_at_newest(self, client: Client, service: Service) -> None:
        with self.book.lock:
            newest = self.book.newest
        status, _, _ = client.ask(service, "GET", f"/v1/pets/{newest}") if newest else (200, {}, None)
        if status == 404:
            self.see_later(service, f"{newest} is not there")
        elif status not in (0, 200, 503):
            self.book.fault(f"{service.name}: GET by id got {status}")

    def see_later(self, service: Service, what: str) -> None:
        """Counts stale pages and animals; the last walk shows whether any are lost."""
        with self.book.lock:
            before = self.book.stale.get(service.name, 0)
            self.book.stale[service.name] = before + 1
        if not before:
            print(f"    behind, {service.name}: {what}", flush=True)

    def read(self, client: Client, service: Service, page: str):
        status, fields, pets = client.ask(service, "GET", page)
        if status not in (0, 200, 503):
            self.book.fault(f"{service.name}: {page} got {status} {pets}")
        return status, fields, pets

    def check(self, service: Service, page: str, after: int) -> tuple[str, int]:
        """Walks, and finds lost and duplicate animals. Returns the last page and the
        id before it."""
        expected = self.book.known_above(after)
        seen, last_page = self.walk(Client(self.key, self.book), service, page, after)
        lost = {id: name for id, name in expected.items() if seen.get(id) != name}
        if lost:
            self.book.fault(f"LOST {len(lost)}, by {service.name}: {sorted(lost.items())[:5]}")
        first: dict[str, int] = {}
        doubled = {}
        for id, name in seen.items():
            if first.setdefault(name, id) != id:
                doubled[name] = (first[name], id)
        with self.book.lock:
            for name, id in first.items():
                if self.book.acknowledged.get(name, id) != id:
                    doubled[name] = (id, self.book.acknowledged[name])
        if doubled:
            self.book.fault(f"DOUBLED {len(doubled)}, by {service.name}: {sorted(doubled.items())[:5]}")
        return last_page
