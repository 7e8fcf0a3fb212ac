"""weft-bench against servers with known behaviour: what it counts is what they did."""

import contextlib
import json
import signal
import socket
import subprocess
import threading
import time

import pytest


class Scripted:
    """A server that calls `answer(connection, request_number)` for each request it reads; an answer
    of False ends the connection."""

    def __init__(self, answer):
        self.answer = answer
        self.requests = 0
        self.heads = []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection, contextlib.suppress(OSError):
            while data := connection.recv(65536):
                if not self.heads:
                    self.heads.append(data)
                self.requests += 1
                if self.answer(connection, self.requests) is False:
                    return


@pytest.fixture
def serve():
    with contextlib.ExitStack() as stack:

        def start(answer):
            server = Scripted(answer)
            stack.callback(server.listener.close)
            return server

        yield start


def run(weft_bench, *arguments):
    done = subprocess.run(
        [weft_bench, "load", *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout, done.stderr


def load(weft_bench, url, *arguments):
    """A short load; its JSON and its exit status."""
    status, output, complaints = run(
        weft_bench, url, "-c", "4", "-d", "0.2", "-w", "0", "--json", *arguments
    )
    assert output, complaints
    return json.loads(output), status


def reply(body, extra=b"", status=b"200 OK"):
    return b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s" % (status, extra, len(body), body)


def sending(*pieces):
    def answer(connection, _):
        for piece in pieces:
            connection.sendall(piece)

    return answer


def answer_all(connection):
    with connection, contextlib.suppress(OSError):
        while connection.recv(65536):
            connection.sendall(reply(b"x"))


def test_counts_what_was_answered(weft_bench, serve):
    server = serve(sending(reply(b"hello")))
    said, status = load(weft_bench, f"http://127.0.0.1:{server.port}/x?y", "--data", "{}")
    assert status == 0
    assert 0 < said["requests"] <= server.requests <= said["requests"] + 4
    assert said["errors"]["total"] == 0
    assert said["bytes_received"] == said["requests"] * len(reply(b"hello"))
    assert 0 < said["latency_us"]["p50"] <= said["latency_us"]["p99"] <= said["latency_us"]["max"]
    assert server.heads[0] == (
        b"POST /x?y HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
        b"Content-Length: 2\r\n\r\n{}" % server.port
    )


def test_a_reply_in_pieces_is_one(weft_bench, serve):
    whole = reply(b"hello")

    def answer(connection, _):
        for index in range(0, len(whole), 9):
            connection.sendall(whole[index : index + 9])
            time.sleep(0.001)

    server = serve(answer)
    said, status = load(weft_bench, f"http://127.0.0.1:{server.port}/")
    assert status == 0
    assert 0 < said["requests"] <= server.requests


def test_a_reply_that_closes_is_no_error(weft_bench, serve):
    for answer in (
        lambda peer, _: peer.sendall(reply(b"x", b"Connection: close\r\n")) or False,
        lambda peer, _: peer.sendall(b"HTTP/1.1 200 OK\r\n\r\nuntil the end") or False,
        lambda peer, _: peer.sendall(b"HTTP/1.0 200 OK\r\n\r\n") or False,
    ):
        said, status = load(weft_bench, f"http://127.0.0.1:{serve(answer).port}/")
        assert status == 0, said
        assert said["requests"] > 4  # it came back
        assert said["reconnects"] == said["requests"]


def test_statuses_are_told_apart(weft_bench, serve):
    for line, kind in ((b"302 Found", "3xx"), (b"404 No", "4xx"), (b"503 Busy", "5xx")):
        server = serve(sending(reply(b"", status=line)))
        said, status = load(weft_bench, f"http://127.0.0.1:{server.port}/")
        assert status == 1
        assert said["status"][kind] == said["requests"] > 0


def test_each_failure_has_its_name(weft_bench, serve):
    for answer, kind in (
        (lambda peer, _: False, "closed"),
        (lambda peer, _: peer.sendall(reply(b"hello")[:-1]) or False, "closed"),
        (sending(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), "malformed"),
        (sending(reply(b"x") + b"y"), "unasked"),
    ):
        said, status = load(weft_bench, f"http://127.0.0.1:{serve(answer).port}/")
        assert status in (1, 3)
        assert said["errors"][kind] > 0, (kind, said)
        assert said["errors"][kind] == said["errors"]["total"]


def test_a_reset_is_told(weft_bench, serve):
    def reset(connection, _):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        return False

    said, _ = load(weft_bench, f"http://127.0.0.1:{serve(reset).port}/")
    assert said["errors"]["reset"] == said["errors"]["total"] > 0


def accept_all(listener):
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=answer_all, args=(connection,), daemon=True).start()


def connecting_to(port):
    """How many sockets of this machine have asked for a connection to `port` and have none yet."""
    with open("/proc/net/tcp") as table:
        lines = [line.split() for line in table][1:]
    return sum(peer.endswith(f":{port:04X}") and state == "02" for _, _, peer, state, *_ in lines)


def has_sent(connection):
    try:
        return connection.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) != b""
    except BlockingIOError:
        return False


