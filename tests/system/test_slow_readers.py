"""Clients that ask and take slowly: they are given up, and what they have cost comes back when they have gone."""

import contextlib
import re
import socket
import struct
import time

import pytest
from http2_floods import RST_STREAM, WINDOW_UPDATE, codes_in, frame, stall, streams
from slow_crowd import SlowCrowd
from weft_process import Server, curl, wait_until

PATIENCE_S = 60
CROWD = 500
ASKED = 20  # replies of some 30 KiB, of each
LEFT_MIB_MAX = 24
METRIC = re.compile(r"^(\w+)(?:\{[^}]*\})? (\S+)$", re.MULTILINE)


def value_in(metrics, name):
    return sum(float(value) for found, value in METRIC.findall(metrics) if found == name)


def counted(server, name):
    return value_in(curl(server.url("/metrics")), name)


def resident_mib(server):
    return server.memory_kib("VmRSS") / 1024


def start(weftd, backend, *more, preexec=None):
    return Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--backend", backend, *more], preexec=preexec)


def test_a_window_opened_byte_by_byte_does_not_keep_a_reply(weftd, backend):
    """One byte each 50 ms: never idle, and 20 bytes a second."""
    with start(weftd, backend, "--http.server.limits.write_stall_timeout=400ms") as server, \
            socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as client:
        client.sendall(stall(b"/openapi.json", count=4))
        client.setblocking(False)
        received, give_up = b"", time.monotonic() + PATIENCE_S
        while len(codes_in(received, RST_STREAM)) < 4:
            assert time.monotonic() < give_up, "the streams are still kept"
            with contextlib.suppress(BlockingIOError):
                received += client.recv(65536)
            client.sendall(b"".join(frame(WINDOW_UPDATE, 0, id, struct.pack(">I", 1)) for id in streams(4)))
            time.sleep(0.05)
        assert curl(server.url("/healthz")) == "ok\n"
        assert counted(server, "http_slow_readers_total") >= 4


def test_who_reads_below_the_rate_is_cut(weftd, backend):
    """Some 100 kB a second, and ten times that are wanted; what the kernel holds does not count as taken."""
    with start(weftd, backend, "--http.server.limits.write_stall_timeout=1s",
               "--http.server.limits.reply_bytes_per_second=1000000") as server, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 * 1024)
        client.connect(("127.0.0.1", server.port))
        client.settimeout(PATIENCE_S)
        client.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n" * 1_000)
        give_up = time.monotonic() + PATIENCE_S
        while counted(server, "http_slow_readers_total") == 0:
            assert time.monotonic() < give_up, "it is still waited for"
            for _ in range(10):
                with contextlib.suppress(ConnectionError):  # it is cut just now
                    client.recv(1_000)
                time.sleep(0.01)


def test_memory_comes_back_after_a_crowd(weftd, backend):
    """500 clients ask for megabytes, take nothing, and go."""
    ask = stall(b"/metrics", count=ASKED)
    with start(weftd, backend) as server:
        for _ in range(20):  # what a few cost stays
            curl(server.url("/metrics"))
        before = resident_mib(server)
        frames_before = counted(server, "loop_frame_bytes")
        with contextlib.ExitStack() as crowd:
            for _ in range(CROWD):
                client = crowd.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S))
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.sendall(ask)
            wait_until(lambda: counted(server, "http_connections") >= CROWD, PATIENCE_S)
            wait_until(lambda: resident_mib(server) > before + 2 * LEFT_MIB_MAX, PATIENCE_S)
            peak = resident_mib(server)
        print(f"{before:.0f} MiB before, {peak:.0f} with them")
        wait_until(lambda: resident_mib(server) < before + LEFT_MIB_MAX, 90)
        wait_until(lambda: counted(server, "loop_frame_bytes") < frames_before + 4e6, 90)
        print(f"{resident_mib(server):.0f} MiB left")


def test_memory_comes_back_though_a_crowd_over_http1_stays(weftd, backend, small_buffers):
    """500 clients ask for replies and take a byte of them now and then: they are dropped, and need not leave."""
    network, join = small_buffers
    if network is None:
        pytest.skip("no network can be made in which the kernel holds little")
    with start(weftd, backend, "--http.server.limits.write_stall_timeout=3s", preexec=network) as server, \
            SlowCrowd(server, join(server)) as slow:
        def count(name):
            return value_in(slow.tell("fetch", "/metrics"), name)

        def take_until(is_so, patience_s):
            wait_until(lambda: slow.tell("nibble") is None and is_so(), patience_s)

        for _ in range(20):  # what a few cost stays
            slow.tell("get", "/metrics")
        before = resident_mib(server)
        frames_before = count("loop_frame_bytes")
        assert slow.tell("ask", "/metrics", CROWD, ASKED) == CROWD
        take_until(lambda: count("http_slow_readers_total") >= CROWD, PATIENCE_S)
        take_until(lambda: count("http_connections") <= 1, PATIENCE_S)  # that of who asks
        peak = server.memory_kib("VmHWM") / 1024
        assert peak > before + LEFT_MIB_MAX, "or there is nothing that may come back"
        take_until(lambda: resident_mib(server) < before + LEFT_MIB_MAX, 90)
        take_until(lambda: count("loop_frame_bytes") < frames_before + 4e6, 90)
        print(f"{before:.0f} MiB before, {peak:.0f} with them, {resident_mib(server):.0f} left")
