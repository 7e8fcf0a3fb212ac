"""From runs to the figures that the reports print."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from harness.ratios import median_of, paired_ratio, quartiles
from harness.runs import STEAL_LIMIT, STRAY_LIMIT, Measured, Run, Series
from harness.verdict import MANY_ENOUGH, floor, verdicts

_MEDIANS = (
    "per_second",
    "p50_us",
    "p99_us",
    "p999_us",
    "max_us",
    "cpu_us",
    "cpu_user_us",
    "cpu_system_us",
    "process_us",
    "server_core_busy",
    "generator_core_busy",
    "resident_bytes",
    "resident_after",
    "answer_bytes",
)


def summarise_series(series: Series, baseline: Series, connections: int) -> dict:
    cpu_ratio = paired_ratio(series.figures("cpu_us"), baseline.figures("cpu_us"))
    process_ratio = paired_ratio(series.figures("process_us"), baseline.figures("process_us"))
    rate_ratio = paired_ratio(series.figures("per_second"), baseline.figures("per_second"))
    errors: dict[str, int] = {}
    for run in series.runs:
        for kind, count in (run.errors if run else {}).items():
            errors[kind] = errors.get(kind, 0) + count
    return {
        **series.as_data(),
        "is_baseline": series is baseline,
        "median": {name: median_of(series.figures(name)) for name in _MEDIANS},
        "cpu_ratio": asdict(cpu_ratio) if cpu_ratio else None,
        "process_ratio": asdict(process_ratio) if process_ratio else None,
        "rate_ratio": asdict(rate_ratio) if rate_ratio else None,
        "cpu_spread": _middle_half(series.figures("cpu_us")),
        "percentiles": _percentiles(series),
        "bytes_per_connection": bytes_per_connection(series, connections),
        "errors": errors,
        "busy_runs": sum(run.is_busy for run in series.runs if run),
    }


def _middle_half(figures: list[float | None]) -> list[float] | None:
    known = [figure for figure in figures if figure is not None]
    return list(quartiles(known)) if known else None


def _percentiles(series: Series) -> dict[str, float]:
    """The medians of those that every run tells, in order."""
    runs = [run for run in series.runs if run]
    if not runs:
        return {}
    names = set.intersection(*(set(run.percentiles) for run in runs))
    told = {name: median_of([run.percentiles[name] for run in runs]) for name in names}
    return dict(sorted(told.items(), key=lambda each: float(each[0])))


def bytes_per_connection(series: Series, connections: int) -> float | None:
    """What the server's memory grew by, for each connection; None for so few that its own start
    would be most of it."""
    if connections < MANY_ENOUGH:
        return None
    grown = median_of(series.figures("grown_bytes"))
    return None if grown is None else grown / connections


def _shown_command(command: list[str]) -> str:
    """As one would type it, with control characters visible."""
    program, *rest = command
    words = [word if re.fullmatch(r"[\w./:=+-]+", word) else json.dumps(word) for word in rest]
    return " ".join([Path(program).name, *words]).replace("127.0.0.1:0", "127.0.0.1:PORT")


def summarise(measured: Measured, notes: Sequence[str] = ()) -> dict:
    """`notes`: on how it was run."""
    workload = measured.workload
    baseline = measured.series[0]
    return {
        "name": workload.name,
        "title": workload.title,
        "connections": workload.connections,
        "generator": workload.generator.name,
        "rate": getattr(workload.generator, "rate", None),
        "command": _shown_command(
            workload.generator.command(
                0, workload.connections, workload.ask(baseline.subject)
            )
        ),
        "problem": measured.problem,
        "series": [
            summarise_series(series, baseline, workload.connections) for series in measured.series
        ],
        "verdicts": verdicts(workload, measured.series),
        "floor": floor(measured.series),
        "notes": [*notes, *_notes(measured)],
    }


def _notes(measured: Measured) -> list[str]:
    runs = [run for series in measured.series for run in series.runs if run is not None]
    if not runs:
        return []
    notes = _busy_notes(runs)
    limited = [series.subject.name for series in measured.series if series.is_limited_by_generator]
    if limited:
        notes.append(
            f"the generator's core is full with {', '.join(limited)}: req/s and percentiles are the "
            "generator's there; compare the CPU per request"
        )
    return notes + _late_notes(measured.series)


def _late_notes(all_series: Sequence[Series]) -> list[str]:
    """A latency that is the generator's own fault says nothing of the server."""
    late = []
    for series in all_series:
        p99, own = (median_of(series.figures(name)) for name in ("p99_us", "late_p99_us"))
        if p99 and own and own > p99 / 2:
            late.append(series.subject.name)
    return [f"the generator itself was late: more than half of p99 is its own with {', '.join(late)}"] if late else []


def _busy_notes(runs: list[Run]) -> list[str]:
    notes = []
    strayed = [run for run in runs if run.stray_share > STRAY_LIMIT]
    if strayed:
        worst = max(strayed, key=lambda run: run.stray_share)
        by = f" ({worst.stray_by} most of it)" if worst.stray_by else ""
        notes.append(
            f"BUSY MACHINE: in {len(strayed)} of {len(runs)} runs other processes used up "
            f"to {worst.stray_share:.2f} of a core{by}, which may be in the CPU per request; "
            "the process's own time is not touched"
        )
    stolen = [run.steal_share for run in runs if run.steal_share > STEAL_LIMIT]
    if stolen:
        notes.append(
            f"BUSY HOST: it took up to {100 * max(stolen):.0f} % of the server's core in "
            f"{len(stolen)} of {len(runs)} runs"
        )
    return notes


def busy_runs(report: dict) -> tuple[int, int]:
    """How many were disturbed, and of how many."""
    series = [each for workload in report["workloads"] for each in workload["series"]]
    ran = sum(1 for each in series for run in each["runs"] if run)
    return sum(each["busy_runs"] for each in series), ran


def is_whole(report: dict) -> bool:
    """Nothing was missing, failed or answered wrongly."""
    alone = (*report["in_process"], *report.get("runtime", []))
    return all(work["problem"] is None for work in alone) and all(
        workload["problem"] is None
        and all(series["problem"] is None and not series["errors"] for series in workload["series"])
        for workload in report["workloads"]
    )
