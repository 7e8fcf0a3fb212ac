"""The workloads of what a server speaks beside plain HTTP/1.1: TLS, HTTP/2 and WebSockets; and weft's own programs in them."""

from __future__ import annotations

from pathlib import Path

from harness.effort import Effort
from harness.generators import Ab, Generator, WebsocketLoad, WeftBench
from harness.servers import Subject
from harness.tls import WEFTD_TLS
from harness.workloads import HEALTH, MANY, Workload

_BACKENDS = {"epoll": "epoll", "uring": "io_uring"}
_BASELINES = {"tls": "weftd_epoll", "http2": "weftd_epoll", "websocket": "weft_epoll"}


def protocol_workloads(effort: Effort, build: Path, many: int = MANY) -> list[Workload]:
    """`many`: the connections that are possible at most."""
    weft_bench = str(build / "apps/weft-bench/weft-bench")

    def lean(protocol: str, streams: int = 1) -> WeftBench:
        return WeftBench(weft_bench, protocol, effort.seconds, effort.warm_up, streams)

    def work(name: str, title: str, generator: Generator, protocol: str, connections: int,
             is_plain: bool = False, only_complete: bool = False) -> Workload:  # fmt: skip
        return Workload(name, title, protocol, generator, connections, effort.pairs, effort.peer_pairs, in_quick=False,
                        is_plain=is_plain, only_complete=only_complete, baseline=_BASELINES[protocol])  # fmt: skip

    handshakes = Ab(effort.ab_requests // 40, keeps=False, per_second=1_500, scheme="https")
    return [
        work("tls", "POST /ping by TLS, lean generator", lean("tls"), "tls", 400),
        work("tls-handshake", "GET of a text by TLS, a handshake each, ab", handshakes, "tls", 100,
             is_plain=True, only_complete=True),
        work("http2", "GET of a text by HTTP/2, a stream a connection", lean("http2"), "http2", 400, is_plain=True),
        work("http2-streams", "GET of a text by HTTP/2, 32 streams a connection", lean("http2", 32), "http2", 10, is_plain=True),
        work("websocket", "WebSocket echo of 64 bytes, lean generator", lean("websocket"), "websocket", 100),
        work("websocket-feed", "WebSocket, a message for each of all", WebsocketLoad("feed", effort.seconds), "websocket", 1_000),
        work("websocket-10000", "WebSocket echo, one at a time", WebsocketLoad("turns", effort.seconds), "websocket",
             min(many, 10_000)),
    ]  # fmt: skip


def protocol_subjects(build: Path) -> list[Subject]:
    """The baseline of each protocol comes first."""
    weftd, sockets = build / "apps/weftd/weftd", build / "bench/websocket/bench_websocket"
    subjects = []
    for short, backend in _BACKENDS.items():
        runs = f"--threads 1 --backend {backend}"
        serve = f"'{weftd}' --listen 127.0.0.1:{{port}} {runs}"
        echo = f"'{sockets}' --http.server.listen=127.0.0.1:{{port}} --http.server.limits.connections=20000 {runs}"
        subjects += [
            Subject(f"weftd_{short}", f"{serve} {WEFTD_TLS}", "tls", "complete", plain=HEALTH),
            Subject(f"weftd_{short}", serve, "http2", "complete", plain=HEALTH),
            Subject(f"weft_{short}", echo, "websocket", "complete"),
        ]
    return subjects
