"""weft-bench load, against servers whose behaviour is known: what it reports is the truth."""

import asyncio
import contextlib
import itertools
import json
import socket
import ssl
import subprocess
import threading
import time

import pytest
import websockets
from authority import tls_options
from other_servers import node
from weft_process import Server, run



def reply_to(head, is_last):
    fields = b"Connection: close\r\n" if is_last else b""
    return b"HTTP/1.1 200 OK\r\n%sContent-Length: 2\r\n\r\n%s" % (fields, b"" if head.startswith(b"HEAD") else b"ok")


class ScriptedServer:
    """Answers each request at once, but once does nothing at all for a while: from when it has answered so many. With
    `close_after`, a connection ends with that reply, whatever else was asked on it."""

    def __init__(self, stall_after=None, stall_seconds=0, close_after=None):
        self.answered = 0
        self.close_after = close_after
        self.heads = []
        self.stall_after = stall_after
        self.stall_seconds = stall_seconds
        self.one_at_a_time = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}/"

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client, contextlib.suppress(ConnectionError):
            asked, here = b"", 0
            while more := client.recv(65536):
                *heads, asked = (asked + more).split(b"\r\n\r\n")
                replies = b""
                for head in heads:
                    here += 1
                    with self.one_at_a_time:
                        if self.answered == self.stall_after:
                            time.sleep(self.stall_seconds)
                        self.answered += 1
                        self.heads.append(head)
                    is_last = here == self.close_after
                    replies += reply_to(head, is_last)
                    if is_last:
                        client.sendall(replies)
                        return
                client.sendall(replies)


@pytest.fixture
def scripted():
    servers = []

    def start(**script):
        servers.append(ScriptedServer(**script))
        return servers[-1]
    yield start
    for server in servers:
        server.listener.close()


def load(weft_bench, *arguments):
    done = run([weft_bench, "load", *arguments, "--json"])
    return done.returncode, json.loads(done.stdout)


def test_an_open_loop_sends_what_is_due_and_no_more(weft_bench, scripted):
    status, told = load(weft_bench, scripted().url, "--rate", "400", "-c", "4", "-d", "2s", "-w", "500ms")
    assert status == 0
    assert told["rate"] == 400 and told["requests"] == 800
    assert told["requests_with_warm_up"] == 1000
    assert told["errors"]["total"] == 0


def test_what_the_warm_up_left_unanswered_is_counted_with_it(weft_bench, scripted):
    """The stall begins in the warm-up and ends in the measured time."""
    server = scripted(stall_after=40, stall_seconds=1.0)
    status, told = load(weft_bench, server.url, "--rate", "100", "-c", "4", "-d", "2s", "-w", "500ms")
    assert status == 0
    assert told["requests"] == 200 and told["requests_with_warm_up"] == 250


def test_a_stall_is_in_the_percentiles_of_an_open_loop(weft_bench, scripted):
    """200 of the 800 requests are due while nothing is answered, and so wait for up to the whole second: half of them for
    half of it. A closed loop of four connections would have four such replies to show. Lower bounds, for a slow machine
    only makes it worse."""
    server = scripted(stall_after=200, stall_seconds=1.0)
    status, told = load(weft_bench, server.url, "--rate", "200", "-c", "4", "-d", "4s", "-w", "0s")
    assert status == 0 and told["requests"] == 800
    latency = told["latency_us"]
    assert latency["p99"] >= 950_000       # the slowest 8 of the 200
    assert latency["p90"] >= 590_000       # 80 of them waited for more than 600 ms
    assert latency["max"] >= 990_000
    assert latency["mean"] >= 0.9 * 200 * 500_000 / 800


def test_a_server_that_never_comes_round_leaves_requests_unsent(weft_bench, scripted):
    server = scripted(stall_after=50, stall_seconds=60)
    status, told = load(weft_bench, server.url, "--rate", "100", "-c", "2", "-d", "1s", "-w", "0s", "--timeout", "1s")
    errors = told["errors"]
    assert status == 1
    assert told["requests"] == 50
    assert errors["unsent"] + errors["timed_out"] == errors["total"] == 50
    assert errors["timed_out"] >= 2


