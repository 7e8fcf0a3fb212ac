"""The report as one HTML file: no script, nothing loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

from harness.bars import cpu_bars, memory_bars
from harness.html_style import STYLE
from harness.plots import families, in_process_plots, latency_plot, scaling_plots
from harness.published import in_process_beside, load_words, machine_words, servers_beside
from harness.text_report import (
    IN_PROCESS_COLUMNS,
    RUNTIME_COLUMNS,
    busy_text,
    bytes_text,
    errors_text,
    heading,
    in_process_row,
    kind_text,
    nanoseconds_text,
    number_text,
    ratio_text,
    runtime_notes,
    runtime_row,
    spread_text,
    time_text,
)
from harness.verdict import METRICS, conclusion, floor_words, losses, ratio_words, remarks, words

_COLUMNS = ("server", "kind", "CPU µs", "ratio", "middle half", "process µs", "ratio", "req/s",
            "ratio", "p50", "p99", "p99.9", "max", "RSS", "after", "B/conn", "B/answer", "core busy",
            "busy runs", "errors")  # fmt: skip


def _table(head: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells are HTML."""
    top = "".join(f"<th>{each}</th>" for each in head)
    body = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{top}</tr>\n{body}</table></div>'


def _bad(text: str, is_bad: bool) -> str:
    return f'<span class="bad">{escape(text)}</span>' if is_bad else escape(text)


def _row(series: dict) -> list[str]:
    median = series["median"]
    busy = median["server_core_busy"]
    return [
        escape(series["subject"]),
        escape(kind_text(series)),
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
        time_text(median["max_us"]),
        bytes_text(median["resident_bytes"]),
        bytes_text(median["resident_after"]),
        number_text(series["bytes_per_connection"]),
        number_text(median["answer_bytes"]),
        "–" if busy is None else f"{100 * busy:.0f} %",
        _bad(str(series["busy_runs"]), series["busy_runs"] > 0),
        _bad(errors_text(series["errors"]), bool(series["errors"])),
    ]


def _verdicts(workload: dict) -> str:
    shown = [f'<li><span class="{each["outcome"]}">{escape(words(each))}</span></li>'
             for each in workload["verdicts"]]  # fmt: skip
    if workload["floor"]:
        shown.append(f"<li>{escape(floor_words(workload['floor']))}</li>")
    return f'<ul class="plain">{"".join(shown)}</ul>' if shown else ""


def _what_ran(workload: dict) -> str:
    commands = "".join(
        f"<dt>{escape(each['subject'])}</dt><dd><code>{escape(each['command'])}</code></dd>"
        for each in workload["series"]
    )
    return (
        "<details><summary>What ran, on which core</summary><dl><dt>generator’s core</dt>"
        f"<dd><code>{escape(workload['command'])}</code></dd>{commands}</dl>"
        "<p>All servers ran on the server’s core, one at a time.</p></details>"
    )


def _published_servers(workload: str | None) -> str:
    found = servers_beside(workload)
    if not found:
        return ""
    rows = [
        [
            escape(each["server"]),
            number_text(each["per_second"]),
            time_text(each["p50_us"]),
            time_text(each["p99_us"]),
            number_text(each.get("cpu_us"), 1),
            number_text(each.get("rss_mb")),
            escape(each["errors"]),
            f"[{each['source']}]",
        ]
        for each in found
    ]
    head = ("server", "req/s", "p50", "p99", "CPU µs", "RSS, MB", "errors", "by")
    return _theirs(_table(head, rows), {each["source"] for each in found}, load_words)


def _theirs(table: str, sources: set[str], words_of: Callable[[str], str]) -> str:
    told = "".join(f"<li>[{each}] {escape(words_of(each))}</li>" for each in sorted(sources))
    return (
        "<details><summary>Figures of others, from their machines: not measured here</summary>"
        f'{table}<ul class="plain">{told}</ul></details>'
    )


def _section(workload: dict) -> str:
    parts = [f'<h2 id="{escape(workload["name"])}">{escape(heading(workload))}</h2>']
    if workload["problem"]:
        parts.append(f'<p class="note bad">Not complete: {escape(workload["problem"])}</p>')
    for series in workload["series"]:
        if series["problem"]:
            parts.append(
                f'<p class="note"><span class="bad">{escape(series["subject"])} was not measured:'
                f"</span> {escape(series['problem'])}</p>"
            )
    parts += [f'<p class="note">{_bad(f"Note: {note}.", note.startswith("BUSY"))}</p>'
              for note in workload["notes"]]  # fmt: skip
    parts.append(_verdicts(workload))
    if any(run for series in workload["series"] for run in series["runs"]):
        parts += [cpu_bars(workload), latency_plot(workload), "<h3>Memory</h3>", memory_bars(workload)]
        parts.append("<h3>All figures</h3>")
        parts.append(_table(_COLUMNS, (_row(series) for series in workload["series"])))
    parts += [_published_servers(workload["name"]), _what_ran(workload)]
    return "\n".join(part for part in parts if part)


