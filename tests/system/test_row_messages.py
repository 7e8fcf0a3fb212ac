"""What weftd says of requests that are wrong: each message of docs/weftd.md, in both versions, alone and in batches."""

import json
import re
import sqlite3

import pytest
from row_client import VERSIONS, RowClient, given, named, operation
from row_engines import ENGINES, mariadb, sqlite_arguments
from weft_process import Server

LONG = "n" * 65
FINE = given(id0=1, id1=1)


TABLES = """
    CREATE TABLE t(id0 INT, id1 INT UNSIGNED, col0 INT, col1 TINYINT NOT NULL DEFAULT 1 CHECK(col1 > -5),
      col2 VARCHAR(5) UNIQUE, twice INT AS (col0 * 2), PRIMARY KEY(id0, id1));
    INSERT INTO t(id0, id1, col0, col2) VALUES(1, 1, 5, 'one'), (1, 2, 6, 'two');
    CREATE INDEX by_col0 ON t(col0);
    CREATE TABLE heap(a INT, b INT);
    CREATE TABLE people(id INTEGER PRIMARY KEY, name VARCHAR(20));
    CREATE TABLE orders(id INTEGER PRIMARY KEY, who INTEGER REFERENCES people(id))"""


@pytest.fixture(scope="module", params=ENGINES)
def arguments(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    if request.param == "sqlite":
        with sqlite3.connect(folder / "shop.db") as database:
            database.executescript("PRAGMA journal_mode=WAL;" + TABLES)
        yield sqlite_arguments(folder)
        return
    with mariadb(folder) as server:
        server.client.run("USE shop", *TABLES.split(";"))
        yield server.arguments


@pytest.fixture(scope="module")
def client(weftd, arguments):
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", *arguments]) as server, RowClient(server) as made:
        yield made
        assert server.stop() == 0, server.log


# (the body of one operation, what is said of it); `filters` alone is said of writes, too.
NO_REQUEST = [
    ({}, "the filters section is null"),
    ({"filters": None}, "the filters section is null"),
    ({"filters": []}, "the filters section is empty"),
    ({"filters": [{"value": 1}]}, "a Column in the filters section is null"),
    ({"filters": [{"column": None, "value": 1}]}, "a Column in the filters section is null"),
    ({"filters": [{"column": "id0"}]}, "the Value of filter 'id0' is missing"),
    ({"filters": given(**{"": 1})}, "identifier is empty"),
    ({"filters": given(**{LONG: 1})}, f"identifier is too large: {LONG}"),
    ({"filters": given(**{"\u00e9" * 33: 1})}, "identifier is too large: " + "\u00e9" * 33),
    ({"filters": given(**{"a\0b": 1})}, "identifier carries an invalid character: a\0b"),
    ({"filters": given(**{"\U0001f600": 1})}, "identifier carries an invalid character: \U0001f600"),
    ({"filters": given(id0=1) + given(id0=1)}, "field validation for filter failed on the 'unique' tag: a column is named twice"),
    ({"filters": FINE, "operationId": "x" * 257}, "the operationId has 257 bytes; max allowed length is 256"),
]
NO_READ = [
    ({"filters": FINE, "readColumns": [{}]}, "a column to read is missing a name"),
    ({"filters": FINE, "readColumns": [{"column": None, "dataReturnType": "default"}]}, "a column to read is missing a name"),
    ({"filters": FINE, "readColumns": named("")}, "identifier is empty"),
    ({"filters": FINE, "readColumns": named(LONG)}, f"identifier is too large: {LONG}"),
    ({"filters": FINE, "readColumns": named("\uffff\U00010000")}, "identifier carries an invalid character: \uffff\U00010000"),
    ({"filters": FINE, "readColumns": [{"column": "col0", "dataReturnType": "hex"}]},
     "default dataReturnType is the only supported, not 'hex'"),
    ({"filters": FINE, "readColumns": named("col0", "col0")},
     "field validation for 'ReadColumns' failed on the 'unique' tag: a column is named twice"),
    ({"filters": FINE, "readColumns": named("id0")}, "field validation for read columns failed. 'id0' already included in filter"),
]
NO_WRITE = [
    ({"filters": FINE, "writeColumns": [{"value": 1}]}, "a Column in the writeColumns section is null"),
    ({"filters": FINE, "writeColumns": [{"column": "col0"}]}, "the Value of column 'col0' is missing"),
    ({"filters": FINE, "writeColumns": given(**{LONG: 1})}, f"identifier is too large: {LONG}"),
    ({"filters": FINE, "writeColumns": given(col0=1) * 2},
     "field validation for 'WriteColumns' failed on the 'unique' tag: a column is named twice"),
    ({"filters": FINE, "writeColumns": given(id1=1)}, "field validation for write columns failed. 'id1' already included in filter"),
]
# (database/table, body, status, what is said): each operation of a batch of reads has its own.
NOT_THERE = [
    ("none/t", {"filters": FINE}, 404, "Database/Table does not exist. Database: none Table: t"),
    ("shop/none", {"filters": FINE}, 404, "Database/Table does not exist. Database: shop Table: none"),
    ("shop/T", {"filters": FINE}, 404, "Database/Table does not exist. Database: shop Table: T"),
    ("shop/sqlite_schema", {"filters": FINE}, 404, "Database/Table does not exist. Database: shop Table: sqlite_schema"),
    ("shop/heap", {"filters": given(a=1)}, 400, "Table heap has no primary key, which is unsupported."),
    ("shop/t", {"filters": given(id0=1)}, 400, "Wrong number of primary-key columns. Expecting: 2 Got: 1"),
    ("shop/t", {"filters": given(id0=1, id1=1, col0=1)}, 400, "Wrong number of primary-key columns. Expecting: 2 Got: 3"),
    ("shop/t", {"filters": given(id0=1, col0=1)}, 400, "Wrong primary-key column. Column: col0"),
    ("shop/t", {"filters": given(id0=1, id2=1)}, 400, "Column does not exist. Column: id2"),
    ("shop/t", {"filters": given(id0="x", id1=1)}, 400, "Wrong data type. Expecting INT. Column: id0"),
    ("shop/t", {"filters": given(id0=1, id1=-1)}, 400, "Wrong data type. Expecting INT UNSIGNED. Column: id1"),
    ("shop/t", {"filters": given(id0=1, id1=None)}, 400, "Invalid column data. NULL is in no primary key. Column: id1"),
]
NOT_TO_BE_READ = [("shop/t", {"filters": FINE, "readColumns": named("col0", "col9")}, 400, "Column does not exist. Column: col9")]
NOT_TO_BE_WRITTEN = [
    ("shop/t", {"filters": FINE, "writeColumns": given(col9=1)}, 400, "Column does not exist. Column: col9"),
    ("shop/t", {"filters": FINE, "writeColumns": given(twice=1)}, 400, "Column twice is generated, and cannot be written."),
    ("shop/t", {"filters": FINE, "writeColumns": given(col1=None)}, 400, "Invalid column data. The column does not take NULL. Column: col1"),
    ("shop/t", {"filters": FINE, "writeColumns": given(col1=128)}, 400, "Wrong data type. Expecting TINYINT. Column: col1"),
    ("shop/t", {"filters": FINE, "writeColumns": given(col2="longer")}, 400,
     "Invalid column data. The value is longer than the column, which has 5 characters. Column: col2"),
]


def is_told(client, path, body, status, words):
    assert client.fault(path, body) == (status, words)


@pytest.mark.parametrize("body, words", NO_REQUEST + NO_READ)
def test_what_is_no_read(client, body, words):
    is_told(client, "shop/t/pk-read", body, 400, words)
    fine = operation("shop/t/pk-read", {"filters": FINE})
    is_told(client, "batch", {"operations": [fine, operation("shop/t/pk-read", body)]}, 400, words)


@pytest.mark.parametrize("body, words", NO_REQUEST + NO_WRITE)
@pytest.mark.parametrize("action", ["pk-write", "pk-update", "pk-insert"])
def test_what_is_no_write(client, body, words, action):
    fine = operation("shop/t/pk-update", {"filters": FINE, "writeColumns": given(col0=7)})
    is_told(client, "batchwrite", {"operations": [fine, operation(f"shop/t/{action}", body)]}, 400, words)
    assert '"col0":5' in client.ask("shop/t/pk-read", {"filters": FINE})[1]


@pytest.mark.parametrize("body, words", NO_REQUEST)
def test_what_is_no_removal(client, body, words):
    fine = operation("shop/t/pk-delete", {"filters": FINE})
    is_told(client, "batchdelete", {"operations": [fine, operation("shop/t/pk-delete", body)]}, 400, words)
    assert client.ask("shop/t/pk-read", {"filters": FINE})[0] == 200


@pytest.mark.parametrize("table, body, status, words", NOT_THERE + NOT_TO_BE_READ)
def test_what_cannot_be_read(client, table, body, status, words):
    is_told(client, f"{table}/pk-read", body, status, words)
    fine = operation("shop/t/pk-read", {"filters": FINE, "readColumns": named("col0"), "operationId": "a"})
    asked = {"operations": [fine, operation(f"{table}/pk-read", {**body, "operationId": "b"}), fine]}
    found = {"code": 200, "body": {"operationId": "a", "data": {"col0": 5}}}
    for version in VERSIONS:
        told_status, text = client.ask("batch", asked, version)
        message = {"message": words} if version == "0.2.0" else {}
        assert told_status == 200
        assert json.loads(text)["result"] == [found, {"code": status, "body": {"operationId": "b", "data": {}}, **message}, found]


NOT_ALONE = (424, "not done, since another operation of its database has failed")


@pytest.mark.parametrize("table, body, status, words", NOT_THERE + NOT_TO_BE_WRITTEN)
def test_what_cannot_be_written(client, table, body, status, words):
    for action in ("pk-write", "pk-update", "pk-insert"):
        wrong = operation(f"{table}/{action}", {"writeColumns": given(b=1), **body})
        fine = operation("shop/t/pk-update", {"filters": FINE, "writeColumns": given(col0=5)})
        assert client.results("batchwrite", wrong) == [(status, words)]
        other = NOT_ALONE if table.startswith("shop") else (200, None)
        assert client.results("batchwrite", fine, wrong, fine) == [other, (status, words), other]
    assert '"col0":5' in client.ask("shop/t/pk-read", {"filters": FINE})[1]


@pytest.mark.parametrize("table, body, status, words", NOT_THERE)
def test_what_cannot_be_removed(client, table, body, status, words):
    wrong, fine = (operation(f"{each}/pk-delete", of) for each, of in ((table, body), ("shop/t", {"filters": FINE})))
    assert client.results("batchdelete", wrong) == [(status, words)]
    if table.startswith("shop"):
        assert client.results("batchdelete", fine, wrong, method="DELETE") == [NOT_ALONE, (status, words)]
    assert client.ask("shop/t/pk-read", {"filters": FINE})[0] == 200


@pytest.mark.parametrize("wrong, status, words", [
    (operation("shop/t/pk-insert", {"filters": FINE}), 409, "operation 1: "),
    (operation("shop/t/pk-write", {"filters": given(id0=9, id1=9), "writeColumns": given(col2="one")}), 409, "UNIQUE|Duplicate entry 'one'"),
    (operation("shop/t/pk-write", {"filters": FINE, "writeColumns": given(col1=-5)}), 400, "CHECK|CONSTRAINT `t.col1` failed"),
    (operation("shop/orders/pk-insert", {"filters": given(id=1), "writeColumns": given(who=77)}), 400, "FOREIGN KEY"),
    (operation("shop/t/pk-update", {"filters": FINE}), 400, "operation 1: the writeColumns section is empty"),
    (operation("shop/t/pk-update", {"filters": FINE, "writeColumns": []}), 400, "operation 1: the writeColumns section is empty"),
])
def test_what_the_database_refuses(client, wrong, status, words):
    fine = operation("shop/t/pk-update", {"filters": FINE, "writeColumns": given(col0=7)})
    told = client.fault("batchwrite", {"operations": [fine, wrong]})
    assert told[0] == status and re.search(words, told[1]), told
    assert '"col0":5' in client.ask("shop/t/pk-read", {"filters": FINE})[1]


def test_a_removal_has_no_content(client):
    wrong = operation("shop/t/pk-delete", {"filters": FINE, "writeColumns": given(col0=1)})
    is_told(client, "batchdelete", {"operations": [wrong]}, 400, "operation 0: a pk-delete has no writeColumns section")


BATCHES = [("batch", "pk-read", "POST"), ("batchwrite", "pk-write", "POST"), ("batchdelete", "pk-delete", "POST"), ("batchdelete", "pk-delete", "DELETE")]


@pytest.mark.parametrize("path, action, method", BATCHES)
def test_what_is_no_batch(client, path, action, method):
    body = {"filters": FINE, "writeColumns": given(col0=7)} if action == "pk-write" else {"filters": FINE}
    url = f"shop/t/{action}"
    for asked, words in [
            ({}, "No operations defined"), ({"operations": None}, "No operations defined"), ({"operations": []}, "No operations defined"),
            ({"operations": [operation(url, body)] * 129}, "Batch size exceeds maximum allowed size: 128"),
            ({"operations": [{"method": None, "relative-url": url, "body": body}]}, "the Method section should be POST, not 'null'"),
            ({"operations": [operation(url, body, "")]}, "the Method section should be POST, not ''"),
            ({"operations": [operation(url, body, "GET")]}, "the Method section should be POST, not 'GET'"),
            ({"operations": [operation(url, body, "post")]}, "the Method section should be POST, not 'post'"),
            ({"operations": [{"method": "POST", "body": body}]}, "the relativeUrl section is required"),
            ({"operations": [operation("", body)]}, "the relativeUrl section is required"),
            ({"operations": [operation(None, body)]}, "the relativeUrl section is required"),
            ({"operations": [operation("shop/t/pk-no", body)]}, f"Field validation for 'RelativeURL' failed: 'shop/t/pk-no' is not db/table/{action}"),
            ({"operations": [operation(action, body)]}, f"Field validation for 'RelativeURL' failed: '{action}' is not db/table/{action}"),
            ({"operations": [operation(f"t/{action}", body)]}, f"Field validation for 'RelativeURL' failed: 't/{action}' is not db/table/{action}"),
            ({"operations": [operation(f"//t/{action}", body)]}, "Field validation for 'DB' failed on the 'min' tag: 1 to 64 bytes are allowed"),
            ({"operations": [operation(f"shop//{action}", body)]}, "Field validation for 'Table' failed on the 'min' tag: 1 to 64 bytes are allowed"),
            ({"operations": [operation(f"{LONG}/t/{action}", body)]}, "Field validation for 'DB' failed on the 'max' tag: 1 to 64 bytes are allowed"),
            ({"operations": [operation(f"shop/{LONG}/{action}", body)]}, "Field validation for 'Table' failed on the 'max' tag: 1 to 64 bytes are allowed"),
            ({"operations": [operation(f"sh\0p/t/{action}", body)]}, "identifier carries an invalid character: sh\0p"),
            ({"operations": [operation(url, None)]}, "Field validation for 'Body' failed on the 'required' tag"),
            ({"operations": [{"method": "POST", "relative-url": url}]}, "Field validation for 'Body' failed on the 'required' tag"),
    ]:
        assert client.fault(path, asked, method) == (400, words)


def test_the_first_parts_of_a_relative_url_do_not_count(client):
    for before in ("", "/", "/0.1.0/", "http://x/0.1.0/"):
        told = client.batch(operation(f"{before}shop/t/pk-read", {"filters": FINE, "readColumns": named("col0")}))
        assert told == (200, '{"result":[{"code":200,"body":{"operationId":"","data":{"col0":5}}}]}')


# What of a JSON document is said, whatever it is sent to.
NO_JSON = ["", "{", "[]", "1", "null", '{"filters":}', '{"filters":[}', '{} x', '{"filters":[]} {}', '{"nofilters":1}', '{"operationId":1}',
           '{"filters":1}', '{"filters":"x"}', '{"filters":[1]}', '{"filters":[{"column":1,"value":1}]}', '{"filters":[{"colum":"id0","value":1}]}',
           '{"operations":{}}', '{"operations":[1]}', '{"limit":"1"}', b'{"operationId":"\xff"}', '{"operationId":"\\ud800"}',
           '{"operationId":"a\nb"}', '{"filters":[{"column":"id0","value":01}]}', "[" * 5000, '{"filters":' * 500, "\ufeff{}"]


@pytest.mark.parametrize("body", NO_JSON)
@pytest.mark.parametrize("path", ["shop/t/pk-read", "shop/t/scan", "batch", "batchwrite", "batchdelete"])
def test_what_is_no_json_of_the_kind(client, path, body):
    status, text = client.fault(path, body)
    assert status == 400 and "byte" in text, text


def test_names_in_the_path_have_bounds(client):
    for path, words in [(f"{LONG}/t", "Field validation for 'DB' failed on the 'max' tag"), (f"shop/{LONG}", "Field validation for 'Table' failed on the 'max' tag"),
                        ("shop/%C3" + "%A9", "Database/Table does not exist. Database: shop Table: \u00e9"),
                        ("shop/%F0%9F%98%80", "identifier carries an invalid character: \U0001f600"),
                        ("%80/t", "identifier carries an invalid character: %80 in the path is no UTF-8 that is percent-encoded"),
                        ("shop/a%FFb", "identifier carries an invalid character: a%FFb in the path"), ("shop/%E2%82", "identifier carries an invalid character"),
                        ("shop/t%2F", "Database/Table does not exist. Database: shop Table: t/"), ("shop%2Ft/t", "Database: shop/t Table: t")]:
        for action, body in (("pk-read", {"filters": FINE}), ("scan", {"limit": 1})):
            status, text = client.fault(f"{path}/{action}", body)
            assert status in (400, 404) and words in text, text


def test_what_is_no_name_is_refused_before_it_is_looked_for(client):
    """What is told first: JSON, names, rules, and only then what is not there."""
    assert "byte 1" in client.fault(f"{LONG}/t/pk-read", "{")[1]
    is_told(client, "none/t/pk-read", {}, 400, "the filters section is null")
    assert client.fault(f"{LONG}/t/pk-read", {})[1].startswith("Field validation for 'DB'")
    is_told(client, "none/t/pk-read", {"filters": given(id9="x")}, 404, "Database/Table does not exist. Database: none Table: t")


def compare(column="col0", cond="EQ", value=1):
    return {"op": "CMP", "column": column, "cond": cond, "value": value}


def index(name="by_col0", key_columns=("col0",), **more):
    return {"limit": 1, "index": {"name": name, "key_columns": list(key_columns), **more}}


@pytest.mark.parametrize("asked, words", [
    ({}, "[Scan] Must provide limit field"), ({"limit": None}, "[Scan] Must provide limit field"), ({"limit": -1}, "[Scan] Invalid limit: -1"),
    ({"limit": 1, "readColumns": [{}]}, "a column to read is missing a name"),
    ({"limit": 1, "readColumns": named(LONG)}, f"identifier is too large: {LONG}"),
    ({"limit": 1, "readColumns": named("col9")}, "Column does not exist. Column: col9"),
    ({"limit": 1, "filters": {}}, "[ScanFilter] Missing required field: op"),
    ({"limit": 1, "filters": {"op": "and"}}, "[ScanFilter] Unknown op: and"),
    ({"limit": 1, "filters": {"op": "AND"}}, "[ScanFilter] Logic op must contain 2 children"),
    ({"limit": 1, "filters": {"op": "NOR", "args": [compare()] * 3}}, "[ScanFilter] Logic op must contain 2 children"),
    ({"limit": 1, "filters": {"op": "OR", "args": [compare(), {"op": "?"}]}}, "[ScanFilter] Unknown op: ?"),
    ({"limit": 1, "filters": {"op": "CMP", "cond": "EQ", "value": 1}}, "[ScanFilter] Missing required field: column"),
    ({"limit": 1, "filters": {"op": "CMP", "column": "col0", "value": 1}}, "[ScanFilter] Missing required field: cond"),
    ({"limit": 1, "filters": {"op": "CMP", "column": "col0", "cond": "EQ"}}, "[ScanFilter] Missing required field: value"),
    ({"limit": 1, "filters": {"op": "ISNULL"}}, "[ScanFilter] Missing required field: column"),
    ({"limit": 1, "filters": compare(cond="=")}, "[ScanFilter] Invalid condition: ="),
    ({"limit": 1, "filters": compare(column="col9")}, "Column does not exist. Column: col9"),
    ({"limit": 1, "filters": compare(value=None)}, "[ScanFilter] Invalid value. Column: col0"),
    ({"limit": 1, "filters": compare(value="x")}, "[ScanFilter] Invalid value. Wrong data type. Expecting INT. Column: col0"),
    (index("none"), "[Scan] Index does not exist. Index: none"), ({"limit": 1, "index": {}}, "[ScanIndex] Missing required field: name"),
    (index(key_columns=()), "[ScanIndex] key_columns is empty: name columns, or leave it out"),
    (index(key_columns=("id0",)), "[ScanIndex] key_columns are not the first columns of index by_col0"),
    (index(key_columns=("col0", "id0")), "[ScanIndex] key_columns are not the first columns of index by_col0"),
    (index("PRIMARY", ("id1",)), "[ScanIndex] key_columns are not the first columns of index PRIMARY"),
    (index(ranges=[{}] * 65), "[ScanIndex] Too many ranges (max 64)"), (index(order="ASC"), "[ScanIndex] Invalid order: ASC"),
    (index(ranges=[{"lower": {}}]), "[ScanIndex] Missing required field: values"), (index(ranges=[{"upper": {"values": None}}]), "[ScanIndex] Missing required field: values"),
    (index(ranges=[{"lower": {"values": [1, 2]}}]), "[ScanIndex] 2 values for 1 key_columns"),
    (index(ranges=[{"lower": {"values": [None]}}]), "[ScanIndex] Invalid value. Column: col0"),
    (index(ranges=[{"upper": {"values": [1.5]}}]), "[ScanIndex] Invalid value. Wrong data type. Expecting INT. Column: col0"),
    ({"limit": 1, "continuation": "AAAA"}, "[Scan] Invalid continuation: it is of another scan, or of none"),
    ({"limit": 1, "continuation": "?"}, "[Scan] Invalid continuation: it is of another scan, or of none"),
])
def test_what_is_no_scan(client, asked, words):
    is_told(client, "shop/t/scan", asked, 400, words)


def test_other_methods_are_not_there(client):
    for path in ("shop/t/pk-read", "shop/t/scan", "batch", "batchwrite", "batchdelete"):
        assert client.ask(path, "", method="GET")[0] == 405
    assert client.ask("batchwrite", {"operations": []}, method="DELETE")[0] == 405


def test_the_description_says_each_thing_once(client):
    def once(pairs):
        names = [name for name, _ in pairs]
        assert len(set(names)) == len(names), names
        return dict(pairs)

    client.connection.request("GET", "/openapi.json")
    told = json.loads(client.connection.getresponse().read(), object_pairs_hook=once)
    assert "413" in told["paths"]["/0.2.0/batch"]["post"]["responses"]
