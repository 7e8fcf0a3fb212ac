"""One run of the benchmark from its first round, or from where it was broken off, to its report."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.in_process import InProcess, measure_in_process
from harness.journal import Journal
from harness.machine import Cores
from harness.open_loop import NoRate, Paced, paced
from harness.progress import Progress, minutes
from harness.runner import INTERRUPTED, measure, not_measured
from harness.runs import Round
from harness.runtime import RuntimeWork, measure_runtime
from harness.servers import Subject
from harness.summary import summarise
from harness.workloads import Workload


@dataclass(frozen=True)
class Plan:
    works: Sequence[Workload]
    subjects: Sequence[Subject]
    in_process: Sequence[InProcess]
    cores: Cores
    runtime: Sequence[RuntimeWork] = ()

    def taking_part(self, work: Workload) -> list[Subject]:
        return [subject for subject in self.subjects if work.takes(subject)]

    def left(self, journal: Journal) -> float:
        """Seconds of work, roughly."""
        return sum(
            length * max(0, 1 - len(journal.rounds(name)) / pairs)
            for name, length, pairs in (
                *((work.name, work.length(self.subjects), work.pairs) for work in self.works),
                *((work.name, work.length, work.pairs) for work in (*self.in_process, *self.runtime)),
            )
        )


def _stamp(command: str) -> str:
    """The files that a command is made of, and when they were made."""
    stamps = []
    for word in shlex.split(command):
        path = Path(word)
        if path.is_file():
            status = path.stat()
            stamps.append(f"{path.name} of {status.st_size} bytes, {status.st_mtime_ns}")
    return "; ".join(stamps)


def identity(plan: Plan) -> dict[str, str]:
    """What must stay as it is for further rounds to be of the same run."""
    same = {
        "the machine": f"{platform.node()}, {platform.release()}",
        "the choice of cores": f"{plan.cores.server}, {plan.cores.generator}",
    }
    for work in plan.works:
        how = shlex.join(work.generator.command(0, work.connections))
        same[f"the workload {work.name}"] = f"{how} × {work.pairs}, {work.peer_pairs}"
        for subject in plan.taking_part(work):
            what = subject.address or f"{subject.command}: {_stamp(subject.command)}"
            same[f"{subject.name} in {work.name}"] = what
    for work in plan.in_process:
        same[f"the workload {work.name}"] = f"{work.sizes} × {work.pairs}: {_stamp(work.program)}"
    for work in plan.runtime:
        stamps = "; ".join(_stamp(shlex.quote(str(each))) for each in (work.ours, work.theirs) if each)
        same[f"the workload {work.name}"] = f"{work.operations} × {work.pairs}: {stamps}"
    return same


def as_it_is_run(work: Workload, subjects: list[Subject], report: dict) -> Paced:
    return Paced(work, subjects, []) if work.share is None else paced(work, subjects, report)


def measure_all(plan: Plan, journal: Journal, report: dict, say: Callable[[str], None]) -> bool:
    """Fills the report in; False when it was interrupted."""
    whole = plan.left(journal)
    say(f"about {minutes(whole)} minutes")
    progress = Progress(whole, say)
    ours = {os.getpid()}

    def keeper(name: str, planned: float) -> Callable[[dict], None]:
        def keep(round_: dict) -> None:
            journal.keep(name, round_)
            progress.passed(planned)

        return keep

    for work in plan.works:
        keep = keeper(work.name, work.length(plan.subjects) / work.pairs)
        try:
            now = as_it_is_run(work, plan.taking_part(work), report)
        except NoRate as error:
            report["workloads"].append(summarise(not_measured(work, plan.taking_part(work), str(error))))
            continue
        measured = measure(
            now.work,
            now.subjects,
            plan.cores,
            ours,
            progress.tell,
            [Round.of_data(each) for each in journal.rounds(work.name)],
            lambda round_, keep=keep: keep(round_.as_data()),
        )
        report["workloads"].append(summarise(measured, now.notes))
        if measured.problem == INTERRUPTED:
            return False
    for kind, works, measure_one in (("in_process", plan.in_process, measure_in_process),
                                     ("runtime", plan.runtime, measure_runtime)):  # fmt: skip
        for work in works:
            keep = keeper(work.name, work.seconds)
            before = journal.rounds(work.name)
            report[kind].append(measure_one(work, plan.cores, ours, progress.tell, before, keep))
            if report[kind][-1]["problem"] == INTERRUPTED:
                return False
    return True
