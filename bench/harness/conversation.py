"""What a check says to a server, on one connection: requests that come in two pieces, and answers that may come neither before
they were asked for nor with more behind them."""

from __future__ import annotations

import contextlib
import io
import select
import socket
import ssl
import time
from collections.abc import Iterator
from http.client import HTTPResponse
from types import SimpleNamespace

from harness.answer import TIMEOUT, Answer
from harness.http2 import CurlConversation
from harness.tls import secured

QUIET = 0.02  # seconds that nothing may come in


class _Counted(socket.SocketIO):
    received = 0

    def readinto(self, into) -> int | None:
        try:
            size = super().readinto(into)
        except ssl.SSLWantReadError:  # there was something, but not for us: a ticket
            return None
        self.received += size or 0
        return size


class _Kept(io.BufferedReader):
    def close(self) -> None:
        """Not by a response that has ended: the next one comes here, too."""


class Conversation:
    def __init__(self, connection: socket.socket, quiet: float):
        self._socket = connection
        self._quiet = quiet
        self._raw = _Counted(connection, "rb")
        self._reader = _Kept(self._raw)

    def _must_be_quiet(self, when: str) -> None:
        until = time.monotonic() + self._quiet
        while True:
            left = max(0.0, until - time.monotonic())
            select.select([self._socket], [], [], left)
            self._socket.setblocking(False)
            try:
                said = self._reader.peek()
            finally:
                self._socket.settimeout(TIMEOUT)
            if said:
                raise ValueError(f"{bytes(said[:80])!r} {when}")
            if left == 0.0:
                return

    def ask(self, method: str, path: str, body: bytes = b"", reads_all: bool = True) -> Answer:
        """Raises ValueError for an answer that comes before all was asked, or behind another one. One that is not
        `reads_all` may answer once it has the head."""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        if method == "POST":
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        request = f"{head}\r\n".encode() + body
        self._must_be_quiet("came before anything was asked")
        self._socket.sendall(request[:-1])
        if reads_all or not body:
            self._must_be_quiet("came before all was asked")
        self._socket.sendall(request[-1:])
        return self._answer(method)

    def _answer(self, method: str) -> Answer:
        before = self._raw.received
        response = HTTPResponse(SimpleNamespace(makefile=lambda *_: self._reader), method=method)
        response.begin()
        body = response.read()
        return Answer(
            status=response.status,
            kind=response.getheader("Content-Type", ""),
            body=body,
            size=self._raw.received - before,
            closes=response.will_close,
        )


@contextlib.contextmanager
def conversation(
    host: str, port: int, is_patient: bool = True, protocol: str = "http"
) -> Iterator[Conversation | CurlConversation]:
    """`is_patient`: it waits whether something comes too early, in place of seeing only what has come already."""
    if protocol == "http2":
        yield CurlConversation(host, port)
        return
    with contextlib.ExitStack() as open_sockets:
        connection = open_sockets.enter_context(socket.create_connection((host, port), TIMEOUT))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # the last byte goes alone
        if protocol == "tls":
            connection = open_sockets.enter_context(secured(connection))
        yield Conversation(connection, QUIET if is_patient else 0.0)
