"""Clients that ask for large rows: what a row needs is reserved before it is read, so that no crowd of them ends weftd."""

import collections
import contextlib
import http.client
import json
import re
import socket
import sqlite3
import threading
import time

import pytest
from memory_group import memory_group
from weft_process import Server, wait_until

MIB = 1 << 20
MEGABYTE = 1_000_000
GROUP = 256 * MIB
# What a server may use beside its budget: itself, what its allocator keeps, and what a turn makes.
OWN_MIB = 96
SMALL = 9  # the key of a row that is


def make_rows(path, megabytes):
    with sqlite3.connect(path) as file:
        file.execute("pragma journal_mode=wal")
        file.execute("create table t(id integer primary key, v text)")
        file.executemany("insert into t values(?, ?)", ((i, "x" * megabytes * MEGABYTE) for i in range(1, 3)))
        file.execute("insert into t values(?, 'a')", (SMALL,))
    file.close()


def look_up(key):
    return json.dumps({"filters": [{"column": "id", "value": key}]})


def request_for(key):
    body = look_up(key).encode()
    return b"POST /0.1.0/shop/t/pk-read HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


def number(server, name):
    """Of a metric, over all shards."""
    status, page = server.get("/metrics")
    assert status == 200
    return int(float(re.findall(rf"^{re.escape(name)} (\S+)$", page, re.MULTILINE)[0]))


def read_row(port, key):
    """Its status and how long its text is. 0: it was not told to the end."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(client):
        try:
            client.request("POST", "/0.1.0/shop/t/pk-read", look_up(key), {"Host": "localhost"})
            reply = client.getresponse()
            text = reply.read()
        except (OSError, http.client.HTTPException):
            return 0, 0
        return reply.status, len(json.loads(text)["data"]["v"]) if reply.status == 200 else 0


def is_within(server, group):
    """Nobody was killed, and there is some room left."""
    assert server.process.poll() is None, server.read_log()
    assert group.kills() == 0
    assert read_row(server.port, SMALL) == (200, 1)
    peak = server.memory_kib("VmHWM") >> 10
    print(f"{peak} MiB at most, of which {number(server, 'memory_limit_bytes') >> 20} MiB are for clients")
    assert peak <= GROUP // 2 // MIB + OWN_MIB


@contextlib.contextmanager
def limited(weftd, folder, threads):
    with memory_group(GROUP) as group, Server(
            [weftd, "--listen", "127.0.0.1:0", "--threads", threads, "--data", folder], preexec=group.join) as server:
        yield server, group
        assert server.stop() == 0, server.log


@pytest.mark.parametrize("megabytes, clients", [(1, 400), (4, 100), (12, 40), (50, 6)])
def test_readers_that_take_nothing_of_large_rows_share_what_there_is(weftd, tmp_path, megabytes, clients):
    make_rows(tmp_path / "shop.db", megabytes)
    with limited(weftd, tmp_path, 1) as (server, group), contextlib.ExitStack() as crowd:
        for _ in range(clients):
            client = crowd.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            client.sendall(request_for(1))
        wait_until(lambda: number(server, "memory_refused_total") + number(server, "memory_dropped_peers_total") > 0)
        is_within(server, group)
        # Nobody may have a row that needs more than three quarters of the budget. Others wait for those that take nothing.
        wanted = (413, 0) if megabytes == 50 else (200, megabytes * MEGABYTE)
        wait_until(lambda: read_row(server.port, 2) == wanted, patience_s=90)
        is_within(server, group)


@pytest.mark.parametrize("megabytes, clients, threads", [(1, 120, 2), (4, 80, 1), (12, 40, 1)])
def test_readers_of_large_rows_are_all_served(weftd, tmp_path, megabytes, clients, threads):
    make_rows(tmp_path / "shop.db", megabytes)
    told = collections.Counter()
    give_up = time.monotonic() + 90

    def read_until_served():
        while time.monotonic() < give_up:
            answer = read_row(server.port, 1)
            told[answer] += 1
            if answer[0] == 200:
                return
            time.sleep(0.5)

    with limited(weftd, tmp_path, threads) as (server, group):
        readers = [threading.Thread(target=read_until_served) for _ in range(clients)]
        for each in readers:
            each.start()
        for each in readers:
            each.join()
        print(dict(told))
        assert told[200, megabytes * MEGABYTE] == clients
        assert set(told) <= {(200, megabytes * MEGABYTE), (503, 0), (0, 0)}
        is_within(server, group)
