"""TLS, HTTP/2 and WebSockets: servers of ours are measured in each, and those that answer wrongly, or speak something else, are not."""

import os
import shlex
import subprocess
import sys
from dataclasses import replace

import pytest
from conftest import ROOT
from harness import cli
from harness.asks import Ask
from harness.checks import check
from harness.effort import USUAL
from harness.generators import WebsocketLoad, WeftBench
from harness.protocol_workloads import protocol_subjects, protocol_workloads
from harness.runner import run_once
from harness.servers import ServerFailed, Subject, running
from harness.tls import CERTIFICATE, KEY
from harness.workloads import HEALTH, Workload
from test_servers import CORES

PROTOCOLS = ("tls", "http2", "websocket")

# Answers each ping over TLS with what its third argument says; "early" before it has the whole request.
TLS_SERVER = """
import socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2], sys.argv[3])
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    peer, _ = listener.accept()
    try:
        with context.wrap_socket(peer, server_side=True) as talk:
            request = b""
            while data := talk.recv(65536):
                request += data
                head, blank, sent = request.partition(b"\\r\\n\\r\\n")
                if not blank:
                    continue
                size = int(head.lower().partition(b"content-length:")[2].split(b"\\r")[0] or 0)
                if len(sent) < size - (1 if sys.argv[4] == "early" else 0):
                    continue
                body = b'{"sequence": 2}' if sys.argv[4] in ("fixed", "early") else sent
                request = b""
                talk.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\n"
                             b"Content-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
    except OSError:
        pass
"""


def tls_server(how):
    words = [sys.executable, "-c", TLS_SERVER, "{port}", f"{{scratch}}/{CERTIFICATE}", f"{{scratch}}/{KEY}", how]
    return Subject("fake", shlex.join(words), "tls")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_weft_is_measured_in_each_protocol(protocol, build, weft_bench):
    subjects = [each for each in protocol_subjects(build) if each.protocol == protocol]
    assert len(subjects) == 2
    for subject in subjects:
        assert subject.missing() is None, "`make build` makes it"
        work = Workload("w", "W", protocol, WeftBench(weft_bench, protocol, 0.2, 0.05), 8, 1)
        run = run_once(work, subject, CORES, {os.getpid()})
        assert run.requests > 0 and run.errors == {}


@pytest.mark.parametrize("protocol", ["tls", "http2"])
def test_a_text_is_asked_for_in_each_protocol(protocol, build, weft_bench):
    subject = next(each for each in protocol_subjects(build) if each.protocol == protocol)
    work = Workload("w", "W", protocol, WeftBench(weft_bench, protocol, 0.2, 0.05), 8, 1, is_plain=True)
    run = run_once(work, subject, CORES, {os.getpid()})
    assert run.requests > 0 and run.errors == {}
    assert run.answer_bytes > 10
    wrong = Ask(replace(HEALTH, answer=b"not this"), None)
    with running(subject, CORES.server) as (_, port), pytest.raises(ServerFailed, match="not this"):
        check(subject, port, wrong)


def test_each_request_of_the_handshakes_has_one(build, weft_bench):
    work = next(each for each in protocol_workloads(USUAL, build) if each.name == "tls-handshake")
    few = replace(work, generator=replace(work.generator, requests=300), connections=10)
    subject = next(each for each in protocol_subjects(build) if each.protocol == "tls")
    run = run_once(few, subject, CORES, {os.getpid()})
    assert run.requests == 300 and run.errors == {}
    assert run.process_us > 30  # a signature alone takes that


@pytest.mark.parametrize("kind", ["feed", "turns"])
def test_websockets_have_a_load_of_their_own(kind, build):
    subject = next(each for each in protocol_subjects(build) if each.protocol == "websocket")
    run = run_once(Workload("w", "W", "websocket", WebsocketLoad(kind, 0.2), 20, 1), subject, CORES, {os.getpid()})
    assert run.requests > (20 if kind == "feed" else 1) and run.errors == {}


def test_a_load_on_something_else_says_so(ceiling):
    with running(Subject("echo", f"'{ceiling}' {{port}} echo", "echo"), CORES.server) as (_, port):
        done = subprocess.run([ROOT / "bench/websocket/load", "feed", f"127.0.0.1:{port}", "3", "0.1"],
                              capture_output=True, text=True, timeout=30, check=False)  # fmt: skip
    assert done.returncode == 1 and "WebSocket" in done.stderr


def test_a_server_by_tls_answers_as_it_should():
    right = tls_server("right")
    with running(right, CORES.server) as (_, port):
        check(right, port)


@pytest.mark.parametrize(("how", "reason"), [("fixed", r"for sequence \d{10}"), ("early", "before all was asked")])
def test_a_wrong_answer_by_tls_is_not_timed(how, reason):
    server = tls_server(how)
    with running(server, CORES.server) as (_, port), pytest.raises(ServerFailed, match=reason):
        check(server, port)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_server_that_speaks_something_else_is_not_timed(protocol, ceiling):
    subject = Subject("echo", f"'{ceiling}' {{port}} echo", protocol)
    with running(subject, CORES.server) as (_, port), pytest.raises(ServerFailed, match="wrong answer"):
        check(subject, port)


def test_what_is_asked_for_is_what_each_protocol_takes(build):
    commands = {work.name: work.generator.command(8000, work.connections, work.ask(subject))
                for work in protocol_workloads(USUAL, build)
                for subject in protocol_subjects(build) if work.takes(subject)}  # fmt: skip
    assert "https://127.0.0.1:8000/ping" in commands["tls"] and "--insecure" in commands["tls"]
    assert commands["tls-handshake"][-1] == "https://127.0.0.1:8000/healthz"
    assert "-k" not in commands["tls-handshake"]
    assert "http://127.0.0.1:8000/healthz" in commands["http2"] and "--http2" in commands["http2"]
    assert commands["http2-streams"][commands["http2-streams"].index("--pipeline") + 1] == "32"
    assert "ws://127.0.0.1:8000/echo" in commands["websocket"]
    assert commands["websocket-feed"][1:3] == ["feed", "127.0.0.1:8000"]


def test_every_protocol_has_a_baseline_and_peers(build):
    subjects = protocol_subjects(build)
    for work in protocol_workloads(USUAL, build):
        assert next(each.name for each in subjects if work.takes(each)) == work.baseline
        assert any(peer.protocol == work.protocol and peer.kind == "complete" for peer in cli.ALL_PEERS)
