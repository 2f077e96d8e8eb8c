"""Plants the faults of `mutants.toml` in a copy of the program, one at a time,
and runs the tests that must fail for each.

A mutant survives if its tests pass. One whose text is not in its file exactly
once, that does not compile, or whose tests do not finish, is an error, and so are
tests that fail without a mutant. So an outdated list is always noticed.
"""

import argparse
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from concurrent import futures

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIELDS = {"name", "file", "from", "to", "target", "database", "tests", "survives"}

# How long tests may take, in seconds. Failing tests need less.
PATIENCE = 300


class Wrong(Exception):
    """An error in the list, not in the program."""


def read_list() -> list[dict]:
    with open(ROOT / "tests/mutants/mutants.toml", "rb") as file:
        mutants = tomllib.load(file)["mutant"]
    names = [mutant["name"] for mutant in mutants]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise Wrong(f"two mutants have the same name: {', '.join(twice)}")
    stale = []
    for mutant in mutants:
        if mutant.keys() - FIELDS:
            raise Wrong(f"{mutant['name']} has unknown fields")
        try:
            apply(mutant, (ROOT / mutant["file"]).read_text())
        except (Wrong, OSError) as wrong:
            stale.append(str(wrong))
    if stale:
        raise Wrong("\n".join(stale))
    return mutants


def apply(mutant: dict, text: str) -> str:
    found = text.count(mutant["from"])
    if found != 1:
        raise Wrong(f"{mutant['name']}: the text occurs {found} times in {mutant['file']}, not once")
    return text.replace(mutant["from"], mutant["to"])


def copy_tree(copy: pathlib.Path) -> None:
    """Makes `copy` equal to the working tree. Unchanged files keep their time, so
    cargo builds only what is needed."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    for path in list(copy.rglob("*")):
        if path.is_file() and str(path.relative_to(copy)) not in names:
            path.unlink()
    for name in sorted(names):
        there, here = copy / name, ROOT / name
        if not there.exists() or there.read_bytes() != here.read_bytes():
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(here, there)


class Cargo:
    def __init__(self, tree: pathlib.Path, build: pathlib.Path):
        self.tree = tree
        # The output of the last tests.
        self.said = ""
        self.environment = os.environ | {
            "CARGO_TARGET_DIR": str(build),
            # Nobody reads a backtrace, and a build takes less time without line numbers.
            "CARGO_PROFILE_DEV_DEBUG": "none",
            "RUST_BACKTRACE": "0",
        }

    def run(self, arguments: list[str], seconds: int | None = None) -> tuple[int | None, str]:
        """The exit code and the output; no code after a timeout."""
        process = subprocess.Popen(["cargo", "test", "--locked", *arguments], cwd=self.tree,
                                   env=self.environment, stdin=subprocess.DEVNULL, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            output, _ = process.communicate(timeout=seconds)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]

    def test(self, mutant: dict) -> str:
        """`passed`, `failed`, or the error."""
        package, name = mutant["target"].split("/")
        target = ["--package", package, *(["--lib"] if name == "lib" else ["--test", name])]
        self.environment.pop("TEST_DATABASE", None)
        if "database" in mutant:
            self.environment["TEST_DATABASE"] = mutant["database"]
        code, output = self.run([*target, "--no-run"])
        if code:
            return f"does not compile:\n{output[-3000:]}"
        code, output = self.run([*target, "--", *mutant["tests"].split()], PATIENCE)
        counts = re.search(r"test result: .*?(\d+) passed; (\d+) failed", output)
        if code is None:
            return f"the tests do not end within {PATIENCE} seconds"
        if code and not counts and "... FAILED" in output:
            return "failed"  # and then the whole process ended
        if not counts or not any(map(int, counts.groups())):
            return f"no tests ran:\n{output[-3000:]}"
        self.said = output[-3000:]
        return "failed" if code else "passed"


class Worker:
    """Plants mutants in a copy of its own, which has a target folder of its own."""

    def __init__(self, folder: pathlib.Path):
        self.tree = folder / "tree"
        copy_tree(self.tree)
        self.cargo = Cargo(self.tree, folder / "build")

    def without(self, run: dict) -> tuple[int, str]:
        """How many results are wrong without a mutant, and what to print."""
        result = self.cargo.test(run)
        if result == "passed":
            return 0, ""
        return 1, f"WRONG     {run}, without a mutant: {result}\n{self.cargo.said}"

    def plant(self, mutant: dict) -> tuple[int, str]:
        """The same with a mutant."""
        file = self.tree / mutant["file"]
        sound = file.read_text()
        file.write_text(apply(mutant, sound))
        try:
            result = self.cargo.test(mutant)
        finally:
            file.write_text(sound)
        verdict = {"failed": "caught", "passed": "survived"}.get(result, "WRONG")
        expected = "survived" if "survives" in mutant else "caught"
        text = f"{verdict:9} {mutant['name']}"
        if verdict != expected:
            text += f"  <- it was to be {expected}"
        if verdict == "WRONG":
            text += f"\n{result}"
        return int(verdict != expected), text


def run(mutants: list[dict], folder: pathlib.Path, jobs: int) -> int:
    idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    for number in range(jobs):
        idle.put(Worker(folder / str(number)))

    def work(act) -> tuple[int, str]:
        worker = idle.get()
        try:
            return act(worker)
        finally:
            idle.put(worker)

    runs = []
    for mutant in mutants:
        run = {key: mutant[key] for key in ("target", "tests", "database") if key in mutant}
        if run not in runs:
            runs.append(run)
    acts = [lambda worker, run=run: worker.without(run) for run in runs]
    acts += [lambda worker, mutant=mutant: worker.plant(mutant) for mutant in mutants]
    wrong = 0
    survivors = []
    with futures.ThreadPoolExecutor(jobs) as pool:
        for is_wrong, text in pool.map(work, acts):
            wrong += is_wrong
            if text.startswith("survived"):
                survivors.append(text.split()[1])
            if text:
                print(text, flush=True)
    print(f"{len(mutants)} times a mutant was planted: {len(survivors)} survived {survivors}, {wrong} wrong")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tests.mutants", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only read the list, and compare it with the sources")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at a time (default: one for each core)")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "target/mutants",
                        help="where the copies and their target folders are")
    parser.add_argument("names", nargs="*", metavar="NAME", help="these mutants, or all whose names begin with NAME")
    arguments = parser.parse_args()
    try:
        mutants = read_list()
        if arguments.names:
            mutants = [mutant for mutant in mutants if mutant["name"].startswith(tuple(arguments.names))]
        if not mutants:
            raise Wrong("no mutant has this name")
        return 0 if arguments.check else run(mutants, arguments.folder, arguments.jobs)
    except Wrong as wrong:
        print(f"mutants.toml: {wrong}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
