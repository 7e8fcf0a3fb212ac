"""What the HTTP server replies before a request reaches weftd's API: problem documents in both versions, as docs/weftd.md lists them."""

import contextlib
import json
import re
import sqlite3
from pathlib import Path

import pytest
from weft_process import Server

PROBLEM = "application/problem+json"
BODY_MAX = 4 << 20
# Of what a test does not bring about: a handler that fails without a reply.
UNTESTED = {500}


def post(path, *fields, body=""):
    head = "".join(f"{each}\r\n" for each in ("Host: localhost", "Connection: close", f"Content-Length: {len(body)}", *fields))
    return f"POST {path} HTTP/1.1\r\n{head}\r\n{body}".encode()


CHUNKED = b"POST %s/sql HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n" + b" " * 0x200000
# (status, what is sent, with the version's path)
REFUSED = [
    (400, lambda v: f"POST {v}/batch HTTP/1.1\r\nHost : localhost\r\n\r\n".encode()),
    (400, lambda v: f"POST {v}/batch HTTP/1.1\r\n\r\n".encode()),
    (400, lambda v: f"POST {v}/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n".encode()),
    (400, lambda v: post(f"{v}/b%zztch")), (400, lambda v: post(f"{v}/batch?%zz")),
    (404, lambda v: post(f"{v}/none")), (404, lambda v: post(f"{v}/shop/t/none")), (404, lambda v: f"GET {v} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()),
    (405, lambda v: f"GET {v}/batch HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()),
    (413, lambda v: post(f"{v}/batch", body=" " * (BODY_MAX + 1))), (413, lambda v: post(f"{v}/sql", body=" " * ((1 << 20) + 1))),
    (413, lambda v: CHUNKED % v.encode()),
    (414, lambda v: post(f"{v}/{'a' * 70_000}")),
    (417, lambda v: post(f"{v}/batch", "Expect: more")),
    (431, lambda v: post(f"{v}/batch", "X: " + "a" * 70_000)),
    (501, lambda v: f"BREW {v}/batch HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()),
    (505, lambda v: f"POST {v}/batch HTTP/3.1\r\nHost: localhost\r\n\r\n".encode()),
]
# Faults of the API, which have its own form.
OWN = [(400, "batch", "{"), (400, "shop/t/pk-read", "{}"), (404, "shop/none/scan", '{"limit":1}'), (404, "sql", '{"database":"none","query":"SELECT 1"}'),
       (413, "ronsql", '{"database":"shop","query":"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n"}')]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("data")
    with contextlib.closing(sqlite3.connect(made / "shop.db")) as database:
        database.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v INT)")
    return made


@pytest.fixture(scope="module")
def start(weftd, folder):
    return lambda *options: Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", folder, *options])


@pytest.fixture(scope="module")
def server(start):
    with start() as made:
        yield made


def reply_to(server, sent):
    """(status, type, body); the server may have closed before all was sent."""
    with server.connect() as raw:
        with contextlib.suppress(ConnectionError):
            raw.sendall(sent)
        return read_reply(raw)


def read_reply(raw):
    got = b""
    with contextlib.suppress(ConnectionError):
        while part := raw.recv(65536):
            got += part
    head, _, body = got.partition(b"\r\n\r\n")
    kind = re.search(rb"(?im)^content-type: ([^\r]*)", head)
    return int(head.split()[1]), kind and kind[1].decode(), body


def is_problem(told, status):
    document = json.loads(told[2])
    assert told[:2] == (status, PROBLEM) and document["status"] == status and document["title"] and "error" not in document, told
    return True


@pytest.mark.parametrize("version", ["/0.1.0", "/0.2.0"])
def test_what_no_handler_sees_is_refused_with_a_problem_document(server, version):
    for status, sent in REFUSED:
        assert is_problem(reply_to(server, sent(version)), status)


@pytest.mark.parametrize("version", ["/0.1.0", "/0.2.0"])
def test_what_comes_late_or_is_one_too_many_is_refused_so(start, version):
    with start("--http.server.limits.body_idle_timeout=100ms") as server, server.connect() as first:
        first.sendall(f"POST {version}/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{{".encode())
        assert is_problem(read_reply(first), 408)
    with start("--http.server.limits.connections=1") as server, server.connect() as first:
        first.sendall(post("/ping", body='{"sequence":1}').replace(b"Connection: close\r\n", b""))
        assert first.recv(4096).startswith(b"HTTP/1.1 200 ")
        assert is_problem(reply_to(server, post(f"{version}/batch")), 503)


def test_faults_of_the_api_have_its_form(server):
    for status, path, body in OWN:
        told = reply_to(server, post(f"/0.2.0/{path}", body=body))
        assert told[:2] == (status, "application/json") and json.loads(told[2])["error"]["code"] == status, told
        assert reply_to(server, post(f"/0.1.0/{path}", body=body))[:2] == (status, "text/plain; charset=utf-8")


def test_the_page_lists_them():
    text = (Path(__file__).parents[2] / "docs/weftd.md").read_text()
    part = text.split("### What the HTTP server refuses itself\n")[1].split("\n#")[0]
    assert {int(status) for status in re.findall(r"^\| (\d+) \|", part, re.MULTILINE)} == {status for status, _ in REFUSED} | {408, 503} | UNTESTED
