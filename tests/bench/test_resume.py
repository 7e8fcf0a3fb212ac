"""A run that was broken off, politely or not, leaves what it has, and goes on after its last whole round."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import ROOT
from harness.journal import CannotResume, Journal
from harness.machine import Cores
from harness.progress import Progress
from harness.servers import Subject
from harness.session import Plan, identity

HEAD = {"arguments": [], "identity": {"a in ping": "1", "b in ping": "2"}}


@pytest.fixture
def journal(tmp_path):
    journal = Journal.begin(tmp_path / "rounds.jsonl", HEAD)
    journal.keep("ping", {"n": 1})
    journal.keep("echo", {"n": 2})
    journal.keep("ping", {"n": 3})
    return tmp_path / "rounds.jsonl"


def test_rounds_come_back_in_their_order(journal):
    again = Journal.resume(journal)
    assert again.head == HEAD
    assert again.rounds("ping") == [{"n": 1}, {"n": 3}]
    assert again.rounds("echo") == [{"n": 2}]
    assert again.rounds("none") == []


@pytest.mark.parametrize("torn", ['{"workload": "ping", "rou', '{"workload": "ping", "round": {"n": 4}}'])
def test_a_line_that_was_being_written_is_dropped(journal, torn):
    whole = journal.read_bytes()
    journal.write_bytes(whole + torn.encode())
    again = Journal.resume(journal)
    assert again.rounds("ping") == [{"n": 1}, {"n": 3}]
    again.keep("ping", {"n": 5})
    assert Journal.resume(journal).rounds("ping") == [{"n": 1}, {"n": 3}, {"n": 5}]


def test_what_has_changed_is_named(journal):
    again = Journal.resume(journal)
    again.must_be_of(dict(HEAD["identity"]))
    with pytest.raises(CannotResume, match="^b in ping is not what it was"):
        again.must_be_of({"a in ping": "1", "b in ping": "3"})
    with pytest.raises(CannotResume, match=r"^a in ping is not .* \(1 more differ\)"):
        again.must_be_of({"b in ping": "3"})


def test_there_must_be_something_to_go_on_with(tmp_path):
    with pytest.raises(CannotResume, match="no rounds in"):
        Journal.resume(tmp_path / "rounds.jsonl")
    (tmp_path / "rounds.jsonl").write_text("{")
    with pytest.raises(CannotResume, match="no head"):
        Journal.resume(tmp_path / "rounds.jsonl")


def test_a_program_that_was_built_anew_is_another_one(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.session.PEERS", tmp_path)
    folder = tmp_path / "server"
    folder.mkdir()
    program, settings, load = folder / "serve", folder / "settings", tmp_path / "load"
    for each in (program, settings, load):
        each.write_text("one")
        each.chmod(0o755)

    class Work:
        name, pairs, peer_pairs, connections = "w", 1, 1, 1

        class generator:
            command = staticmethod(lambda *_: [str(load)])

        takes = staticmethod(lambda _: True)

    plan = Plan([Work], [Subject("s", f"'{program}' {{port}}", "http")], [], Cores(0, 1))
    before = identity(plan)
    assert identity(plan) == before
    for changed, named in ((program, "s in w"), (settings, "s in w"), (load, "the workload w")):
        changed.write_text("another")
        after = identity(plan)
        assert {name for name in after if after[name] != before[name]} == {named}
        before = after


def test_the_time_left_is_told_at_the_pace_of_what_is_done():
    now, said = [0.0], []
    progress = Progress(100, said.append, lambda: now[0])
    progress.tell("first")
    now[0] = 90.0
    progress.passed(60)  # took 90: what is left will take one and a half of the plan, too
    progress.tell("second")
    assert said == ["0:00, about 1:40 left  first", "1:30, about 1:00 left  second"]
    progress.passed(60)
    assert progress.left() == 0


def start(out, build, *arguments):
    return subprocess.Popen(
        [sys.executable, ROOT / "bench/run", "--build", build, "--out", out, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )


def heed_interrupts():
    """Who starts these tests in the background may have them ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def await_lines(path, count, process):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        if path.exists() and path.read_text().count("\n") >= count:
            return
        time.sleep(0.02)
    raise AssertionError(f"{path} never had {count} lines")


def test_a_run_that_is_interrupted_leaves_a_report_and_goes_on(build, weft_bench, tmp_path):
    rounds = tmp_path / "rounds.jsonl"
    small = ("--workload", "ping", "--workload", "in-process-start", "--only", "weftd_epoll",
             "--quick", "--no-peers", "--pairs", "3", "--seconds", "0.3")  # fmt: skip

    def report():
        return json.loads((tmp_path / "report.json").read_text())

    def runs_of(document, server):
        (series,) = (each for each in document["workloads"][0]["series"] if each["subject"] == server)
        return series["runs"]

    process = start(tmp_path, build, *small)
    await_lines(rounds, 2, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the server and the generator get it too
    said, complaints = process.communicate(timeout=60)
    assert process.returncode == 130, complaints
    assert "NOT COMPLETE: interrupted" in said and "--resume" in said
    assert (tmp_path / "report.html").exists()
    broken_off = report()
    (note,) = (each for each in broken_off["notes"] if "interrupted" in each)
    assert f"--out {tmp_path}" in note
    first = runs_of(broken_off, "weftd_epoll")[0]
    assert first["requests"] > 0

    process = start(tmp_path, build, "--resume")  # and this time it is killed outright
    await_lines(rounds, 3, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()

    process = start(tmp_path, build, "--resume")
    said, complaints = process.communicate(timeout=120)
    assert process.returncode == 0, said + complaints
    assert "round 1 of 3" not in complaints.replace("in-process-start: round 1 of 3", "")
    whole = report()
    assert len(runs_of(whole, "weftd_epoll")) == 3 and all(runs_of(whole, "ceil_epoll"))
    assert runs_of(whole, "weftd_epoll")[0] == first
    assert "resumed" in whole["machine"]
    assert whole["in_process"][0]["rounds"] == 3

    process = start(tmp_path, build, "--resume", "--pairs", "4")
    _, complaints = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "the command line it was broken off with" in complaints
