"""weftd's scans: rows by filters and ranges of an index, in parts, against what SQL says."""

import json
import random
import sqlite3

import httpx
import pytest
from weft_process import Server

ROWS = 2_000


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    chance = random.Random(1)
    with sqlite3.connect(folder / "shop.db") as database:
        database.executescript("PRAGMA journal_mode=WAL; CREATE TABLE goods(id INTEGER PRIMARY KEY, kind INT, price DECIMAL(8,2),"
                               " name VARCHAR(20), note TEXT); CREATE INDEX by_kind ON goods(kind, price);"
                               "CREATE TABLE pairs(a INT NOT NULL, b INT NOT NULL, PRIMARY KEY(a, b)) WITHOUT ROWID;"
                               "CREATE TABLE heap(a INT)")
        database.executemany("INSERT INTO goods VALUES(?, ?, ?, ?, ?)", [
            (i, chance.choice([None, *range(10)]), chance.randrange(10_000) / 100, f"n{chance.randrange(50)}",
             None if i % 3 else "noted") for i in range(ROWS)])
        database.executemany("INSERT INTO pairs VALUES(?, ?)", [(a, b) for a in range(5) for b in range(3)])
    return folder


@pytest.fixture(scope="module")
def server(weftd, shop):
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", shop, "--weftd.row_api.scan_rows=700"]) as started:
        yield started
        assert started.stop() == 0, started.log


def scan(server, asked, table="goods", version="0.1.0"):
    return httpx.post(server.url(f"/{version}/shop/{table}/scan"), content=json.dumps(asked))


def columns(*names):
    return [{"column": name} for name in names]


def compare(column, cond, value):
    return {"op": "CMP", "column": column, "cond": cond, "value": value}


def sql(shop, text):
    with sqlite3.connect(shop / "shop.db") as database:
        return [row[0] for row in database.execute(text)]


def ids(reply):
    assert reply.status_code == 200, reply.text
    told = reply.json()
    assert told["rows"] == len(told["data"])
    return [row["id"] for row in told["data"]]


def test_all_columns_come_where_none_are_named(server):
    assert scan(server, {"limit": 2}, "pairs").text == '{"data":[{"a":0,"b":0},{"a":0,"b":1}],"rows":2,"continuation":%s}' % json.dumps(
        scan(server, {"limit": 2}, "pairs").json()["continuation"])
    assert scan(server, {"limit": 100}, "pairs").json()["rows"] == 15
    assert scan(server, {"limit": 0}, "pairs").text == '{"data":[],"rows":0}'


@pytest.mark.parametrize("filters, where", [
    (compare("price", "LT", 10), "price < 10"), (compare("price", "GE", "99.5"), "price >= 99.5"),
    (compare("name", "EQ", "n7"), "name = 'n7'"), (compare("kind", "NE", 3), "kind <> 3"),
    ({"op": "ISNULL", "column": "kind"}, "kind IS NULL"), ({"op": "ISNOTNULL", "column": "note"}, "note IS NOT NULL"),
    ({"op": "AND", "args": [compare("kind", "GT", 2), compare("price", "LE", 50)]}, "kind > 2 AND price <= 50"),
    ({"op": "OR", "args": [compare("kind", "EQ", 1), {"op": "ISNULL", "column": "kind"}]}, "kind = 1 OR kind IS NULL"),
    ({"op": "NAND", "args": [compare("id", "GT", 9), compare("price", "GT", 5)]}, "NOT (id > 9 AND price > 5)"),
    ({"op": "NOR", "args": [compare("id", "GT", 900), compare("price", "GT", 50)]}, "NOT (id > 900 OR price > 50)"),
])
def test_filters_are_those_of_sql(server, shop, filters, where):
    got = ids(scan(server, {"limit": 700, "readColumns": columns("id"), "filters": filters}))
    assert got == sql(shop, f"SELECT id FROM goods WHERE {where} ORDER BY id LIMIT 700")


@pytest.mark.parametrize("order, direction", [("asc", "ASC"), ("desc", "DESC")])
def test_ranges_of_an_index(server, shop, order, direction):
    index = {"name": "by_kind", "key_columns": ["kind", "price"], "order": order, "ranges": [
        {"lower": {"values": [2, 50]}, "upper": {"values": [3], "inclusive": False}},
        {"lower": {"values": [5]}, "upper": {"values": [5, "20.5"]}}]}
    got = ids(scan(server, {"limit": 700, "readColumns": columns("id"), "index": index}))
    assert got == sql(shop, "SELECT id FROM goods WHERE (kind = 2 AND price >= 50) OR (kind = 5 AND price <= 20.5)"
                            f" ORDER BY kind {direction}, price {direction}, id {direction}")
    assert got


def test_the_primary_key_is_an_index(server):
    index = {"name": "PRIMARY", "key_columns": ["a"], "ranges": [{"lower": {"values": [3]}}], "order": "desc"}
    told = scan(server, {"limit": 4, "index": index}, "pairs").json()
    assert told["data"] == [{"a": 4, "b": 2}, {"a": 4, "b": 1}, {"a": 4, "b": 0}, {"a": 3, "b": 2}]


