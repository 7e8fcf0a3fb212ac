"""SIGTERM loses nothing: what has reached the server's socket is answered, nobody sees a reset, and it ends in time."""

import os
import random
import signal
import socket
import time

import pytest
from load_client import Load
from weft_process import Server

# The normal run is a sample: WEFT_DRAIN_RUNS=100 for the whole.
RUNS = int(os.environ.get("WEFT_DRAIN_RUNS", "3"))
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("part", range((RUNS + 24) // 25))
def test_under_load(serve, backend, threads, part):
    for _ in range(min(25, RUNS - 25 * part)):
        with serve("--backend", backend, "--threads", threads) as server:
            load = Load(server.port, connections=64)
            begin, least = time.monotonic(), random.uniform(0.1, 0.3)
            # However long it takes on a busy machine, they are all at work when the signal comes.
            load.run(lambda: load.faults or (time.monotonic() - begin > least and load.answered > 64))
            assert not load.faults and load.refused == 0 and load.ended == 0, load.faults
            server.send_signal(signal.SIGTERM)
            load.run(lambda: server.process.poll() is not None or load.faults)
            load.finish()
            assert not load.faults, f"{load.faults}\nafter {load.answered} replies\n{server.read_log()}"
            assert server.wait_for_end() == 0
            assert load.ended >= 64
            with pytest.raises(ConnectionRefusedError):
                server.connect()


def wait_until_stopped(pid):
    while True:
        with open(f"/proc/{pid}/stat") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] == "T":
                return
        time.sleep(0.001)


def known_client(server):
    """A connection that the server has accepted."""
    client = server.connect()
    client.sendall(REQUEST)
    assert client.recv(4096).endswith(b"ok\n")
    return client


def rest(client):
    """All that comes until the end, which is no reset."""
    received = b""
    while part := client.recv(65536):
        received += part
    return received


@pytest.mark.parametrize("threads", ["1", "2"])
def test_what_came_before_it_looked(serve, backend, threads):
    """While it is stopped, the kernel takes requests and connections for it. The signal is the first thing it sees."""
    with serve("--backend", backend, "--threads", threads, "--drain-idle", "0") as server:
        known = [server.connect() for _ in range(2000)]  # more than it hears of at once
        for client in known:
            client.sendall(REQUEST)
        for client in known:
            assert client.recv(4096).endswith(b"ok\n")
        server.send_signal(signal.SIGSTOP)
        wait_until_stopped(server.pid)
        server.send_signal(signal.SIGTERM)
        for client in known:
            client.sendall(REQUEST * 2)
        newcomers = [server.connect() for _ in range(500)]
        for client in newcomers:
            client.sendall(REQUEST * 2)
        server.send_signal(signal.SIGCONT)
        for client in known + newcomers:
            replies = rest(client)
            assert replies.count(b"HTTP/1.1 200 OK") == 2 and replies.endswith(b"ok\n"), replies
            if b"Connection: close" in replies:  # not if it was answered before the signal had its turn
                assert replies.index(b"Connection: close") > replies.rindex(b"HTTP/1.1"), "in the last one"
            client.close()
        assert server.wait_for_end() == 0
        assert "draining " in server.log and "ended, " in server.log
        assert "cut" not in server.log


def test_in_the_line_of_a_unix_socket(weftd, backend, tmp_path):
    path = str(tmp_path / "weftd.sock")
    with Server([weftd, "--listen", f"unix:{path}", "--backend", backend, "--threads", "2"]) as server:
        server.send_signal(signal.SIGSTOP)
        wait_until_stopped(server.pid)
        server.send_signal(signal.SIGTERM)
        def connect():
            client = socket.socket(socket.AF_UNIX)
            client.settimeout(20)
            client.connect(path)
            return client
        clients = [connect() for _ in range(50)]
        for client in clients[1:]:
            client.sendall(REQUEST)
        clients[0].sendall(REQUEST[:20])  # holds up the end
        server.send_signal(signal.SIGCONT)
        for client in clients[1:]:
            assert rest(client).endswith(b"ok\n")
            client.close()
        with pytest.raises(ConnectionRefusedError):  # nobody joins the line, though the path is there to the end
            for _ in range(100):
                connect().close()
                time.sleep(0.01)
        clients[0].sendall(REQUEST[20:])
        assert rest(clients[0]).endswith(b"ok\n")
        clients[0].close()
        assert server.wait_for_end() == 0
        assert "error" not in server.log


def test_who_is_idle_sees_a_proper_end_and_who_sends_after_it_no_reset(serve, backend):
    with serve("--backend", backend, "--threads", "1") as server:
        clients = [known_client(server) for _ in range(10)] + [server.connect() for _ in range(10)]
        server.send_signal()
        for client in clients:
            assert client.recv(4096) == b""
        for client in clients:  # too late, and harmless
            client.sendall(REQUEST)
        for client in clients:
            assert client.recv(4096) == b""
            client.close()
        assert server.wait_for_end() == 0


def test_the_rest_of_a_request_is_waited_for_until_the_deadline(serve, backend):
    with serve("--backend", backend, "--threads", "1", "--stop-timeout", "2") as server:
        slow, stuck = known_client(server), known_client(server)
        for client in (slow, stuck):
            client.sendall(REQUEST[:20])
        server.send_signal()
        server.wait_for_log("draining 2 connections")
        time.sleep(0.3)
        slow.sendall(REQUEST[20:])
        reply = rest(slow)
        assert reply.startswith(b"HTTP/1.1 200") and b"Connection: close" in reply
        slow.close()
        assert stuck.recv(4096) == b""
        address = "{}:{}".format(*stuck.getsockname())
        assert server.wait_for_end() == 0, "a client that does not finish is no failure of the server's"
        assert f"1 connection is cut: {address} has sent a part of a request's head" in server.log


def test_a_second_signal_ends_the_drain_at_once(serve, backend):
    with serve("--backend", backend, "--threads", "2") as server:
        client = known_client(server)
        client.sendall(REQUEST[:20])
        server.send_signal(signal.SIGINT)
        server.wait_for_log("draining 1 connection")
        server.send_signal(signal.SIGTERM)
        assert server.wait_for_end() == -signal.SIGTERM
