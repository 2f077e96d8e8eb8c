"""A PostgreSQL for the benchmarks, and pgbench, which puts load on it with the
server's statements."""

from __future__ import annotations

import csv
import io
import os
import random
import re
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.catalogue import SEED, STATUSES, animals, clean_environment, names
from bench.load import Void
from bench.machine import ROOT, CannotRun, tool

SCRIPT = ROOT / "scripts" / "throwaway-postgres"
SOURCES = ROOT / "src" / "store" / "postgres"


@dataclass(frozen=True)
class Cluster:
    """A running PostgreSQL."""

    url: str

    def run(self, sql: str, data: str | None = None) -> str:
        """The output of a statement; `data` is the input of a COPY."""
        options = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]
        command = [tool("psql"), *options, self.url, "--command", sql]
        done = subprocess.run(command, check=True, text=True, input=data or "", capture_output=True)
        return done.stdout.strip()

    def fill(self, petstore: Path, size: int) -> str:
        """Creates the tables, a key and the animals; returns the key."""
        create = [petstore, "keys", "create", "--create", "--name", "bench", "--scope", "store:write"]
        made = self.call([*create, "--database", self.url])
        rows = io.StringIO()
        csv.writer(rows).writerow(("name", "categoryId", "status"))
        csv.writer(rows).writerows(animals(random.Random(SEED), names(), size))
        # Also the words of the names, which the server would add in the background of the measurements.
        self.call([petstore, "import", "--format", "csv", "--database", self.url, "-"], rows.getvalue())
        self.run("VACUUM ANALYZE pets")
        self.run("CHECKPOINT")
        return made

    @staticmethod
    def call(command: list, data: str = "") -> str:
        """The output of a command; `data` is its input."""
        environment = clean_environment()
        done = subprocess.run(command, check=True, text=True, input=data, capture_output=True, env=environment)
        return done.stdout.strip()

    def settle(self) -> None:
        """Cleans up after earlier writes now, rather than during the next measurement."""
        self.run("VACUUM pets")
        self.run("CHECKPOINT")

    def move_to(self, cores: set[int]) -> None:
        """Runs it and its later connections only on these cores."""
        postmaster = int(Path(self.run("SHOW data_directory"), "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        for process in [postmaster, *map(int, children)]:
            try:
                os.sched_setaffinity(process, cores)
            except ProcessLookupError:
                # It ended meanwhile: that of `SHOW`, for one.
                pass


@contextmanager
def cluster():
    """A PostgreSQL that is gone at the end of the block. It does not wait for
    the disk."""
    script = subprocess.Popen([SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        url = script.stdout.readline().strip()
        if not url:
            raise CannotRun("PostgreSQL does not start")
        yield Cluster(url)
    finally:
        # It stops and removes the cluster at the end of its input.
        script.stdin.close()
        script.wait()


def statement(file: str, name: str, *values: str) -> str:
    """A statement of the server's, as it stands in this source file, on one line,
    with `values` for its parameters."""
    found = re.search(rf'^const {name}: &str = "((?:[^"\\]|\\")*)";', (SOURCES / file).read_text(), re.MULTILINE)
    if not found:
        raise CannotRun(f"{file} has no statement {name}")
    sql = " ".join(found[1].replace('\\"', '"').split())
    return re.sub(r"\$(\d+)", lambda number: values[int(number[1]) - 1], sql) + ";\n"


def page_scripts(folder: Path, size: int) -> list[Path]:
    """Pages of 20 and the row that tells whether more follow, from random
    places: a quarter of all animals, a quarter of each status."""
    place = f"\\set after random(1, {size})\n"
    rows = {"of_all": statement("pets.rs", "LIST", ":after", ":rows")}
    rows |= {each: statement("pets.rs", "LIST_BY_STATUS", ":after", ":rows", f":{each}") for each in STATUSES}
    return [write(folder / f"{name}.sql", place + sql) for name, sql in rows.items()]


def create_scripts(folder: Path) -> list[Path]:
    # Far above the tokens of any server.
    token = "\\set token :series * 4294967296 + :client_id * 16777216 + :count\n\\set count :count + 1\n"
    # As the server has it of a key: name key, time, actor, the animal as the log shows it, and words.
    values = [":token", ":name", "NULL::text", ":category", ":available", "1767225600000"]
    values += ["'key'", "1", "'bench'", "NULL::text", ":shown", "''"]
    insert = statement("creates.rs", "INSERT_ONE", *values)
    return [write(folder / "create.sql", token + insert)]


# The rows of a sale, with one statement for each of its two commands. The store's statements are for
# many commands, so these are written for pgbench.
ANIMAL = """json_build_object('id', id, 'name', name, 'categoryId', category_id, 'status', status,
    'version', version, 'createdAt', '2026-01-01T00:00:00Z', 'updatedAt', '2026-01-01T00:00:00Z',
    'orderId', NULL, 'withdrawn', NULL)::text"""
ORDER = """json_build_object('id', id, 'petId', pet_id, 'status', status, 'version', version,
    'reference', NULL, 'note', NULL, 'reason', NULL, 'createdAt', '2026-01-01T00:00:00Z',
    'expiresAt', '2026-01-01T00:00:00Z', 'closedAt', NULL)::text"""
LOG = f"""
    INSERT INTO changes (at, type, subject_id, version, pet_id, actor, actor_id, actor_name, before, after)
    SELECT 1767225600000, :kind, id, version, pet_id, 'key', 1, 'bench', :before, {ORDER} FROM written
    UNION ALL
    SELECT 1767225600000, 'pet.changed', id, version, id, 'key', 1, 'bench', {ANIMAL}, {ANIMAL} FROM animal"""
SALE = f"""\\set pet :first + :count * :connections + :client_id
\\set count :count + 1
WITH animal AS (
    UPDATE pets SET status = 'pending', version = version + 1, updated_at = 1767225600000
    WHERE id = :pet AND status = 'available' RETURNING *
), written AS (
    INSERT INTO orders (id, pet_id, status, holds, expires_at, created_at, version)
    SELECT nextval('orders_ids'), id, 'reserved', TRUE, 1767830400000, 1767225600000, 1 FROM animal
    RETURNING *
), remembered AS (
    INSERT INTO requests
        (caller, key, operation, fingerprint, status, location, etag, body, created_at, mark)
    SELECT 1, 'pgbench-' || pet_id, 'placeOrder', decode(repeat('00', 32), 'hex'), 201,
        '/store/orders/' || id, '"1"', convert_to({ORDER}, 'UTF8'), 1767225600,
        (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    FROM written
), logged AS ({LOG.replace(":kind", "'order.placed'").replace(":before", "NULL")})
SELECT id AS placed FROM written \\gset
WITH written AS (
    UPDATE orders SET status = 'completed', closed_at = 1767225600000, version = version + 1
    WHERE id = :placed AND version = 1 RETURNING *
), animal AS (
    UPDATE pets SET status = 'sold', version = pets.version + 1, updated_at = 1767225600000
    FROM written WHERE pets.id = written.pet_id RETURNING pets.*
), logged AS ({LOG.replace(":kind", "'order.completed'").replace(":before", ORDER)})
SELECT count(*) FROM written;
"""


def sale_scripts(folder: Path) -> list[Path]:
    """Sells the animals from `first` on."""
    return [write(folder / "sale.sql", SALE)]


def write(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


# Variables of every script.
VALUES = {"rows": "21", "name": "Frank", "category": "1", "count": "0", **{each: each for each in STATUSES}}
# Not a literal, because pgbench would see variables in its times.
VALUES["shown"] = (
    ',"name":"Frank","categoryId":1,"status":"available","version":1,"createdAt":"2026-01-01T00:00:00Z",'
    '"updatedAt":"2026-01-01T00:00:00Z","orderId":null,"withdrawn":null}'
)


def pgbench(
    url: str, scripts: list[Path], connections: int, seconds: float, own: dict[str, int], awake: Path | None,
) -> float:
    """Runs the scripts, drawn at random, and returns how many a second. `own` are
    variables of this run. With `awake` it never sleeps; see bench/awake.c."""
    values = [f"--define={name}={value}" for name, value in {**VALUES, **own, "connections": connections}.items()]
    command = [
        tool("pgbench"), "--no-vacuum", "--protocol=prepared", "--jobs=1",
        f"--client={connections}", f"--time={max(1, round(seconds))}",
        *values, *(f"--file={script}" for script in scripts), url,
    ]
    preload = {"LD_PRELOAD": str(awake)} if awake else {}
    done = subprocess.run(command, text=True, capture_output=True, env={**os.environ, **preload})
    rate = re.search(r"^tps = ([\d.]+)", done.stdout, re.MULTILINE)
    if done.returncode != 0 or not rate:
        raise Void(f"pgbench failed:\n{done.stdout}\n{done.stderr}")
    return float(rate[1])