def sends_while_connecting(weft_bench):
    """Whether a load with more connections than a listener has room for sends while some of them
    are still connecting; None if all of them saw themselves connected, as a busy kernel may do."""
    backlog = 4  # of which the kernel makes one more: the others have to try again
    with socket.create_server(("127.0.0.1", 0), backlog=backlog) as listener:
        process = subprocess.Popen(
            [weft_bench, "load", f"http://127.0.0.1:{listener.getsockname()[1]}/", "-c", "8",
             "-d", "0.2", "-w", "0", "--json"],
            stdout=subprocess.PIPE,
        )  # fmt: skip
        try:
            early = [listener.accept()[0] for _ in range(backlog + 1)]
            time.sleep(0.2)  # long enough for one that sends at once to be seen
            # In this order: they may all be connected, as they see it, between the two.
            some_sent = any(has_sent(connection) for connection in early)
            some_connect = connecting_to(listener.getsockname()[1]) > 0
            for connection in early:
                threading.Thread(target=answer_all, args=(connection,), daemon=True).start()
            threading.Thread(target=accept_all, args=(listener,), daemon=True).start()
            output, _ = process.communicate(timeout=20)
        finally:
            process.kill()
            process.wait()
    assert json.loads(output)["errors"]["total"] == 0
    return some_sent if some_connect else None


def test_all_connect_before_the_first_sends(weft_bench):
    """Else each further connect is slowed down by those that load the server already."""
    for _ in range(10):
        sends = sends_while_connecting(weft_bench)
        if sends is not None:
            assert not sends
            return
    pytest.skip("this kernel is too busy to keep a connection waiting")


def test_measured_time_is_told_on_the_common_clock(weft_bench, serve):
    before = time.monotonic()
    said, _ = load(weft_bench, f"http://127.0.0.1:{serve(sending(reply(b'x'))).port}/", "-w", "0.1")
    assert before + 0.1 <= said["measured_from"]
    assert said["measured_from"] + said["seconds"] <= time.monotonic()


def test_silence_times_out(weft_bench, serve):
    server = serve(lambda *_: None)
    said, status = load(
        weft_bench, f"http://127.0.0.1:{server.port}/", "-d", "2.5", "--timeout", "300ms"
    )
    assert status == 3
    assert said["errors"]["timed_out"] >= 4


def test_nobody_there(weft_bench):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    said, status = load(weft_bench, f"http://127.0.0.1:{port}/")
    assert status == 3
    assert said["requests"] == 0
    assert said["errors"]["connect"] > 0
    status, text, _ = run(weft_bench, f"http://127.0.0.1:{port}/", "-d", "0.2", "-w", "0")
    assert "Connection refused" in text


def test_echo_is_compared(weft_bench, tmp_path):
    def server(change):
        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    threading.Thread(target=answer, args=(connection,), daemon=True).start()

        def answer(connection):
            with connection, contextlib.suppress(OSError):
                while data := connection.recv(65536):
                    connection.sendall(change(data))

        listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=serve, daemon=True).start()
        return listener

    long_message = tmp_path / "message"
    long_message.write_text("0123456789" * 500_000)  # more than buffers hold: sent in pieces
    with server(lambda data: data) as right:
        url = f"tcp://127.0.0.1:{right.getsockname()[1]}"
        for message in (["--data", "hello"], ["--body", str(long_message)]):
            said, status = load(weft_bench, url, *message)
            assert status == 0, said
            assert said["requests"] > 0
        # An echo of HTTP bytes, as ab sees it.
        http = url.replace("tcp", "http")
        said, status = load(weft_bench, http, "--echo")
        assert status == 0
        assert said["requests"] > 0
    with server(bytes.upper) as wrong:
        said, status = load(weft_bench, f"tcp://127.0.0.1:{wrong.getsockname()[1]}")
        assert status == 3
        assert said["errors"]["malformed"] == said["errors"]["total"] > 0


@pytest.mark.parametrize("warm_up", ["0", "30"])
def test_ctrl_c_reports_what_there_is(weft_bench, serve, warm_up):
    server = serve(sending(reply(b"x")))
    process = subprocess.Popen(
        [weft_bench, "load", f"http://127.0.0.1:{server.port}/", "-d", "60", "-w", warm_up, "-c2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 20
    while server.requests < 100 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, complaints = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "(interrupted)" in output
    assert "errors     none" in output
    assert complaints == ""  # no progress where nobody watches


def test_wrong_use_is_explained(weft_bench):
    for arguments, reason in (
        ((), "no URL given"),
        (("127.0.0.1:80",), "http://, https://, ws://, wss:// or tcp://"),
        (("http://127.0.0.1/", "--conections", "3"), "did you mean '--connections'?"),
        (("http://127.0.0.1/", "-c", "1000000"), "descriptors"),
    ):
        status, output, complaints = run(weft_bench, *arguments)
        assert status == 2
        assert output == ""
        assert reason in complaints and "--help" in complaints


def test_help(weft_bench):
    status, output, _ = run(weft_bench, "--help")
    assert status == 0
    assert output.startswith("Usage: weft-bench load URL")
    for line in output.splitlines():
        assert len(line) <= 100
