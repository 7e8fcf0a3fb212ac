"""weftd's SQL: what is found is what the database's own client finds, nothing is changed, and nobody waits for it."""

import json
import sqlite3
import threading

import httpx
import pytest
from weft_process import Server

SCHEMA = """
PRAGMA journal_mode=WAL;
CREATE TABLE people(id INTEGER PRIMARY KEY, name VARCHAR(50), balance DECIMAL(10,2), photo BLOB);
INSERT INTO people VALUES(1, 'Ada "L"', 12.5, x'00ff10'), (2, 'κόσμε', NULL, NULL);
CREATE TABLE many(id INTEGER PRIMARY KEY, a INT);
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<30000) INSERT INTO many SELECT x, x*2 FROM c;
"""
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("data")
    with sqlite3.connect(made / "shop.db") as database:
        database.executescript(SCHEMA)
    return made


@pytest.fixture(scope="module")
def server(weftd, folder):
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", folder]) as started:
        yield started
        assert started.stop() == 0, started.log


def ask(server, body, path="sql", version="0.1.0"):
    return httpx.post(server.url(f"/{version}/{path}"), content=body if isinstance(body, str) else json.dumps(body), timeout=30)


def found(server, query, **others):
    reply = ask(server, {"database": "shop", "query": query, **others})
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_rows_are_found(server):
    reply = ask(server, {"database": "shop", "query": "SELECT *, 1+1 AS two FROM people ORDER BY id"})
    assert reply.headers["content-type"] == "application/json"
    assert reply.text == ('{"columns":["id","name","balance","photo","two"],"data":['
                          '{"id":1,"name":"Ada \\"L\\"","balance":12.50,"photo":"AP8Q","two":2},'
                          '{"id":2,"name":"κόσμε","balance":null,"photo":null,"two":2}],"rows":2}')
    assert found(server, "SELECT id FROM people WHERE 0") == {"columns": ["id"], "data": [], "rows": 0}
    assert found(server, "SELECT a.id, b.id FROM people a JOIN people b USING(id) LIMIT 1")["data"] == [{"id": 1, "id:1": 1}]


@pytest.mark.parametrize("query, parameters", [
    ("SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e", [1, "'; DROP TABLE people; --", None, 0.5, True]),
    ("SELECT :a AS a, @b AS b, $c AS c, :d AS d, :e AS e",
     {"e": True, "d": 0.5, "c": None, "b": "'; DROP TABLE people; --", "a": 1}),
    ("SELECT ?3 AS a, ?1 AS b, ?2 AS c, ?4 AS d, ?3 AS e", ["'; DROP TABLE people; --", None, 1, 0.5]),
])
def test_values_are_bound(server, query, parameters):
    assert found(server, query, parameters=parameters)["data"] == [
        {"a": 1, "b": "'; DROP TABLE people; --", "c": None, "d": 0.5, "e": 1}]
    assert found(server, "SELECT count(*) AS n FROM people")["data"] == [{"n": 2}]


def test_large_numbers_stay_exact(server):
    text = ask(server, '{"database":"shop","query":"SELECT ? AS a, ? AS b","parameters":[9223372036854775807,-9223372036854775808]}').text
    assert '{"a":9223372036854775807,"b":-9223372036854775808}' in text


