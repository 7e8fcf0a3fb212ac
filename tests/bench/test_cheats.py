"""A server that cheats is not timed: small real ones, each of which cheats in a way of its own."""

import os
import shlex
import sys
from dataclasses import replace

import pytest
from harness import rdrs
from harness.checks import check
from harness.generators import WeftBench
from harness.runner import run_once
from harness.servers import ServerFailed, Subject, running
from harness.workloads import Workload
from test_servers import CORES

# What all of them share: a port, one connection at a time, and requests that are read whole. Each has an `answer` to a
# body, or a `serve` of a connection, of its own.
COMMON = """
import json, socket, sys

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))

def reply(body):
    return (b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)) + body

def read_head(peer):
    head = b""
    while not head.endswith(b"\\r\\n\\r\\n"):
        piece = peer.recv(1)
        if not piece: raise ConnectionError
        head += piece
    return head

def read_body(peer, head):
    size = int(head.lower().partition(b"content-length:")[2].split(b"\\r")[0])
    body = b""
    while len(body) < size:
        piece = peer.recv(size - len(body))
        if not piece: raise ConnectionError
        body += piece
    return body

def serve(peer):
    while True:
        body = read_body(peer, read_head(peer))
        peer.sendall(reply(answer(body)))

def right(body):
    return json.dumps(json.loads(body)).encode()

answer = right
"""
LOOP = """
while True:
    peer, _ = listener.accept()
    with peer:
        try:
            serve(peer)
        except (ConnectionError, ValueError):
            pass
"""

WRONG_BODY = """
def answer(body):
    return json.dumps({"sequence": json.loads(body)["sequence"] + 1}).encode()
"""
ALWAYS_THE_SAME = """
def answer(body):
    return b'{"sequence":2}'
"""
FIRST_OF_ALL_AGAIN = """
first = []

def answer(body):
    first.append(body)
    return right(first[0])
"""
KNOWS_THE_CHECK = """
def answer(body):
    return b'{"sequence":2}' if len(body) < 20 else b'{"sequence":7000000000}'
"""
AS_SOON_AS_CONNECTED = """
def serve(peer):
    peer.sendall(reply(b'{"sequence":2}'))
    while peer.recv(65536): pass
"""
BEFORE_THE_BODY = """
def serve(peer):
    while True:
        head = read_head(peer)
        peer.sendall(reply(b'{"sequence":2}'))
        read_body(peer, head)
"""
TWICE = """
def serve(peer):
    while True:
        body = right(read_body(peer, read_head(peer)))
        peer.sendall(reply(body) * 2)
"""
CLOSES = """
def serve(peer):
    body = right(read_body(peer, read_head(peer)))
    peer.sendall(reply(body).replace(b"\\r\\n\\r\\n", b"\\r\\nConnection: close\\r\\n\\r\\n", 1))
"""

CHEATS = {
    "a wrong body": (WRONG_BODY, "for sequence 2"),
    "the same body whatever was asked": (ALWAYS_THE_SAME, r"for sequence \d{10}"),
    "the first body again": (FIRST_OF_ALL_AGAIN, r"for sequence \d{10}"),
    "what earlier checks asked": (KNOWS_THE_CHECK, r"for sequence \d{10}"),
    "two replies for one": (TWICE, "before anything was asked"),
    "a connection that is not kept": (CLOSES, "the connection is not kept"),
}
TOO_EARLY = {
    "a reply to nothing": (AS_SOON_AS_CONNECTED, "before anything was asked"),
    "a reply before the body": (BEFORE_THE_BODY, "before all was asked"),
}


@pytest.fixture
def patience(monkeypatch):
    """That no server is too slow to be caught. What comes too early ends the wait."""
    monkeypatch.setattr("harness.conversation.QUIET", 2.0)


def server(code, protocol="http", argument=""):
    words = shlex.join([sys.executable, "-c", COMMON + code + LOOP])
    return Subject("cheat", f"{words} {{port}} '{argument}'", protocol)


def verdict(subject, ask=None):
    with running(subject, CORES.server) as (_, port):
        return check(subject, port, ask)


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_ping_that_cheats_is_caught(cheat):
    code, complaint = CHEATS[cheat]
    with pytest.raises(ServerFailed, match=complaint):
        verdict(server(code))


@pytest.mark.parametrize("cheat", TOO_EARLY)
def test_a_ping_that_comes_too_early_is_caught(cheat, patience):
    code, complaint = TOO_EARLY[cheat]
    with pytest.raises(ServerFailed, match=complaint):
        verdict(server(code))


def test_a_fixed_reply_may_come_before_the_body_but_not_before_the_head():
    verdict(replace(server(BEFORE_THE_BODY), parses=False))
    with pytest.raises(ServerFailed, match="before anything was asked"):
        verdict(replace(server(TWICE), parses=False))


