"""Servers that are not ours, for as long as a test wants them."""

import contextlib
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def wait_for(port, process):
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    pytest.fail("the server does not listen")


@contextlib.contextmanager
def running(command, *ports):
    with subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        try:
            for port in ports:
                wait_for(port, process)
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def node(*arguments, script="answers.js"):
    if not (path := shutil.which("node")):
        pytest.skip("Node.js is not installed")
    with running([path, HERE / script, *arguments]) as process:
        yield int(process.stdout.readline())
