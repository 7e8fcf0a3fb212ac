"""Forms with files, by a client that is not ours: curl -F."""

import os
import re
import signal
import subprocess
import time

import pytest
from weft_process import Server, curl

LARGE_BYTES = 50_000_000
MEMORY_MOST_KIB = 4096


@pytest.fixture
def uploads(tmp_path):
    made = tmp_path / "uploads"
    made.mkdir()
    return made


@pytest.fixture
def server(playground, backend, tmp_path, uploads):
    with Server([playground, "--backend", backend, "--threads", "1", f"--http.static_files.folder={tmp_path}",
                 f"--playground.uploads={uploads}"]) as running:
        yield running


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "large.bin"
    path.write_bytes(os.urandom(1_000_000) * (LARGE_BYTES // 1_000_000))
    return path


def test_curl_stores_a_large_file_in_little_memory(server, uploads, large, tmp_path):
    small = tmp_path / "small.txt"
    small.write_text("small")
    curl("-F", f"file=@{small}", server.url("/upload"))  # so that all is warm
    before = server.memory_kib("VmHWM")
    told = curl("-F", "note=hello", "-F", f"file=@{large};filename=../../up.bin", "-F", f"file=@{small}", server.url("/upload"))
    note, first, second = told.splitlines()
    assert note == "note=hello"
    name, path, size = first.split("|")
    assert name == "up.bin" and path.startswith(str(uploads)) and int(size) == LARGE_BYTES
    assert subprocess.run(["cmp", path, large]).returncode == 0
    assert second.startswith("small.txt|") and second.endswith("|5")
    grown = server.memory_kib("VmHWM") - before
    print(f"{grown} KiB more for {LARGE_BYTES} bytes")
    assert grown <= MEMORY_MOST_KIB
    assert server.stop() == 0, server.log


def test_a_file_that_is_too_large_is_refused(server, uploads, tmp_path):
    larger = tmp_path / "larger"
    with open(larger, "wb") as file:
        file.truncate(100_000_001)
    said = curl("-D", "-", "-F", f"file=@{larger}", server.url("/upload"))
    assert re.search("^HTTP/1.1 413", said, re.MULTILINE) and "longer than this path takes" in said, said
    assert not list(uploads.iterdir())


def test_nothing_is_left_of_an_upload_that_is_broken_off(server, uploads, large):
    upload = subprocess.Popen(["curl", "--silent", "--limit-rate", "5M", "-F", f"file=@{large}", server.url("/upload")],
                              stdout=subprocess.DEVNULL)
    give_up = time.monotonic() + 20
    while not list(uploads.iterdir()):
        assert time.monotonic() < give_up
        time.sleep(0.05)
    assert all(each.name.startswith(".") for each in uploads.iterdir()), "half a file is hidden"
    upload.send_signal(signal.SIGKILL)
    upload.wait()
    while list(uploads.iterdir()):
        assert time.monotonic() < give_up
        time.sleep(0.05)
    assert server.stop() == 0, server.log
