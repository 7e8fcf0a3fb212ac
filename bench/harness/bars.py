"""Bars of the report, a server each: HTML and CSS alone, so that they fit a phone as well."""

from __future__ import annotations

from html import escape

from harness.text_report import number_text, ratio_text


def group(series: dict) -> str:
    """Ours, other people's, and those that are no complete servers look different."""
    if series["kind"] == "bare":
        return "bare"
    return "own" if series["kind"] == "complete" and not series["is_peer"] else "peer"


def _row(series: dict, track: str, label: str) -> str:
    return (
        f'<li class="{group(series)}"><span class="name">{escape(series["subject"])}</span>'
        f'<span class="track">{track}</span><span class="label">{label}</span></li>'
    )


def _span(style: str, left: float, width: float | None = None) -> str:
    size = "" if width is None else f";width:{width:.2f}%"
    return f'<i class="{style}" style="left:{left:.2f}%{size}"></i>'


def _cpu_row(series: dict, largest: float) -> str:
    median = series["median"]
    if median["cpu_us"] is None:
        return _row(series, "", "not measured")
    full = median["cpu_us"] / largest * 100
    # The medians of the parts need not add up to the median of the whole, which the label tells.
    parts = median["cpu_system_us"] + median["cpu_user_us"]
    system = full * (median["cpu_system_us"] / parts if parts else 1)
    low, high = (each / largest * 100 for each in series["cpu_spread"])
    dots = [_span("dot", run["cpu_us"] / largest * 100) for run in series["runs"] if run]
    track = [
        _span("system", 0, system),
        _span("user", system, full - system),
        _span("spread", low, high - low),
        *dots,
    ]
    ratio = "" if series["is_baseline"] else f" <small>× {ratio_text(series['cpu_ratio'])}</small>"
    return _row(series, "".join(track), f"{number_text(median['cpu_us'], 2)} µs{ratio}")


def cpu_bars(workload: dict) -> str:
    """Median core time of a request, in the kernel and in the program; the middle half of the runs, and each run."""
    measured = [
        run["cpu_us"]
        for series in workload["series"]
        for run in series["runs"]
        if run and run["cpu_us"] is not None
    ]
    if not measured:
        return ""
    rows = "\n".join(_cpu_row(series, max(measured)) for series in workload["series"])
    return (
        f'<ul class="bars">{rows}</ul><p class="key">Core time a request: dark in the kernel, light in the '
        "program; a line over the middle half of the runs, a dot a run; × the first.</p>"
    )


def memory_bars(workload: dict) -> str:
    """Memory under load, and what a connection takes of it."""
    known = [each for each in workload["series"] if each["median"]["resident_bytes"]]
    if not known:
        return ""
    largest = max(series["median"]["resident_bytes"] for series in known)

    def row(series: dict) -> str:
        resident = series["median"]["resident_bytes"]
        each = series["bytes_per_connection"]
        grown = "" if each is None else f" <small>{number_text(each)} B each</small>"
        label = f"{resident / 1024 / 1024:.1f} MB{grown}"
        return _row(series, _span("system", 0, resident / largest * 100), label)

    rows = "\n".join(row(series) for series in known)
    return (
        f'<ul class="bars">{rows}</ul><p class="key">Resident memory under load'
        + (", and its growth for each connection" if known[0]["bytes_per_connection"] else "")
        + ".</p>"
    )
