"""What a request costs weftd: system calls and instructions, counted.

Each figure is the difference of two runs, so that starting and stopping cancel out.
"""

import contextlib
import sqlite3

import httpx
import pytest
from http2_floods import END_HEADERS, END_STREAM, HEADERS, PREFACE, SETTINGS, frame, literal
from tracing import (calls_in, functions_in, instructions_in, profiled, skip_unless_traceable, traced)

INSTRUCTIONS_MAX = 2_050  # a request, on epoll, the loop included and the kernel not
HTTP2_INSTRUCTIONS_MAX = 4_500  # a request, of 32 at a time over one connection
MIDDLEWARE_INSTRUCTIONS_MAX = 100
METRICS_INSTRUCTIONS_MAX = 550_000  # a page of 14 KiB
CONNECTIONS = 64
PIPELINED = 16
STREAMS = 32
BODY = b'{"sequence": 2}'
REPLY_END = b'{"sequence":2}'
WAITS = {"epoll_wait", "epoll_pwait", "epoll_pwait2"}


def ping(port):
    return (f"POST /ping HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(BODY)}\r\n\r\n").encode() + BODY


def greeting(port, path):
    return (f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: me\r\n\r\n").encode()


def converse(server, connections, rounds, pipelined=1, request=ping, reply_end=REPLY_END):
    """All connections send, then all receive, so many times. They stay open until the server ends,
    so that how each is closed does not depend on who is faster. Returns the number of requests."""
    clients = [server.connect() for _ in range(connections)]
    requests = request(server.port) * pipelined
    for _ in range(rounds):
        for client in clients:
            client.sendall(requests)
        for client in clients:
            replies = b""
            while replies.count(reply_end) < pipelined:
                part = client.recv(65536)
                assert part, f"the connection has ended after {replies}"
                replies += part
            assert replies.count(b"HTTP/1.1 200 OK\r\n") == pipelined, replies
    assert server.stop() == 0, server.log
    for client in clients:
        client.close()
    return connections * rounds * pipelined


def converse_once_each(server, connections, rounds):
    """As converse(), with a connection for each request, which the client asks to be the last one on it."""
    request = b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    for _ in range(rounds):
        clients = [server.connect() for _ in range(connections)]
        for client in clients:
            client.sendall(request)
        for client in clients:
            reply = b""
            while part := client.recv(65536):
                reply += part
            assert reply.startswith(b"HTTP/1.1 200 OK\r\n"), reply
            client.close()
    assert server.stop() == 0, server.log
    return connections * rounds


def ends_in(received):
    """How many replies over HTTP/2 end in what has come, and the rest of it, which is no whole frame."""
    ends, at = 0, 0
    while at + 9 <= len(received) and at + 9 + (size := int.from_bytes(received[at:at + 3], "big")) <= len(received):
        ends += received[at + 3] <= HEADERS and received[at + 4] & END_STREAM
        at += 9 + size
    return ends, received[at:]


def converse_http2(server, rounds):
    """As converse(), over one connection with so many streams at a time. What is asked for stands in HPACK's table
    from the first request on, as clients have it."""
    client = server.connect()
    client.sendall(PREFACE + frame(SETTINGS, 0, 0) + frame(SETTINGS, 1, 0))
    fields = b"\x82\x86\x44" + literal(b"/healthz") + b"\x41" + literal(b"localhost") + b"\x7a" + literal(b"test/1.0")
    stream, received = 1, b""
    for _ in range(rounds):
        requests = []
        for _ in range(STREAMS):
            requests.append(frame(HEADERS, END_HEADERS | END_STREAM, stream, fields))
            fields = b"\x82\x86\xc0\xbf\xbe"
            stream += 2
        client.sendall(b"".join(requests))
        answered = 0
        while answered < STREAMS:
            part = client.recv(65536)
            assert part, f"the connection has ended after {received}"
            ends, received = ends_in(received + part)
            answered += ends
    assert server.stop() == 0, server.log
    client.close()
    return rounds * STREAMS


class Bill:
    """Calls a request, by name, to a hundredth: a connection that is accepted a moment before its first
    request or after it makes one call more or less."""

    def __init__(self, few, many, requests):
        calls = {name: (many.get(name, 0) - few.get(name, 0)) / requests for name in few | many}
        self.calls = {name: count for name, count in calls.items() if abs(count) >= 0.0005}
        self.requests = requests

    def of(self, names):
        return round(sum(count for name, count in self.calls.items() if name in names), 2)

    @property
    def total(self):
        return self.of(self.calls)

    def __str__(self):
        rows = sorted(self.calls.items(), key=lambda row: -row[1])
        return "\n".join([f"system calls a request, of {self.requests} requests:",
                          *(f"  {count:8.3f}  {name}" for name, count in rows), f"  {self.total:8.2f}   in all"])


def bill(weftd, tmp_path, backend, few, many, talk=converse, **how):
    skip_unless_traceable()
    tables, requests = [], []
    for rounds in (few, many):
        table = tmp_path / f"{rounds}.calls"
        # Who watches for stalls looks so often in a second, not in a request.
        command = [weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--backend", backend,
                   "--application.stall_limit=0s"]
        with traced(command, table) as server:
            requests.append(talk(server, rounds=rounds, **how))
        tables.append(calls_in(table))
    return Bill(*tables, requests[1] - requests[0])


def test_system_calls_of_busy_connections(weftd, tmp_path, backend):
    cost = bill(weftd, tmp_path, backend, few=10, many=210, connections=CONNECTIONS)
    print(cost)
    if backend == "io_uring":
        assert cost.total <= 1.0, str(cost)
        return
    waits = cost.of(WAITS)
    assert waits <= 1.0, f"more than one wait a turn, and a turn serves at least one request\n{cost}"
    assert cost.of(cost.calls.keys() - WAITS) <= 2.0, f"more than one receive and one send\n{cost}"


def test_system_calls_of_pipelined_requests(weftd, tmp_path, backend):
    cost = bill(weftd, tmp_path, backend, few=5, many=105, connections=8, pipelined=PIPELINED)
    print(cost)
    assert cost.total <= 0.25, str(cost)


def test_system_calls_of_a_connection_for_one_request(weftd, tmp_path, backend):
    cost = bill(weftd, tmp_path, backend, few=2, many=22, talk=converse_once_each, connections=CONNECTIONS)
    print(cost)
    if backend == "io_uring":
        assert cost.total <= 2.5, str(cost)
        return
    # Who connects while nobody else does is accepted alone, and then there is a look for another one.
    assert cost.of({"accept4"}) <= 2.0, str(cost)
    # How many connections there are at once is a matter of load, and so is how often memory for more of them is asked for.
    for_memory = {"mmap", "munmap", "futex"}
    assert cost.of(for_memory) <= 0.05, str(cost)
    rest = cost.of(cost.calls.keys() - WAITS - for_memory - {"accept4"})
    assert rest <= 5.0, f"more than watch, receive, send, look for more, close\n{cost}"


def profile_of(profiles, requests, rows=15):
    """Where the instructions of a request go, from the profiles of few requests and of so many more."""
    few, many = (functions_in(profile) for profile in profiles.values())
    each = sorted(((count - few.get(name, 0)) / requests, name) for name, count in many.items())
    return "\n".join(f"  {count:8.1f}  {name[:90]}" for count, name in reversed(each[-rows:]))


def instructions_of(program, folder, *options, **how):
    """Of a request, and where they go."""
    few, many = 1_000, 11_000
    profiles = {}
    for requests in (few, many):
        profile = profiles[requests] = folder / f"{requests}.callgrind"
        with profiled([program, "--listen", "127.0.0.1:0", "--threads", "1", "--backend", "epoll",
                       *options], profile) as server:
            converse(server, connections=1, rounds=requests, **how)
    more = many - few
    cost = (instructions_in(profiles[many]) - instructions_in(profiles[few])) / more
    report = f"{cost:.0f} instructions a request; most of them in\n{profile_of(profiles, more)}"
    print(report)
    return cost, report


def test_instructions_of_a_request(weftd, tmp_path):
    """The least of five: a busy machine adds turns of the loop and timers, and takes nothing away. What watches the shards
    does so by the clock, and not for each request."""
    for _ in range(5):
        cost, report = instructions_of(weftd, tmp_path, "--application.stall_limit=1h")
        if cost <= INSTRUCTIONS_MAX:
            return
    assert cost <= INSTRUCTIONS_MAX, report


def test_instructions_of_an_http2_request(weftd, tmp_path):
    few, many = 50, 350
    profiles, requests = {}, {}
    for rounds in (few, many):
        profile = profiles[rounds] = tmp_path / f"{rounds}.callgrind"
        with profiled([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--backend", "epoll"], profile) as server:
            requests[rounds] = converse_http2(server, rounds)
    more = requests[many] - requests[few]
    cost = (instructions_in(profiles[many]) - instructions_in(profiles[few])) / more
    report = f"{cost:.0f} instructions a request over HTTP/2; most of them in\n{profile_of(profiles, more)}"
    print(report)
    assert cost <= HTTP2_INSTRUCTIONS_MAX, report


def test_instructions_of_the_metrics(weftd, tmp_path):
    """Where a histogram has values: strangers may ask for the page, too."""
    few, many = 20, 70
    profiles = {}
    (tmp_path / "data").mkdir()
    with contextlib.closing(sqlite3.connect(tmp_path / "data/shop.db")) as database:
        database.execute("CREATE TABLE t(id INT PRIMARY KEY, v INT)")
    written = {"operations": [{"method": "POST", "relative-url": "shop/t/pk-write", "body": {
        "filters": [{"column": "id", "value": 1}], "writeColumns": [{"column": "v", "value": 2}]}}]}
    for pages in (few, many):
        profile = profiles[pages] = tmp_path / f"{pages}.callgrind"
        with profiled([weftd, "--data", tmp_path / "data", "--listen", "127.0.0.1:0", "--threads", "1", "--backend", "epoll",
                       "--application.stall_limit=0s"], profile) as server:
            assert httpx.post(server.url("/0.1.0/batchwrite"), json=written, timeout=60).status_code == 200
            seen = httpx.get(server.url("/metrics")).text
            assert "store_write_wait_ns_count 1\n" in seen
            converse(server, connections=1, rounds=pages, request=lambda port: b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n",
                     reply_end=seen[seen.rindex("\n", 0, -1):].encode())
    cost = (instructions_in(profiles[many]) - instructions_in(profiles[few])) / (many - few)
    report = f"{cost:.0f} instructions a page; most of them in\n{profile_of(profiles, many - few)}"
    print(report)
    assert cost <= METRICS_INSTRUCTIONS_MAX, report


def test_instructions_of_a_middleware(example, tmp_path):
    """Of each of three: two that count and one that looks for a header field."""
    costs, reports = {}, []
    for path in ("/open/ann", "/club/ann"):
        cost, report = instructions_of(example("middlewares"), tmp_path, reply_end=b", welcome!\n",
                                       request=lambda port, path=path: greeting(port, path))
        costs[path] = cost
        reports.append(report)
    each = (costs["/club/ann"] - costs["/open/ann"]) / 3
    print(f"{each:.0f} instructions a middleware")
    assert each <= MIDDLEWARE_INSTRUCTIONS_MAX, "\n".join(reports)


def test_instructions_of_a_middleware_around_all(example, tmp_path):
    """Of each of three, around a route with a parameter."""
    few, many = (instructions_of(example("middlewares"), tmp_path, f"--club.watchers={watchers}", reply_end=b", welcome!\n",
                                 request=lambda port: greeting(port, "/open/ann")) for watchers in ("0", "3"))
    each = (many[0] - few[0]) / 3
    print(f"{each:.0f} instructions a middleware around all")
    assert 0 < each <= MIDDLEWARE_INSTRUCTIONS_MAX, f"{few[1]}\n{many[1]}"


def test_instructions_of_server_timing(example, tmp_path):
    """Of a middleware that adds a field to each reply, beside one that does nothing."""
    (plain, _), (timed, report) = (
        instructions_of(example("middlewares"), tmp_path, "--club.watchers=1", f"--club.timed={is_timed}",
                        reply_end=b", welcome!\n", request=lambda port: greeting(port, "/open/ann"))
        for is_timed in ("false", "true"))
    print(f"{timed - plain:.0f} instructions to say the time")
    assert 0 < timed - plain <= MIDDLEWARE_INSTRUCTIONS_MAX, report