def test_values_that_their_column_does_not_have_come_without_a_tag(server, folder):
    """Unlike in rows (docs/store.md): a query's reply tells what is stored, and null of an infinite number, which JSON does not have."""
    with sqlite3.connect(folder / "shop.db") as database:
        database.executescript("""CREATE TABLE IF NOT EXISTS odd(id INTEGER PRIMARY KEY, d DOUBLE, n INT, t TEXT, b INT);
            INSERT OR REPLACE INTO odd VALUES(1, 9e999, 'n/a', x'6162', x'00ff'), (2, -9e999, 1.5, 'plain', 7)""")
    rows = httpx.post(server.url("/0.1.0/shop/odd/scan"), content='{"limit": 9}').json()["data"]
    assert rows == [{"id": 1, "d": "\x10real:inf", "n": "\x10text:n/a", "t": "\x10blob:YWI=", "b": "\x10blob:AP8="},
                    {"id": 2, "d": "\x10real:-inf", "n": "\x10real:1.5", "t": "plain", "b": 7}]
    assert found(server, "SELECT * FROM odd")["data"] == [
        {"id": 1, "d": None, "n": "n/a", "t": "ab", "b": "AP8="}, {"id": 2, "d": None, "n": 1.5, "t": "plain", "b": 7}]
    assert found(server, "SELECT max(d) AS most, -max(d) AS least FROM odd")["data"] == [{"most": None, "least": None}]
    # How a query tells them from NULL.
    assert found(server, "SELECT CAST(d AS TEXT) AS d FROM odd")["data"] == [{"d": "Inf"}, {"d": "-Inf"}]


def test_a_reply_has_bounds_and_says_so(server):
    few = found(server, "SELECT id FROM many", limit=3)
    assert (few["rows"], few["data"][-1], few["truncated"]) == (3, {"id": 3}, True)
    assert "truncated" not in found(server, "SELECT id FROM many LIMIT 3", limit=3)
    assert found(server, "SELECT id FROM many", limit=0) == {"columns": ["id"], "data": [], "rows": 0, "truncated": True}
    most = found(server, "SELECT id FROM many", limit=1_000_000)
    assert most["rows"] == len(most["data"]) == 10_000 and most["truncated"]
    wide = found(server, "SELECT hex(zeroblob(500000)) AS wide FROM many")
    assert wide["truncated"] and 4 <= wide["rows"] <= 5


@pytest.mark.parametrize("body, status, words", [
    ({"query": "SELECT 1"}, 400, "the database is missing"),
    ({"database": "shop"}, 400, "the query is missing"),
    ({"database": "", "query": "SELECT 1"}, 400, "Field validation for 'DB' failed on the 'min' tag"),
    ({"database": "none", "query": "SELECT 1"}, 404, "Database/Table does not exist."),
    ({"database": "shop", "query": "SELECT 1", "limit": -1}, 400, "the limit is below 0"),
    ({"database": "shop", "query": "SELECT 1", "parameters": [1]}, 400, "takes 0 parameters, and 1 are given"),
    ({"database": "shop", "query": "SELECT :a", "parameters": {"b": 1}}, 400, "no value is given for the parameter :a"),
    ({"database": "shop", "query": "SELECT :a", "parameters": {"": 1}}, 400, "empty name"),
    ({"database": "shop", "query": "SELECT ?", "parameters": [[1]]}, 400, "parameters"),
    ('{"database":"shop","query":"SELECT ?","parameters":[1e999]}', 400, "beyond"),
    ({"database": "shop", "query": "SELECT age FROM people"}, 400, "no such column: age"),
    ({"database": "shop", "query": "DELETE FROM people"}, 400, "only read"),
    ({"database": "shop", "query": "PRAGMA journal_mode=DELETE"}, 400, "only read"),
    ({"database": "shop", "query": "ATTACH '/tmp/x.db' AS x"}, 400, "only read"),
    ({"database": "shop", "query": "SELECT 1; DELETE FROM people"}, 400, "one statement"),
    ({"database": "shop", "query": "SELECT 1", "other": 1}, 400, "other"),
])
def test_what_is_wrong_is_told(server, body, status, words):
    text = ask(server, body)
    assert text.status_code == status and words in text.text, text.text
    told = ask(server, body, version="0.2.0").json()["error"]
    assert told["code"] == status and told["message"] == text.text


NESTED = "SELECT * FROM(" * 101 + "SELECT 1" + ")" * 101
BOMB = "WITH x0(a) AS (SELECT 1)" + "".join(f",x{i}(a) AS (SELECT p.a FROM x{i - 1} p, x{i - 1} q)" for i in range(1, 25)) + "SELECT * FROM x24"


