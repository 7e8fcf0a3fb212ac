"""The report as one HTML file: no script, nothing loaded from elsewhere, plots as inline SVG."""

from __future__ import annotations

from html import escape

from harness.summary import MANY_ENOUGH
from harness.text_report import (
    bytes_text,
    errors_text,
    kind_text,
    heading,
    number_text,
    ratio_text,
    spread_text,
    time_text,
)

_STYLE = """
:root { --ink: #1d2330; --soft: #5d6675; --line: #dde2ea; --page: #ffffff; --panel: #f6f8fb;
  --system: #3f6fb5; --user: #9dbfe8; --base-system: #8a93a3; --base-user: #c6ccd6;
  --peer-system: #b0803a; --peer-user: #e6c795;
  --dot: #1d2330; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --soft: #9aa4b5; --line: #333b49; --page: #14181f; --panel: #1b212b;
    --system: #5a8fdd; --user: #2f4f80; --base-system: #7c8697; --base-user: #434b59;
    --peer-system: #c9974a; --peer-user: #6b5126;
    --dot: #e6e9ef; --bad: #ff8a80; } }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 66rem; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 1rem; }
h2 { font-size: 1.1rem; margin: 2.5rem 0 .25rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0;
  padding: .9rem 1.1rem; background: var(--panel); border-radius: 8px; }
dt, .how, .key { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
.how { margin: 1rem 0 0; max-width: 46rem; }
.note { margin: .4rem 0; }
.bad { color: var(--bad); font-weight: 600; }
.wide { overflow-x: auto; }
svg { display: block; min-width: 40rem; width: 100%; height: auto; }
svg text { font: 13px system-ui, sans-serif; fill: var(--ink); }
svg .tick, svg .key { fill: var(--soft); font-size: 11px; }
svg .grid { stroke: var(--line); }
svg .dot { fill: var(--dot); opacity: .45; }
svg .system { fill: var(--system); } svg .user { fill: var(--user); }
svg .bare .system { fill: var(--base-system); } svg .bare .user { fill: var(--base-user); }
svg .peer .system { fill: var(--peer-system); } svg .peer .user { fill: var(--peer-user); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { color: var(--soft); font-weight: 500; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
code { font-size: .9em; }
"""

_WIDTH = 760
_LEFT = 120  # where bars start
_RIGHT = 610  # where the longest ends; labels stand beyond
_ROW = 34
_BAR = 18


def _nice_step(largest: float) -> float:
    """A round number of which four to eight reach `largest`."""
    step = 1.0
    while step * 8 < largest:
        step *= 10
    while step * 4 > largest:
        step /= 10
    for factor in (1, 2, 5):
        if step * factor * 8 >= largest:
            return step * factor
    return step * 10


def _group(series: dict) -> str:
    """Ours, other people's, and those that are no complete servers look different."""
    if series["kind"] == "bare":
        return "bare"
    return "peer" if series["is_peer"] else "own"


def _bar(series: dict, top: float, scale: float) -> list[str]:
    median = series["median"]
    name_at = f'y="{top + _BAR / 2 + 4.5:.1f}"'
    group = _group(series)
    parts = [f'<g class="{group}"><text x="0" {name_at}>{escape(series["subject"])}</text>']
    if median["cpu_us"] is None:
        parts.append(f'<text x="{_LEFT + 6}" {name_at} class="key">not measured</text></g>')
        return parts
    # The medians of the parts need not add up to the median of the whole, which the label tells.
    parts_sum = median["cpu_system_us"] + median["cpu_user_us"]
    system = median["cpu_us"] * scale * (median["cpu_system_us"] / parts_sum if parts_sum else 1)
    user = median["cpu_us"] * scale - system
    figures = [cpu for run in series["runs"] if run for cpu in [run["cpu_us"]]]
    shape = f'y="{top:.1f}" height="{_BAR}"'
    parts += [
        f'<rect class="system" x="{_LEFT}" {shape} width="{system:.1f}"/>',
        f'<rect class="user" x="{_LEFT + system:.1f}" {shape} width="{user:.1f}"/>',
    ]
    parts += [
        f'<circle class="dot" cx="{_LEFT + cpu * scale:.1f}" cy="{top + _BAR / 2:.1f}" r="3"/>'
        for cpu in figures
    ]
    ratio = "" if series["is_baseline"] else f" · ×{ratio_text(series['cpu_ratio'])}"
    label = f"{number_text(median['cpu_us'], 2)} µs{ratio}"
    parts.append(f'<text x="{_RIGHT + 14}" {name_at}>{label}</text></g>')
    return parts


