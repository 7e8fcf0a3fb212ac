"""Runs the workloads: every subject in turn, round after round, so that pairs are neighbours."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from harness.asks import Ask
from harness.cpu import TICKS_PER_SECOND, resident_bytes, ticks_of_others
from harness.generators import Generator, Outcome, Unreadable
from harness.machine import Cores
from harness.servers import ServerFailed, Subject, check, pinned, running
from harness.watch import Sample, Watch, settle_down, stretch
from harness.workloads import Workload

GENERATOR_GRACE = 30.0  # seconds that a generator may need beyond its load


@dataclass(frozen=True)
class Run:
    """One generator run against one freshly started server."""

    per_second: float
    p50_us: float
    p99_us: float
    p999_us: float | None
    max_us: float
    cpu_us: float  # of the server's core for a request, softirq included
    cpu_user_us: float
    cpu_system_us: float
    process_us: (
        float  # CPU time charged to the server's process; blind to what softirqs do outside it
    )
    server_core_busy: float  # share
    generator_core_busy: float
    resident_bytes: int  # of the server under load, at most
    resident_before: int
    resident_after: int  # once the load has gone
    requests: int
    errors: dict[str, int]
    answer_bytes: int | None  # of an answer, its head included, where that was looked at
    stray_share: float  # of a core, used by processes that have no part in this
    steal_share: float


@dataclass
class Series:
    """A subject's runs in one workload, in the order of the rounds; None for one that failed or
    that it had no part in."""

    subject: Subject
    runs: list[Run | None] = field(default_factory=list)
    problem: str | None = None  # why runs are missing

    def figures(self, name: str) -> list[float | None]:
        return [None if run is None else getattr(run, name) for run in self.runs]

    def as_data(self) -> dict:
        return {
            "subject": self.subject.name,
            "kind": self.subject.kind,
            "is_peer": self.subject.is_peer,
            "parses": self.subject.parses,
            "command": self.subject.command,
            "problem": self.problem,
            "runs": [None if run is None else asdict(run) for run in self.runs],
        }


@dataclass
class Measured:
    workload: Workload
    series: list[Series]  # the baseline first
    problem: str | None = None  # why the workload was not run at all


def generate(
    generator: Generator, pid: int, port: int, connections: int, cores: Cores, ask: Ask | None
) -> tuple[Outcome, list[Sample]]:
    """Runs the generator to its end: what it says, and what was seen on the way."""
    watch = Watch(pid, cores)
    process = subprocess.Popen(
        generator.command(port, connections, ask),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=pinned(cores.generator),
    )
    watch.start()
    most = 2 * generator.length + GENERATOR_GRACE
    try:
        output, complaints = process.communicate(timeout=most)
    except subprocess.TimeoutExpired:
        raise Unreadable(f"{generator.name} did not end in {most:.0f} s") from None
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        samples = watch.finish()
    try:
        return generator.parse(output), samples
    except Unreadable as error:
        raise Unreadable(f"{error}; {complaints.strip()[-200:]}") from error


def run_once(workload: Workload, subject: Subject, cores: Cores, ours: set[int]) -> Run:
    ask = workload.ask(subject)
    with running(subject, cores.server) as (pid, port):
        answer_bytes = check(subject, port, ask)
        time.sleep(0.05)  # the check's connections are closed by then
        ours = ours | {pid}
        others = ticks_of_others(ours)
        resident_before = resident_bytes(pid)
        outcome, samples = generate(
            workload.generator, pid, port, workload.connections, cores, ask
        )
        others = max(0, ticks_of_others(ours) - others)
        resident_after = settle_down(pid)
    seen = stretch(samples, outcome.window)
    server, whole = seen.server_core, stretch(samples).server_core
    if outcome.requests == 0:
        raise ServerFailed(f"not one reply: {outcome.errors}")
    micro = 1e6 / outcome.requests
    return Run(
        per_second=outcome.per_second,
        p50_us=outcome.p50,
        p99_us=outcome.p99,
        p999_us=outcome.p999,
        max_us=outcome.max,
        cpu_us=server.busy * micro,
        cpu_user_us=server.user * micro,
        cpu_system_us=server.system * micro,
        process_us=seen.process * micro,
        server_core_busy=server.share,
        generator_core_busy=seen.generator_core.share,
        resident_bytes=seen.resident,
        resident_before=resident_before,
        resident_after=resident_after,
        requests=outcome.requests,
        errors=outcome.errors,
        answer_bytes=answer_bytes,
        stray_share=others / TICKS_PER_SECOND / whole.wall,
        steal_share=whole.steal / whole.wall,
    )


def measure(
    workload: Workload,
    subjects: Sequence[Subject],
    cores: Cores,
    ours: set[int],
    tell: Callable[[str], None],
) -> Measured:
    measured = Measured(workload, [Series(subject) for subject in subjects])
    if not shutil.which(workload.generator.program):
        measured.problem = (
            f"{workload.generator.program} is not there; it is of {workload.generator.package}"
        )
        return measured
    for series in measured.series:
        series.problem = series.subject.missing()
    try:
        for round_ in range(workload.pairs):
            tell(f"{workload.name}: round {round_ + 1} of {workload.pairs}")
            for series in measured.series:
                sits_out = series.subject.is_peer and round_ >= workload.peer_pairs
                series.runs.append(
                    None if sits_out else _run_or_note(workload, series, cores, ours)
                )
    except KeyboardInterrupt:
        measured.problem = "interrupted"
    return measured


def _run_or_note(workload: Workload, series: Series, cores: Cores, ours: set[int]) -> Run | None:
    """A subject that failed once is not tried again: it would fail again, at length."""
    if series.problem is not None:
        return None
    try:
        return run_once(workload, series.subject, cores, ours)
    except (ServerFailed, Unreadable) as error:
        series.problem = str(error)
        return None
