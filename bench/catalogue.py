"""Catalogues for the benchmarks, stored below target/bench/ between runs."""

from __future__ import annotations

import csv
import ctypes
import hashlib
import json
import mmap
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench.machine import ROOT, CannotRun, now

CACHE = ROOT / "target" / "bench"
REAL_NAMES = ROOT / "tests" / "data" / "shelter-animals.csv"
MIGRATIONS = ROOT / "crates" / "store-sqlite" / "migrations"

STATUSES = ("available", "pending", "sold")
CATEGORIES = (1, 1, 1, 1, 1, 2, 2, 2, 2, 3)
ROWS_AT_ONCE = 100_000

# Always the same animals, in every catalogue of a size.
SEED = 1


@dataclass(frozen=True)
class Catalogue:
    database: Path
    size: int
    key: str

    @property
    def url(self) -> str:
        return f"sqlite:{self.database}"

    def copy(self, folder: Path) -> Catalogue:
        """A copy that may be changed."""
        folder.mkdir()
        database = folder / self.database.name
        shutil.copyfile(self.database, database)
        return Catalogue(database, self.size, self.key)

    def highest_id(self) -> int:
        with self.reading() as connection:
            return connection.execute("SELECT max(id) FROM pets").fetchone()[0]

    def available(self) -> list[int]:
        """The animals that can be sold, the oldest first, as in the list of the contract."""
        with self.reading() as connection:
            return [pet for (pet,) in connection.execute("SELECT id FROM pets WHERE status = 'available' ORDER BY id")]

    def add_orders(self) -> int:
        """Adds an order for each sold animal, and returns how many."""
        with closing(sqlite3.connect(self.database)) as connection, connection:
            return connection.execute(
                "INSERT INTO orders (pet_id, status, holds, created_at, closed_at, version) "
                "SELECT id, 'completed', 1, 1767225600000, 1767225600000, 1 FROM pets WHERE status = 'sold'"
            ).rowcount

    def describe(self, count: int) -> None:
        """Gives the newest animals values of all fields, and three photos each."""
        draw, known = random.Random(SEED), names()
        with closing(sqlite3.connect(self.database)) as connection, connection:
            rows = [(*described(draw, known, pet), pet) for pet in range(self.size - count + 1, self.size + 1)]
            connection.executemany("UPDATE pets SET fields = ?, photos = ? WHERE id = ?", rows)
            # Otherwise the server would put the values into the tables of the search during the measurement.
            connection.execute("DELETE FROM value_changes")

    def on_offer(self, count: int) -> list[int]:
        """Those of the newest animals that the window shows."""
        with self.reading() as connection:
            newest = "SELECT id FROM pets WHERE id > ? AND status <> 'sold'"
            return [pet for (pet,) in connection.execute(newest, (self.size - count,))]

    def sample(self, count: int, seed: int) -> list[tuple[int, str]]:
        """Random animals: identifier and status."""
        draw = random.Random(seed)
        with self.reading() as connection:
            status = "SELECT status FROM pets WHERE id = ?"
            drawn = [draw.randint(1, self.size) for _ in range(count)]
            return [(pet, connection.execute(status, (pet,)).fetchone()[0]) for pet in drawn]

    def reading(self):
        """A connection for a `with` block."""
        return closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True))

    def warm(self) -> None:
        """Reads the file, and keeps it in memory until the program ends, so that
        the disk has no part in what follows: some systems take out of memory
        what was not used for a few seconds."""
        with open(self.database, "rb", buffering=0) as file:
            while file.read(1 << 24):
                pass
            lock_in_memory(file.fileno())