def test_pipelined_requests_are_answered_in_order(weft_bench, scripted):
    """Those that a connection took along when it ended are asked for again: no error, none counted twice."""
    server = scripted(close_after=7)
    status, told = load(weft_bench, server.url, "--rate", "1k", "-c", "2", "--pipeline", "5", "-d", "1s", "-w", "0s",
                        "--timeout", "60s")
    assert status == 0, told
    assert told["requests"] == 1000 and told["errors"]["total"] == 0
    assert told["reconnects"] >= 1000 // 7 - 2


@contextlib.contextmanager
def listening(serve):
    """Calls `serve` for each connection, in a thread of its own, with its number. Its URL."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        def attend(client, number):
            with client, contextlib.suppress(OSError):
                serve(client, number)

        def accept():
            for number in itertools.count():
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=attend, args=(client, number), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        listener.shutdown(socket.SHUT_RDWR)


def test_what_comes_with_the_connection_is_not_waited_for(weft_bench):
    """The connection, a reply and the end, before the generator has looked once."""
    def turn_away(client, _):
        client.sendall(b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno")
        client.shutdown(socket.SHUT_WR)
        while client.recv(4096):
            pass

    with listening(turn_away) as url:
        status, told = load(weft_bench, url, "-c", "20", "-d", "3s", "-w", "0s", "--timeout", "1s")
    assert status in (1, 3)
    assert told["errors"]["timed_out"] == told["errors_in_warm_up"]["timed_out"] == 0
    assert told["errors"]["unasked"] + told["status"]["5xx"] > 0


def test_a_server_may_end_a_connection_that_nobody_uses(weft_bench):
    answered = []

    def tire_of_the_first(client, number):
        client.settimeout(0.1)
        while True:
            try:
                if not client.recv(4096):
                    return
            except TimeoutError:
                if number == 0 and answered:
                    return
                continue
            client.sendall(reply_to(b"GET", False))
            answered.append(number)

    with listening(tire_of_the_first) as url:
        status, told = load(weft_bench, url, "-c", "1", "--rate", "2", "-d", "2s", "-w", "0s")
    assert status == 0 and told["errors"]["total"] == 0
    assert answered == [0, 1, 1, 1] and told["reconnects"] == 1


def test_connections_that_hang_are_errors_of_a_closed_loop(weft_bench):
    def answer_every_tenth(client, number):
        while client.recv(4096):
            if number % 10 == 9:
                client.sendall(reply_to(b"GET", False))

    with listening(answer_every_tenth) as url:
        status, told = load(weft_bench, url, "-c", "20", "-d", "2s", "-w", "0s")
    assert status == 1 and told["requests"] > 0
    assert told["errors"]["timed_out"] == told["errors"]["total"] == 18


def test_threads_share_connections_and_rate(weft_bench, scripted):
    status, told = load(weft_bench, scripted().url, "--rate", "700", "-c", "7", "-t", "3", "-d", "1s", "-w", "0s")
    assert status == 0
    assert told["connections"] == 7 and told["requests"] == 700 and told["rate"] == 700


def test_a_file_of_requests_is_sent_in_turn(weft_bench, scripted, tmp_path):
    requests = tmp_path / "requests"
    requests.write_text("# three\nGET /a\nHEAD /b\nGET /c?d=e\n")
    server = scripted()
    status, told = load(weft_bench, server.url, "--requests", requests, "--rate", "300", "-c", "1", "-d", "1s", "-w", "0s")
    assert status == 0 and told["requests"] == 300
    lines = [head.split(b"\r\n")[0] for head in server.heads]
    assert lines == [b"GET /a HTTP/1.1", b"HEAD /b HTTP/1.1", b"GET /c?d=e HTTP/1.1"] * 100
    requests.write_text("GET /a\nGET\n")
    done = run([weft_bench, "load", server.url, "--requests", requests])
    assert done.returncode == 2 and "line 2: 'GET ' is no request" in done.stderr


def test_https_is_loaded_by_whoever_trusts_it(example, weft_bench, authority, site):
    with Server([example("https"), "--listen", "127.0.0.1:0", *tls_options(site)], scheme="https") as server:
        url = f"https://127.0.0.1:{server.port}/whoami"
        much = ("-c", "8", "-d", "300ms", "-w", "0s", "--pipeline", "2")
        for trust in (("--ca", authority.file), ("--insecure",)):
            status, told = load(weft_bench, url, *much, *trust)
            assert status == 0 and told["requests"] > 0 and told["errors"]["total"] == 0
        done = run([weft_bench, "load", url, *much])
        assert done.returncode == 3 and "the certificate is not to be trusted: unable to get local issuer" in done.stdout
        assert server.stop() == 0, server.log


def test_https_to_a_server_that_knows_none_is_an_error(weftd, weft_bench):
    with Server([weftd, "--listen", "127.0.0.1:0"]) as server:
        done = run([weft_bench, "load", f"https://{server.address}/", "-c", "2", "-d", "200ms", "-w", "0s"])
        assert done.returncode == 3 and "could not connect (the first: no TLS: " in done.stdout


@pytest.fixture
def nghttpd(tmp_path, site):
    """Of another implementation: nghttp2's. Its port and what stands in its folder."""
    (tmp_path / "www").mkdir()
    (tmp_path / "www/it").write_bytes(b"x" * 100_000)
    running = []

    def start(*options):
        with socket.create_server(("127.0.0.1", 0)) as claimed:
            port = claimed.getsockname()[1]
        running.append(subprocess.Popen(["nghttpd", "-a", "127.0.0.1", "-d", tmp_path / "www", *options, str(port),
                                         *(() if "--no-tls" in options else (site[1], site[0]))]))
        until_listening(port, running[-1])
        return port
    yield start
    for process in running:
        process.kill()
        process.wait()


