"""Requests as bytes, ready to be sent."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import uuid
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

from bench.catalogue import CATEGORIES, STATUSES, names

FIRST_PAGE = "/v1/pets?status=available"
SEED = 2

# How the name of a file for bench/orders.lua ends.
ORDERS = ".orders"

CURSOR_VERSION = 1
ORDERS_LIST = 3
STATUS_BYTES = {None: b"-", "available": b"a", "pending": b"p", "sold": b"s"}


def get(target: str, key: str, *fields: str) -> bytes:
    return request("GET", target, key, *fields)


def create(draw: random.Random, known: list[str], key: str) -> bytes:
    animal = {
        "name": draw.choice(known) if draw.random() > 1 / 3 else "",
        "categoryId": draw.choice(CATEGORIES),
        "status": draw.choice(STATUSES),
    }
    body = json.dumps(animal, ensure_ascii=False).encode()
    fields = ("Content-Type: application/json", f"Content-Length: {len(body)}")
    return request("POST", "/v1/pets", key, *fields) + body


def create_requests(count: int, key: str) -> list[bytes]:
    draw, known = random.Random(SEED), names()
    return [create(draw, known, key) for _ in range(count)]


def request(method: str, target: str, key: str, *fields: str) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {key}", *fields, "", ""]
    return "\r\n".join(lines).encode()


def page_target(status: str | None, after: int) -> str:
    """The target of a `rel="next"` link, as the server makes it
    (crates/api/src/contract/cursor.rs, list.rs): walking to a random place among
    millions would take all day. The server is asked whether it agrees before
    any is used."""
    checked = bytes([CURSOR_VERSION]) + STATUS_BYTES[status] + after.to_bytes(7, "big")
    cursor = base64.urlsafe_b64encode(checked + zlib.crc32(checked).to_bytes(4, "big")).rstrip(b"=").decode()
    by_status = f"status={status}&" if status else ""
    return f"/v1/pets?limit=20&{by_status}cursor={cursor}"


def orders_target(after: int) -> str:
    """The same for orders (crates/api/src/store_area/cursor.rs), without filters."""
    no_filter = hashlib.sha256((b"\xff" * 8) * 3).digest()[:8]
    checked = bytes([ORDERS_LIST]) + no_filter + after.to_bytes(8, "big")
    cursor = base64.urlsafe_b64encode(checked + zlib.crc32(checked).to_bytes(4, "big")).rstrip(b"=").decode()
    return f"/v1/store/orders?limit=20&cursor={cursor}"


def ascending_key(pet: int | str) -> str:
    """An Idempotency-Key that sorts behind those of earlier animals, as far as they have as many digits."""
    return f"sale-{pet}"


def random_keys() -> Callable[[int | str], str]:
    """Makes an Idempotency-Key for each animal as most clients do: a random UUID."""
    draw = random.Random(SEED)
    return lambda _pet: str(uuid.UUID(int=draw.getrandbits(128), version=4))


def write_orders(key: str, pets: Iterable[int | str], file: Path, key_of=ascending_key) -> Path:
    """Writes available animals for bench/orders.lua to sell, each with the key of its order."""
    file = file.with_suffix(ORDERS)
    file.write_text("\n".join([key, *(f"{pet} {key_of(pet)}" for pet in pets)]) + "\n")
    return file


def write_rotation(requests: list[bytes], file: Path) -> Path:
    """Writes requests for wrk to send in this order, again and again."""
    file.write_bytes(b"".join(b"%d\n%b" % (len(each), each) for each in requests))
    return file


def path(request: bytes) -> str:
    target = request.split()[1].decode()
    return target.partition("?")[0]
