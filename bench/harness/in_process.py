"""The workloads of the library alone, in one process: what a thing costs, and how that grows with their number."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.cpu import strangers, strayed
from harness.library import run_workload
from harness.machine import Cores
from harness.ratios import median_of, quartiles
from harness.runner import INTERRUPTED
from harness.runs import STRAY_LIMIT


@dataclass(frozen=True)
class InProcess:
    name: str
    title: str
    unit: str  # what is counted
    program: str
    command: str  # of weft-bench
    option: str  # that says how many
    sizes: tuple[int, ...]
    pairs: int
    seconds: float  # of a round, roughly

    @property
    def length(self) -> float:
        return self.pairs * self.seconds


def in_process_workloads(pairs: int, build: Path) -> list[InProcess]:
    program = str(build / "apps/weft-bench/weft-bench")

    def work(command: str, title: str, unit: str, sizes: tuple[int, ...], seconds: float,
             option: str = "--count") -> InProcess:  # fmt: skip
        name = f"in-process-{command}"
        return InProcess(name, title, unit, program, command, option, sizes, pairs, seconds)

    return [
        work("coroutine", "coroutines made, queued, run and ended", "coroutine", (5_000_000,), 0.5),
        work("event", "events published, all of them, and then told", "event",
             (10_000, 100_000, 1_000_000, 5_000_000), 0.5),
        work("start", "services with their loggers, made, started and stopped", "service",
             (100, 1_000, 10_000, 100_000), 0.5, "--services"),
        work("start-stop", "two services, one of which needs the other, stopped and started again",
             "restart", (1_000_000,), 1),
        work("serializer", "a struct written as JSON and read back", "struct", (5_000_000,), 0.7),
    ]  # fmt: skip


def _round(work: InProcess, cores: Cores, ours: set[int]) -> dict:
    before, started = strangers(ours), time.monotonic()
    points = {}
    for size in work.sizes:
        options = (work.option, str(size))
        (phase,) = run_workload(Path(work.program), work.command, 1, *options, core=cores.server)
        points[str(size)] = {"ns": phase["seconds"] / size * 1e9, "rss_mb": phase["peak_rss_mb"]}
    seconds, by = strayed(before, strangers(ours))
    share = seconds / (time.monotonic() - started)
    return {"points": points, "stray_share": share, "stray_by": by if share > STRAY_LIMIT else None}


def go_on(
    name: str,
    program: str,
    pairs: int,
    make_round: Callable[[], dict],
    tell: Callable[[str], None],
    before: Sequence[dict],
    keep: Callable[[dict], None],
) -> tuple[list[dict], str | None]:
    """The rounds `before` and those that are left, each of which is given to `keep`; and what kept it from all of them."""
    rounds = list(before)
    if not shutil.which(program):
        return rounds, f"{program} is not there (make build)"
    try:
        for number in range(len(rounds), pairs):
            tell(f"{name}: round {number + 1} of {pairs}")
            rounds.append(make_round())
            keep(rounds[-1])
    except KeyboardInterrupt:
        return rounds, INTERRUPTED
    except (OSError, RuntimeError, ValueError, KeyError, subprocess.SubprocessError) as error:
        return rounds, str(error)
    return rounds, None


def measure_in_process(
    work: InProcess,
    cores: Cores,
    ours: set[int],
    tell: Callable[[str], None],
    before: Sequence[dict] = (),
    keep: Callable[[dict], None] = lambda _: None,
) -> dict:
    rounds = go_on(work.name, work.program, work.pairs, lambda: _round(work, cores, ours), tell, before, keep)
    return summarise_in_process(work, *rounds)


def summarise_in_process(work: InProcess, rounds: Sequence[dict], problem: str | None) -> dict:
    points = []
    for size in work.sizes if rounds else ():
        seen = [round_["points"][str(size)] for round_ in rounds]
        costs = [each["ns"] for each in seen]
        low, high = quartiles(costs)
        points.append(
            {
                "size": size,
                "runs_ns": costs,
                "ns": median_of(costs),
                "ns_low": low,
                "ns_high": high,
                "rss_mb": max(each["rss_mb"] for each in seen),
            }
        )
    return {
        "name": work.name,
        "title": work.title,
        "unit": work.unit,
        "command": f"weft-bench {work.command} {work.option} {work.sizes[-1]}",
        "rounds": len(rounds),
        "busy_rounds": sum(round_["stray_share"] > STRAY_LIMIT for round_ in rounds),
        "problem": problem,
        "points": points,
    }
