"""Clients that send or take a byte now and then, or nothing, in crowds: the others are served, and memory stays flat."""

import json
import os
import re
import time
from pathlib import Path

import pytest
from crowd import Crowd
from network import new_network
from slow_crowd import SlowCrowd
from weft_process import Server, run

# Each of a connection's ends needs a descriptor of its process, and a test has 20,000.
SLOW = 9_000
HONEST = 400
READERS = 1_000
IDLE = 19_000
IDLE_BYTES_MAX = 512
GIGABYTE = 1 << 30
EACH_READER_KIB = 64 + 64 + 32  # what may wait to be sent, a piece of a file, and the connection with its slots
KIB = 1024


def memory_kib(server):
    """What is the server's own, its share of what it shares included."""
    rollup = Path(f"/proc/{server.pid}/smaps_rollup").read_text()
    return int(re.search(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)[1])


def honest_load(weft_bench, server, preexec):
    """400 connections, each of which asks as soon as it is answered. Returns how many answers came."""
    done = run([weft_bench, "load", server.url("/ping"), "--data", '{"sequence": 2}', "-c", HONEST, "-d", "1s", "-w", "0s",
                "--timeout", "60s", "--json", "--quiet"], preexec=preexec)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["errors"]["total"] == 0 and not any(said["status"].values()), said
    return said["requests"]


def test_idle_connections_are_small(serve, backend, own_network):
    made, join = own_network
    with serve("--backend", backend, "--threads", "1", "--http.server.limits.connections=20000",
               "--http.server.limits.keep_alive_timeout=100s", preexec=made) as server, \
            Crowd(server, join(server)) as crowd:
        memory = {}
        for count in range(1_000, IDLE + 1, 1_000):  # so few at a time that they share what a request takes
            crowd.tell("open", 1_000)
            while crowd.tell("wait") < count:
                pass
            memory[count] = memory_kib(server)
        each = (memory[IDLE] - memory[1_000]) * KIB / (IDLE - 1_000)
        print(f"{each:.0f} bytes for each idle connection")
        assert each <= IDLE_BYTES_MAX
        assert crowd.tell("ask") == IDLE
        assert server.stop() == 0, server.log
        assert crowd.tell("end") == IDLE, "all see a proper end"


def test_slow_heads_and_bodies_keep_nobody_from_being_served(serve, weft_bench, backend, own_network):
    """The slow ones are within the limits, which are raised so that this takes no time; at the end they are served, too."""
    made, join = own_network
    with serve("--backend", backend, "--threads", "1", "--http.server.limits.header_timeout=100s",
               "--http.server.limits.body_idle_timeout=100s", preexec=made) as server, \
            SlowCrowd(server, join(server)) as heads, SlowCrowd(server, join(server)) as bodies:
        before = memory_kib(server)
        for crowd, part in (heads, "head"), (bodies, "body"):
            crowd.send("begin", part, SLOW)
        assert heads.answer() == bodies.answer() == SLOW
        assert honest_load(weft_bench, server, join(server)) >= HONEST
        for crowd in heads, bodies:
            assert crowd.tell("go_on") == SLOW, "nobody has been told anything, or cut"
        each = (memory_kib(server) - before) * KIB / (2 * SLOW)
        print(f"{each:.0f} bytes for each slow client")
        assert honest_load(weft_bench, server, join(server)) >= HONEST
        for crowd in heads, bodies:
            assert crowd.tell("finish") == {"200": SLOW}
        assert server.stop() == 0, server.log


def test_who_is_too_slow_is_told_so(serve, backend):
    with serve("--backend", backend, "--threads", "1", "--http.server.limits.header_timeout=300ms",
               "--http.server.limits.body_idle_timeout=300ms") as server, SlowCrowd(server) as slow:
        slow.tell("begin", "head", 500)
        assert slow.tell("begin", "body", 500) == 1000
        assert slow.tell("hear") == {"408": 1000}
        assert server.get("/healthz") == (200, "ok\n")
        assert server.stop() == 0, server.log


@pytest.mark.parametrize("path", [f"/stream/{GIGABYTE}", "/gigabyte"])
def test_memory_is_flat_with_slow_readers(playground, backend, small_buffers, tmp_path, path):
    """Each may cost what may wait to be sent, and a piece; more bytes do not cost more."""
    network, join = small_buffers
    with open(tmp_path / "gigabyte", "wb") as sparse:
        os.truncate(sparse.fileno(), GIGABYTE)
    with Server([playground, "--backend", backend, "--threads", "1", f"--http.static_files.folder={tmp_path}"],
                preexec=network) as server, SlowCrowd(server, join(server)) as slow:
        before = memory_kib(server)
        assert slow.tell("ask", path, READERS) == READERS
        grown = []
        for taken in range(1, 4):
            assert slow.tell("take", 128 * KIB) == READERS * taken * 128 * KIB
            grown.append((memory_kib(server) - before) / READERS)
        print("KiB for each reader:", *(f"{each:.1f}" for each in grown))
        assert max(grown) <= EACH_READER_KIB, f"though {3 * 128} KiB have gone to each"


def settled(read):
    """What it reads once that changes no more."""
    before, now = None, read()
    while now != before:
        time.sleep(0.2)
        before, now = now, read()
    return now


def test_who_takes_no_answers_keeps_nobody_from_being_served(playground, backend, small_buffers, tmp_path):
    """Answers that wait fill the memory that is for output, and leave that which others are read with."""
    network, join = small_buffers
    with Server([playground, "--backend", backend, "--threads", "1", f"--http.static_files.folder={tmp_path}"],
                preexec=network) as server, SlowCrowd(server, join(server)) as slow:
        before = memory_kib(server)
        assert slow.tell("ask", "/stream/3900", READERS + 500, 100) == READERS + 500
        each = (settled(lambda: memory_kib(server)) - before) / (READERS + 500)
        print(f"{each:.1f} KiB for each client that takes no answers")
        assert slow.tell("get", "/stream/4") == 200
        assert each <= EACH_READER_KIB