def lock_in_memory(file: int) -> None:
    """Only root may do this, or a process below the limit of locked memory."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.mlock.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    size = os.fstat(file).st_size
    address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file, 0)
    if libc.mlock(address, size) != 0:
        print(f"not locked in memory: {os.strerror(ctypes.get_errno())}", file=sys.stderr)


def catalogue(petstore: Path, size: int) -> Catalogue:
    """A catalogue of this size, created if it is missing or out of date."""
    folder = CACHE / f"catalogue-{size}"
    stamp = folder / "stamp.json"
    # Everything that determines the content of the file.
    wanted = {"size": size, "made_by": digest([*sorted(MIGRATIONS.glob("*.sql")), Path(__file__), REAL_NAMES])}
    try:
        found = json.loads(stamp.read_text())
    except (OSError, ValueError):
        found = {}
    if {name: found.get(name) for name in wanted} != wanted:
        key = make(petstore, folder, size)
        stamp.write_text(json.dumps({**wanted, "key": key}))
        found = json.loads(stamp.read_text())
    return Catalogue(folder / "petstore.db", size, found["key"])


def digest(files: list[Path]) -> str:
    total = hashlib.sha256()
    for file in files:
        total.update(file.read_bytes() if file.exists() else b"absent")
    return total.hexdigest()


def make(petstore: Path, folder: Path, size: int) -> str:
    print(f"Making a catalogue of {size:,} animals", end=" ", file=sys.stderr, flush=True)
    start = now()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    database = folder / "petstore.db"
    # The server's program creates the file, so it has the released schema.
    create = [petstore, "keys", "create", "--create", "--name", "bench", "--scope", "store:write"]
    create += ["--database", f"sqlite:{database}"]
    key = subprocess.run(create, check=True, text=True, capture_output=True, env=clean_environment()).stdout.strip()
    fill(database, size)
    merge(petstore, database, size)
    print(f"took {now() - start:.0f} s", file=sys.stderr)
    return key


def merge(petstore: Path, database: Path, size: int) -> None:
    """Lets the server put the animals into the tables of the search now, because it would do so in the
    background of the measurements. It leaves up to 500, and takes a minute for the last thousands."""
    serve = [petstore, "serve", "--database", f"sqlite:{database}", "--listen", "127.0.0.1:0"]
    server = subprocess.Popen(serve, env=clean_environment(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    merged = 0
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        while merged < size - 500 and server.poll() is None:
            time.sleep(0.1)
            (merged,) = connection.execute("SELECT merged FROM search_state").fetchone()
    server.terminate()
    if server.wait() != 0:
        raise CannotRun("the server did not run until the search had all animals")


def clean_environment() -> dict[str, str]:
    """The environment without settings of the server: every option has its default."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PETSTORE_")}


def fill(database: Path, size: int) -> None:
    """Adds the animals without the server, with a single sync at the end: a million
    takes seconds."""
    if sqlite3.sqlite_version_info < (3, 37):
        raise CannotRun("Python's SQLite is older than 3.37 and does not support STRICT tables")
    connection = sqlite3.connect(database, isolation_level=None)
    for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -262144", "threads = 2"):
        connection.execute(f"PRAGMA {setting}")
    # Creating an index at the end is faster than updating it with each row.
    indexes = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE tbl_name = 'pets' AND type = 'index' AND sql IS NOT NULL"
    ).fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    connection.execute("BEGIN")
    draw, known = random.Random(SEED), names()
    for start in range(0, size, ROWS_AT_ONCE):
        rows = animals(draw, known, min(ROWS_AT_ONCE, size - start))
        connection.executemany("INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)", rows)
    for _, sql in indexes:
        connection.execute(sql)
    connection.execute("COMMIT")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    with open(database, "rb") as file:
        os.fsync(file.fileno())


def animals(draw: random.Random, known: list[str], count: int):
    """One third has no name, as in a real shelter; statuses are spread evenly."""
    drawn = draw.choices(known, k=count)
    drawn[::3] = [""] * len(drawn[::3])
    return zip(drawn, draw.choices(CATEGORIES, k=count), draw.choices(STATUSES, k=count))


def described(draw: random.Random, known: list[str], pet: int) -> tuple[str, str]:
    """The values of an animal's fields and its photos, as the server stores them."""
    fields = {
        "species": draw.choice(("Dog", "Cat", "Rabbit")),
        "breed": draw.choice(known) + " mix",
        "sex": draw.choice(("Female", "Male")),
        "born": f"20{draw.randint(10, 25)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
        "colour": draw.choice(("black", "white", "brown and white", "tabby")),
        "size": draw.choice(("Small", "Medium", "Large")),
        "description": f"{draw.choice(known)} likes children, other animals and long walks. " * 5,
        "price": f"{draw.randint(20, 400)}.00",
        "microchip": f"2760981{pet:08}",
    }
    photo = {"width": 1920, "height": 1440, "addedAt": 1767225600000}
    photos = [{"id": f"{draw.getrandbits(128):032x}", **photo} for _ in range(3)]
    return json.dumps(fields), json.dumps(photos)


def names() -> list[str]:
    """Names of real animals if the test data is here, otherwise made-up ones."""
    if REAL_NAMES.exists():
        with open(REAL_NAMES, encoding="utf-8", newline="") as file:
            return [row["name"] for row in csv.DictReader(file) if row["name"]]
    first = ("Be", "Lu", "Ma", "Ro", "Ti", "Zo", "Char", "Dai", "Fran", "Gin", "Jas", "Mil")
    middle = ("", "ck", "l", "mb", "nn", "s", "xt")
    last = ("a", "er", "ie", "o", "y")
    return [a + b + c for a in first for b in middle for c in last]
