"""Rounds of faults; called by `scripts/torture postgres` in separate namespaces."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.failover.clients import PATIENCE, Clients, Service
from tests.failover.cluster import DEPLOY, TTL, Broken, Cluster, Node, until
from tests.failover.staff import Staff, Unexpected
from tests.mirror.__main__ import Client as Reader, Mirror, Wrong, compare

# The promise: after a fault, writes succeed again within this many seconds.
BACK_WITHIN = TTL + 10
# How long a node is frozen or cut off.
AWAY_FOR = 30.0
WRITERS = 18
STAFF = 6

# One process knows all nodes, the other only its local HAProxy.
HOSTS = "postgres://petstore:petstore@10.0.0.11,10.0.0.12,10.0.0.13/petstore"
HAPROXY = "postgres://petstore:petstore@127.0.0.1:5432/petstore"


def is_patroni(words: str) -> bool:
    return "/usr/bin/patroni" in words


def is_postmaster(words: str) -> bool:
    return "/bin/postgres -D" in words


def sends_wal(words: str) -> bool:
    return words.startswith("postgres:") and "walsender" in words


def serves_petstore(words: str) -> bool:
    return words.startswith("postgres:") and "petstore petstore" in words


def kill(node: Node, draw: random.Random) -> str:
    """Power off: all processes of the node are killed. Shortly before, nothing
    reaches the standbys, or no response reaches petstore."""
    held = draw.choice([None, sends_wal, serves_petstore])
    if held:
        node.signal(signal.SIGSTOP, held)
        time.sleep(draw.uniform(0.05, 0.5))
    node.kill()
    return f"killed, {held.__name__ if held else 'nothing'} held up before"


def stop(node: Node, _: random.Random) -> str:
    """A paused virtual machine."""
    node.freeze()
    return "frozen"


def cut(node: Node, _: random.Random) -> str:
    node.cut_off()
    return "cut off"


def orphan(node: Node, _: random.Random) -> str:
    """Only Patroni is killed: its PostgreSQL continues as a primary."""
    node.kill(is_patroni)
    return "Patroni killed"


def crash(node: Node, _: random.Random) -> str:
    """Only PostgreSQL is killed."""
    node.signal(signal.SIGKILL, is_postmaster)
    return "postmaster killed"


def heal(kind: str, node: Node) -> None:
    if kind == "kill":
        node.start()
    elif kind == "stop":
        node.thaw()
    elif kind == "cut":
        node.connect()
    elif kind == "orphan":
        node.start_patroni()


FAULTS = {"kill": kill, "stop": stop, "cut": cut, "orphan": orphan, "crash": crash}


@dataclass
class Tally:
    """The results for one kind of fault; times in seconds."""

    rounds: int = 0
    outages: list[float] = field(default_factory=list)
    acknowledged: int = 0
    longest: float = 0.0
    stale: dict[str, int] = field(default_factory=dict)


def outage(times: list[tuple[float, float]], began: float, now: float) -> float:
    """The longest time without an acknowledgement, from the fault until now."""
    responded = sorted(responded for _, responded in times if responded > began)
    return max(later - earlier for earlier, later in zip([began, *responded], [*responded, now]))


class Harness:
    """A cluster, two services on it, and their clients."""

    def __init__(self, options: argparse.Namespace, folder: Path):
        self.options, self.folder = options, folder
        self.draw = random.Random(options.seed)
        self.cluster = Cluster(folder)
        self.services = [Service("hosts", 8081), Service("haproxy", 8082)]
        self.processes: list[subprocess.Popen] = []
        self.clients: Clients | None = None
        self.staff: Staff | None = None
        # One for each service, through all rounds.
        self.mirrors: list[Mirror] = []
        # How many animals of the staff were compared in the rounds so far.
        self.compared = 0
        self.tallies = {kind: Tally() for kind in options.kinds}

    def petstore(self, *arguments: str, database: str) -> list[str]:
        return [self.options.petstore, *arguments, "--database", database]

    def start(self) -> None:
        changed = {}
        if self.options.asynchronous:
            changed = {"synchronous_mode": False, "synchronous_mode_strict": False}
        self.cluster.start(**changed)
        # At first, HAProxy assumes that all nodes are primaries.
        make = self.petstore("keys", "create", "--create", "--name", "failover", "--scope", "store:write", database=HAPROXY)
        key = until("a key is made", 20, lambda: subprocess.run(make, capture_output=True, text=True).stdout.strip())
        for service, database in zip(self.services, (HOSTS, HAPROXY)):
            listen = f"127.0.0.1:{service.port}"
            with open(self.folder / f"petstore-{service.name}.log", "ab") as log:
                command = self.petstore("serve", "--listen", listen, "--console-listen", "off", "--window-listen", "off", database=database)
                self.processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        for service in self.services:
            until(f"{service.name} listens", 20, lambda: responds(service.port))
        self.clients = Clients(self.services, key, self.options.seed, self.options.keyless)
        self.staff = Staff(self.clients)
        for service in self.services:
            mirror = Mirror(f"http://127.0.0.1:{service.port}/v1", key, self.folder / f"{service.name}.db")
            self.mirrors.append(mirror)
            mirror.start()
        self.clients.start(WRITERS)
        for number in range(STAFF):
            self.clients.spawn(self.staff.work, f"s{number}", self.services[number % len(self.services)])

    def round(self, kind: str) -> None:
        """Breaks the primary, waits for the recovery, and checks the responses
        that clients got."""
        book, tally = self.clients.book, self.tallies[kind]
        self.cluster.wait_until_healthy(not self.options.asynchronous)
        page, after = self.clients.start_page, self.clients.start_after
        acknowledged = len(book.acknowledged)
        with book.lock:
            book.longest, book.stale = 0.0, {}
            book.times.clear()
        time.sleep(self.draw.uniform(2, 4))
        primary = until("there is a primary", 10, self.cluster.leader)
        began = time.monotonic()
        what = FAULTS[kind](primary, self.draw)
        former = None if kind == "crash" else primary
        until("another is the primary", 90, lambda: self.cluster.leader(former))
        promoted = time.monotonic()
        # In every other round at the worst moment: commits still wait at the
        # former primary.
        at_once = kind == "orphan" and tally.rounds % 2 == 0
        if at_once:
            what += " and started at the promotion"
            heal(kind, primary)
        self.wait_for_writes(promoted)
        if kind in ("stop", "cut"):
            time.sleep(max(0.0, AWAY_FOR - (time.monotonic() - began)))
        if not at_once:
            heal(kind, primary)
        self.cluster.wait_until_healthy(not self.options.asynchronous)
        time.sleep(1)
        now = time.monotonic()
        with book.lock:
            outages = {s.name: outage(book.times.get(s.name, []), began, now) for s in self.services}
            longest, stale = book.longest, dict(book.stale)
        compared = []
        for service in self.services:
            last_page = self.clients.check(service, page, after)
            compared.append(self.staff.check(service, self.compared))
        self.compared = min(compared)
        with book.lock:
            self.clients.start_page, self.clients.start_after = last_page
        tally.rounds += 1
        tally.outages += outages.values()
        tally.acknowledged += len(book.acknowledged) - acknowledged
        tally.longest = max(tally.longest, longest)
        for name, count in stale.items():
            tally.stale[name] = tally.stale.get(name, 0) + count
        shown = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in outages.items())
        print(f"  {kind} {tally.rounds}: {primary.name} {what}; no writes: {shown}; longest response {longest:.1f} s; "
              f"whole again after {now - began:.0f} s; {len(book.acknowledged) - acknowledged} acknowledged; "
              f"behind {stale or 0}; faults {len(book.faults)}", flush=True)
        if "haproxy" in stale:
            book.fault(f"{kind} {tally.rounds}: what was read by way of HAProxy was out of date")
        for name, seconds in outages.items():
            if seconds > BACK_WITHIN:
                book.fault(f"{kind} {tally.rounds}: writes of {name} were back after {seconds:.1f} s")

    def wait_for_writes(self, since: float) -> None:
        """Waits until both services acknowledge requests sent after `since`."""
        for service in self.services:
            def written() -> bool:
                with self.clients.book.lock:
                    return any(asked > since for asked, _ in self.clients.book.times.get(service.name, []))
            until(f"{service.name} takes writes", 90, written)

    def finish(self) -> bool:
        """Whether every promise was kept; prints those that were not."""
        self.clients.stop()
        book = self.clients.book
        for service in self.services:
            self.clients.check(service, "/v1/pets?limit=100", 0)
            self.staff.check(service, 0)
        applied = sum(self.check_mirror(service, mirror) for service, mirror in zip(self.services, self.mirrors))
        for process, service in zip(self.processes, self.services):
            if process.poll() is not None:
                book.fault(f"{service.name} ended")
            process.terminate()
            process.wait(20)
        print(f"responses: {dict(sorted(book.responses.items()))}")
        for fault in book.faults[:30]:
            print(f"FAULT: {fault}")
        for kind, tally in self.tallies.items():
            if tally.rounds:
                print(f"{kind}: {tally.rounds} rounds, seed {self.options.seed}, {tally.acknowledged} animals "
                      f"acknowledged, longest without writes {max(tally.outages):.1f} s of {BACK_WITHIN:.0f}, "
                      f"median {sorted(tally.outages)[len(tally.outages) // 2]:.1f}; longest response "
                      f"{tally.longest:.1f} s of {PATIENCE:.0f}; behind: {tally.stale or 'never'}")
        print(f"{len(book.faults)} faults in total; {len(book.acknowledged)} animals acknowledged; {self.staff.commands} "
              f"requests of the staff acknowledged, and {len(self.staff.finished)} of their animals compared")
        print(f"mirrors: {applied} changes applied, none twice or out of order, and both copies are equal"
              if not book.faults else f"mirrors: {applied} changes applied")
        return not book.faults

    def check_mirror(self, service: Service, mirror: Mirror) -> int:
        """Waits until a mirror is equal to the catalogue, and ends it. Returns how many changes it applied."""
        try:
            compare(Reader(service.port, self.clients.key), mirror)
        except Wrong as wrong:
            self.clients.book.fault(f"the mirror of {service.name}: {wrong}")
        mirror.end(signal.SIGKILL)
        return mirror.applied


def responds(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


def kinds(text: str) -> list[str]:
    chosen = text.split(",")
    if not set(chosen) <= set(FAULTS):
        raise ValueError
    return chosen


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/torture postgres")
    add = parser.add_argument
    add("--petstore", required=True, help=argparse.SUPPRESS)
    add("--count", type=int, default=20, help="rounds of each kind")
    add("--seed", type=int, default=random.SystemRandom().getrandbits(30))
    add("--kinds", type=kinds, default=["kill", "stop", "cut"], help=f"some of {','.join(FAULTS)}")
    add("--asynchronous", action="store_true", help="no commit waits for a standby; the run must detect this")
    add("--keyless", action="store_true", help="clients retry creates without a key; the run must detect this")
    return parser.parse_args()


def main() -> int:
    options = read_options()
    print(f"seed {options.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="petstore-failover."))
    os.chmod(folder, 0o755)
    harness = Harness(options, folder)
    try:
        harness.start()
        for kind in options.kinds * options.count:
            harness.round(kind)
            if harness.clients.book.faults:
                break
        held = harness.finish()
    except (Broken, Unexpected) as error:
        print(f"FAULT: {error}\n{harness.cluster.describe()}\nlogs: {folder}")
        for fault in harness.clients.book.faults[:30] if harness.clients else []:
            print(f"FAULT: {fault}")
        return 1
    # The logs of a failed run are kept.
    if held:
        harness.cluster.stop()
        shutil.rmtree(folder)
    return 0 if held else 1


sys.exit(main())
