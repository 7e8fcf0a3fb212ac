"""A small file system that one server alone sees."""

import ctypes

import pytest
from weft_process import run

NEW_MOUNTS = 0x20000  # CLONE_NEWNS
PRIVATE = 0x44000  # MS_REC | MS_PRIVATE


def small_disk(folder, size):
    """What the server is to call before it begins: it mounts so many bytes ("100m") at `folder`."""
    if run(["unshare", "--mount", "true"]).returncode != 0:
        pytest.skip("this machine does not let us mount")

    def enter():
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.unshare(NEW_MOUNTS) == 0
        assert libc.mount(b"none", b"/", None, PRIVATE, None) == 0
        assert libc.mount(b"weft", str(folder).encode(), b"tmpfs", 0, f"size={size}".encode()) == 0
    return enter
