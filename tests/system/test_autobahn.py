"""The Autobahn test suite asks our server, and has our client ask it: all cases are to be OK, or only informational.

WEFT_AUTOBAHN=whole (`make autobahn`) runs those as well that take minutes: large messages, and compression in every window.
"""

import json
import os
import signal
import socket
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from conftest import program
from weft_process import Server

SUITE = Path(__file__).resolve().parents[2] / ".deps/autobahn/wstest"
SLOW = ["9.*", "12.*", "13.*"]
IS_WHOLE = os.environ.get("WEFT_AUTOBAHN") == "whole"
SLOW_PARTS = ["9.*"] + [f"12.{i}.*" for i in range(1, 6)] + [f"13.{i}.*" for i in range(1, 8)]
PARTS = [("*", SLOW)] + ([(part, []) for part in SLOW_PARTS] if IS_WHOLE else [])
SLOW_SECONDS_MAX = 3600
ONE_SHARD = ["--http.server.listen=127.0.0.1:0", "--threads", "1"]


@pytest.fixture(autouse=True)
def patient(bounded):
    """Beyond what other tests have."""
    if IS_WHOLE:
        signal.alarm(SLOW_SECONDS_MAX)


@pytest.fixture(scope="module")
def suite():
    if not SUITE.exists():
        pytest.skip("tools/setup could not install the Autobahn test suite, which needs a Python 2.7")
    return SUITE


@pytest.fixture(scope="module")
def partner():
    return program("tests/system/socket_partner")


def specification(folder, cases, excluded, **more):
    path = folder / "spec.json"
    path.write_text(json.dumps({"outdir": str(folder / "report"), "cases": [cases], "exclude-cases": excluded,
                                "exclude-agent-cases": {}, **more}))
    return path


def assert_all_are_ok(folder, least):
    results = json.loads((folder / "report/index.json").read_text())["weft"]
    good = {"OK", "INFORMATIONAL"}
    bad = {case: (of["behavior"], of["behaviorClose"]) for case, of in results.items()
           if of["behavior"] not in good or of["behaviorClose"] not in good}
    assert not bad
    assert Counter(of["behavior"] for of in results.values())["OK"] >= least


@pytest.mark.parametrize("cases, excluded", PARTS)
@pytest.mark.parametrize("path", ["/single", "/context"] if IS_WHOLE else ["/single"])
def test_our_server(suite, partner, tmp_path, path, cases, excluded):
    with Server([partner, *ONE_SHARD], scheme="ws") as server:
        spec = specification(tmp_path, cases, excluded,
                             servers=[{"agent": "weft", "url": server.url(path)}])
        done = subprocess.run([suite, "-m", "fuzzingclient", "-s", spec], capture_output=True, text=True)
        assert server.stop() == 0, server.log
    assert done.returncode == 0, done.stdout + done.stderr
    assert_all_are_ok(tmp_path, 200 if excluded else 1)


@pytest.mark.parametrize("cases, excluded", PARTS)
@pytest.mark.parametrize("compression", ["single", "context"] if IS_WHOLE else ["single"])
def test_our_client(suite, partner, tmp_path, compression, cases, excluded):
    # It listens where it is told: on a port that was free a moment ago, or else on another one.
    for _ in range(5):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        spec = specification(tmp_path, cases, excluded, url=f"ws://127.0.0.1:{port}")
        fuzzer = subprocess.Popen([suite, "-m", "fuzzingserver", "-u", "0", "-s", spec],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            if not listens(fuzzer, port):
                continue
            done = subprocess.run([partner, *ONE_SHARD, f"--partner.suite=ws://127.0.0.1:{port}",
                                   f"--partner.compression={compression}"], capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
            break
        finally:
            fuzzer.kill()
            fuzzer.wait()
    assert_all_are_ok(tmp_path, 200 if excluded else 1)


def listens(process, port):
    """Whether `process` is the one who does, in the end."""
    wanted = f":{port:04X} 00000000:0000 0A"
    while process.poll() is None:
        if wanted in Path("/proc/net/tcp").read_text():
            return True
        time.sleep(0.05)
    return False
