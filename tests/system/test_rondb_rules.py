"""The contract of the RonDB REST server's API, rule by rule, on each engine."""

import json
import shutil
import sqlite3
import subprocess

import pytest
from row_client import NDB_NUMBERS, VERSIONS, RowClient, given, named, operation
from row_engines import ENGINES, mariadb, sqlite_arguments
from weft_process import Server

PLANTS = """
    CREATE TABLE plant(garden VARCHAR(10), bed INT, name VARCHAR(20) NOT NULL DEFAULT 'weed', height TINYINT CHECK(height >= 0),
      PRIMARY KEY(garden, bed));
    INSERT INTO plant VALUES('north', 1, 'rose', 40), ('north', 2, 'fern', NULL), ('south', 1, 'mint', 20);
    CREATE INDEX by_height ON plant(height);
    CREATE TABLE visit(day INT, hour INT, PRIMARY KEY(day, hour))"""
TOOLS = """
    CREATE TABLE tool(id INT PRIMARY KEY, label VARCHAR(20) UNIQUE);
    INSERT INTO tool VALUES(1, 'rake'), (2, 'hoe')"""
SCRIPTS = {"garden": PLANTS, "shed": TOOLS}
ROSE = given(garden="north", bed=1)


@pytest.fixture(scope="module", params=ENGINES)
def arguments(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    if request.param == "sqlite":
        for name, script in SCRIPTS.items():
            with sqlite3.connect(folder / f"{name}.db") as database:
                database.executescript("PRAGMA journal_mode=WAL;" + script)
        yield sqlite_arguments(folder)
        return
    with mariadb(folder) as server:
        for name, script in SCRIPTS.items():
            server.client.run(f"CREATE DATABASE {name}", f"USE {name}", *script.split(";"))
        yield server.arguments


@pytest.fixture(scope="module")
def client(weftd, arguments):
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", *arguments]) as server, RowClient(server) as made:
        yield made
        assert server.stop() == 0, server.log


def row(client, table, **key):
    """What is in the row; None: there is none."""
    status, text = client.ask(f"{table}/pk-read", {"filters": given(**key)})
    return json.loads(text)["data"] if status == 200 else None


# (method, path, body): each is refused with 400 or 404.
REFUSED = [
    ("POST", "garden/plant/pk-read", {"filters": []}), ("POST", "garden/none/pk-read", {"filters": ROSE}),
    ("POST", "garden/plant/scan", {}), ("POST", "garden/none/scan", {"limit": 1}), ("POST", "batch", "{"), ("POST", "batch", {"operations": []}),
    ("POST", "batchwrite", "[]"), ("POST", "batchwrite", {"operations": []}), ("POST", "batchdelete", "no"), ("DELETE", "batchdelete", {"operations": []}),
    ("POST", "sql", {}), ("POST", "sql", {"database": "garden", "query": "SELEC"}), ("POST", "ronsql", {"query": "SELECT 1"}),
    ("POST", "ronsql", {"database": "garden", "query": "SELECT x FROM none"}), ("GET", "ping", "x"), ("GET", "health", "x"),
]


def faults(client):
    for method, path, body in REFUSED:
        status, text = client.ask(path, body, "0.2.0", method)
        assert status in (400, 404) and client.type == "application/json", (path, body, status, text)
        yield status, text


def test_an_error_of_0_2_0_is_numbers_and_a_message(client):
    for status, text in faults(client):
        told = json.loads(text)
        assert told.keys() == {"error"} and told["error"].keys() == {"code", "message", *NDB_NUMBERS}, text
        message = told["error"].pop("message")
        assert isinstance(message, str) and message, text
        assert told["error"] == {"code": status, **dict.fromkeys(NDB_NUMBERS, -1)}, text


GO_CLIENT = """package main

import ("encoding/json"; "fmt"; "os")

type fault struct {
	Error struct {
		Code           int    `json:"code"`
		Message        string `json:"message"`
		Status         int    `json:"status"`
		Classification int    `json:"classification"`
		NdbCode        int    `json:"ndbCode"`
		MysqlCode      int    `json:"mysqlCode"`
	} `json:"error"`
}

func main() {
	for in := json.NewDecoder(os.Stdin); in.More(); {
		var told fault
		if err := in.Decode(&told); err != nil { fmt.Println(err); os.Exit(1) }
		fmt.Println(told.Error.Code)
	}
}
"""


def test_a_typed_go_client_decodes_each_error(client, tmp_path):
    go = shutil.which("go")
    if go is None:
        pytest.skip("there is no Go")
    (tmp_path / "client.go").write_text(GO_CLIENT)
    told = list(faults(client))
    done = subprocess.run([go, "run", tmp_path / "client.go"], input="\n".join(text for _, text in told), capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [int(line) for line in done.stdout.split()] == [status for status, _ in told]


FERN = given(garden="north", bed=2)
NOTHING_TO_WRITE = [{}, {"writeColumns": None}, {"writeColumns": []}]
MOSS = given(garden="east", bed=7)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("nothing", NOTHING_TO_WRITE, ids=["missing", "null", "empty"])
@pytest.mark.parametrize("action", ["pk-write", "pk-update"])
def test_a_write_without_columns_is_refused_before_any_table_is_looked_at(client, version, nothing, action):
    fine = operation("garden/plant/pk-update", {"filters": FERN, "writeColumns": given(height=9)})
    for table in ("garden/plant", "garden/none", "none/none"):
        wrong = operation(f"{table}/{action}", {"filters": MOSS, **nothing})
        for number, batch in enumerate(([wrong], [fine, wrong, fine])):
            status, text = client.write(*batch, version=version)
            assert status == 400 and f"operation {number}: the writeColumns section is empty" in text, text
    assert row(client, "garden/plant", garden="east", bed=7) is None and row(client, "garden/plant", garden="north", bed=2)["height"] is None


def test_an_insert_without_columns_makes_a_row_of_its_key_and_defaults(client):
    """Not so in RonDB, where a table that is all key cannot be written to."""
    for hour, nothing in enumerate(NOTHING_TO_WRITE):
        visit = operation("garden/visit/pk-insert", {"filters": given(day=1, hour=hour), **nothing})
        assert client.write(visit)[0] == 200 and row(client, "garden/visit", day=1, hour=hour) == {}
    assert client.write(operation("garden/plant/pk-insert", {"filters": MOSS}))[0] == 200
    assert row(client, "garden/plant", garden="east", bed=7) == {"name": "weed", "height": None}
    assert client.delete(operation("garden/plant/pk-delete", {"filters": MOSS}))[0] == 200


BATCHES = [("batch", "pk-read", "POST", {}), ("batchwrite", "pk-update", "POST", {"writeColumns": given(height=40)}),
           ("batchdelete", "pk-delete", "POST", {}), ("batchdelete", "pk-delete", "DELETE", {})]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("path, action, how, more", BATCHES)
def test_an_operation_without_a_method_is_one_by_post(client, version, path, action, how, more):
    key = given(garden="north", bed=77) if action == "pk-delete" else ROSE
    asked = operation(f"garden/plant/{action}", {"filters": key, **more})
    del asked["method"]
    status, text = client.ask(path, {"operations": [asked, {**asked, "method": "POST"}]}, version, how)
    first, second = json.loads(text)["result"]
    assert status == 200 and first == second and first["code"] == (404 if action == "pk-delete" else 200), text
    for method in (None, "", "post", "GET", "PUT", 1, True):
        told = client.ask(path, {"operations": [asked, {**asked, "method": method}]}, version, how)
        assert told[0] == 400 and "the Method section should be POST, not '" in told[1], told
