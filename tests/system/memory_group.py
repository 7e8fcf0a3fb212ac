"""A control group with a limit of memory, where this machine lets one be made.

    with memory_group(256 << 20) as join:       # skips the test where none can be made
        Server([...], preexec=join)
"""

import contextlib
import os
import uuid
from pathlib import Path

import pytest

VERSION_1 = Path("/sys/fs/cgroup/memory")
VERSION_2 = Path("/sys/fs/cgroup")


def make(name, limit_bytes):
    """The group's folder; raises OSError."""
    for root, limit in (VERSION_1, "memory.limit_in_bytes"), (VERSION_2, "memory.max"):
        folder = root / name
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            (folder / limit).write_text(str(limit_bytes))
            return folder
        except OSError:
            folder.rmdir()
    raise OSError("neither version of control groups has a memory controller that may be used")


@contextlib.contextmanager
def memory_group(limit_bytes):
    try:
        folder = make(f"weft-test-{os.getpid()}-{uuid.uuid4().hex[:8]}", limit_bytes)
    except OSError as why:
        pytest.skip(f"no memory group can be made here: {why}")
    tasks = folder / "cgroup.procs"
    try:
        yield lambda: tasks.write_text(str(os.getpid()))
    finally:
        with contextlib.suppress(OSError):  # it goes once its last process has
            folder.rmdir()
