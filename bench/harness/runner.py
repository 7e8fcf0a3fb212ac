"""Runs the workloads: every subject in turn, round after round, so that pairs are neighbours."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Sequence

from harness.checks import check
from harness.cpu import resident_bytes, strangers, strayed
from harness.generators import Generator, Outcome, Unreadable
from harness.machine import Cores
from harness.runs import STRAY_LIMIT, Measured, Round, Run, Series
from harness.servers import ServerFailed, Subject, pinned, reached
from harness.watch import Sample, Stretch, Watch, settle_down, stretch
from harness.workloads import Workload

GENERATOR_GRACE = 30.0  # seconds that a generator may need beyond its load
FEWER_BYTES = ("tls", "http2")  # heads are compressed there, and texts coded
SIZES_APART = 0.05  # an answer's length under load, on average, is that of the one that was checked
INTERRUPTED = "interrupted"


def generate(
    generator: Generator, command: Sequence[str], pid: int | None, cores: Cores
) -> tuple[Outcome, list[Sample]]:
    """Runs the generator to its end: what it says, and what was seen on the way."""
    watch = Watch(pid, cores)
    process = subprocess.Popen(
        command,
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


def _cpu_of(seen: Stretch, requests: int) -> dict[str, float]:
    micro = 1e6 / requests
    core = seen.server_core
    return {
        "cpu_us": core.busy * micro,
        "cpu_user_us": core.user * micro,
        "cpu_system_us": core.system * micro,
        "process_us": seen.process * micro,
        "server_core_busy": core.share,
        "resident_bytes": seen.resident,
    }


_NOT_OURS = dict.fromkeys(
    ("cpu_us", "cpu_user_us", "cpu_system_us", "process_us", "server_core_busy", "resident_bytes")
)


def _check_sizes(outcome: Outcome, answer_bytes: int | None) -> None:
    """That many who ask at once are told as much as the one was whose answers were looked at."""
    if answer_bytes is None or outcome.bytes is None or outcome.failed:
        return
    size = outcome.bytes / outcome.requests
    if abs(size - answer_bytes) > SIZES_APART * answer_bytes:
        raise ServerFailed(f"answers under load had {size:.0f} bytes, and {answer_bytes} when they were checked")


def run_once(workload: Workload, subject: Subject, cores: Cores, ours: set[int]) -> Run:
    ask = workload.ask(subject)
    with reached(subject, cores.server) as place:
        answer_bytes = check(subject, place.port, ask, place.host.strip("[]"))
        time.sleep(0.05)  # the check's connections are closed by then
        pid = place.pid
        ours = ours | {pid} if pid else ours
        before = strangers(ours)
        resident_before = resident_bytes(pid) if pid else None
        command = workload.generator.command(place.port, workload.connections, ask, place.host)
        outcome, samples = generate(workload.generator, command, pid, cores)
        stray_seconds, stray_by = strayed(before, strangers(ours))
        resident_after = settle_down(pid) if pid else None
        # That it answers rightly not only until it is timed.
        check(subject, place.port, ask, place.host.strip("[]"))
    if outcome.requests == 0:
        raise ServerFailed(f"not one reply: {outcome.errors}")
    if subject.protocol not in FEWER_BYTES:
        _check_sizes(outcome, answer_bytes)
    seen, whole = stretch(samples, outcome.window), stretch(samples).server_core
    # One that somebody else has started on this machine is a stranger itself.
    stray_share = stray_seconds / whole.wall if pid else 0.0
    return Run(
        per_second=outcome.per_second,
        p50_us=outcome.p50,
        p99_us=outcome.p99,
        p999_us=outcome.p999,
        max_us=outcome.max,
        percentiles=outcome.percentiles,
        **(_cpu_of(seen, outcome.requests) if pid else _NOT_OURS),
        generator_core_busy=seen.generator_core.share,
        resident_before=resident_before,
        resident_after=resident_after,
        requests=outcome.requests,
        errors=outcome.errors,
        answer_bytes=answer_bytes,
        stray_share=stray_share,
        stray_by=stray_by if stray_share > STRAY_LIMIT else None,
        steal_share=whole.steal / whole.wall,
        late_p99_us=outcome.late_p99,
    )


def not_measured(workload: Workload, subjects: Sequence[Subject], why: str) -> Measured:
    return Measured(workload, [Series(subject) for subject in subjects], why)


def measure(
    workload: Workload,
    subjects: Sequence[Subject],
    cores: Cores,
    ours: set[int],
    tell: Callable[[str], None],
    before: Sequence[Round] = (),
    keep: Callable[[Round], None] = lambda _: None,
) -> Measured:
    """Goes on after the rounds `before`, and gives each further one to `keep`."""
    measured = Measured(workload, [Series(subject) for subject in subjects])
    if not shutil.which(workload.generator.program):
        measured.problem = (
            f"{workload.generator.program} is not there; it is of {workload.generator.package}"
        )
        return measured
    for series in measured.series:
        name = series.subject.name
        series.runs = [round_.runs.get(name) for round_ in before]
        told = [round_.problems[name] for round_ in before if name in round_.problems]
        series.problem = told[-1] if told else series.subject.missing()
    try:
        for round_ in range(len(before), workload.pairs):
            tell(f"{workload.name}: round {round_ + 1} of {workload.pairs}")
            for series in measured.series:
                sits_out = series.subject.is_peer and round_ >= workload.peer_pairs
                series.runs.append(
                    None if sits_out else _run_or_note(workload, series, cores, ours)
                )
            keep(_last_round(measured.series))
    except KeyboardInterrupt:
        measured.problem = INTERRUPTED
    return measured


def _last_round(all_series: Sequence[Series]) -> Round:
    runs = {series.subject.name: series.runs[-1] for series in all_series}
    return Round(runs, {each.subject.name: each.problem for each in all_series if each.problem})


def _run_or_note(workload: Workload, series: Series, cores: Cores, ours: set[int]) -> Run | None:
    """A subject that failed once is not tried again: it would fail again, at length."""
    if series.problem is not None:
        return None
    try:
        return run_once(workload, series.subject, cores, ours)
    except Exception as error:  # whatever a server does, the others are measured
        is_known = isinstance(error, (OSError, ServerFailed, Unreadable))
        series.problem = str(error) if is_known else f"{type(error).__name__}: {error}"
        return None