def _in_process(work: dict) -> str:
    parts = [f'<h2 id="{work["name"]}">{escape(work["title"])}, one thread, {work["rounds"]} rounds</h2>']
    if work["problem"]:
        parts.append(f'<p class="note bad">Not complete: {escape(work["problem"])}</p>')
    if work["busy_rounds"]:
        how_often = f"{work['busy_rounds']} of {work['rounds']} rounds"
        parts.append(f'<p class="note bad">Note: BUSY MACHINE in {how_often}.</p>')
    parts.append(in_process_plots(work))
    rows = [in_process_row(point) for point in work["points"]]
    parts.append(_table((f"{work['unit']}s", *IN_PROCESS_COLUMNS), rows))
    found = in_process_beside(work["name"])
    if found:
        theirs = [
            [
                escape(each["system"]),
                f"{each['size']:,}",
                nanoseconds_text(each["ns"]),
                f"{each['rss_mb']:g} MB",
                f"[{each['source']}]",
            ]
            for each in found
        ]
        head = ("system", f"{work['unit']}s", "each", "most memory", "by")
        parts.append(_theirs(_table(head, theirs), {each["source"] for each in found}, machine_words))
    parts.append(f'<p class="key"><code>{escape(work["command"])}</code></p>')
    return "\n".join(part for part in parts if part)


def _runtime(works: list[dict]) -> str:
    if not works:
        return ""
    rows = [
        [*(escape(cell) for cell in runtime_row(row)[:-1]),
         f'<span class="{row["outcome"]}">{row["outcome"]}</span>' if row["outcome"] else ""]
        for work in works for row in work["rows"]
    ]  # fmt: skip
    notes = "".join(f'<p class="note bad">{escape(note)}</p>' for note in runtime_notes(works))
    marks = "".join(f'<span id="{escape(work["name"])}"></span>' for work in works)
    return f"<h2>{marks}The runtime alone, on two cores</h2>{notes}{_table(RUNTIME_COLUMNS, rows)}"


def _verdict_cell(workload: dict, metric: str) -> str:
    for each in workload["verdicts"]:
        if each["metric"] == metric:
            said = escape(f"{ratio_words(each)}{remarks(each)}")
            return f'<span class="{each["outcome"]}">{each["outcome"]}</span><br><small>{said}</small>'
    return "–"


def _overview(report: dict) -> str:
    """Who wins where, and first of all where weft loses."""
    parts = [f'<p class="lead">{escape(conclusion(report))}</p>']
    lost = losses(report)
    if lost:
        shown = "".join(f'<li><a href="#{escape(name)}">{escape(name)}</a>: {escape(how)}</li>'
                        for name, how in lost)  # fmt: skip
        parts.append(f'<h3>Where weft loses</h3><ul class="plain">{shown}</ul>')
    rows = [
        [
            f'<a href="#{escape(workload["name"])}">{escape(workload["name"])}</a>',
            *(_verdict_cell(workload, metric.name) for metric in METRICS),
        ]
        for workload in report["workloads"]
        if workload["verdicts"]
    ]
    if rows:
        parts.append("<h3>weft’s best beside the best complete server of others</h3>")
        head = ("workload", *(metric.words for metric in METRICS))
        parts.append(f'<div class="over">{_table(head, rows)}</div>')
    return "\n".join(parts)


def _scaling(report: dict) -> str:
    parts = []
    for family in families(report):
        plots = scaling_plots(family)
        if plots:
            parts.append(f"<h2>{escape(family[0]['title'])}, by the number of connections</h2>{plots}")
    return "\n".join(parts)


def render(report: dict) -> str:
    facts = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
        for name, value in report["machine"].items()
    )
    notes = "".join(f'<p class="note bad">{escape(note)}</p>' for note in report["notes"])
    busy = busy_text(report)
    banner = f'<p class="banner bad">{escape(busy)}</p>' if busy else ""
    sections = "\n".join(_section(workload) for workload in report["workloads"])
    in_process = "\n".join(_in_process(work) for work in report["in_process"])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>weft benchmark</title>
<style>{STYLE}</style>
</head>
<body>
<h1>weft benchmark</h1>
<dl>{facts}</dl>
{notes}{banner}
{_overview(report)}
<details><summary>How to read this</summary><p class="how">What one request costs the server's core, kernel
and softirq included, beside a bare hand-written epoll server that does the least a server can. All servers
are measured in turn, round after round; a ratio is the median of the rounds' ratios, so a slow minute of the
host cancels out, and the middle half says how much it spread. weft wins or loses where the whole middle half is on one
side of 1, else it is even. Tables show medians; latencies are medians of each run's percentile. Process µs is the CPU
time charged to the server's process: blind to softirqs outside it, but untouched by strangers on its
core. A bare server (grey) has a trivial parser and is not complete; * marks one that gives a fixed
reply and does not read the JSON. RSS is the most seen under load, and what is left after it; B/conn
is its growth for each connection, B/answer a whole answer's size with its head; busy runs are those in which other
processes or the host were at work. Of batches of reads (rdrs) the baseline is weft itself.</p></details>
{_scaling(report)}
{sections}
{in_process}
{_runtime(report.get("runtime", []))}
<h2>What others have measured, of a kind that no workload here is of</h2>
{_published_servers(None)}
</body>
</html>
"""
