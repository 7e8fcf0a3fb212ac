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
# What a query must not call, in what it reads.
LOADING = "CREATE VIEW loading AS SELECT load_extension('x') AS loaded;"
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
                database.executescript("PRAGMA journal_mode=WAL;" + script + (f";{LOADING}" if name == "shed" else ""))
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


NOT_ALLOWED = {
    "sqlite": ["SELECT load_extension('x')", "SELECT load_extension('x', 'y')", "VALUES(load_extension('x'))", "SELECT id FROM tool GROUP BY json_patch('{}', label)",
               "SELECT changes()", "SELECT * FROM pragma_table_info('tool')", "SELECT loaded FROM loading", "PRAGMA user_version", "ATTACH 'x' AS y", "VACUUM", "BEGIN",
               "DELETE FROM tool RETURNING id", "SELECT 1; SELECT 2"],
    "mariadb": ["SELECT load_file('x')", "SELECT sleep(1)", "SELECT @a", "SELECT @@version", "SELECT id FROM tool FOR UPDATE", "SHOW TABLES",
                "SELECT 1 INTO OUTFILE 'x'", "SELECT benchmark(1, 1)", "SELECT 1 INTO @a", "SET @a = 1", "BEGIN"],
}


def test_sql_that_is_not_allowed_in_a_query_is_unsupported(client, engine):
    kinds = {}
    for text in NOT_ALLOWED[engine]:
        status, told = query(client, text)
        assert status == 400, told
        kinds[text] = client.headers["x-ronsql-error-class"]
    assert kinds == dict.fromkeys(NOT_ALLOWED[engine], "unsupported")


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


LONG = "n" * 65
TWO_FERNS = FERN + given(bed=2)
COMPARED = {"op": "CMP", "column": "height", "cond": "EQ", "value": 20}


def by_height(**more):
    return {"limit": 9, "index": {"name": "by_height", "key_columns": ["height"], "ranges": [], **more}}


def one_of(action, body, **more):
    return {"operations": [{**operation(f"garden/plant/{action}", body), **more}]}


