"""The tables in README.md and docs/benchmarks.md are what the stored results say, and stored results are what a report says."""

import json
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT
from harness.headline import all_stored, name_of, standings, stored, table, with_table
from test_plots import a_workload

RESULTS = ROOT / "bench/results"


def headline(*arguments):
    return subprocess.run([sys.executable, ROOT / "bench/headline", *map(str, arguments)],
                          capture_output=True, text=True, timeout=30, check=False)  # fmt: skip


def test_pages_have_the_tables_of_the_stored_results():
    done = headline("check")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("page", "right", "wrong"), [("README.md", "| weft on epoll | 1 |", "| weft on epoll | 0.5 |"),
                                                      ("docs/benchmarks.md", "| POST /ping, lean generator | 2 |",
                                                       "| POST /ping, lean generator | 3 |")])  # fmt: skip
def test_a_page_with_another_figure_is_found_and_mended(page, right, wrong, tmp_path):
    (tmp_path / "docs").mkdir()
    for each in ("README.md", "docs/benchmarks.md"):
        shutil.copy(ROOT / each, tmp_path / each)
    before = (ROOT / page).read_text()
    assert right in before
    (tmp_path / page).write_text(before.replace(right, wrong, 1))
    done = headline("check", "--root", tmp_path)
    assert done.returncode == 1 and "`bench/headline write`" in done.stderr and page in done.stderr
    assert headline("write", "--root", tmp_path).returncode == 0
    assert (tmp_path / page).read_text() == before


def test_stored_results_are_small_and_whole():
    files = list(RESULTS.glob("*.json"))
    assert files
    for file in files:
        assert file.stat().st_size < 150_000
        result = json.loads(file.read_text())
        assert result["machine"]["date"].startswith(file.stem[:10])
        assert result["machine"]["processor"]
        for workload in result["workloads"].values():
            assert workload["rounds"] >= 3


def a_report(date, ping=1.5):
    report = {"machine": {"date": date, "processor": "p", "cores": "2", "memory": "1 GiB", "kernel": "L", "compiler": "c"},
              "notes": [], "workloads": [a_workload(400, ("ceil_epoll", "weftd_epoll", "weftd_uring", "peer"))],
              "in_process": []}  # fmt: skip
    report["workloads"][0]["name"] = "ping"
    report["workloads"][0]["series"][1]["cpu_ratio"] = {"median": ping, "low": 1.4, "high": 1.6, "pairs": 3}
    return report


def test_what_is_stored_is_what_was_reported(tmp_path):
    report = a_report("2031-02-03 04:05 UTC")
    (tmp_path / "report.json").write_text(json.dumps(report))
    done = headline("store", tmp_path / "report.json", "--results", tmp_path)
    assert done.returncode == 0, done.stderr
    kept = json.loads((tmp_path / "2031-02-03-0405.json").read_text())
    assert kept == stored(report)
    server = kept["workloads"]["ping"]["servers"]["weftd_epoll"]
    assert server["cpu_us"] == 6 and server["cpu_ratio"] == [1.5, 1.4, 1.6]
    assert server["p99_us"] == 110 and server["errors"] == 0


def test_the_newest_result_that_has_a_workload_counts(tmp_path):
    old, new = a_report("2031-02-03 04:05 UTC", 1.5), a_report("2031-02-04 04:05 UTC", 1.25)
    for report in (old, new):
        (tmp_path / name_of(report)).write_text(json.dumps(stored(report)))
    shutil.copy(RESULTS / "2026-11-22.json", tmp_path)
    made = table(all_stored(tmp_path))
    ping, many, echo = (line for line in made.splitlines() if line.startswith("| ") and "core time" not in line)
    # Six from five, seven from five; the peer's eight from five.
    assert "| 1.25 (1.40–1.60) | 1.40 (1.40–1.40) | peer 1.60 (1.60–1.60) | 2031-02-04 |" in ping
    assert "2026-11-22" in many and "nginx* 1.09 (1.07–1.11)" in many
    assert echo.endswith("| – | 2026-11-22 |")


def test_a_workload_stands_as_in_its_newest_result_with_rivals():
    """Of series that take five, six, seven and eight microseconds."""
    rivals, newer, alone = (stored(a_report(f"2031-02-0{day} 04:05 UTC", 1.2)) for day in (3, 4, 5))
    for each in (rivals, newer, alone):
        each["workloads"]["ping"]["servers"]["ceil_epoll"]["kind"] = "bare"
    for each in (alone, newer):
        each["workloads"]["ping"]["title"] = "another"
    del alone["workloads"]["ping"]["servers"]["peer"]
    newer["workloads"]["ping"]["servers"]["peer"]["resident_bytes"] = None
    rows = standings([alone, newer, rivals]).splitlines()[2:]
    assert rows == ["| another | 400 | weftd_epoll 6.00 µs | peer 8.00 µs | 0.75 | 110 µs, 130 µs | 3.1 MB, – | 2031-02-04 |"]
    assert "| POST /ping | 400 | weftd_epoll" in standings([rivals])


def test_a_text_without_marks_is_refused():
    with pytest.raises(ValueError, match="are not there"):
        with_table("no marks", "x")


def test_a_wrong_command_line_is_refused():
    assert headline("store").returncode == 2
    assert headline("check", "report.json").returncode == 2
