"""The peers answer rightly where they can be built, and what cannot is left out with the reason."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT
from harness import network, peers
from harness.asks import Ask
from harness.building import cpp
from harness.checks import check
from harness.machine import choose_cores, compiler_of
from harness.servers import running

CORES = choose_cores(os.sched_getaffinity(0))
PEERS = {peer.name: peer for peer in peers.ALL}


def silent(_):
    pass


@pytest.fixture(scope="session")
def compiler(build):
    return peers.compiler_command(compiler_of(build) or "c++")


def check_all(subject, port):
    # By HTTP/2 a text alone is asked for: nginx resets the stream of a body that it does not want, which curl takes ill.
    if subject.protocol != "http2":
        check(subject, port)
    if subject.plain:
        check(subject, port, Ask(subject.plain, None))


# Not those that are long in the building, or need a registry. bench/run checks them.
@pytest.mark.parametrize("name", ["nginx", "nginx_tls", "nginx_http2", "h2o", "h2o_tls", "h2o_http2", "asio", "libuv",
                                  "echo_asio", "echo_libuv"])
def test_a_peer_answers_rightly(name, compiler, tmp_path):
    ready, left_out = peers.build([PEERS[name]], compiler, tmp_path, silent)
    if left_out and "is not installed" in left_out[0]:
        pytest.skip(left_out[0])
    assert left_out == []
    (subject,) = ready
    assert subject.kind == PEERS[name].kind
    with running(subject, CORES.server) as (_, port):
        check_all(subject, port)


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_that_is_built_answers_rightly(name, compiler, build):
    into = build.parent / "bench-peers"
    if not any((into / stamp).exists() for stamp in (f"{name}.stamp", "node.stamp")):
        pytest.skip(f"{name} is not built: bench/run does")
    ready, left_out = peers.build([PEERS[name]], compiler, into, silent)
    if left_out:
        pytest.skip(left_out[0])
    with running(ready[0], CORES.server) as (_, port):
        check_all(ready[0], port)


def test_what_is_not_installed_is_left_out_and_named(compiler, tmp_path):
    gone = peers.Peer("asio", "bare", cpp("asio/server.cpp", "no/such/header.hpp", "libnone-dev"))
    ready, (reason,) = peers.build([gone], compiler, tmp_path, silent)
    assert ready == []
    assert reason == "asio is left out: libnone-dev is not installed (tools/setup bench)"


def test_programs_that_are_not_there_are_named(compiler, tmp_path, monkeypatch):
    monkeypatch.setattr("harness.building.shutil.which", lambda *_, **__: None)
    ready, left_out = peers.build(peers.ALL, compiler, tmp_path, silent)
    assert ready == []
    assert len(left_out) == len(peers.ALL)
    for reason in left_out:
        assert "is not installed" in reason or "is not there" in reason


@pytest.fixture
def a_tiny_peer(tmp_path, monkeypatch):
    """A peer of three lines, and where its source is."""
    monkeypatch.setattr("harness.building.PEERS", tmp_path / "bench/peers")
    source = tmp_path / "bench/peers/tiny/server.cpp"
    source.parent.mkdir(parents=True)
    source.write_text("int main() {}\n")
    parser = tmp_path / "bench/ceilings/ping.hpp"
    parser.parent.mkdir()
    parser.write_text("")
    return peers.Peer("tiny", "bare", cpp("tiny/server.cpp", "cstdio", "x")), source


def test_a_peer_is_built_again_only_when_it_changed(a_tiny_peer, compiler, tmp_path):
    peer, source = a_tiny_peer
    into = tmp_path / "out"

    def built_at():
        ready, left_out = peers.build([peer], compiler, into, silent)
        assert left_out == []
        return (into / "tiny").stat().st_mtime_ns

    first = built_at()
    assert built_at() == first
    source.write_text("int main() { return 1; }\n")
    assert built_at() != first


def test_a_peer_that_does_not_build_says_why(a_tiny_peer, compiler, tmp_path):
    peer, source = a_tiny_peer
    source.write_text("#error no such luck\n")
    ready, (reason,) = peers.build([peer], compiler, tmp_path / "out", silent)
    assert ready == []
    assert "tiny is left out: it does not build" in reason and "no such luck" in reason


def test_a_network_of_our_own_has_a_loopback_and_ports_enough():
    """In a process of its own, for it cannot be left again."""
    program = """
import socket
from harness import network
before = network.port_range()
why_not = network.isolate()
if why_not:
    print("refused:", why_not)
else:
    server = socket.create_server(("127.0.0.1", 0))
    socket.create_connection(server.getsockname(), 1).close()
    print(network.port_range().split(), network.most_connections(20_000, network.port_range()))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT / "bench")},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    if done.stdout.startswith("refused"):
        pytest.skip(done.stdout)
    assert done.stdout == "['2048', '65535'] 19500\n"
    assert network.port_range()  # ours is as it was
