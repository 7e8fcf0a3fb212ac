"""The HTTP server behind balancers and proxies: curl, which can speak as one, and connections that claim an address."""

import http.client
import re
import socket
import ssl

import pytest
from authority import tls_options
from weft_process import Server, curl, run

REQUIRED = "--http.server.proxy_protocol=required", "--http.server.trusted_proxies=127.0.0.0/8"
CLAIM = b"PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n"


def serving(playground, folder, *options, **how):
    return Server([playground, "--threads", "1", f"--http.static_files.folder={folder}", *options], **how)


def refusals(server, reason):
    """With a PROXY header, as the page is behind one, too."""
    page = curl("--haproxy-protocol", server.url("/metrics"))
    return int(re.search(rf'^http_proxy_connections_refused_total{{reason="{reason}"}} (\d+)', page, re.MULTILINE)[1])


def asked_as(server, claim, wrap=lambda plain: plain):
    """What /whoami says to a connection that begins with `claim`."""
    with server.connect() as plain:
        plain.sendall(claim)
        with wrap(plain) as stream:
            stream.sendall(b"GET /whoami HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n")
            answer = http.client.HTTPResponse(stream)
            answer.begin()
            return answer.read().decode()


def test_curl_sends_a_proxy_header(playground, backend, tmp_path):
    with serving(playground, tmp_path, "--backend", backend, *REQUIRED) as server:
        assert curl("--haproxy-protocol", server.url("/whoami")) == "127.0.0.1 http\n"
        assert asked_as(server, CLAIM) == "192.0.2.7 http\n"
        done = run(["curl", "--silent", "--max-time", "20", server.url("/whoami")])
        assert done.returncode == 52 and done.stdout == "", "an empty reply: closed without a word"
        assert refusals(server, "invalid") == 1
        assert "no PROXY header" in server.read_log()
        assert server.stop() == 0, server.log


def test_the_header_comes_before_the_handshake(playground, backend, authority, site, tmp_path):
    trusting = ssl.create_default_context(cafile=authority.file)
    with serving(playground, tmp_path, "--backend", backend, *REQUIRED, *tls_options(site), scheme="https") as server:
        def secured(plain):
            return trusting.wrap_socket(plain, server_hostname="site.test")
        assert asked_as(server, CLAIM, secured) == "192.0.2.7 https\n"
        assert curl("--haproxy-protocol", "--cacert", authority.file, "--resolve", f"site.test:{server.port}:127.0.0.1",
                    f"https://site.test:{server.port}/whoami") == "127.0.0.1 https\n"
        with server.connect() as bare, pytest.raises(OSError):
            secured(bare)
        assert server.stop() == 0, server.log


def test_only_trusted_proxies_may_speak_for_others(playground, tmp_path):
    with serving(playground, tmp_path, "--http.server.proxy_protocol=required",
                 "--http.server.trusted_proxies=192.0.2.0/24") as server:
        with server.connect() as claims:
            claims.sendall(CLAIM + b"GET /whoami HTTP/1.1\r\nHost: a\r\n\r\n")
            try:
                assert claims.recv(1) == b""
            except ConnectionResetError:
                pass
        server.wait_for_log("none of http.server.trusted_proxies")


@pytest.mark.parametrize("trusted, client", [("127.0.0.1", "192.0.2.7 https"), ("192.0.2.0/24", "127.0.0.1 http")])
def test_a_forwarded_field_is_believed_of_trusted_proxies(playground, tmp_path, trusted, client):
    with serving(playground, tmp_path, "--http.server.forwarding=x_forwarded_for",
                 f"--http.server.trusted_proxies={trusted}") as server:
        assert curl("-H", "X-Forwarded-For: 9.9.9.9, 192.0.2.7", "-H", "X-Forwarded-Proto: https",
                    "-H", "Forwarded: for=9.9.9.9", server.url("/whoami")) == f"{client}\n"


def test_a_proxy_on_a_unix_socket(playground, tmp_path):
    path = tmp_path / "site.sock"
    with serving(playground, tmp_path, f"--http.server.listen=unix:{path}", "--http.server.forwarding=forwarded",
                 "--http.server.trusted_proxies=unix:"):
        with socket.socket(socket.AF_UNIX) as stream:
            stream.connect(str(path))
            stream.sendall(b"GET /whoami HTTP/1.1\r\nHost: a\r\nForwarded: for=192.0.2.7;proto=https\r\n\r\n")
            answer = http.client.HTTPResponse(stream)
            answer.begin()
            assert answer.read() == b"192.0.2.7 https\n"


@pytest.mark.parametrize("options, complaint", [
    (["--http.server.proxy_protocol=required"], "names none"),
    (["--http.server.forwarding=forwarded"], "names none"),
    (["--http.server.trusted_proxies=10.0.0.1/8"], '"10.0.0.1/8"'),
])
def test_does_not_start_without_knowing_whom_to_trust(playground, tmp_path, options, complaint):
    done = run([playground, f"--http.static_files.folder={tmp_path}", *options])
    assert done.returncode != 0 and complaint in done.stderr, done.stderr
