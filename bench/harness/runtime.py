"""The runtime alone, beside tokio's: the same programs on both (bench/runtime, bench/peers/rust/runtime), in turn."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from harness.building import LeftOut, rust
from harness.cpu import strangers, strayed
from harness.in_process import go_on
from harness.machine import Cores
from harness.ratios import median_of, paired_ratio, quartiles
from harness.runs import STRAY_LIMIT
from harness.verdict import Metric, outcome

TIME = Metric("ns", "time")
PATIENCE_S = 300  # of a program that takes some seconds


@dataclass(frozen=True)
class Row:
    title: str
    ours: str  # the figure of bench_runtime
    theirs: str = ""  # the figure of tokio's program; none if it has no such thing


@dataclass(frozen=True)
class RuntimeWork:
    name: str
    title: str
    part: str  # of bench_runtime
    program: str  # of tokio's
    operations: int  # how many of them
    rows: tuple[Row, ...]
    pairs: int
    seconds: float  # of a round, roughly
    ours: Path
    theirs: Path | None = None  # where tokio's programs are

    @property
    def length(self) -> float:
        return self.pairs * self.seconds


def runtime_works(pairs: int, build: Path) -> list[RuntimeWork]:
    ours = build / "bench/runtime/bench_runtime"

    def work(part: str, title: str, program: str, operations: int, seconds: float, *rows: Row) -> RuntimeWork:
        return RuntimeWork(f"runtime-{part.replace('_', '-')}", title, part, program, operations, rows, pairs, seconds, ours)

    return [
        work("spawn", "tasks", "spawn_join", 1_000_000, 0.7,
             Row("an empty task is spawned and joined", "spawn_join_ns", "ns")),
        work("sleep", "sleeps", "cancelled_sleep", 500_000, 0.8,
             Row("a sleep is begun and cancelled", "cancelled_sleep_ns", "ns")),
        work("timers", "timers", "timer", 1_000_000, 2.5,
             Row("a timer is armed and cancelled, 1,000,000 live", "timer_among_many_ns", "ns")),
        work("round_trip", "calls of another thread", "round_trip", 20_000, 8,
             Row("round trip to a thread that sleeps, p50", "round_trip_sleeping_p50_ns", "p50_ns"),
             Row("round trip to a thread that sleeps, p99", "round_trip_sleeping_p99_ns", "p99_ns"),
             Row("round trip to a thread that spins, p50", "round_trip_spinning_p50_ns"),
             Row("round trip to a thread that spins, p99", "round_trip_spinning_p99_ns")),
        work("bulk", "calls of another thread, 64 at a time", "", 0, 2, Row("a call, 64 under way", "call_of_64_at_once_ns")),
    ]  # fmt: skip


def build_tokio(into: Path) -> Path:
    """Raises LeftOut where it cannot be had."""
    name = "tokio_runtime"
    rust("runtime", name)(name, (), into)
    return into / name


def _figures(command: Sequence[str], cores: Cores) -> dict[str, float]:
    """On both cores: a call of another thread is to one that has its own."""
    allowed = {cores.server, cores.generator}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
                          preexec_fn=lambda: os.sched_setaffinity(0, allowed))  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} has ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def _round(work: RuntimeWork, cores: Cores, ours: set[int]) -> dict:
    before, started = strangers(ours), time.monotonic()
    own = _figures([str(work.ours), work.part], cores)
    other = _figures([str(work.theirs), work.program, str(work.operations)], cores) if work.theirs and work.program else {}
    seconds, by = strayed(before, strangers(ours))
    share = seconds / (time.monotonic() - started)
    return {
        "ours": {row.ours: own[row.ours] for row in work.rows},
        "theirs": {row.theirs: other[row.theirs] for row in work.rows if row.theirs and other},
        "stray_share": share,
        "stray_by": by if share > STRAY_LIMIT else None,
    }


def measure_runtime(
    work: RuntimeWork,
    cores: Cores,
    ours: set[int],
    tell: Callable[[str], None],
    before: Sequence[dict] = (),
    keep: Callable[[dict], None] = lambda _: None,
) -> dict:
    rounds = go_on(work.name, work.ours, work.pairs, lambda: _round(work, cores, ours), tell, before, keep)
    return summarise_runtime(work, *rounds)


def _summary_row(row: Row, rounds: Sequence[dict]) -> dict:
    ours = [each["ours"][row.ours] for each in rounds]
    theirs = [each["theirs"].get(row.theirs) for each in rounds]
    ratio = paired_ratio(ours, theirs)
    low, high = quartiles(ours)
    return {
        "title": row.title,
        "ns": median_of(ours),
        "ns_low": low,
        "ns_high": high,
        "theirs_ns": median_of(theirs),
        "ratio": asdict(ratio) if ratio else None,
        "outcome": outcome(ratio, TIME) if ratio else None,
    }


def summarise_runtime(work: RuntimeWork, rounds: Sequence[dict], problem: str | None) -> dict:
    return {
        "name": work.name,
        "title": work.title,
        "rounds": len(rounds),
        "busy_rounds": sum(each["stray_share"] > STRAY_LIMIT for each in rounds),
        "problem": problem,
        "rows": [_summary_row(row, rounds) for row in work.rows if rounds],
    }


def with_tokio(works: Sequence[RuntimeWork], into: Path, notes: list[str]) -> list[RuntimeWork]:
    """Beside tokio's programs, where they can be built; `notes` says if not."""
    if not works:
        return []
    try:
        theirs = build_tokio(into)
    except LeftOut as reason:
        notes.append(f"tokio's runtime is left out: {reason}")
        return list(works)
    return [replace(work, theirs=theirs) for work in works]
