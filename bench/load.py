"""wrk, which puts load on a server, and the measurements during the load."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.machine import ROOT, core_busy_seconds, now, pinned, tool
from bench.requests import ORDERS
from bench.servers import Server


class Void(Exception):
    """An invalid measurement, with the reason."""


@dataclass(frozen=True)
class Measurement:
    """The result of one load on one server."""

    answers: float
    # Processor time of the server per request, in microseconds.
    cost: float
    # Responses per second.
    rate: float
    p99_ms: float
    # The share of its core that the server used, and that others used.
    busy: float
    foreign: float


@dataclass(frozen=True)
class Load:
    """Puts load on servers from separate cores, if the server has its own core."""

    cores: set[int]
    server_core: int | None = None
    # Loaded into wrk if wrk has its own core; see bench/awake.c.
    awake: Path | None = None

    def measure(self, server: Server, requests: Path, connections: int, seconds: float) -> Measurement:
        start, cpu, core = now(), server.cpu_seconds(), core_busy_seconds(self.server_core)
        result = self.run_wrk(server, requests, connections, seconds)
        server.answered += result["requests"]
        cpu = server.cpu_seconds() - cpu
        others = core_busy_seconds(self.server_core) - core - cpu
        return Measurement(
            answers=result["requests"],
            cost=cpu / result["requests"] * 1e6,
            rate=result["requests"] / result["seconds"],
            p99_ms=result["p99_us"] / 1e3,
            busy=cpu / result["seconds"],
            foreign=max(0.0, others / (now() - start)),
        )

    def run_wrk(self, server: Server, requests: Path, connections: int, seconds: float) -> dict:
        script = "orders.lua" if requests.suffix == ORDERS else "send.lua"
        command = [
            str(tool("wrk")), "-t", "1", "-c", str(connections), "-d", f"{max(1, round(seconds))}s",
            "-s", str(ROOT / "bench" / script), server.url, "--", str(requests),
        ]
        awake = {"LD_PRELOAD": str(self.awake)} if self.awake else {}
        with pinned(self.cores):
            wrk = subprocess.Popen(
                command, env={**os.environ, **awake}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )
        try:
            printed, _ = wrk.communicate(timeout=seconds + 60)
        finally:
            wrk.kill()
        last = printed.strip().rpartition("\n")[2]
        if wrk.returncode != 0 or not last.startswith("{"):
            raise Void(f"wrk failed:\n{printed}")
        result = json.loads(last)
        # wrk counts a redirection as a success, but these servers never redirect.
        wrong = {kind: count for kind, count in result["errors"].items() if count}
        if wrong or not result["requests"]:
            raise Void(f"{result['requests']} responses, with errors {wrong} (status: other than 2xx)")
        return result


def medians(measurements: list[Measurement]) -> Measurement:
    return Measurement(*(median(values) for values in zip(*(vars(each).values() for each in measurements))))
