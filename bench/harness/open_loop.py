"""Open loops: so many requests a second are due, whoever serves them. How many is a share of what the best peer answers at most, in
the closed loop of the same run, so that latencies are compared where all have the same to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.effort import Effort
from harness.generators import WeftBench
from harness.servers import Subject
from harness.workloads import Workload

CLOSED = "ping"  # the workload that tells what each can at most
SHARES = (10, 50, 80)  # percent


class NoRate(Exception):
    """What the best can is not known."""


def open_loops(effort: Effort, build: Path) -> list[Workload]:
    generator = WeftBench(str(build / "apps/weft-bench/weft-bench"), "http", effort.seconds, effort.warm_up)
    return [
        Workload(f"{CLOSED}-at-{share}", f"POST /ping, open loop at {share} % of the best peer's most", "http", generator, 400,
                 effort.pairs, effort.peer_pairs, in_quick=False, only_complete=True, share=share / 100,
                 baseline="weftd_epoll")
        for share in SHARES
    ]  # fmt: skip


def with_what_tells_rates(works: Sequence[Workload], all_works: Sequence[Workload]) -> list[Workload]:
    """Open loops need the closed one, before them."""
    if not any(work.share for work in works) or any(work.name == CLOSED for work in works):
        return list(works)
    return [*(work for work in all_works if work.name == CLOSED), *works]


@dataclass(frozen=True)
class Paced:
    work: Workload  # with its rate
    subjects: list[Subject]  # without the peers that cannot answer so many
    notes: list[str]


def _most(report: dict) -> dict[str, dict]:
    """By server: what the closed loop says of it."""
    for workload in report["workloads"]:
        if workload["name"] == CLOSED:
            return {each["subject"]: each for each in workload["series"] if each["median"]["per_second"]}
    return {}


def paced(work: Workload, subjects: Sequence[Subject], report: dict) -> Paced:
    """`report` has the closed loop. Raises NoRate without it. Where no complete peer took part, the best of all complete servers
    sets the pace."""
    most = _most(report)
    complete = [each for each in most.values() if each["kind"] == "complete"]
    rivals = [each for each in complete if each["is_peer"]] or complete
    if not rivals or work.share is None:
        raise NoRate(f"{CLOSED} has told no rate")
    best = max(rivals, key=lambda each: each["median"]["per_second"])
    rate = work.share * best["median"]["per_second"]
    able, unable = [], []
    for subject in subjects:
        known = most.get(subject.name)
        too_slow = subject.is_peer and known is not None and known["median"]["per_second"] < rate
        (unable if too_slow else able).append(subject)
    notes = [f"{rate:,.0f} requests a second are due: {100 * work.share:.0f} % of what {best['subject']} answered at most"]
    if unable:
        said = ", ".join(f"{each.name} ({most[each.name]['median']['per_second']:,.0f})" for each in unable)
        notes.append(f"left out are those that cannot answer so many: {said}")
    return Paced(replace(work, generator=replace(work.generator, rate=rate)), able, notes)
