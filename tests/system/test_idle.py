"""What weftd does when nobody talks to it: nothing, or with --idle spin, polling."""

import os
import time
from pathlib import Path

import pytest
from tracing import calls_in, skip_unless_traceable, traced

QUIET_S = 2.0
PING = b"POST /ping HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n{\"sequence\": 2}"


def switches(server):
    """{thread: context switches so far, voluntary or not}."""
    counted = {}
    for status in Path(f"/proc/{server.pid}/task").glob("*/status"):
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        thread = f"{lines['Name'].strip()} {status.parent.name}"
        counted[thread] = sum(int(lines[kind]) for kind in
                              ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"))
    return counted


def work(server, clients=8, requests=50):
    for _ in range(clients):
        with server.connect() as client:
            for _ in range(requests):
                client.sendall(PING)
                assert client.recv(4096).startswith(b"HTTP/1.1 200 OK")


def settled(server):
    """The switches once the last work's traces are gone: closed connections, or a spell of polling."""
    before = switches(server)
    for _ in range(100):
        time.sleep(0.2)
        now = switches(server)
        if now == before:
            return now
        before = now
    pytest.fail(f"it never comes to rest: {before}")


@pytest.mark.parametrize("idle", ["sleep", "spin=50us"])
def test_nothing_happens_while_nobody_talks(serve, backend, idle):
    with serve("--backend", backend, "--threads", "2", "--idle", idle) as server:
        work(server)
        before = settled(server)
        time.sleep(QUIET_S)
        assert switches(server) == before, f"something woke it within {QUIET_S} s"
        work(server)
        assert switches(server) != before, "this test could not see it wake"
        assert server.stop() == 0


@pytest.mark.parametrize("idle", ["sleep", "spin=50us", "spin"])
def test_it_serves_and_ends_however_it_is_idle(serve, backend, idle):
    with serve("--backend", backend, "--threads", "2", "--idle", idle) as server:
        work(server)
        assert server.get("/healthz") == (200, "ok\n")
        assert server.stop() == 0


def test_polling_io_uring_makes_no_system_calls(weftd, tmp_path, io_uring_works):
    if not io_uring_works:
        pytest.skip("this machine refuses io_uring")
    skip_unless_traceable()
    table = tmp_path / "calls"
    with traced([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--backend", "io_uring",
                 "--idle", "spin"], table) as server:
        before = server.cpu_ticks()
        while server.cpu_ticks() - before < 20:
            time.sleep(0.05)
        assert server.stop() == 0
    calls = calls_in(table)
    assert calls["io_uring_enter"] < 100, calls


def one_cpu():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def test_more_polling_shards_than_cpus_are_warned_of(serve):
    with serve("--threads", "4", "--idle", "spin=50us", preexec=one_cpu) as server:
        assert "--idle spin=50us: 4 shards poll on 1 CPU " in server.log
    with serve("--threads", "4", preexec=one_cpu) as server:
        assert "shards poll" not in server.log
