"""weftd's routes through curl and httpx, on each backend, with one shard and with several."""

import json
import subprocess

import httpx
import pytest
from weft_process import Server, curl

PROBLEM = "application/problem+json"


@pytest.fixture(params=["1", "3"], ids=["one-shard", "three-shards"])
def server(serve, backend, request):
    with serve("--backend", backend, "--threads", request.param) as running:
        yield running
        assert running.stop() == 0, running.log


def test_curl(server):
    assert curl(server.url("/healthz")) == "ok\n"
    assert curl("-d", '{"sequence": 2}', server.url("/ping")) == '{"sequence":2}'
    page = curl(server.url("/"))
    assert page.startswith("weftd ") and f"http://{server.address}/0.2.0/schema" in page
    assert curl("-I", server.url("/healthz")).startswith("HTTP/1.1 200 OK\n")
    assert curl("--http1.0", server.url("/healthz")) == "ok\n"


def test_what_the_root_page_says_to_try_works(server):
    commands = [line.strip() for line in curl(server.url("/")).splitlines() if line.startswith("  curl ")]
    assert len(commands) == 2
    schema, document = (subprocess.run(["bash", "-c", f"{command} -sS --max-time 20"], capture_output=True,
                                   text=True, check=True).stdout for command in commands)
    assert json.loads(schema) == {"databases": []} and "/0.2.0/sql" in json.loads(document)["paths"]


def test_httpx(server):
    with httpx.Client(base_url=server.url(""), timeout=20) as client:
        for sequence in (0, -1, 2**63 - 1, -2**63):
            answer = client.post("/ping", json={"sequence": sequence})
            assert answer.status_code == 200
            assert answer.headers["content-type"] == "application/json"
            assert answer.json() == {"sequence": sequence}
        assert client.get("/healthz").text == "ok\n"
        chunked = client.post("/ping", content=iter([b'{"sequ', b'ence": 3}']))
        assert chunked.json() == {"sequence": 3}


def test_many_connections_at_once(server):
    with httpx.Client(base_url=server.url(""), timeout=20,
                      limits=httpx.Limits(max_keepalive_connections=0)) as client:
        assert {client.get("/healthz").status_code for _ in range(50)} == {200}


@pytest.mark.parametrize("body, offset, path", [
    ('{"sequence": "two"}', 13, "/sequence"),
    ('{"sequence": 2', 14, "/sequence"),
    ('{"sequence": 2, "more": 1}', 16, "/more"),
    ("{}", None, "/sequence"),
    ('{"sequence": 9223372036854775808}', 13, "/sequence"),
])
def test_bad_json_is_400_with_offset_and_path(server, body, offset, path):
    answer = httpx.post(server.url("/ping"), content=body, timeout=20)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == PROBLEM
    problem = answer.json()
    assert problem["status"] == 400 and problem["title"] == "Bad Request" and problem["detail"]
    assert problem["path"] == path
    assert isinstance(problem["offset"], int)
    if offset is not None:
        assert problem["offset"] == offset


def test_other_refusals_are_problem_documents(server):
    missing = httpx.get(server.url("/nothing"), timeout=20)
    assert (missing.status_code, missing.headers["content-type"]) == (404, PROBLEM)
    wrong_method = httpx.get(server.url("/ping"), timeout=20)
    assert (wrong_method.status_code, wrong_method.headers["content-type"]) == (405, PROBLEM)
    assert "POST" in wrong_method.headers["allow"]
    with server.connect() as raw:
        raw.sendall(b"GET / HTTP/1.1\r\nHost : x\r\n\r\n")  # RFC 9112 section 5.1
        assert raw.recv(4096).startswith(b"HTTP/1.1 400 ")


def test_pipelined_requests_are_answered_in_order(server):
    bodies = [json.dumps({"sequence": number}, separators=(",", ":")) for number in range(64)]
    with server.connect() as raw:
        raw.sendall("".join(f"POST /ping HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n{body}"
                            for body in bodies).encode())
        answer = b""
        while answer.count(b"HTTP/1.1 200 OK") < len(bodies) or not answer.endswith(b"}"):
            part = raw.recv(65536)
            assert part, answer
            answer += part
    assert [line for line in answer.decode().replace("HTTP/1.1", "\r\n").split("\r\n")
            if line.startswith("{")] == bodies


def test_ipv6(serve, backend):
    with serve("--backend", backend, listen="[::1]:0") as server:
        assert curl("-g", server.url("/healthz")) == "ok\n"


@pytest.mark.parametrize("threads", ["1", "2"])
def test_unix_socket(weftd, backend, threads, tmp_path):
    path = tmp_path / "weftd.sock"
    command = [weftd, "--listen", f"unix:{path}", "--backend", backend, "--threads", threads]
    for _ in range(2):  # the second finds the first one's socket file
        with Server(command) as server:
            for _ in range(4):
                assert curl("--unix-socket", path, "-d", '{"sequence": 2}', "http://weftd/ping") == '{"sequence":2}'
            assert server.stop() == 0
