"""The results with PostgreSQL, as a part of docs/maintainers/performance.md."""

from __future__ import annotations

from bench.postgres import (
    CLIENTS, DATABASE_CONNECTIONS, GOAL, GOAL_OF_SALES, MUST, MUST_OF_SALES, SIZE, Cores, Found, Row, Sales,
)
from bench.report import markdown_facts, replace_measured_part
from bench.results import Spread

LEGEND = f"""\
`scripts/bench postgres` compares `petstore` with `pgbench -M prepared`, which runs the same statements over the same
number of connections ({DATABASE_CONNECTIONS}) to the same database, with {SIZE:,} animals. The clients of `petstore`
(wrk) have {CLIENTS} connections. The database does not wait for the disk (`fsync = off`), because that wait would
hide all other costs. A create also adds a row to the log of changes; `petstore` numbers the rows of both. Each create
of `pgbench` is a statement and a commit of its own. `petstore` adds all animals that wait with one statement, and a
commit comes before each response.

- **Ratio** is our responses per second divided by pgbench's: the median of the rounds, with the lowest and the
  highest. The two take turns, round by round, and each ratio compares two neighbouring rounds.
- **Two** is the responses per second of two processes divided by those of one. The two processes divide the
  connections between them: those of clients and those to the database.
- **Cost** is processor time per response: of pgbench or `petstore`, plus that of PostgreSQL.

In the rows **apart**, PostgreSQL has one core to itself, and pgbench, or `petstore` with its clients, has the other.
This is like a database on a machine of its own, whose cores are the scarce resource: the ratio says how much of its
capacity reaches HTTP clients. The required ratio is {MUST}, and the goal is {GOAL}. pgbench never sleeps, so
PostgreSQL does not pay for waking its core (`bench/awake.c`); the clients of `petstore` do sleep.

In the rows **shared**, all programs share both cores, as on one small machine. `petstore` and its clients, which
parse HTTP at both ends, then take processor time from the database.
"""


LEGEND_OF_SALES = f"""\
A client reserves an animal (with an `Idempotency-Key`) and then completes the order. pgbench writes the same rows, with
one statement and one commit for each of the two commands. The ratio is our pairs per second divided by pgbench's, and in
the next column divided by the creates per second of the same process, round by round. The required ratio to pgbench is
{MUST_OF_SALES}, and the goal is {GOAL_OF_SALES}. The p99 is that of one of the two requests.
"""


def write_page(rows: list[Row], sales: list[Sales], facts: dict[str, str], settings: str) -> None:
    sections = [settings, markdown_facts(facts), LEGEND.strip(), markdown_table(rows)]
    sections += [LEGEND_OF_SALES.strip(), table_of_sales(sales)]
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
        spread(row.ratio), verdict(row.cores, row.ratio, MUST, GOAL), spread(row.ratio_of_two),
        cost(row.pgbench), cost(row.one), cost(row.two),
    ]


def table_of_sales(sales: list[Sales]) -> str:
    headings = [
        "Cores", "Pairs/s with pgbench", "with petstore", "Ratio", "Reached", "Ratio to creates",
        "Cost of a pair with pgbench, µs", "with petstore", "of a create", "p99, ms",
    ]
    lines = [
        [
            each.cores.title, f"{each.pgbench.rate:,.0f}", f"{each.pairs.rate:,.0f}", spread(each.ratio),
            verdict(each.cores, each.ratio, MUST_OF_SALES, GOAL_OF_SALES), spread(each.ratio_to_creates),
            cost(each.pgbench), cost(each.pairs), cost(each.creates), f"{each.pairs.p99_ms:.1f}",
        ]
        for each in sales
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in [headings, ["---"] * len(headings), *lines])


def spread(ratio: Spread) -> str:
    return f"{ratio.middle:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def verdict(cores: Cores, ratio: Spread, must: float, goal: float) -> str:
    if not cores.are_apart:
        return ""
    if ratio.middle < must:
        return "missed"
    return "goal" if ratio.middle >= goal else "required"


def cost(found: Found) -> str:
    return f"{found.own:.0f} + {found.database:.0f}"
