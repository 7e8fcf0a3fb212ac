"""A request that names what the schema does not have, or that the schema does not allow, makes weftd look at the schema, and waits for
that: what was made or changed a moment ago is found. Clients that send such requests all the time do not make it look all the time. The
schema is looked at every hour otherwise.
"""

import contextlib
import json
import re
import sqlite3
import threading
import time

import httpx
import pytest
from row_client import VERSIONS, RowClient, given, of_one, operation
from row_engines import ENGINES, mariadb
from weft_process import Server

HOUR = "3600s"
PAUSE_S = 0.01  # between two looks at least (weft/store/schema_looks.hpp)
READ = {"filters": given(id=1)}


class SqliteSchema:
    def __init__(self, folder):
        self.folder = folder
        self.arguments = ["--data", folder, f"--store.sqlite.engine.schema_refresh={HOUR}"]
        self.make_database("shop")
        self.run("shop", "PRAGMA journal_mode=WAL")

    def run(self, database, *statements):
        with contextlib.closing(sqlite3.connect(self.folder / f"{database}.db", isolation_level=None)) as file:
            for each in statements:
                file.execute(each)

    def make_database(self, name):
        self.run(name, "CREATE TABLE first(id INT PRIMARY KEY, v INT)", "INSERT INTO first VALUES(1, 1)")

    def remove_database(self, name):
        (self.folder / f"{name}.db").unlink()


class MariadbSchema:
    def __init__(self, server):
        self.ask, self.arguments = server.client.ask, [*server.arguments, f"--store.mysql.engine.schema_refresh={HOUR}"]
        self.make_database("shop")

    def run(self, database, *statements):
        self.ask(f"USE {database}; " + "; ".join(statements))

    def make_database(self, name):
        self.ask(f"CREATE OR REPLACE DATABASE {name}")
        self.run(name, "CREATE TABLE first(id INT PRIMARY KEY, v INT)", "INSERT INTO first VALUES(1, 1)")

    def remove_database(self, name):
        self.ask(f"DROP DATABASE {name}")


@pytest.fixture(params=ENGINES)
def schema(request, tmp_path):
    if request.param == "sqlite":
        (tmp_path / "data").mkdir()
        yield SqliteSchema(tmp_path / "data")
        return
    with mariadb(tmp_path) as server:
        yield MariadbSchema(server)


@pytest.fixture
def server(weftd, schema):
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", *schema.arguments]) as started:
        yield started
        assert started.stop() == 0, started.log


def looks(server):
    found = re.findall(r"^store_schema_looks_total(?:\{[^}]*\})? (\d+)$", httpx.get(server.url("/metrics")).text, re.MULTILINE)
    return sum(map(int, found))


def rows_of(answer):
    status, text = answer
    assert status == 200, text
    return json.loads(text)["data"]


@pytest.mark.parametrize("version", VERSIONS)
def test_what_was_made_a_moment_ago_is_found(schema, server, version):
    with RowClient(server) as client:
        assert rows_of(client.ask("shop/first/pk-read", READ, version)) == {"v": 1}
        assert looks(server) == 0
        # A table, by each way to name one.
        for number, ask in enumerate((
                lambda table: client.ask(f"shop/{table}/pk-read", READ, version),
                lambda table: client.ask(f"shop/{table}/scan", {"limit": 9}, version),
                lambda table: client.batch(operation("shop/first/pk-read", READ), operation(f"shop/{table}/pk-read", READ), version=version),
                lambda table: client.write(operation(f"shop/{table}/pk-write", {**READ, "writeColumns": given(v=1)}), version=version),
                lambda table: client.delete(operation(f"shop/{table}/pk-delete", READ), version=version))):
            schema.run("shop", f"CREATE TABLE new{number}(id INT PRIMARY KEY, v INT)", f"INSERT INTO new{number} VALUES(1, 1)")
            status, text = ask(f"new{number}")
            assert status == 200 and '"code":404' not in text, text
        # A column.
        schema.run("shop", "ALTER TABLE new0 ADD COLUMN w INT DEFAULT 7")
        assert rows_of(client.ask("shop/new0/pk-read", {**READ, "readColumns": [{"column": "w"}]}, version)) == {"w": 7}
        # An index.
        schema.run("shop", "CREATE INDEX by_v ON new0(v)")
        asked = {"limit": 9, "readColumns": [{"column": "v"}], "index": {"name": "by_v", "key_columns": ["v"]}}
        assert rows_of(client.ask("shop/new0/scan", asked, version)) == [{"v": 1}]
        # A database, by its rows and in SQL.
        schema.make_database("annex")
        assert rows_of(client.ask("annex/first/pk-read", READ, version)) == {"v": 1}
        schema.make_database("attic")
        assert rows_of(client.ask("sql", {"database": "attic", "query": "SELECT v FROM first"}, version))


