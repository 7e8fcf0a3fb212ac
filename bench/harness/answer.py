"""What a server has answered to a check."""

from __future__ import annotations

from dataclasses import dataclass

TIMEOUT = 5.0  # seconds that a check waits for an answer


@dataclass(frozen=True)
class Answer:
    status: int
    kind: str  # its Content-Type
    body: bytes
    size: int  # bytes, head included
    closes: bool
