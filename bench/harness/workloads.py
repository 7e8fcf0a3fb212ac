"""What is measured: the workloads and the servers that take part in each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.generators import Ab, Generator, WeftBench, Wrk
from harness.servers import Subject

BASELINE = "ceil_epoll"


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    protocol: str  # which subjects take part
    generator: Generator
    connections: int
    pairs: int


@dataclass(frozen=True)
class Effort:
    """How much is run. Quick is under three minutes with four subjects a workload."""

    seconds: float
    warm_up: float
    pairs: int
    headline_pairs: int  # of the ping by the lean generator, the figure that is held to a limit
    ab_requests: int


FULL = Effort(seconds=2, warm_up=0.5, pairs=7, headline_pairs=9, ab_requests=200_000)
QUICK = Effort(seconds=1, warm_up=0.25, pairs=3, headline_pairs=7, ab_requests=60_000)


def workloads(effort: Effort, build: Path) -> list[Workload]:
    weft_bench = str(build / "apps/weft-bench/weft-bench")

    def lean(protocol: str) -> WeftBench:
        return WeftBench(weft_bench, protocol, effort.seconds, effort.warm_up)

    wrk = Wrk(effort.seconds)
    return [
        Workload(
            "ping", "POST /ping, lean generator", "http", lean("http"), 400, effort.headline_pairs
        ),
        Workload("ping-wrk-2", "POST /ping, wrk", "http", wrk, 2, effort.pairs),
        Workload("ping-wrk-400", "POST /ping, wrk", "http", wrk, 400, effort.pairs),
        Workload("echo-ab", "TCP echo, ab -k", "echo", Ab(effort.ab_requests), 1000, effort.pairs),
        Workload("echo", "TCP echo, lean generator", "echo", lean("echo"), 1000, effort.pairs),
    ]


def own_subjects(build: Path) -> list[Subject]:
    """The baseline of each protocol comes first."""
    epoll, uring = (build / f"bench/ceilings/{name}_server" for name in ("epoll", "io_uring"))
    weftd = build / "apps/weftd/weftd"
    echo = build / "examples/echo"
    subjects = []
    for protocol in ("http", "echo"):
        subjects += [
            Subject(BASELINE, f"'{epoll}' {{port}} {protocol}", protocol),
            Subject("ceil_uring", f"'{uring}' {{port}} {protocol}", protocol),
        ]
    for short, backend in (("epoll", "epoll"), ("uring", "io_uring")):
        listen = f"--listen 127.0.0.1:{{port}} --backend {backend}"
        subjects += [
            Subject(f"weftd_{short}", f"'{weftd}' {listen} --threads 1", "http"),
            Subject(f"echo_{short}", f"'{echo}' {listen}", "echo"),
        ]
    return subjects
