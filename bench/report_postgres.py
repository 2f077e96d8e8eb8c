"""What was found over PostgreSQL as a part of docs/performance.md."""

from __future__ import annotations

from bench.postgres import CLIENTS, DATABASE_CONNECTIONS, GOAL, MUST, SIZE, Found, Row
from bench.report import markdown_facts, replace_measured_part
from bench.results import Spread

LEGEND = f"""\
`scripts/bench postgres` measures `petstore` beside `pgbench -M prepared`, which runs the same statements
over as many connections to the same database: {DATABASE_CONNECTIONS}, and {SIZE:,} animals. The clients of
`petstore` (wrk) have {CLIENTS} connections. **Ratio** is our answers a second over pgbench's, the median of the
rounds, with the lowest and the highest. They take turns, round by round, and ratios are taken between
neighbours. **Two** is what two processes answer a second over what one does; they share its connections,
to both sides. **Cost** is processor time per answer: of pgbench or `petstore`, and of PostgreSQL. The
database does not wait for the disk (`fsync = off`), since that wait would hide what all else costs.

First, PostgreSQL has one core to itself, and the other is for pgbench, or for `petstore` and its clients
together. That is what a database on a machine of its own meets, and its core is what there is least of: the ratio
says how much of what it can give arrives at clients over HTTP. It must be {MUST}, and {GOAL} is the goal. pgbench
never sleeps, so that PostgreSQL does not pay for waking its core (`bench/awake.c`); the clients of `petstore` do.

Then nobody has a core to himself, as if all ran on one small machine: what `petstore` and its clients cost, parsing
HTTP at both ends, is taken from the database.
"""


def write_page(rows: list[Row], facts: dict[str, str], settings: str) -> None:
    sections = [settings, markdown_facts(facts), LEGEND.strip(), markdown_table(rows)]
    replace_measured_part("bench-postgres", "\n\n".join(sections))


def markdown_table(rows: list[Row]) -> str:
    headings = [
        "Workload", "Cores", "pgbench/s", "petstore/s", "Ratio", "Reached", "Two",
        "Cost with pgbench, µs", "with petstore", "with two",
    ]
    table = [headings, ["---"] * len(headings), *map(cells, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in table)


def cells(row: Row) -> list[str]:
    return [
        row.workload, row.cores.title, f"{row.pgbench.rate:,.0f}", f"{row.one.rate:,.0f}",
        spread(row.ratio), verdict(row), spread(row.ratio_of_two),
        cost(row.pgbench), cost(row.one), cost(row.two),
    ]


def spread(ratio: Spread) -> str:
    return f"{ratio.middle:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def verdict(row: Row) -> str:
    if not row.cores.are_apart:
        return ""
    if row.ratio.middle < MUST:
        return "missed"
    return "goal" if row.ratio.middle >= GOAL else "must"


def cost(found: Found) -> str:
    return f"{found.own:.0f} + {found.database:.0f}"
