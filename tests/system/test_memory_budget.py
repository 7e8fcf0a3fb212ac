"""Clients that make weftd hold memory for them: what it holds stays within its budget, and small requests are answered."""

import collections
import contextlib
import json
import re
import resource
import select
import socket
import sqlite3
import ssl
import struct
import time

import httpx
import pytest
from authority import Authority, tls_options
from http2_floods import DATA, END_HEADERS, HEADERS, PREFACE, frame, literal, request, settings, stall, streams
from memory_group import memory_group
from weft_process import Server, wait_until

MIB = 1 << 20
# What a server may use beside its budget: itself, what its allocator keeps, and what a turn makes.
OWN_MIB = 96
BODY = 4 * MIB
PING = (b'POST /ping HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
        b'Content-Length: 15\r\n\r\n{"sequence": 2}')


def peak_mib(server):
    """The most it has had in memory so far."""
    return server.memory_kib("VmHWM") >> 10


def number(server, name):
    """Of a metric, over all shards. None: there is none."""
    status, page = server.get("/metrics")
    assert status == 200
    found = re.findall(rf"^{re.escape(name)} (\S+)$", page, re.MULTILINE)
    return int(float(found[0])) if found else None


def answers_ping(server):
    with server.connect() as client:
        client.sendall(PING)
        return client.recv(4096).startswith(b"HTTP/1.1 200")


@pytest.fixture(params=["option", "group"])
def limited(request, weftd, tmp_path):
    """limited(*arguments): a server with 64 MiB for its clients, or in a group of 256 MiB, and what its budget is."""
    with sqlite3.connect(tmp_path / "shop.db") as file:
        file.execute("create table page(id integer primary key, text varchar(1000000))")
        file.executemany("insert into page values(?, ?)", ((i, "x" * 500_000) for i in range(16)))
    file.close()
    with contextlib.ExitStack() as stack:
        if request.param == "group":
            preexec, words = stack.enter_context(memory_group(256 * MIB)).join, []
        else:
            preexec, words = None, ["--application.memory_bytes=64MiB"]
        server = stack.enter_context(Server(
            [weftd, "--listen", "127.0.0.1:0", "--threads", "2", "--data", tmp_path, *words], preexec=preexec))
        yield server
        assert server.stop() == 0, server.log


def still_holds(server):
    """It is there, within its bounds, and answers."""
    assert server.process.poll() is None, server.read_log()
    assert answers_ping(server)
    limit = number(server, "memory_limit_bytes")
    assert limit in (64 * MIB, 128 * MIB)
    peak = peak_mib(server)
    print(f"{peak} MiB at most; {number(server, 'memory_taken_bytes') >> 20} of {limit >> 20} MiB taken")
    assert peak <= (limit >> 20) + OWN_MIB


def is_counted(server):
    """What it has, but for some of its own, and for what it had a moment ago."""
    assert peak_mib(server) <= (number(server, "memory_taken_bytes") >> 20) + 60


