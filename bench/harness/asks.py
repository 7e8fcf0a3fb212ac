"""What a server is asked while it is timed, and what it must have answered before that."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Trial:
    method: str
    path: str
    body: bytes
    status: int
    answer: bytes | None  # None: any


@dataclass(frozen=True)
class Ask:
    """`timed` is what the load repeats; `body` the file with its body, if it has one."""

    timed: Trial
    body: Path | None
    others: tuple[Trial, ...] = ()


def _request(asked: Trial) -> bytes:
    head = f"{asked.method} {asked.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    if asked.method == "POST":
        head += f"Content-Type: application/json\r\nContent-Length: {len(asked.body)}\r\n"
    return head.encode() + b"\r\n" + asked.body


def _response(connection: socket.socket) -> tuple[int, bytes, int]:
    """Status, body, and the bytes of all of it."""
    received = bytearray()
    while b"\r\n\r\n" not in received:
        _receive_more(connection, received)
    head, _, rest = bytes(received).partition(b"\r\n\r\n")
    fields = [line.partition(b":") for line in head.lower().split(b"\r\n")[1:]]
    lengths = [int(value) for name, _, value in fields if name == b"content-length"]
    if len(lengths) != 1:
        raise ValueError(f"no Content-Length in {head!r}")
    received = bytearray(rest)
    while len(received) < lengths[0]:
        _receive_more(connection, received)
    return int(head.split(b" ", 2)[1]), bytes(received), len(head) + 4 + len(received)


def _receive_more(connection: socket.socket, into: bytearray) -> None:
    piece = connection.recv(65536)
    if not piece:
        raise ValueError(f"closed after {bytes(into[:80])!r}")
    into += piece


def check_answers(port: int, ask: Ask, host: str = "127.0.0.1") -> int:
    """The bytes of the timed answer, head included. Raises ValueError for a wrong one."""
    size = 0
    for asked in (*ask.others, ask.timed):
        # What is refused may be answered with a close.
        with socket.create_connection((host, port), 5) as connection:
            for _ in range(1 if asked.status != 200 else 2):  # keep-alive is timed too
                connection.sendall(_request(asked))
                status, body, size = _response(connection)
                if status != asked.status:
                    raise ValueError(f"status {status} to {asked.path}, not {asked.status}: {body[:80]!r}")
                if asked.answer is not None and body != asked.answer:
                    raise ValueError(f"{body[:80]!r} to {asked.path}, not {asked.answer[:80]!r}")
    return size
