"""What a server is asked while it is timed, and what it must have answered before that."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from harness.conversation import conversation


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


HELLO = Trial("GET", "/plaintext", b"", 200, b"Hello, World!")


def says(body: bytes, wanted: bytes) -> bool:
    """As long, and the same but for the order of members, which JSON's objects do not have (RFC 8259, section 4)."""
    if body == wanted:
        return True
    try:
        return len(body) == len(wanted) and json.loads(body) == json.loads(wanted)
    except ValueError:
        return False


def check_answers(port: int, ask: Ask, host: str = "127.0.0.1", protocol: str = "http") -> int:
    """The bytes of the timed answer, head included. Raises ValueError for a wrong one."""
    size = 0
    for asked in (*ask.others, ask.timed):
        # What is refused may be answered with a close.
        with conversation(host, port, asked is ask.timed, protocol) as talk:
            for _ in range(1 if asked.status != 200 else 2):  # keep-alive is timed too
                answer = talk.ask(asked.method, asked.path, asked.body)
                size = answer.size
                if answer.status != asked.status:
                    raise ValueError(
                        f"status {answer.status} to {asked.path}, not {asked.status}: {answer.body[:80]!r}"
                    )
                if asked.answer is not None and not says(answer.body, asked.answer):
                    raise ValueError(
                        f"{answer.body[:80]!r} to {asked.path}, not {asked.answer[:80]!r}"
                    )
    return size
