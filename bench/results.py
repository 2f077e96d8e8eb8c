"""The results, with one row per workload."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from bench.load import Measurement


@dataclass(frozen=True)
class Spread:
    """The median of several rounds, the lowest and the highest."""

    middle: float
    low: float
    high: float

    @staticmethod
    def of(values: list[float]) -> Spread:
        return Spread(median(values), min(values), max(values))

    @staticmethod
    def of_ratios(above: list[float], below: list[float]) -> Spread:
        """Of neighbouring rounds, which had the same conditions."""
        return Spread.of([a / b for a, b in zip(above, below)])


@dataclass(frozen=True)
class Row:
    letter: str
    title: str
    baseline: str
    figure: Spread
    must: float | None = None
    goal: float | None = None
    unit: str = ""
    higher_is_better: bool = True
    ours: Measurement | None = None
    theirs: Measurement | None = None
    # The values in the plot.
    costs_by_size: dict[int, Spread] | None = None

    def reaches(self, mark: float | None) -> bool:
        if mark is None:
            return True
        return self.figure.middle >= mark if self.higher_is_better else self.figure.middle <= mark

    def verdict(self) -> str:
        if self.must is None:
            return ""
        if not self.reaches(self.must):
            return "missed"
        return "goal" if self.reaches(self.goal) else "required"
