"""The server with PostgreSQL, compared with pgbench and the same statements."""

from __future__ import annotations

import os
import random
import resource
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count, cycle, islice
from pathlib import Path
from statistics import median

from bench.catalogue import SEED, STATUSES
from bench.load import Load
from bench.machine import compile_preload, core_busy_seconds, now, pinned
from bench.pgbench import Cluster, create_scripts, page_scripts, pgbench, sale_scripts
from bench.requests import create_requests, get, page_target, write_orders, write_rotation
from bench.results import Spread
from bench.servers import Launcher, Server

SIZE = 1_000_000
PLACES = 100_000
CREATES = 1_000

# To PostgreSQL, of the servers together or of pgbench; and of the clients to
# the servers together.
DATABASE_CONNECTIONS = 16
CLIENTS = 64
WARM_UP = 2.0

MUST, GOAL = 0.6, 0.8
# Of pairs per second, compared with pgbench.
MUST_OF_SALES, GOAL_OF_SALES = 1.0, 2.0

# pgbench sells the animals from this one on, in each run at most so many; petstore those before it.
FIRST_OF_PGBENCH, SOLD_IN_A_RUN = 700_001, 14_000


@dataclass(frozen=True)
class Found:
    """The result of one load."""

    # Responses per second.
    rate: float
    # Processor time per response in microseconds: of the servers or of pgbench,
    # which is all of its core if it never sleeps, and of PostgreSQL.
    own: float
    database: float
    # The time within which 99 of 100 requests got their response.
    p99_ms: float = 0.0


@dataclass(frozen=True)
class Cores:
    """The cores of PostgreSQL, and those of everything else."""

    title: str
    database: set[int]
    clients: set[int]

    @property
    def are_apart(self) -> bool:
        return not self.database & self.clients


@dataclass(frozen=True)
class Sales:
    """Orders that are placed and completed, compared with pgbench, and with creates by the same server."""

    cores: Cores
    creates: Found
    pgbench: Found
    pairs: Found
    # To pgbench, and to creates.
    ratio: Spread
    ratio_to_creates: Spread


@dataclass(frozen=True)
class Row:
    workload: str
    cores: Cores
    pgbench: Found
    one: Found
    two: Found
    ratio: Spread
    ratio_of_two: Spread


def measure(
    cluster: Cluster, petstore: Path, folder: Path, rounds: int, seconds: float,
) -> tuple[list[Row], list[Sales]]:
    """All measurements, in an empty PostgreSQL."""
    key = cluster.fill(petstore, SIZE)
    bench = Bench(cluster, petstore, key, compile_preload("awake.c", folder), folder, rounds, seconds)
    return bench.rows(), bench.sales()