def test_a_table_that_comes_back_is_found(schema, server):
    with RowClient(server) as client:
        for _ in range(3):
            schema.run("shop", "DROP TABLE first")
            status, _ = client.ask("shop/first/pk-read", READ)
            assert status == 404
            schema.run("shop", "CREATE TABLE first(id INT PRIMARY KEY, v INT)", "INSERT INTO first VALUES(1, 2)")
            assert rows_of(client.ask("shop/first/pk-read", READ)) == {"v": 2}


def test_a_key_of_another_shape_is_found(schema, server):
    with RowClient(server) as client:
        schema.run("shop", "DROP TABLE first", "CREATE TABLE first(a INT, b INT, v INT, PRIMARY KEY(a, b))", "INSERT INTO first VALUES(1, 2, 3)")
        assert rows_of(client.ask("shop/first/pk-read", {"filters": given(a=1, b=2)})) == {"v": 3}


def of_table(name, **content):
    """A write of its row 1."""
    return operation(f"shop/{name}/pk-write", {**READ, "writeColumns": given(**content)})


def of_key(value):
    return {"filters": given(id=value)}


def filtered(value):
    return {"limit": 9, "filters": {"op": "CMP", "column": "v", "cond": "EQ", "value": value}}


def by_key(value):
    return {"limit": 9, "index": {"name": "PRIMARY", "ranges": [{"lower": {"values": [value]}}]}}


# (what is changed, the columns before and after it, what only the later ones allow)
CHANGES = [
    ("type of the key, read", "id INT PRIMARY KEY, v INT", "id VARCHAR(9) PRIMARY KEY, v INT", lambda client: client.ask("shop/t/pk-read", of_key("x"))),
    ("type of the key, in a batch", "id INT PRIMARY KEY, v INT", "id VARCHAR(9) PRIMARY KEY, v INT",
     lambda client: client.batch(operation("shop/t/pk-read", of_key("x")), operation("shop/first/pk-read", READ))),
    ("type of the key, removed", "id INT PRIMARY KEY, v INT", "id VARCHAR(9) PRIMARY KEY, v INT",
     lambda client: client.delete(operation("shop/t/pk-delete", of_key("x")))),
    ("type of the key, scanned", "id INT PRIMARY KEY, v INT", "id VARCHAR(9) PRIMARY KEY, v INT", lambda client: client.ask("shop/t/scan", by_key("x"))),
    ("range of the key", "id TINYINT PRIMARY KEY, v INT", "id BIGINT PRIMARY KEY, v INT", lambda client: client.ask("shop/t/pk-read", of_key(2**40))),
    ("length of the key", "id VARCHAR(3) PRIMARY KEY, v INT", "id VARCHAR(9) PRIMARY KEY, v INT", lambda client: client.ask("shop/t/pk-read", of_key("long x"))),
    ("type of a value, written", "id INT PRIMARY KEY, v INT", "id INT PRIMARY KEY, v VARCHAR(9)", lambda client: client.write(of_table("t", v="abc"))),
    ("type of a value, filtered", "id INT PRIMARY KEY, v INT", "id INT PRIMARY KEY, v VARCHAR(9)", lambda client: client.ask("shop/t/scan", filtered("ab"))),
    ("to a time", "id INT PRIMARY KEY, v DATE", "id INT PRIMARY KEY, v VARCHAR(20)", lambda client: client.write(of_table("t", v="2026-02-30"))),
    ("from bytes", "id INT PRIMARY KEY, v BLOB", "id INT PRIMARY KEY, v VARCHAR(20)", lambda client: client.write(of_table("t", v="no Base64"))),
    ("length of a value", "id INT PRIMARY KEY, v VARCHAR(3)", "id INT PRIMARY KEY, v VARCHAR(9)", lambda client: client.write(of_table("t", v="longer"))),
    ("NULL", "id INT PRIMARY KEY, v INT NOT NULL", "id INT PRIMARY KEY, v INT", lambda client: client.write(of_table("t", v=None))),
    ("generated", "id INT PRIMARY KEY, v INT AS (id * 2)", "id INT PRIMARY KEY, v INT", lambda client: client.write(of_table("t", v=3))),
    ("columns of an index", "id INT PRIMARY KEY, v INT", "id INT, v INT, w INT, PRIMARY KEY(id, v)",
     lambda client: client.ask("shop/t/scan", {"limit": 9, "index": {"name": "PRIMARY", "ranges": [{"upper": {"values": [1, 2]}}]}})),
]


