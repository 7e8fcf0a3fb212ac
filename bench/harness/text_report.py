"""The report for a terminal."""

from __future__ import annotations

from harness.published import (
    PublishedInProcess,
    PublishedServer,
    in_process_beside,
    load_words,
    published,
    servers_beside,
)
from harness.summary import busy_runs
from harness.verdict import conclusion, floor_words, losses, words


def time_text(microseconds: float | None) -> str:
    if microseconds is None:
        return "–"
    if microseconds < 1000:
        return f"{microseconds:.0f} µs"
    return f"{microseconds / 1000:.2f} ms" if microseconds < 1e6 else f"{microseconds / 1e6:.2f} s"


def tick_text(microseconds: float) -> str:
    """In few letters, for an axis."""
    for factor, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= factor:
            return f"{microseconds / factor:.3g} {unit}"
    return f"{microseconds:.3g} µs"


def nanoseconds_text(nanoseconds: float) -> str:
    return f"{nanoseconds:,.{1 if nanoseconds < 1000 else 0}f} ns"


def bytes_text(count: float | None) -> str:
    return "–" if count is None else f"{count / 1024 / 1024:.1f} MB"


def ratio_text(ratio: dict | None) -> str:
    return "–" if ratio is None else f"{ratio['median']:.3f}"


def spread_text(ratio: dict | None) -> str:
    """The middle half of the pairs."""
    return "–" if ratio is None else f"{ratio['low']:.2f}–{ratio['high']:.2f}"


def errors_text(errors: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in errors.items()) or "0"


def number_text(value: float | None, decimals: int = 0) -> str:
    return "–" if value is None else f"{value:,.{decimals}f}"


def kind_text(series: dict) -> str:
    """What kind of server it is; a star for one that does not read its requests' JSON."""
    return series["kind"] + ("" if series["parses"] else "*")


COLUMNS = ("server", "kind", "CPU µs/req", "ratio", "spread", "process", "ratio", "req/s", "ratio",
           "p50", "p99", "p99.9", "RSS", "after", "B/conn", "B/answer", "errors")  # fmt: skip


def row(series: dict) -> list[str]:
    median = series["median"]
    return [
        series["subject"],
        kind_text(series) + (f" !{series['busy_runs']}" if series["busy_runs"] else ""),
        number_text(median["cpu_us"], 2),
        ratio_text(series["cpu_ratio"]),
        spread_text(series["cpu_ratio"]),
        number_text(median["process_us"], 2),
        ratio_text(series["process_ratio"]),
        number_text(median["per_second"]),
        ratio_text(series["rate_ratio"]),
        time_text(median["p50_us"]),
        time_text(median["p99_us"]),
        time_text(median["p999_us"]),
        bytes_text(median["resident_bytes"]),
        bytes_text(median["resident_after"]),
        number_text(series["bytes_per_connection"]),
        number_text(median["answer_bytes"]),
        errors_text(series["errors"]),
    ]


def table(rows: list[list[str]]) -> list[str]:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if index < 2 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()
        for cells in rows
    ]


def heading(workload: dict) -> str:
    pairs = max((len(series["runs"]) for series in workload["series"]), default=0)
    due = "" if workload.get("rate") is None else f", {workload['rate']:,.0f} a second due"
    return f"{workload['title']}, {workload['connections']:,} connections{due}, {pairs} rounds"


_HOW = """\
  CPU µs/req: what one request costs the server's core, kernel and softirq included.
  process: the same as charged to the server's process, blind to softirqs outside it.
  Ratios are to the first row: the median of the rounds' ratios; spread: the middle half.
  bare: a trivial parser, not a complete server; *: a fixed reply, the JSON is not read;
  !: others were at work in that many of its runs.
  RSS: under load, at most, and after it; B/conn: what RSS grew by, for each connection;
  B/answer: of a whole answer with its head, where the harness has looked.
  wins, loses: the middle half of the rounds is on that side, else even."""


IN_PROCESS_COLUMNS = ("each", "middle half", "most memory")


def in_process_row(point: dict) -> list[str]:
    return [
        f"{point['size']:,}",
        nanoseconds_text(point["ns"]),
        f"{nanoseconds_text(point['ns_low'])[:-3]}–{nanoseconds_text(point['ns_high'])}",
        f"{point['rss_mb']:.1f} MB",
    ]


