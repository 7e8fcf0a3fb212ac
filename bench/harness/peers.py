"""The peers: other people's servers in a form of our writing (bench/peers), built here when they
are to be measured; and weft's own where it is built in another way than `make build` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.asks import HELLO, Ask, Trial
from harness.building import LeftOut, Make, compiler_command, cpp, go, installed, node, rust, weftd_on_aws_lc
from harness.servers import Subject
from harness.tls import CERTIFICATE, KEY
from harness.workloads import HEALTH

__all__ = ["ALL", "Peer", "build", "compiler_command"]


@dataclass(frozen=True)
class Peer:
    name: str
    kind: str  # "complete", or "bare" for one with a trivial parser
    make: Make
    protocol: str = "http"
    parses: bool = True  # its reply is made from the request
    leads: bool = False  # among the fastest: takes part in a quick run, and where not all do
    plain: Trial | None = None  # what it answers with a short text
    is_ours: bool = False  # weft's own, but as `make build` does not make it
    # What it is asked in each workload; of the folder to build into.
    asks: Callable[[Path], Mapping[str, Ask]] | None = None


# Debian's Asio forgets to include <exception>, which libc++ does not bring along.
_ASIO = ("asio.hpp", "libasio-dev", ("-include", "exception"))
_LIBUV = ("uv.h", "libuv1-dev", (), ("-luv",))
_BOOST = "libboost1.81-dev"
_CERTIFICATE = f"{{scratch}}/{CERTIFICATE} {{scratch}}/{KEY}"

ALL = (
    Peer("nginx", "complete", installed("nginx"), parses=False, leads=True,
         plain=HELLO),
    Peer("h2o", "complete", installed("h2o"), parses=False, plain=HELLO),
    Peer("boost_beast", "complete", cpp("boost_beast/server.cpp", "boost/json/src.hpp", _BOOST),
         leads=True, plain=HELLO),
    Peer("hyper", "complete", rust("hyper", "hyper_ping"), leads=True, plain=HELLO),
    Peer("axum", "complete", rust("axum", "axum_ping"), plain=HELLO),
    Peer("actix", "complete", rust("actix", "actix_ping"), plain=HELLO),
    Peer("may_minihttp", "complete", rust("may_minihttp", "may_ping"), plain=HELLO),
    Peer("net_http", "complete", go("go", "net_http"), plain=HELLO),
    Peer("fasthttp", "complete", go("go", "fasthttp"), plain=HELLO),
    Peer("gin", "complete", go("go", "gin"), plain=HELLO),
    Peer("gin_sonic", "complete", go("go", "gin", tags="sonic")),
    Peer("node_http", "complete", node("node_http.js"), plain=HELLO),
    Peer("express", "complete", node("express.js"), plain=HELLO),
    Peer("asio", "bare", cpp("asio/server.cpp", *_ASIO), plain=HELLO),
    Peer("libuv", "bare", cpp("libuv/server.cpp", *_LIBUV), plain=HELLO),
    Peer("tokio", "bare", rust("tokio", "tokio_sockets", "tokio_ping")),
    Peer("nginx_tls", "complete", installed("nginx", "tls"), "tls", parses=False, plain=HELLO),
    Peer("h2o_tls", "complete", installed("h2o", "tls"), "tls", parses=False, plain=HELLO),
    Peer("hyper_tls", "complete", rust("hyper", "hyper_ping", "hyper_tls", arguments=_CERTIFICATE), "tls", plain=HELLO),
    Peer("net_http_tls", "complete", go("go", "net_http", arguments=f"tls {_CERTIFICATE}"), "tls", plain=HELLO),
    Peer("weftd_aws_lc_epoll", "complete", weftd_on_aws_lc("epoll"), "tls", plain=HEALTH, is_ours=True),
    Peer("weftd_aws_lc_uring", "complete", weftd_on_aws_lc("io_uring"), "tls", plain=HEALTH, is_ours=True),
    Peer("nginx_http2", "complete", installed("nginx", "http2"), "http2", parses=False, plain=HELLO),
    Peer("h2o_http2", "complete", installed("h2o"), "http2", parses=False, plain=HELLO),
    Peer("hyper_http2", "complete", rust("hyper", "hyper_ping", "hyper_http2"), "http2", plain=HELLO),
    Peer("net_http_http2", "complete", go("go", "net_http", arguments="http2"), "http2", plain=HELLO),
    Peer("tungstenite", "complete", rust("tungstenite", "tungstenite_sockets"), "websocket"),
    Peer("gorilla", "complete", go("go", "gorilla"), "websocket"),
    Peer("ws", "complete", node("ws.js"), "websocket"),
    Peer("echo_asio", "complete", cpp("asio/echo.cpp", *_ASIO), "echo"),
    Peer("echo_boost_asio", "complete",
         cpp("asio/echo.cpp", "boost/asio.hpp", _BOOST, ("-DPEER_BOOST",)), "echo"),
    Peer("echo_libuv", "complete", cpp("libuv/echo.cpp", *_LIBUV), "echo"),
    Peer("echo_tokio", "complete", rust("tokio", "tokio_sockets", "tokio_echo"), "echo"),
    Peer("echo_go", "complete", go("go", "echo"), "echo"),
    Peer("echo_node", "complete", node("echo.js"), "echo"),
)  # fmt: skip


def subject_of(peer: Peer, command: str, into: Path) -> Subject:
    asks = peer.asks(into) if peer.asks else None
    return Subject(peer.name, command, peer.protocol, peer.kind, not peer.is_ours, peer.parses,
                   asks=asks, plain=peer.plain, leads=peer.leads)  # fmt: skip


def build(
    peers: Sequence[Peer], compiler: Sequence[str], into: Path, tell: Callable[[str], None]
) -> tuple[list[Subject], list[str]]:
    """The peers that are ready to run, and for each of the others why not and how to get it."""
    ready, left_out = [], []
    for peer in peers:
        tell(f"peer {peer.name}")
        try:
            command = peer.make(peer.name, compiler, into)
        except LeftOut as reason:
            left_out.append(f"{peer.name} is left out: {reason}")
            continue
        ready.append(subject_of(peer, command, into))
    return ready, left_out
