"""Measures servers in turn, round by round."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.catalogue import Catalogue
from bench.load import Load, Measurement
from bench.requests import write_rotation
from bench.servers import Launcher, Server

CONNECTIONS = 64

# How often the server and nginx are started.
SITTINGS = 3
WARM_UP = 1.0


@dataclass(frozen=True)
class Subject:
    """A server, the requests that it gets, and over how many connections."""

    name: str
    server: Server
    requests: Path
    connections: int = CONNECTIONS


@dataclass(frozen=True)
class Bench:
    """The environment of every workload."""

    launcher: Launcher
    load: Load
    catalogues: dict[int, Catalogue]
    folder: Path
    rounds: int
    seconds: float
    append_sync: Path
    no_sync: Path

    @contextmanager
    def running(self, *servers: Server):
        """Servers that respond, and stop at the end of the block."""
        with ExitStack() as stack:
            for server in servers:
                stack.enter_context(server)
            for server in servers:
                server.wait_until_it_answers()
            yield

    def rotation(self, requests: list[bytes]) -> Path:
        return write_rotation(requests, self.folder / f"requests-{time.monotonic_ns()}")

    def sittings(self) -> list[int]:
        """The rounds, dealt out to processes that are started anew: where the
        memory of one happens to lie makes it up to a tenth dearer for as long
        as it lives."""
        sittings = min(SITTINGS, self.rounds)
        share, left = divmod(self.rounds, sittings)
        return [share + (sitting < left) for sitting in range(sittings)]

    def measure(self, *subjects: Subject, rounds: int | None = None) -> list[list[Measurement]]:
        """Measures the subjects in turn, round by round, so that changes of the
        machine affect all of them. Returns one list of rounds for each."""
        for subject in subjects:
            self.load.measure(subject.server, subject.requests, subject.connections, WARM_UP)
        found: list[list[Measurement]] = [[] for _ in subjects]
        for _ in range(self.rounds if rounds is None else rounds):
            for subject, measured in zip(subjects, found):
                each = self.load.measure(subject.server, subject.requests, subject.connections, self.seconds)
                measured.append(each)
                show(subject.name, each)
        return found

    def copy(self, catalogue: Catalogue) -> Catalogue:
        return catalogue.copy(self.folder / f"copy-{time.monotonic_ns()}")


def show(name: str, found: Measurement) -> None:
    print(
        f"  {name:24} {found.cost:8.2f} µs  {found.rate:9,.0f}/s  p99 {found.p99_ms:7.2f} ms"
        f"  core {found.busy:4.0%}, others {found.foreign:4.0%}",
        file=sys.stderr,
    )