@pytest.mark.parametrize("before, after, ask", [each[1:] for each in CHANGES], ids=[each[0] for each in CHANGES])
def test_a_value_that_a_changed_column_takes_is_accepted(schema, server, before, after, ask):
    with RowClient(server) as client:
        schema.run("shop", f"CREATE TABLE t({before})")
        status, text = ask(client)
        code = [each["code"] for each in json.loads(text)["result"]][0] if text.startswith('{"result"') else status
        assert code == 400, text
        schema.run("shop", "DROP TABLE t", f"CREATE TABLE t({after})")
        seen = looks(server)
        status, text = ask(client)
        is_fine = status in (200, 404) and '"code":400' not in text
        assert is_fine and looks(server) == seen + 1, text


def test_a_table_whose_rows_can_be_told_apart_by_now_is_scanned(schema, server):
    """Of SQLite alone: keys may be NULL, and no column of SQLite's own is left to tell such rows apart."""
    if isinstance(schema, MariadbSchema):
        pytest.skip("keys are never NULL")
    names = "rowid INT, _rowid_ INT, oid INT"
    with RowClient(server) as client:
        schema.run("shop", f"CREATE TABLE t(id INT PRIMARY KEY, {names})")
        assert client.ask("shop/t/scan", {"limit": 9})[0] == 400
        schema.run("shop", "DROP TABLE t", f"CREATE TABLE t(id INT NOT NULL PRIMARY KEY, {names})")
        assert rows_of(client.ask("shop/t/scan", {"limit": 9})) == []


def test_a_table_that_has_transactions_by_now_is_written(schema, server):
    """Of MariaDB alone."""
    if isinstance(schema, SqliteSchema):
        pytest.skip("all tables have transactions")
    with RowClient(server) as client:
        schema.run("shop", "CREATE TABLE t(id INT PRIMARY KEY, v INT) ENGINE=MyISAM")
        # A row alone needs none, and nothing is looked for.
        assert of_one(client.write(of_table("t", v=1)))[0] == 200
        seen = looks(server)
        assert of_one(client.write(of_table("t", v=2)))[0] == 200 and looks(server) == seen
        assert client.write(of_table("t", v=3), of_table("first", v=3))[0] == 400
        schema.run("shop", "ALTER TABLE t ENGINE=InnoDB")
        status, text = client.write(of_table("t", v=4), of_table("first", v=4))
        assert status == 200 and [each["code"] for each in json.loads(text)["result"]] == [200, 200], text


@pytest.mark.parametrize("version", VERSIONS)
def test_the_schema_has_what_was_made_a_moment_ago(schema, server, version):
    def told():
        with RowClient(server) as client:
            status, text = client.ask("schema", "", version, "GET")
        assert status == 200, text
        return {database["name"]: {each["name"]: [column["name"] for column in each["columns"]] for each in database["tables"]}
                for database in json.loads(text)["databases"]}

    first = {"first": ["id", "v"]}
    assert told()["shop"] == first
    schema.run("shop", "CREATE TABLE new(id INT PRIMARY KEY)")
    assert told()["shop"] == {**first, "new": ["id"]}
    schema.run("shop", "ALTER TABLE new ADD COLUMN w INT")
    assert told()["shop"] == {**first, "new": ["id", "w"]}
    schema.run("shop", "DROP TABLE new")
    schema.make_database("annex")
    assert told()["annex"] == told()["shop"] == first
    schema.remove_database("annex")
    assert "annex" not in told()


