"""What is measured: the workloads and the servers that take part in each."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.asks import HELLO, Ask, Trial
from harness.effort import Effort
from harness.generators import Ab, Generator, WeftBench, Wrk
from harness.servers import Subject

BASELINE = "ceil_epoll"
HEALTH = Trial("GET", "/healthz", b"", 200, b"ok\n")
ONCE_EACH = 100  # connections of one request, at a time
MANY = 19_000  # as many as a limit of 20,000 descriptors allows


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    protocol: str  # which subjects take part
    generator: Generator
    connections: int
    pairs: int
    peer_pairs: int = 0  # peers take part in so many of the first rounds
    in_quick: bool = True  # a quick run does it unasked
    in_full: bool = True  # so does a full one
    is_plain: bool = False  # the load asks for a short text
    only_leading: bool = False  # of the peers the fastest alone take part
    only_complete: bool = False  # servers with a trivial parser take no part
    share: float | None = None  # of what the best peer can in the ping: so many requests a second are due
    baseline: str = BASELINE  # of the subjects, that which the others are compared with

    def takes(self, subject: Subject) -> bool:
        if subject.protocol != self.protocol or (subject.is_peer and self.peer_pairs == 0):
            return False
        if self.is_plain and subject.plain is None:
            return False
        if self.only_leading and subject.is_peer and not subject.leads:
            return False
        if self.only_complete and subject.kind == "bare":
            return False
        if subject.asks is not None and self.name not in subject.asks:
            return False
        return not subject.levels or self.connections in subject.levels

    def ask(self, subject: Subject) -> Ask | None:
        if self.is_plain and subject.plain is not None:
            return Ask(subject.plain, None)
        return None if subject.asks is None else subject.asks[self.name]

    def length(self, subjects: Sequence[Subject]) -> float:
        """Of all its rounds in seconds, roughly: start, check, connections and load of each run."""
        once = 0.5 + self.connections * 100e-6 + self.generator.length
        return once * sum(
            min(self.pairs, self.peer_pairs) if subject.is_peer else self.pairs
            for subject in subjects
            if self.takes(subject)
        )


def workloads(effort: Effort, build: Path, many: int = MANY) -> list[Workload]:
    """`many`: the connections of the level that should have MANY."""
    weft_bench = str(build / "apps/weft-bench/weft-bench")

    def lean(protocol: str, more_warm_up: float = 0) -> WeftBench:
        return WeftBench(weft_bench, protocol, effort.seconds, effort.warm_up + more_warm_up)

    wrk = Wrk(effort.seconds)
    pairs, peers = effort.pairs, effort.peer_pairs
    by_lean, by_wrk = "POST /ping, lean generator", "POST /ping, wrk"
    # wrk is beside the lean generator for those who know it.
    return [
        Workload("ping", by_lean, "http", lean("http"), 400, effort.headline_pairs, peers),
        Workload("ping-2", by_lean, "http", lean("http"), 2, pairs, peers),
        Workload("ping-19000", by_lean, "http", lean("http", 0.5), many, pairs, peers,
                 in_quick=False),
        Workload("ping-wrk-2", by_wrk, "http", wrk, 2, pairs, in_quick=False),
        Workload("ping-wrk-400", by_wrk, "http", wrk, 400, pairs, peers, in_quick=False,
                 only_leading=True),
        Workload("ping-wrk-19000", by_wrk, "http", wrk, many, pairs, peers, in_quick=False,
                 only_leading=True),
        Workload("echo-ab", "TCP echo, ab -k", "echo", Ab(effort.ab_requests, is_echo=True), 1000, pairs, peers,
                 in_quick=False),
        Workload("echo", "TCP echo, lean generator", "echo", lean("echo"), 1000, pairs, peers),
        *_plain(effort, weft_bench, many),
    ]


def _plain(effort: Effort, weft_bench: str, many: int) -> list[Workload]:
    """A GET of a short text: to many that are kept, pipelined, and to one connection each."""
    pairs, peers = effort.pairs, effort.peer_pairs
    kept = WeftBench(weft_bench, "http", effort.seconds, effort.warm_up)
    pipelined = replace(kept, pipelined=16)
    single = Ab(effort.ab_requests // 4, keeps=False, per_second=15_000)
    level = min(many, 10_000)
    return [
        Workload("plain-10000", "GET of a text, lean generator", "http", kept, level, pairs, peers,
                 in_quick=False, is_plain=True),
        Workload("plain-pipelined", "GET of a text, 16 at a time", "http", pipelined, 64, pairs, peers,
                 in_quick=False, is_plain=True),
        Workload("plain-single", "GET of a text, a connection each, ab", "http", single, ONCE_EACH, pairs, peers,
                 in_quick=False, is_plain=True, only_complete=True, baseline="weftd_epoll"),
    ]  # fmt: skip


def spins(weftd: Path) -> bool:
    """Whether this weftd can look for work a while before it sleeps."""
    try:
        told = subprocess.run([weftd, "--help"], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return False
    return "--idle" in told.stdout


def own_subjects(build: Path) -> list[Subject]:
    """The baseline of each protocol comes first."""
    epoll, uring = (build / f"bench/ceilings/{name}_server" for name in ("epoll", "io_uring"))
    weftd = build / "apps/weftd/weftd"
    echo = build / "examples/echo"
    subjects = []
    for protocol, plain in (("http", HELLO), ("echo", None)):
        subjects += [
            Subject(BASELINE, f"'{epoll}' {{port}} {protocol}", protocol, "bare", plain=plain),
            Subject("ceil_uring", f"'{uring}' {{port}} {protocol}", protocol, "bare", plain=plain),
        ]
    can_spin = spins(weftd)
    for short, backend in (("epoll", "epoll"), ("uring", "io_uring")):
        listen = f"--listen 127.0.0.1:{{port}} --backend {backend}"
        serve = f"'{weftd}' {listen} --threads 1"
        subjects.append(Subject(f"weftd_{short}", serve, "http", "complete", plain=HEALTH))
        if can_spin:
            spinning = f"{serve} --idle spin=50us"
            subjects.append(
                Subject(f"weftd_{short}_spin", spinning, "http", "complete", levels=(2,))
            )
        deferred = f"{serve} --http.server.defer_accept=true"
        subjects.append(Subject(f"weftd_{short}_deferred", deferred, "http", "complete", levels=(ONCE_EACH,), plain=HEALTH))
        subjects.append(Subject(f"echo_{short}", f"'{echo}' {listen}", "echo", "complete"))
    return subjects
