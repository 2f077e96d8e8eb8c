"""The machine: its tools, its two cores, its description and its load."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from glob import glob
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The required programs, and their Debian packages.
PACKAGES = {"wrk": "wrk", "nginx": "nginx", "cc": "gcc"}
PACKAGES_FOR_POSTGRES = {"wrk": "wrk", "pgbench": "postgresql", "psql": "postgresql", "openssl": "openssl"}

# Enough files for both ends of 4,096 connections.
OPEN_FILES = 16384

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


class CannotRun(Exception):
    """The benchmark cannot run here, with the reason."""


def tool(name: str) -> str | None:
    """The path of a program, also where only root usually looks, and where
    Debian keeps those of PostgreSQL."""
    folders = [os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", *glob("/usr/lib/postgresql/*/bin")]
    return shutil.which(name, path=":".join(folders))


def install_missing_tools(packages: dict[str, str]) -> None:
    missing = sorted({packages[name] for name in packages if not tool(name)})
    if not missing:
        return
    wanted = " ".join(missing)
    root = as_root()
    if root is None or not shutil.which("apt-get"):
        raise CannotRun(f"missing: {wanted}. On Debian: apt-get install {wanted}")
    print(f"Installing {wanted}", file=sys.stderr)
    # Runlevel 1 keeps the nginx package from starting its service.
    apt = [*root, "env", "RUNLEVEL=1", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    install = [*apt, "install", "-y", "--no-install-recommends", *missing]
    if subprocess.call(install, stdout=sys.stderr) != 0:
        # The list of packages may be outdated or missing.
        subprocess.call([*apt, "update"], stdout=sys.stderr)
        if subprocess.call(install, stdout=sys.stderr) != 0:
            raise CannotRun(f"cannot install {wanted}")


def as_root() -> list[str] | None:
    """What to put before a command to run it as root without a question."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and subprocess.call(["sudo", "-n", "true"], stderr=subprocess.DEVNULL) == 0:
        return ["sudo", "-n"]
    return None


def two_cores() -> tuple[int, int]:
    """A core for the server, and one for the load."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise CannotRun("two cores are needed, one for the server and one for the load")
    return cores[0], cores[1]


@contextmanager
def pinned(cores: set[int]):
    """Programs that start in this block run only on these cores, from their first
    instruction: affinity is inherited."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def raise_open_file_limit() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = most == resource.RLIM_INFINITY
    if not unlimited and most < OPEN_FILES and os.geteuid() != 0:
        raise CannotRun(f"ulimit -n allows {most} open files; {OPEN_FILES} are needed")
    limit = OPEN_FILES if unlimited else max(OPEN_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))


@contextmanager
def awake(core: int, idle: Path):
    """Keeps a core from sleeping for the length of a `with` block, and takes no
    time from what else runs there; see bench/idle.c."""
    with pinned({core}):
        running = subprocess.Popen([idle])
    try:
        yield
        if running.poll() is not None:
            raise CannotRun("the server's core was not kept awake")
    finally:
        running.kill()
        running.wait()


def core_busy_seconds(core: int | None = None) -> float:
    """For how long a core, or all of them together, ran anything of usual or
    higher priority, or was taken away by the hypervisor, since the machine
    started."""
    wanted = "cpu" if core is None else f"cpu{core}"
    for line in Path("/proc/stat").read_text().splitlines():
        name, *fields = line.split()
        if name == wanted:
            user, _nice, system, _idle, _iowait, irq, softirq, steal = map(int, fields[:8])
            return (user + system + irq + softirq + steal) / TICKS_A_SECOND
    raise CannotRun(f"/proc/stat does not list {wanted}")


def description() -> dict[str, str]:
    cpu = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "Processor": f"{cpu[1].strip() if cpu else 'unknown'}, {os.cpu_count()} cores",
        "Memory": f"{memory:.0f} GiB",
        "Kernel": f"{os.uname().sysname} {os.uname().release} {os.uname().machine}",
        "File system": output(["findmnt", "-n", "-o", "FSTYPE", "-T", str(ROOT)]),
    }


def versions(petstore: Path, metadata: dict) -> dict[str, str]:
    return {
        "petstore": petstore_version(petstore),
        "SQLite": sqlite_version(metadata),
        "rustc": rustc_version(),
        "nginx": output([tool("nginx"), "-v"]).rpartition("/")[2],
        "wrk": wrk_version(),
    }


def versions_over_postgres(petstore: Path) -> dict[str, str]:
    return {
        "petstore": petstore_version(petstore),
        "PostgreSQL": output([tool("pgbench"), "--version"]).split()[2],
        "rustc": rustc_version(),
        "wrk": wrk_version(),
    }


def petstore_version(petstore: Path) -> str:
    return f"{output([str(petstore), '--version']).split()[-1]} ({commit()})"


def rustc_version() -> str:
    return output(["rustc", "--version"]).split()[1]


def wrk_version() -> str:
    return output([tool("wrk"), "-v"]).split()[1].rpartition("/")[2]


def commit() -> str:
    describe = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(describe, text=True, capture_output=True)
    except OSError:
        return "no commit"
    return f"commit {done.stdout.strip()}" if done.returncode == 0 else "no commit"


def sqlite_version(metadata: dict) -> str:
    """The version that is compiled into the server."""
    for package in metadata["packages"]:
        if package["name"] == "libsqlite3-sys":
            header = Path(package["manifest_path"]).parent / "sqlite3" / "sqlite3.h"
            found = re.search(r'#define SQLITE_VERSION\s+"([^"]+)"', header.read_text())
            if found:
                return found[1]
    return "unknown"


def cargo_metadata() -> dict:
    command = ["cargo", "metadata", "--locked", "--format-version=1"]
    return json.loads(subprocess.check_output(command, cwd=ROOT))


def build_server(metadata: dict) -> Path:
    """The program as it is packaged, freshly built."""
    subprocess.run(["cargo", "build", "--profile", "dist", "--locked", "--package", "petstore"], cwd=ROOT, check=True)
    return Path(metadata["target_directory"]) / "dist" / "petstore"


def compile_program(source: str, folder: Path) -> Path:
    return compile_c(source, folder / Path(source).stem)


def compile_preload(source: str, folder: Path) -> Path:
    """A library for LD_PRELOAD."""
    return compile_c(source, folder / f"{Path(source).stem}.so", "-shared", "-fPIC", "-ldl")


def compile_c(source: str, target: Path, *flags: str) -> Path:
    command = ["cc", "-O2", "-Wall", "-Wextra", "-o", str(target), str(ROOT / "bench" / source), *flags]
    subprocess.run(command, check=True)
    return target


def output(command: list[str]) -> str:
    """The output of a program on both streams; empty if it fails to start."""
    try:
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError:
        return ""
    return done.stdout.strip()


def now() -> float:
    return time.monotonic()
