"""The results as text: for the terminal and for docs/maintainers/performance.md."""

from __future__ import annotations

from bench.machine import ROOT
from bench.results import Row

PAGE = ROOT / "docs/maintainers/performance.md"
PLOT = ROOT / "docs/maintainers/performance.svg"

# Below this share, the server does not limit the throughput.
BUSY = 0.90
BUSY_WORKLOADS = {"A", "B", "C", "J", "log"}
# Above this share, other programs used too much of the server's core.
QUIET = 0.05

INTRODUCTION = """# Performance: measurements

The cost of a request, compared with baselines such as nginx and pgbench. `scripts/bench` measures everything on a
Linux machine with at least two cores in about ten minutes, and writes the next part of this page.

<!-- bench:begin -->
<!-- bench:end -->

## With PostgreSQL

<!-- bench-postgres:begin -->
<!-- bench-postgres:end -->
"""

LEGEND = """\
The server has one core to itself, and the load generator ([wrk](https://github.com/wg/wrk)) another. There are
64 connections and 1 million animals unless the row says otherwise. All files are in the operating system's cache.

- **Cost** is the server's processor time per request, user and system, over all its threads, as the operating
  system counts it.
- **Ratio** is the baseline's cost divided by ours (1.00: equal; higher is better). For E it is our requests per
  second divided by the baseline's, and for G our cost divided by the baseline's (lower is better). The ratio is
  the median of the rounds, with the lowest and the highest. For D, the table also gives the ratio of rates. It
  falls as the disk gets slower, because 64 clients wait for the disk and the baseline's clients do not.
- Pairs of figures are ours / the baseline's.

Server and baseline take turns, round by round, and each ratio compares two neighbouring rounds. A run with a
response other than 2xx, or with a socket error, is void. The load generator never sleeps, so no server pays for
waking it (`bench/awake.c`). A process of the lowest scheduling class keeps the server's core awake
(`bench/idle.c`): a virtual machine takes a long time to wake a core, and a server that waits for the disk would pay for
that. Where nginx is the baseline, server and nginx start three times during the rounds, because the memory
layout of a process can make it up to a tenth more expensive until it ends.

nginx has one worker process and does not check API keys. It sends the same body each time, from a file that it keeps
open: for random pages and animals, one of median length. It receives the same requests, except that for C it receives
the same one each time. D's baseline is the same program with `fsync` and `fdatasync` disabled, which is SQLite's
`synchronous=OFF`. E's baseline appends 4 KiB to a file in the same file system. H is the median of 10 starts. K counts
pairs: a client reserves an available animal, the oldest first (with an `Idempotency-Key`), and completes the order. The
keys ascend with the animals, and in the second row they are random UUIDs, as most clients send them. The baseline of K
is the creates of D, and its ratio is that of the rates. The baseline of L is B, in the same process. I is the resident
memory after the first 1,000 responses, and with one response on each open connection.

M, N and O are of the window, without a key. The newest 100,000 animals have values of nine fields and three photos each;
N asks for those on offer in random order, and its baseline gets one of median length. O is one file of 100 KB.
"""

HEADINGS = [
    "", "Workload", "Baseline", "Ratio", "Required", "Goal", "Reached",
    "Cost, µs", "Requests/s", "p99, ms",
]


def cells(row: Row) -> list[str]:
    return [
        row.letter, row.title, row.baseline,
        figure(row), number(row.must, row.unit), number(row.goal, row.unit), row.verdict(),
        pair(row, lambda side: f"{side.cost:.1f}"),
        pair(row, lambda side: f"{side.rate:,.0f}"),
        pair(row, lambda side: f"{side.p99_ms:.2f}"),
    ]


def pair(row: Row, text) -> str:
    """Ours / the baseline's."""
    return " / ".join(text(side) for side in (row.ours, row.theirs) if side)


def figure(row: Row) -> str:
    if row.unit:
        middle, low, high = (f"{value:.0f}" for value in vars(row.figure).values())
        return f"{middle} {row.unit}" if low == high else f"{middle} {row.unit} ({low} to {high})"
    return "{middle:.2f} ({low:.2f} to {high:.2f})".format(**vars(row.figure))


def number(mark: float | None, unit: str) -> str:
    if mark is None:
        return ""
    return f"{mark:g} {unit}" if unit else f"{mark:.2f}"


def for_terminal(rows: list[Row]) -> str:
    lines = [HEADINGS, *map(cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    return "\n".join([text[0], "-" * max(map(len, text)), *text[1:]])


def markdown_table(rows: list[Row]) -> str:
    """Omits columns without information."""
    lines = list(map(cells, rows))
    kept = [column for column in range(len(HEADINGS)) if any(line[column] for line in lines)]
    table = [HEADINGS, ["---"] * len(HEADINGS), *lines]
    return "\n".join("| " + " | ".join(line[column] for column in kept) + " |" for line in table)


def warnings(rows: list[Row]) -> list[str]:
    """The reasons why some results are doubtful."""
    found = []
    for row in rows:
        sides = [side for side in (row.ours, row.theirs) if side]
        if any(side.foreign > QUIET for side in sides):
            shares = pair(row, lambda side: f"{side.foreign:.0%}")
            found.append(f"{row.letter}: other programs had {shares} of the server's core.")
        elif any(side.busy < BUSY for side in sides) and row.letter in BUSY_WORKLOADS:
            shares = pair(row, lambda side: f"{side.busy:.0%}")
            found.append(f"{row.letter}: the server was busy for {shares} of the time; the load was the limit.")
    return found


def verdict(rows: list[Row]) -> str:
    marked = [row for row in rows if row.must is not None]
    missed = [row.letter for row in marked if not row.reaches(row.must)]
    goals = [row.letter for row in marked if row.reaches(row.must) and row.reaches(row.goal)]
    required = "Every requirement is met" if not missed else f"Missed: {', '.join(missed)}"
    return f"{required}. Goals reached: {', '.join(dict.fromkeys(goals)) or 'none'}."


def write_page(rows: list[Row], facts: dict[str, str], settings: str) -> None:
    main = [row for row in rows if row.letter != "log"]
    logged = [row for row in rows if row.letter == "log"]
    sections = [
        settings,
        markdown_facts(facts),
        LEGEND.strip(),
        markdown_table(main),
        verdict(rows),
        f"![Cost of a request by size of the catalogue]({PLOT.name})",
        "With the access log on, for both to a file:",
        markdown_table(logged),
    ]
    if found := warnings(rows):
        sections.append("Some of these figures are doubtful:\n\n" + "\n".join(f"- {each}" for each in found))
    replace_measured_part("bench", "\n\n".join(sections))


def markdown_facts(facts: dict[str, str]) -> str:
    return "\n".join(["| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in facts.items())])


def replace_measured_part(part: str, text: str) -> None:
    """Writes the text between the marks of a part."""
    first, last = f"<!-- {part}:begin -->", f"<!-- {part}:end -->"
    PAGE.parent.mkdir(exist_ok=True)
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else INTRODUCTION
    before, begin, rest = page.partition(first)
    _, end, after = rest.partition(last)
    if not (begin and end):
        raise ValueError(f"{PAGE} lacks the marks {first} and {last}")
    PAGE.write_text(f"{before}{first}\n\n{text}\n\n{last}{after}", encoding="utf-8")
