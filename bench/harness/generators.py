"""The load generators: how each is called and what its output says."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from harness.asks import Ask

BENCH = Path(__file__).resolve().parent.parent
HERE = "127.0.0.1"
PING_BODY = '{"sequence": 2}'
WEBSOCKET_MESSAGE = "x" * 64
# As long as what ab sends.
ECHO_MESSAGE = (
    "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: 127.0.0.1\r\nUser-Agent: x\r\n\r\n"
)


class Unreadable(Exception):
    """A generator's output is not what it should be."""


@dataclass(frozen=True)
class Outcome:
    """What one run of a generator says. Latencies are in microseconds."""

    requests: int  # answered in `window`
    per_second: float
    p50: float
    p99: float
    max: float
    p999: float | None = None  # where it is told
    percentiles: dict[str, float] = field(default_factory=dict)  # all that are told, by percent
    errors: dict[str, int] = field(default_factory=dict)  # by kind, those that happened at all
    late_p99: float | None = None  # how late the generator itself was, where requests are due at a time
    window: tuple[float, float] | None = None  # monotonic seconds; None: the generator's whole life
    bytes: int | None = None  # of all replies in `window`, heads included, where they are told

    @property
    def failed(self) -> int:
        return sum(self.errors.values())


class Generator(Protocol):
    name: str
    program: str  # its file, or its name on the path
    package: str  # where the program comes from

    @property
    def length(self) -> float: ...  # of a run in seconds, roughly
    def command(
        self, port: int, connections: int, ask: Ask | None = None, host: str = HERE
    ) -> list[str]: ...
    def parse(self, output: str) -> Outcome: ...


def _happened(counts: dict[str, int]) -> dict[str, int]:
    return {kind: count for kind, count in counts.items() if count}


def _percentiles(said: dict[str, float]) -> dict[str, float]:
    """`{"p99.9": 1.0}` as `{"99.9": 1.0}`."""
    return {name[1:]: value for name, value in said.items() if re.fullmatch(r"p[\d.]+", name)}


_PING = ("/ping", "--data", PING_BODY)
# What is asked for by itself, with each protocol: scheme, path and options.
_BY_ITSELF = {
    "http": ("http", *_PING),
    "tls": ("https", *_PING),
    "http2": ("http", *_PING),
    "websocket": ("ws", "/echo", "--binary", "--echo", "--data", WEBSOCKET_MESSAGE),
    "echo": ("tcp", "", "--data", ECHO_MESSAGE),
}
_ALWAYS = {"tls": ("--insecure",), "http2": ("--http2",)}


@dataclass(frozen=True)
class WeftBench:
    """Our own generator: the leanest, so that the server's core is the limit and not the load's."""

    program: str
    protocol: str  # as a subject's
    seconds: float
    warm_up: float
    pipelined: int = 1  # requests on a connection that wait for a reply at once; streams of HTTP/2
    rate: float | None = None  # requests a second that are due, whatever the server does; None: as many as it answers
    name: str = "weft-bench"
    package: str = "this repository (make build)"

    @property
    def length(self) -> float:
        return self.warm_up + self.seconds

    def command(
        self, port: int, connections: int, ask: Ask | None = None, host: str = HERE
    ) -> list[str]:
        scheme, path, *what = _BY_ITSELF[self.protocol]
        if ask is not None:
            path, what = ask.timed.path, [] if ask.body is None else ["--body", str(ask.body)]
        what = [f"{scheme}://{host}:{port}{path}", *what, *_ALWAYS.get(self.protocol, ())]
        how = ["-c", str(connections), "-d", f"{self.seconds}", "-w", f"{self.warm_up}"]
        if self.pipelined > 1:
            how += ["--pipeline", str(self.pipelined)]
        if self.rate is not None:
            how += ["--rate", f"{self.rate:.0f}"]
        return [self.program, "load", *what, *how, "--json", "--quiet"]

    def parse(self, output: str) -> Outcome:
        return parse_weft_bench(output)


@dataclass(frozen=True)
class WebsocketLoad:
    """What weft-bench does not do with WebSockets; in Python, so that the generator's core is full."""

    kind: str  # "feed" or "turns"
    seconds: float
    name: str = "websocket/load"
    program: str = str(BENCH / "websocket/load")
    package: str = "this repository"

    @property
    def length(self) -> float:
        return self.seconds

    def command(
        self, port: int, connections: int, ask: Ask | None = None, host: str = HERE
    ) -> list[str]:
        return [self.program, self.kind, f"{host}:{port}", str(connections), f"{self.seconds}"]

    def parse(self, output: str) -> Outcome:
        return parse_weft_bench(output)


