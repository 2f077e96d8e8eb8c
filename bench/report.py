"""The results as text: for the terminal and for docs/performance.md."""

from __future__ import annotations

from bench.machine import ROOT
from bench.results import Row

PAGE = ROOT / "docs" / "performance.md"
PLOT = ROOT / "docs" / "performance.svg"

# Below, it is not the server that limits the throughput.
BUSY = 0.90
BUSY_WORKLOADS = {"A", "B", "C", "J", "log"}
# Above, something else had too much of the server's core.
QUIET = 0.05

INTRODUCTION = """# Performance

What a request costs, measured beside what it could cost. `scripts/bench` measures all of it anew, on
a Linux machine with two cores or more, in some ten minutes, and writes the part of this
page that follows.

<!-- bench:begin -->
<!-- bench:end -->

## Over PostgreSQL

<!-- bench-postgres:begin -->
<!-- bench-postgres:end -->
"""

LEGEND = """\
The server has one core to itself, the load ([wrk](https://github.com/wg/wrk)) another. There are 64
connections and 1 million animals unless the row says otherwise. **Cost** is the processor time of the
server per request, user and system, of all its threads, as the operating system counts it. **Ratio**
is the yardstick's cost over ours (1.00: as cheap; higher is better); for E our requests per second over
the yardstick's; for G our cost over the yardstick's (lower is better). D has the ratio of rates beside
it, which falls as the disk gets slower: 64 clients wait for it, and the yardstick's do not. The ratio is
the median of the rounds, with the lowest and the highest. Server and yardstick take turns, round by
round, and ratios are taken between neighbours. Figures in pairs are ours / the yardstick's. A run with
an answer other than 2xx or with an error of a socket is void. All files are in the operating system's
cache. The load never sleeps, so that no server pays for waking it (`bench/awake.c`). Nor does the server's
core: while nothing else wants it, a program of the lowest class has it (`bench/idle.c`), since a virtual
machine takes long to wake a core, which a server that waits for the disk would pay for. What stands
beside nginx is started three times in the course of the rounds, and nginx with it: where in memory a process
happens to lie makes it up to a tenth dearer, for as long as it lives.

nginx has one worker process. It gets the same requests, except that for C it gets one of them again and
again, and sends the same body, or for random places one of middle length, from a file that it keeps open;
it checks no key. D's yardstick is the same program with `fsync` and `fdatasync` doing nothing, which is
SQLite's `synchronous=OFF`. E's appends 4 KiB to a file in the same file system. H is the median of 10
starts. I is the resident memory after the first 1,000 answers, and with one answer on each open connection.
"""

HEADINGS = [
    "", "Workload", "Yardstick", "Ratio", "Must", "Goal", "Reached",
    "Cost, µs", "Requests/s", "p99, ms",
]


def cells(row: Row) -> list[str]:
    return [
        row.letter, row.title, row.yardstick,
        figure(row), number(row.must, row.unit), number(row.goal, row.unit), row.verdict(),
        pair(row, lambda side: f"{side.cost:.1f}"),
        pair(row, lambda side: f"{side.rate:,.0f}"),
        pair(row, lambda side: f"{side.p99_ms:.2f}"),
    ]


def pair(row: Row, text) -> str:
    """Ours / the yardstick's."""
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
    """Leaves out columns that say nothing."""
    lines = list(map(cells, rows))
    kept = [column for column in range(len(HEADINGS)) if any(line[column] for line in lines)]
    table = [HEADINGS, ["---"] * len(HEADINGS), *lines]
    return "\n".join("| " + " | ".join(line[column] for column in kept) + " |" for line in table)


def warnings(rows: list[Row]) -> list[str]:
    """What makes some of the figures doubtful."""
    found = []
    for row in rows:
        sides = [side for side in (row.ours, row.theirs) if side]
        if any(side.foreign > QUIET for side in sides):
            shares = pair(row, lambda side: f"{side.foreign:.0%}")
            found.append(f"{row.letter}: others had {shares} of the server's core.")
        elif any(side.busy < BUSY for side in sides) and row.letter in BUSY_WORKLOADS:
            shares = pair(row, lambda side: f"{side.busy:.0%}")
            found.append(f"{row.letter}: the server was busy for {shares} of the time; the load was the limit.")
    return found


def verdict(rows: list[Row]) -> str:
    marked = [row for row in rows if row.must is not None]
    missed = [row.letter for row in marked if not row.reaches(row.must)]
    goals = [row.letter for row in marked if row.reaches(row.must) and row.reaches(row.goal)]
    musts = "Every must is met" if not missed else f"Missed: {', '.join(missed)}"
    return f"{musts}. Goals reached: {', '.join(goals) or 'none'}."


def write_page(rows: list[Row], facts: dict[str, str], settings: str) -> None:
    main = [row for row in rows if row.must is not None]
    logged = [row for row in rows if row.must is None]
    sections = [
        settings,
        markdown_facts(facts),
        LEGEND.strip(),
        markdown_table(main),
        verdict(rows),
        f"![Cost of a request against the size of the catalogue]({PLOT.name})",
        "With the access log on, both to a file:",
        markdown_table(logged),
    ]
    if found := warnings(rows):
        sections.append("What makes some of these figures doubtful:\n\n" + "\n".join(f"- {each}" for each in found))
    replace_measured_part("bench", "\n\n".join(sections))


def markdown_facts(facts: dict[str, str]) -> str:
    return "\n".join(["| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in facts.items())])


def replace_measured_part(part: str, text: str) -> None:
    """Writes what stands between the marks of a part."""
    first, last = f"<!-- {part}:begin -->", f"<!-- {part}:end -->"
    PAGE.parent.mkdir(exist_ok=True)
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else INTRODUCTION
    before, begin, rest = page.partition(first)
    _, end, after = rest.partition(last)
    if not (begin and end):
        raise ValueError(f"{PAGE} lacks the marks {first} and {last}")
    PAGE.write_text(f"{before}{first}\n\n{text}\n\n{last}{after}", encoding="utf-8")
