"""Staff clients: each one sells its own animals, and knows what every response must be."""

from __future__ import annotations

import random
import time
import uuid
from dataclasses import dataclass, field

from tests.failover.clients import PAUSE, Client, Clients, Service

# What becomes of an animal, one after the other. Each ends with an available animal.
DAYS = [
    ["reserve", "complete", "return"],
    ["reserve", "extend", "cancel"],
    ["sell", "return"],
    ["rename"],
    ["withdraw", "restore"],
]


@dataclass
class Animal:
    """An animal and its orders as the last responses showed them."""

    pet: dict
    orders: list[dict] = field(default_factory=list)


class Unexpected(Exception):
    """A response that no correct service gives."""


class Staff:
    """The staff clients of both services, and their animals."""

    def __init__(self, clients: Clients):
        self.clients, self.book = clients, clients.book
        # Only those that nobody changes any more.
        self.finished: list[Animal] = []
        self.commands = 0

    def work(self, client: Client, draw: random.Random, me: str, home: Service) -> None:
        while not self.clients.stopping.is_set():
            animal = Animal({"version": 1, "status": "available", "orderId": None, "withdrawn": None})
            sent = {"name": f"{me}-{uuid.UUID(int=draw.getrandbits(128))}", "categoryId": 1}
            animal.pet |= self.insist(client, draw, home, "POST", "/v1/pets", sent)
            for step in [step for day in draw.sample(DAYS, 3) for step in day]:
                self.take(client, draw, home, animal, step)
                time.sleep(draw.uniform(0, PAUSE))
            with self.book.lock:
                self.finished.append(animal)

    def take(self, client: Client, draw: random.Random, home: Service, animal: Animal, step: str) -> None:
        """Takes one step. The response must show the next version, and so a change
        that was made twice is noticed, and so is one that was lost."""
        pet, order = animal.pet, animal.orders[-1] if animal.orders else None
        mark = f"{draw.getrandbits(64):x}"
        if step in ("reserve", "sell"):
            status = "reserved" if step == "reserve" else "completed"
            sent = {"petId": pet["id"], "status": status, "reference": mark}
            order = self.insist(client, draw, home, "POST", "/v1/store/orders", sent)
            self.expect(order, petId=pet["id"], version=1, status=status, reference=mark)
            animal.orders.append(order)
        elif step in ("complete", "cancel", "return", "extend"):
            target = f"/v1/store/orders/{order['id']}"
            if step == "extend":
                after = self.insist(client, draw, home, "PATCH", target, {"reference": mark}, order["version"])
                self.expect(after, id=order["id"], version=order["version"] + 1, reference=mark)
            else:
                status = {"complete": "completed", "cancel": "cancelled", "return": "returned"}[step]
                after = self.insist(client, draw, home, "POST", f"{target}/{step}", {})
                self.expect(after, id=order["id"], version=order["version"] + 1, status=status)
            animal.orders[-1] = order = after
        else:
            method, target = ("PATCH", "") if step == "rename" else ("POST", f"/{step}")
            sent = {"rename": {"name": mark}, "withdraw": {"reason": "other"}, "restore": {}}[step]
            after = self.insist(client, draw, home, method, f"/v1/store/pets/{pet['id']}{target}", sent, pet["version"])
            self.expect(after, id=pet["id"], version=pet["version"] + 1)
            animal.pet = after
            return
        if step != "extend":
            status = {"reserved": "pending", "completed": "sold"}.get(order["status"], "available")
            open_order = order["id"] if order["status"] == "reserved" else None
            animal.pet = pet | {"version": pet["version"] + 1, "status": status, "orderId": open_order}

    def insist(self, client: Client, draw: random.Random, home: Service, method: str, target: str, body: dict,
               version: int | None = None) -> dict:
        """Repeats a request with its key, at either service, until it is acknowledged."""
        fields = {"Idempotency_Key": f'"{uuid.UUID(int=draw.getrandbits(128))}"'}
        if version is not None:
            fields["If_Match"] = f'"{version}"'
        service = home
        while True:
            status, _, content = client.ask(service, method, target, body, **fields)
            if status in (200, 201):
                with self.book.lock:
                    self.commands += 1
                return content
            in_progress = status == 409 and content["code"] == "idempotency_in_progress"
            if status not in (0, 503) and not in_progress:
                raise Unexpected(f"{service.name}: {method} {target} got {status} {content}")
            service = draw.choice(self.clients.services)
            time.sleep(draw.uniform(0, 0.5))

    def expect(self, shown: dict, **members) -> None:
        if not members.items() <= shown.items():
            raise Unexpected(f"{shown} instead of {members}")

    def check(self, service: Service, since: int) -> int:
        """Compares the animals from number `since` with what a service has. Returns
        the number of the next one."""
        client = Client(self.clients.key, self.book)
        with self.book.lock:
            finished = self.finished[since:]
        for animal in finished:
            id = animal.pet["id"]
            pet = self.read(client, service, f"/v1/store/pets/{id}")
            orders = self.read(client, service, f"/v1/store/orders?petId={id}&limit=100")
            # Orders change the second time, too, and their responses do not show it.
            told = {name: value for name, value in animal.pet.items() if name != "updatedAt"}
            shown = {name: pet[name] for name in told}
            if shown != told:
                self.book.fault(f"LOST or DOUBLED, by {service.name}: {shown} instead of {told}")
            if orders != animal.orders:
                self.book.fault(f"LOST or DOUBLED, by {service.name}: {orders} instead of {animal.orders}")
        return since + len(finished)

    def read(self, client: Client, service: Service, target: str):
        while True:
            status, _, content = client.ask(service, "GET", target)
            if status == 200:
                return content
            if status not in (0, 503):
                raise Unexpected(f"{service.name}: {target} got {status} {content}")
            time.sleep(0.1)