# (endpoint, condition, its body, status, what the message has, where docs/weftd.md says why this is not as with RonDB)
RULES = [
    ("pk-read", "filters missing", {}, 400, "the filters section is null", "the Field section"),
    ("pk-read", "filters null", {"filters": None}, 400, "the filters section is null", "the Field section"),
    ("pk-read", "filters empty", {"filters": []}, 400, "the filters section is empty", "the Field section"),
    ("pk-read", "column missing", {"filters": [{"value": 1}]}, 400, "a Column in the filters section is null", "the Field section"),
    ("pk-read", "column null", {"filters": [{"column": None, "value": 1}]}, 400, "a Column in the filters section is null", "the Field section"),
    ("pk-read", "column empty", {"filters": given(**{"": 1})}, 400, "identifier is empty", None),
    ("pk-read", "column too long", {"filters": given(**{LONG: 1})}, 400, f"identifier is too large: {LONG}", None),
    ("pk-read", "column with NUL", {"filters": given(**{"b\0d": 1})}, 400, "identifier carries an invalid character", None),
    ("pk-read", "column beyond U+FFFF", {"filters": given(**{"\U0001f33c": 1})}, 400, "identifier carries an invalid character", None),
    ("pk-read", "value missing", {"filters": [{"column": "bed"}]}, 400, "the Value of filter 'bed' is missing", None),
    ("pk-read", "value null", {"filters": given(garden="north", bed=None)}, 400, "NULL is in no primary key", None),
    ("pk-read", "value an object", {"filters": [{"column": "bed", "value": {}}]}, 400, "/filters/0/value", None),
    ("pk-read", "column twice", {"filters": TWO_FERNS}, 400, "field validation for filter failed on the 'unique' tag", None),
    ("pk-read", "too few of the key", {"filters": given(bed=1)}, 400, "Wrong number of primary-key columns. Expecting: 2 Got: 1", None),
    ("pk-read", "too many of the key", {"filters": ROSE + given(name="x")}, 400, "Wrong number of primary-key columns. Expecting: 2 Got: 3", None),
    ("pk-read", "another column", {"filters": given(garden="north", name="x")}, 400, "Wrong primary-key column.", None),
    ("pk-read", "no such key column", {"filters": given(garden="north", none=1)}, 400, "Column does not exist.", None),
    ("pk-read", "wrong type", {"filters": given(garden="north", bed="one")}, 400, "Wrong data type. Expecting INT. Column: bed", None),
    ("pk-read", "beyond the type", {"filters": given(garden="north", bed=2**31)}, 400, "Wrong data type. Expecting INT. Column: bed", None),
    ("pk-read", "longer than the column", {"filters": given(garden="north by west", bed=1)}, 400, "Column: garden", None),
    ("pk-read", "readColumns without a name", {"filters": ROSE, "readColumns": [{}]}, 400, "a column to read is missing a name", None),
    ("pk-read", "readColumns null name", {"filters": ROSE, "readColumns": [{"column": None}]}, 400, "a column to read is missing a name", None),
    ("pk-read", "readColumns too long", {"filters": ROSE, "readColumns": named(LONG)}, 400, "identifier is too large", None),
    ("pk-read", "readColumns twice", {"filters": ROSE, "readColumns": named("name", "name")}, 400, "field validation for 'ReadColumns' failed on the 'unique' tag", None),
    ("pk-read", "readColumns of the key", {"filters": ROSE, "readColumns": named("bed")}, 400, "field validation for read columns failed. 'bed' already included in filter", None),
    ("pk-read", "readColumns unknown", {"filters": ROSE, "readColumns": named("none")}, 400, "Column does not exist.", None),
    ("pk-read", "another return type", {"filters": ROSE, "readColumns": [{"column": "name", "dataReturnType": "hex"}]}, 400, "default dataReturnType is the only supported", None),
    ("pk-read", "operationId too long", {"filters": ROSE, "operationId": "i" * 257}, 400, "max allowed length is 256", None),
    ("pk-read", "an unknown name", {"filters": ROSE, "column": 1}, 400, "there is no such member", "A name that the API does not know is refused"),
    ("pk-read", "no JSON", "{", 400, "byte", None),
    ("pk-read", "no such row", {"filters": given(garden="none", bed=1), "operationId": "x"}, 404, '"operationId":"x","data":{}', None),
    ("pk-read", "the key as it is", {"filters": ROSE}, 200, '"data":{"name":"rose","height":40}', None),
    ("pk-read", "a quoted number", {"filters": given(garden="north", bed="1")}, 200, '"name":"rose"', None),
    ("pk-read", "readColumns null", {"filters": ROSE, "readColumns": None, "operationId": None}, 200, '"operationId":"","data":{"name":"rose","height":40}', None),
    ("pk-read", "readColumns empty", {"filters": ROSE, "readColumns": []}, 200, '"data":{"name":"rose","height":40}', None),
    ("pk-read", "another order", {"filters": ROSE, "readColumns": named("height", "name")}, 200, '"data":{"height":40,"name":"rose"}', None),
    ("none/pk-read", "no such database", {"filters": ROSE}, 404, "Database/Table does not exist.", None),
    ("none/pk-read", "validated before it is looked for", {"filters": []}, 400, "the filters section is empty", None),
    ("batch", "operations missing", {}, 400, "No operations defined", None),
    ("batch", "operations null", {"operations": None}, 400, "No operations defined", None),
    ("batch", "operations empty", {"operations": []}, 400, "No operations defined", None),
    ("batch", "too many", {"operations": [operation("garden/plant/pk-read", {"filters": ROSE})] * 129}, 400, "Batch size exceeds maximum allowed size: 128", None),
    ("batch", "method null", one_of("pk-read", {"filters": ROSE}, method=None), 400, "the Method section should be POST", None),
    ("batch", "another method", one_of("pk-read", {"filters": ROSE}, method="PUT"), 400, "the Method section should be POST", None),
    ("batch", "relative-url null", one_of("pk-read", {"filters": ROSE}, **{"relative-url": None}), 400, "the relativeUrl section is required", None),
    ("batch", "relative-url of two parts", one_of("pk-read", {"filters": ROSE}, **{"relative-url": "plant/pk-read"}), 400, "Field validation for 'RelativeURL' failed", None),
    ("batch", "relative-url of a write", one_of("pk-write", {"filters": ROSE}), 400, "Field validation for 'RelativeURL' failed", None),
    ("batch", "body null", one_of("pk-read", None), 400, "Field validation for 'Body' failed", None),
    ("batch", "another return type", one_of("pk-read", {"filters": ROSE, "readColumns": [{"column": "name", "dataReturnType": "hex"}]}), 400, "default dataReturnType is the only supported",
     "`dataReturnType` is checked in batches"),
    ("batch", "no filters in one", one_of("pk-read", {}), 400, "the filters section is null", "the Field section"),
    ("batch", "database too long", one_of("pk-read", {"filters": ROSE}, **{"relative-url": f"{LONG}/t/pk-read"}), 400, "Field validation for 'DB' failed on the 'max' tag", None),
    ("batchwrite", "operations empty", {"operations": []}, 400, "No operations defined", None),
    ("batchwrite", "method null", one_of("pk-write", {"filters": ROSE, "writeColumns": given(height=40)}, method=None), 400, "the Method section should be POST", None),
    ("batchwrite", "relative-url null", one_of("pk-write", {"filters": ROSE}, **{"relative-url": None}), 400, "the relativeUrl section is required", None),
    ("batchwrite", "relative-url of a read", one_of("pk-read", {"filters": ROSE, "writeColumns": given(height=40)}), 400, "Field validation for 'RelativeURL' failed", None),
    ("batchwrite", "body null", one_of("pk-write", None), 400, "Field validation for 'Body' failed", None),
    ("batchwrite", "filters null", one_of("pk-write", {"filters": None, "writeColumns": given(height=40)}), 400, "the filters section is null", None),
    ("batchwrite", "writeColumns missing", one_of("pk-write", {"filters": ROSE}), 400, "the writeColumns section is", None),
    ("batchwrite", "writeColumns empty", one_of("pk-update", {"filters": ROSE, "writeColumns": []}), 400, "the writeColumns section is empty", None),
    ("batchwrite", "writeColumns without a name", one_of("pk-write", {"filters": ROSE, "writeColumns": [{"value": 1}]}), 400, "a Column in the writeColumns section is null", None),
    ("batchwrite", "writeColumns without a value", one_of("pk-write", {"filters": ROSE, "writeColumns": [{"column": "name"}]}), 400, "the Value of column 'name' is missing", None),
    ("batchwrite", "a column of the key", one_of("pk-write", {"filters": ROSE, "writeColumns": given(bed=3)}), 400, "'bed' already included in filter", "A column in both `filters` and `writeColumns`"),
    ("batchwrite", "such a row is there", one_of("pk-insert", {"filters": ROSE, "writeColumns": given(height=1)}), 409, "operation 0: ", None),
    ("batchdelete", "operations empty", {"operations": []}, 400, "No operations defined", None),
    ("batchdelete", "relative-url of a read", one_of("pk-read", {"filters": ROSE}), 400, "Field validation for 'RelativeURL' failed", None),
    ("batchdelete", "body null", one_of("pk-delete", None), 400, "Field validation for 'Body' failed", None),
    ("batchdelete", "filters null", one_of("pk-delete", {"filters": None}), 400, "the filters section is null", "the Field section"),
    ("batchdelete", "readColumns", one_of("pk-delete", {"filters": given(garden="none", bed=1), "readColumns": named("name")}), 400, "there is no such member", "`pk-delete` takes no `readColumns`"),
    ("scan", "limit missing", {}, 400, "[Scan] Must provide limit field", None),
    ("scan", "limit null", {"limit": None}, 400, "[Scan] Must provide limit field", None),
    ("scan", "limit negative", {"limit": -1}, 400, "[Scan]", None),
    ("scan", "limit 0", {"limit": 0}, 200, '{"data":[],"rows":0', None),
    ("scan", "op missing", {"limit": 9, "filters": {"column": "bed"}}, 400, "[ScanFilter] Missing required field: op", None),
    ("scan", "op unknown", {"limit": 9, "filters": {"op": "XOR"}}, 400, "[ScanFilter] Unknown op", None),
    ("scan", "one child", {"limit": 9, "filters": {"op": "AND", "args": [COMPARED]}}, 400, "[ScanFilter] Logic op must contain 2 children", None),
    ("scan", "three children", {"limit": 9, "filters": {"op": "OR", "args": [COMPARED] * 3}}, 400, "[ScanFilter] Logic op must contain 2 children", None),
    ("scan", "no children", {"limit": 9, "filters": {"op": "NOR"}}, 400, "[ScanFilter]", None),
    ("scan", "cond unknown", {"limit": 9, "filters": {**COMPARED, "cond": "=="}}, 400, "[ScanFilter] Invalid condition", None),
    ("scan", "value missing", {"limit": 9, "filters": {"op": "CMP", "column": "height", "cond": "EQ"}}, 400, "[ScanFilter] Missing required field: value", None),
    ("scan", "column missing", {"limit": 9, "filters": {"op": "ISNULL"}}, 400, "[ScanFilter] Missing required field: column", None),
    ("scan", "column unknown", {"limit": 9, "filters": {**COMPARED, "column": "none"}}, 400, "Column does not exist.", None),
    ("scan", "value of another type", {"limit": 9, "filters": {**COMPARED, "value": "tall"}}, 400, "[ScanFilter] Invalid value", None),
    ("scan", "a quoted number", {"limit": 9, "filters": {**COMPARED, "value": "20"}}, 200, '"rows":1', "Numbers may be quoted in its filters and bounds"),
    ("scan", "NAND", {"limit": 9, "filters": {"op": "NAND", "args": [COMPARED, COMPARED]}}, 200, '"rows":1', None),
    ("scan", "ISNOTNULL", {"limit": 9, "filters": {"op": "ISNOTNULL", "column": "height"}}, 200, '"rows":2', None),
    ("scan", "readColumns unknown", {"limit": 9, "readColumns": named("none")}, 400, "Column does not exist.", None),
    ("scan", "no such index", by_height(name="none"), 400, "[Scan] Index does not exist.", None),
    ("scan", "key_columns empty", by_height(key_columns=[]), 400, "[ScanIndex]", None),
    ("scan", "key_columns null", by_height(key_columns=None), 200, '"rows":3', "A scan needs neither `key_columns` nor `ranges`"),
    ("scan", "key_columns missing", {"limit": 9, "index": {"name": "by_height", "order": "desc"}}, 200, '"rows":3', "A scan needs neither `key_columns` nor `ranges`"),
    ("scan", "order unknown", by_height(order="up"), 400, "[ScanIndex]", None),
    ("scan", "too many ranges", by_height(ranges=[{}] * 65), 400, "[ScanIndex] Too many ranges (max 64)", None),
    ("scan", "too many values", by_height(ranges=[{"lower": {"values": [1, 2]}}]), 400, "[ScanIndex]", None),
    ("scan", "a bound without values", by_height(ranges=[{"lower": {}}]), 400, "[ScanIndex]", None),
    ("scan", "a bound of no values", by_height(ranges=[{"lower": {"values": [], "inclusive": True}, "upper": {"values": [30], "inclusive": False}}], order="desc"), 200, '"mint"', None),
    ("scan", "no range", by_height(), 200, '"rows":3', None),
    ("scan", "ranges missing", by_height(ranges=None), 200, '"rows":3', "A scan needs neither `key_columns` nor `ranges`"),
    ("none/scan", "no such database", {"limit": 1}, 404, "Database/Table does not exist.", None),
    ("ping", "empty", "", 200, "", None), ("ping", "a body", "x", 400, "", None),
    ("health", "empty", "", 200, "1", None), ("health", "a body", "x", 400, "", None),
]
PATHS = {"pk-read": "garden/plant/pk-read", "scan": "garden/plant/scan", "none/pk-read": "none/plant/pk-read", "none/scan": "none/plant/scan"}
METHODS = {"ping": "GET", "health": "GET"}


