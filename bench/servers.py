"""The measured server, and nginx for comparison."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Protocol

from bench.catalogue import clean_environment
from bench.machine import ROOT, TICKS_A_SECOND, CannotRun, now, pinned, tool

# The settings that the README recommends for production.
RECOMMENDED_OPTIONS: list[str] = []

# How nginx sends a file. For a page of a kilobyte, reading it and writing it
# behind the header at once is the cheaper way, so the harder baseline.
FILE_SENDING = {
    "read": "sendfile off;",
    "sendfile": "sendfile on; tcp_nopush on;",
}

STARTS_WITHIN = 10.0
STOPS_WITHIN = 20.0

# The server is polled this often while it starts, in seconds.
POLL = 0.0002


@dataclass
class Server:
    """A running server with its own core, which stops at the end of a `with` block."""

    process: subprocess.Popen
    port: int
    started: float
    log: Path
    # A path to check that it responds.
    request: bytes = field(repr=False)
    # How many responses to a load it has sent.
    answered: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOPS_WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def cpu_seconds(self) -> float:
        """Processor time of all its processes, user and system. The kernel
        counts threads that ended too, and scales ticks to the exact sum."""
        return sum(cpu_ticks(pid) for pid in self.pids()) / TICKS_A_SECOND

    def pids(self) -> list[int]:
        own = self.process.pid
        children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
        return [own, *map(int, children)]

    def memory_mib(self) -> float:
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise CannotRun("the kernel does not tell VmRSS")

    def logged_share(self) -> float:
        """The share of its responses that are in its log. Under load, a log that never
        delays a request may lose lines."""
        with open(self.log, "rb") as file:
            return min(1.0, sum(1 for _ in file) / self.answered)

    def wait_until_it_answers(self) -> float:
        """The seconds from the start of the program to its first 200."""
        while now() - self.started < STARTS_WITHIN and self.process.poll() is None:
            try:
                head, _ = ask(self.port, self.request)
            except OSError:
                # Not yet listening.
                time.sleep(POLL)
                continue
            answered = now()
            if head.startswith(b"HTTP/1.1 200 "):
                return answered - self.started
            raise CannotRun(f"the server responded with {head.splitlines()[0].decode()}:\n{self.log.read_text()}")
        raise CannotRun(f"the server did not start:\n{self.log.read_text()}")


def cpu_ticks(pid: int) -> int:
    # The name of the program, in parentheses, may contain spaces.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    user, system = fields[11:13]
    return int(user) + int(system)


def ask(port: int, request: bytes) -> tuple[bytes, bytes]:
    """Head and body of the response to one request, on a new connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        return exchange(connection, request)


def exchange(connection: socket.socket, request: bytes) -> tuple[bytes, bytes]:
    connection.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += receive(connection)
    head, _, body = answer.partition(b"\r\n\r\n")
    while len(body) < content_length(head):
        body += receive(connection)
    return head, body


def receive(connection: socket.socket) -> bytes:
    received = connection.recv(1 << 16)
    if not received:
        raise ConnectionError("the server closed the connection before it responded")
    return received


def content_length(head: bytes) -> int:
    for line in head.splitlines():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Kept(Protocol):
    """Where the animals are stored."""

    url: str


@dataclass(frozen=True)
class Launcher:
    """Starts servers on some cores; their logs and files go to a folder."""

    petstore_program: Path
    cores: set[int]
    folder: Path
    file_sending: str = "read"

    def petstore(
        self, kept: Kept, first: bytes, *options: str, preload: Path | None = None, listener: str = "--listen",
    ) -> Server:
        """The server on a catalogue, started with the options of production.
        `first` is a request to one of its listeners that must get 200."""
        port = free_port()
        command = [
            str(self.petstore_program), "serve",
            "--database", kept.url,
            *(["--listen", "127.0.0.1:0"] if listener != "--listen" else []),
            listener, f"127.0.0.1:{port}",
            # All load comes from one address.
            "--max-connections-per-address", "10000",
            *RECOMMENDED_OPTIONS, *options,
        ]
        environment = clean_environment()
        if preload:
            environment["LD_PRELOAD"] = str(preload)
        return self.start(command, port, first, environment)

    def nginx(self, path: str, body: bytes, first: bytes, access_log: bool = False) -> Server:
        """nginx that sends `body` from a file at `path`."""
        port = free_port()
        folder = self.folder / f"nginx-{port}"
        folder.mkdir()
        (folder / "body").write_bytes(body)
        template = Template((ROOT / "bench" / "nginx.conf").read_text())
        configuration = template.substitute(
            # Without this, nginx switches from root to a user that cannot read our directory.
            user="user root;" if os.geteuid() == 0 else "",
            access_log=f"{folder / 'access.log'} combined" if access_log else "off",
            file_sending=FILE_SENDING[self.file_sending],
            port=port,
            path=path,
            file=folder / "body",
        )
        (folder / "nginx.conf").write_text(configuration)
        command = [str(tool("nginx")), "-p", str(folder), "-e", "stderr", "-c", "nginx.conf"]
        return self.start(command, port, first, dict(os.environ))

    def start(self, command: list[str], port: int, first: bytes, environment: dict[str, str]) -> Server:
        log = self.folder / f"{port}.log"
        with open(log, "wb") as file, pinned(self.cores):
            started = now()
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        return Server(process, port, started, log, first)
