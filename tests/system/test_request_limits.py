"""What a stranger, and who has a key, can have weftd keep or take for granted: bodies, names, clients, depth."""

import json
import os
import re
import signal
import socket
import sqlite3

import httpx
import pytest
from weft_process import Server

BODY_BYTES = 4 << 20
MEMORY_MAX_MIB = 96  # what one such body may add at its highest: it comes, is copied, and is read


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("data")
    with sqlite3.connect(made / "shop.db") as database:
        database.executescript("CREATE TABLE t(id INTEGER PRIMARY KEY, v INT); INSERT INTO t VALUES(1, 10);")
    return made


@pytest.fixture
def key(run_weftd, tmp_path):
    done = run_weftd("keygen", "--databases", "*", "--write")
    (tmp_path / "keys.toml").write_text(done.stdout)
    return re.search(r"[0-9a-f]{16}\.[0-9a-f]{64}", done.stderr)[0]


@pytest.fixture
def server(weftd, folder, key, tmp_path):
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", folder,
                 "--keys", tmp_path / "keys.toml"]) as made:
        yield made


def peak_mib(server):
    return server.memory_kib("VmHWM") / 1024


def filled(before, element, after):
    """A body of 4 MiB at most."""
    count = (BODY_BYTES - len(before) - len(after)) // (len(element) + 1)
    return f"{before}{','.join([element] * count)}{after}"


def tree(depth):
    """A filter with two arguments everywhere."""
    return "{}" if depth == 0 else '{"args":[' + tree(depth - 1) + "," + tree(depth - 1) + "]}"


DEAR = {
    "operations": ("/0.1.0/batch", filled('{"operations":[', "{}", "]}"), "Batch size exceeds maximum allowed size: 128"),
    "writes": ("/0.1.0/batchwrite", filled('{"operations":[', "{}", "]}"), "Batch size exceeds maximum allowed size: 128"),
    "filters": ("/0.1.0/shop/t/pk-read", filled('{"filters":[', "{}", "]}"), "/filters/4096: the array has too many elements"),
    "columns": ("/0.1.0/shop/t/pk-read", filled('{"readColumns":[', "{}", "]}"), "/readColumns/4096: "),
    "ranges": ("/0.1.0/shop/t/scan", filled('{"limit":1,"index":{"ranges":[', "{}", "]}}"), "[ScanIndex] Too many ranges (max 64)"),
    "bounds": ("/0.1.0/shop/t/scan", filled('{"limit":1,"index":{"ranges":[{"lower":{"values":[', "1", "]}}]}}"), "at most 64"),
    "key columns": ("/0.1.0/shop/t/scan", filled('{"limit":1,"index":{"key_columns":[', '""', "]}}"), "at most 64"),
    "args": ("/0.1.0/shop/t/scan", filled('{"limit":1,"filters":{"op":"AND","args":[', "{}", "]}}"), "must contain 2 children"),
    "tree": ("/0.1.0/shop/t/scan", '{"limit":1,"filters":' + tree(17) + "}", "more memory than its size allows"),
    "columns of each": ("/0.1.0/batch", filled('{"operations":[{"body":{"readColumns":[', "{}", "]}}]}"), "/operations/0/body/readColumns/4096: "),
    "depth": ("/0.1.0/shop/t/scan", '{"limit":1,"filters":' + '{"args":[' * 400_000, "ends too early|nested too deep"),
}


@pytest.mark.parametrize("which", DEAR)
def test_what_is_dear_to_keep_is_refused_while_it_is_read(server, key, which):
    path, body, words = DEAR[which]
    assert len(body) <= BODY_BYTES
    before = peak_mib(server)
    reply = httpx.post(server.url(path), content=body, headers={"X-API-KEY": key})
    assert reply.status_code == 400
    assert any(each in reply.text for each in words.split("|")), reply.text
    assert peak_mib(server) - before < MEMORY_MAX_MIB
    assert server.stop() == 0


def test_parameters_in_sql_are_bounded(server, key):
    for parameters in ("[" + ",".join(["1"] * 300_000) + "]", "{" + ",".join(f'"{i}":1' for i in range(90_000)) + "}"):
        body = '{"database":"shop","query":"SELECT 1","parameters":' + parameters + "}"
        before = peak_mib(server)
        reply = httpx.post(server.url("/0.1.0/sql"), content=body, headers={"X-API-KEY": key})
        assert reply.status_code == 400, reply.text
        assert peak_mib(server) - before < MEMORY_MAX_MIB


