"""The example API by its own document: Schemathesis asks for what that allows, and for what it does not."""

import re
import subprocess
from pathlib import Path

import httpx
import pytest
from weft_process import Server

TOOLS = Path(__file__).resolve().parents[2] / ".deps/schemathesis/bin"
# A method that nobody knows is answered with 501, as RFC 9110 section 9.1 wants it, and not with 405 as
# Schemathesis does; QUERY, which it also asks for, is one. test_serving.py and the conformance cases look at those.
CONFIGURATION = """
[phases.coverage]
unexpected-methods = ["DELETE", "GET", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]
"""


@pytest.fixture(scope="module")
def schemathesis():
    if not (TOOLS / "schemathesis").exists():
        pytest.skip("tools/setup could not install schemathesis")
    return TOOLS / "schemathesis"


@pytest.fixture
def notes(example):
    with Server([example("api"), "--listen", "127.0.0.1:0"]) as server:
        yield server
        assert server.stop() == 0, server.log


def test_the_document_is_openapi(schemathesis, notes, tmp_path):
    document = tmp_path / "openapi.json"
    document.write_text(httpx.get(notes.url("/openapi.json"), timeout=20).text)
    done = subprocess.run([TOOLS / "openapi-spec-validator", "--schema", "3.1", document], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_server_answers_as_the_document_says(schemathesis, notes, tmp_path):
    configuration = tmp_path / "schemathesis.toml"
    configuration.write_text(CONFIGURATION)
    done = subprocess.run([schemathesis, "--config-file", configuration, "run", notes.url("/openapi.json"), "--checks", "all",
                           "--seed", "1", "--max-examples", "20", "--workers", "1"],
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    # Five routes, each asked in many ways: a run that asked for nothing would pass as well.
    assert int(re.search(r"(\d+) generated", done.stdout)[1]) > 100, done.stdout
