"""Plots are well formed, stay inside their frames, and show what they should."""

import xml.etree.ElementTree as xml

from pathlib import Path

import pytest
from harness import html_report, text_report
from harness.curves import Line, axis, plot, ticks
from harness.effort import USUAL
from harness.generators import WeftBench
from harness.in_process import in_process_workloads
from harness.plots import families, in_process_plots
from harness.published import in_process_beside, published, servers_beside
from harness.runs import Measured, Series
from harness.servers import Subject
from harness.summary import summarise
from harness.workloads import Workload, workloads
from test_report_figures import run


def a_workload(connections, names=("ours<&>", "peer")):
    series = [
        Series(Subject(name, "a {port}", "http", "complete", is_peer=name.startswith("peer")),
               [run(5 + index, 1e5, 100 + 10 * index, 3)] * 3)
        for index, name in enumerate(names)
    ]  # fmt: skip
    generator = WeftBench("/b/wb", "http", 1, 0.2)
    work = Workload(f"ping-{connections}", "POST /ping", "http", generator, connections, 3, 3)
    return summarise(Measured(work, series))


IN_PROCESS = {
    "name": "in-process-event", "title": "events", "unit": "event", "command": "x", "rounds": 3, "busy_rounds": 0,
    "problem": None,
    "points": [
        {"size": 1000, "runs_ns": [20, 21, 22], "ns": 21, "ns_low": 20.5, "ns_high": 21.5, "rss_mb": 3.0},
        {"size": 1_000_000, "runs_ns": [9, 10, 11], "ns": 10, "ns_low": 9.5, "ns_high": 10.5, "rss_mb": 44.0},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def page():
    works = [a_workload(connections) for connections in (2, 400, 19_000)]
    return html_report.render({"machine": {"cpu": "a <fast> one"}, "notes": ["a note"], "workloads": works,
                               "in_process": [IN_PROCESS]})  # fmt: skip


def drawings(page):
    return [xml.fromstring("<svg" + each.split("</svg>")[0] + "</svg>") for each in page.split("<svg")[1:]]


def test_the_page_is_self_contained_and_escaped(page):
    assert "ours&lt;&amp;&gt;" in page and "ours<" not in page
    assert "a &lt;fast&gt; one" in page
    for outside in ("<script", "src=", "<link", "@import", "url(", "http://", "https://"):
        assert outside not in page.replace("http://127.0.0.1:PORT", "")


def test_drawings_stay_inside_their_frames(page):
    plots = [each for each in drawings(page) if each.get("role") == "img"]
    # Latency of three levels; core time, p99 and memory over these; time and memory over the number of events.
    assert len(plots) == 3 + 3 + 2
    for drawn in plots:
        width, height = map(float, drawn.get("viewBox").split()[2:])
        for dot in drawn.findall(".//circle"):
            assert 0 < float(dot.get("cx")) < width and 0 < float(dot.get("cy")) < height
        for text in drawn.findall(".//text"):
            assert 0 <= float(text.get("x")) <= width and 0 < float(text.get("y")) <= height


def test_latency_is_drawn_as_far_as_it_is_known(page):
    latency = next(each for each in drawings(page) if each.get("aria-label") == "latency by percentile")
    labels = [text.text for text in latency.findall(".//text")]
    # 30,000 requests a run: 3 of them are beyond 99.99 %.
    assert labels[-5:] == ["50", "90", "99", "99.9", "99.99"]
    told = [title.text for title in latency.findall(".//circle/title")]
    assert "ours<&>, 99.9 %: 200 µs" in told and len(told) == 10


def test_few_requests_have_no_rare_percentiles():
    workload = a_workload(2)
    for series in workload["series"]:
        series["runs"] = [{**each, "requests": 150} for each in series["runs"]]
    page = html_report.render({"machine": {}, "notes": [], "workloads": [workload], "in_process": []})
    latency = next(each for each in drawings(page) if each.get("aria-label") == "latency by percentile")
    assert [text.text for text in latency.findall(".//text")][-2:] == ["50", "90"]


def test_only_workloads_that_differ_in_connections_are_a_family():
    many, few, other = a_workload(400), a_workload(2), {**a_workload(2), "title": "another"}
    assert families({"workloads": [many, other, few]}) == [[few, many]]


def test_no_more_lines_than_one_can_tell_apart():
    names = ("ours", *(f"peer-{number}" for number in reversed(range(12))))
    page = html_report.render({"machine": {}, "notes": [], "workloads": [a_workload(400, names)], "in_process": []})
    latency = next(each for each in drawings(page) if each.get("aria-label") == "latency by percentile")
    lines = latency.findall(".//g")
    assert len(lines) == 1 + 5  # ours, and the best five
    assert len({line.get("class") for line in lines}) == len(lines)


def test_in_process_points_are_where_they_should_be():
    time, memory = drawings(in_process_plots(IN_PROCESS))
    assert [title.text for title in time.findall(".//circle/title")] == ["weft, 1,000: 21 ns", "weft, 1,000,000: 10 ns"]
    first, second = (float(dot.get("cy")) for dot in time.findall(".//circle"))
    assert first < second  # what takes longer is higher up
    assert [title.text for title in memory.findall(".//circle/title")][1] == "weft, 1,000,000: 44 MB"


def test_scales():
    scale = axis([10, 1000], 0, 100)
    assert [scale.at(each) for each in (10, 100, 1000)] == pytest.approx([0, 50, 100])
    assert axis([5], 0, 100).at(5) == 50
    assert ticks(1, 1e6) == pytest.approx([1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6])
    for least, most in ((2.1, 6.8), (3, 12), (90, 110), (0.5, 5e7), (1, 900)):
        assert 1 <= len(ticks(least, most)) <= 9, (least, most)
    assert plot("none", [Line("a", "own-0", [])], [(1, "1")], str, lambda x, y: "") == ""


def test_what_others_say_is_marked_as_theirs(page):
    assert "Figures of others, from their machines: not measured here" in page
    assert "[ichor] Ichor&#x27;s own benchmark page: AMD 7950X" in page  # beside events
    wrk = {**a_workload(2), "name": "ping-wrk-2"}
    report = {"machine": {}, "notes": [], "workloads": [wrk], "in_process": [IN_PROCESS]}
    shown = html_report.render(report)
    assert "67,195" in shown and "[earlier]" in shown and "uWebSockets" in shown
    text = text_report.render(report)
    assert "theirs: Ichor on Boost.Beast (two threads): 67,195 req/s, p50 29 µs, p99 39 µs [ichor]" in text
    assert "theirs: Ichor, Abseil containers, mimalloc: 91.7 ns each of 5,000,000, 414.5 MB [ichor]" in text
    assert "theirs: IODash: 42,807 req/s, errors: 136 read [iodash]" in text
    assert "[iodash] IODash's own benchmark page: Intel i7-9750H without turbo" in text


def test_published_figures_are_whole():
    known = published()["sources"]
    for each in (*published()["servers"], *published()["in_process"]):
        assert each["source"] in known
    here = {work.name for work in (*workloads(USUAL, Path("b")), *in_process_workloads(3, Path("b")))}
    beside = {each["workload"] for each in (*published()["servers"], *published()["in_process"])}
    assert beside <= here | {None}
    names = " ".join(each["server"] for each in published()["servers"])
    for system in ("Ichor", "IODash", "magio", "uWebSockets"):
        assert system in names
    # As their pages have it.
    (ichor,) = (each for each in servers_beside("ping-wrk-400") if each["server"].startswith("Ichor on Boost")
                and each["source"] == "ichor")  # fmt: skip
    assert (ichor["per_second"], ichor["p50_us"], ichor["p99_us"]) == (87048.80, 4610, 4960)
    (event,) = (each for each in in_process_beside("in-process-event") if each["source"] == "ichor")
    assert event["ns"] == pytest.approx(458_684e3 / 5e6, abs=0.1)