def until_listening(port, process):
    while process.poll() is None:
        with contextlib.suppress(ConnectionError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.01)
    raise AssertionError("the server has not come up")


def test_http2_is_loaded_by_several_streams(weft_bench, nghttpd):
    port = nghttpd("--no-tls")
    much = ("--http2", "--rate", "500", "-c", "2", "--pipeline", "10", "-d", "1s", "-w", "0s")
    status, told = load(weft_bench, f"http://127.0.0.1:{port}/it", *much)
    assert status == 0
    assert told["requests"] == 500 and told["errors"]["total"] == 0
    assert told["bytes_received"] > 500 * 100_000
    status, told = load(weft_bench, f"http://127.0.0.1:{port}/nothing", *much, "--data", "a body")
    assert status == 1 and told["status"]["4xx"] == told["requests"] == 500


def test_streams_that_are_reset_are_errors_and_are_followed_by_others(weft_bench):
    with node(script="answers_http2.js") as port:
        status, told = load(weft_bench, f"http://127.0.0.1:{port}/reset", "--http2", "-c", "1", "--pipeline", "3",
                            "-d", "300ms", "-w", "0s")
    assert status == 3 and told["requests"] == 0 and told["errors"]["total"] == told["errors"]["reset"] > 10


def test_http2_over_tls_is_loaded(weft_bench, nghttpd, authority):
    status, told = load(weft_bench, f"https://127.0.0.1:{nghttpd()}/it", "--http2", "--ca", authority.file,
                        "-c", "3", "--pipeline", "4", "-d", "300ms", "-w", "0s")
    assert status == 0 and told["requests"] > 0 and told["errors"]["total"] == 0


def test_http2_to_a_server_that_knows_none_is_an_error(weft_bench, scripted, example, site):
    few = ("--http2", "-k", "-c", "1", "-d", "300ms", "-w", "0s")
    status, told = load(weft_bench, scripted().url, *few)
    assert status == 3 and told["errors"]["malformed"] > 0
    only_http1 = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    only_http1.load_cert_chain(*site)
    only_http1.set_alpn_protocols(["http/1.1"])
    with websocket_server(echo, ssl=only_http1) as port:
        done = run([weft_bench, "load", f"https://127.0.0.1:{port}/", *few])
    assert done.returncode == 3 and "the server does not speak HTTP/2" in done.stdout


@contextlib.contextmanager
def websocket_server(handle, **options):
    """Of another implementation: the `websockets` library of Python, in a thread."""
    served = {}
    ready = threading.Event()

    async def serve():
        served["loop"], served["over"] = asyncio.get_running_loop(), asyncio.Event()
        async with websockets.serve(handle, "127.0.0.1", 0, **options) as server:
            served["port"] = server.sockets[0].getsockname()[1]
            ready.set()
            await served["over"].wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert ready.wait(20)
    try:
        yield served["port"]
    finally:
        served["loop"].call_soon_threadsafe(served["over"].set)
        thread.join()


