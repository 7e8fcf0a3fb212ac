"""weft-bench's workloads of the library alone: runs one and reads its figures."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TypedDict

from harness.servers import pinned


PATIENCE_S = 600  # of a workload that takes some seconds, or a minute in the large


class Phase(TypedDict, total=False):
    """A line of `weft-bench WORKLOAD --json`."""

    workload: str
    variant: str
    threads: int
    count: int
    dispatched: int
    seconds: float
    rate_per_s: float
    peak_rss_mb: float
    queue_peak_mb: float
    services: int
    bytes_per_service: float


def run_workload(
    program: Path, workload: str, threads: int, *options: str, core: int | None = None
) -> list[Phase]:
    """Its phases: on one thread and, where that is more, on all of them; on any core, unless one is given. What was not
    done right raises."""
    command = [str(program), workload, "--threads", str(threads), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
                          preexec_fn=None if core is None else pinned(core))  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} has ended with {done.returncode}:\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]
