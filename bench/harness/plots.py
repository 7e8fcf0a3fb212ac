"""Which lines are drawn of a report: latency by percentile, and what grows with connections, services and events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from harness.bars import group
from harness.curves import Line, legend, plot
from harness.text_report import tick_text, time_text

PEERS_DRAWN = 5  # the best; more would hide each other

_PERCENTS = ("50", "90", "99", "99.9", "99.99", "99.999")


def _rarity(percent: str) -> float:
    """1 of so many is beyond it: 90 is as far from 99 as 99 is from 99.9."""
    return 100 / (100 - float(percent))


def drawn(all_series: Sequence[dict], figure: str) -> list[dict]:
    """The baseline, ours, and the best of the others by a median."""
    known = [each for each in all_series if each["median"][figure] is not None]
    others = sorted((each for each in known if group(each) == "peer" or (group(each) == "bare" and each["is_peer"])),
                    key=lambda each: each["median"][figure])  # fmt: skip
    best = {each["subject"] for each in others[:PEERS_DRAWN]}
    return [
        each
        for each in known
        if each["is_baseline"] or group(each) == "own" or each["subject"] in best
    ]


def styles(all_series: Sequence[dict]) -> dict[str, str]:
    """A colour for each of those that are drawn, which are few enough to have their own."""
    count: dict[str, int] = {}
    style = {}
    for series in all_series:
        kind = "peer" if series["is_peer"] else group(series)
        style[series["subject"]] = f"{kind}-{count.setdefault(kind, 0) % (8 if kind == 'peer' else 4)}"
        count[kind] += 1
    return style


def latency_plot(workload: dict) -> str:
    """Percentiles that fewer than two requests of a run are beyond are left out: they would be the maximum again."""
    chosen = drawn(workload["series"], "p99_us")
    style = styles(chosen)
    lines, seen = [], set()
    for series in chosen:
        fewest = min(run["requests"] for run in series["runs"] if run)
        told = [name for name in _PERCENTS
                if name in series["percentiles"] and fewest >= 2 * _rarity(name)]  # fmt: skip
        seen |= set(told)
        points = [(_rarity(name), series["percentiles"][name]) for name in told]
        lines.append(Line(series["subject"], style[series["subject"]], points))
    across = [(_rarity(name), name) for name in _PERCENTS if name in seen]
    if len(across) < 2:
        return ""
    drawing = plot("latency by percentile", lines, across, tick_text,
                   lambda x, y: f"{100 - 100 / x:g} %: {time_text(y)}")  # fmt: skip
    return f"<figure>{drawing}</figure>{legend(lines)}"


def _family(workload: dict) -> tuple[str, str]:
    return workload["title"], workload["generator"]


def families(report: dict) -> list[list[dict]]:
    """Workloads that differ in the number of connections alone, two at least."""
    ordered = sorted(report["workloads"], key=_family)
    found = [list(each) for _, each in groupby(ordered, key=_family)]
    return [
        sorted(each, key=lambda workload: workload["connections"])
        for each in found
        if len({workload["connections"] for workload in each}) > 1
    ]


def _megabytes(value: float) -> str:
    return f"{value:.3g} MB"


_FIGURES: tuple[tuple[str, str, float, Callable[[float], str]], ...] = (
    ("core time a request", "cpu_us", 1, lambda value: f"{value:.3g} µs"),
    ("99th percentile", "p99_us", 1, tick_text),
    ("memory under load", "resident_bytes", 1 / 1024 / 1024, _megabytes),
)


def scaling_plots(family: list[dict]) -> str:
    """Core time, p99 and memory over the number of connections."""
    chosen = drawn(family[-1]["series"], "p99_us")
    style = styles(chosen)
    # Those that take part at one level alone are no line.
    at_levels = [{each["subject"]: each for each in workload["series"]} for workload in family]
    names = [
        each["subject"]
        for each in chosen
        if sum(each["subject"] in level for level in at_levels) > 1
    ]
    across = [(workload["connections"], f"{workload['connections']:,}") for workload in family]
    figures, lines = [], []
    for title, figure, factor, told in _FIGURES:
        lines = [
            Line(name, style[name], [
                (workload["connections"], level[name]["median"][figure] * factor)
                for workload, level in zip(family, at_levels, strict=True)
                if name in level and level[name]["median"][figure]
            ])
            for name in names
        ]  # fmt: skip
        drawing = plot(title, lines, across, told,
                       lambda x, y, told=told: f"{x:,.0f} connections: {told(y)}")  # fmt: skip
        if drawing:
            figures.append(f"<figure>{drawing}</figure>")
    return f'<div class="figures">{"".join(figures)}</div>{legend(lines)}' if figures else ""


def _count(value: float) -> str:
    for factor, unit in ((1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:g} {unit}"
    return f"{value:g}"


def in_process_plots(work: dict) -> str:
    """What each costs, and the memory of all, over their number."""
    if len(work["points"]) < 2:
        return ""
    across = [(point["size"], _count(point["size"])) for point in work["points"]]

    def one(title: str, figure: str, told: Callable[[float], str]) -> str:
        line = Line("weft", "own-0", [(point["size"], point[figure]) for point in work["points"]])
        drawing = plot(title, [line], across, told, lambda x, y: f"{x:,.0f}: {told(y)}")
        return f"<figure>{drawing}</figure>"

    time = one(f"time of each {work['unit']}", "ns", lambda value: f"{value:,.0f} ns")
    memory = one(f"most memory, by {work['unit']}s", "rss_mb", _megabytes)
    return f'<div class="figures">{time}{memory}</div>'