async def echo(socket):
    async for message in socket:
        await socket.send(message)


async def echo_in_pieces(socket):
    async for message in socket:
        await socket.ping()
        await socket.send([message[:3], message[3:]])


@pytest.mark.parametrize("handle", [echo, echo_in_pieces])
@pytest.mark.parametrize("how", [(), ("--binary", "--data", "x" * 70_000), ("--pipeline", "3")])
def test_messages_of_a_websocket_are_answered(weft_bench, handle, how):
    with websocket_server(handle) as port:
        status, told = load(weft_bench, f"ws://127.0.0.1:{port}/a", "--rate", "200", "-c", "3", "-d", "1s", "-w", "0s", "--echo", *how)
    assert status == 0
    assert told["requests"] == 200 and told["errors"]["total"] == 0


def test_a_websocket_over_tls_is_loaded(weft_bench, authority, site):
    secured = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secured.load_cert_chain(*site)
    with websocket_server(echo, ssl=secured) as port:
        status, told = load(weft_bench, f"wss://127.0.0.1:{port}/", "-c", "2", "-d", "300ms", "-w", "0s", "--ca", authority.file)
    assert status == 0 and told["requests"] > 0 and told["errors"]["total"] == 0


def test_a_websocket_that_answers_something_else_is_an_error(weft_bench, scripted):
    async def shout(socket):
        async for message in socket:
            await socket.send(message.upper())

    async def leave(socket):
        await socket.recv()

    few = ("-c", "1", "-d", "300ms", "-w", "0s")
    with websocket_server(shout) as port:
        status, told = load(weft_bench, f"ws://127.0.0.1:{port}/", *few, "--echo")
        assert status == 3 and told["errors"]["malformed"] == told["errors"]["total"] > 0
        status, told = load(weft_bench, f"ws://127.0.0.1:{port}/", *few)
        assert status == 0 and told["requests"] > 0
    with websocket_server(leave) as port:
        status, told = load(weft_bench, f"ws://127.0.0.1:{port}/", *few)
        assert status == 3 and told["errors"]["closed"] == told["errors"]["total"] > 0
    done = run([weft_bench, "load", scripted().url.replace("http", "ws"), *few])
    assert done.returncode == 3 and "no WebSocket: the server answers 'HTTP/1.1 200 OK'" in done.stdout


def test_a_page_shows_the_curve(weft_bench, scripted, tmp_path):
    page = tmp_path / "load.html"
    done = run([weft_bench, "load", scripted().url, "--rate", "400", "-c", "4", "-d", "1s", "-w", "0s", "--html", page])
    assert done.returncode == 0 and "a second of 400 due" in done.stdout
    html = page.read_text()
    assert "<polyline" in html and "<dd>400, " in html and " a second of 400 due</dd>" in html


def test_a_page_that_cannot_be_written_is_an_error(weft_bench, scripted):
    """Before the load, where that is known by then."""
    server = scripted()
    done = run([weft_bench, "load", server.url, "--html", "/no/such/folder/load.html"])
    assert done.returncode == 2 and server.answered == 0
    assert "cannot write '/no/such/folder/load.html': No such file or directory" in done.stderr
    done = run([weft_bench, "load", server.url, "-d", "100ms", "-w", "0s", "--html", "/dev/full"])
    assert done.returncode == 1 and "cannot write '/dev/full': No space left on device" in done.stderr


def test_a_search_ends_below_what_the_server_can_do(weft_bench, scripted):
    status, told = load(weft_bench, scripted().url, "--find-max", "--p99", "1s", "-c", "2", "-d", "300ms", "-w", "0s")
    assert status == 0
    assert told["max_rate"] > 0
    kept = [probe for probe in told["probes"] if probe["kept"]]
    assert max(probe["rate"] for probe in kept) == pytest.approx(told["max_rate"], abs=0.1)
    for probe in kept:
        assert probe["errors"]["total"] == 0 and probe["latency_us"]["p99"] <= 1_000_000


def test_a_search_that_keeps_nothing_says_so(weft_bench, scripted):
    done = run([weft_bench, "load", scripted().url, "--find-max", "--p99", "0.000001", "-c", "1", "-d", "50ms", "-w", "0s"])
    assert done.returncode == 1
    assert "no rate was kept" in done.stdout
    assert done.stdout.count("too slow") == 8
