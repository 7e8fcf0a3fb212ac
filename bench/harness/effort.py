"""How much is run: a look, what is believed, or as long as others have run theirs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """A run is of one server; a round is a run of each."""

    name: str
    seconds: float  # of a run, after its warm-up
    warm_up: float
    pairs: int  # rounds
    headline_pairs: int  # of the ping by the lean generator, the figure that is held to a limit
    peer_pairs: int
    ab_requests: int
    is_quick: bool = False

    def describe(self) -> str:
        return f"{self.seconds:g} s each after {self.warm_up:g} s, {self.pairs} rounds at least ({self.name})"


# Under three minutes once the peers are built.
QUICK = Effort("quick", seconds=1, warm_up=0.25, pairs=3, headline_pairs=4, peer_pairs=3,
               ab_requests=60_000, is_quick=True)  # fmt: skip
# Under an hour with all peers: tests/bench holds what is planned to it.
USUAL = Effort("usual", seconds=2.5, warm_up=0.5, pairs=3, headline_pairs=5, peer_pairs=3,
               ab_requests=200_000)  # fmt: skip
# As long as the published runs, which are of 10 to 60 s.
FULL = Effort("full", seconds=30, warm_up=3, pairs=3, headline_pairs=5, peer_pairs=3,
              ab_requests=1_000_000)  # fmt: skip
EFFORTS = {effort.name: effort for effort in (QUICK, USUAL, FULL)}
