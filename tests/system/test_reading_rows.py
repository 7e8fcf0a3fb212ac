"""weftd's rows by primary key: what is answered is what the database's own client says, and what is wrong is told."""

import base64
import json
import shutil
import socket
import sqlite3
import subprocess

import httpx
import pytest
from weft_process import Server, curl

SCHEMA = r'''
PRAGMA journal_mode=WAL;
CREATE TABLE int_table(id0 INT, id1 INT UNSIGNED, col0 INT, col1 INT UNSIGNED, PRIMARY KEY(id0, id1));
INSERT INTO int_table VALUES(0, 0, 0, 0), (2147483647, 4294967295, 2147483647, 4294967295),
  (-2147483648, 0, -2147483648, 0), (1, 1, NULL, NULL);
CREATE TABLE only_key(id0 INT PRIMARY KEY);
INSERT INTO only_key VALUES(1);
CREATE TABLE people(id INTEGER PRIMARY KEY, name VARCHAR(50), born DATE, balance DECIMAL(10,2), photo BLOB, score DOUBLE,
  seen DATETIME(3), flags BIT(8), big BIGINT);
INSERT INTO people VALUES(1, 'Ada "Lovelace"' || char(10), '1815-12-10', 12.5, x'00ff10', 0.1, '2026-01-02 03:04:05.678', 5,
  9223372036854775807), (2, 'κόσμε', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE "odd name"("the ""key""" VARCHAR(10) PRIMARY KEY, "a/b" INT);
INSERT INTO "odd name" VALUES('x', 1);
CREATE TABLE heap(a INT, b INT);
'''


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


def filters(**values):
    return [{"column": name, "value": value} for name, value in values.items()]


def columns(*names):
    return [{"column": name, "dataReturnType": "default"} for name in names]


def first_answer(weftd, folder, path):
    """To who connects as soon as that is possible."""
    body = json.dumps({"filters": filters(id0=1)}).encode()
    request = b"POST /0.2.0/shop/only_key/pk-read HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    process = subprocess.Popen([weftd, "--listen", f"unix:{path}", "--threads", "1", "--data", folder],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(10)
            while client.connect_ex(str(path)) != 0:
                assert process.poll() is None
            client.sendall(request)
            return client.recv(4096)
    finally:
        process.terminate()
        process.wait(10)


def test_who_is_let_in_finds_the_tables(weftd, folder, tmp_path):
    for attempt in range(10):
        assert first_answer(weftd, folder, tmp_path / f"{attempt}.sock").startswith(b"HTTP/1.1 200 ")


def read(server, path, body, version="0.1.0"):
    return httpx.post(server.url(f"/{version}/{path}"), content=body if isinstance(body, str) else json.dumps(body))


def operation(path, body):
    return {"method": "POST", "relative-url": path, "body": body}


def test_a_row_is_read(server):
    reply = read(server, "shop/int_table/pk-read", {"filters": filters(id0=0, id1=0), "readColumns": columns("col0", "col1"),
                                                    "operationId": "x"})
    assert reply.status_code == 200 and reply.headers["content-type"] == "application/json"
    assert reply.text == '{"code":200,"operationId":"x","data":{"col0":0,"col1":0}}'


@pytest.mark.parametrize("key, row", [
    ((2147483647, 4294967295), (2147483647, 4294967295)), ((-2147483648, 0), (-2147483648, 0)), ((1, 1), (None, None)),
    (("1", "1"), (None, None))])
def test_numbers_at_their_bounds(server, key, row):
    reply = read(server, "shop/int_table/pk-read", {"filters": filters(id0=key[0], id1=key[1])})
    assert reply.json() == {"code": 200, "operationId": "", "data": {"col0": row[0], "col1": row[1]}}


def test_columns_come_as_they_are_asked_for_or_in_the_order_of_the_table(server):
    all_of_them = read(server, "shop/people/pk-read", {"filters": filters(id=1)}).text
    assert all_of_them == ('{"code":200,"operationId":"","data":{"name":"Ada \\"Lovelace\\"\\n","born":"1815-12-10",'
                           '"balance":12.50,"photo":"AP8Q","score":0.1,"seen":"2026-01-02 03:04:05.678","flags":"BQ==",'
                           '"big":9223372036854775807}}')
    some = read(server, "shop/people/pk-read", {"filters": filters(id=2), "readColumns": columns("big", "name")}).text
    assert some == '{"code":200,"operationId":"","data":{"big":null,"name":"κόσμε"}}'
    assert read(server, "shop/only_key/pk-read", {"filters": filters(id0=1)}).json()["data"] == {}


