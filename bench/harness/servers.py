"""Servers under test: start on a free port and a core of their own, always end."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.asks import Ask, Trial
from harness.tls import make_certificate

START_TIMEOUT = 10.0
STOP_TIMEOUT = 5.0
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


class ServerFailed(Exception):
    """A server did not start, died, or gave a wrong answer."""


@dataclass(frozen=True)
class Subject:
    """A server to measure. `command` is as in a shell, with {port} where the port goes, and
    {scratch} where a folder goes that is removed after its end; a certificate is in it where the
    protocol is TLS, else it is empty at the start."""

    name: str
    command: str
    protocol: str  # "http", "tls", "http2", "websocket", "echo" or "rdrs"
    kind: str = ""  # "bare": the least code that answers; "complete": a whole server; or not said
    is_peer: bool = False  # not of this repository
    parses: bool = True  # its reply is made from the request
    levels: tuple[int, ...] = ()  # only with so many connections; empty: any number
    asks: Mapping[str, Ask] | None = None  # by workload; None: what the generator asks by itself
    leads: bool = False  # a peer that is among the fastest
    plain: Trial | None = None  # what it answers with a short text
    address: str = ""  # HOST:PORT of one that somebody else has started; it has no command then

    def arguments(self, port: int, scratch: str = "") -> list[str]:
        return [
            word.replace("{port}", str(port)).replace("{scratch}", scratch)
            for word in shlex.split(self.command)
        ]

    def missing(self) -> str | None:
        """Why it cannot be run, if so."""
        if self.address:
            return None
        program = self.arguments(0)[0]
        if shutil.which(program):
            return None
        return f"{program} is not there" if "/" in program else f"{program} is not installed"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def pinned(core: int):
    """For Popen's preexec_fn: run on `core`, and die with this process however it ends."""

    def prepare() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        os.sched_setaffinity(0, {core})

    return prepare


@dataclass(frozen=True)
class Place:
    """Where a server is found."""

    host: str
    port: int
    pid: int | None  # None: it is not ours


@contextlib.contextmanager
def reached(subject: Subject, core: int) -> Iterator[Place]:
    """A server that is started for this and ended after it, unless somebody else has started it."""
    if subject.address:
        host, _, port = subject.address.rpartition(":")
        yield Place(host, int(port), None)
        return
    with running(subject, core) as (pid, port):
        yield Place("127.0.0.1", port, pid)


@contextlib.contextmanager
def running(subject: Subject, core: int) -> Iterator[tuple[int, int]]:
    """Gives (pid, port) of the server once it listens; ends it, and only it, on leaving."""
    port = free_port()
    with tempfile.TemporaryFile("w+", errors="replace") as log, tempfile.TemporaryDirectory() as scratch:
        if subject.protocol == "tls":
            make_certificate(Path(scratch))
        process = subprocess.Popen(
            subject.arguments(port, scratch),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            preexec_fn=pinned(core),
        )
        try:
            _await_listening(process, port)
            yield process.pid, port
            if process.poll() is not None:
                raise ServerFailed(f"{subject.name} died with status {process.returncode}")
        except ServerFailed as error:
            log.seek(0)
            said = log.read()[-500:].strip()
            raise ServerFailed(f"{error}; it said: {said}" if said else str(error)) from None
        finally:
            _end(process)


def _await_listening(process: subprocess.Popen, port: int) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise ServerFailed(f"ended with status {process.returncode} instead of listening")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.01)
    raise ServerFailed(f"does not listen on 127.0.0.1:{port} after {START_TIMEOUT:.0f} s")


def _end(process: subprocess.Popen) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()
