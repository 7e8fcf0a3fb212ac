"""Coded bodies both ways, with clients that are not ours: curl and httpx."""

import gzip
import json
import re
import zlib

import httpx
import pytest
from weft_process import Server, curl

TEXT = b"".join(b"%d is the square of %d. " % (i * i, i) for i in range(20_000))
LINES = (b"".join(b"%015d\n" % line for line in range(1024)) * 62)[:1_000_000]


@pytest.fixture
def server(playground, backend, tmp_path):
    (tmp_path / "page.html").write_bytes(TEXT)
    with Server([playground, "--backend", backend, "--threads", "1", f"--http.static_files.folder={tmp_path}"]) as running:
        yield running
        assert running.stop() == 0, running.log
        assert not re.search("cut|threw|error|dropped", running.log), running.log


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
@pytest.mark.parametrize("path", ["/lines/1000000", "/page.html"])
def test_curl_takes_replies_in_each_coding(server, tmp_path, coding, path):
    got, expected = tmp_path / "got", TEXT if path == "/page.html" else LINES
    head = curl("--compressed", "-H", f"Accept-Encoding: {coding}", "-o", got, "-D", "-", server.url(path)).lower()
    assert f"content-encoding: {coding}" in head and "vary: accept-encoding" in head
    assert "content-length" not in head and "accept-ranges" not in head
    assert got.read_bytes() == expected
    plain = curl("-o", got, "-D", "-", server.url(path)).lower()
    assert "content-encoding" not in plain and "vary: accept-encoding" in plain
    assert got.read_bytes() == expected


def test_a_coded_file_is_asked_for_again(server):
    head = curl("--compressed", "-o", "/dev/null", "-D", "-", server.url("/page.html"))
    tag = re.search(r'^ETag: (W/"\S+")$', head, re.MULTILINE)[1]
    again = curl("--compressed", "-H", f"If-None-Match: {tag}", "-D", "-", server.url("/page.html"))
    assert again.startswith("HTTP/1.1 304") and f"ETag: {tag}" in again
    part = curl("--compressed", "-r", "0-99", "-D", "-", server.url("/page.html"))
    assert part.startswith("HTTP/1.1 206") and part.endswith(TEXT[:100].decode()), "parts are of the plain file"


def test_curl_sends_a_coded_body(server, tmp_path):
    coded = tmp_path / "text.gz"
    coded.write_bytes(gzip.compress(TEXT))
    send = "-H", "Content-Encoding: gzip", "--data-binary", f"@{coded}"
    assert curl(*send, server.url("/text")) == TEXT.decode()
    assert curl(*send, "-X", "PUT", server.url("/count")) == str(len(TEXT))
    assert curl(*send, "-H", "Transfer-Encoding: chunked", "-X", "PUT", server.url("/count")) == str(len(TEXT))
    refused = curl("-D", "-", "-H", "Content-Encoding: compress", "--data", "x", server.url("/text"))
    assert refused.startswith("HTTP/1.1 415") and "Accept-Encoding: br, zstd, gzip, deflate" in refused


def test_httpx_speaks_codings_both_ways(server):
    with httpx.Client(base_url=server.url(""), timeout=20) as client:
        lines = client.get("/lines/1000000")
        assert lines.headers["content-encoding"] in ("gzip", "br", "zstd") and lines.content == LINES
        note = {"text": "hello " * 1000, "number": 7}
        for name, coded in (("gzip", gzip.compress(json.dumps(note).encode())), ("deflate", zlib.compress(json.dumps(note).encode()))):
            said = client.post("/note", content=coded, headers={"Content-Encoding": name, "Content-Type": "application/json"})
            assert said.json() == note and said.headers["content-encoding"]
        assert client.post("/note", content=b"not gzip", headers={"Content-Encoding": "gzip"}).status_code == 400


def test_a_bomb_is_refused(server):
    """The playground takes bodies of a terabyte: the ratio is what refuses, a whole body and one that comes in pieces."""
    bomb = gzip.compress(bytes(200_000_000))
    with httpx.Client(base_url=server.url(""), timeout=60) as client:
        for method, path in (("POST", "/text"), ("PUT", "/count")):
            said = client.request(method, path, content=bomb, headers={"Content-Encoding": "gzip"})
            assert said.status_code == 413, path
