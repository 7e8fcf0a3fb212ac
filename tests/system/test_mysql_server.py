"""Rows of a MySQL 8 or later, whose accounts log in by caching_sha2_password: in clear text by the server's RSA key, and over TLS;
and what MySQL does otherwise than MariaDB.

Opt-in, for Debian 12 has no MySQL: WEFT_MYSQLD names the command that runs its mysqld, with what it needs.
"""

import base64
import contextlib
import os
import shlex
import struct
import subprocess
import tempfile
from pathlib import Path

import httpx
import pytest
from mariadb_server import PASSWORD, USER, MariadbServer, as_user, end_with_parent, free_port
from row_client import given, named, operation
from weft_process import Server

MYSQLD = shlex.split(os.environ.get("WEFT_MYSQLD", ""))
pytestmark = pytest.mark.skipif(not MYSQLD, reason="WEFT_MYSQLD names no mysqld")
TABLE = """CREATE DATABASE shop; USE shop; CREATE USER weft IDENTIFIED WITH caching_sha2_password BY '%s'; GRANT ALL ON shop.* TO weft;
CREATE TABLE orders(id INT PRIMARY KEY, price DECIMAL(10,2), at DATETIME(3), state ENUM('new', 'paid'), more JSON, photo BLOB);
INSERT INTO orders VALUES(1, 12.5, '2024-02-29 12:00:00.5', 'paid', '{"a": 1}', x'00ff'), (2, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE western(name VARCHAR(9) CHARACTER SET latin1 PRIMARY KEY, more JSON, place POINT);
INSERT INTO western VALUES('é', NULL, NULL), ('b', NULL, NULL);
/*!90000 CREATE TABLE marked(id INT PRIMARY KEY, mark VECTOR(2), after_it INT) */;
/*!90000 INSERT INTO marked VALUES(1, STRING_TO_VECTOR('[1, 2]'), 5), (2, NULL, 6) */;
"""


class MysqlServer(MariadbServer):
    """Each start is one to which nobody has logged in yet."""

    def _make(self):
        (self.folder / "init.sql").write_text((TABLE % PASSWORD).replace("; ", ";\n"))
        subprocess.run([*MYSQLD, "--no-defaults", *as_user(), "--initialize-insecure", f"--datadir={self.folder}/data", "--secure-file-priv="],
                       check=True, capture_output=True)

    def start(self):
        self.port = free_port()
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*MYSQLD, "--no-defaults", *as_user(), f"--datadir={self.folder}/data", f"--socket={self.socket}", f"--port={self.port}",
                 f"--pid-file={self.folder}/pid", "--bind-address=127.0.0.1", "--mysqlx=OFF", "--secure-file-priv=",
                 f"--init-file={self.folder}/init.sql"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=end_with_parent)


@pytest.fixture
def mysql():
    with MysqlServer() as server:
        yield server


@pytest.fixture(scope="module")
def password():
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(PASSWORD + "\n")
        file.flush()
        yield Path(file.name)


@contextlib.contextmanager
def serving(weftd, mysql, password, tls=""):
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--mysql", f"mysql://{USER}@127.0.0.1:{mysql.port}/shop{tls}",
                 f"--store.mysql.engine.password_file={password}", "--store.mysql.engine.start_timeout=60s"], patience_s=60) as server:
        yield server
        assert server.stop() == 0, server.log


def post(server, path, *operations):
    return httpx.post(server.url(f"/0.1.0/{path}"), json={"operations": operations})


def read(server, *operations):
    reply = post(server, "batch", *operations)
    assert reply.status_code == 200, reply.text + server.read_log()
    return [(each["code"], each["body"]["data"]) for each in reply.json()["result"]]


@pytest.fixture(scope="module")
def served(weftd, password):
    with MysqlServer() as mysql, serving(weftd, mysql, password) as server:
        yield server


@pytest.mark.parametrize("tls", ["", "?tls=required"])
def test_rows_are_read_and_written(weftd, mysql, password, tls):
    with serving(weftd, mysql, password, tls) as server:
        asked = [operation("shop/orders/pk-read", {"filters": given(id=key), "readColumns": named("price", "at", "state", "more", "photo")})
                 for key in (1, 2, 9)]
        assert read(server, *asked) == [
            (200, {"price": 12.5, "at": "2024-02-29 12:00:00.500", "state": "paid", "more": '{"a": 1}', "photo": "AP8="}),
            (200, dict.fromkeys(("price", "at", "state", "more", "photo"))), (404, {})]
        written = post(server, "batchwrite", operation("shop/orders/pk-insert", {"filters": given(id=9), "writeColumns": given(price=1.25, state="new")}))
        assert written.status_code == 200, written.text
        assert read(server, asked[2])[0][1]["price"] == 1.25


def test_a_key_that_its_charset_has_not_is_that_of_no_row(served):
    asked = [operation("shop/western/pk-read", {"filters": given(name=name)}) for name in ("\u03ba", "\u00e9", "B")]
    row = {"more": None, "place": None}
    assert read(served, *asked) == [(404, {}), (200, row), (200, row)]
    assert read(served, asked[0]) == [(404, {})]
    strange = [operation("shop/western/pk-read", {"filters": given(name=name)}) for name in ("\U0001f600", "?", "\u03ba") * 30 + ("\u00e9",)]
    assert read(served, *strange) == [(404, {})] * 90 + [(200, row)]
    key = {"filters": given(name="\u03ba")}
    for path, change in (("batchdelete", operation("shop/western/pk-delete", key)),
                         ("batchwrite", operation("shop/western/pk-update", {**key, "writeColumns": given(more="{}")}))):
        told = post(served, path, change)
        assert told.status_code == 200 and told.json()["result"][0]["code"] == 404, told.text


@pytest.mark.parametrize("column, value, why", [("more", "{", "Invalid JSON text"), ("place", "AA==", "Cannot get geometry object")])
def test_a_value_that_its_column_does_not_take_is_the_clients_fault(served, column, value, why):
    told = post(served, "batchwrite", operation("shop/western/pk-update", {"filters": given(name="b"), "writeColumns": given(**{column: value})}))
    assert told.status_code == 400 and why in told.text, told.text


def test_vectors_are_bytes(served):
    vector = base64.b64encode(struct.pack("<2f", 1, 2)).decode()
    asked = [operation("shop/marked/pk-read", {"filters": given(id=key)}) for key in (1, 2)]
    if httpx.post(served.url("/0.1.0/shop/marked/pk-read"), json={"filters": given(id=1)}).status_code == 404:
        pytest.skip("MySQL 9 has vectors, and this is none")
    assert read(served, *asked) == [(200, {"mark": vector, "after_it": 5}), (200, {"mark": None, "after_it": 6})]
    queried = httpx.post(served.url("/0.1.0/sql"), json={"database": "shop", "query": "SELECT mark, after_it FROM marked WHERE id=1"})
    assert queried.json()["data"] == [{"mark": vector, "after_it": 5}], queried.text
    for mark, code in ((vector, 200), ("AA==", 400)):
        written = post(served, "batchwrite", operation("shop/marked/pk-update", {"filters": given(id=2), "writeColumns": given(mark=mark)}))
        assert written.status_code == code, written.text
    assert read(served, asked[1]) == [(200, {"mark": vector, "after_it": 6})]