def _in_process(work: dict) -> list[str]:
    lines = ["", f"{work['title']}, one thread, {work['rounds']} rounds"]
    if work["points"]:
        head = [f"{work['unit']}s", *IN_PROCESS_COLUMNS]
        lines += ["  " + line for line in table([head, *map(in_process_row, work["points"])])]
    lines += [f"  {_published_in_process(each)}" for each in in_process_beside(work["name"])]
    if work["busy_rounds"]:
        lines.append(f"  note: BUSY MACHINE in {work['busy_rounds']} of {work['rounds']} rounds")
    if work["problem"]:
        lines.append(f"  NOT COMPLETE: {work['problem']}")
    return lines


RUNTIME_COLUMNS = ("", "weft", "middle half", "tokio", "ratio", "middle half", "")


def runtime_row(row: dict) -> list[str]:
    return [
        row["title"],
        nanoseconds_text(row["ns"]),
        f"{nanoseconds_text(row['ns_low'])[:-3]}–{nanoseconds_text(row['ns_high'])}",
        "–" if row["theirs_ns"] is None else nanoseconds_text(row["theirs_ns"]),
        ratio_text(row["ratio"]),
        spread_text(row["ratio"]),
        row["outcome"] or "",
    ]


def runtime_notes(works: list[dict]) -> list[str]:
    busy = [f"BUSY MACHINE in {work['busy_rounds']} of {work['rounds']} rounds of {work['name']}"
            for work in works if work["busy_rounds"]]  # fmt: skip
    return busy + [f"NOT COMPLETE: {work['name']}: {work['problem']}" for work in works if work["problem"]]


def _runtime(works: list[dict]) -> list[str]:
    if not works:
        return []
    rows = [runtime_row(row) for work in works for row in work["rows"]]
    return [
        "",
        f"The runtime alone, on two cores, {max(work['rounds'] for work in works)} rounds",
        *("  " + line for line in table([list(RUNTIME_COLUMNS), *rows])),
        *(f"  note: {note}" for note in runtime_notes(works)),
    ]


def _workload(workload: dict) -> list[str]:
    lines = ["", heading(workload)]
    if any(series["runs"] for series in workload["series"]):
        lines += ["  " + line for line in table(
            [list(COLUMNS), *(row(series) for series in workload["series"])]
        )]  # fmt: skip
    lines += [f"  {words(verdict)}" for verdict in workload["verdicts"]]
    if workload["floor"]:
        lines.append(f"  {floor_words(workload['floor'])}")
    lines += [f"  {_published_server(each)}" for each in servers_beside(workload["name"])]
    if workload["problem"]:
        lines.append(f"  NOT COMPLETE: {workload['problem']}")
    for series in workload["series"]:
        if series["problem"]:
            lines.append(f"  {series['subject']}: NOT MEASURED: {series['problem']}")
    return lines + [f"  note: {note}" for note in workload["notes"]]


def _published_server(each: PublishedServer) -> str:
    cpu = f", {each['cpu_us']:.1f} µs of core time" if "cpu_us" in each else ""
    times = f", p50 {time_text(each['p50_us'])}, p99 {time_text(each['p99_us'])}" if each["p50_us"] else ""
    errors = "" if each["errors"] == "0" else f", errors: {each['errors']}"
    return f"theirs: {each['server']}: {number_text(each['per_second'])} req/s{times}{cpu}{errors} [{each['source']}]"


def _published_in_process(each: PublishedInProcess) -> str:
    cost = nanoseconds_text(each["ns"])
    return f"theirs: {each['system']}: {cost} each of {each['size']:,}, {each['rss_mb']:g} MB [{each['source']}]"


def _sources() -> list[str]:
    others = servers_beside(None)
    return [
        "",
        "What is marked `theirs` was not measured here, and on other machines:",
        *(f"  [{source}] {load_words(source)}" for source in published()["sources"]),
        "Of a kind that no workload here is of:",
        *(f"  {_published_server(each)}" for each in others),
    ]


def busy_text(report: dict) -> str | None:
    busy, ran = busy_runs(report)
    if not busy:
        return None
    return f"BUSY MACHINE: others were at work in {busy} of {ran} runs: measure again before you believe them"


def render(report: dict) -> str:
    lines = ["weft benchmark", ""]
    lines += [f"  {name:<10} {value}" for name, value in report["machine"].items()]
    lines += [f"  note       {note}" for note in report["notes"]]
    if busy := busy_text(report):
        lines += ["", f"  {busy}"]
    lines += ["", *_HOW.splitlines()]
    for workload in report["workloads"]:
        lines += _workload(workload)
    for work in report["in_process"]:
        lines += _in_process(work)
    lines += _runtime(report.get("runtime", []))
    lines += [*_sources(), "", conclusion(report)]
    lines += [f"  {name}: {how}" for name, how in losses(report)]
    return "\n".join(lines) + "\n"
