"""A control group with a limit of memory for one program, where this machine lets one be made.

    with memory_group(256 << 20) as group:       # skips the test where none can be made
        Server([...], preexec=group.join)
        group.peak_bytes(), group.kills()
"""

import contextlib
import os
import time
import uuid
from pathlib import Path

import pytest

VERSION_1 = Path("/sys/fs/cgroup/memory")
VERSION_2 = Path("/sys/fs/cgroup")
PATIENCE_S = 10  # until the kernel has forgotten the last process


class MemoryGroup:
    """Of version 1 or 2, whichever the machine has. Raises OSError where it has neither."""

    def __init__(self, limit_bytes):
        name = f"weft-test-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        for root, limit in (VERSION_1, "memory.limit_in_bytes"), (VERSION_2, "memory.max"):
            self.path, self.is_version_1 = root / name, root == VERSION_1
            try:
                self.path.mkdir()
            except OSError:
                continue
            try:
                (self.path / limit).write_text(str(limit_bytes))
                return
            except OSError:
                self.path.rmdir()
        raise OSError("neither version of control groups has a memory controller that may be used")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        give_up = time.monotonic() + PATIENCE_S
        while self.path.exists():
            with contextlib.suppress(OSError):
                self.path.rmdir()
                return
            if time.monotonic() > give_up:
                return
            time.sleep(0.05)

    def join(self):
        """For preexec_fn."""
        (self.path / "cgroup.procs").write_text("0")

    def peak_bytes(self):
        return int((self.path / ("memory.max_usage_in_bytes" if self.is_version_1 else "memory.peak")).read_text())

    def kills(self):
        """How many processes of the group the kernel has ended for want of memory."""
        text = (self.path / ("memory.oom_control" if self.is_version_1 else "memory.events")).read_text()
        return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("oom_kill ")), 0)


def memory_group(limit_bytes):
    try:
        return MemoryGroup(limit_bytes)
    except OSError as why:
        pytest.skip(f"no memory group can be made here: {why}")