class Sender:
    """Announces a body, and sends all of it but a byte as far as the server takes it."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.left = (b"POST /0.1.0/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % BODY) + b" " * (BODY - 1)
        self.left = memoryview(self.left)
        self.socket.setblocking(False)
        self.answer = None

    def go_on(self):
        try:
            with contextlib.suppress(BlockingIOError):
                self.answer = self.socket.recv(4096)
                return
            while self.left:
                self.left = self.left[self.socket.send(self.left):]
        except BlockingIOError:
            pass
        except OSError:
            self.answer = self.answer or b""


def send_until_refused(senders, least):
    """Until so many have been refused. What the others have sent may be in the kernel still."""
    def are_refused():
        waiting = [each for each in senders if each.answer is None]
        poll = select.poll()
        known = {}
        for each in waiting:
            poll.register(each.socket, select.POLLIN | (select.POLLOUT if each.left else 0))
            known[each.socket.fileno()] = each
        for descriptor, _ in poll.poll(100):
            known[descriptor].go_on()
        return len(senders) - len(waiting) >= least
    wait_until(are_refused, patience_s=90)


def test_unfinished_bodies_hold_no_more_than_their_share(limited):
    limit = number(limited, "memory_limit_bytes")
    senders = [Sender(limited.port) for _ in range(100)]
    send_until_refused(senders, 100 - limit // 2 // BODY)
    still_holds(limited)
    assert number(limited, 'memory_in_use_bytes{kind="bodies"}') <= limit // 2
    refused = [each for each in senders if each.answer is not None]
    told = [each.answer for each in refused if each.answer]
    assert told and all(each.startswith(b"HTTP/1.1 503") and b"Retry-After: 1\r\n" in each for each in told)
    assert number(limited, "memory_refused_total") >= len(refused)
    for each in senders:
        each.socket.close()
    wait_until(lambda: number(limited, 'memory_in_use_bytes{kind="bodies"}') == 0)


def batch_of(rows):
    operations = [{"method": "POST", "relative-url": "shop/page/pk-read", "body": {"filters": [{"column": "id", "value": i}]}}
                  for i in range(rows)]
    body = json.dumps({"operations": operations}).encode()
    return b"POST /0.1.0/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


def test_readers_that_take_nothing_are_dropped_before_others_suffer(limited):
    asked = batch_of(16)  # eight megabytes
    slow = []
    for _ in range(24):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(60)
        client.connect(("127.0.0.1", limited.port))
        client.sendall(asked)
        slow.append(client)
    # Some have all that there is for replies, and the others are refused.
    wait_until(lambda: number(limited, 'http_replies_total{class="5xx"}') or number(limited, "memory_dropped_peers_total"))
    still_holds(limited)

    def is_served():
        """Whoever reads gets all of it, perhaps after being asked to try again."""
        with limited.connect() as honest:
            honest.sendall(asked.replace(b"Host: localhost\r\n", b"Host: localhost\r\nConnection: close\r\n"))
            come = bytearray()
            while part := honest.recv(1 << 20):
                come += part
            return come.startswith(b"HTTP/1.1 200") and come.endswith(b"]}")
    wait_until(is_served, patience_s=60)
    still_holds(limited)
    for client in slow:
        client.close()


def test_connections_of_http2_that_give_no_window_share_what_they_are_sent(limited):
    asked = stall(b"/openapi.json")
    clients = []
    for _ in range(300):
        client = socket.create_connection(("127.0.0.1", limited.port), timeout=60)
        with contextlib.suppress(OSError):  # dropped already
            client.sendall(asked)
        clients.append(client)
    # The server speaks first; whoever has been dropped hears its end.
    for client in clients:
        with contextlib.suppress(OSError):
            client.recv(9)
    still_holds(limited)
    assert number(limited, 'memory_in_use_bytes{kind="shared"}') < 4 * MIB, "one document a shard"
    for client in clients:
        client.close()


def test_bodies_over_http2_that_never_end_hold_no_more_than_their_share(limited):
    """Ten streams on each of 100 connections announce 4 MiB each, and send what the windows take."""
    head = request(b"/0.1.0/batch", b"\x83") + b"\x0f\x0d\x07" + str(BODY).encode()
    block = PREFACE + settings() + b"".join(
        frame(HEADERS, END_HEADERS, id, head) + frame(DATA, 0, id, b" " * 16_000) * 4 for id in streams(10))
    clients = []
    for _ in range(100):
        client = socket.create_connection(("127.0.0.1", limited.port), timeout=60)
        with contextlib.suppress(OSError):
            client.sendall(block)
        clients.append(client)
    wait_until(lambda: number(limited, "memory_refused_total") >= 100)
    still_holds(limited)
    for client in clients:
        client.close()


HANDSHAKE = (b"GET /rooms/lobby?name=x HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")


def masked_text(text):
    """A frame of a client, masked by zeros."""
    return b"\x81" + bytes([0x80 | 126]) + struct.pack(">H", len(text)) + b"\0\0\0\0" + text


def test_slow_readers_of_a_topic_share_its_messages(example):
    with Server([example("chat"), "--listen", "127.0.0.1:0", "--threads", "1",
                 "--application.memory_bytes=16MiB"]) as server:
        readers = []
        for _ in range(300):
            reader = socket.socket()
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.settimeout(60)
            reader.connect(("127.0.0.1", server.port))
            reader.sendall(HANDSHAKE)
            assert reader.recv(12) == b"HTTP/1.1 101"
            readers.append(reader)
        before = peak_mib(server)
        with server.connect() as writer:
            writer.sendall(HANDSHAKE)
            heard = writer.recv(65536)
            for _ in range(250):  # more than a slow reader may have queued, and 150 MB where each has a copy
                writer.sendall(masked_text(b"y" * 2_000))
                said = 0
                while said < 2_000:
                    said += len(writer.recv(65536))
        assert heard.startswith(b"HTTP/1.1 101")
        assert peak_mib(server) - before <= 16 + 8, "one copy of each message, and what the budget allows"
        assert server.get("/")[0] == 200
        for reader in readers:
            reader.close()
        assert server.stop() == 0, server.log


def test_visitors_of_a_chat_have_no_copy_of_what_was_said(example):
    """20 messages of 2 kB were said before they came; they let all of it come, and stay."""
    visitors = 500
    with Server([example("chat"), "--listen", "127.0.0.1:0", "--threads", "1"]) as server, contextlib.ExitStack() as all_of_them:
        def visit():
            visitor = all_of_them.enter_context(server.connect())
            visitor.sendall(HANDSHAKE)
            assert visitor.recv(12) == b"HTTP/1.1 101"
            return visitor

        def hear(visitor, least):
            while least > 0:
                said = len(visitor.recv(65536))
                assert said > 0, "it was closed"
                least -= said

        speaker = visit()
        for _ in range(20):
            speaker.sendall(masked_text(b"y" * 2_000))
        hear(speaker, 40_000)
        before = peak_mib(server)
        for visitor in [visit() for _ in range(visitors)]:
            hear(visitor, 40_000)
        assert peak_mib(server) - before <= 16, f"{visitors * 40_000 >> 20} MiB, if each had a copy"
        speaker.close()
        assert server.stop() == 0, server.log


def look_ups(rows):
    operations = [{"method": "POST", "relative-url": "shop/page/pk-read",
                   "body": {"filters": [{"column": "id", "value": row}], "operationId": str(row)}} for row in rows]
    return json.dumps({"operations": operations}).encode()


@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_a_long_reply_in_parts_comes_whole(limited, coding):
    rows = [row % 17 for row in range(30)]  # 16 is none
    reply = httpx.post(limited.url("/0.1.0/batch"), content=look_ups(rows), headers={"Accept-Encoding": coding, "Host": "localhost"},
                       timeout=60)
    assert reply.status_code == 200 and reply.headers.get("Content-Encoding", "identity") == coding
    if coding == "identity":
        assert int(reply.headers["Content-Length"]) == len(reply.content)
    for row, told in zip(rows, reply.json()["result"], strict=True):
        assert told["code"] == (404 if row == 16 else 200) and told["body"]["operationId"] == str(row)
        assert told["body"]["data"] == ({} if row == 16 else {"text": "x" * 500_000})
    still_holds(limited)


def first_of(client):
    """Of its reply. Empty: it was dropped, as one that takes nothing."""
    try:
        return client.recv(12)
    except ConnectionError:
        return b""


def test_a_crowd_that_asks_for_long_replies_at_once_shares_what_there_is(limited):
    ask = batch_of(4)
    with contextlib.ExitStack() as crowd:
        clients = [crowd.enter_context(limited.connect()) for _ in range(300)]
        for client in clients:
            client.sendall(ask)
        told = collections.Counter(first_of(client) for client in clients)
        assert set(told) <= {b"HTTP/1.1 200", b"HTTP/1.1 503", b""} and told[b"HTTP/1.1 200"] > 0, told
        still_holds(limited)


def test_crowds_of_streams_that_must_wait_are_refused(limited):
    asked = stall(b"/openapi.json", count=100)
    with contextlib.ExitStack() as crowd:
        for _ in range(400):
            client = crowd.enter_context(limited.connect())
            client.sendall(asked)
        wait_until(lambda: number(limited, "memory_refused_total") + number(limited, "memory_dropped_peers_total") > 0)
        still_holds(limited)


def test_long_heads_of_requests_whose_bodies_never_come_count(limited):
    """A head of 7 KiB is kept while its body is awaited."""
    head = request(b"/ping", b"\x83") + b"".join(b"\x00" + literal(b"f%d" % i) + literal(b"v" * 110) for i in range(60))
    asked = PREFACE + settings() + b"".join(frame(HEADERS, END_HEADERS, id, head) for id in streams(40))
    with contextlib.ExitStack() as crowd:
        for _ in range(400):
            crowd.enter_context(limited.connect()).sendall(asked)
        wait_until_it_rests(limited, 'memory_in_use_bytes{kind="requests"}')
        still_holds(limited)
        is_counted(limited)


def wait_until_it_rests(server, name):
    """As far as a look each second can tell: what has been sent has been read."""
    seen = []

    def rests():
        time.sleep(1)
        seen.append(number(server, name))
        return len(seen) > 1 and seen[-1] == seen[-2]
    wait_until(rests)


def test_codecs_of_many_replies_count(limited):
    """An encoder has up to 1.4 MiB of its own, as long as its reply is not taken."""
    ask = look_ups([0, 1])
    with contextlib.ExitStack() as crowd:
        for i in range(300):
            coding = [b"br", b"zstd", b"gzip"][i % 3]
            crowd.enter_context(limited.connect()).sendall(
                b"POST /0.1.0/batch HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s" % (coding, len(ask), ask))
        wait_until_it_rests(limited, 'memory_in_use_bytes{kind="output"}')
        still_holds(limited)
        is_counted(limited)


def hello_of(context):
    """The bytes that a client begins with."""
    come, gone = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(come, gone, server_hostname="site.test").do_handshake()
    return gone.read()


class TlsStrangers:
    """Connections of strangers to a server that speaks TLS; each way to hold its memory is a function."""

    def __init__(self, port, context):
        self.port, self.context, self.hello = port, context, hello_of(context)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def begin(self):
        """A handshake whose answer is left unread."""
        client = self.connect()
        client.sendall(self.hello)
        return client

    def announce(self):
        """Ten bytes that say that 131 KB will follow."""
        client = self.connect()
        client.sendall(b"\x16\x03\x01\x00\x05\x01\x02\x01\x00\x03")
        return client

    def talk(self):
        client = self.context.wrap_socket(self.connect(), server_hostname="site.test")
        client.sendall(PING)
        client.recv(4096)
        return client

    def leave_record(self):
        """A record of 16 KiB, of which most comes."""
        client = self.talk()
        raw = socket.socket(fileno=client.detach())
        raw.sendall(b"\x17\x03\x03\x40\x10" + b"x" * 9000)
        return raw


@pytest.fixture
def many_files():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, before[1]), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize(("way", "count"), [("connect", 2500), ("begin", 2500), ("announce", 1000), ("talk", 1000),
                                            ("leave_record", 2500)])
def test_tls_connections_of_strangers_share_what_there_is(weftd, tmp_path, many_files, way, count):
    authority = Authority(tmp_path / "ca")
    context = ssl.create_default_context(cafile=authority.file)
    site = authority.issue("site", "site.test", "127.0.0.1")
    with sqlite3.connect(tmp_path / "shop.db") as file:
        file.execute("create table page(id integer primary key)")
    file.close()
    with contextlib.ExitStack() as stack:
        group = stack.enter_context(memory_group(256 * MIB))
        server = stack.enter_context(Server(
            [weftd, "--listen", "127.0.0.1:0", "--threads", "2", "--data", tmp_path, "--application.memory_bytes=16MiB",
             *tls_options(site)], preexec=group.join, scheme="https"))
        strangers = TlsStrangers(server.port, context)
        honest = strangers.talk()

        def is_answered(client):
            client.sendall(PING)
            return client.recv(4096).startswith(b"HTTP/1.1 200")

        for i in range(count):
            with contextlib.suppress(OSError):  # refused, or dropped
                stack.enter_context(getattr(strangers, way)())
            if i % 50 == 0:
                assert is_answered(honest), "whoever has a connection and talks goes on"

        def is_let_in():
            assert is_answered(honest)
            with contextlib.suppress(OSError), strangers.talk() as newcomer:
                return is_answered(newcomer)
            return False
        wait_until(is_let_in)
        assert group.kills() == 0
        peak = peak_mib(server)
        print(f"{peak} MiB at most")
        assert peak <= 16 + 60
        assert server.stop() == 0, server.log
