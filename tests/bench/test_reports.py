"""What a reader of the report gets to see, above all when something is missing or wrong."""

import json

import pytest
from harness import cli, html_report, text_report
from harness.generators import WeftBench
from harness.runs import Measured, Run, Series
from harness.servers import Subject
from harness.summary import is_whole, summarise
from harness.workloads import Workload


def run_of(cpu_us, **others):
    figures = {
        "per_second": 1e6 / cpu_us, "p50_us": 900.0, "p99_us": 2500.0, "p999_us": 1.5e6,
        "max_us": 2e6, "percentiles": {"50": 900.0, "99": 2500.0},
        "cpu_us": cpu_us, "cpu_user_us": cpu_us * 0.1, "cpu_system_us": cpu_us * 0.9,
        "process_us": cpu_us, "server_core_busy": 0.99, "generator_core_busy": 0.8,
        "resident_bytes": 3 << 20, "resident_before": 1 << 20, "resident_after": 2 << 20,
        "requests": 100_000, "errors": {}, "answer_bytes": None,
        "stray_share": 0.01, "stray_by": None, "steal_share": 0.0,
    }  # fmt: skip
    return Run(**{**figures, **others})


def a_report(connections=400, **second_run):
    generator = WeftBench("/b/wb", "http", 1, 0.2)
    workload = Workload("ping", "POST /ping", "http", generator, connections, 2)
    series = [
        Series(Subject("ceil_epoll", "a {port}", "http", "bare"), [run_of(5.0), run_of(10.0)]),
        Series(
            Subject("ours<&>", "b {port}", "http", "complete", parses=False),
            [run_of(5.5), run_of(11.0, **second_run)],
        ),
        Series(Subject("gone", "/no/such {port}", "http"), [None, None], "/no/such is not there"),
    ]
    return {
        "machine": {"processor": "a <fast> one"},
        "notes": [],
        "workloads": [summarise(Measured(workload, series))],
        "in_process": [],
    }


def test_ratios_and_medians():
    baseline, ours, gone = a_report()["workloads"][0]["series"]
    assert baseline["is_baseline"] and not ours["is_baseline"]
    assert baseline["cpu_ratio"]["median"] == 1.0
    assert ours["cpu_ratio"]["median"] == pytest.approx(1.1)
    assert ours["rate_ratio"]["median"] == pytest.approx(1 / 1.1)
    assert ours["median"]["cpu_us"] == pytest.approx(8.25)
    assert gone["cpu_ratio"] is None


def test_text_names_what_is_missing_and_lines_up():
    text = text_report.render(a_report())
    assert "gone: NOT MEASURED: /no/such is not there" in text
    rows = [line for line in text.splitlines() if line.startswith(("  ceil_epoll", "  ours"))]
    assert len({len(row) for row in rows}) == 1
    assert "1.100" in rows[1]
    assert "900 µs" in rows[1] and "2.50 ms" in rows[1] and "1.50 s" in rows[1]


def test_kinds_are_told():
    text = text_report.render(a_report())
    rows = {line.split()[0]: line.split()[1] for line in text.splitlines() if line.startswith("  ")}
    assert rows["ceil_epoll"] == "bare"
    assert rows["ours<&>"] == "complete*"  # it does not read the JSON
    page = html_report.render(a_report())
    assert '<li class="bare"><span class="name">ceil_epoll' in page
    assert '<li class="own"><span class="name">ours' in page
    assert "complete*" in page


def test_memory_of_many_connections_is_told_and_drawn():
    report = a_report(connections=2048)
    for series in report["workloads"][0]["series"][:2]:
        assert series["bytes_per_connection"] == 1024  # of 2 MB that it grew by
    assert " 1,024 " in text_report.render(report)
    assert "<small>1,024 B each</small>" in html_report.render(report)
    assert a_report()["workloads"][0]["series"][0]["bytes_per_connection"] is None


def test_the_command_is_shown_without_paths_and_control_characters():
    command = a_report()["workloads"][0]["command"]
    assert command.startswith('wb load http://127.0.0.1:PORT/ping --data "{\\"sequence\\": 2}"')


def test_only_a_clean_report_is_whole():
    report = a_report()
    assert not is_whole(report)  # `gone` is missing
    del report["workloads"][0]["series"][2]
    assert is_whole(report)
    report["workloads"][0]["series"][1]["errors"] = {"reset": 1}
    assert not is_whole(report)
    report = a_report()
    del report["workloads"][0]["series"][2]
    report["workloads"][0]["problem"] = "interrupted"
    assert not is_whole(report)


def test_errors_of_all_runs_are_added_and_shown():
    report = a_report(errors={"reset": 3})
    assert report["workloads"][0]["series"][1]["errors"] == {"reset": 3}
    assert "3 reset" in text_report.render(report)
    assert "3 reset" in html_report.render(report)


def test_a_noisy_machine_is_told():
    assert a_report()["workloads"][0]["notes"] == []
    busy = a_report(stray_share=0.5, stray_by="cc1plus")
    (note,) = busy["workloads"][0]["notes"]
    assert "BUSY MACHINE: in 1 of 4 runs" in note and "0.50 of a core (cc1plus most of it)" in note
    (note,) = a_report(steal_share=0.1)["workloads"][0]["notes"]
    assert "BUSY HOST: it took up to 10 %" in note and "1 of 4 runs" in note


def test_a_disturbed_run_is_marked_wherever_it_is_shown():
    report = a_report(stray_share=0.5, stray_by="cc1plus")
    ours = report["workloads"][0]["series"][1]
    assert [run["is_busy"] for run in ours["runs"]] == [False, True]
    assert ours["busy_runs"] == 1
    text = text_report.render(report)
    assert "BUSY MACHINE: others were at work in 1 of 4 runs" in text
    assert "complete* !1" in text
    page = html_report.render(report)
    assert '<p class="banner bad">BUSY MACHINE' in page
    assert '<span class="bad">1</span>' in page
    assert "BUSY" not in text_report.render(a_report())


def test_a_full_generator_is_told():
    workload = Workload("w", "W", "http", WeftBench("wb", "http", 1, 0.2), 400, 1)
    full = run_of(5.0, generator_core_busy=1.0, server_core_busy=0.5)
    one, other = (Series(Subject(name, "a {port}", "http"), [full, full]) for name in ("one", "other"))
    other.runs = [run_of(5.0)] * 2  # which the server limited
    (note,) = summarise(Measured(workload, [one, other]))["notes"]
    assert "the generator's core is full with one: " in note
    assert summarise(Measured(workload, [other]))["notes"] == []


def test_reports_are_written(tmp_path):
    cli.write_reports(a_report(), tmp_path / "new")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "report.html",
        "report.json",
        "report.txt",
    ]
    assert json.loads((tmp_path / "new/report.json").read_text()) == a_report()
