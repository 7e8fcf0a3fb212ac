"""Plots of lines as inline SVG: latency by percentile, and figures that grow with a number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 380, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 366, 30, 214


@dataclass(frozen=True)
class Line:
    name: str
    style: str  # CSS classes, which give colour and dashes
    points: Sequence[tuple[float, float]]  # both axes are logarithmic: above 0


@dataclass(frozen=True)
class Axis:
    """A logarithmic scale, as positions along `low` to `high`."""

    least: float
    most: float
    low: float
    high: float

    def at(self, value: float) -> float:
        if self.most <= self.least:
            return (self.low + self.high) / 2
        share = math.log(value / self.least) / math.log(self.most / self.least)
        return self.low + share * (self.high - self.low)


def axis(values: Iterable[float], low: float, high: float) -> Axis:
    known = list(values)
    return Axis(min(known), max(known), low, high)


def ticks(least: float, most: float) -> list[float]:
    """Round numbers from `least` to `most`: powers of ten, with more of each decade where there is room, and of wide
    ranges some powers only."""
    first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
    every = max(1, (last - first) // 5)
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8)):
        found = [step * 10.0**power for power in range(first, last + 1, every) for step in steps]
        inside = [each for each in found if least * 0.999 <= each <= most * 1.001]
        if len(inside) >= 3:
            break
    return inside


def _text(x: float, y: float, text: str, anchor: str = "middle", style: str = "tick") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _drawn(line: Line, across: Axis, up: Axis, told: Callable[[float, float], str]) -> str:
    places = [(across.at(x), up.at(y), told(x, y)) for x, y in line.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6"><title>{escape(f"{line.name}, {what}")}</title></circle>'
        for x, y, what in places
    )
    return (
        f'<g class="line {line.style}"><polyline points="{path}">'
        f"<title>{escape(line.name)}</title></polyline>{dots}</g>"
    )


def plot(
    title: str,
    lines: Sequence[Line],
    across: Sequence[tuple[float, str]],
    up_text: Callable[[float], str],
    told: Callable[[float, float], str],
) -> str:
    """`across` has the places on the x axis and what is written there; empty without lines."""
    lines = [line for line in lines if line.points]
    if not lines:
        return ""
    heights = [y for line in lines for _, y in line.points]
    # A tenth beyond both ends, so that a flat line is not on the edge.
    up = axis([min(heights) / 1.15, max(heights) * 1.15], _BOTTOM, _TOP)
    sideways = axis([x for x, _ in across], _LEFT + 14, _RIGHT - 14)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
        _text(0, 16, title, "start", "title"),
    ]
    for value in ticks(up.least, up.most):
        y = up.at(value)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(_LEFT - 6, y + 4, up_text(value), "end"))
    for value, label in across:
        x = sideways.at(value)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_BOTTOM}"/>')
        parts.append(_text(x, _BOTTOM + 17, label))
    parts += [_drawn(line, sideways, up, told) for line in lines]
    return "\n".join([*parts, "</svg>"])


def legend(lines: Sequence[Line]) -> str:
    shown = "".join(
        f'<li><svg class="swatch" viewBox="0 0 26 8" aria-hidden="true"><g class="line {line.style}">'
        f'<polyline points="1,4 25,4"/></g></svg>{escape(line.name)}</li>'
        for line in lines
    )
    return f'<ul class="legend">{shown}</ul>'
