"""The library's workloads: the program is run as it should be, its figures are read rightly, and what fails is said."""

import os
from dataclasses import replace

import pytest
from harness import html_report, text_report
from harness.in_process import InProcess, in_process_workloads, measure_in_process, summarise_in_process
from harness.machine import choose_cores
from harness.runs import STRAY_LIMIT
from harness.summary import is_whole

CORES = choose_cores(os.sched_getaffinity(0))


def rounds_of(costs, memory, stray=0.0):
    return [
        {"points": {"100": {"ns": cost, "rss_mb": most}}, "stray_share": stray, "stray_by": None}
        for cost, most in zip(costs, memory, strict=True)
    ]


WORK = InProcess("in-process-event", "events told", "event", "/b/weft-bench", "event", "--count", (100,), 3, 0.1)


def test_figures_are_those_of_the_rounds():
    summary = summarise_in_process(WORK, rounds_of([20, 10, 40], [3.0, 4.5, 4.0], STRAY_LIMIT * 2), None)
    assert summary["points"] == [
        {"size": 100, "runs_ns": [20, 10, 40], "ns": 20, "ns_low": 15, "ns_high": 30, "rss_mb": 4.5}
    ]
    assert summary["busy_rounds"] == 3
    report = {"machine": {}, "notes": [], "workloads": [], "in_process": [summary]}
    text, page = text_report.render(report), html_report.render(report)
    assert "100     20.0 ns  15.0–30.0 ns       4.5 MB" in text
    assert "<td>100</td><td>20.0 ns</td><td>15.0–30.0 ns</td><td>4.5 MB</td>" in page
    for said in (text, page):
        assert "BUSY MACHINE in 3 of 3 rounds" in said


@pytest.mark.parametrize("name", ["in-process-event", "in-process-start"])
def test_the_real_program_is_measured(build, weft_bench, name):
    (work,) = (each for each in in_process_workloads(2, build) if each.name == name)
    kept = []
    summary = measure_in_process(replace(work, sizes=(100, 1000)), CORES, {os.getpid()}, lambda _: None, keep=kept.append)
    assert summary["problem"] is None and summary["rounds"] == 2 and len(kept) == 2
    assert [point["size"] for point in summary["points"]] == [100, 1000]
    assert all(0 < point["ns"] < 1e7 and point["rss_mb"] > 1 for point in summary["points"])
    # What was kept is gone on from, and not measured again.
    again = measure_in_process(replace(work, sizes=(100, 1000)), CORES, {os.getpid()}, lambda _: None, kept)
    assert again == summary


def test_what_fails_is_said(tmp_path):
    gone = measure_in_process(WORK, CORES, set(), lambda _: None)
    assert gone["problem"] == "/b/weft-bench is not there (make build)" and gone["points"] == []
    broken = tmp_path / "weft-bench"
    broken.write_text("#!/bin/sh\necho no such luck >&2\nexit 3\n")
    broken.chmod(0o755)
    failed = measure_in_process(replace(WORK, program=str(broken)), CORES, set(), lambda _: None)
    assert "has ended with 3" in failed["problem"] and "no such luck" in failed["problem"]
    report = {"machine": {}, "notes": [], "workloads": [], "in_process": [failed]}
    assert not is_whole(report)
    assert "NOT COMPLETE" in text_report.render(report)
    assert "Not complete" in html_report.render(report)
