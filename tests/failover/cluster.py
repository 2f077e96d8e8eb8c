"""Three nodes, each with etcd, Patroni and PostgreSQL in its own network
namespace, configured as in deploy/patroni; and the faults.

Must be the only program in its network, mount and process namespaces."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "deploy" / "patroni"
BRIDGE = "petstore"

# As in the files in deploy/patroni.
FIRST_NODE = ("n1", "10.0.0.11")
TTL = 20.0


class Broken(Exception):
    """A broken promise, or an unusable cluster."""


def settings(file: str) -> dict[str, str]:
    """The variables in a file of deploy/patroni."""
    lines = (DEPLOY / file).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def run(*command: str, **more) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, **more)
    if done.returncode:
        raise Broken(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def until(what: str, seconds: float, holds):
    """Waits for `holds()` to be true, and returns its result."""
    deadline = time.monotonic() + seconds
    while not (said := holds()):
        if time.monotonic() > deadline:
            raise Broken(f"after {seconds:.0f} s, still not: {what}")
        time.sleep(0.1)
    return said


class Node:
    """A machine: the processes in its namespace."""

    def __init__(self, number: int, folder: Path, programs: Path):
        self.name, self.address = f"n{number}", f"10.0.0.{10 + number}"
        self.folder = folder / self.name
        self.folder.mkdir()
        # All nodes share one disk; each has its own /run/postgresql.
        self.sockets = self.folder / "sockets"
        self.sockets.mkdir()
        for path in (self.folder, self.sockets):
            shutil.chown(path, "postgres", "postgres")
        self.port = f"to-{self.name}"
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self.port, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        run("ip", "link", "set", self.port, "master", BRIDGE, "up")
        run("ip", "-n", self.name, "address", "add", f"{self.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            run("ip", "-n", self.name, "link", "set", device, "up")
        self.namespace = os.stat(f"/run/netns/{self.name}").st_ino
        self.etcd = self.mine("etcd.env") | {"ETCD_DATA_DIR": str(self.folder / "etcd")}
        self.patroni = self.mine("node.env") | {
            "PATRONI_POSTGRESQL_DATA_DIR": str(self.folder / "data"),
            "PATRONI_POSTGRESQL_PGPASS": str(self.folder / "pgpass"),
            "PATRONI_POSTGRESQL_BIN_DIR": str(programs),
        }

    def mine(self, file: str) -> dict[str, str]:
        """The settings of the first node, with this one's name and address."""
        name, address = FIRST_NODE
        mine = {}
        for key, value in settings(file).items():
            if key not in ("ETCD_INITIAL_CLUSTER", "PATRONI_ETCD_HOSTS"):
                value = self.name if value == name else value.replace(address, self.address)
            mine[key] = value
        return mine

    def start(self) -> None:
        self.spawn("etcd", self.etcd, "/usr/bin/etcd")
        self.start_patroni()

    def start_patroni(self) -> None:
        """Does what its unit does."""
        before = settings("patroni-service.conf")["ExecStartPre"]
        patroni = f"exec /usr/bin/patroni {DEPLOY / 'patroni.yml'}"
        self.spawn("patroni", self.patroni, "sh", "-c", f"{before} && {patroni}")

    def inside(self, *command: str) -> list[str]:
        """The command that runs `command` in the node as PostgreSQL's user."""
        become = "setpriv --reuid=postgres --regid=postgres --clear-groups"
        script = f'mount --bind "$0" /run/postgresql && exec {become} "$@"'
        return ["ip", "netns", "exec", self.name, "sh", "-c", script, str(self.sockets), *command]

    def spawn(self, name: str, variables: dict[str, str], *command: str) -> None:
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(self.folder)}
        with open(self.folder / f"{name}.log", "ab") as log:
            subprocess.Popen(self.inside(*command), cwd=self.folder, env=environment | variables,
                             stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def processes(self) -> dict[int, str]:
        """Every process in the namespace, with its command line."""
        found = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                if os.stat(folder / "ns" / "net").st_ino == self.namespace:
                    words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found[int(folder.name)] = words.strip()
            except OSError:
                continue  # It has ended.
        return found

    def signal(self, which: signal.Signals, only=lambda words: True) -> None:
        for pid, words in self.processes().items():
            if only(words):
                try:
                    os.kill(pid, which)
                except ProcessLookupError:
                    pass

    def kill(self, only=lambda words: True) -> None:
        """Sends SIGKILL until no process is left."""

        def gone() -> bool:
            self.signal(signal.SIGKILL, only)
            return not any(only(words) for words in self.processes().values())

        until(f"the processes of {self.name} ended", 10, gone)

    def freeze(self) -> None:
        # Twice, because a process may have started another one in the meantime.
        for _ in range(2):
            self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.signal(signal.SIGCONT)

    def cut_off(self) -> None:
        """Drops all packets, while the node's link stays up."""
        run("ip", "link", "set", self.port, "nomaster")

    def connect(self) -> None:
        run("ip", "link", "set", self.port, "master", BRIDGE)

    def ask(self, path: str, change: dict | None = None) -> dict | None:
        """The status from this node's Patroni; `None` without a response."""
        request = urllib.request.Request(f"http://{self.address}:8008{path}")
        if change is not None:
            request.data, request.method = json.dumps(change).encode(), "PATCH"
        try:
            with urllib.request.urlopen(request, timeout=2) as response:
                return json.load(response)
        except (OSError, ValueError):
            return None


class Cluster:
    """The nodes, and HAProxy before them."""

    def __init__(self, folder: Path):
        for path in ("/run/netns", "/run/postgresql"):
            os.makedirs(path, exist_ok=True)
        run("mount", "-t", "tmpfs", "none", "/run/netns")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "address", "add", "10.0.0.1/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not versions:
            raise Broken("PostgreSQL is missing in /usr/lib/postgresql")
        self.nodes = [Node(number, folder, versions[-1].parent) for number in (1, 2, 3)]
        self.folder = folder

    def start(self, **changed: bool) -> None:
        """Starts everything. `changed` overrides settings of Patroni in the files."""
        for node in self.nodes:
            node.start()
        until("there is a primary", 120, self.leader)
        if changed:
            until("the settings are changed", 20, lambda: self.leader().ask("/config", changed))
        self.wait_until_healthy(synchronous=changed.get("synchronous_mode", True))
        self.sql("CREATE ROLE petstore LOGIN PASSWORD 'petstore'")
        self.sql("CREATE DATABASE petstore OWNER petstore ENCODING 'UTF8'")
        with open(self.folder / "haproxy.log", "ab") as log:
            subprocess.Popen(["/usr/sbin/haproxy", "-f", str(DEPLOY / "haproxy.cfg")],
                             stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def stop(self) -> None:
        for node in self.nodes:
            node.kill()

    def sql(self, command: str) -> None:
        """Runs a statement on the primary, as superuser."""
        node = until("there is a primary", 20, self.leader)
        run(*node.inside("psql", "-X", "-c", command, "postgres"), cwd=node.folder)

    def members(self, former: Node | None = None) -> dict[str, dict]:
        """The status of all nodes from the first responding node other than `former`."""
        for node in self.nodes:
            if node is not former and (said := node.ask("/cluster")):
                return {member["name"]: member for member in said.get("members", [])}
        return {}

    def leader(self, former: Node | None = None) -> Node | None:
        """The primary according to the nodes other than `former`, unless it is
        `former`."""
        members = self.members(former)
        for node in self.nodes:
            member = members.get(node.name, {})
            if node is not former and member.get("role") == "leader" and member.get("state") == "running":
                return node
        return None

    def is_healthy(self, synchronous: bool = True) -> bool:
        """Whether all nodes report that all nodes are healthy. A node that was away
        may report an old state for a while."""
        wanted = ["leader", "replica", "sync_standby" if synchronous else "replica"]
        views = [node.ask("/cluster") or {} for node in self.nodes]
        for view in views:
            members = view.get("members", [])
            running = all(member["state"] in ("running", "streaming") for member in members)
            lags = [member.get("lag", 0) for member in members]
            if not (sorted(member["role"] for member in members) == wanted and running
                    and len({member.get("timeline") for member in members}) == 1
                    and all(isinstance(lag, int) and lag < 1 << 20 for lag in lags)):
                return False
        return len({(m["name"], m["timeline"]) for v in views for m in v["members"] if m["role"] == "leader"}) == 1

    def wait_until_healthy(self, synchronous: bool = True) -> None:
        until("the cluster is whole", 180, lambda: self.is_healthy(synchronous))

    def describe(self) -> str:
        return json.dumps(self.members(), indent=1)
