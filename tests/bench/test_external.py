"""Servers that somebody else has started: found by address, asked, reported, and left alone."""

import argparse
import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT
from harness import cli
from harness.command_line import parse_external
from harness.runner import run_once
from harness.servers import ServerFailed, Subject, running
from test_servers import CORES, a_workload, fake, is_running


@pytest.fixture
def theirs(build, weft_bench):
    """A server that is not the harness's."""
    server = build / "bench/ceilings/epoll_server"
    with running(Subject("theirs", f"'{server}' {{port}} http", "http"), CORES.server) as (pid, port):
        yield port
        assert is_running(pid)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_it_is_measured_as_far_as_one_can_from_outside(theirs, weft_bench, host):
    subject = Subject("x", "", "http", address=f"{host}:{theirs}")
    assert subject.missing() is None
    run = run_once(a_workload(weft_bench), subject, CORES, {os.getpid()})
    assert run.requests > 0 and run.per_second > 0 and run.p99_us > 0 and run.errors == {}
    # Of its cores and its memory nothing is known, and nothing is made up.
    assert run.cpu_us is run.process_us is run.server_core_busy is run.resident_bytes is None
    assert run.resident_before is run.resident_after is None
    assert not run.stray_by


def test_it_must_answer_rightly_as_well(weft_bench):
    with running(fake('{"sequence": 3}'), CORES.server) as (_, port):
        subject = Subject("x", "", "http", address=f"127.0.0.1:{port}")
        with pytest.raises(ServerFailed, match="for sequence 2"):
            run_once(a_workload(weft_bench), subject, CORES, {os.getpid()})


def test_it_stands_in_the_report_beside_ours(theirs, build, weft_bench, tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "bench/run", "--build", build, "--out", tmp_path, "--workload", "ping", "--pairs", "1",
         "--quick", "--seconds", "0.2", "--no-peers", "--only", "weftd_epoll", "--external", f"theirs=127.0.0.1:{theirs}"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    (series,) = (each for each in report["workloads"][0]["series"] if each["subject"] == "theirs")
    assert series["command"] == f"at 127.0.0.1:{theirs}"
    assert series["cpu_ratio"] is None and series["rate_ratio"]["median"] > 0
    assert "in the machine's own network" in " ".join(report["notes"])
    assert "not measured" in (tmp_path / "report.html").read_text()


def test_one_that_is_not_there_is_named_and_the_rest_goes_on(build, weft_bench, tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "bench/run", "--build", build, "--out", tmp_path, "--workload", "ping", "--pairs", "1",
         "--quick", "--seconds", "0.2", "--no-peers", "--only", "weftd_epoll", "--external", "gone=127.0.0.1:1",
         "--subject", "broken=/bin/false {port}"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "gone: NOT MEASURED: wrong answer: [Errno 111] Connection refused" in done.stdout
    assert "broken: NOT MEASURED: ended with status 1 instead of listening" in done.stdout
    report = json.loads((tmp_path / "report.json").read_text())
    runs = {each["subject"]: each["runs"] for each in report["workloads"][0]["series"]}
    assert runs["weftd_epoll"][0]["requests"] > 0
    assert runs["gone"] == runs["broken"] == [None]


def test_addresses():
    assert parse_external("a=[::1]:80", "http").address == "[::1]:80"
    for wrong in ("a=8080", "=h:1", "a=h:0", "a=h:65536", "a=h:http", "a=:80", "h:1"):
        with pytest.raises(argparse.ArgumentTypeError, match="write NAME=HOST:PORT"):
            parse_external(wrong, "http")


def test_two_of_a_name_are_refused(capsys):
    options = cli.parse_arguments(["--workload", "ping", "--external", "weftd_epoll=h:1"])
    with pytest.raises(SystemExit):
        cli.chosen(options, cli.effort_of(options), [])
    assert "two servers are named weftd_epoll" in capsys.readouterr().err
