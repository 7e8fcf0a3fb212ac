"""weftd by its own document: Schemathesis asks for what that allows, and for what it does not, of a real database."""

import json
import re
import subprocess

import httpx
import pytest
from test_schemathesis import CONFIGURATION, TOOLS
from weft_process import Server

# Faults come on purpose: what a document allows is still no row of this database.
CHECKS = ",".join(["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
                   "response_headers_conformance", "negative_data_rejection", "unsupported_method"])
REAL_NAMES = """
[parameters]
"path.db" = "demo"
"path.table" = "users"
"""


@pytest.fixture(scope="module")
def schemathesis():
    if not (TOOLS / "schemathesis").exists():
        pytest.skip("tools/setup could not install schemathesis")
    return TOOLS / "schemathesis"


@pytest.fixture(scope="module")
def server(weftd, tmp_path_factory):
    data = tmp_path_factory.mktemp("demo") / "data"
    with Server([weftd, "demo", "--listen", "127.0.0.1:0", "--threads", "1", "--data", data]) as started:
        yield started
        assert started.stop() == 0, started.log


def test_the_document_is_openapi(schemathesis, server, tmp_path):
    document = tmp_path / "openapi.json"
    document.write_text(httpx.get(server.url("/openapi.json"), timeout=20).text)
    done = subprocess.run([TOOLS / "openapi-spec-validator", "--schema", "3.1", document], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("names", ["", REAL_NAMES], ids=["any-names", "real-names"])
def test_the_server_answers_as_the_document_says(schemathesis, server, tmp_path, names):
    configuration = tmp_path / "schemathesis.toml"
    configuration.write_text(names + CONFIGURATION)
    done = subprocess.run([schemathesis, "--config-file", configuration, "run", server.url("/openapi.json"), "--checks", CHECKS,
                           "--seed", "1", "--max-examples", "10", "--workers", "1"],
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    # A run that asked for nothing would pass as well.
    assert int(re.search(r"(\d+) generated", done.stdout)[1]) > 200, done.stdout
    if names:  # the examples found what they asked for
        store = httpx.get(server.url("/0.2.0/stat")).json()["store"]
        assert min(store["rowsRead"], store["rowsScanned"], store["rowsWritten"]) > 0, store


def test_the_document_says_where_a_key_is_asked_for_and_what_is_refused(schemathesis, weftd, run_weftd, server, tmp_path):
    plain = httpx.get(server.url("/openapi.json")).json()
    assert "securitySchemes" not in plain["components"], "it has no keys"
    made = run_weftd("keygen", "--databases", "*")
    (tmp_path / "keys.toml").write_text(made.stdout)
    key = {"X-API-KEY": re.search(r"[0-9a-f]{16}\.[0-9a-f]{64}", made.stderr)[0]}
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--keys", tmp_path / "keys.toml",
                 "--weftd.row_api.request_bytes=1000"]) as started:
        text = httpx.get(started.url("/openapi.json")).text
        told = started.url("/0.1.0/batch"), started.url("/0.2.0/batch")
        refused = [httpx.post(url, content=b"x" * 2000, headers=key) for url in told] + [httpx.post(url, json={"operations": [
            {"method": "POST", "relative-url": "a/b/pk-read", "body": {"filters": [{"column": "a", "value": 1}]}}]}) for url in told]
    (tmp_path / "openapi.json").write_text(text)
    done = subprocess.run([TOOLS / "openapi-spec-validator", "--schema", "3.1", tmp_path / "openapi.json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(text)
    assert document["components"]["securitySchemes"] == {"X-API-KEY": {"type": "apiKey", "in": "header", "name": "X-API-KEY"}}
    open_to_all = {"/", "/ping", "/healthz", "/readyz", "/metrics"} | {f"/{v}/{p}" for v in ("0.1.0", "0.2.0") for p in ("ping", "health")}
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert operation.get("security") == (None if path in open_to_all else [{"X-API-KEY": []}]), path
            assert path in open_to_all or {"401", "429"} <= operation["responses"].keys(), path
    assert [reply.status_code for reply in refused] == [413, 413, 401, 401]
    for reply, path in zip(refused, 2 * ["/0.1.0/batch", "/0.2.0/batch"]):
        forms = document["paths"][path]["post"]["responses"][str(reply.status_code)]["content"]
        assert reply.headers["content-type"] in forms, (path, forms)