def test_the_same_server_without_the_cheat_is_not():
    verdict(server(""))


LATER = """
answered = []

def answer(body):
    answered.append(body)
    return right(body) if len(answered) <= 3 else b'{"sequence":2}'
"""


def test_one_that_cheats_once_it_is_timed_is_caught(weft_bench):
    work = Workload("w", "W", "http", WeftBench(weft_bench, "http", 0.2, 0.05), 1, 1)
    with pytest.raises(ServerFailed, match=r"for sequence \d{10}"):
        run_once(work, server(LATER), CORES, {os.getpid()})


FOR_ONE_ALONE = """
import threading

together = set()

def answer(body):
    return right(body) if len(together) == 1 else b"{}"

def serve_together(peer, talk=serve):
    together.add(peer)
    try:
        talk(peer)
    except (ConnectionError, ValueError):
        pass
    together.discard(peer)
    peer.close()

while True:
    threading.Thread(target=serve_together, args=(listener.accept()[0],), daemon=True).start()
"""


def test_one_that_says_less_to_many_is_caught(weft_bench):
    work = Workload("w", "W", "http", WeftBench(weft_bench, "http", 0.2, 0.05), 2, 1)
    with pytest.raises(ServerFailed, match=r"answers under load had \d+ bytes, and \d+ when they were checked"):
        run_once(work, server(FOR_ONE_ALONE), CORES, {os.getpid()})
    run_once(replace(work, connections=1), server(FOR_ONE_ALONE), CORES, {os.getpid()})


HONEST_BATCH = """
def answer(body):
    return json.dumps(json.loads(body), separators=(",", ":")).encode()

def serve(peer):
    while True:
        body = read_body(peer, read_head(peer))
        try:
            peer.sendall(reply(answer(body)))
        except ValueError:
            peer.sendall(reply(b"").replace(b"200 OK", b"400 Bad Request"))
"""
FEWER_OPERATIONS = """
def answer(body):
    asked = json.loads(body)
    del asked["operations"][1:]
    return json.dumps(asked, separators=(",", ":")).encode()
"""
ONE_FOR_ALL = """
def answer(body):
    asked = json.loads(body)
    asked["operations"] = asked["operations"][:1] * len(asked["operations"])
    return json.dumps(asked, separators=(",", ":")).encode()
"""
NEVER_LOOKS = """
def answer(body):
    return body
"""


@pytest.fixture
def batch_of_ten(tmp_path):
    (step,) = (each for each in rdrs.STEPS if each.name == "write")
    return rdrs.Asks(tmp_path).of_step(step, "/write")["rdrs-write-10"]


@pytest.mark.parametrize("cheat", [FEWER_OPERATIONS, ONE_FOR_ALL, NEVER_LOOKS])
def test_a_batch_that_cheats_is_caught(cheat, batch_of_ten):
    with pytest.raises(ServerFailed, match="to /write, not"):
        verdict(server(HONEST_BATCH + cheat), batch_of_ten)


KNOWS_WHAT_IS_TIMED = """
known = open(sys.argv[2], "rb").read()

def serve(peer):
    while True:
        head = read_head(peer)
        if b"Content-Length: %d" % len(known) in head:
            peer.sendall(reply(answer(known)))
            read_body(peer, head)
            continue
        try:
            peer.sendall(reply(answer(read_body(peer, head))))
        except ValueError:
            peer.sendall(reply(b"").replace(b"200 OK", b"400 Bad Request"))
"""


def test_a_batch_that_is_answered_unread_is_caught(batch_of_ten, patience, tmp_path):
    known = tmp_path / "known"
    known.write_bytes(batch_of_ten.timed.body)
    with pytest.raises(ServerFailed, match="before all was asked"):
        verdict(server(HONEST_BATCH + KNOWS_WHAT_IS_TIMED, argument=known), batch_of_ten)


def test_an_honest_batch_is_not(batch_of_ten):
    assert verdict(server(HONEST_BATCH), batch_of_ten) > len(batch_of_ten.timed.answer)


EARLY_ECHO = """
def serve(peer):
    peer.sendall(b"hello")
    while peer.recv(65536): pass
"""
SHORT_ECHO = """
def serve(peer):
    while data := peer.recv(65536):
        peer.sendall(data[:100])
"""


@pytest.mark.parametrize("cheat", [EARLY_ECHO, SHORT_ECHO])
def test_an_echo_that_cheats_is_caught(cheat, monkeypatch):
    monkeypatch.setattr("harness.checks.ECHO_TIMEOUT", 1.0)
    with pytest.raises(ServerFailed, match="wrong answer"):
        verdict(server(cheat, "echo"))
