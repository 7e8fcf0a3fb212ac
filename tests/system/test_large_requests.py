"""Requests that are parsed into many small parts, and replies that have a large schema: they count against the memory budget, so that
a crowd of them does not end weftd.
"""

import collections
import contextlib
import http.client
import json
import sqlite3
import threading

import pytest
from memory_group import memory_group
from weft_process import Server

MIB = 1 << 20
GROUP = 256 * MIB
CLIENTS = 30
WIDE = 1_000  # columns
HOST = {"Host": "localhost"}


@contextlib.contextmanager
def limited(weftd, folder, threads=1):
    with memory_group(GROUP) as group, Server(
            [weftd, "--listen", "127.0.0.1:0", "--threads", threads, "--data", folder], preexec=group.join) as server:
        yield server
        assert server.process.poll() is None, server.read_log()
        assert group.kills() == 0
        print(f"{server.memory_kib('VmHWM') >> 10} MiB at most")
        assert server.stop() == 0, server.log


def send(port, method, path, body=None):
    """The status. 0: there was no whole reply."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    with contextlib.closing(client):
        try:
            client.request(method, path, body, HOST)
            reply = client.getresponse()
            reply.read()
        except (OSError, http.client.HTTPException):
            return 0
        return reply.status


def send_at_once(clients, send_one):
    told = collections.Counter()

    def client():
        for _ in range(2):
            told[send_one()] += 1

    crowd = [threading.Thread(target=client) for _ in range(clients)]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join()
    print(dict(told))
    return told


def make_tables(folder):
    with contextlib.closing(sqlite3.connect(folder / "shop.db", isolation_level=None)) as file:
        file.execute("PRAGMA journal_mode=WAL")
        file.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)")
        file.execute(f"CREATE TABLE wide(id INTEGER PRIMARY KEY, {', '.join(f'c{i} TEXT' for i in range(WIDE))})")


def look_ups():
    """Of columns that the table does not have, so that all wait for a look at the schema."""
    asked = {"filters": [{"column": "id", "value": 1}], "readColumns": [{"column": f"{i:x}"} for i in range(2_000)]}
    return "/0.1.0/batch", [{"relative-url": "shop/t/pk-read", "body": asked} for _ in range(105)]


def writes(value):
    columns = [{"column": f"c{i}", "value": value} for i in range(WIDE)]
    return "/0.1.0/batchwrite", [{"method": "POST", "relative-url": "shop/wide/pk-write",
                                  "body": {"filters": [{"column": "id", "value": key}], "writeColumns": columns}} for key in range(128)]


@pytest.mark.parametrize("path, operations", [look_ups(), writes(1), writes("1")], ids=["unknown columns", "wrong values", "values"])
def test_requests_of_many_small_parts_share_what_there_is(weftd, tmp_path, path, operations):
    make_tables(tmp_path)
    body = json.dumps({"operations": operations}, separators=(",", ":"))
    with limited(weftd, tmp_path) as server, contextlib.closing(sqlite3.connect(tmp_path / "shop.db", isolation_level=None)) as other:
        assert send(server.port, "POST", path, body) in (200, 400)
        other.execute("BEGIN IMMEDIATE")  # what is written waits for that
        told = send_at_once(CLIENTS, lambda: send(server.port, "POST", path, body))
        other.execute("ROLLBACK")
        assert told.keys() <= {0, 200, 400, 408, 503}, told  # a machine that stands still is late with a body
        assert send(server.port, "POST", path, body) in (200, 400)


def test_readers_of_a_large_schema_share_what_there_is(weftd, tmp_path):
    for database in range(5):
        with contextlib.closing(sqlite3.connect(tmp_path / f"shop{database}.db")) as file:
            for table in range(200):
                columns = ", ".join(f"a_column_of_this_table_{i} VARCHAR(50) NOT NULL" for i in range(30))
                file.execute(f"CREATE TABLE table_{table}(id INTEGER PRIMARY KEY, {columns})")
            file.commit()
    with limited(weftd, tmp_path) as server:
        told = send_at_once(100, lambda: send(server.port, "GET", "/0.1.0/schema"))
        assert told.keys() <= {0, 200, 503} and told[200] > 0, told
        assert send(server.port, "GET", "/0.1.0/schema") == 200
