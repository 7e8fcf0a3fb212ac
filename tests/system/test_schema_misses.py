"""A request that names what the schema does not have makes weftd look at the schema, and waits for that: what was made a moment ago is
found, and those who ask for unknown names all the time do not make it look all the time. The schema is looked at every hour otherwise.
"""

import contextlib
import json
import re
import sqlite3
import threading
import time

import httpx
import pytest
from row_client import VERSIONS, RowClient, given, operation
from row_engines import ENGINES, mariadb
from weft_process import Server

HOUR = "3600s"
PAUSE_S = 0.1  # between two looks at least (weft/store/schema_looks.hpp)
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


class MariadbSchema:
    def __init__(self, server):
        self.ask, self.arguments = server.client.ask, [*server.arguments, f"--store.mysql.engine.schema_refresh={HOUR}"]
        self.make_database("shop")

    def run(self, database, *statements):
        self.ask(f"USE {database}; " + "; ".join(statements))

    def make_database(self, name):
        self.ask(f"CREATE OR REPLACE DATABASE {name}")
        self.run(name, "CREATE TABLE first(id INT PRIMARY KEY, v INT)", "INSERT INTO first VALUES(1, 1)")


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


def test_unknown_names_are_looked_for_at_a_bounded_rate(schema, server):
    """However many ask: between two looks there is a pause, which all who ask wait for together."""
    clients, requests, answers = 8, 10, []

    def ask_for_nothing(number):
        with RowClient(server) as client:
            for i in range(requests):
                answers.append(client.ask(f"none{number}/t{i}/pk-read", READ)[0])

    began = time.monotonic()
    threads = [threading.Thread(target=ask_for_nothing, args=(number,)) for number in range(clients)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    most = (time.monotonic() - began) / PAUSE_S + 1
    assert answers == [404] * clients * requests
    assert requests <= looks(server) <= most
    # Who names what there is waits for nobody.
    before = looks(server)
    with RowClient(server) as client:
        for _ in range(20):
            assert rows_of(client.ask("shop/first/pk-read", READ)) == {"v": 1}
    assert looks(server) == before


def test_bad_requests_make_nobody_look(schema, server):
    with RowClient(server) as client:
        for path, body in (("shop/first/pk-read", {"filters": given(id="x")}), ("shop/first/pk-read", {}), ("shop/first/scan", {"limit": -1}),
                           ("shop/fi%zz/pk-read", READ), ("shop/first/pk-read", {"filters": given(id=2)})):
            assert client.ask(path, body)[0] in (400, 404)
    assert looks(server) == 0
