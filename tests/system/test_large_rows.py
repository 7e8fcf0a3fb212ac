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
from row_engines import mariadb
from weft_process import Server, wait_until

MIB = 1 << 20
MEGABYTE = 1_000_000
GROUP = 256 * MIB
# What a server may use beside its budget: itself, what its allocator keeps, and what a turn makes.
OWN_MIB = 96
SMALL = 9  # the key of a row that is


def make_file(path, megabytes):
    with sqlite3.connect(path) as file:
        file.execute("pragma journal_mode=wal")
        file.execute("create table t(id integer primary key, v text)")
        file.executemany("insert into t values(?, ?)", ((i, "x" * megabytes * MEGABYTE) for i in range(1, 3)))
        file.execute("insert into t values(?, 'a')", (SMALL,))
    file.close()


@contextlib.contextmanager
def rows_in(engine, folder, megabytes):
    """Gives what weftd is to be told of them."""
    if engine == "sqlite":
        make_file(folder / "shop.db", megabytes)
        yield ["--data", folder]
        return
    with mariadb(folder, "--max-allowed-packet=64M") as server:
        server.client.run("create table shop.t(id int primary key, v longtext)",
                          *(f"insert into shop.t values({i}, repeat('x', {megabytes * MEGABYTE}))" for i in range(1, 3)),
                          f"insert into shop.t values({SMALL}, 'a')")
        yield server.arguments


def look_up(key):
    return json.dumps({"filters": [{"column": "id", "value": key}]})


# By each of which a client asks for large rows: path, body, and what of the reply are rows.
REQUESTS = {
    "batch": ("/0.1.0/batch",
              {"operations": [{"method": "POST", "relative-url": "shop/t/pk-read", "body": json.loads(look_up(key))} for key in (1, 2)]},
              lambda reply: [each["body"]["data"] for each in reply["result"]]),
    "scan": ("/0.1.0/shop/t/scan", {"limit": 3}, lambda reply: reply["data"]),
    "sql": ("/0.1.0/sql", {"database": "shop", "query": "select v from t where id < 3 limit 1"}, lambda reply: reply["data"]),
}


def request_for(key):
    body = look_up(key).encode()
    return b"POST /0.1.0/shop/t/pk-read HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


def number(server, name):
    """Of a metric, over all shards."""
    status, page = server.get("/metrics")
    assert status == 200
    return int(float(re.findall(rf"^{re.escape(name)} (\S+)$", page, re.MULTILINE)[0]))


