"""Clients that attack a server's memory and time, each kind in a process of its own until it is stopped.

    with Siege(port, key, ["json bombs", "unfinished bodies"]) as siege:
        ...
    print(siege.outcomes)   # {attack: {outcome: count}}

Every attack opens its connections again when the server closes them, at a bounded rate. An outcome is an HTTP status, or how a
connection ended.
"""

import collections
import contextlib
import json
import multiprocessing
import os
import queue
import resource
import select
import signal
import socket
import struct
import time

from http2_floods import END_HEADERS, END_STREAM, HEADERS, PREFACE, RST_STREAM, WINDOW_UPDATE, frame, request, settings, stall, streams

MIB = 1 << 20
BODY_BYTES = 4 * MIB
PATIENCE_S = 30
REOPENED_PER_SECOND = 20


def post(path, body_bytes, key):
    fields = f"X-API-KEY: {key}\r\n" if key else ""
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{fields}Content-Type: application/json\r\n"
            f"Content-Length: {body_bytes}\r\n\r\n").encode()


def filled(start, element, end):
    """A JSON document of 4 MiB: as many elements as there is room for."""
    count = (BODY_BYTES - len(start) - len(end)) // (len(element) + 1)
    return start + b",".join([element] * count) + end


BOMBS = {
    "/0.1.0/batch": filled(b'{"operations":[', b"{}", b"]}"),
    "/0.1.0/demo/users/scan": filled(b'{"limit":1,"filters":{"op":"AND","args":[', b"{}", b"]}}"),
    "/0.1.0/demo/users/pk-read": filled(b'{"readColumns":[', b"{}", b"]}"),
    "/0.1.0/sql": filled(b'{"database":"demo","query":"SELECT 1","parameters":[', b"1", b"]}"),
}


class Bench:
    """What one attack works with: where the server is, a key, when to end, and what came of it. It sets `under_way` once the
    server has answered it, or holds all of its connections."""

    def __init__(self, port, key, stop, under_way, outcomes):
        self.port, self.key, self.stop, self.under_way, self.outcomes = port, key, stop, under_way, outcomes

    def goes_on(self):
        return not self.stop.is_set()

    def connect(self, receive_bytes=None):
        client = socket.socket()
        if receive_bytes:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        client.settimeout(PATIENCE_S)
        try:
            client.connect(("127.0.0.1", self.port))
        except OSError:
            client.close()
            self.outcomes["not connected"] += 1
            return None
        return client

    def count_reply(self, received):
        status = received[9:12].decode(errors="replace")
        self.outcomes[status if status.isdigit() else "closed"] += 1
        self.under_way.set()


def json_bombs(bench):
    """Requests of 4 MiB that claim far more when they are parsed, with a key and without one."""
    while bench.goes_on():
        for path, body in BOMBS.items():
            for key in (bench.key, None):
                if not bench.goes_on():
                    return
                client = bench.connect()
                if client is None:
                    time.sleep(0.1)
                    continue
                with contextlib.closing(client):
                    received = b""
                    with contextlib.suppress(OSError):
                        client.sendall(post(path, len(body), key))
                        client.sendall(body)
                    with contextlib.suppress(OSError):
                        received = client.recv(4096)
                    bench.count_reply(received)


