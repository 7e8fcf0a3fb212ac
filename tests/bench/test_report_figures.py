"""Known samples go in, and every figure and ratio that comes out, in JSON, in text and in HTML, is what a pencil says."""

import re
from html import unescape

import pytest
from harness import html_report, text_report
from harness.generators import WeftBench
from harness.runs import Measured, Run, Series
from harness.servers import Subject
from harness.summary import summarise
from harness.verdict import words
from harness.workloads import Workload

MIB = 1 << 20


def run(cpu, rate, p99, resident, **others):
    """Of which all else follows."""
    figures = {
        "per_second": rate, "p50_us": p99 / 2, "p99_us": p99, "p999_us": p99 * 2, "max_us": p99 * 4,
        "percentiles": {"50": p99 / 2, "90": p99 * 0.8, "99": p99, "99.9": p99 * 2, "99.99": p99 * 4},
        "cpu_us": cpu, "cpu_user_us": cpu / 4, "cpu_system_us": cpu * 3 / 4, "process_us": cpu / 2,
        "server_core_busy": 0.96, "generator_core_busy": 0.5,
        "resident_bytes": resident * MIB, "resident_before": MIB, "resident_after": (resident - 1) * MIB,
        "requests": 30_000, "errors": {}, "answer_bytes": 122,
        "stray_share": 0.0, "stray_by": None, "steal_share": 0.0,
    }  # fmt: skip
    return Run(**{**figures, **others})


@pytest.fixture(scope="module")
def workload():
    subject = Subject("ceil", "a {port}", "http", "bare")
    series = [
        Series(subject, [run(4, 250_000, 100, 3), run(5, 200_000, 200, 3), run(6, 160_000, 300, 3)]),
        Series(Subject("ours", "b {port}", "http", "complete"),
               [run(5, 200_000, 150, 4), run(5, 200_000, 100, 5), run(9, 100_000, 600, 9)]),
        # Sits the last round out, and had errors.
        Series(Subject("theirs", "c {port}", "http", "complete", is_peer=True, parses=False),
               [run(8, 100_000, 100, 8, errors={"reset": 3}), run(10, 80_000, 300, 8, errors={"4xx": 2}), None]),
    ]  # fmt: skip
    work = Workload("ping", "POST /ping", "http", WeftBench("/b/wb", "http", 1, 0.2), 2048, 3, 2)
    return summarise(Measured(work, series))


@pytest.fixture(scope="module")
def report(workload):
    machine = {"processor": "p"}
    return {"machine": machine, "notes": [], "workloads": [workload], "in_process": []}


def ratio(of, low, high, pairs):
    return {"median": pytest.approx(of), "low": pytest.approx(low), "high": pytest.approx(high), "pairs": pairs}


def test_json_medians(workload):
    ceil, ours, theirs = (series["median"] for series in workload["series"])
    assert (ceil["cpu_us"], ours["cpu_us"], theirs["cpu_us"]) == (5, 5, 9)
    assert (ceil["cpu_user_us"], ours["cpu_system_us"]) == (1.25, 3.75)
    assert (ceil["per_second"], ours["per_second"], theirs["per_second"]) == (200_000, 200_000, 90_000)
    assert (ceil["process_us"], ours["process_us"], theirs["process_us"]) == (2.5, 2.5, 4.5)
    assert (ours["p50_us"], ours["p99_us"], ours["p999_us"], ours["max_us"]) == (75, 150, 300, 600)
    assert (theirs["p50_us"], theirs["p99_us"]) == (100, 200)
    assert (ours["resident_bytes"], ours["resident_after"]) == (5 * MIB, 4 * MIB)
    assert (ours["server_core_busy"], ours["generator_core_busy"], ours["answer_bytes"]) == (0.96, 0.5, 122)


def test_json_ratios_are_of_the_rounds(workload):
    ceil, ours, theirs = workload["series"]
    assert ceil["cpu_ratio"] == ratio(1, 1, 1, 3)
    assert ours["cpu_ratio"] == ratio(1.25, 1.125, 1.375, 3)  # of 5/4, 5/5, 9/6
    assert theirs["cpu_ratio"] == ratio(2, 2, 2, 2)  # of 8/4, 10/5
    assert ours["process_ratio"] == ratio(1.25, 1.125, 1.375, 3)
    assert ours["rate_ratio"] == ratio(0.8, 0.7125, 0.9, 3)  # of 0.8, 1, 0.625
    assert theirs["rate_ratio"] == ratio(0.4, 0.4, 0.4, 2)
    assert ours["cpu_spread"] == [5, 7]  # the quartiles of 5, 5, 9
    assert theirs["cpu_spread"] == [8.5, 9.5]


def test_json_all_else(workload):
    ceil, ours, theirs = workload["series"]
    assert ours["bytes_per_connection"] == 4 * MIB / 2048
    assert theirs["bytes_per_connection"] == 7 * MIB / 2048
    assert theirs["errors"] == {"reset": 3, "4xx": 2} and ours["errors"] == {}
    assert ours["percentiles"] == {"50": 75, "90": 120, "99": 150, "99.9": 300, "99.99": 600}
    assert [each["busy_runs"] for each in (ceil, ours, theirs)] == [0, 0, 0]