@dataclass(frozen=True)
class Wrk:
    seconds: float
    name: str = "wrk"
    program: str = "wrk"
    package: str = "wrk"

    @property
    def length(self) -> float:
        return max(1, round(self.seconds))

    def command(
        self, port: int, connections: int, ask: Ask | None = None, host: str = HERE
    ) -> list[str]:
        load = ["-t1", f"-c{connections}", f"-d{max(1, round(self.seconds))}s", "--latency"]
        return [self.program, *load, "-s", str(BENCH / "ping.lua"), f"http://{host}:{port}/ping"]

    def parse(self, output: str) -> Outcome:
        return parse_wrk(output)


@dataclass(frozen=True)
class Ab:
    requests: int
    keeps: bool = True  # its connections; or each is for one request
    per_second: int = 80_000  # roughly, of a fast server
    scheme: str = "http"
    is_echo: bool = False  # what comes back is what was sent, and no HTTP reply
    name: str = "ab"
    program: str = "ab"
    package: str = "apache2-utils"

    @property
    def length(self) -> float:
        return self.requests / self.per_second

    def command(
        self, port: int, connections: int, ask: Ask | None = None, host: str = HERE
    ) -> list[str]:
        amount = ["-n", str(self.requests), "-c", str(connections), *(["-k"] if self.keeps else [])]
        path = "/" if ask is None else ask.timed.path
        return [self.program, "-q", *amount, f"{self.scheme}://{host}:{port}{path}"]

    def parse(self, output: str) -> Outcome:
        return parse_ab(output, self.is_echo)


def parse_weft_bench(output: str) -> Outcome:
    try:
        said = json.loads(output)
        errors = {
            kind: said["errors"][kind] + said["errors_in_warm_up"][kind]
            for kind in said["errors"]
            if kind != "total"
        }
        latency = said["latency_us"]
        start = said["measured_from"]
        return Outcome(
            requests=said["requests"],
            per_second=said["requests_per_second"],
            p50=latency["p50"],
            p99=latency["p99"],
            max=latency["max"],
            p999=latency["p99.9"],
            percentiles=_percentiles(latency),
            errors=_happened({**errors, **said["status"]}),
            late_p99=said["send_delay_us"]["p99"] if said.get("rate") else None,
            window=(start, start + said["seconds"]),
            bytes=said.get("bytes_received"),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"weft-bench said {output[-200:]!r}") from error


def parse_wrk(output: str) -> Outcome:
    for line in output.splitlines():
        if line.startswith("RESULT "):
            said = json.loads(line.removeprefix("RESULT "))
            kinds = ("connect", "read", "write", "timeout", "status")
            latency = said["percentiles"]
            return Outcome(
                requests=said["requests"],
                per_second=said["requests"] / said["seconds"],
                p50=latency["p50"],
                p99=latency["p99"],
                max=said["max"],
                p999=latency["p99.9"],
                percentiles=_percentiles(latency),
                errors=_happened({kind: said[kind] for kind in kinds}),
            )
    raise Unreadable(f"wrk said {output[-200:]!r}")


def parse_ab(output: str, is_echo: bool = False) -> Outcome:
    """An echo is no HTTP reply, so ab calls its status 'Non-2xx': that is no failure there."""

    def figure(pattern: str, missing: float | None = None) -> float:
        found = re.search(pattern, output, re.MULTILINE)
        if found:
            return float(found[1])
        if missing is None:
            raise Unreadable(f"ab said {output[-200:]!r}")
        return missing

    return Outcome(
        requests=int(figure(r"^Complete requests:\s+(\d+)")),
        per_second=figure(r"^Requests per second:\s+([\d.]+)"),
        p50=figure(r"^\s+50%\s+(\d+)") * 1000,
        p99=figure(r"^\s+99%\s+(\d+)") * 1000,
        max=figure(r"^\s+100%\s+(\d+)") * 1000,
        percentiles={
            percent: float(milliseconds) * 1000
            for percent, milliseconds in re.findall(r"^\s+(\d\d)%\s+(\d+)", output, re.MULTILINE)
        },
        errors=_happened(
            {
                "failed": int(figure(r"^Failed requests:\s+(\d+)")),
                "write": int(figure(r"^Write errors:\s+(\d+)", missing=0)),
                "status": 0 if is_echo else int(figure(r"^Non-2xx responses:\s+(\d+)", missing=0)),
            }
        ),
    )
