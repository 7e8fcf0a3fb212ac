"""The tables in README.md and docs/benchmarks.md, made of stored results (bench/results): what is there is where it came from."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

BEGIN, END = "<!-- made by bench/headline -->", "<!-- end -->"
_KEPT = ("per_second", "cpu_us", "process_us", "p50_us", "p99_us", "resident_bytes")


def _ratio(of: dict | None) -> list[float] | None:
    return of and [round(of[name], 4) for name in ("median", "low", "high")]


def _stored_server(series: dict) -> dict:
    median = {name: series["median"][name] for name in _KEPT}
    return {
        "kind": series["kind"],
        "is_peer": series["is_peer"],
        "parses": series["parses"],
        **{name: value and round(value, 3) for name, value in median.items()},
        "cpu_ratio": _ratio(series["cpu_ratio"]),
        "rate_ratio": _ratio(series["rate_ratio"]),
        "errors": sum(series["errors"].values()),
        "busy_runs": series["busy_runs"],
    }


def stored(report: dict) -> dict:
    """What is worth keeping of a report; servers that failed are left out."""
    return {
        "machine": report["machine"],
        "notes": report["notes"],
        "workloads": {
            workload["name"]: {
                "title": workload["title"],
                "connections": workload["connections"],
                "rounds": max(len(series["runs"]) for series in workload["series"]),
                "servers": {
                    series["subject"]: _stored_server(series)
                    for series in workload["series"]
                    if series["cpu_ratio"]
                },
            }
            for workload in report["workloads"]
            if workload["problem"] is None
        },
    }


def name_of(report: dict) -> str:
    """`2026-11-25-0644.json`: they sort by time."""
    date, time, *_ = report["machine"]["date"].split()
    return f"{date}-{time.replace(':', '')}.json"


def all_stored(folder: Path) -> list[dict]:
    """The newest first."""
    files = sorted(folder.glob("*.json"), reverse=True)
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


@dataclass(frozen=True)
class Row:
    what: str
    beside: str  # what the ratio is to
    epoll: tuple[str, str]  # workload and server
    uring: tuple[str, str]


ROWS = (
    Row("`POST /ping`, JSON in and out, 400 connections", "a bare epoll server",
        ("ping", "weftd_epoll"), ("ping", "weftd_uring")),
    Row("the same with 19,000 connections", "a bare epoll server",
        ("ping-19000", "weftd_epoll"), ("ping-19000", "weftd_uring")),
    Row("TCP echo, 1,000 connections", "a bare epoll server",
        ("echo", "echo_epoll"), ("echo", "echo_uring")),
    Row("a batch of one read, parsed and written again", "weft on epoll",
        ("rdrs-write-1", "weft_epoll"), ("rdrs-write-1", "weft_uring")),
    Row("a batch of ten reads, parsed and written again", "weft on epoll",
        ("rdrs-write-10", "weft_epoll"), ("rdrs-write-10", "weft_uring")),
    Row("a row by its key from SQLite", "weftd’s own ping",
        ("rdrs-weftd-epoll", "pk_read_epoll"), ("rdrs-weftd-uring", "pk_read_uring")),
)  # fmt: skip


def _newest(results: Sequence[dict], workload: str, server: str) -> dict | None:
    """The newest result that has that server in that workload."""
    for each in results:
        if server in each["workloads"].get(workload, {"servers": {}})["servers"]:
            return each
    return None


def _cell(servers: dict, name: str) -> str:
    server = servers[name]
    median, low, high = server["cpu_ratio"]
    if (median, low, high) == (1, 1, 1):
        return "1"
    return f"{median:.2f} ({low:.2f}–{high:.2f})" + (" !" if server["busy_runs"] else "")


def _best(servers: dict, is_peer: bool) -> str | None:
    those = [name for name, each in servers.items() if each["is_peer"] == is_peer and each["kind"] == "complete"]
    return min(those, key=lambda name: servers[name]["cpu_ratio"][0], default=None)


def _best_rival(servers: dict) -> str:
    best = _best(servers, is_peer=True)
    if best is None:
        return "–"
    return f"{best}{'' if servers[best]['parses'] else '*'} {_cell(servers, best)}"


def _line(row: Row, results: Sequence[dict]) -> str | None:
    cells, dates = [], set()
    servers: dict = {}
    for workload, server in (row.epoll, row.uring):
        result = _newest(results, workload, server)
        if result is None:
            return None
        servers = result["workloads"][workload]["servers"]
        cells.append(_cell(servers, server))
        dates.add(result["machine"]["date"].split()[0])
    cells.append(_best_rival(servers))
    return f"| {row.what} | {row.beside} | {' | '.join(cells)} | {', '.join(sorted(dates))} |"


def table(results: Sequence[dict]) -> str:
    lines = [
        "| core time a request | as a multiple of | weft on epoll | weft on io_uring | best complete server of others | measured |",
        "|---|---|---|---|---|---|",
        *filter(None, (_line(row, results) for row in ROWS)),
    ]
    machine = results[0]["machine"]
    lines += [
        "",
        "Medians of interleaved rounds, with the middle half; \\* gives a fixed reply and does not read the body; ! had a "
        "busy machine.",
        f"Machine of the newest: {machine['processor']}, {machine['memory']}, cores {machine['cores']}; {machine['kernel']}; "
        f"{machine['compiler']}.",
    ]
    return "\n".join(lines)


def _both(ours: float | None, theirs: float | None, text: Callable[[float], str]) -> str:
    """What is not known of one that somebody else has started is a dash."""
    return ", ".join("–" if each is None else text(each) for each in (ours, theirs))


def _one_workload(work: dict, date: str) -> str | None:
    servers = work["servers"]
    ours, theirs = _best(servers, is_peer=False), _best(servers, is_peer=True)
    if ours is None or theirs is None:
        return None
    weft, rival = servers[ours], servers[theirs]
    cells = [
        work["title"],
        f"{work['connections']:,}",
        f"{ours} {weft['cpu_us']:.2f} µs",
        f"{theirs}{'' if rival['parses'] else '*'} {rival['cpu_us']:.2f} µs",
        f"{weft['cpu_ratio'][0] / rival['cpu_ratio'][0]:.2f}",
        _both(weft["p99_us"], rival["p99_us"], lambda each: f"{each:,.0f} µs"),
        _both(weft["resident_bytes"], rival["resident_bytes"], lambda each: f"{each / 1e6:.1f} MB"),
        date,
    ]
    return f"| {' | '.join(cells)} |"


def standings(results: Sequence[dict]) -> str:
    """Of each workload the newest result with servers of others, in the order in which they were first measured."""
    newest: dict[str, str] = {}
    for result in reversed(results):
        date = result["machine"]["date"].split()[0]
        for name, work in result["workloads"].items():
            if row := _one_workload(work, date):
                newest[name] = row
    return "\n".join(
        [
            "| workload | connections | weft, core time a request | best complete server of others | ratio | p99, weft’s, theirs | memory, weft’s, theirs | measured |",
            "|---|---|---|---|---|---|---|---|",
            *newest.values(),
        ]
    )


def with_table(text: str, made: str) -> str:
    """The text with what stands between the marks replaced."""
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"{BEGIN} and {END} are not there")
    return f"{before}{BEGIN}\n{made}\n{END}{after}"