class Crowd:
    """Connections that are held, each of which begins with the same bytes, and is opened again once it has ended."""

    def __init__(self, bench, count, opening, receive_bytes=None):
        self.bench, self.count, self.opening, self.receive_bytes = bench, count, opening, receive_bytes
        self.poll = select.epoll()
        self.unsent = {}  # socket by descriptor -> what it has still to send
        self.clients = {}

    def open_missing(self, most):
        for _ in range(min(most, self.count - len(self.clients))):
            client = self.bench.connect(self.receive_bytes)
            if client is None:
                return
            client.setblocking(False)
            self.clients[client.fileno()] = client
            self.unsent[client.fileno()] = memoryview(self.opening)
            self.poll.register(client, select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP)

    def close(self, descriptor, outcome):
        self.bench.outcomes[outcome] += 1
        self.clients.pop(descriptor).close()
        self.unsent.pop(descriptor)

    def send_more(self, descriptor):
        rest = self.unsent[descriptor]
        with contextlib.suppress(BlockingIOError):
            while len(rest) > 0:
                rest = rest[self.clients[descriptor].send(rest[:256 * 1024]):]
        self.unsent[descriptor] = rest
        if len(rest) == 0:
            self.poll.modify(descriptor, self.awaited)

    awaited = select.EPOLLIN | select.EPOLLRDHUP

    def on_readable(self, descriptor):
        received = self.clients[descriptor].recv(4096)
        status = received[9:12].decode(errors="replace")
        self.close(descriptor, status if status.isdigit() else "closed")

    def step(self):
        for descriptor, events in self.poll.poll(0.2):
            try:
                if events & (select.EPOLLHUP | select.EPOLLERR | select.EPOLLRDHUP):
                    self.close(descriptor, "closed")
                elif events & select.EPOLLIN:
                    self.on_readable(descriptor)
                elif events & select.EPOLLOUT:
                    self.send_more(descriptor)
            except OSError:
                self.close(descriptor, "closed")

    def run(self, on_step=lambda: None):
        opened_at = time.monotonic()
        self.open_missing(self.count)
        while self.bench.goes_on():
            self.step()
            self.bench.under_way.set()
            on_step()
            if time.monotonic() - opened_at >= 1:
                opened_at = time.monotonic()
                self.open_missing(REOPENED_PER_SECOND)
        self.bench.outcomes["held at the end"] += len(self.clients)
        for client in self.clients.values():
            client.close()


class SilentCrowd(Crowd):
    """Takes nothing of what it has asked for."""

    awaited = select.EPOLLRDHUP


def unfinished_bodies(bench, count=300):
    """Bodies of 4 MiB of which the last byte never comes."""
    body = BOMBS["/0.1.0/batch"][:-1]
    Crowd(bench, count, post("/0.1.0/batch", len(body) + 1, bench.key) + body).run()


def large_batch(key, rows):
    operations = [{"method": "POST", "relative-url": "demo/blobs/pk-read",
                   "body": {"filters": [{"column": "id", "value": row}]}} for row in range(1, rows + 1)]
    body = json.dumps({"operations": operations}).encode()
    return post("/0.1.0/batch", len(body), key) + body


def silent_readers(bench, count=24):
    """Clients of a reply of 64 MB that read nothing of it."""
    SilentCrowd(bench, count, large_batch(bench.key, 128), receive_bytes=4096).run()


def slow_readers(bench, count=500):
    """Clients that take one byte every 20 seconds."""
    crowd = SilentCrowd(bench, count, large_batch(bench.key, 4), receive_bytes=4096)
    taken_at = time.monotonic()

    def take_a_byte():
        nonlocal taken_at
        if time.monotonic() - taken_at < 20:
            return
        taken_at = time.monotonic()
        for descriptor, client in list(crowd.clients.items()):
            try:
                if client.recv(1) == b"":
                    crowd.close(descriptor, "closed")
            except BlockingIOError:
                pass
            except OSError:
                crowd.close(descriptor, "closed")

    crowd.run(take_a_byte)


def stalled_streams(bench, count=1_000):
    """HTTP/2 connections of 100 requests whose windows stay shut."""
    SilentCrowd(bench, count, stall(b"/openapi.json", count=100)).run()


