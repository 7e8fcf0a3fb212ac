"""Medians and the ratios of interleaved pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Ratio:
    """A subject's figure over the baseline's, pair by pair."""

    median: float
    low: float  # first quartile
    high: float  # third quartile
    pairs: int


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """By linear interpolation between the closest ranks."""
    ordered = sorted(values)

    def at(share: float) -> float:
        position = share * (len(ordered) - 1)
        below = int(position)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (ordered[above] - ordered[below]) * (position - below)

    return at(0.25), at(0.75)


def paired_ratio(subject: Sequence[float | None], baseline: Sequence[float | None]) -> Ratio | None:
    """The median of the pairs' ratios, not the ratio of the medians: what both of a pair met (a
    slow minute of the host) cancels out. Pairs with a failed run are left out; None if all did."""
    ratios = [
        ours / theirs
        for ours, theirs in zip(subject, baseline, strict=False)
        if ours is not None and theirs
    ]
    if not ratios:
        return None
    low, high = quartiles(ratios)
    return Ratio(median(ratios), low, high, len(ratios))


def median_of(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
