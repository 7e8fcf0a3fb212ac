"""Servers are started, checked and always ended; the command line picks what is run."""

import os
import shlex
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from harness import cli, peers
from harness.asks import HELLO
from harness.checks import check
from harness.effort import FULL, QUICK, USUAL
from harness.generators import WeftBench
from harness.journal import Journal
from harness.machine import choose_cores
from harness.runner import measure, run_once
from harness.servers import ServerFailed, Subject, running
from harness.session import Plan
from harness.workloads import Workload, own_subjects, workloads

CORES = choose_cores(os.sched_getaffinity(0))

# A server that answers every ping with the body given as its second argument, or, when that is
# "echo", with what it got, changed.
FAKE = """
import socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    peer, _ = listener.accept()
    with peer:
        request = b""
        while data := peer.recv(65536):
            if sys.argv[2] == "echo":
                peer.sendall(data.upper())
                continue
            request += data
            head, blank, sent = request.partition(b"\\r\\n\\r\\n")
            size = int(head.lower().partition(b"content-length:")[2].split(b"\\r")[0] or 0)
            if not blank or len(sent) < size:
                continue
            request = b""
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
        (replace(fake('{"sequence": 3}'), parses=False), "for sequence 2"),
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


def test_a_fixed_reply_will_do_for_one_that_does_not_parse():
    fixed = fake('{"sequence": 2}')
    with running(fixed, CORES.server) as (_, port):
        check(replace(fixed, parses=False), port)
        with pytest.raises(ServerFailed, match=r"for sequence \d{10}"):
            check(fixed, port)


def test_scratch_is_there_for_as_long_as_the_server(tmp_path):
    told = tmp_path / "told"
    keeper = f"import sys; open({str(told)!r}, 'w').write(sys.argv[3]);" + FAKE
    with running(fake("{}", "{scratch}", code=keeper), CORES.server):
        scratch = Path(told.read_text())
        assert scratch.is_dir() and not list(scratch.iterdir())
    assert not scratch.exists()


def test_peers_sit_out_when_they_have_had_their_rounds(ceiling, weft_bench):
    ours = Subject("ours", f"'{ceiling}' {{port}} http", "http")
    peer = replace(ours, name="peer", is_peer=True)
    work = replace(a_workload(weft_bench, pairs=2), peer_pairs=1)
    assert work.takes(peer) and not replace(work, peer_pairs=0).takes(peer)
    measured = measure(work, [ours, peer], CORES, {os.getpid()}, lambda _: None)
    assert [[run is not None for run in series.runs] for series in measured.series] == [
        [True, True],
        [True, False],
    ]
    assert measured.series[1].problem is None


def test_levels_choose_where_a_subject_takes_part(weft_bench):
    work = a_workload(weft_bench)  # of 8 connections
    subject = fake("{}")
    assert work.takes(subject)
    assert work.takes(replace(subject, levels=(2, 8)))
    assert not work.takes(replace(subject, levels=(2,)))
    assert not work.takes(replace(subject, protocol="echo"))


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
    assert run.resident_before > 100_000
    assert run.resident_after > 100_000
    assert run.p50_us <= run.p99_us <= run.p999_us <= run.max_us
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
        assert len(names) >= 4
    assert {(work.name, work.connections) for work in workloads(USUAL, build, 19_000)} == {
        ("ping", 400), ("ping-2", 2), ("ping-19000", 19_000), ("ping-wrk-2", 2),
        ("ping-wrk-400", 400), ("ping-wrk-19000", 19_000), ("echo-ab", 1000), ("echo", 1000),
        ("plain-10000", 10_000), ("plain-pipelined", 64), ("plain-single", 100),
    }  # fmt: skip


@pytest.mark.parametrize("can", [True, False])
def test_a_weftd_that_can_spin_is_measured_so_with_few_connections(can, tmp_path):
    weftd = tmp_path / "apps/weftd/weftd"
    weftd.parent.mkdir(parents=True)
    weftd.write_text("#!/bin/sh\necho 'Options: " + ("--idle MODE" if can else "") + "'\n")
    weftd.chmod(0o755)
    spinning = [each for each in own_subjects(tmp_path) if each.name.endswith("_spin")]
    assert len(spinning) == (2 if can else 0)
    for subject in spinning:
        assert "--idle spin=50us" in subject.command
        assert subject.levels == (2,)


def planned_seconds(effort, tmp_path, *arguments):
    """Of all that is run unasked, where every peer can be had."""
    options = cli.parse_arguments(list(arguments))
    works, _ = cli.chosen(options, effort, [])
    others = [peers.subject_of(peer, "x {port}", tmp_path) for peer in cli.wanted_peers(options, effort, works)]
    works, subjects = cli.chosen(options, effort, others)
    plan = Plan(works, subjects, cli.chosen_in_process(options, effort), CORES, cli.chosen_runtime(options, effort))
    return plan.left(Journal(tmp_path / "rounds.jsonl", {}, {}))


@pytest.mark.parametrize("can", [True, False])
@pytest.mark.parametrize(("effort", "minutes"), [(QUICK, 3), (USUAL, 57)])
def test_a_run_is_bounded(tmp_path, monkeypatch, can, effort, minutes):
    monkeypatch.setattr("harness.workloads.spins", lambda _: can)
    assert 0 < planned_seconds(effort, tmp_path) <= 60 * minutes


def test_where_not_all_peers_take_part_the_leading_ones_do(build):
    for work in workloads(USUAL, build):
        slow, fast = (Subject("peer", "x {port}", work.protocol, "complete", is_peer=True, plain=HELLO, leads=leads)
                      for leads in (False, True))
        assert work.takes(slow) == (work.peer_pairs > 0 and not work.name.startswith("ping-wrk"))
        assert work.takes(fast) == (work.peer_pairs > 0)


def test_the_environment_chooses_the_effort(monkeypatch, capsys):
    def effort(*arguments):
        return cli.effort_of(cli.parse_arguments(list(arguments)))

    monkeypatch.delenv("QUICK", raising=False)
    monkeypatch.delenv("FULL", raising=False)
    assert effort() == USUAL and effort("--full") == FULL
    assert USUAL.seconds == 2.5 and 10 <= FULL.seconds <= 60
    for each in (QUICK, USUAL, FULL):
        assert min(each.pairs, each.headline_pairs, each.peer_pairs) >= 3
    monkeypatch.setenv("FULL", "1")
    assert effort() == FULL and effort("--quick") == QUICK
    monkeypatch.setenv("QUICK", "")  # as make leaves it when nobody asks
    assert effort() == FULL
    monkeypatch.setenv("QUICK", "1")
    with pytest.raises(SystemExit):
        effort()
    assert "one of them" in capsys.readouterr().err


def test_command_line_chooses():
    options = cli.parse_arguments(
        ["--quick", "--workload", "ping", "--pairs", "5", "--only", "weftd_epoll",
         "--subject", "x=srv -p {port}"]
    )  # fmt: skip
    works, subjects = cli.chosen(options, cli.effort_of(options), [])
    assert [(work.name, work.pairs) for work in works] == [("ping", 5)]
    assert {subject.name for subject in subjects} == {"ceil_epoll", "weftd_epoll", "x"}
    assert cli.wanted_peers(options, QUICK, works) == []


def test_a_pattern_chooses_many():
    options = cli.parse_arguments(["--workload", "rdrs-write-1*"])
    works, _ = cli.chosen(options, USUAL, [])
    names = {work.name for work in works}
    assert names == {f"rdrs-write-{count}{form}" for count in (1, 10, 100) for form in ("", "-minified")}
    assert {peer.protocol for peer in cli.wanted_peers(options, USUAL, works)} == {"rdrs"}


def test_peers_are_chosen():
    def names(effort, *arguments, protocol="http"):
        options = cli.parse_arguments(list(arguments))
        works, _ = cli.chosen(options, effort, [])
        return [peer.name for peer in cli.wanted_peers(options, effort, works) if peer.protocol == protocol]

    for protocol in ("http", "echo"):
        assert names(FULL, protocol=protocol) == [each.name for each in peers.ALL if each.protocol == protocol]
    assert names(QUICK) == ["nginx", "boost_beast", "hyper"]
    assert names(QUICK, protocol="echo") == []
    assert names(QUICK, "--only", "libuv") == ["libuv"]
    assert names(FULL, "--no-peers") == []


def test_no_two_peers_share_a_name():
    names = [peer.name for peer in cli.ALL_PEERS]
    assert len(set(names)) == len(names)


def test_wrong_command_lines_are_refused(capsys):
    for arguments in (
        ["--workload", "pign"],
        ["--subject", "x=no port here"],
        ["--subject", "{port}"],
        ["--pairs", "0"],
        ["--seconds", "1000"],
    ):
        with pytest.raises(SystemExit) as ended:
            cli.chosen(cli.parse_arguments(arguments), QUICK, [])
        assert ended.value.code == 2
    assert "no such name: pign" in capsys.readouterr().err


def test_threads_of_the_check_are_joined(ceiling):
    before = threading.active_count()
    subject = Subject("ceiling", f"'{ceiling}' {{port}} echo", "echo")
    with running(subject, CORES.server) as (_, port):
        check(subject, port)
    assert threading.active_count() == before