def plot(workload: dict) -> str:
    """A bar for each server: median CPU time of a request; a dot for each run."""
    measured = [run["cpu_us"] for series in workload["series"] for run in series["runs"] if run]
    if not measured:
        return ""
    step = _nice_step(max(measured))
    largest = step * -(-max(measured) // step)
    scale = (_RIGHT - _LEFT) / largest
    bottom = 14 + _ROW * len(workload["series"])
    title = escape(f"CPU time of the server's core per request, {heading(workload)}")
    parts = [f'<svg viewBox="0 0 {_WIDTH} {bottom + 44}" role="img" aria-label="{title}">']
    for index in range(round(largest / step) + 1):
        x = _LEFT + index * step * scale
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="4" y2="{bottom}"/>')
        parts.append(
            f'<text class="tick" x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">'
            f"{index * step:g}</text>"
        )
    for index, series in enumerate(workload["series"]):
        parts += _bar(series, 12 + _ROW * index, scale)
    parts.append(
        f'<text class="key" x="{_LEFT}" y="{bottom + 34}">µs of the server\'s core a request: '
        "dark in the kernel, light in the program; a dot a run; × the first</text></svg>"
    )
    return "\n".join(parts)


def memory_plot(workload: dict) -> str:
    """A bar for each server: its memory under load."""
    rows = [
        (series, series["median"]["resident_bytes"] / 1024 / 1024)
        for series in workload["series"]
        if series["median"]["resident_bytes"]
    ]
    if not rows:
        return ""
    scale = (_RIGHT - _LEFT) / max(megabytes for _, megabytes in rows)
    title = escape(f"Memory under load, {heading(workload)}")
    bottom = 14 + _ROW * len(rows)
    parts = [f'<svg viewBox="0 0 {_WIDTH} {bottom + 22}" role="img" aria-label="{title}">']
    for index, (series, megabytes) in enumerate(rows):
        top = 12 + _ROW * index
        text_at = f'y="{top + _BAR / 2 + 4.5:.1f}"'
        each = number_text(series["bytes_per_connection"])
        parts.append(
            f'<g class="{_group(series)}"><text x="0" {text_at}>{escape(series["subject"])}</text>'
            f'<rect class="system" x="{_LEFT}" y="{top}" height="{_BAR}" '
            f'width="{megabytes * scale:.1f}"/>'
            f'<text x="{_RIGHT + 14}" {text_at}>{megabytes:.1f} MB · {each} B</text></g>'
        )
    parts.append(
        f'<text class="key" x="{_LEFT}" y="{bottom + 12}">resident memory under load, and its '
        "growth for each connection</text></svg>"
    )
    return "\n".join(parts)


_COLUMNS = ("server", "kind", "CPU µs", "ratio", "middle half", "process µs", "ratio", "req/s",
            "ratio", "p50", "p99", "p99.9", "max", "RSS", "after", "B/conn", "B/answer", "core busy",
            "errors")  # fmt: skip


def _row(series: dict) -> str:
    median = series["median"]
    busy = median["server_core_busy"]
    cells = [
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
        escape(errors_text(series["errors"])),
    ]
    if series["errors"]:
        cells[-1] = f'<span class="bad">{cells[-1]}</span>'
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _section(workload: dict) -> str:
    parts = [f"<h2>{escape(heading(workload))}</h2>"]
    if workload["problem"]:
        parts.append(f'<p class="note bad">Not complete: {escape(workload["problem"])}</p>')
    for series in workload["series"]:
        if series["problem"]:
            parts.append(
                f'<p class="note"><span class="bad">{escape(series["subject"])} was not measured:'
                f"</span> {escape(series['problem'])}</p>"
            )
    parts += [f'<p class="note">Note: {escape(note)}.</p>' for note in workload["notes"]]
    if any(run for series in workload["series"] for run in series["runs"]):
        parts.append(f'<div class="wide">{plot(workload)}</div>')
        if workload["connections"] > MANY_ENOUGH:
            parts.append(f'<div class="wide">{memory_plot(workload)}</div>')
        head = "".join(f"<th>{column}</th>" for column in _COLUMNS)
        rows = "\n".join(_row(series) for series in workload["series"])
        parts.append(f'<div class="wide"><table><tr>{head}</tr>\n{rows}</table></div>')
    parts.append(f'<p class="key"><code>{escape(workload["command"])}</code></p>')
    return "\n".join(parts)


def render(report: dict) -> str:
    facts = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
        for name, value in report["machine"].items()
    )
    notes = "".join(f'<p class="note bad">{escape(note)}</p>' for note in report["notes"])
    sections = "\n".join(_section(workload) for workload in report["workloads"])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>weft benchmark</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>weft benchmark</h1>
<dl>{facts}</dl>
{notes}
<p class="how">What one request costs the server's core, kernel and softirq included, beside a bare
hand-written epoll server that does the least a server can. All servers are measured in turn, round
after round; a ratio is the median of the rounds' ratios, so a slow minute of the host cancels out.
Tables show medians; latencies are medians of each run's percentile. Process µs is the CPU time
charged to the server's process: blind to softirqs outside it, but untouched by strangers on its
core. A bare server (grey) has a trivial parser and is not complete; * marks one that gives a fixed
reply and does not read the JSON. RSS is the most seen under load, and what is left after it; B/conn
is its growth for each connection, B/answer a whole answer's size with its head. Of batches of reads
(rdrs) the baseline is weft itself.</p>
{sections}
</body>
</html>
"""