@pytest.mark.parametrize("left_out", [{}, {"key_columns": None}])
@pytest.mark.parametrize("order, direction", [("asc", "ASC"), ("desc", "DESC")])
def test_an_index_whose_columns_are_not_named_has_all_of_them(server, shop, left_out, order, direction):
    index = {"name": "by_kind", "order": order, "ranges": [{"lower": {"values": [2, 50]}, "upper": {"values": [3]}}], **left_out}
    got = ids(scan(server, {"limit": 700, "readColumns": columns("id"), "index": index}))
    assert got == sql(shop, "SELECT id FROM goods WHERE kind = 2 AND price >= 50 OR kind = 3"
                            f" ORDER BY kind {direction}, price {direction}, id {direction}")
    assert len(got) > 9
    for name in ("by_kind", "PRIMARY"):
        whole = ids(scan(server, {"limit": 700, "readColumns": columns("id"), "index": {"name": name, "order": order, **left_out}}))
        by = f"kind {direction}, price {direction}, id {direction}" if name == "by_kind" else f"id {direction}"
        assert whole == sql(shop, f"SELECT id FROM goods ORDER BY {by} LIMIT 700")


@pytest.mark.parametrize("limit", [1, 70, 300, 100_000])
def test_a_scan_goes_on_where_it_ended(server, shop, limit):
    asked = {"limit": limit, "readColumns": columns("id"), "filters": compare("price", "LT", 60 if limit > 1 else 1)}
    got, parts = [], 0
    while True:
        reply = scan(server, asked)
        got += ids(reply)
        parts += 1
        if "continuation" not in reply.json():
            break
        asked["continuation"] = reply.json()["continuation"]
    assert got == sql(shop, f"SELECT id FROM goods WHERE price < {60 if limit > 1 else 1} ORDER BY id")
    assert parts > 1, "a reply has at most 700 rows"


@pytest.mark.parametrize("asked, words", [
    ({}, "[Scan] Must provide limit field"), ({"limit": -1}, "[Scan] Invalid limit: -1"), ({"limit": 1.5}, "/limit"),
    ({"limit": 1, "filters": {}}, "[ScanFilter] Missing required field: op"),
    ({"limit": 1, "filters": {"op": "XOR"}}, "[ScanFilter] Unknown op"),
    ({"limit": 1, "filters": {"op": "AND", "args": [compare("id", "EQ", 1)]}}, "[ScanFilter] Logic op must contain 2 children"),
    ({"limit": 1, "filters": compare("id", "LIKE", 1)}, "[ScanFilter] Invalid condition"),
    ({"limit": 1, "filters": compare("id", "EQ", "x")}, "[ScanFilter] Invalid value"),
    ({"limit": 1, "filters": compare("id", "EQ", None)}, "[ScanFilter] Invalid value"),
    ({"limit": 1, "filters": compare("none", "EQ", 1)}, "Column does not exist."),
    ({"limit": 1, "readColumns": columns("none")}, "Column does not exist."),
    ({"limit": 1, "readColumns": columns("id", "id")}, "'unique' tag"),
    ({"limit": 1, "index": {"name": "none", "key_columns": ["id"]}}, "[Scan] Index does not exist."),
    ({"limit": 1, "index": {"name": "by_kind", "key_columns": ["price"]}}, "[ScanIndex] key_columns"),
    ({"limit": 1, "index": {"name": "by_kind", "key_columns": ["kind"], "ranges": [{"lower": {"values": [1, 2]}}]}}, "2 values for 1"),
    ({"limit": 1, "index": {"name": "by_kind", "key_columns": ["kind"], "ranges": [{}] * 65}}, "[ScanIndex] Too many ranges (max 64)"),
    ({"limit": 1, "index": {"name": "by_kind", "key_columns": ["kind"], "order": "up"}}, "[ScanIndex] Invalid order"),
    ({"limit": 1, "continuation": "x"}, "[Scan] Invalid continuation"),
])
def test_what_is_wrong_is_told(server, asked, words):
    reply = scan(server, asked)
    assert reply.status_code == 400 and words in reply.text, reply.text
    assert scan(server, asked, version="0.2.0").json()["error"]["message"] == reply.text


def test_filters_are_no_deeper_than_they_may_be(server):
    def nested(depth):
        filters = compare("id", "GE", 0)
        for _ in range(depth - 1):
            filters = {"op": "AND", "args": [filters, compare("id", "GE", 0)]}
        return {"limit": 1, "filters": filters}

    assert scan(server, nested(32)).status_code == 200
    reply = scan(server, nested(33))
    assert reply.status_code == 400 and "[ScanFilter] Filter nesting too deep (max 32 levels)" in reply.text


def test_tables_that_cannot_be_scanned(server):
    assert scan(server, {"limit": 1}, "none").status_code == 404
    assert "has no primary key" in scan(server, {"limit": 1}, "heap").text
