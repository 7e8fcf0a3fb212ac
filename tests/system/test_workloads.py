"""weft-bench's workloads, with small counts: what they do and print, not how fast."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from seccomp import forbid_io_uring
from tracing import instructions_in, need
from weft_process import run, wait_until


def phases(*command):
    done = run([*command, "--json"])
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("workload", ["coroutine", "event", "start-stop", "serializer"])
def test_a_line_a_phase(weft_bench, workload):
    alone, together = phases(weft_bench, workload, "--threads", "2", "--count", "10000")
    assert (alone["workload"], alone["threads"], alone["count"], alone["dispatched"]) == (workload, 1, 10_000, 10_000)
    assert (together["threads"], together["count"], together["dispatched"]) == (2, 10_000, 20_000)
    for phase in alone, together:
        assert phase["seconds"] > 0 and phase["rate_per_s"] > 0 and phase["peak_rss_mb"] > 0
        assert phase["variant"] and "queue_peak_mb" in phase


def test_a_deep_queue_is_small(weft_bench):
    (phase,) = phases(weft_bench, "event", "--count", "5000000")
    assert phase["dispatched"] == 5_000_000
    assert phase["peak_rss_mb"] <= 90


def test_a_producer_that_waits_keeps_the_queue_small(weft_bench):
    (phase,) = phases(weft_bench, "event", "--count", "500000", "--capacity", "65536")
    assert phase["dispatched"] == 500_000
    assert phase["queue_peak_mb"] <= 2


@pytest.mark.parametrize("graph", ["loggers", "fan-in", "chain", "random"])
@pytest.mark.parametrize("injection", ["constructor", "dynamic"])
def test_services_start_and_stop(weft_bench, graph, injection):
    alone, together = phases(weft_bench, "start", "--services", "1000", "--graph", graph, "--injection", injection,
                             "--threads", "2")
    assert (alone["services"], alone["count"], alone["dispatched"]) == (1_000, 1, 1_000)
    assert (together["services"], together["dispatched"]) == (2_000, 2_000)
    assert together["bytes_per_service"] > 0


def test_a_service_with_its_logger_is_small(weft_bench):
    (phase,) = phases(weft_bench, "start", "--services", "10000", "--graph", "loggers")
    assert phase["bytes_per_service"] <= 600, "0.6 KB, whatever the heap adds"


def test_wrong_use_is_told(weft_bench):
    for wrong in ["event", "--fast"], ["event", "--count"], ["coroutine", "--threads", "none"], ["even"], \
            ["start", "--graph", "star"], ["start", "--services", "0"]:
        done = run([weft_bench, *wrong])
        assert done.returncode == 2 and done.stderr.startswith("weft-bench: ")


def test_an_urgent_event_is_told_before_a_million(weft_bench):
    (phase,) = phases(weft_bench, "dispatch", "--count", "10000")
    assert phase["dispatched"] == 10_000
    assert 0 < phase["p50_ns"] <= phase["p99_ns"] <= phase["max_ns"]


def test_how_late_wake_ups_are(weft_bench, tmp_path):
    page = tmp_path / "page.html"
    done = run([weft_bench, "realtime", "--rate", "5000", "--wakeups", "1000", "--rounds", "2", "--load", "idle,cpu",
                "--alone", "--json", "--html", page])
    assert done.returncode == 0, done.stderr
    idle, cpu = (json.loads(line) for line in done.stdout.splitlines())
    assert (idle["load"], cpu["load"], idle["period_us"], idle["rounds"]) == ("idle", "cpu", 200, 2)
    assert idle["weft"]["wakeups"] == 2_000 and idle["weft"]["p50_us"] <= idle["weft"]["max_us"]
    assert "Latency of weft, cpu" in page.read_text()


def test_a_page_that_cannot_be_written_is_told_of_before_anything_is_measured(weft_bench):
    done = run([weft_bench, "realtime", "--wakeups", "100", "--rounds", "1", "--load", "idle", "--alone", "--html", "/nowhere/page"])
    assert (done.returncode, done.stdout) == (2, "") and "cannot write '/nowhere/page'" in done.stderr, done.stderr


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_cyclictest_ends_with_who_started_it(weft_bench, tmp_path):
    started = tmp_path / "started"
    other = tmp_path / "cyclictest"
    other.write_text(f"#!/bin/sh\necho $$ > {started}.new && mv {started}.new {started} && exec sleep 60\n")
    other.chmod(0o755)
    # The second of a round's two runs is cyclictest's.
    with subprocess.Popen([weft_bench, "realtime", "--rate", "5000", "--wakeups", "100", "--rounds", "1", "--load", "idle"],
                          env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as bench:
        wait_until(started.exists)
        bench.terminate()
    pid = int(started.read_text())
    try:
        wait_until(lambda: not is_running(pid))
    finally:
        if is_running(pid):
            os.kill(pid, signal.SIGKILL)


def test_wake_ups_are_told_to_be_all_of_them(weft_bench):
    done = run([weft_bench, "realtime", "--rate", "5000", "--wakeups", "100", "--rounds", "1", "--load", "idle", "--alone"])
    assert done.returncode == 0, done.stderr
    assert "latency in microseconds, the first wake-ups included\n" in done.stdout


@pytest.mark.parametrize(("option", "least"), [("--rate", 1), ("--wakeups", 100), ("--rounds", 1), ("--priority", 1)])
def test_too_few_is_refused_rather_than_taken_for_more(weft_bench, option, least):
    given = {"--load": "idle", "--wakeups": "100", "--rounds": "1"} | {option: str(least - 1)}
    done = run([weft_bench, "realtime", "--alone", *(part for pair in given.items() for part in pair)])
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{option} {least - 1}: at least {least}" in done.stderr, done.stderr


def test_a_loop_that_is_not_there_is_no_loop_that_is_never_late(weft_bench):
    done = run([weft_bench, "realtime", "--backend", "io_uring", "--wakeups", "1000", "--rounds", "1", "--load", "idle", "--json"],
               preexec=forbid_io_uring)
    assert (done.returncode, done.stdout) == (1, "") and "there is no such loop here" in done.stderr, done.stderr


def test_who_has_no_rights_is_told_what_wake_ups_were_measured_without(weft_bench):
    dropped = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    done = run(["prlimit", "--rtprio=0", "--memlock=0", *dropped, weft_bench, "realtime", "--wakeups", "1000", "--rounds", "1",
                "--load", "idle", "--json"])
    assert done.returncode == 0, done.stderr
    idle = json.loads(done.stdout)
    assert {"memory locked", "SCHED_FIFO, priority 80"} <= set(idle["not_applied"]) and idle["applied"]
    assert "cyclictest" not in idle and "without cyclictest" in done.stderr


def test_wake_ups_are_compared_with_those_of_cyclictest(weft_bench):
    need("cyclictest")
    done = run([weft_bench, "realtime", "--wakeups", "1000", "--rounds", "2", "--load", "idle", "--json"])
    assert done.returncode == 0, done.stderr
    if "without cyclictest" in done.stderr:
        pytest.skip("cyclictest may not go before others here")
    (idle,) = (json.loads(line) for line in done.stdout.splitlines())
    assert idle["cyclictest"]["wakeups"] == 2_000
    assert 0 < idle["p99.99_ratio"]["least"] <= idle["p99.99_ratio"]["median"] <= idle["p99.99_ratio"]["most"]


def instructions_of(weft_bench, tmp_path, workload, few, many, *options):
    """Of one more round, counted: the difference of two runs, the process of the phase alone."""
    need("valgrind")
    totals = []
    for count in few, many:
        done = run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={tmp_path}/{count}.%p", weft_bench, workload,
                    "--count", str(count), *options])
        assert done.returncode == 0, done.stderr
        totals.append(max(instructions_in(profile) for profile in tmp_path.glob(f"{count}.*")))
    return (totals[1] - totals[0]) / (many - few)


@pytest.mark.parametrize(("workload", "few", "many", "most"), [
    ("event", 10_000, 60_000, 45),
    ("coroutine", 5_000, 25_000, 270),
    ("start-stop", 500, 2_500, 3_750),
])
def test_instructions_of_a_round(weft_bench, tmp_path, workload, few, many, most):
    cost = instructions_of(weft_bench, tmp_path, workload, few, many)
    print(f"{workload}: {cost:.0f} instructions")
    assert cost <= most


def test_an_urgent_event_costs_the_same_among_a_million(weft_bench, tmp_path):
    costs = []
    for queued in 1_000, 1_000_000:
        folder = tmp_path / str(queued)
        folder.mkdir()
        costs.append(instructions_of(weft_bench, folder, "dispatch", 1_000, 11_000, "--queued", str(queued)))
    few, many = costs
    print(f"an urgent event: {few:.1f} instructions before 1,000, {many:.1f} before 1,000,000")
    assert 10 < many <= few + 1