def ask(port, path, body):
    """The status and, of 200, what the reply has. 0: it was not told to the end."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(client):
        try:
            client.request("POST", path, body, {"Host": "localhost"})
            reply = client.getresponse()
            text = reply.read()
        except (OSError, http.client.HTTPException):
            return 0, None
        return reply.status, json.loads(text) if reply.status == 200 else None


def read_row(port, key):
    """Its status and how long its text is."""
    status, reply = ask(port, "/0.1.0/shop/t/pk-read", look_up(key))
    return status, len(reply["data"]["v"]) if status == 200 else 0


def is_within(server, group):
    """Nobody was killed, and there is some room left."""
    assert server.process.poll() is None, server.read_log()
    assert group.kills() == 0
    assert read_row(server.port, SMALL) == (200, 1)
    peak = server.memory_kib("VmHWM") >> 10
    print(f"{peak} MiB at most, of which {number(server, 'memory_limit_bytes') >> 20} MiB are for clients")
    assert peak <= GROUP // 2 // MIB + OWN_MIB


@contextlib.contextmanager
def limited(weftd, arguments, threads):
    with memory_group(GROUP) as group, Server(
            [weftd, "--listen", "127.0.0.1:0", "--threads", threads, *arguments], preexec=group.join) as server:
        yield server, group
        assert server.stop() == 0, server.log


def serve_all(clients, ask_once):
    """What they were told in all; each asks until it is served or everybody has waited for long."""
    told = collections.Counter()
    give_up = time.monotonic() + 300

    def ask_until_served():
        while time.monotonic() < give_up:
            answer = ask_once()
            told[answer] += 1
            if answer[0] == 200:
                return
            time.sleep(0.5)

    crowd = [threading.Thread(target=ask_until_served) for _ in range(clients)]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join()
    print(dict(told))
    return told


@pytest.mark.parametrize("engine, megabytes, clients",
                         [("sqlite", 1, 400), ("sqlite", 4, 100), ("sqlite", 12, 40), ("sqlite", 50, 6),
                          ("mariadb", 4, 100), ("mariadb", 12, 40), ("mariadb", 50, 6)])
def test_readers_that_take_nothing_of_large_rows_share_what_there_is(weftd, tmp_path, engine, megabytes, clients):
    with rows_in(engine, tmp_path, megabytes) as arguments, limited(weftd, arguments, 1) as (server, group), \
            contextlib.ExitStack() as crowd:
        for _ in range(clients):
            client = crowd.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # or the kernel takes a whole row for it
            client.settimeout(60)
            client.connect(("127.0.0.1", server.port))
            client.sendall(request_for(1))
        # The kernel may have taken a row of a megabyte, and each that comes by a server's few connections, before the next is there.
        if engine == "sqlite" and 1 < megabytes < 50:  # of 50 MB there never is memory for one
            wait_until(lambda: number(server, "memory_refused_total") + number(server, "memory_dropped_peers_total") > 0)
        is_within(server, group)
        # Nobody may have a row that needs more than three quarters of the budget. Others wait for those that take nothing.
        wanted = (413, 0) if megabytes == 50 else (200, megabytes * MEGABYTE)
        wait_until(lambda: read_row(server.port, 2) == wanted, patience_s=90)
        is_within(server, group)


@pytest.mark.parametrize("engine, megabytes, clients, threads",
                         [("sqlite", 1, 120, 2), ("sqlite", 4, 80, 1), ("sqlite", 12, 40, 1),
                          ("mariadb", 4, 80, 1), ("mariadb", 12, 40, 2)])
def test_readers_of_large_rows_are_all_served(weftd, tmp_path, engine, megabytes, clients, threads):
    with rows_in(engine, tmp_path, megabytes) as arguments, limited(weftd, arguments, threads) as (server, group):
        told = serve_all(clients, lambda: read_row(server.port, 1))
        assert told[200, megabytes * MEGABYTE] == clients
        assert set(told) <= {(200, megabytes * MEGABYTE), (503, 0), (0, 0)}
        is_within(server, group)


@pytest.mark.parametrize("engine, how, megabytes, clients",
                         [("sqlite", "batch", 4, 60), ("sqlite", "scan", 4, 100), ("sqlite", "scan", 20, 20), ("sqlite", "sql", 1, 100),
                          ("mariadb", "batch", 4, 60), ("mariadb", "scan", 4, 100), ("mariadb", "scan", 12, 40), ("mariadb", "sql", 3, 100)])
def test_whoever_finds_large_rows_otherwise_is_served_within_the_budget(weftd, tmp_path, engine, how, megabytes, clients):
    path, body, rows_of = REQUESTS[how]

    def ask_once(port):
        status, reply = ask(port, path, json.dumps(body))
        return status, max(len(each["v"]) for each in rows_of(reply)) if status == 200 else 0

    with rows_in(engine, tmp_path, megabytes) as arguments, limited(weftd, arguments, 2) as (server, group):
        told = serve_all(clients, lambda: ask_once(server.port))
        assert told[200, megabytes * MEGABYTE] == clients
        assert set(told) <= {(200, megabytes * MEGABYTE), (503, 0), (0, 0)}
        is_within(server, group)


def test_a_scan_that_comes_to_a_row_that_nobody_may_have_is_refused(weftd, tmp_path):
    make_file(tmp_path / "shop.db", 60)
    path, body, _ = REQUESTS["scan"]
    with limited(weftd, ["--data", tmp_path], 1) as (server, group):
        assert ask(server.port, path, json.dumps(body)) == (413, None)
        is_within(server, group)


WIDE = 500  # columns


def make_wide_file(path, bytes_each):
    """No value is long, and each row is."""
    names = [f"c{i}" for i in range(WIDE)]
    with sqlite3.connect(path) as file:
        file.execute("pragma journal_mode=wal")
        file.execute(f"create table t(id integer primary key, {','.join(names)})")
        for key in (1, 2, 3):
            file.execute(f"insert into t values(?{',?' * WIDE})", (key, *("x" * bytes_each for _ in names)))
        file.execute(f"insert into t(id) values({SMALL})")
    file.close()


def status_and_text(server, path, body):
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    with contextlib.closing(client):
        client.request("POST", path, body if isinstance(body, str) else json.dumps(body), {"Host": "localhost"})
        reply = client.getresponse()
        return reply.status, reply.read().decode()


def test_what_never_fits_is_not_to_be_tried_again(weftd, tmp_path):
    """Whoever asks alone is not told that others have the memory."""
    make_wide_file(tmp_path / "shop.db", 100_000)
    with sqlite3.connect(tmp_path / "shop.db") as file:
        file.execute("create table one(id integer primary key, v)")
        file.execute("insert into one values(1, ?)", ("x" * 37 * MEGABYTE,))  # 40 would fit if nobody had a cache
    file.close()
    with limited(weftd, ["--data", tmp_path], 1) as (server, group):
        for path, body in (("shop/t/pk-read", look_up(1)), ("shop/t/scan", {"limit": 3}), ("shop/one/pk-read", look_up(1)),
                           ("shop/one/scan", {"limit": 1})):
            status, text = status_and_text(server, f"/0.1.0/{path}", body)
            assert (status, "the row has more bytes than the memory budget (application.memory_bytes) has room for" in text) == (413, True), text
        assert status_and_text(server, "/0.1.0/shop/t/pk-read", look_up(SMALL))[0] == 200
        assert group.kills() == 0


def test_a_batch_that_never_fits_is_not_to_be_tried_again(weftd, tmp_path):
    make_wide_file(tmp_path / "shop.db", 54_000)  # 27 MB: one alone takes 63 of the 76 MiB that there are
    batch = REQUESTS["batch"][1]
    with limited(weftd, ["--data", tmp_path], 1) as (server, group):
        status, text = status_and_text(server, "/0.1.0/batch", batch)
        assert (status, "the rows have more bytes than the memory budget" in text) == (413, True), text
        status, text = status_and_text(server, "/0.1.0/batch", {"operations": batch["operations"][:1]})
        assert status == 200, text[:200]
        assert group.kills() == 0


@pytest.mark.parametrize("path, body", [("shop/t/pk-read", look_up(1)), ("batch", REQUESTS["batch"][1]), ("shop/t/scan", {"limit": 3})],
                         ids=["read", "batch", "scan"])
def test_who_asks_for_wide_rows_is_served_beside_others(weftd, tmp_path, path, body):
    make_wide_file(tmp_path / "shop.db", 20_000)
    with limited(weftd, ["--data", tmp_path], 1) as (server, group):
        told = serve_all(12, lambda: (status_and_text(server, f"/0.1.0/{path}", body)[0],))
        assert told[(200,)] == 12
        assert set(told) <= {(200,), (503,)}
        assert group.kills() == 0
