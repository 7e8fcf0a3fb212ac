"""weftd by its own document: Schemathesis asks for what that allows, and for what it does not, of a real database."""

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