def test_verdicts(workload):
    told = {each["metric"]: each for each in workload["verdicts"]}
    assert {each: told[each]["outcome"] for each in told} == {
        "cpu_us": "wins", "per_second": "wins", "p99_us": "even", "resident_bytes": "wins", "grown_bytes": "wins",
    }  # fmt: skip
    assert told["cpu_us"]["ratio"] == ratio(0.5625, 0.53125, 0.59375, 2)  # of 5/8, 5/10
    assert told["per_second"]["ratio"] == ratio(2.25, 2.125, 2.375, 2)  # of 2, 2.5
    assert told["p99_us"]["ratio"] == ratio(11 / 12, 15 / 24, 29 / 24, 2)  # of 1.5, 1/3
    assert told["resident_bytes"]["ratio"] == ratio(0.5625, 0.53125, 0.59375, 2)  # of 4/8, 5/8
    assert told["grown_bytes"]["ratio"] == ratio(3.5 / 7, 3.25 / 7, 3.75 / 7, 2)  # of 3/7, 4/7
    for each in told.values():
        assert (each["ours"], each["theirs"], each["they_parse"], each["their_errors"]) == ("ours", "theirs", False, 5)
    assert workload["floor"]["ratio"] == ratio(1.25, 1.125, 1.375, 3)


ROWS = {
    "ceil": ("bare", "5.00", "1.000", "1.00–1.00", "2.50", "1.000", "200,000", "1.000", "100 µs", "200 µs", "400 µs",
             "800 µs", "3.0 MB", "2.0 MB", "1,024", "122", "96 %", "0", "0"),
    "ours": ("complete", "5.00", "1.250", "1.12–1.38", "2.50", "1.250", "200,000", "0.800", "75 µs", "150 µs", "300 µs",
             "600 µs", "5.0 MB", "4.0 MB", "2,048", "122", "96 %", "0", "0"),
    "theirs": ("complete*", "9.00", "2.000", "2.00–2.00", "4.50", "2.000", "90,000", "0.400", "100 µs", "200 µs",
               "400 µs", "800 µs", "8.0 MB", "7.0 MB", "3,584", "122", "96 %", "0", "3 reset, 2 4xx"),
}  # fmt: skip


def cells(row):
    return [unescape(re.sub("<[^>]+>", "", cell)) for cell in re.findall("<td>(.*?)</td>", row)]


def test_html_has_every_figure(report):
    page = html_report.render(report)
    table = page.split("<h3>All figures</h3>")[1].split("</table>")[0]
    found = {row[0]: tuple(row[1:]) for row in map(cells, re.findall("<tr>(.*?)</tr>", table)) if row}
    assert found == ROWS
    head = [unescape(each) for each in re.findall("<th>(.*?)</th>", table)]
    assert head[:8] == ["server", "kind", "CPU µs", "ratio", "middle half", "process µs", "ratio", "req/s"]
    assert len(head) == len(ROWS["ceil"]) + 1


def test_html_says_who_wins(report):
    page = unescape(re.sub("<[^>]+>", " ", html_report.render(report)))
    page = re.sub(r"\s+", " ", page)
    assert "Of 5 comparisons with the best complete server of others weft wins 4 and loses 0; even: 1. In core time a request and p99 it is the first or within 5 % of it in 2 of 2." in page
    assert "core time a request: weft wins, ours 0.56 (0.53–0.59) × theirs*, in 2 rounds alone, theirs had 5 errors" in page
    assert "p99: even, ours 0.92 (0.62–1.21) × theirs*" in page
    assert "wins 2.25 (2.12–2.38) × theirs*" in page
    assert "core time a request: ours 1.25 (1.12–1.38) × ceil" in page


def test_html_draws_what_was_measured(report):
    page = html_report.render(report)
    bars = page.split('<ul class="bars">')[1].split("</ul>")[0]
    ours = next(row for row in bars.split("<li") if ">ours<" in row)
    spans = re.findall(r'class="(\w+)" style="left:([\d.]+)%(?:;width:([\d.]+)%)?"', ours)
    # Of the largest run, which had 10 µs: 5 µs, three quarters in the kernel; quartiles at 5 and 7; runs at 5, 5 and 9.
    assert spans == [
        ("system", "0.00", "37.50"), ("user", "37.50", "12.50"), ("spread", "50.00", "20.00"),
        ("dot", "50.00", ""), ("dot", "50.00", ""), ("dot", "90.00", ""),
    ]  # fmt: skip
    assert "5.00 µs <small>× 1.250</small>" in ours


