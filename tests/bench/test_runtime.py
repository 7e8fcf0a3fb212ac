"""The runtime beside tokio's: figures come from where they should, and who wins is said."""

import os
from dataclasses import replace
from pathlib import Path

from harness import cli, html_report, runtime, text_report
from harness.building import LeftOut
from harness.effort import QUICK, USUAL
from harness.machine import choose_cores
from harness.runs import STRAY_LIMIT
from harness.runtime import Row, RuntimeWork, measure_runtime, runtime_works, summarise_runtime, with_tokio
from harness.summary import is_whole
from harness.verdict import conclusion

CORES = choose_cores(os.sched_getaffinity(0))
ROWS = (Row("a timer", "ours_ns", "ns"), Row("alone", "alone_ns"))
WORK = RuntimeWork("runtime-timers", "timers", "timers", "timer", 10, ROWS, 3, 0.1, Path("/b/bench_runtime"))


def rounds(ours, theirs, stray=0.0):
    return [{"ours": {"ours_ns": a, "alone_ns": 7.0}, "theirs": {"ns": b}, "stray_share": stray, "stray_by": None}
            for a, b in zip(ours, theirs, strict=True)]  # fmt: skip


def report_of(*works):
    return {"machine": {}, "notes": [], "workloads": [], "in_process": [], "runtime": list(works)}


def test_figures_are_those_of_the_rounds():
    summary = summarise_runtime(WORK, rounds([20.0, 10.0, 40.0], [40.0, 40.0, 100.0]), None)
    timer, alone = summary["rows"]
    assert (timer["ns"], timer["ns_low"], timer["ns_high"], timer["theirs_ns"]) == (20, 15, 30, 40)
    assert timer["ratio"]["median"] == 0.4 and timer["outcome"] == "wins"
    assert (alone["ns"], alone["theirs_ns"], alone["ratio"], alone["outcome"]) == (7, None, None, None)


def test_a_loss_is_told_first_and_a_busy_machine_too():
    report = report_of(summarise_runtime(WORK, rounds([50.0] * 3, [40.0] * 3, STRAY_LIMIT * 2), None))
    text, page = text_report.render(report), html_report.render(report)
    for said in (text, page):
        assert "BUSY MACHINE in 3 of 3 rounds of runtime-timers" in said
        assert "a timer: weft loses, 1.25 (1.25–1.25) × tokio" in said
        assert "Of 1 comparisons with tokio's runtime weft wins 0 and loses 1; even: 0." in said.replace("&#x27;", "'")


def test_without_tokio_nothing_is_said_of_who_wins():
    alone = [{**each, "theirs": {}} for each in rounds([50.0] * 3, [40.0] * 3)]
    report = report_of(summarise_runtime(WORK, alone, None))
    assert report["runtime"][0]["rows"][0]["outcome"] is None
    assert "nothing is said" in conclusion(report)
    assert "50.0 ns" in text_report.render(report)


def test_the_real_program_is_measured(build, tmp_path):
    work = next(each for each in runtime_works(2, build) if each.part == "spawn")
    tokio = tmp_path / "tokio"
    tokio.write_text('#!/bin/sh\n[ "$1 $2" = "spawn_join 1000000" ] && echo \'{"ns": 300.0}\'\n')
    tokio.chmod(0o755)
    kept = []
    summary = measure_runtime(replace(work, theirs=tokio), CORES, {os.getpid()}, lambda _: None, keep=kept.append)
    assert summary["problem"] is None and summary["rounds"] == 2 and len(kept) == 2
    (row,) = summary["rows"]
    assert 0 < row["ns"] < 100_000 and row["theirs_ns"] == 300
    assert measure_runtime(work, CORES, {os.getpid()}, lambda _: None, kept) == summary


def test_what_fails_is_said(tmp_path):
    gone = measure_runtime(WORK, CORES, set(), lambda _: None)
    assert gone["problem"] == "/b/bench_runtime is not there (make build)" and gone["rows"] == []
    broken = tmp_path / "bench_runtime"
    broken.write_text("#!/bin/sh\necho no such luck >&2\nexit 3\n")
    broken.chmod(0o755)
    failed = measure_runtime(replace(WORK, ours=broken), CORES, set(), lambda _: None)
    assert "has ended with 3" in failed["problem"] and "no such luck" in failed["problem"]
    assert not is_whole(report_of(failed))
    assert "NOT COMPLETE: runtime-timers" in text_report.render(report_of(failed))


def test_a_tokio_that_cannot_be_built_is_left_out(monkeypatch, tmp_path):
    def fails(_):
        raise LeftOut("cargo is not installed")

    monkeypatch.setattr(runtime, "build_tokio", fails)
    notes = []
    assert with_tokio([WORK], tmp_path, notes) == [WORK]
    assert notes == ["tokio's runtime is left out: cargo is not installed"]


def test_the_command_line_chooses():
    def names(effort, *arguments):
        return [work.part for work in cli.chosen_runtime(cli.parse_arguments(list(arguments)), effort)]

    assert names(USUAL) == ["spawn", "sleep", "timers", "round_trip", "bulk"]
    assert names(QUICK) == [] and names(QUICK, "--workload", "runtime-timers") == ["timers"]
    assert names(USUAL, "--workload", "ping") == [] and names(USUAL, "--only", "nginx") == []
