"""The documents' whole programs run, under the sanitizers of the build: what people copy first.

Each is built as examples/tour is. A server is asked for a page and told to end; a simulation runs to its end.
"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from documents import ROOT, cpp_blocks

sys.path.insert(0, str(ROOT / "tests" / "system"))
from weft_process import Server  # noqa: E402

BUILD = Path(os.environ.get("WEFT_BUILD_DIR", ROOT / "build/release"))
PROGRAMS = {block.place: block for block in cpp_blocks() if " main(" in block.text}
# What a machine has not, or others have.
SITE = {"http::static_files": "--http.static_files.folder=."}


@pytest.fixture(scope="session")
def commands():
    """How examples/tour is compiled, and how it is linked."""
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    compiled = next(shlex.split(entry["command"]) for entry in entries if entry["file"].endswith("examples/tour/tour.cpp"))
    said = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "examples/tour"], capture_output=True, text=True, check=True)
    linked = shlex.split(said.stdout.splitlines()[-1].strip().removeprefix(": &&").removesuffix("&& :"))
    return compiled, linked


def replaced(words, after, new):
    return [new if before == after else word for before, word in zip(["", *words], words)]


@pytest.fixture
def build_program(commands, tmp_path):
    compiled, linked = commands

    def build(block):
        source, made, program = (tmp_path / name for name in ("program.cpp", "program.o", "program"))
        source.write_text(block.source())
        command = [word for word in replaced(replaced(compiled, "-o", made), "-c", source) if word != "-Werror"]
        subprocess.run([*command, "-O0", "-g1"], cwd=BUILD, check=True, timeout=300)
        objects = [made if str(word).endswith("tour.cpp.o") else word for word in replaced(linked, "-o", program)]
        first = next(i for i, word in enumerate(objects) if str(word).endswith(".a"))
        if "weft/testing/" in block.text:
            objects.insert(first, "weft/testing/libweft_testing.a")
        subprocess.run(objects, cwd=BUILD, check=True, timeout=300)
        return program
    return build


def make_certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-keyout", folder / "server.key", "-out", folder / "server.pem"],
                   check=True, capture_output=True)


@pytest.mark.parametrize("place", PROGRAMS)
def test_runs_to_its_end(place, build_program, tmp_path, monkeypatch):
    block = PROGRAMS[place]
    program = build_program(block)
    monkeypatch.chdir(tmp_path)
    if "application app" not in block.text:
        done = subprocess.run([program], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return
    scheme = "https" if ".tls" in block.text else "http"
    if scheme == "https":
        make_certificate(Path(tmp_path))
    others = [option for name, option in SITE.items() if name in block.text]
    with Server([program, "--http.server.listen=127.0.0.1:0", *others], scheme=scheme) as server:
        with httpx.Client(base_url=server.url(""), verify=False, timeout=20) as client:
            for path in ("/", "/healthz", "/openapi.json", "/greetings/ann", "/orders?limit=2", "/site/"):
                assert client.get(path).status_code < 600
            client.post("/ping", json={"sequence": 2})
        assert server.stop() == 0, server.log
    assert "Sanitizer" not in server.log and "runtime error" not in server.log
