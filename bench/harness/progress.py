"""How far a run is, and how long it still takes."""

from __future__ import annotations

import time
from collections.abc import Callable


def minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class Progress:
    """Of `whole` seconds of work as planned; what is left is told at the pace of what is done."""

    def __init__(
        self,
        whole: float,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ):
        self._whole, self._done = whole, 0.0
        self._say = say
        self._clock = clock
        self._started = clock()

    def tell(self, what: str) -> None:
        self._say(f"{minutes(self._clock() - self._started)}, about {minutes(self.left())} left  {what}")

    def passed(self, planned: float) -> None:
        """So much of the plan is done."""
        self._done += planned

    def left(self) -> float:
        pace = (self._clock() - self._started) / self._done if self._done else 1.0
        return max(0.0, self._whole - self._done) * pace
