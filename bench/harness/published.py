"""What others have said of their servers, on machines of their own, and what was measured here long ago of what no registry
holds (bench/published.json): printed beside, and never compared with by a ratio."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TypedDict

FILE = Path(__file__).resolve().parent.parent / "published.json"


class PublishedServer(TypedDict, total=False):
    source: str
    workload: str | None  # of ours, that is like it; None: there is none
    server: str
    per_second: float
    p50_us: float | None
    p99_us: float | None
    errors: str
    cpu_us: float
    rss_mb: float


class PublishedInProcess(TypedDict):
    source: str
    workload: str
    system: str
    size: int
    ns: float
    rss_mb: float


class Source(TypedDict):
    title: str
    machine: str
    load: str


class Published(TypedDict):
    sources: dict[str, Source]
    servers: list[PublishedServer]
    in_process: list[PublishedInProcess]


@cache
def published() -> Published:
    return json.loads(FILE.read_text(encoding="utf-8"))


def servers_beside(workload: str | None) -> list[PublishedServer]:
    return [each for each in published()["servers"] if each["workload"] == workload]


def in_process_beside(workload: str) -> list[PublishedInProcess]:
    return [each for each in published()["in_process"] if each["workload"] == workload]


def machine_words(source: str) -> str:
    told = published()["sources"][source]
    return f"{told['title']}: {told['machine']}"


def load_words(source: str) -> str:
    return f"{machine_words(source)}; {published()['sources'][source]['load']}"