def test_text_has_every_figure(report):
    text = text_report.render(report)
    line = next(line for line in text.splitlines() if line.startswith("  ours "))
    figures = re.split(r"\s{2,}", line.strip())
    assert figures == ["ours", "complete", "5.00", "1.250", "1.12–1.38", "2.50", "1.250", "200,000", "0.800", "75 µs",
                       "150 µs", "300 µs", "5.0 MB", "4.0 MB", "2,048", "122", "0"]  # fmt: skip
    assert "  p99: even, ours 0.92 (0.62–1.21) × theirs*, in 2 rounds alone, theirs had 5 errors" in text


def test_where_weft_loses_is_said_first():
    subjects = [Subject("ceil", "a {port}", "http", "bare"), Subject("ours", "b {port}", "http", "complete"),
                Subject("theirs", "c {port}", "http", "complete", is_peer=True)]  # fmt: skip
    costs = (4, 8, 5)
    series = [Series(subject, [run(cost, 100_000, 100, 3)] * 3) for subject, cost in zip(subjects, costs, strict=True)]
    work = Workload("ping", "POST /ping", "http", WeftBench("/b/wb", "http", 1, 0.2), 8, 3, 3)
    report = {"machine": {}, "notes": [], "workloads": [summarise(Measured(work, series))], "in_process": []}
    page = html_report.render(report)
    assert "Where weft loses" in page
    assert page.index("Where weft loses") < page.index("<h2")
    assert "core time a request: weft loses, ours 1.60 (1.60–1.60) × theirs" in page
    assert "ping: core time a request: weft loses, ours 1.60" in text_report.render(report)


def test_one_that_somebody_else_has_started_is_judged_by_what_is_known_of_it():
    unknown = dict.fromkeys(("cpu_us", "cpu_user_us", "cpu_system_us", "process_us", "server_core_busy", "resident_bytes",
                             "resident_before", "resident_after"))  # fmt: skip
    series = [
        Series(Subject("ours", "a {port}", "http", "complete"), [run(4, 100_000, 100, 3)] * 2),
        Series(Subject("theirs", "", "http", address="h:1"), [run(4, 50_000, 400, 3, **unknown)] * 2),
    ]
    work = Workload("ping", "POST /ping", "http", WeftBench("/b/wb", "http", 1, 0.2), 2048, 2, 2)
    summary = summarise(Measured(work, series))
    told = {each["metric"]: (each["theirs"], each["outcome"], each["ratio"]["median"]) for each in summary["verdicts"]}
    assert told == {"per_second": ("theirs", "wins", 2), "p99_us": ("theirs", "wins", 0.25)}
    theirs = summary["series"][1]
    assert theirs["cpu_ratio"] is theirs["median"]["cpu_us"] is theirs["bytes_per_connection"] is None
    page = html_report.render({"machine": {}, "notes": [], "workloads": [summary], "in_process": []})
    assert '<span class="name">theirs</span><span class="track"></span><span class="label">not measured' in page


def judged(*all_series):
    """By metric, of servers (name, whether it is a peer, its runs, what became of it)."""
    series = [Series(Subject(name, "a {port}", "http", "complete", is_peer=is_peer), runs, problem)
              for name, is_peer, runs, problem in all_series]  # fmt: skip
    work = Workload("ping", "POST /ping", "http", WeftBench("/b/wb", "http", 1, 0.2), 8, 3, 3)
    return {each["metric"]: each for each in summarise(Measured(work, series))["verdicts"]}


@pytest.mark.parametrize("limited", ["ours", "theirs", "both"])
def test_what_the_generator_limits_is_not_judged(limited):
    full = {"generator_core_busy": 1.0, "server_core_busy": 0.5}
    ours, theirs = (full if limited in (name, "both") else {} for name in ("ours", "theirs"))
    told = judged(("ours", False, [run(4, 100_000, 100, 3, **ours)] * 3, None),
                  ("theirs", True, [run(5, 100_000, 90, 3, **theirs)] * 3, None),
                  ("slow", True, [run(50, 10_000, 900, 3)] * 3, None))  # fmt: skip
    assert set(told) == {"cpu_us", "resident_bytes"}


def test_one_round_alone_and_what_is_alike_are_even():
    alone = judged(("ours", False, [run(4, 100_000, 100, 3)], None), ("theirs", True, [run(5, 90_000, 200, 4)], None))
    assert {each["outcome"] for each in alone.values()} == {"even"}
    alike = judged(("ours", False, [run(4.95, 100_000, 100, 3)] * 3, None), ("theirs", True, [run(5, 90_000, 200, 4)] * 3, None))
    assert (alike["cpu_us"]["outcome"], alike["p99_us"]["outcome"]) == ("even", "wins")


def test_what_went_wrong_with_weft_stands_beside_its_win():
    failing = [run(4, 100_000, 100, 3, errors={"reset": 20_000}), run(4, 100_000, 100, 3), None]
    told = judged(("ours", False, failing, "died"), ("theirs", True, [run(5, 90_000, 200, 4)] * 3, None))
    assert words(told["cpu_us"]) == ("core time a request: weft wins, ours 0.80 (0.80–0.80) × theirs, weft had 20,000 errors, "
                                     "weft failed then, in 2 rounds alone")  # fmt: skip
