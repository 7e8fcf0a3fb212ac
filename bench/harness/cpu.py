"""What the processors did between two moments, from /proc."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


@dataclass(frozen=True)
class CoreTimes:
    """One core's line of /proc/stat in ticks, and when it was read (seconds)."""

    at: float
    ticks: dict[str, int]


@dataclass(frozen=True)
class CoreUse:
    """What one core did over a while, in seconds."""

    wall: float
    busy: float  # all but idle, waiting for a disk, and stolen by other guests; softirq included
    user: float
    system: float  # softirq included
    steal: float

    @property
    def share(self) -> float:
        return self.busy / self.wall if self.wall > 0 else 0.0


def parse_core(stat: str, core: int, at: float) -> CoreTimes:
    for line in stat.splitlines():
        name, *numbers = line.split()
        if name == f"cpu{core}":
            return CoreTimes(at, dict(zip(_FIELDS, map(int, numbers), strict=False)))
    raise ValueError(f"/proc/stat has no cpu{core}")


def read_core(core: int) -> CoreTimes:
    return parse_core(Path("/proc/stat").read_text(), core, time.monotonic())


def use_between(before: CoreTimes, after: CoreTimes) -> CoreUse:
    """Busy is the wall time less the idle time: the kernel keeps idle time to the microsecond,
    while user and system time are sampled by the tick. The samples only say how the busy time
    divides."""
    spent = {
        field: (after.ticks[field] - before.ticks[field]) / TICKS_PER_SECOND for field in _FIELDS
    }
    wall = after.at - before.at
    busy = min(max(wall - spent["idle"] - spent["iowait"] - spent["steal"], 0.0), wall)
    user = spent["user"] + spent["nice"]
    system = spent["system"] + spent["irq"] + spent["softirq"]
    user_share = user / (user + system) if user + system > 0 else 0.0
    return CoreUse(wall, busy, busy * user_share, busy * (1 - user_share), spent["steal"])


@dataclass(frozen=True)
class Process:
    """A line of /proc/PID/stat; ticks used so far."""

    name: str
    parent: int
    own: int
    of_children: int  # of those that have ended

    @property
    def ticks(self) -> int:
        return self.own + self.of_children


def parse_process(stat: str) -> Process:
    name = stat[stat.index("(") + 1 : stat.rindex(")")]
    fields = stat[stat.rindex(")") + 2 :].split()
    user, system, children_user, children_system = map(int, fields[11:15])
    return Process(name, int(fields[1]), user + system, children_user + children_system)


Strangers = dict[int, Process]


def strangers(ours: set[int]) -> Strangers:
    """All processes but `ours`, their children and the kernel's threads (which work for whoever
    causes it: the server's softirqs above all)."""
    kernel = 2
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            process = parse_process((entry / "stat").read_text())
        except (OSError, ValueError):
            continue  # gone by now
        pid = int(entry.name)
        if ours.isdisjoint({pid, process.parent}) and kernel not in (pid, process.parent):
            found[pid] = process
    return found


def strayed(before: Strangers, after: Strangers) -> tuple[float, str | None]:
    """The CPU seconds that strangers used in between, and who used most of them."""
    ticks = sum(each.ticks for each in after.values()) - sum(each.ticks for each in before.values())
    most, name = 0, None
    for pid, process in after.items():
        used = process.own - (before[pid].own if pid in before else 0)
        if used > most:
            most, name = used, process.name
    return max(0, ticks) / TICKS_PER_SECOND, name


def stray_now(ours: set[int], seconds: float = 0.5) -> tuple[float, str | None]:
    """What share of a core strangers use at the moment, and who most of it."""
    before = strangers(ours)
    time.sleep(seconds)
    used, by = strayed(before, strangers(ours))
    return used / seconds, by


def process_seconds(pid: int) -> float:
    """CPU time charged to a process so far; 0 when it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    return parse_process(stat).ticks / TICKS_PER_SECOND


def resident_bytes(pid: int) -> int:
    """Resident memory of a process, 0 when it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return parse_resident(status)


def parse_resident(status: str) -> int:
    for line in status.splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0
