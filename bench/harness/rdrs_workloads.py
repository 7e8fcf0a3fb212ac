"""The workloads of batches of reads, and weft's own programs in them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.effort import Effort
from harness.generators import WeftBench
from harness.rdrs import BATCHES, FORMS, STEPS, Asks, make_database, workload_name
from harness.servers import Subject
from harness.workloads import Workload

PROTOCOL = "rdrs"
CONNECTIONS = 80  # as published
_UNASKED = ("rdrs-ping", "rdrs-write-1", "rdrs-write-10", "rdrs-rows-10")
_QUICK = ("rdrs-write-10",)
_BACKENDS = {"epoll": "epoll", "uring": "io_uring"}


def rdrs_folder(build: Path) -> Path:
    """Where bodies and the database lie."""
    return build.parent / "bench-rdrs"


def prepare(subjects: Iterable[Subject], build: Path) -> None:
    """Makes what they are asked with and serve from, unless it is there."""
    make_database(rdrs_folder(build) / "data")
    for ask in (ask for subject in subjects for ask in (subject.asks or {}).values()):
        if ask.body and not (ask.body.exists() and ask.body.read_bytes() == ask.timed.body):
            ask.body.write_bytes(ask.timed.body)


def _title(step: str, count: int, form: str) -> str:
    what = "1 operation" if count == 1 else f"{count} operations"
    return f"RDRS batch of {what}, {form}, {step}"


def rdrs_workloads(effort: Effort, build: Path) -> list[Workload]:
    weft_bench = str(build / "apps/weft-bench/weft-bench")
    load = WeftBench(weft_bench, "http", effort.seconds / 2, effort.warm_up / 2)
    pairs, peers = effort.pairs, effort.peer_pairs

    def work(name: str, title: str, baseline: str = "weft_epoll") -> Workload:
        return Workload(
            name,
            title,
            PROTOCOL,
            load,
            CONNECTIONS,
            pairs,
            peers,
            in_quick=name in _QUICK,
            in_full=name in _UNASKED or name.startswith("rdrs-weftd"),
            baseline=baseline,
        )

    works = [work("rdrs-ping", "RDRS programs, GET /ping")]
    for step in STEPS:
        for count in BATCHES:
            for form in FORMS:
                title = _title(step.title, count, form)
                works.append(work(workload_name(step.name, count, form), title))
    for short, backend in _BACKENDS.items():
        title = f"weftd's answers beside its ping, {backend}"
        works.append(work(f"rdrs-weftd-{short}", title, f"ping_{short}"))
    return works


def rdrs_subjects(build: Path) -> list[Subject]:
    """The baseline comes first."""
    asks = Asks(rdrs_folder(build))
    data = rdrs_folder(build) / "data"
    weft_bench, weftd = build / "apps/weft-bench/weft-bench", build / "apps/weftd/weftd"

    def subject(name: str, command: str, backend: str, asked: dict) -> Subject:
        listen = f"--listen 127.0.0.1:{{port}} --backend {backend} --threads 1"
        return Subject(name, f"{command} {listen}", PROTOCOL, "complete", asks=asked)

    in_memory = [
        subject(f"weft_{short}", f"'{weft_bench}' rdrs", backend, asks.of_server())
        for short, backend in _BACKENDS.items()
    ]
    serve = f"'{weftd}' --data '{data}'"
    by_weftd = [
        subject(f"weftd_{short}", serve, backend, asks.of_weftd())
        for short, backend in _BACKENDS.items()
    ]
    parts = {
        "ping": asks.of_ping(),
        "pk_read": asks.of_pk_read(),
        "batch_10": asks.of_keyed_batch(10),
        "batch_100": asks.of_keyed_batch(100),
    }
    beside_ping = [
        subject(name, serve, backend, {f"rdrs-weftd-{short}": ask})
        for short, backend in _BACKENDS.items()
        for name, ask in ((f"{part}_{short}", ask) for part, ask in parts.items())
    ]
    return in_memory + by_weftd + beside_ping
