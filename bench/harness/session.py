"""One run of the benchmark from its first round, or from where it was broken off, to its report."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.building import PEERS
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


def _stamp_of_file(path: Path) -> str:
    status = path.stat()
    return f"{path.name} of {status.st_size} bytes, {status.st_mtime_ns}"


def _stamp(command: str) -> str:
    """The files that a command is made of, and when they were made. Of a program that is installed, too, and of those beside a
    script of ours, which are what it has to be told."""
    stamps = []
    for number, word in enumerate(shlex.split(command)):
        found = shutil.which(word) if number == 0 else word
        path = Path(found) if found else Path(word)
        if not path.is_file():
            continue
        is_script = path.is_relative_to(PEERS) and path.parent != PEERS
        beside = sorted(path.parent.rglob("*")) if is_script else [path]
        stamps += [_stamp_of_file(each) for each in beside if each.is_file() and "node_modules" not in each.parts]
    return "; ".join(stamps)


def _stamp_of_harness() -> str:
    """Of this benchmark itself."""
    digest = hashlib.sha256()
    for each in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(each.read_bytes())
    return digest.hexdigest()[:16]


def identity(plan: Plan) -> dict[str, str]:
    """What must stay as it is for further rounds to be of the same run."""
    same = {
        "the machine": f"{platform.node()}, {platform.release()}",
        "the benchmark": _stamp_of_harness(),
        "the choice of cores": f"{plan.cores.server}, {plan.cores.generator}",
    }
    for work in plan.works:
        how = shlex.join(work.generator.command(0, work.connections))
        same[f"the workload {work.name}"] = f"{how} × {work.pairs}, {work.peer_pairs}: {_stamp(how)}"
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
