"""Thousands of clients that ask in the same moment do not make weftd hold a buffer for each of them."""

import resource
import signal
from contextlib import ExitStack

import pytest

PING = b"POST /ping HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n{\"sequence\": 2}"
CLIENTS = 6_000
# 1,024 are received at first, of which each touches a page of its buffer; others come as these go.
GROWN_MOST_KIB = 10 * 1024


def test_a_burst_takes_few_buffers(serve, backend):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < CLIENTS + 200:
        pytest.skip(f"no more than {hard} descriptors are allowed: too few to tell")
    with serve("--backend", backend, "--threads", "1") as server, ExitStack() as closing:
        clients = [closing.enter_context(server.connect()) for _ in range(CLIENTS)]

        def ask_in_turn():
            for client in clients:
                client.sendall(PING)
                assert client.recv(4096).startswith(b"HTTP/1.1 200 OK")

        ask_in_turn()  # what a connection takes once is taken
        before = server.memory_kib("VmHWM")
        server.send_signal(signal.SIGSTOP)
        for client in clients:
            client.sendall(PING)
        server.send_signal(signal.SIGCONT)
        for client in clients:
            assert client.recv(4096).startswith(b"HTTP/1.1 200 OK")
        assert server.memory_kib("VmHWM") - before <= GROWN_MOST_KIB
        closing.close()
        assert server.stop() == 0
