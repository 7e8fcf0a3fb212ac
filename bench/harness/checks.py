"""What a server must do right before it is timed, and after it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import socket
import threading

from harness.asks import Ask, check_answers
from harness.conversation import conversation
from harness.servers import ServerFailed, Subject
from harness.websocket import frame, open_websocket, read_message

ECHO_TIMEOUT = 5.0


def check(
    subject: Subject, port: int, ask: Ask | None = None, host: str = "127.0.0.1"
) -> int | None:
    """Raises ServerFailed unless the server does what will be timed. Gives the bytes of an answer, where all have as many."""
    try:
        if ask is not None:
            return check_answers(port, ask, host, subject.protocol)
        size = _CHECKS[subject.protocol](subject, port, host)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise ServerFailed(f"wrong answer: {error or type(error).__name__}") from error
    return size


def _check_ping(subject: Subject, port: int, host: str) -> int | None:
    """The bytes of the answer to what is timed, where each has as many; over HTTP/2 later heads are shorter."""
    # What is asked the second time nobody can know before.
    sequences = (2, random.SystemRandom().randrange(10**9, 2**53) if subject.parses else 2)
    sizes = []
    with conversation(host, port, protocol=subject.protocol) as talk:
        # All on one connection: keep-alive is timed too.
        for sequence in sequences:
            body = json.dumps({"sequence": sequence}).encode()
            answer = talk.ask("POST", "/ping", body, reads_all=subject.parses)
            if answer.status != 200 or not answer.kind.startswith("application/json"):
                raise ValueError(f"status {answer.status}, Content-Type {answer.kind!r}")
            if json.loads(answer.body) != {"sequence": sequence}:
                raise ValueError(f"{answer.body[:80]!r} for sequence {sequence}")
            if answer.closes:
                raise ValueError("the connection is not kept")
            sizes.append(answer.size)
    return sizes[0] if subject.protocol == "http" else None


def _check_websocket(_: Subject, port: int, host: str) -> None:
    with open_websocket(host, port, "/echo") as one:
        for size in (0, 64, 1000, 70_000):
            message = os.urandom(size)
            one.sendall(frame(message))
            if read_message(one) != message:
                raise ValueError(f"a message of {size} bytes came back changed")


def _check_echo(_: Subject, port: int, host: str) -> None:
    big = os.urandom(300_000)  # more than a socket's buffers: cut into many
    with socket.create_connection((host, port), ECHO_TIMEOUT) as connection:
        for message in (b"hello", big):
            sender = threading.Thread(target=_send_quietly, args=(connection, message))
            sender.start()
            try:
                back = _receive(connection, len(message))
            finally:
                sender.join()  # ends by the socket's time-out at the latest
            if back != message:
                raise ValueError(f"{len(message)} bytes came back changed")


def _send_quietly(connection: socket.socket, message: bytes) -> None:
    with contextlib.suppress(OSError):
        connection.sendall(message)


def _receive(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        piece = connection.recv(65536)
        if not piece:
            raise ValueError(f"closed after {len(received)} of {size} bytes")
        received += piece
    return bytes(received)


_CHECKS = {
    "http": _check_ping,
    "tls": _check_ping,
    "http2": _check_ping,
    "websocket": _check_websocket,
    "echo": _check_echo,
}