def busy_streams(bench, count=50):
    """HTTP/2 connections of which each asks for the metrics a hundred times at once, again and again."""
    opening = PREFACE + settings(initial_window=0x7FFFFFFF) + frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 0x7FFF0000 - 65535))
    asked = b"".join(frame(HEADERS, END_HEADERS | END_STREAM, id, request(b"/metrics")) for id in streams(100))
    while bench.goes_on():
        clients = [client for _ in range(count) if (client := bench.connect()) is not None]
        with contextlib.ExitStack() as closing:
            for client in clients:
                closing.enter_context(contextlib.closing(client))
                with contextlib.suppress(OSError):
                    client.sendall(opening + asked)
            for client in clients:
                client.settimeout(5)
                with contextlib.suppress(OSError):
                    while bench.goes_on() and ends_of(client) < 100:
                        pass
                bench.outcomes["connections"] += 1
                bench.under_way.set()


def ends_of(client):
    """Reads until the last of a hundred streams has ended, or the connection has; 100 then."""
    ends, received = 0, b""
    while ends < 100 and (part := client.recv(1 << 18)):
        received += part
        while len(received) >= 9 and len(received) >= 9 + (size := int.from_bytes(received[:3], "big")):
            kind, flags = received[3], received[4]
            ends += (kind <= HEADERS and flags & END_STREAM) or kind == RST_STREAM
            received = received[9 + size:]
    return 100


def large_batches(bench, count=4):
    """Batches of 128 rows of 500 KB, which are read to their end."""
    request = large_batch(bench.key, 128)
    while bench.goes_on():
        clients = [client for _ in range(count) if (client := bench.connect()) is not None]
        for client in clients:
            with contextlib.closing(client), contextlib.suppress(OSError):
                client.sendall(request)
                received = client.recv(1 << 20)
                bench.count_reply(received)
                length = int(received.lower().split(b"content-length: ")[1].split(b"\r\n")[0]) if \
                    b"content-length: " in received.lower() else 0
                taken = len(received)
                while bench.goes_on() and taken < length and (part := client.recv(1 << 20)):
                    taken += len(part)


ATTACKS = {
    "JSON bombs": json_bombs,
    "unfinished bodies": unfinished_bodies,
    "silent readers": silent_readers,
    "slow readers": slow_readers,
    "stalled streams": stalled_streams,
    "busy streams": busy_streams,
    "large batches": large_batches,
}


def _run(name, port, key, stop, under_way, told, scale, prepare):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.alarm(0)
    prepare()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    bench = Bench(port, key, stop, under_way, collections.Counter())
    attack = ATTACKS[name]
    if attack.__defaults__ and scale != 1:
        attack(bench, max(1, int(attack.__defaults__[0] * scale)))
    else:
        attack(bench)
    told.put((name, dict(bench.outcomes)))


class Siege:
    """All of the named attacks at once, against 127.0.0.1:port, with a key that may read. `scale` multiplies the
    numbers of connections; `prepare` is called in each attacker's process."""

    def __init__(self, port, key, names=tuple(ATTACKS), scale=1, prepare=lambda: None):
        context = multiprocessing.get_context("fork")
        self.stop, self.told = context.Event(), context.Queue()
        self.outcomes = {}
        self.begun = {name: context.Event() for name in names}
        self.processes = [context.Process(target=_run, args=(name, port, key, self.stop, begun, self.told, scale, prepare))
                          for name, begun in self.begun.items()]

    def __enter__(self):
        for process in self.processes:
            process.start()
        return self

    def is_under_way(self):
        """Whether every attack has met the server."""
        return all(begun.is_set() for begun in self.begun.values())

    def end(self):
        self.stop.set()
        give_up = time.monotonic() + 2 * PATIENCE_S
        while len(self.outcomes) < len(self.processes) and time.monotonic() < give_up:
            with contextlib.suppress(queue.Empty):
                name, outcomes = self.told.get(timeout=1)
                self.outcomes[name] = outcomes
        for process in self.processes:
            if process.is_alive():
                process.join(timeout=1)
            if process.is_alive():
                os.kill(process.pid, signal.SIGKILL)
            process.join()

    def __exit__(self, *_):
        if not self.stop.is_set():
            self.end()
