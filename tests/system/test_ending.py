"""How weftd ends: cleanly when asked, at once when asked twice, and only for good reasons."""

import signal
import socket
import struct

import pytest


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(serve, backend, threads, number):
    with serve("--backend", backend, "--threads", threads) as server:
        with server.connect() as idle:  # an idle connection does not hold it up
            idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert idle.recv(4096).startswith(b"HTTP/1.1 200")
            assert server.stop(number) == 0
            assert idle.recv(4096) == b""
        assert f"{signal.Signals(number).name}: stopping" in server.log


def test_it_ends_cleanly_with_many_idle_connections(serve, backend):
    with serve("--backend", backend, "--threads", "2") as server:
        connections = [server.connect() for _ in range(100)]
        assert server.get("/healthz")[0] == 200
        assert server.stop() == 0
        for each in connections:
            each.close()


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_second_signal_ends_it_at_once(serve, threads):
    """Both are pending when it looks: it takes the first, lets the second through, and that one kills."""
    with serve("--threads", threads) as server:
        server.send_signal(signal.SIGSTOP)
        server.send_signal(signal.SIGINT)
        server.send_signal(signal.SIGTERM)
        server.send_signal(signal.SIGCONT)
        assert server.wait_for_end() == -signal.SIGTERM


def test_a_reader_that_goes_away_does_not_end_it(serve, backend):
    """Writing to a closed connection raises SIGPIPE, which must be nobody's end."""
    ping = b"POST /ping HTTP/1.1\r\nHost: x\r\nContent-Length: 14\r\n\r\n{\"sequence\": 2}"
    with serve("--backend", backend, "--threads", "1") as server:
        for _ in range(20):
            rude = server.connect()
            rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # reset, not close
            rude.sendall(ping * 200)
            rude.close()
        assert server.get("/healthz") == (200, "ok\n")
        assert server.stop() == 0