@pytest.mark.parametrize("query, words", [
    (NESTED, "101 parentheses within each other; at most 100"),
    (BOMB, ""),
    ("SELECT 'a\0'", "NUL"),
    ("SELECT 1" + ",1" * 600, "601 columns; at most 512"),
    ("SELECT group_concat(hex(zeroblob(1000))) FROM many", "too big"),
])
def test_what_would_take_too_much_is_refused(server, query, words):
    reply = ask(server, {"database": "shop", "query": query})
    assert reply.status_code == 400 and words in reply.text, reply.text
    assert found(server, "SELECT value AS v FROM json_each('[1]')")["data"] == [{"v": 1}]


def test_only_what_is_left_out_is_missing(weftd, folder):
    size = len('{"columns":["a"],"data":[{"a":1}')
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", folder, f"--weftd.sql_api.reply_bytes={size}"]) as server:
        assert found(server, "SELECT 1 AS a") == {"columns": ["a"], "data": [{"a": 1}], "rows": 1}
        assert found(server, "SELECT 1 AS a UNION ALL SELECT 1") == {"columns": ["a"], "data": [{"a": 1}], "rows": 1, "truncated": True}
        for path in "sql", "ronsql":
            refused = ask(server, {"database": "shop", "query": "SELECT 'so many bytes in one value' AS a"}, path)
            assert refused.status_code == 413 and "ask for fewer columns" in refused.text
        assert server.stop() == 0, server.log


def test_ronsql(server):
    body = {"query": "SELECT id, name FROM people WHERE id=2;", "database": "shop", "explainMode": "ALLOW", "outputFormat": "JSON"}
    assert ask(server, {**body, "operationId": "x"}, "ronsql").text == '{"operationId":"x","data":[{"id":2,"name":"κόσμε"}]}'
    assert ask(server, body, "ronsql").text == '{"data":[{"id":2,"name":"κόσμε"}]}'
    for wrong, words in ({"outputFormat": "XML"}, "Invalid outputFormat"), ({"explainMode": "FORCE"}, "ALLOW is the only"):
        refused = ask(server, {**body, **wrong}, "ronsql")
        assert refused.status_code == 400 and words in refused.text
    assert ask(server, {**body, "query": "SELECT * FROM many"}, "ronsql").status_code == 413


def test_it_ends_in_time_and_keeps_nobody_waiting(weftd, folder):
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", folder, "--store.sqlite.engine.query_time=1s",
                 "--store.sqlite.engine.queries_max=1", "--store.sqlite.engine.queries_waiting_max=1"]) as server:
        replies = []
        asking = [threading.Thread(target=lambda: replies.append(ask(server, {"database": "shop", "query": ENDLESS})))
                  for _ in range(3)]
        for each in asking:
            each.start()
        key = {"filters": [{"column": "id", "value": 1}], "readColumns": [{"column": "name"}]}
        while any(each.is_alive() for each in asking):
            assert ask(server, key, "shop/people/pk-read").status_code == 200
        for each in asking:
            each.join()
        assert sorted(reply.status_code for reply in replies) == [503, 504, 504]
        assert server.stop() == 0, server.log


def test_it_ends_when_the_client_leaves(weftd, folder):
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", folder, "--store.sqlite.engine.query_time=1h",
                 "--store.sqlite.engine.queries_max=1", "--store.sqlite.engine.queries_waiting_max=1"]) as server:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(server.url("/0.1.0/sql"), json={"database": "shop", "query": ENDLESS}, timeout=0.3)
        # Its place is free again, or this one would wait for an hour.
        reply = ask(server, {"database": "shop", "query": "SELECT 1 AS one"})
        assert reply.json()["data"] == [{"one": 1}]
        assert server.stop() == 0, server.log
