"""The contract of the RonDB REST server's API, rule by rule, on each engine."""

import json
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path

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
def engine(request):
    return request.param


@pytest.fixture(scope="module")
def arguments(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    if engine == "sqlite":
        for name, script in SCRIPTS.items():
            with sqlite3.connect(folder / f"{name}.db") as database:
                database.executescript("PRAGMA journal_mode=WAL;" + script)
        yield sqlite_arguments(folder)
        return
    with mariadb(folder) as server:
        for name, script in SCRIPTS.items():
            server.client.run(f"CREATE DATABASE {name} CHARACTER SET utf8mb4", f"USE {name}", *script.split(";"))
        yield server.arguments


@pytest.fixture(scope="module")
def client(weftd, arguments):
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--weftd.sql_api.rows=200", *arguments]) as server, RowClient(server) as made:
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


NOT_ALONE = (424, "not done, since another operation of its database has failed")
MISSING = (404, "the row does not exist")
DONE = (200, None)


def plant(action, bed, garden="west", **content):
    return operation(f"garden/plant/{action}", {"filters": given(garden=garden, bed=bed), **({"writeColumns": given(**content)} if content else {})})


def tool(action, id, **content):
    return operation(f"shed/tool/{action}", {"filters": given(id=id), **({"writeColumns": given(**content)} if content else {})})


@pytest.fixture
def clean(client):
    """(garden, shed): which of the rows that tests of several databases make are there."""
    def there():
        return ([bed for bed in range(50, 55) if row(client, "garden/plant", garden="west", bed=bed) is not None],
                [id for id in range(50, 55) if row(client, "shed/tool", id=id) is not None])
    yield there
    client.delete(*[plant("pk-delete", bed) for bed in range(50, 55)], *[tool("pk-delete", id) for id in range(50, 55)])
    assert there() == ([], [])


def test_a_batch_of_several_databases_is_done_in_each(client, clean):
    batch = [plant("pk-write", 50, name="oak"), tool("pk-write", 50, label="saw"), plant("pk-write", 51, height=3), tool("pk-update", 77, label="x")]
    assert client.results("batchwrite", *batch) == [DONE, DONE, DONE, MISSING]
    assert clean() == ([50, 51], [50])
    assert row(client, "garden/plant", garden="west", bed=50) == {"name": "oak", "height": None} and row(client, "shed/tool", id=50) == {"label": "saw"}
    status, text = client.delete(tool("pk-delete", 50), plant("pk-delete", 50), tool("pk-delete", 77), plant("pk-delete", 51), version="0.2.0")
    assert status == 200 and [each["code"] for each in json.loads(text)["result"]] == [200, 200, 404, 200]


@pytest.mark.parametrize("wrong, code", [
    (tool("pk-insert", 1, label="twin"), 409), (tool("pk-insert", 52, label="hoe"), 409), (tool("pk-write", 52, name="x"), 400),
    (tool("pk-write", "x", label="x"), 400), (tool("pk-write", 52, label="l" * 21), 400), (operation("shed/none/pk-write", {**tool("pk-write", 1, label="x")["body"]}), 404),
    (operation("none/tool/pk-write", {**tool("pk-write", 1, label="x")["body"]}), 404)])
@pytest.mark.parametrize("version", VERSIONS)
def test_what_fails_in_one_database_is_done_in_the_other(client, clean, version, wrong, code):
    batch = [tool("pk-insert", 50, label="saw"), plant("pk-insert", 50, name="oak"), wrong, plant("pk-update", 99, name="no"), tool("pk-insert", 51, label="axe")]
    status, text = client.write(*batch, version=version)
    codes = [each["code"] for each in json.loads(text)["result"]]
    of_none = wrong["relative-url"].startswith("none")
    assert status == 200 and codes == ([200, 200, code, 404, 200] if of_none else [424, 200, code, 404, 424]), text
    assert clean() == ([50], [50, 51] if of_none else [])
    assert row(client, "shed/tool", id=1) == {"label": "rake"}


def test_what_the_engine_refuses_everywhere_is_the_answer_to_the_whole(client, clean):
    twin = tool("pk-insert", 1, label="twin")
    assert client.fault("batchwrite", {"operations": [tool("pk-insert", 50, label="saw"), twin]})[0] == 409
    status, text = client.fault("batchwrite", {"operations": [plant("pk-insert", 1, "north", name="rose"), tool("pk-insert", 50, label="saw"), twin]})
    assert status == 409 and text.startswith("operation 0: "), text
    # Where one of the databases has what its operations ask for, it is done, and told.
    assert client.results("batchwrite", plant("pk-update", 99, name="x"), twin) == [MISSING, (409, json.loads(
        client.write(plant("pk-update", 99, name="x"), twin, version="0.2.0")[1])["result"][1]["message"])]
    assert clean() == ([], [])


def test_a_batch_of_databases_that_nothing_can_be_done_in_has_its_codes(client, clean):
    told = client.results("batchwrite", plant("pk-write", 50, none=1), tool("pk-write", 50, label="saw"), tool("pk-write", 51, label=None), tool("pk-write", 52, none=1))
    assert [code for code, _ in told] == [400, 424, 424, 400] and told[0][1] == "Column does not exist. Column: none"
    assert clean() == ([], [])


def test_results_of_many_databases_come_in_the_order_of_the_operations(client, clean):
    batch = [plant("pk-write", 50 + i // 2, height=i) if i % 2 else tool("pk-write", 50 + i // 2, label=f"t{i}") for i in range(10)]
    for i, each in enumerate(batch):
        each["body"]["operationId"] = f"{i}"
    status, text = client.write(*batch)
    assert status == 200 and [(each["code"], each["body"]["operationId"]) for each in json.loads(text)["result"]] == [(200, f"{i}") for i in range(10)]
    assert clean() == ([50, 51, 52, 53, 54], [50, 51, 52, 53, 54])


JSON, TSV = "application/json", "text/tab-separated-values; charset=utf-8; header="
FORMS = {"JSON": JSON, "JSON_ASCII": JSON + "; charset=US-ASCII", "TEXT": TSV + "present", "TEXT_NOHEADER": TSV + "absent"}


def query(client, text, version="0.1.0", path="ronsql", **more):
    return client.ask(path, {"database": "shed", "query": text, **more}, version)


@pytest.fixture
def labels(client):
    """Tools whose names no line of text and no ASCII has as they are."""
    names = {60: "a\tb\nc\\d\"e", 61: "\u00e9t\u00e9 \U0001f600", 62: "\r/\x7f", 63: "", 64: None, 65: "NULL"}
    written = client.write(*[tool("pk-insert", id, label=name) for id, name in names.items()])
    assert written[0] == 200, written
    yield names
    client.delete(*[tool("pk-delete", id) for id in names])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_query_is_answered_in_the_form_asked_for(client, labels, version):
    asked = "SELECT id AS `n\u00b0`, label FROM tool WHERE id >= 60 ORDER BY id"
    rows = [{"n\u00b0": id, "label": name} for id, name in labels.items()]
    told = {form: query(client, asked, version, outputFormat=form) + (client.type,) for form in FORMS}
    assert {form: (status, kind) for form, (status, _, kind) in told.items()} == {form: (200, kind) for form, kind in FORMS.items()}
    assert query(client, asked, version)[1] == told["JSON"][1] and json.loads(told["JSON"][1]) == json.loads(told["JSON_ASCII"][1]) == {"data": rows}
    assert "\u00e9" in told["JSON"][1] and told["JSON_ASCII"][1].isascii() and "\\ud83d\\ude00" in told["JSON_ASCII"][1]
    lines = ["60\ta\\tb\\nc\\\\d\"e", "61\t\u00e9t\u00e9 \U0001f600", "62\t\r/\x7f", "63\t", "64\tNULL", "65\tNULL"]
    assert told["TEXT_NOHEADER"][1] == "".join(line + "\n" for line in lines)
    assert told["TEXT"][1] == "n\u00b0\tlabel\n" + told["TEXT_NOHEADER"][1]


def test_a_table_without_rows_has_no_header(client):
    for form, told in {"JSON": '{"data":[]}', "JSON_ASCII": '{"data":[]}', "TEXT": "", "TEXT_NOHEADER": ""}.items():
        assert query(client, "SELECT id FROM tool WHERE id < 0", outputFormat=form) == (200, told)


def test_numbers_dates_and_bytes_are_told_in_text_as_in_json(client):
    told = query(client, "SELECT 1, -2.5, 'x', NULL, 9223372036854775807", outputFormat="TEXT_NOHEADER")
    assert told == (200, "1\t-2.5\tx\tNULL\t9223372036854775807\n")


@pytest.mark.parametrize("more, words", [
    ({"outputFormat": "CSV"}, "Invalid outputFormat"), ({"outputFormat": ""}, "Invalid outputFormat"), ({"outputFormat": "json"}, "Invalid outputFormat"),
    ({"outputFormat": "TEXT", "operationId": "x"}, "operationId not supported with output format TEXT"),
    ({"outputFormat": "TEXT_NOHEADER", "operationId": "x"}, "operationId not supported with output format TEXT_NOHEADER"),
    ({"operationId": "x" * 257}, "max allowed length is 256"), ({"database": ""}, "Field validation for 'DB' failed on the 'min' tag"),
    ({"database": "x" * 65}, "Field validation for 'DB' failed on the 'max' tag"), ({"explainMode": "MAYBE"}, "explainMode")])
def test_what_a_query_may_not_ask_for(client, more, words):
    status, text = client.fault("ronsql", {"database": "shed", "query": "SELECT 1", **more})
    assert status == 400 and words in text, text


def test_an_operation_id_comes_back_in_json(client):
    for form in ("JSON", "JSON_ASCII"):
        status, text = query(client, "SELECT 1 AS one", outputFormat=form, operationId="\u00fc1")
        assert status == 200 and json.loads(text) == {"operationId": "\u00fc1", "data": [{"one": 1}]}
        assert text.isascii() == (form == "JSON_ASCII")
    assert query(client, "SELECT 1 AS one", outputFormat="TEXT", operationId="")[0] == 200


MANY = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i FROM n"
CLASSES = [
    ("SELEC id FROM tool", 400, "syntax"), ("SELECT id FROM", 400, "syntax"), ("SELECT 'x", 400, "syntax"), ("SELECT (1", 400, "syntax"), (" ", 400, "syntax"),
    ("SELECT id FROM none", 400, "semantic"), ("SELECT height FROM tool", 400, "semantic"), ("SELECT ?", 400, "semantic"),
    ("DELETE FROM tool", 400, "unsupported"), ("UPDATE tool SET label = 'x'", 400, "unsupported"), ("INSERT INTO tool VALUES (9, 'x')", 400, "unsupported"),
    ("DROP TABLE tool", 400, "unsupported"), (MANY, 413, "limit"), ("SELECT " + "1," * 70_000 + "1", 400, "limit"),
]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("text, code, kind", CLASSES, ids=[f"{kind}-{text[:12]}" for text, _, kind in CLASSES])
def test_a_fault_of_a_query_has_a_class(client, version, text, code, kind):
    for form in FORMS:
        status, told = query(client, text, version, outputFormat=form)
        assert (status, client.headers["x-ronsql-error-class"]) == (code, kind), told
    assert query(client, text, version, "sql")[0] in (200, 400) and client.headers["x-ronsql-error-class"] is None


def test_what_is_no_fault_of_a_query_has_no_class_or_that_of_its_status(client):
    assert query(client, "SELECT 1")[0] == 200 and client.headers["x-ronsql-error-class"] is None
    assert query(client, "SELECT 1", outputFormat="x")[0] == 400 and client.headers["x-ronsql-error-class"] is None
    assert query(client, "SELECT 1", database="none")[0] == 404 and client.headers["x-ronsql-error-class"] == "semantic"


def documented_differences():
    """(expression, on SQLite, on MariaDB) of docs/weftd.md."""
    text = (Path(__file__).parents[2] / "docs/weftd.md").read_text()
    part = text.split("### Where SQL differs without an error\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(.+)` \| `(.+)` \| (.+) \|$", part, re.M)
    return [(expression.replace("\\|", "|"), sqlite, mariadb) for expression, sqlite, mariadb in rows]


@pytest.mark.parametrize("expression, sqlite, mariadb", documented_differences())
def test_sql_differs_as_the_page_says(client, engine, expression, sqlite, mariadb):
    wanted = {"sqlite": f"`{sqlite}`", "mariadb": mariadb}[engine]
    status, text = query(client, f"SELECT {expression} AS x", path="sql")
    if wanted == "an error":
        assert status == 400, text
    else:
        # As it is written: 3 is not 3.0.
        assert f'"data":[{{"x":{wanted.strip("`")}}}]' in text, text


def test_the_page_has_what_differs():
    assert len(documented_differences()) > 20
