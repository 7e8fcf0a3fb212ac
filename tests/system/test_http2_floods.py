"""Floods over HTTP/2, for a moment each: the offender is told and cut, the others are served, and memory stays.

bench/http2_floods has them last, and measures how the others fare.
"""

import re
import socket

import pytest
from http2_floods import ENHANCE_YOUR_CALM, RST_STREAM, attack, codes_in, floods, stall
from weft_process import Server, curl

GROWN_MIB_MAX = 16
SECONDS = 0.5


def counted(server, name):
    return sum(float(value) for value in re.findall(rf"^{re.escape(name)} (\S+)$", curl(server.url("/metrics")),
                                                    re.MULTILINE))


@pytest.fixture
def target(weftd, backend):
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--backend", backend,
                 "--http.server.limits.write_stall_timeout=300ms"]) as server:
        yield server
        assert server.stop() == 0, server.log


@pytest.mark.parametrize("flood", floods(b"/healthz"), ids=lambda flood: flood.name)
def test_who_floods_is_cut(target, flood):
    attack(target.port, flood, 0.1)  # what it takes once is taken
    before = target.memory_kib("VmRSS") / 1024
    seen = attack(target.port, flood, SECONDS)
    assert seen.connections > 1
    assert set(seen.codes) <= {flood.code}, seen
    assert seen.codes[flood.code] > 0, "somebody has been told"
    assert curl("--http2-prior-knowledge", target.url("/healthz")) == "ok\n"
    cut = counted(target, f'http2_connections_cut_total{{reason="{flood.reason}"}}')
    assert cut >= seen.connections
    assert target.memory_kib("VmRSS") / 1024 - before < GROWN_MIB_MAX


def test_who_takes_nothing_is_reset(target):
    """/metrics is some 10 KiB; each connection asks for a hundred of it."""
    with socket.create_connection(("127.0.0.1", target.port), timeout=20) as client:
        client.sendall(stall(b"/metrics"))
        received = b""
        while len(codes := codes_in(received, RST_STREAM)) < 100:
            part = client.recv(65536)
            assert part, codes
            received += part
        assert set(codes) == {ENHANCE_YOUR_CALM}
        assert curl("--http2-prior-knowledge", target.url("/healthz")) == "ok\n"
    assert counted(target, "http2_streams_stalled_total") == 100
