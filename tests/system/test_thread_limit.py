"""A thread that the system does not start: the request that needs it is told to come again."""

import os
import pwd
import resource
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path

import pytest
from row_client import RowClient, given, operation
from weft_process import Server


@pytest.fixture
def stranger():
    """Somebody whose processes and threads the kernel counts: it does not count those of root."""
    if os.getuid() != 0:
        pytest.skip("only root may run a program as somebody else")
    return pwd.getpwnam("nobody")


@pytest.fixture
def open_folder(stranger):
    folder = Path(tempfile.mkdtemp(prefix="weft-threads-"))
    with sqlite3.connect(folder / "shop.db") as database:
        database.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, v INT)")
    for path in (folder, *folder.iterdir()):
        os.chown(path, stranger.pw_uid, stranger.pw_gid)
    yield folder
    shutil.rmtree(folder)


def test_a_write_whose_thread_cannot_be_started_is_503_and_works_later(weftd, backend, stranger, open_folder):
    program = open_folder / "weftd"  # the build may lie where nobody else may look
    shutil.copy(weftd, program)
    tried = subprocess.run([program, "--version"], user=stranger.pw_uid, group=stranger.pw_gid, capture_output=True)
    if tried.returncode != 0:
        pytest.skip("nobody may run no program here")

    def become():
        os.setgid(stranger.pw_gid)
        os.setuid(stranger.pw_uid)

    def allow_threads(soft):
        # As the one whose program it is: a root without CAP_SYS_RESOURCE may not.
        subprocess.run(["prlimit", f"--pid={server.pid}", f"--nproc={soft}:"], user=stranger.pw_uid,
                       group=stranger.pw_gid, check=True)
    insert = operation("shop/t/pk-insert", {"filters": given(id=1), "writeColumns": given(v=1)})
    before = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    with Server([program, "--listen", "127.0.0.1:0", "--threads", "1", "--data", open_folder, "--backend", backend],
                preexec=become) as server, RowClient(server) as client:
        allow_threads(0)
        status, text = client.write(insert)
        assert status == 503, text
        allow_threads("unlimited" if before == resource.RLIM_INFINITY else before)
        assert client.write(insert)[0] == 200
        assert server.stop() == 0, server.log
