"""Open loops: their rate is a share of what the best peer answers at most, and who cannot answer so many takes no part."""

import os
from dataclasses import replace

import pytest
from harness import cli
from harness.effort import USUAL
from harness.machine import Cores, choose_cores
from harness.open_loop import SHARES, NoRate, open_loops, paced
from harness.runner import run_once
from harness.runs import Measured, Series
from harness.servers import Subject
from harness.session import Plan, measure_all
from harness.summary import summarise
from harness.text_report import heading
from harness.verdict import conclusion
from harness.workloads import own_subjects
from test_reports import run_of

CORES = choose_cores(os.sched_getaffinity(0))
WEFT = Subject("weftd_epoll", "w {port}", "http", "complete")
BARE = Subject("ceil_epoll", "c {port}", "http", "bare")


def peer(name, kind="complete"):
    return Subject(name, "p {port}", "http", kind, is_peer=True)


def report_of(rates):
    """Of the closed loop: requests a second by server."""
    series = [{"subject": subject.name, "kind": subject.kind, "is_peer": subject.is_peer, "median": {"per_second": rate}}
              for subject, rate in rates.items()]  # fmt: skip
    return {"workloads": [{"name": "ping", "series": series}]}


FAST, SLOW = peer("fast"), peer("slow")
RATES = {BARE: 900_000.0, WEFT: 300_000.0, FAST: 100_000.0, SLOW: 30_000.0, peer("sockets", "bare"): 500_000.0}


def an_open_loop(share, build):
    return next(each for each in open_loops(USUAL, build) if each.share == share)


def test_the_best_complete_peer_sets_the_pace(build):
    work = an_open_loop(0.5, build)
    now = paced(work, [WEFT, FAST, SLOW], report_of(RATES))
    assert now.work.generator.rate == 50_000
    assert now.subjects == [WEFT, FAST]
    assert now.notes == ["50,000 requests a second are due: 50 % of what fast answered at most",
                         "left out are those that cannot answer so many: slow (30,000)"]  # fmt: skip
    assert paced(an_open_loop(0.1, build), [WEFT, FAST, SLOW], report_of(RATES)).subjects == [WEFT, FAST, SLOW]


def test_without_a_peer_it_is_the_best_of_all_complete_servers(build):
    now = paced(an_open_loop(0.8, build), [WEFT], report_of({BARE: 900_000.0, WEFT: 300_000.0}))
    assert now.work.generator.rate == 240_000 and now.subjects == [WEFT]


@pytest.mark.parametrize("report", [{"workloads": []}, report_of({BARE: 1.0}), report_of({WEFT: None})])
def test_without_a_rate_nothing_is_measured(build, report):
    with pytest.raises(NoRate, match="ping has told no rate"):
        paced(an_open_loop(0.5, build), [WEFT], report)


def test_ours_are_measured_even_where_they_are_slow(build):
    slow = {WEFT: 10.0, FAST: 100_000.0}
    assert paced(an_open_loop(0.5, build), [WEFT, FAST], report_of(slow)).subjects == [WEFT, FAST]


def test_complete_servers_take_part(build):
    for work in open_loops(USUAL, build):
        assert work.takes(WEFT) and work.takes(FAST)
        assert not work.takes(BARE) and not work.takes(peer("sockets", "bare"))
    assert [work.share for work in open_loops(USUAL, build)] == [share / 100 for share in SHARES]


def test_the_closed_loop_comes_along():
    options = cli.parse_arguments(["--workload", "ping-at-50"])
    works, _ = cli.chosen(options, USUAL, [])
    assert [work.name for work in works] == ["ping", "ping-at-50"]
    names = [work.name for work in cli.chosen(cli.parse_arguments([]), USUAL, [])[0]]
    assert names.count("ping") == 1 and names.index("ping") < names.index("ping-at-10")


def test_a_rate_is_kept(build, weft_bench):
    work = an_open_loop(0.5, build)
    work = replace(work, generator=replace(work.generator, rate=2000.0, seconds=0.5, warm_up=0.1), connections=8)
    subject = next(each for each in own_subjects(build) if each.name == "weftd_epoll")
    run = run_once(work, subject, CORES, {os.getpid()})
    assert run.requests == pytest.approx(1000, abs=20) and run.errors == {}
    assert run.late_p99_us is not None and 0 <= run.late_p99_us


def test_a_report_says_what_was_due_and_compares_no_rates(build):
    work = an_open_loop(0.5, build)
    work = replace(work, generator=replace(work.generator, rate=50_000.0))
    ours = Series(WEFT, [run_of(5.0, p99_us=100.0, late_p99_us=10.0)] * 3)
    theirs = Series(FAST, [run_of(5.0, p99_us=200.0, late_p99_us=150.0)] * 3)
    summary = summarise(Measured(work, [ours, theirs]), ["said before"])
    assert "50,000 a second due" in heading(summary)
    assert [each["metric"] for each in summary["verdicts"]] == ["cpu_us", "p99_us", "resident_bytes"]
    assert summary["notes"][0] == "said before"
    assert summary["notes"][-1] == "the generator itself was late: more than half of p99 is its own with fast"


@pytest.mark.parametrize(("p99", "near"), [(104.0, 2), (106.0, 1)])
def test_who_is_within_a_twentieth_is_counted(build, p99, near):
    series = [Series(WEFT, [run_of(5.0, p99_us=p99)] * 3), Series(FAST, [run_of(5.0, p99_us=100.0)] * 3)]
    report = {"workloads": [summarise(Measured(an_open_loop(0.5, build), series))]}
    assert f"within 5 % of it in {near} of 2." in conclusion(report)


def test_a_loop_without_a_rate_is_said_to_be_so(build):
    class Nothing:
        rounds = staticmethod(lambda _: [])

    report = {"workloads": [], "in_process": []}
    plan = Plan([an_open_loop(0.5, build)], [WEFT], [], Cores(0, 1))
    assert measure_all(plan, Nothing, report, lambda _: None)
    assert report["workloads"][0]["problem"] == "ping has told no rate"