GONE = {
    "pk-read": lambda client, name: client.ask(f"{name}/first/pk-read", READ),
    "scan": lambda client, name: client.ask(f"{name}/first/scan", {"limit": 1}),
    "sql": lambda client, name: client.ask("sql", {"database": name, "query": "SELECT v FROM first"}),
    "ronsql": lambda client, name: client.ask("ronsql", {"database": name, "query": "SELECT v FROM first"}),
    "batch": lambda client, name: client.batch(operation(f"{name}/first/pk-read", READ)),
    "batchwrite": lambda client, name: client.write(operation(f"{name}/first/pk-write", {**READ, "writeColumns": given(v=1)})),
    "batchdelete": lambda client, name: client.delete(operation(f"{name}/first/pk-delete", READ)),
}


@pytest.mark.parametrize("has_been_asked", [False, True])
@pytest.mark.parametrize("how", GONE)
def test_a_database_that_is_removed_is_not_there(schema, server, how, has_been_asked):
    """Whether or not something of it was open: for each way to ask that comes first."""
    schema.make_database("annex")
    with RowClient(server) as client:
        if has_been_asked:
            assert GONE[how](client, "annex")[0] == 200
        else:
            client.ask("schema", "", method="GET")  # from then on it is known
        schema.remove_database("annex")
        for _ in range(2):
            status, text = GONE[how](client, "annex")
            code = json.loads(text)["result"][0]["code"] if text.startswith('{"result"') else status
            # Of SQL a server may say by itself that there is no such table.
            is_told_by_server = isinstance(schema, MariadbSchema) and how.endswith("sql") and "doesn't exist" in text
            assert code == (400 if is_told_by_server else 404), text
        assert how != "ronsql" or client.headers["x-ronsql-error-class"] == "semantic"


# (path, body) of the request `i` of the client `number`: an unknown name; a value that its column never takes.
NEVER = {"name": lambda number, i: (f"none{number}/t{i}/pk-read", READ), "value": lambda number, i: ("shop/first/pk-read", of_key(f"{number} {i}"))}


@pytest.mark.parametrize("which, code", [("name", 404), ("value", 400)])
def test_what_is_never_found_is_looked_for_at_a_bounded_rate(schema, server, which, code):
    """However many ask: between two looks there is a pause, which all who ask wait for together."""
    clients, requests, answers = 8, 10, []

    def ask_for_nothing(number):
        with RowClient(server) as client:
            for i in range(requests):
                answers.append(client.ask(*NEVER[which](number, i))[0])

    began = time.monotonic()
    threads = [threading.Thread(target=ask_for_nothing, args=(number,)) for number in range(clients)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    most = (time.monotonic() - began) / PAUSE_S + 1
    assert answers == [code] * clients * requests
    assert requests <= looks(server) <= most
    # Who names what there is waits for nobody.
    before = looks(server)
    with RowClient(server) as client:
        for _ in range(20):
            assert rows_of(client.ask("shop/first/pk-read", READ)) == {"v": 1}
    assert looks(server) == before


def test_a_request_that_is_never_right_waits_for_one_look(schema, server):
    wrong = operation("shop/first/pk-write", {"filters": given(id="x"), "writeColumns": given(v="y", w=1)})
    with RowClient(server) as client:
        for number, ask in enumerate((
                lambda: client.ask("shop/first/pk-read", of_key("x")), lambda: client.batch(*[operation("shop/first/pk-read", of_key("x"))] * 9),
                lambda: client.write(*[wrong] * 9), lambda: client.ask("shop/first/scan", filtered("x")), lambda: client.ask("shop/first/scan", by_key("x")))):
            status, text = ask()
            assert status == 400 or set(each["code"] for each in json.loads(text)["result"]) == {400}, text
            assert looks(server) == number + 1


def test_bad_requests_make_nobody_look(schema, server):
    """What no schema would allow."""
    with RowClient(server) as client:
        for path, body in (("shop/first/pk-read", of_key(None)), ("shop/first/pk-read", {}), ("shop/first/scan", {"limit": -1}),
                           ("shop/first/scan", filtered(None)), ("shop/fi%zz/pk-read", READ), ("shop/first/pk-read", of_key(2))):
            assert client.ask(path, body)[0] in (400, 404)
    assert looks(server) == 0
