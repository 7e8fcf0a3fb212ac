"""What was measured: runs, rounds, and all rounds of a workload."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from harness.ratios import median_of
from harness.servers import Subject
from harness.workloads import Workload

STRAY_LIMIT = 0.06  # of a core
STEAL_LIMIT = 0.02
FULL, NOT_FULL = 0.97, 0.95  # shares of a core


@dataclass(frozen=True)
class Run:
    """One generator run against one server, freshly started. What only the server's machine knows is
    None of a server that somebody else has started."""

    per_second: float
    p50_us: float
    p99_us: float
    p999_us: float | None
    max_us: float
    percentiles: dict[str, float]  # µs by percent
    cpu_us: float | None  # of the server's core for a request, softirq included
    cpu_user_us: float | None
    cpu_system_us: float | None
    # CPU time charged to the server's process; blind to what softirqs do outside it.
    process_us: float | None
    server_core_busy: float | None  # share
    generator_core_busy: float
    resident_bytes: int | None  # of the server under load, at most
    resident_before: int | None
    resident_after: int | None  # once the load has gone
    requests: int
    errors: dict[str, int]
    answer_bytes: int | None  # of an answer, its head included, where that was looked at
    stray_share: float  # of a core, used by processes that have no part in this
    stray_by: str | None  # who used most of it
    steal_share: float
    late_p99_us: float | None = None  # how late the generator was, where requests are due at a time

    @property
    def is_busy(self) -> bool:
        """Whether others took part, so that its figures are not the server's alone."""
        return self.stray_share > STRAY_LIMIT or self.steal_share > STEAL_LIMIT

    @property
    def grown_bytes(self) -> int | None:
        """What the load has made the server's memory grow by."""
        if self.resident_bytes is None or self.resident_before is None:
            return None
        return self.resident_bytes - self.resident_before

    def as_data(self) -> dict:
        return {**asdict(self), "is_busy": self.is_busy}

    @staticmethod
    def of_data(data: dict) -> Run:
        return Run(**{name: value for name, value in data.items() if name != "is_busy"})


@dataclass(frozen=True)
class Round:
    """A run of each subject, by its name; None where there is none. `problems`: why not."""

    runs: dict[str, Run | None]
    problems: dict[str, str]

    def as_data(self) -> dict:
        runs = {name: run.as_data() if run else None for name, run in self.runs.items()}
        return {"runs": runs, "problems": self.problems}

    @staticmethod
    def of_data(data: dict) -> Round:
        runs = {name: Run.of_data(run) if run else None for name, run in data["runs"].items()}
        return Round(runs, data["problems"])


@dataclass
class Series:
    """A subject's runs in one workload, in the order of the rounds; None for one that failed or
    that it had no part in."""

    subject: Subject
    runs: list[Run | None] = field(default_factory=list)
    problem: str | None = None  # why runs are missing

    def figures(self, name: str) -> list[float | None]:
        return [None if run is None else getattr(run, name) for run in self.runs]

    @property
    def is_limited_by_generator(self) -> bool:
        """Its core was full, and the server's was not, or nobody knows."""
        generator, server = (median_of(self.figures(f"{each}_core_busy")) for each in ("generator", "server"))
        return generator is not None and generator > FULL and (server is None or server < NOT_FULL)

    @property
    def errors(self) -> int:
        return sum(sum(run.errors.values()) for run in self.runs if run)

    def as_data(self) -> dict:
        return {
            "subject": self.subject.name,
            "kind": self.subject.kind,
            "is_peer": self.subject.is_peer,
            "parses": self.subject.parses,
            "command": self.subject.command or f"at {self.subject.address}",
            "problem": self.problem,
            "runs": [None if run is None else run.as_data() for run in self.runs],
        }


@dataclass
class Measured:
    workload: Workload
    series: list[Series]  # the baseline first
    problem: str | None = None  # why the workload was not run at all
