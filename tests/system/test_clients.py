"""Clients that are not ours: what curl, httpx, Node.js, wrk and ab do to a server works, in the clear and over TLS."""

import gzip
import http.client
import os
import random
import re
import shutil
import ssl
import subprocess
from pathlib import Path

import httpx
import pytest
from authority import tls_options
from weft_process import Server, curl, run

HERE = Path(__file__).resolve().parent
PAGE = b"all work and no play\n" * 1000
LARGE = random.Random(3).randbytes(3_000_000)
# Names that clients put into a target as they are, or in part encoded.
UNENCODED = ["a[b]", "a|b", "a{b}^`", 'a"<b>', "caf\u00e9"]
BLOCK = b"".join(b"%015d\n" % line for line in range(1024))


def stream(size):
    return (BLOCK * (size // len(BLOCK) + 1))[:size]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("served")
    (made / "large.bin").write_bytes(LARGE)
    (made / "text.txt").write_bytes(PAGE)
    (made / "text.txt.gz").write_bytes(gzip.compress(PAGE))
    for name in UNENCODED:
        (made / name).write_text(name)
    return made


@pytest.fixture(params=["http", "https"])
def server(request, playground, backend, folder, site):
    """On each backend, in the clear and over TLS. In the end nothing is wrong with it, and nobody is left."""
    tls = tls_options(site) if request.param == "https" else ()
    with Server([playground, "--backend", backend, "--threads", "1", f"--http.static_files.folder={folder}", *tls],
                scheme=request.param) as running:
        yield running
        assert running.stop() == 0, running.log
        assert not re.search("cut|threw|error|dropped", running.log), running.log


@pytest.fixture
def get(server, authority):
    """curl, of a path."""
    return lambda path, *arguments: curl("--cacert", authority.file, *arguments, server.url(path))


def test_curl_takes_what_is_compressed(get, tmp_path):
    head = get("/text.txt", "--compressed", "-o", tmp_path / "text", "-D", "-")
    assert "content-encoding: gzip" in head.lower()
    assert (tmp_path / "text").read_bytes() == PAGE


@pytest.mark.parametrize("name", UNENCODED)
def test_curl_and_httpx_ask_for_names_that_they_do_not_encode(server, get, authority, name):
    assert get(f"/{name}?{name}", "--globoff") == name
    assert httpx.get(server.url(f"/{name}?{name}"), verify=ssl.create_default_context(cafile=authority.file)).text == name


def test_a_raw_path_is_the_same_as_an_encoded_one(server, authority):
    """By a client that encodes nothing: Python's http.client, told so."""
    secured = {"context": ssl.create_default_context(cafile=authority.file)} if server.url().startswith("https") else {}
    kind = http.client.HTTPSConnection if secured else http.client.HTTPConnection
    asking = kind("127.0.0.1", server.port, timeout=20, **secured)
    for name in filter(str.isascii, UNENCODED):
        asking.putrequest("GET", "/" + name)
        asking.endheaders()
        answer = asking.getresponse()
        assert (answer.status, answer.read().decode()) == (200, name)
    for path, status in ((r"/large.bin\..\text.txt", 404), ("/text.txt#here", 400)):
        asking.putrequest("GET", path)
        asking.endheaders()
        answer = asking.getresponse()
        answer.read()
        assert answer.status == status, path


def test_node_asks_for_a_path_with_brackets(server, authority):
    code = """const [url, ca] = process.argv.slice(1), of = new URL(url)
        require(of.protocol.slice(0, -1)).get({host: of.hostname, port: of.port, path: '/a[b]?c[d]=e|{f}',
            ca: require('fs').readFileSync(ca)}, answer => answer.pipe(process.stdout))"""
    assert run(["node", "-e", code, server.url(), authority.file]).stdout == "a[b]"


def test_curl_speaks_http_1_0(get):
    assert get("/a[b]", "--globoff", "--http1.0", "--write-out", " %{http_version}") == "a[b] 1.1"


def test_curl_uploads_chunks_of_unknown_number(server, authority):
    with subprocess.Popen(["curl", "--silent", "--show-error", "--max-time", "20", "--cacert", authority.file, "-T", "-",
                           "-H", "Expect:", server.url("/count")], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as upload:
        for _ in range(20):
            upload.stdin.write(bytes(100_000))
        upload.stdin.close()
        assert upload.stdout.read() == b"2000000"


def test_curl_waits_to_be_asked_for_a_body(get, folder):
    said = get("/count", "-D", "-", "-H", "Expect: 100-continue", "--expect100-timeout", "20", "-T", folder / "large.bin")
    assert said.startswith(("HTTP/1.1 100 Continue", "HTTP/2 100")) and said.endswith(str(len(LARGE)))


def test_curl_resumes_a_download_that_was_broken(server, get, authority, tmp_path):
    part = tmp_path / "part"
    with subprocess.Popen(["curl", "--silent", "--cacert", authority.file, server.url("/large.bin")],
                          stdout=subprocess.PIPE) as broken:
        part.write_bytes(broken.stdout.read(1_000_000))
        broken.kill()
    assert part.stat().st_size == 1_000_000
    get("/large.bin", "-C", "-", "-o", part)
    assert part.read_bytes() == LARGE


def test_httpx(server, authority):
    with httpx.Client(base_url=server.url(""), verify=str(authority.file), timeout=20) as client:
        note = {"text": "\N{SPOOL OF THREAD}", "number": 7}
        for _ in range(20):
            assert client.post("/note", json=note).json() == note
        counted = client.get("/metrics").text
        assert re.search(r"^http_connections_total\S* 1$", counted, re.MULTILINE), counted

        assert client.put("/count", content=(bytes(10_000) for _ in range(500))).text == "5000000"
        with client.stream("GET", "/stream/5000001") as answer:
            assert b"".join(answer.iter_bytes()) == stream(5_000_001)
        with client.stream("GET", "/stream/1000000000000") as answer:
            next(answer.iter_raw())  # and no more of it

        form = client.post("/form", data={"note": "hello"}, files={"file": ("lines.txt", stream(70_000), "text/x-lines")})
        assert form.content == b"note|-|text/plain\nhello\nfile|lines.txt|text/x-lines\n" + stream(70_000) + b"\n"
        compressed = client.get("/text.txt")
        assert compressed.headers["content-encoding"] == "gzip" and compressed.content == PAGE
        part = client.get("/large.bin", headers={"Range": "bytes=-500"})
        assert part.status_code == 206 and part.content == LARGE[-500:]
        assert client.get("/none").status_code == 404


def test_node(server, authority):
    assert shutil.which("node"), "there is no Node.js: `make setup` installs it"
    done = subprocess.run(["node", HERE / "node_client.js", server.url(""), authority.file], capture_output=True,
                          text=True, timeout=60, env={**os.environ, "NODE_EXTRA_CA_CERTS": str(authority.file)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^ok \d\d$", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.parametrize("server", ["https"], indirect=True)
def test_wrk(server):
    done = run(["wrk", "-t1", "-c50", "-d1s", server.url("/stream/100")])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Socket errors" not in done.stdout and "Non-2xx" not in done.stdout, done.stdout
    assert int(re.search(r"(\d+) requests in", done.stdout)[1]) > 100


@pytest.mark.parametrize("keep", [["-k"], []], ids=["kept", "one-a-connection"])
def test_ab_speaks_http_1_0(server, keep):
    count = 2000 if keep or server.scheme == "http" else 200
    done = run(["ab", "-q", "-n", count, "-c", "50", *keep, server.url("/text.txt")])
    assert done.returncode == 0, done.stdout + done.stderr

    def figure(name):
        found = re.search(rf"^{name}:\s+(\d+)", done.stdout, re.MULTILINE)
        return int(found[1]) if found else 0
    assert figure("Complete requests") == count, done.stdout
    assert figure("Failed requests") == figure("Non-2xx responses") == figure("Write errors") == 0, done.stdout
    assert figure("HTML transferred") == count * len(PAGE), done.stdout
    assert figure("Keep-Alive requests") == (count if keep else 0), done.stdout
