"""Batches of reads: the model says what is published, and every program that is there answers as the model does."""

import json
import subprocess

import pytest
from harness import peers, rdrs, rdrs_peers
from harness.asks import says
from harness.checks import check
from harness.effort import QUICK
from harness.machine import compiler_of
from harness.rdrs_workloads import prepare, rdrs_subjects, rdrs_workloads
from harness.servers import ServerFailed, running
from test_servers import CORES, fake

PEERS = {peer.name: peer for peer in rdrs_peers.ALL}


def test_bodies_are_as_long_as_the_published_ones():
    one, nine = rdrs.batch(1), rdrs.batch(9)
    assert [len(rdrs.text_of(one, form)) for form in rdrs.FORMS] == [585, 287]
    assert len(rdrs.text_of(nine, "minified")) == 2455
    texts = [rdrs.minified(each) for each in rdrs.batch(100)["operations"]]
    assert len(set(texts)) == 100 and len({len(text) for text in texts}) == 1


def test_a_summary_is_of_all_that_is_said():
    of_one = json.loads(rdrs.summary(rdrs.batch(1)))
    # FNV-1a of "id00id10col0col1", by its definition; and what all strings are long.
    assert of_one == {"operations": 1, "bytes": 67, "sum": 2072973379}
    other = rdrs.batch(1)
    other["operations"][0]["body"]["filters"][1]["value"] = "1"
    assert json.loads(rdrs.summary(other))["sum"] != of_one["sum"]
    other["operations"][0]["method"] = "PATCH"
    assert json.loads(rdrs.summary(other))["bytes"] == 68


def test_rows_are_those_that_were_asked_for():
    asked = {"operations": [rdrs.operation(41, 7)]}
    assert json.loads(rdrs.rows(asked)) == {
        "result": [{"code": 200, "body": {"operationId": "1", "data": {"col0": 4107, "col1": "value 4107"}}}]
    }


def answers_rightly(subject):
    assert subject.asks
    with running(subject, CORES.server) as (_, port):
        sizes = {name: check(subject, port, ask) for name, ask in subject.asks.items()}
    assert all(size > 40 for size in sizes.values())


def test_weft_answers_rightly(build, monkeypatch):
    monkeypatch.setattr("harness.conversation.QUIET", 0.0)  # for it is no cheat
    subjects = rdrs_subjects(build)
    prepare(subjects, build)
    assert {subject.name for subject in subjects} >= {"weft_epoll", "weft_uring", "weftd_epoll", "pk_read_uring"}
    for subject in subjects:
        assert subject.missing() is None
        answers_rightly(subject)


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_that_is_built_answers_as_weft_does(name, build):
    into = build.parent / "bench-peers"
    if not (into / f"{name}.stamp").exists():
        pytest.skip(f"{name} is not built: bench/run --workload 'rdrs-*' does")
    ready, left_out = peers.build([PEERS[name]], peers.compiler_command(compiler_of(build)), into, print)
    if left_out:
        pytest.skip(left_out[0])
    answers_rightly(ready[0])


def test_members_have_no_order_and_nothing_else_is_left_to_chance():
    wanted = b'{"a":[1,2],"b":"x"}'
    assert says(b'{"b":"x","a":[1,2]}', wanted) and says(b"OK", b"OK")
    for wrong in (b'{"b":"x","a":[2,1]}', b'{"b":"x", "a":[1,2]}', b'{"b":"y","a":[1,2]}', b"OK", b""):
        assert not says(wrong, wanted)


def test_every_workload_has_its_baseline_first(build):
    subjects = rdrs_subjects(build)
    for work in rdrs_workloads(QUICK, build):
        taking_part = [subject.name for subject in subjects if work.takes(subject)]
        assert taking_part[0] == work.baseline


def test_a_wrong_answer_is_not_timed(build):
    parrot = fake('{"operations":1,"bytes":67,"sum":1}')
    ask = rdrs_subjects(build)[0].asks["rdrs-read-1"]
    with pytest.raises(ServerFailed, match="wrong answer"), running(parrot, CORES.server) as (_, port):
        check(parrot, port, ask)


def test_what_cannot_be_made_is_told(build, tmp_path, monkeypatch):
    monkeypatch.setattr("harness.rdrs_peers.DROGON_ROOT", tmp_path / "none")
    monkeypatch.setattr("harness.building.shutil.which", lambda _: None)
    ready, left_out = peers.build(rdrs_peers.ALL, ["c++"], tmp_path, print)
    assert ready == [] and len(left_out) == len(rdrs_peers.ALL)
    assert all("go is not installed" in reason or "tools/setup bench" in reason for reason in left_out)


def test_a_wrong_command_line_is_refused(weft_bench):
    done = subprocess.run([weft_bench, "rdrs", "--listn", "x"], capture_output=True, text=True, timeout=10)
    assert done.returncode == 2 and "--listn" in done.stderr
    helped = subprocess.run([weft_bench, "rdrs", "--help"], capture_output=True, text=True, timeout=10)
    assert helped.returncode == 0 and "weft-bench rdrs" in helped.stdout
