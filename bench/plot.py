"""The cost of a request against the size of the catalogue, as an SVG."""

from __future__ import annotations

import math

from bench.results import Spread

TITLE = "Cost of a random page of 20 animals"

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 72, 24, 64, 64

# With a ground of its own, it is readable also where nobody asks which colours
# the reader prefers. Letters stand out from lines behind them.
STYLE = """
  .ground { fill: #ffffff }
  text { font: 14px system-ui, sans-serif; fill: #24292f; stroke: #ffffff; stroke-width: 4px; paint-order: stroke }
  .title { font-size: 16px; font-weight: 600 }
  .grid { stroke: #d0d7de }
  .axis { stroke: #57606a }
  .ours { stroke: #0b62c4 }
  .theirs { stroke: #9a4b00 }
  circle.ours, text.ours { fill: #0b62c4 }
  text.theirs { fill: #9a4b00 }
  text.ours, text.theirs { stroke: #ffffff }
  .line { fill: none; stroke-width: 2.5px }
  .theirs.line { stroke-dasharray: 7 5 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117 }
    text { fill: #e6edf3; stroke: #0d1117 }
    .grid { stroke: #30363d }
    .axis { stroke: #8b949e }
    .ours { stroke: #6cb6ff }
    .theirs { stroke: #f0a35e }
    circle.ours, text.ours { fill: #6cb6ff }
    text.theirs { fill: #f0a35e }
    text.ours, text.theirs { stroke: #0d1117 }
  }
"""


def draw(costs: dict[int, Spread], nginx: float) -> str:
    """Our cost by size, and nginx's, which knows no size; in microseconds."""
    top = nice_top(max([spread.high for spread in costs.values()] + [nginx]))
    sizes = sorted(costs)

    def x(size: int) -> float:
        share = math.log(size / sizes[0]) / math.log(sizes[-1] / sizes[0])
        margin = 0.08
        return LEFT + (WIDTH - LEFT - RIGHT) * (margin + share * (1 - 2 * margin))

    def y(cost: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * cost / top

    parts = [
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        text(LEFT, 28, TITLE, "title"),
        *grid(top, y),
        *(tick(x(size), size) for size in sizes),
        text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, "animals in the catalogue (logarithmic)", anchor="middle"),
        text(LEFT, 52, "processor time of the server per request, in microseconds"),
        line("theirs", [(LEFT, y(nginx)), (WIDTH - RIGHT, y(nginx))]),
        text(WIDTH - RIGHT, y(nginx) - 8, f"nginx, as many bytes from a file: {nginx:.1f}", "theirs", "end"),
        line("ours", [(x(size), y(costs[size].middle)) for size in sizes]),
        *(point(x(size), costs[size], y) for size in sizes),
        text(x(sizes[0]), y(costs[sizes[0]].high) - 12, "petstore", "ours", "middle"),
    ]
    body = "\n".join(f"  {part}" for part in parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        f' role="img" aria-label="{TITLE} against the size of the catalogue">\n'
        f"<style>{STYLE}</style>\n{body}\n</svg>\n"
    )


def nice_top(highest: float) -> float:
    """Where the axis ends: five round steps, with room above the data."""
    least = highest * 1.15 / 5
    power = 10 ** math.floor(math.log10(least))
    return 5 * next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= least)


def grid(top: float, y) -> list[str]:
    parts = []
    for step in range(6):
        cost = top * step / 5
        kind = "grid" if step else "axis"
        parts.append(f'<line class="{kind}" x1="{LEFT}" y1="{y(cost):.1f}" x2="{WIDTH - RIGHT}" y2="{y(cost):.1f}"/>')
        parts.append(text(LEFT - 10, y(cost) + 5, f"{cost:g}", anchor="end"))
    return parts


def tick(at: float, size: int) -> str:
    name = f"{size // 1_000_000} million" if size >= 1_000_000 else f"{size:,}"
    bottom = HEIGHT - BOTTOM
    mark = f'<line class="axis" x1="{at:.1f}" y1="{bottom}" x2="{at:.1f}" y2="{bottom + 6}"/>'
    return mark + text(at, bottom + 24, name, anchor="middle")


def point(at: float, spread: Spread, y) -> str:
    """The median, its value, and a whisker from the lowest to the highest."""
    return (
        f'<line class="ours" x1="{at:.1f}" y1="{y(spread.low):.1f}" x2="{at:.1f}" y2="{y(spread.high):.1f}"/>'
        f'<circle class="ours" cx="{at:.1f}" cy="{y(spread.middle):.1f}" r="4.5"/>'
        + text(at, y(spread.low) + 20, f"{spread.middle:.1f}", anchor="middle")
    )


def line(kind: str, points: list[tuple[float, float]]) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{kind} line" points="{path}"/>'


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    kind = f' class="{kind}"' if kind else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'
