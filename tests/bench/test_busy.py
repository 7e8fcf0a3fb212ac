"""Others at work are seen while a server is measured, and named."""

import os
import subprocess

import pytest
from harness.cpu import stray_now, strangers
from harness.runner import run_once
from harness.runs import STRAY_LIMIT
from harness.servers import Subject, pinned
from test_servers import CORES, a_workload


@pytest.fixture
def at_work():
    """A program that wants all of the generator's core, and is of neither side: it has init, or who reaps, for a parent."""
    loop = subprocess.Popen(["sh", "-c", "(while :; do :; done) & echo $!"], stdout=subprocess.PIPE, text=True,
                            preexec_fn=lambda: os.sched_setaffinity(0, {CORES.generator}))  # fmt: skip
    pid = int(loop.stdout.readline())
    loop.wait()
    yield pid
    os.kill(pid, 9)


def test_a_run_beside_others_is_marked(at_work, build, weft_bench):
    subject = Subject("ceiling", f"'{build / 'bench/ceilings/epoll_server'}' {{port}} http", "http")
    run = run_once(a_workload(weft_bench), subject, CORES, {os.getpid()})
    assert at_work in strangers({os.getpid()})
    assert run.stray_share > STRAY_LIMIT and run.is_busy and run.stray_by
    share, by = stray_now({os.getpid()})
    assert share > STRAY_LIMIT and by


def test_what_we_start_is_no_stranger():
    child = subprocess.Popen(["sleep", "60"], preexec_fn=pinned(CORES.generator))
    try:
        found = strangers({os.getpid()})
        assert child.pid not in found and os.getpid() not in found
        assert child.pid in strangers(set())
    finally:
        child.kill()
        child.wait()
