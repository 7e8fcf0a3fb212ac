"""Servers are started, checked and always ended; the command line picks what is run."""

import os
import shlex
import sys
import threading

import pytest
from harness import cli
from harness.generators import WeftBench
from harness.machine import choose_cores
from harness.runner import measure, run_once
from harness.servers import ServerFailed, Subject, check, running
from harness.workloads import FULL, Workload, own_subjects, workloads

CORES = choose_cores(os.sched_getaffinity(0))

# A server that answers every ping with the body given as its second argument, or, when that is
# "echo", with what it got, changed.
FAKE = """
import socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    peer, _ = listener.accept()
    with peer:
        while data := peer.recv(65536):
            if sys.argv[2] == "echo":
                peer.sendall(data.upper())
                continue
            body = sys.argv[2].encode()
            peer.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\n"
                         b"Content-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
"""


def fake(*arguments, code=FAKE, protocol="http"):
    words = [sys.executable, "-c", code, "{port}", *arguments]
    return Subject("fake", shlex.join(words).replace("'{port}'", "{port}"), protocol)


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_server_is_pinned_and_ended():
    with running(fake("{}"), CORES.server) as (pid, _):
        assert os.sched_getaffinity(pid) == {CORES.server}
    assert not is_running(pid)


def test_a_server_is_ended_whatever_happens():
    pids = []
    with pytest.raises(KeyboardInterrupt), running(fake("{}"), CORES.server) as (pid, _):
        pids.append(pid)
        raise KeyboardInterrupt
    assert not is_running(pids[0])


def test_a_server_that_ignores_the_polite_signal_is_ended_too(monkeypatch):
    monkeypatch.setattr("harness.servers.STOP_TIMEOUT", 0.1)
    stubborn = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)" + FAKE
    with running(fake("{}", code=stubborn), CORES.server) as (pid, _):
        pass
    assert not is_running(pid)


def test_a_server_that_does_not_start_tells_why():
    broken = fake(code="import sys; sys.exit('no such engine')")
    with (
        pytest.raises(ServerFailed, match=r"status 1.*no such engine"),
        running(broken, CORES.server),
    ):
        pass


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        (fake('{"sequence": 3}'), "for sequence 2"),
        (fake("[1"), "wrong answer"),
        (fake("echo", protocol="echo"), "5 bytes came back changed"),
    ],
)
def test_a_wrong_answer_is_not_timed(subject, reason):
    with (
        pytest.raises(ServerFailed, match=reason),
        running(subject, CORES.server) as (_, port),
    ):
        check(subject, port)


def test_ceilings_answer_rightly(ceiling):
    for protocol in ("http", "echo"):
        subject = Subject("ceiling", f"'{ceiling}' {{port}} {protocol}", protocol)
        with running(subject, CORES.server) as (_, port):
            check(subject, port)


def a_workload(weft_bench, protocol="http", pairs=1):
    return Workload("w", "W", protocol, WeftBench(weft_bench, protocol, 0.2, 0.05), 8, pairs)


def test_a_run_has_figures(ceiling, weft_bench):
    subject = Subject("ceiling", f"'{ceiling}' {{port}} http", "http")
    run = run_once(a_workload(weft_bench), subject, CORES, {os.getpid()})
    assert run.requests > 0
    assert run.errors == {}
    assert run.per_second > 0
    assert run.resident_bytes > 100_000
    assert run.cpu_us == pytest.approx(run.cpu_user_us + run.cpu_system_us)


def test_what_is_missing_or_wrong_is_said_and_the_rest_is_measured(build, weft_bench):
    good = own_subjects(build)[0]
    series = measure(
        a_workload(weft_bench, pairs=2),
        [good, Subject("gone", "/no/such/server {port}", "http"), fake("[]")],
        CORES,
        {os.getpid()},
        lambda _: None,
    ).series
    assert all(series[0].runs)
    assert series[1].problem == "/no/such/server is not there"
    assert series[1].runs == [None, None]
    assert "for sequence 2" in series[2].problem
    assert series[2].runs == [None, None]


def test_a_missing_generator_is_said():
    measured = measure(a_workload("/no/wb"), [fake("{}")], CORES, set(), lambda _: None)
    assert measured.problem == "/no/wb is not there; it is of this repository (make build)"


def test_baseline_comes_first_in_every_protocol(build):
    for protocol in ("http", "echo"):
        names = [each.name for each in own_subjects(build) if each.protocol == protocol]
        assert names[0] == "ceil_epoll"
        assert len(names) == 4
    assert {work.name for work in workloads(FULL, build)} == {
        "ping", "ping-wrk-2", "ping-wrk-400", "echo-ab", "echo",
    }  # fmt: skip


def test_command_line_chooses():
    options = cli.parse_arguments(
        ["--quick", "--workload", "ping", "--pairs", "5", "--only", "weftd_epoll",
         "--subject", "x=srv -p {port}"]
    )  # fmt: skip
    works, subjects = cli.chosen(options)
    assert [(work.name, work.pairs) for work in works] == [("ping", 5)]
    assert {subject.name for subject in subjects} == {"ceil_epoll", "weftd_epoll", "x"}


def test_wrong_command_lines_are_refused(capsys):
    for arguments in (
        ["--workload", "pign"],
        ["--subject", "x=no port here"],
        ["--subject", "{port}"],
        ["--pairs", "0"],
        ["--seconds", "1000"],
    ):
        with pytest.raises(SystemExit) as ended:
            cli.chosen(cli.parse_arguments(arguments))
        assert ended.value.code == 2
    assert "no such name: pign" in capsys.readouterr().err


def test_threads_of_the_check_are_joined(ceiling):
    before = threading.active_count()
    subject = Subject("ceiling", f"'{ceiling}' {{port}} echo", "echo")
    with running(subject, CORES.server) as (_, port):
        check(subject, port)
    assert threading.active_count() == before
