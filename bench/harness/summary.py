"""From runs to the figures that the reports print."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

from harness.ratios import median_of, paired_ratio
from harness.runner import Measured, Series

STRAY_LIMIT = 0.06  # of a core
STEAL_LIMIT = 0.02
MANY_ENOUGH = 1000  # connections

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
        "bytes_per_connection": bytes_per_connection(series, connections),
        "errors": errors,
    }


def bytes_per_connection(series: Series, connections: int) -> float | None:
    """What the server's memory grew by, for each connection; None for so few that its own start
    would be most of it."""
    if connections < MANY_ENOUGH:
        return None
    grown = [run.resident_bytes - run.resident_before for run in series.runs if run]
    return median_of(grown) / connections if grown else None


def _shown_command(command: list[str]) -> str:
    """As one would type it, with control characters visible."""
    program, *rest = command
    words = [word if re.fullmatch(r"[\w./:=+-]+", word) else json.dumps(word) for word in rest]
    return " ".join([Path(program).name, *words]).replace("127.0.0.1:0", "127.0.0.1:PORT")


def summarise(measured: Measured) -> dict:
    workload = measured.workload
    baseline = measured.series[0]
    return {
        "name": workload.name,
        "title": workload.title,
        "connections": workload.connections,
        "generator": workload.generator.name,
        "command": _shown_command(
            workload.generator.command(
                0, workload.connections, workload.ask(baseline.subject)
            )
        ),
        "problem": measured.problem,
        "series": [
            summarise_series(series, baseline, workload.connections) for series in measured.series
        ],
        "notes": _notes(measured),
    }


def _notes(measured: Measured) -> list[str]:
    runs = [run for series in measured.series for run in series.runs if run is not None]
    if not runs:
        return []
    notes = []
    strayed = [run.stray_share for run in runs if run.stray_share > STRAY_LIMIT]
    if strayed:
        notes.append(
            f"not a quiet machine: in {len(strayed)} of {len(runs)} runs other processes used up "
            f"to {max(strayed):.2f} of a core, which may be in the CPU per request; "
            "the process's own time is not touched"
        )
    stolen = [run.steal_share for run in runs if run.steal_share > STEAL_LIMIT]
    if stolen:
        notes.append(
            f"the host took up to {100 * max(stolen):.0f} % of the server's core in "
            f"{len(stolen)} of {len(runs)} runs"
        )
    if min(run.generator_core_busy for run in runs) > 0.97 and (
        min(run.server_core_busy for run in runs) < 0.95
    ):
        notes.append(
            "the generator's core is full: req/s tells how fast the generator is; "
            "compare the CPU per request"
        )
    return notes


def is_whole(report: dict) -> bool:
    """Nothing was missing, failed or answered wrongly."""
    return all(
        workload["problem"] is None
        and all(series["problem"] is None and not series["errors"] for series in workload["series"])
        for workload in report["workloads"]
    )
