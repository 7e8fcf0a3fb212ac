"""bench/http2/compare: each server gives the reply that is counted, and its processor time is its own and its children's."""

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import ROOT


@pytest.fixture(scope="module")
def compare():
    loader = importlib.machinery.SourceFileLoader("http2_compare", str(ROOT / "bench/http2/compare"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("http2_compare", loader))
    sys.modules["http2_compare"] = module
    loader.exec_module(module)
    return module


@pytest.fixture
def scratch():
    """Where nginx's workers and h2o can read, whoever they are."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_each_server_answers_over_http2(compare, scratch):
    core = min(os.sched_getaffinity(0))
    for name, (subject, path) in compare.subjects(scratch, ROOT / "build/release").items():
        if subject.missing() or not Path(ROOT / "build/release/apps/weftd/weftd").exists():
            continue
        with compare.running(subject, core) as (pid, port):
            seen = subprocess.run(["curl", "--silent", "--http2-prior-knowledge", "--write-out", "%{http_code} %{http_version}",
                                   "--output", "/dev/null", f"http://127.0.0.1:{port}{path}"],
                                  capture_output=True, text=True, timeout=20)
            assert seen.stdout in ("200 2", "302 2"), name
            assert compare.cpu_seconds(pid) >= 0


def test_processor_time_is_that_of_children_too(compare):
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(flush=True)\\nwhile True: pass'])"
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    try:
        parent.stdout.readline()
        before = compare.cpu_seconds(parent.pid)
        while compare.cpu_seconds(parent.pid) - before < 0.1:
            pass
    finally:
        for each in reversed(compare.family(parent.pid)):
            os.kill(each, 9)
        parent.wait()
