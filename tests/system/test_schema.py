"""weftd tells what databases, tables and columns there are."""

import re
import sqlite3

import httpx
import pytest
from weft_process import Server

SCHEMA = """
PRAGMA journal_mode=WAL;
CREATE TABLE people(id BIGINT UNSIGNED NOT NULL, country CHAR(2) NOT NULL, balance DECIMAL(10,2) DEFAULT 1 NOT NULL, seen DATETIME(3),
  twice INT GENERATED ALWAYS AS (id * 2), PRIMARY KEY(country, id));
CREATE UNIQUE INDEX by_seen ON people(seen, balance);
CREATE TABLE heap(a TEXT);
"""


def column(name, type, **others):
    return {"name": name, "type": type, "nullable": True, "hasDefault": False, "generated": False, **others}


@pytest.mark.parametrize("version", ["0.1.0", "0.2.0"])
def test_the_schema_is_told(weftd, tmp_path, version):
    with sqlite3.connect(tmp_path / "shop.db") as database:
        database.executescript(SCHEMA)
    with sqlite3.connect(tmp_path / "empty.db") as database:
        database.execute("PRAGMA journal_mode=WAL")
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", tmp_path]) as server:
        told = httpx.get(server.url(f"/{version}/schema"))
        assert told.status_code == 200 and told.headers["content-type"] == "application/json"
        empty, shop = told.json()["databases"]
        assert empty == {"name": "empty", "writable": True, "tables": []} and shop["name"] == "shop"
        heap, people = sorted(shop["tables"], key=lambda table: table["name"])
        assert heap == {"name": "heap", "columns": [column("a", "TEXT")], "key": [], "indexes": []}
        assert people["key"] == ["country", "id"]
        assert people["indexes"] == [{"name": "by_seen", "columns": ["seen", "balance"], "unique": True}]
        assert people["columns"] == [
            column("id", "BIGINT UNSIGNED", nullable=False), column("country", "CHAR(2)", nullable=False),
            column("balance", "DECIMAL(10,2)", nullable=False, hasDefault=True), column("seen", "DATETIME(3)"),
            column("twice", "INT", generated=True)]
        assert server.stop() == 0, server.log


def test_the_schema_says_what_a_key_may_write_to(weftd, run_weftd, tmp_path):
    for name in ("read", "written"):
        with sqlite3.connect(tmp_path / f"{name}.db") as database:
            database.execute("PRAGMA journal_mode=WAL")
    made = [run_weftd("keygen", "--databases", "read,written"), run_weftd("keygen", "--databases", "written", "--write")]
    (tmp_path / "keys.toml").write_text("".join(each.stdout for each in made))
    reader, writer = (re.search(r"[0-9a-f]{16}\.[0-9a-f]{64}", each.stderr)[0] for each in made)
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", tmp_path, "--keys", tmp_path / "keys.toml"]) as server:
        for key, expected in [(reader, {"read": False, "written": False}), (writer, {"written": True})]:
            told = httpx.get(server.url("/0.2.0/schema"), headers={"X-API-KEY": key}).json()["databases"]
            assert {each["name"]: each["writable"] for each in told} == expected
        assert server.stop() == 0, server.log
