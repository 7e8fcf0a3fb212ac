"""Databases of which each row says which file it is of, and what weftd says of them.

    make(folder / "shop.db", "old")
    with Server(...) as server, RowClient(server) as client:
        assert all_of(client) == whole("old")
"""

import json
import sqlite3
import threading
from contextlib import closing

from row_client import RowClient, given, named, of_one, operation

ROWS = 300
SAME = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)"
OTHER = "CREATE TABLE u(x TEXT); CREATE TABLE t(a TEXT, n INT DEFAULT 7, id INTEGER PRIMARY KEY); CREATE INDEX by_a ON t(a)"
LOADED = 1_000_000  # keys from here on are those of Load


def make(path, content, schema=SAME, rows=ROWS):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA journal_mode=WAL")
        database.executescript(schema)
        database.executemany("INSERT INTO t(id, a) VALUES(?, ?)", [(i, f"{content}{i}") for i in range(rows)])


def rows_of(path):
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return dict(database.execute("SELECT id, a FROM t"))


def whole(content, rows=ROWS):
    return {i: f"{content}{i}" for i in range(rows)}


def read(client, id=1):
    status, text = client.ask("shop/t/pk-read", {"filters": given(id=id), "readColumns": named("a")})
    return json.loads(text)["data"].get("a") if status == 200 else (status, text)


def write(client, id, a):
    return of_one(client.write(operation("shop/t/pk-write", {"filters": given(id=id), "writeColumns": given(a=a)})))


def scan(client):
    status, text = client.ask("shop/t/scan", {"limit": 10_000, "readColumns": named("id", "a")})
    assert status == 200, text
    return {row["id"]: row["a"] for row in json.loads(text)["data"]}


def query(client):
    status, text = client.ask("sql", {"database": "shop", "query": "SELECT id, a FROM t"})
    assert status == 200, text
    return {row["id"]: row["a"] for row in json.loads(text)["data"]}


def all_of(client):
    """Every row by each way to read, which must agree."""
    found = scan(client)
    assert query(client) == found
    assert {id: read(client, id) for id in list(found)[:20]} == {id: found[id] for id in list(found)[:20]}
    return found


def size_of(path):
    return path.stat().st_size if path.exists() else 0


class Load:
    """Writes rows of its own and reads them all, while files are moved; knows what each file must have."""

    def __init__(self, server):
        self.server, self.acknowledged, self.faults, self.ended = server, [], [], False
        self.threads = [threading.Thread(target=self.write), threading.Thread(target=self.read)]

    def __enter__(self):
        for each in self.threads:
            each.start()
        return self

    def __exit__(self, *_):
        self.ended = True
        for each in self.threads:
            each.join()

    def write(self):
        with RowClient(self.server) as client:
            n = 0
            while not self.ended:
                n += 1
                status, text = write(client, LOADED + n, "load")
                if status == 200:
                    self.acknowledged.append(LOADED + n)
                elif status not in (500, 503):
                    self.faults.append((status, text))

    def read(self):
        """All rows of one read are of one file: the row with id 0 names it."""
        with RowClient(self.server) as client:
            while not self.ended:
                status, text = client.ask("sql", {"database": "shop", "query": f"SELECT id, a FROM t WHERE id < {LOADED}"})
                if status != 200:
                    continue
                found = {row["id"]: row["a"] for row in json.loads(text)["data"]}
                if found != whole(found.get(0, "?")[:-1]):
                    self.faults.append(found)
