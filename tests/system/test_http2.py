"""HTTP/2 as others speak it: h2spec's cases, curl, nghttp, h2load, and Node's client."""

import re
import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
from authority import tls_options
from weft_process import Server, curl

H2SPEC = Path(__file__).resolve().parents[2] / ".deps/h2spec/h2spec"
NODE_CLIENT = Path(__file__).resolve().parent / "http2_client.js"
# A server that speaks HTTP/1.1 as well answers what begins as neither with 400, and does not take it for HTTP/2.
ONLY_OF_HTTP2 = {"Sends invalid connection preface"}


@pytest.fixture(params=["clear", "tls"])
def server(request, playground, backend, site, tmp_path):
    """A playground, and whether it speaks TLS."""
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "large.bin").write_bytes(bytes(range(256)) * 4096)
    secured = request.param == "tls"
    options = tls_options(site) if secured else ()
    with Server([playground, "--threads", "1", "--backend", backend, f"--http.static_files.folder={folder}", *options],
                scheme="https" if secured else "http") as started:
        yield started
        assert started.stop() == 0, started.log


def is_secured(server):
    return server.url().startswith("https")


def test_h2spec(server):
    if not H2SPEC.exists():
        pytest.skip("tools/setup could not build h2spec")
    options = ["-t", "-k"] if is_secured(server) else []
    done = subprocess.run([H2SPEC, "-h", "127.0.0.1", "-p", str(server.port), "-P", "/stream/10", "--strict", *options],
                          capture_output=True, text=True, timeout=100)
    tests, passed, skipped, failed = map(int, re.search(
        r"(\d+) tests, (\d+) passed, (\d+) skipped, (\d+) failed", done.stdout).groups())
    assert tests == 146 and passed + skipped + failed == tests, done.stdout
    wrong = set(re.findall(r"× \d+: (.*)", done.stdout))
    assert wrong <= (set() if is_secured(server) else ONLY_OF_HTTP2), done.stdout


def ask(server, authority, path, *arguments):
    chosen = ["--http2", "--cacert", authority.file] if is_secured(server) else ["--http2-prior-knowledge"]
    return curl(*chosen, *arguments, server.url(path))


def test_curl(server, authority, tmp_path):
    assert ask(server, authority, "/stream/16", "--write-out", "%{http_version}").endswith("2")
    assert len(ask(server, authority, "/stream/3000000")) == 3_000_000
    upload = tmp_path / "upload"
    upload.write_bytes(b"0123456789abcdef" * 200_000)
    assert ask(server, authority, "/echo", "--data-binary", f"@{upload}") == upload.read_text()
    assert ask(server, authority, "/count", "--upload-file", upload) == "3200000"
    assert ask(server, authority, "/large.bin", "--range", "0-9", "--write-out", "%{http_code}", "--output",
               tmp_path / "part") == "206"
    if not is_secured(server):
        return  # with more than one at a time, Debian 12's curl loses count where nothing was agreed on before
    many = curl("--parallel", "--parallel-max", "50", "--http2", "--cacert", authority.file,
                *(server.url(f"/stream/{size}") for size in range(1000, 1100)))
    assert len(many) == sum(range(1000, 1100))


def test_nghttp(server):
    done = subprocess.run(["nghttp", "--no-verify-peer", "--stat", "--null-out", "--multiply=50",
                           server.url("/stream/10000")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"\s200\s+9K", done.stdout)) == 50, done.stdout


@pytest.mark.parametrize("streams", [1, 100])
def test_h2load(server, streams):
    done = subprocess.run(["h2load", "--requests=5000", "--clients=10", f"--max-concurrent-streams={streams}",
                           server.url("/stream/1000")], capture_output=True, text=True, timeout=100)
    assert "5000 succeeded, 0 failed, 0 errored, 0 timeout" in done.stdout, done.stdout + done.stderr


def test_node(server, authority):
    node = shutil.which("node") or pytest.fail("there is no Node.js: `make setup` installs it")
    done = subprocess.run([node, NODE_CLIENT, server.url(), authority.file], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^ok \d+$", done.stdout.splitlines()[-1]), done.stdout


def agreed_on(server, suite):
    """What a client of TLS 1.2 gets that knows only this suite and HTTP/2; None: no connection."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    client.maximum_version = ssl.TLSVersion.TLSv1_2
    client.set_ciphers(f"{suite}:@SECLEVEL=0")
    client.set_alpn_protocols(["h2"])
    try:
        with socket.create_connection(("127.0.0.1", server.port)) as plain, client.wrap_socket(plain) as secured:
            return secured.selected_alpn_protocol()
    except (ssl.SSLError, ConnectionResetError):
        return None


def test_no_suite_that_http2_prohibits(playground, site, tmp_path):
    """RFC 9113 section 9.2.2: of TLS 1.2, only ephemeral keys and authenticated encryption."""
    every = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    every.set_ciphers("ALL:@SECLEVEL=0")
    suites = [each["name"] for each in every.get_ciphers() if each["protocol"] != "TLSv1.3"]
    with Server([playground, "--threads", "1", f"--http.static_files.folder={tmp_path}", *tls_options(site)],
                scheme="https") as server:
        agreed = {suite: agreed_on(server, suite) for suite in suites}
    taken = {suite for suite, protocol in agreed.items() if protocol is not None}
    assert len(agreed) > 20 and taken, agreed
    assert all(re.fullmatch("ECDHE-ECDSA-.*(GCM-SHA...|CHACHA20-POLY1305)", suite) for suite in taken), taken
    assert {agreed[suite] for suite in taken} == {"h2"}


def test_a_drain_answers_what_is_under_way(playground, site, authority, tmp_path):
    with Server([playground, "--threads", "1", f"--http.static_files.folder={tmp_path}", *tls_options(site)],
                scheme="https") as server:
        slow = subprocess.Popen(["curl", "--silent", "--http2", "--cacert", authority.file, "--limit-rate", "2M",
                                 server.url("/stream/3000000")], stdout=subprocess.PIPE)
        assert slow.stdout.read(1)
        server.send_signal()
        assert len(slow.stdout.read()) == 2_999_999
        assert slow.wait() == 0
        server.wait_for_end()


