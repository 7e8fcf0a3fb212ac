"""SIGTERM while files go up and down, in the clear and over TLS: they are finished, or their clients told; none is reset."""

import random
import re
import select
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor

import pytest
from authority import tls_options
from weft_process import Server

CLIENTS = 10  # of each kind
LARGE = random.Random(11).randbytes(8_000_000)  # more than what lies between a server and its client holds
UPLOAD = LARGE[:1_000_000]
PIECE = 100_000
HEAD = re.compile(rb"HTTP/1\.1 (\d{3}) .*?\r\n\r\n", re.DOTALL)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "large").write_bytes(LARGE)
    return tmp_path


@pytest.fixture(params=["http", "https"])
def start(request, example, backend, folder, site):
    tls = tls_options(site) if request.param == "https" else ()

    def starting(*options):
        return Server([example("files"), "--listen", "127.0.0.1:0", "--backend", backend, "--folder", folder, *tls,
                       *options], scheme=request.param)
    return starting


@pytest.fixture
def connect(authority):
    trust = ssl.create_default_context(cafile=authority.file)

    def connecting(server):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        client.settimeout(30)
        client.connect(("127.0.0.1", server.port))
        if server.scheme == "http":
            return client
        return trust.wrap_socket(client, server_hostname="site.test", suppress_ragged_eofs=False)
    return connecting


def rest(client):
    """All that comes until the end, which is neither a reset nor, over TLS, a cut."""
    received = bytearray()
    while part := client.recv(65536):
        received += part
    client.close()
    return bytes(received)


class Upload:
    def __init__(self, client, name, chunked, size=len(UPLOAD)):
        self.client = client
        self.chunked = chunked
        self.sent = 0
        length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {size}"
        client.sendall(f"PUT /{name} HTTP/1.1\r\nHost: x\r\n{length}\r\n\r\n".encode())

    def send(self):
        piece = UPLOAD[self.sent:self.sent + PIECE]
        self.sent += len(piece)
        self.client.sendall(b"%x\r\n%b\r\n" % (len(piece), piece) if self.chunked else piece)

    def finish(self):
        while self.sent < len(UPLOAD):
            self.send()
        if self.chunked:
            self.client.sendall(b"0\r\n\r\n")
        return rest(self.client)


def begin_download(client):
    """What has come of it once it has begun."""
    client.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
    return client.recv(PIECE)


def ask_until_told(client):
    """Asks as soon as it is answered. What it is owed when the end comes: nothing, if all is well."""
    for answered in range(1_000_000):
        try:
            client.sendall(b"HEAD /large HTTP/1.1\r\nHost: x\r\n\r\n")
            reply = b""
            while not reply.endswith(b"\r\n\r\n"):
                part = client.recv(65536)
                if part == b"":
                    # Between two requests the end may cross the next one, which was then never begun.
                    return answered, reply
                reply += part
        except ssl.SSLEOFError as failure:
            return answered, repr(failure).encode()
        if b"Connection: close" in reply:
            return answered + 1, rest(client)
    return answered, b"no end"


def test_transfers_under_way_are_finished(start, connect, folder):
    with start("--threads", "2", "--stop-timeout", "60", "--http.server.limits.body_idle_timeout=60s") as server, \
            ThreadPoolExecutor(CLIENTS) as threads:
        uploads = [Upload(connect(server), f"up{number}", number % 2) for number in range(CLIENTS)]
        for upload in uploads:
            upload.send()
        downloads = [connect(server) for _ in range(CLIENTS)]
        begun = [begin_download(client) for client in downloads]
        busy = [threads.submit(ask_until_told, connect(server)) for _ in range(CLIENTS)]
        server.send_signal()
        server.wait_for_log("draining ")
        for upload in uploads:
            reply = upload.finish()
            assert reply.startswith(b"HTTP/1.1 201 ") and b"Connection: close\r\n" in reply, reply
        for client, first in zip(downloads, begun, strict=True):
            reply = first + rest(client)
            head = HEAD.match(reply)
            assert head[1] == b"200" and reply[head.end():] == LARGE
        for each in busy:
            answered, owed = each.result()
            assert answered > 0 and owed == b"", owed
        assert server.wait_for_end() == 0, server.log
        assert "cut" not in server.log
    for number in range(CLIENTS):
        assert (folder / f"up{number}").read_bytes() == UPLOAD


def go_on_until_answered(upload):
    """As clients do that look for an early answer while they send."""
    while not select.select([upload.client], [], [], 0.01)[0]:
        upload.client.sendall(bytes(1_000))
    return rest(upload.client)


def test_what_is_not_finished_at_the_deadline_is_told(start, connect, folder):
    with start("--stop-timeout", "1", "--threads", "1") as server, ThreadPoolExecutor(CLIENTS) as threads:
        stuck = Upload(connect(server), "stuck", chunked=False)
        stuck.send()
        download = connect(server)
        first = begin_download(download)
        endless = [Upload(connect(server), f"endless{number}", chunked=False, size=1 << 32) for number in range(3)]
        replies = [threads.submit(go_on_until_answered, upload) for upload in endless]
        server.send_signal()
        for reply in (rest(stuck.client), *(each.result() for each in replies)):
            assert reply.startswith(b"HTTP/1.1 503 ") and b"Connection: close\r\n" in reply, reply
        try:
            got = first + rest(download)
        except ssl.SSLEOFError:
            got = first  # TLS tells that this is no proper end
        assert len(got) - HEAD.match(got).end() < len(LARGE), "its length tells that this is not all"
        assert server.wait_for_end() == 0, server.log
        assert "5 connections are cut" in server.log
    assert sorted(path.name for path in folder.iterdir()) == [".unfinished", "large"]
    assert not list((folder / ".unfinished").iterdir())