def test_no_row_is_404(server):
    for version in ("0.1.0", "0.2.0"):
        reply = read(server, "shop/int_table/pk-read", {"filters": filters(id0=9, id1=9), "operationId": "y"}, version)
        assert reply.status_code == 404 and reply.json() == {"code": 404, "operationId": "y", "data": {}}


@pytest.mark.parametrize("path, body, status, words", [
    ("none/t/pk-read", {"filters": filters(id=1)}, 404, "Database/Table does not exist."),
    ("shop/none/pk-read", {"filters": filters(id=1)}, 404, "Database/Table does not exist."),
    ("shop/int_table/pk-read", {"filters": filters(id0=1)}, 400, "Wrong number of primary-key columns. Expecting: 2 Got: 1"),
    ("shop/int_table/pk-read", {"filters": filters(id0=1, col0=1)}, 400, "Wrong primary-key column."),
    ("shop/int_table/pk-read", {"filters": filters(id0=1, id9=1)}, 400, "Column does not exist."),
    ("shop/int_table/pk-read", {"filters": filters(id0=1, id1=1), "readColumns": columns("no")}, 400, "Column does not exist."),
    ("shop/int_table/pk-read", {"filters": filters(id0="x", id1=1)}, 400, "Wrong data type. Expecting INT. Column: id0"),
    ("shop/int_table/pk-read", {"filters": filters(id0=2147483648, id1=1)}, 400, "Column: id0"),
    ("shop/int_table/pk-read", {"filters": filters(id0=1, id1=-1)}, 400, "Expecting INT UNSIGNED. Column: id1"),
    ("shop/int_table/pk-read", {"filters": filters(id0=None, id1=1)}, 400, "Column: id0"),
    ("shop/heap/pk-read", {"filters": filters(a=1)}, 400, "has no primary key"),
    ("shop/int_table/pk-read", {"filters": []}, 400, "the filters section is empty"),
    ("shop/int_table/pk-read", "{", 400, "byte 1"),
    ("shop/" + "t" * 65 + "/pk-read", {"filters": filters(id=1)}, 400, "Field validation for 'Table' failed on the 'max' tag"),
    ("batch", {"operations": []}, 400, "No operations defined"),
    ("batch", {"operations": [operation("shop/people/pk-write", {"filters": filters(id=1)})]}, 400, "RelativeURL"),
])
def test_what_is_wrong_is_told(server, path, body, status, words):
    text = read(server, path, body)
    assert text.status_code == status and words in text.text, text.text
    assert text.headers["content-type"].startswith("text/plain")
    told = read(server, path, body, "0.2.0")
    assert told.status_code == status and told.headers["content-type"] == "application/json"
    error = told.json()["error"]
    assert error["code"] == status and error["message"] == text.text, error
    assert error["status"] == error["classification"] == -1, error


def test_names_are_decoded_from_the_path(server):
    reply = read(server, 'shop/odd%20name/pk-read', '{"filters":[{"column":"the \\"key\\"","value":"\\u0078"}]}')
    assert reply.text == '{"code":200,"operationId":"","data":{"a/b":1}}'


def test_a_batch_is_answered_in_order_and_each_by_itself(server):
    asked = {"operations": [
        operation("shop/people/pk-read", {"filters": filters(id=2), "readColumns": columns("name"), "operationId": "a"}),
        operation("shop/none/pk-read", {"filters": filters(id=2), "operationId": "b"}),
        operation("/0.1.0/shop/int_table/pk-read", {"filters": filters(id1=1, id0=1)}),
        operation("shop/int_table/pk-read", {"filters": filters(id0=1), "operationId": "d"}),
        operation("shop/people/pk-read", {"filters": filters(id=99), "operationId": "e"})]}
    told = [(200, "a", {"name": "κόσμε"}), (404, "b", {}), (200, "", {"col0": None, "col1": None}), (400, "d", {}), (404, "e", {})]
    plain = read(server, "batch", asked)
    assert plain.status_code == 200
    assert plain.json() == {"result": [{"code": code, "body": {"operationId": id, "data": data}} for code, id, data in told]}
    with_messages = read(server, "batch", asked, "0.2.0").json()["result"]
    assert [each["code"] for each in with_messages] == [code for code, _, _ in told]
    assert [each.get("message", "").split(".")[0] for each in with_messages] == [
        "", "Database/Table does not exist", "", "Wrong number of primary-key columns", "the row does not exist"]


