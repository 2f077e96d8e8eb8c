"""Import and export of a million animals, compared with SQLite's shell."""

from __future__ import annotations

import csv
import datetime
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench.catalogue import REAL_NAMES, clean_environment
from bench.machine import now, output
from bench.results import Spread

ANIMALS = 1_000_000


@dataclass(frozen=True)
class Row:
    title: str
    baseline: str
    ours: list[float]
    theirs: list[float]
    # The maximum memory of our process, in MiB.
    memory: float
    # The required share of the baseline's speed.
    must: float | None = None

    def cells(self) -> list[str]:
        ratio = Spread.of_ratios(self.theirs, self.ours)
        rates = (ANIMALS / Spread.of(seconds).middle for seconds in (self.ours, self.theirs))
        return [
            self.title, self.baseline,
            "{middle:.2f} ({low:.2f} to {high:.2f})".format(**vars(ratio)),
            "" if self.must is None else f"{self.must:.2f}",
            " / ".join(f"{rate:,.0f}" for rate in rates),
            f"{self.memory:.0f} MiB",
        ]


def measure(petstore: Path, folder: Path, rounds: int) -> list[Row]:
    files = make_files(folder)
    empty = folder / "empty.db"
    create = [petstore, "keys", "create", "--create", "--name", "bench", "--database", f"sqlite:{empty}"]
    subprocess.run(create, check=True, capture_output=True, env=clean_environment())
    ours, theirs = folder / "ours.db", folder / "theirs.db"
    database = ["--database", f"sqlite:{ours}"]

    def both(our_command: list, their_commands: list[str], fresh: bool) -> tuple:
        found = ([], [], [])
        for _ in range(rounds):
            for path in (ours, theirs) if fresh else ():
                # There is no WAL, because no process has the file open.
                shutil.copyfile(empty, path)
            seconds, memory = run([petstore, *our_command, *database])
            found[0].append(seconds)
            found[2].append(memory)
            found[1].append(run(["sqlite3", theirs, *their_commands])[0])
        return found[0], found[1], max(found[2])

    export = "SELECT id, name, category_id AS categoryId, status FROM pets ORDER BY id"
    into_shell = [f".import --csv --skip 1 {files['csv']} pets"]
    rows = [
        Row("Import CSV", "`.import`", *both(["import", files["csv"]], into_shell, True), must=0.5),
        Row("Import NDJSON", "`.import` of CSV", *both(["import", files["ndjson"]], into_shell, True)),
        Row("Import CSV, `--keep-ids`", "`.import`", *both(["import", files["csv"], "--keep-ids"], into_shell, True)),
        Row("Export CSV", "`.mode csv`, `SELECT`", *both(["export"], [".mode csv", ".headers on", export], False)),
    ]
    exported = subprocess.run([petstore, "export", *database], check=True, capture_output=True, env=clean_environment())
    assert exported.stdout == files["csv"].read_bytes(), "what was exported is not what was imported"
    return rows


def make_files(folder: Path) -> dict[str, Path]:
    """The real names, repeated, in the form of an export."""
    with open(REAL_NAMES, encoding="utf-8", newline="") as file:
        real = list(csv.reader(file))[1:]
    paths = {name: folder / f"animals.{name}" for name in ("csv", "ndjson")}
    with open(paths["csv"], "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "name", "categoryId", "status"])
        for number in range(ANIMALS):
            name, category, status = real[number % len(real)]
            writer.writerow([number + 1, name, category, status or "available"])
    with open(paths["csv"], encoding="utf-8", newline="") as source, open(paths["ndjson"], "w", encoding="utf-8") as file:
        for row in csv.DictReader(source):
            row["id"], row["categoryId"] = int(row["id"]), int(row["categoryId"])
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return paths


def run(command: list) -> tuple[float, float]:
    """The duration of a command in seconds, without writing its output to a file, and its
    maximum memory in MiB."""
    start = now()
    process = subprocess.Popen(
        command, env=clean_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = now() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command, stderr=said)
    return seconds, usage.ru_maxrss / 1024


def page(rows: list[Row], our_sqlite: str) -> str:
    headings = ["", "Baseline", "Ratio of speeds", "Required", "Animals per second", "Memory"]
    lines = [headings, ["---"] * len(headings), *(row.cells() for row in rows)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    shell = output(["sqlite3", "--version"]).split()[0]
    return (
        f"Measured on {datetime.date.today():%d %B %Y}, {len(rows[0].ours)} rounds: 1 million animals with names from a real\n"
        "shelter, imported into an empty SQLite file and exported from it. The baseline is SQLite's own shell\n"
        f"({shell}; our SQLite is {our_sqlite}) with the same animals, tables, indexes and file settings. It validates\n"
        "only what those check. Pairs of figures are ours / the baseline's.\n\n"
        f"{table}"
    )