def ask_raw(server, text):
    """What comes until the connection ends or nothing more does."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        client.sendall(text)
        reply = b""
        while b"\r\n\r\n" not in reply and (part := client.recv(65536)):
            reply += part
        return reply


@pytest.mark.parametrize("framing", ["Content-Length: 1000000", "Transfer-Encoding: chunked", "Content-Length: 7",
                                     "Content-Length: 100000\r\nExpect: 100-continue"])
def test_without_a_key_no_body_is_read(server, key, framing):
    for path in ("/0.1.0/batch", "/0.2.0/batchwrite", "/0.1.0/shop/t/pk-read", "/0.1.0/shop/t/scan", "/0.1.0/sql", "/0.1.0/ronsql"):
        for sent in ("", "X-API-KEY: x\r\n", f"X-API-KEY: {key[:-1]}g\r\n"):
            reply = ask_raw(server, f"POST {path} HTTP/1.1\r\nHost: a\r\n{sent}{framing}\r\n\r\n".encode())
            assert reply.startswith(b"HTTP/1.1 401 "), (path, sent, reply)
    metrics = httpx.get(server.url("/metrics")).text
    received = sum(int(n) for n in re.findall(r"^http_received_bytes_total\S* (\d+)", metrics, re.MULTILINE))
    assert received < 20_000, "heads alone"


def test_without_a_key_nothing_is_said_of_a_body(server, key):
    for body in ("{", '{"filters":[]}', '{"filters":[],"filters":[]}'):
        assert httpx.post(server.url("/0.1.0/shop/t/pk-read"), content=body).status_code == 401
        assert httpx.post(server.url("/0.1.0/shop/t/pk-read"), content=body, headers={"X-API-KEY": key}).status_code == 400


def test_two_keys_are_none(server, key):
    row = json.dumps({"filters": [{"column": "id", "value": 1}]})
    for keys in ([key, key], [key, "x"], ["", key]):
        reply = httpx.post(server.url("/0.1.0/shop/t/pk-read"), content=row, headers=[("X-API-KEY", each) for each in keys])
        assert reply.status_code == 401, keys
    assert httpx.post(server.url("/0.1.0/shop/t/pk-read"), content=row, headers={"X-API-KEY": key}).status_code == 200


@pytest.mark.parametrize("path, body, where", [
    ("/0.1.0/shop/t/pk-read", '{"filters":[{"column":"id","value":1,"value":2}]}', "/filters/0/value: this name is given twice (byte 37)"),
    ("/0.1.0/shop/t/pk-read", '{"filters":[],"filters":[{"column":"id","value":1}]}', "/filters: this name is given twice (byte 14)"),
    ("/0.1.0/batch", '{"operations":[],"operations":[]}', "/operations: this name is given twice"),
    ("/0.1.0/sql", '{"database":"shop","query":"SELECT 1","database":"hr"}', "/database: this name is given twice"),
    ("/0.1.0/sql", '{"database":"shop","query":"SELECT :a","parameters":{"a":1,"\\u0061":2}}', "this name is given twice")])
def test_a_name_is_given_once(server, key, path, body, where):
    reply = httpx.post(server.url(path), content=body, headers={"X-API-KEY": key})
    assert reply.status_code == 400 and where in reply.text, reply.text


@pytest.mark.parametrize("forwarding, fields", [
    ("x_forwarded_for", {"X-Forwarded-For": "unknown"}), ("forwarded", {"Forwarded": "for=unknown"}),
    ("forwarded", {"Forwarded": "for=_hidden"}), ("x_forwarded_for", {"X-Forwarded-For": "192.0.2.1, unknown"})])
def test_a_client_that_nobody_knows_is_no_program_of_this_machine(weftd, folder, forwarding, fields):
    row = json.dumps({"filters": [{"column": "id", "value": 1}]})
    options = ["--http.server.trusted_proxies=127.0.0.1", f"--http.server.forwarding={forwarding}"]
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", folder, *options]) as server:
        for host, status in (("evil.example", 401), ("localhost", 200)):
            reply = httpx.post(server.url("/0.1.0/shop/t/pk-read"), content=row, headers={"Host": host, **fields})
            assert reply.status_code == status, reply.text


def test_a_program_at_a_unix_socket_is_one_unless_it_asks_for_another(weftd, folder, tmp_path):
    path = tmp_path / "weftd.sock"
    row = json.dumps({"filters": [{"column": "id", "value": 1}]})
    options = ["--http.server.trusted_proxies=unix:", "--http.server.forwarding=x_forwarded_for"]
    with Server([weftd, "--listen", f"unix:{path}", "--threads", "1", "--data", folder, *options]):
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path))) as client:
            for fields, status in (({}, 200), ({"X-Forwarded-For": "192.0.2.1"}, 401), ({"X-Forwarded-For": "unknown"}, 401),
                                   ({"X-Forwarded-For": ""}, 401)):
                reply = client.post("http://weftd.example/0.1.0/shop/t/pk-read", content=row, headers=fields)
                assert reply.status_code == status, fields


@pytest.mark.parametrize("said, status", [(b"PROXY UNKNOWN\r\n", 401), (b"PROXY TCP4 192.0.2.1 127.0.0.1 1 2\r\n", 401),
                                          (b"\r\n\r\n\0\r\nQUIT\n\x21\0\0\0", 401), (b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", 200)],
                         ids=["unknown", "known", "unspecified", "itself"])
def test_whom_a_balancer_at_a_unix_socket_hides_is_no_program_of_this_machine(weftd, folder, tmp_path, said, status):
    path = tmp_path / "weftd.sock"
    row = json.dumps({"filters": [{"column": "id", "value": 1}]})
    options = ["--http.server.trusted_proxies=unix:", "--http.server.proxy_protocol=required"]
    with Server([weftd, "--listen", f"unix:{path}", "--threads", "1", "--data", folder, *options]), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect(str(path))
        client.sendall(said + f"POST /0.1.0/shop/t/pk-read HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n"
                              f"Content-Length: {len(row)}\r\n\r\n{row}".encode())
        assert client.recv(12) == f"HTTP/1.1 {status}".encode()


@pytest.mark.parametrize("head", ["POST {} HTTP/1.0\r\n", "POST {} HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n",
                                  "POST {} HTTP/1.1\r\nHost:\r\n",
                                  "POST {} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.example\r\n",
                                  "POST {} HTTP/1.1\r\nHost: [evil.example\r\n"])
def test_what_a_request_does_not_say_is_not_taken_for_good(weftd, folder, head):
    row = json.dumps({"filters": [{"column": "id", "value": 1}]})
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", folder]) as server:
        text = head.format("/0.1.0/shop/t/pk-read") + f"Content-Length: {len(row)}\r\n\r\n{row}"
        assert re.match(rb"HTTP/1.1 40[01] ", reply := ask_raw(server, text.encode())), reply


DEEP = ".".join(["a"] * 18_125)


TOO_DEEP = {"name": f"{DEEP} = 1\n", "header": f"[{DEEP}]\nb = 1\n", "list of tables": f"[[{DEEP}]]\n",
            "lists": "a = " + 100_000 * "[", "tables": "a = " + 100_000 * "{ b = "}


@pytest.mark.parametrize("which", TOO_DEEP)
def test_a_file_that_nests_too_deep_is_refused_with_its_line(run_weftd, folder, tmp_path, which):
    file = tmp_path / "deep.toml"
    file.write_text("# the second line is too deep\n" + TOO_DEEP[which])
    for words in (("--config", file), ("--data", folder, "--keys", file)):
        done = run_weftd("check-config", *words)
        assert done.returncode == 2 and re.search(r"deep.toml:2:\d+: names and values nest more than 32 deep", done.stderr), done.stderr
    done = run_weftd("check-config", "--set", f"http.server.{DEEP}=1")
    assert done.returncode == 2 and "its name has more than 32 parts" in done.stderr


def test_a_running_server_survives_files_that_nest_too_deep(weftd, folder, key, tmp_path):
    config = tmp_path / "weftd.toml"
    config.write_text("[log]\nlevel = \"info\"\n")
    row = json.dumps({"filters": [{"column": "id", "value": 1}]})
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--config", config, "--data", folder, "--keys", tmp_path / "keys.toml"]) as server:
        for file in (tmp_path / "keys.toml", config):
            before = file.read_text()
            file.write_text(f"{DEEP} = 1\n")
            os.kill(server.pid, signal.SIGHUP)
            server.wait_for_log(f"{file}:1:64: names and values nest more than 32 deep")
            file.write_text(before)
            reply = httpx.post(server.url("/0.1.0/shop/t/pk-read"), content=row, headers={"X-API-KEY": key})
            assert reply.status_code == 200
        assert server.stop() == 0
