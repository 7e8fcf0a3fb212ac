"""Watches the cores and the server while a generator runs, so that any stretch of it can be looked
at afterwards."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from harness.cpu import (
    CoreTimes,
    CoreUse,
    process_seconds,
    read_core,
    resident_bytes,
    use_between,
)
from harness.machine import Cores

INTERVAL = 0.1  # seconds


@dataclass(frozen=True)
class Sample:
    server_core: CoreTimes
    generator_core: CoreTimes
    process: float  # CPU seconds charged to the server's process so far
    resident: int  # bytes

    @property
    def at(self) -> float:
        return self.server_core.at


@dataclass(frozen=True)
class Stretch:
    """What happened between two moments."""

    server_core: CoreUse
    generator_core: CoreUse
    process: float
    resident: int  # the most seen


def _between(low: float, high: float, share: float) -> float:
    return low + (high - low) * share


def _core_at(low: CoreTimes, high: CoreTimes, share: float) -> CoreTimes:
    ticks = {field: _between(low.ticks[field], high.ticks[field], share) for field in low.ticks}
    return CoreTimes(_between(low.at, high.at, share), ticks)


def sample_at(samples: list[Sample], at: float) -> Sample:
    """By linear interpolation; the first or the last where nothing was seen as early or as late."""
    if at <= samples[0].at:
        return samples[0]
    for low, high in zip(samples, samples[1:], strict=False):
        if at <= high.at:
            share = (at - low.at) / (high.at - low.at)
            return Sample(
                _core_at(low.server_core, high.server_core, share),
                _core_at(low.generator_core, high.generator_core, share),
                _between(low.process, high.process, share),
                max(low.resident, high.resident),
            )
    return samples[-1]


def stretch(samples: list[Sample], window: tuple[float, float] | None = None) -> Stretch:
    """Of `window` (monotonic seconds), or of all that was seen."""
    start, end = window or (samples[0].at, samples[-1].at)
    first, last = sample_at(samples, start), sample_at(samples, end)
    inside = [each.resident for each in samples if start <= each.at <= end]
    return Stretch(
        use_between(first.server_core, last.server_core),
        use_between(first.generator_core, last.generator_core),
        last.process - first.process,
        max([*inside, first.resident, last.resident]),
    )


class Watch(threading.Thread):
    """Samples until `finish()`; `pid` is None of a server that is not ours. Its cost is a few files of /proc every tenth of a second, on the
    generator's core."""

    def __init__(self, pid: int | None, cores: Cores):
        super().__init__(daemon=True)
        self._pid = pid
        self._cores = cores
        self._done = threading.Event()
        self.samples = [self._sample()]

    def _sample(self) -> Sample:
        return Sample(
            read_core(self._cores.server),
            read_core(self._cores.generator),
            process_seconds(self._pid) if self._pid else 0.0,
            resident_bytes(self._pid) if self._pid else 0,
        )

    def run(self) -> None:
        while not self._done.wait(INTERVAL):
            self.samples.append(self._sample())

    def finish(self) -> list[Sample]:
        self._done.set()
        self.join()
        self.samples.append(self._sample())
        return self.samples


def settle_down(pid: int, seconds: float = 0.2) -> int:
    """The server's memory once its clients have left."""
    time.sleep(seconds)
    return resident_bytes(pid)