@dataclass(frozen=True)
class Bench:
    cluster: Cluster
    petstore: Path
    key: str
    awake: Path
    folder: Path
    rounds: int
    seconds: float

    def cores(self) -> tuple[Cores, Cores]:
        first, second = sorted(os.sched_getaffinity(0))[:2]
        return Cores("apart", {first}, {second}), Cores("shared", {first, second}, {first, second})

    def sales(self) -> list[Sales]:
        sell = f"UPDATE pets SET status = 'available' WHERE id >= {FIRST_OF_PGBENCH} AND status <> 'available'"
        self.cluster.run(sell)
        available = self.cluster.run(
            f"SELECT id FROM pets WHERE status = 'available' AND id < {FIRST_OF_PGBENCH} ORDER BY id"
        ).split()
        requests = {
            "creates": write_rotation(create_requests(CREATES, self.key), self.folder / "creates"),
            "pairs": write_orders(self.key, available, self.folder / "sales"),
        }
        unsold = count(FIRST_OF_PGBENCH, SOLD_IN_A_RUN)
        return [self.sales_on(cores, requests, unsold) for cores in self.cores()]

    def sales_on(self, cores: Cores, requests: dict[str, Path], unsold: Iterator[int]) -> Sales:
        self.cluster.settle()
        self.cluster.move_to(cores.database)
        scripts = sale_scripts(self.folder)
        with pinned(cores.clients), ExitStack() as stack:
            load = Load(cores.clients)
            servers = self.servers(Launcher(self.petstore, cores.clients, self.folder), stack, 1)
            subjects = {
                name: lambda seconds, sent=sent: self.by_servers(load, servers, sent, seconds)
                for name, sent in requests.items()
            }
            subjects["pgbench"] = lambda seconds: self.by_pgbench(scripts, cores, seconds, next(unsold))
            creates, pairs, theirs = self.measure(f"Place and complete an order, cores: {cores.title}", subjects)
        return Sales(
            cores, medians(creates), medians(theirs), medians(pairs),
            Spread.of_ratios([each.rate for each in pairs], [each.rate for each in theirs]),
            Spread.of_ratios([each.rate for each in pairs], [each.rate for each in creates]),
        )

    def rows(self) -> list[Row]:
        apart, shared = self.cores()
        return [
            self.row(title, cores, requests, scripts)
            for title, requests, scripts in (
                ("Random pages of 20", self.pages(), page_scripts(self.folder, SIZE)),
                ("Create", create_requests(CREATES, self.key), create_scripts(self.folder)),
            )
            for cores in (apart, shared)
        ]

    def pages(self) -> list[bytes]:
        draw = random.Random(SEED)
        statuses = islice(cycle([None, *STATUSES]), PLACES)
        return [get(page_target(status, draw.randint(1, SIZE)), self.key) for status in statuses]

    def row(self, title: str, cores: Cores, requests: list[bytes], scripts: list[Path]) -> Row:
        sent = write_rotation(requests, self.folder / "requests")
        self.cluster.settle()
        self.cluster.move_to(cores.database)
        with pinned(cores.clients), ExitStack() as stack:
            launcher = Launcher(self.petstore, cores.clients, self.folder)
            load = Load(cores.clients)
            alone = self.servers(launcher, stack, 1)
            both = self.servers(launcher, stack, 2)
            subjects = {
                "pgbench": lambda seconds: self.by_pgbench(scripts, cores, seconds),
                "petstore": lambda seconds: self.by_servers(load, alone, sent, seconds),
                "two petstores": lambda seconds: self.by_servers(load, both, sent, seconds),
            }
            theirs, one, two = self.measure(f"{title}, cores: {cores.title}", subjects)
        return Row(
            title, cores, medians(theirs), medians(one), medians(two),
            Spread.of_ratios([each.rate for each in one], [each.rate for each in theirs]),
            Spread.of_ratios([each.rate for each in two], [each.rate for each in one]),
        )

    def servers(self, launcher: Launcher, stack: ExitStack, number: int) -> list[Server]:
        """This many processes, which share the connections."""
        first = get("/v1/pets", self.key)
        options = ["--database-connections", str(DATABASE_CONNECTIONS // number)]
        servers = [launcher.petstore(self.cluster, first, *options) for _ in range(number)]
        for server in servers:
            stack.enter_context(server)
            server.wait_until_it_answers()
        return servers

    def measure(self, title: str, subjects: dict[str, Callable[[float], Found]]) -> list[list[Found]]:
        """Measures in turn, round by round, so that changes of the machine affect all
        subjects. Returns one list of rounds for each."""
        print(title, file=sys.stderr)
        for load in subjects.values():
            load(WARM_UP)
        rounds: list[list[Found]] = [[] for _ in subjects]
        for _ in range(self.rounds):
            for (name, load), measured in zip(subjects.items(), rounds):
                measured.append(load(self.seconds))
                show(name, measured[-1])
        return rounds

    def by_pgbench(self, scripts: list[Path], cores: Cores, seconds: float, first: int = 0) -> Found:
        start, busy, used = now(), core_busy_seconds(), children_seconds()
        # A unique series of tokens.
        variables = {"series": 1_000_000 + int(start), "first": first}
        awake = self.awake if cores.are_apart else None
        rate = pgbench(self.cluster.url, scripts, DATABASE_CONNECTIONS, seconds, variables, awake)
        own = children_seconds() - used
        return found(rate, rate * seconds, own, core_busy_seconds() - busy - own)

    def by_servers(self, load: Load, servers: list[Server], requests: Path, seconds: float) -> Found:
        busy, used = core_busy_seconds(), children_seconds()
        own = sum(server.cpu_seconds() for server in servers)
        share = CLIENTS // len(servers)
        with ThreadPoolExecutor() as threads:
            running = [threads.submit(load.run_wrk, server, requests, share, seconds) for server in servers]
        results = [each.result() for each in running]
        own = sum(server.cpu_seconds() for server in servers) - own
        wrk = children_seconds() - used
        answers = sum(result["requests"] for result in results)
        rate = sum(result["requests"] / result["seconds"] for result in results)
        p99 = max(result["p99_us"] for result in results) / 1e3
        return found(rate, answers, own, core_busy_seconds() - busy - own - wrk, p99)


def found(rate: float, answers: float, own: float, database: float, p99_ms: float = 0.0) -> Found:
    return Found(rate, own / answers * 1e6, database / answers * 1e6, p99_ms)


def children_seconds() -> float:
    """Processor time of our child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def medians(rounds: list[Found]) -> Found:
    return Found(*(median(values) for values in zip(*(vars(each).values() for each in rounds))))


def show(name: str, each: Found) -> None:
    print(
        f"  {name:14} {each.rate:9,.0f}/s  own {each.own:6.1f} µs  PostgreSQL {each.database:6.1f} µs",
        file=sys.stderr,
    )
