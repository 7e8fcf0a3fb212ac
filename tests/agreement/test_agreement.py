"""Our parser and llhttp, which Node.js reads requests with, agree on a hundred thousand drawn requests, or differ in
a way that docs/security.md explains."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from drawn_requests import generate

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = Path(os.environ.get("WEFT_BUILD_DIR", ROOT / "build/release"))
COUNT = 100_000
FACTS = ("method", "target", "minor", "keep_alive", "headers", "body")
TAKEN = ("accept", "incomplete")


def output_of(*command: str | Path) -> bytes:
    return subprocess.run(command, check=True, capture_output=True, timeout=100).stdout


def pieces_of(framed: bytes) -> Iterator[str]:
    at = 0
    while at < len(framed):
        size, = struct.unpack_from("<I", framed, at)
        yield framed[at + 4:at + 4 + size].decode("latin-1")
        at += 4 + size


def as_verdict(said: str) -> dict:
    """What describe_message() says, as llhttp_verdicts.js does: "incomplete", "400 REASON at N", or facts."""
    if not said.startswith("accept\n"):
        reason = re.fullmatch(r"\d+ (.*) at \d+\n", said)
        return {"outcome": reason[1] if reason else said.strip()}
    head, rest = said.split("\nbody=", 1)
    facts = dict(re.findall(r"^([a-z-]+)=(.*)$", head, re.MULTILINE))
    return {"outcome": "accept", "method": facts["method"], "target": facts["target"], "minor": int(facts["minor"]),
            "keep_alive": facts["keep-alive"] == "yes", "body": rest.rsplit("\nused=", 1)[0],
            "headers": [list(each) for each in re.findall(r"^header ([^=\n]*)=\[(.*)\]$", head, re.MULTILINE)]}


def our_verdicts(requests: list[bytes], folder: Path) -> list[dict]:
    output = output_of(BUILD / "tests/agreement/weft_verdicts", written(requests, folder))
    return [as_verdict(said) for said in pieces_of(output)]


def llhttp_verdicts(requests: list[bytes], folder: Path) -> list[dict]:
    output = output_of("node", HERE / "llhttp_verdicts.js", written(requests, folder))
    return [json.loads(line) for line in output.splitlines()]


def written(requests: list[bytes], folder: Path) -> Path:
    path = folder / "requests.bin"
    path.write_bytes(b"".join(struct.pack("<I", len(each)) + each for each in requests))
    return path


@pytest.fixture(scope="module")
def judged(tmp_path_factory) -> list[tuple[bytes, dict, dict]]:
    """Each request, what we make of it, and what llhttp does."""
    if shutil.which("node") is None:
        pytest.fail("there is no Node.js: `make setup` installs it")
    folder = tmp_path_factory.mktemp("agreement")
    requests = generate(COUNT, seed=1)
    return list(zip(requests, our_verdicts(requests, folder), llhttp_verdicts(requests, folder), strict=True))


def difference(ours: dict, theirs: dict) -> Iterable[str]:
    """How the verdicts differ, in the words of the table."""
    mine, other = ours["outcome"], theirs["outcome"]
    if mine == other == "accept":
        return (f"understood otherwise: {fact}" for fact in FACTS if ours[fact] != theirs[fact])
    if mine not in TAKEN and other in TAKEN:
        return [mine]
    if mine == "accept" and other not in TAKEN:
        return [other]
    if {mine, other} == set(TAKEN):
        return [f"{mine} here, {other} there"]
    return []  # both refuse, both wait, or llhttp refuses what we still wait for the rest of


def explained() -> set[str]:
    text = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    section = re.search(r"^## Beside llhttp$(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"^\| `([^`]+)`", section[1], re.MULTILINE))


def test_every_kind_of_difference_is_explained(judged):
    examples: dict[str, bytes] = {}
    for request, ours, theirs in judged:
        for kind in difference(ours, theirs):
            if len(request) < len(examples.get(kind, request + b" ")):
                examples[kind] = request
    unexplained = {kind: request for kind, request in examples.items() if kind not in explained()}
    assert not unexplained


def test_what_llhttp_refuses_sooner_is_refused_here_once_its_line_has_ended(judged, tmp_path):
    refused_wrongly = explained()
    early = [request for request, ours, theirs in judged
             if ours["outcome"] == "incomplete" and theirs["outcome"] not in {*TAKEN, *refused_wrongly}]
    taken = [request for request, ours in zip(early, our_verdicts([each + b"\r\n\r\n" for each in early], tmp_path))
             if ours["outcome"] in TAKEN]
    assert early
    assert not taken


def test_the_requests_are_neither_all_good_nor_all_bad(judged):
    accepted = sum(ours["outcome"] == theirs["outcome"] == "accept" for _, ours, theirs in judged)
    refused = sum(ours["outcome"] not in TAKEN and theirs["outcome"] not in TAKEN for _, ours, theirs in judged)
    assert accepted > COUNT / 5
    assert refused > COUNT / 5


def test_requests_that_both_accept_have_bodies_and_headers(judged):
    both = [ours for _, ours, theirs in judged if ours["outcome"] == theirs["outcome"] == "accept"]
    assert sum(bool(each["body"]) for each in both) > 1000
    assert sum(len(each["headers"]) > 2 for each in both) > 1000