@pytest.mark.parametrize("endpoint, condition, body, status, words, why", RULES, ids=[f"{rule[0]}: {rule[1]}" for rule in RULES])
def test_rule(client, endpoint, condition, body, status, words, why):
    path, method = PATHS.get(endpoint, endpoint), METHODS.get(endpoint, "POST")
    for version in VERSIONS:
        told = client.ask(path, body, version, method)
        text = json.loads(told[1])["error"]["message"] if version == "0.2.0" and told[1].startswith('{"error"') else told[1]
        assert told[0] == status and words in text, told
    assert why is None or why in (Path(__file__).parents[2] / "docs/weftd.md").read_text().split("## Where it differs")[1]


# (endpoint, condition, operation, code, message)
RESULTS = [
    ("batch", "a row", operation("garden/plant/pk-read", {"filters": ROSE}), 200, None),
    ("batch", "more before the path", operation("/0.1.0/garden/plant/pk-read", {"filters": ROSE}), 200, None),
    ("batch", "no such row", operation("garden/plant/pk-read", {"filters": given(garden="none", bed=1)}), 404, "the row does not exist"),
    ("batch", "no such table", operation("garden/none/pk-read", {"filters": ROSE}), 404, "Database/Table does not exist."),
    ("batch", "no such database", operation("none/plant/pk-read", {"filters": ROSE}), 404, "Database/Table does not exist."),
    ("batch", "wrong key", operation("garden/plant/pk-read", {"filters": given(bed=1)}), 400, "Wrong number of primary-key columns."),
    ("batch", "wrong type", operation("garden/plant/pk-read", {"filters": given(garden="north", bed="x")}), 400, "Wrong data type."),
    ("batch", "unknown column", operation("garden/plant/pk-read", {"filters": ROSE, "readColumns": named("none")}), 400, "Column does not exist."),
    ("batchwrite", "a row", plant("pk-update", 1, "north", height=40), 200, None),
    ("batchwrite", "null", plant("pk-update", 2, "north", height=None), 200, None),
    ("batchwrite", "no such row", plant("pk-update", 99, height=1), 404, "the row does not exist"),
    ("batchwrite", "no such table", operation("garden/none/pk-write", plant("pk-write", 1, height=1)["body"]), 404, "Database/Table does not exist."),
    ("batchwrite", "no such database", operation("none/plant/pk-insert", plant("pk-write", 1, height=1)["body"]), 404, "Database/Table does not exist."),
    ("batchwrite", "unknown column", plant("pk-write", 1, "north", none=1), 400, "Column does not exist."),
    ("batchwrite", "too few of the key", operation("garden/plant/pk-write", {"filters": given(bed=1), "writeColumns": given(height=1)}), 400, "Wrong number of primary-key columns."),
    ("batchwrite", "wrong type", plant("pk-write", 1, "north", height="tall"), 400, "Wrong data type."),
    ("batchdelete", "no such row", plant("pk-delete", 99), 404, "the row does not exist"),
    ("batchdelete", "no such table", operation("garden/none/pk-delete", {"filters": ROSE}), 404, "Database/Table does not exist."),
    ("batchdelete", "wrong key", operation("garden/plant/pk-delete", {"filters": given(bed=1)}), 400, "Wrong number of primary-key columns."),
    ("batchdelete", "wrong column", operation("garden/plant/pk-delete", {"filters": given(garden="north", name="x")}), 400, "Wrong primary-key column."),
]


@pytest.mark.parametrize("endpoint, condition, asked, code, words", RESULTS, ids=[f"{rule[0]}: {rule[1]}" for rule in RESULTS])
def test_rule_of_one_operation(client, endpoint, condition, asked, code, words):
    [(told, message)] = client.results(endpoint, asked)
    assert told == code and (message is None if words is None else words in message), (told, message)
    assert row(client, "garden/plant", garden="north", bed=1) == {"name": "rose", "height": 40}


def test_faults_of_names_in_the_path(client):
    for path, words in ((f"{LONG}/plant", "Field validation for 'DB' failed on the 'max' tag"), (f"garden/{LONG}", "Field validation for 'Table' failed on the 'max' tag"),
                        ("/plant", "Field validation for 'DB' failed on the 'min' tag"), ("garden/", "Field validation for 'Table' failed on the 'min' tag"),
                        ("/", "Field validation for 'DB' failed on the 'min' tag"), ("garden/%F0%9F%8C%BC", "invalid character"), ("%F0%9F%8C%BC/plant", "invalid character")):
        for action, body in (("pk-read", {"filters": ROSE}), ("scan", {"limit": 1})):
            status, text = client.fault(f"{path}/{action}", body)
            assert status == 400 and words in text, text