def test_a_batch_has_a_bound(server):
    one = operation("shop/people/pk-read", {"filters": filters(id=1), "readColumns": columns("name")})
    assert len(read(server, "batch", {"operations": [one] * 128}).json()["result"]) == 128
    reply = read(server, "batch", {"operations": [one] * 129})
    assert reply.status_code == 400 and "Batch size exceeds maximum allowed size: 128" in reply.text


def test_a_body_beyond_its_bound_is_413_and_one_below_it_is_read(server, tmp_path):
    def status(blanks):
        (tmp_path / "body").write_text('{"filters":[{"column":"id","value":1}]%s}' % (" " * blanks))
        return curl("-o", tmp_path / "answer", "-w", "%{http_code}", "--data-binary", f"@{tmp_path}/body",
                    server.url("/0.1.0/shop/people/pk-read"))

    assert status(4_000_000) == "200"
    assert status(4_300_000) == "413"


@pytest.mark.parametrize("version", ["0.1.0", "0.2.0"])
def test_it_says_that_it_is_there(server, version):
    assert (httpx.get(server.url(f"/{version}/ping")).status_code, httpx.get(server.url(f"/{version}/ping")).text) == (200, "")
    assert (httpx.get(server.url(f"/{version}/health")).status_code, httpx.get(server.url(f"/{version}/health")).text) == (200, "1")
    for path in ("ping", "health"):
        refused = httpx.request("GET", server.url(f"/{version}/{path}"), content="x")
        assert refused.status_code == 400 and "a body is not allowed here" in refused.text


def test_a_schema_may_change_while_it_is_served(weftd, tmp_path):
    with sqlite3.connect(tmp_path / "changing.db") as database:
        database.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, a INT); INSERT INTO t VALUES(1, 2)")
        with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", tmp_path]) as server:
            asked = {"filters": filters(id=1)}
            assert read(server, "changing/t/pk-read", asked).json()["data"] == {"a": 2}
            database.executescript("ALTER TABLE t ADD COLUMN b VARCHAR(5) DEFAULT 'new'")
            assert read(server, "changing/t/pk-read", asked).json()["data"] == {"a": 2, "b": "new"}
            database.executescript("ALTER TABLE t DROP COLUMN a")
            assert read(server, "changing/t/pk-read", asked).json()["data"] == {"b": "new"}
            assert server.stop() == 0, server.log


def test_a_folder_that_is_not_there_is_told(weftd, tmp_path):
    done = subprocess.run([weftd, "--listen", "127.0.0.1:0", "--data", tmp_path / "none"], capture_output=True, text=True,
                          timeout=30)
    assert done.returncode == 2 and "none" in done.stderr and "folder" in done.stderr, done.stderr


def test_the_demo_is_served_and_its_lines_work(weftd, tmp_path):
    for is_first in (True, False):
        with open(tmp_path / "printed", "w+", encoding="utf-8") as output, Server(
                [weftd, "demo", "--listen", "127.0.0.1:0", "--threads", "1", "--data", tmp_path / "made"], output=output) as server:
            reply = read(server, "demo/users/pk-read", {"filters": filters(id=17), "readColumns": columns("name")})
            assert reply.json()["data"] == {"name": "Tim R."}
            key = {"sensor": base64.b64encode(b"A0").decode(), "at": "2026-01-01 00:00:00"}
            found = read(server, "demo/readings/pk-read", {"filters": filters(**key)}).json()["data"]
            assert found == {"celsius": 15.00, "flags": "AA==", "note": "calibrated"}
            output.seek(0)
            printed = output.read()
            assert ("made " in printed) == is_first
            lines = [line.strip() for line in printed.splitlines() if line.strip().startswith("curl ")]
            assert len(lines) == 2
            for line in lines:
                told = subprocess.run(["bash", "-c", line.replace("curl ", f"{shutil.which('curl')} -sS ", 1)],
                                      capture_output=True, text=True, check=True).stdout
                assert '"code":200' in told, told
            assert server.stop() == 0, server.log


def test_long_replies_are_compressed_for_who_takes_them_so(server):
    body = {"operations": [operation("shop/people/pk-read", {"filters": filters(id=1)})] * 100}
    plain = httpx.post(server.url("/0.1.0/batch"), json=body, headers={"accept-encoding": "identity"})
    coded = httpx.post(server.url("/0.1.0/batch"), json=body, headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in plain.headers and coded.headers["content-encoding"] == "gzip"
    assert coded.content == plain.content and coded.num_bytes_downloaded < len(plain.content) / 10
    short = httpx.post(server.url("/0.1.0/shop/people/pk-read"), json={"filters": filters(id=1)})
    assert "content-encoding" not in short.headers
