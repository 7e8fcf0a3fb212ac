"""Queries that no thread could be stopped in: they end at their time, with their client, and with the server."""

import contextlib
import fcntl
import http.client
import itertools
import json
import os
import signal
import sqlite3
import threading
from pathlib import Path

import httpx
import pytest
from seccomp import forbid
from weft_process import Server, wait_until

# One call of snippet() takes time by the square of the text, within one instruction of SQLite's machine: for this text
# hours. The other query calls a slow function 800 times between two looks at the clock.
DOCUMENT = "x " * 400_000
SNIPPET = "SELECT length(snippet(notes, 0, 'a', 'b', '...', 64)) AS n FROM notes WHERE notes MATCH 'x'"
FORMATS = ("SELECT " + ",".join(["+".join(["length(strftime(?1, ?2))"] * 400)] * 2), ["%f" * 150_000, "2026-01-01"])
CREATE_RULESET = 444
SCHEMA = """
PRAGMA journal_mode=WAL;
CREATE TABLE people(id INTEGER PRIMARY KEY, name VARCHAR(50));
INSERT INTO people VALUES(1, 'Ada');
CREATE VIRTUAL TABLE notes USING fts5(body);
"""


@pytest.fixture
def folder(tmp_path):
    with sqlite3.connect(tmp_path / "shop.db") as database:
        database.executescript(SCHEMA)
        database.execute("INSERT INTO notes VALUES(?)", [DOCUMENT])
    database.close()
    return tmp_path


def serve(weftd, folder, *words, preexec=None, **options):
    return Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", folder, *words,
                   *(f"--store.sqlite.engine.{name}={value}" for name, value in options.items())], preexec)


def ask(server, query, parameters=None, patience_s=60):
    return httpx.post(server.url("/0.1.0/sql"), timeout=patience_s,
                      json={"database": "shop", "query": query, "parameters": parameters or []})


def ask_in_background(server, query):
    replies = []
    asking = threading.Thread(target=lambda: replies.append(ask(server, query, patience_s=110)), daemon=True)
    asking.start()
    return asking, replies


def children_of(server):
    return [int(each) for each in Path(f"/proc/{server.pid}/task").glob("*/children") for each in each.read_text().split()]


def queries_of(server):
    found = []
    for each in children_of(server):
        with contextlib.suppress(OSError):  # it has just ended
            if b"query-process" in Path(f"/proc/{each}/cmdline").read_bytes():
                found.append(each)
    return found


def until_one_runs(server):
    """The process of a query that has begun to use its processor."""
    running = []

    def is_running():
        for each in queries_of(server):
            with contextlib.suppress(OSError):  # it has just ended
                ticks = Path(f"/proc/{each}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
                if sum(map(int, ticks)) > 10:
                    running.append(each)
        return running
    wait_until(is_running)
    return running[0]


def metric(server, name):
    lines = httpx.get(server.url("/metrics")).text.splitlines()
    return sum(int(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name))


def is_served(server):
    reply = ask(server, "SELECT name FROM people")
    return reply.status_code == 200 and reply.json()["data"][0] == {"name": "Ada"}


@pytest.mark.parametrize("query, parameters", [(SNIPPET, []), FORMATS], ids=["snippet", "strftime"])
def test_a_query_in_a_long_function_ends_at_its_time(weftd, folder, query, parameters):
    with serve(weftd, folder, query_time="1s", queries_max=1) as server:
        assert ask(server, query, parameters).status_code == 504
        assert is_served(server)
        assert metric(server, "store_query_processes_killed_total") == 1
        assert server.stop() == 0, server.log


def test_a_query_in_a_long_function_ends_when_its_client_leaves(weftd, folder):
    with serve(weftd, folder, query_time="1h", query_wait="1h", queries_max=1) as server:
        leaving = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        leaving.request("POST", "/0.1.0/sql", json.dumps({"database": "shop", "query": SNIPPET}))
        until_one_runs(server)
        leaving.close()
        assert is_served(server)
        assert metric(server, "store_query_processes_killed_total") == 1
        assert server.stop() == 0, server.log


def test_who_waits_too_long_for_a_place_may_try_again(weftd, folder):
    with serve(weftd, folder, query_time="1h", query_wait="100ms", queries_max=1) as server:
        asking, replies = ask_in_background(server, SNIPPET)
        until_one_runs(server)
        refused = ask(server, "SELECT 1")
        assert refused.status_code == 503 and refused.headers["retry-after"] == "1", refused.text
        os.kill(until_one_runs(server), signal.SIGKILL)
        asking.join()
        assert replies[0].status_code == 500 and "ended by signal 9" in replies[0].text
        assert is_served(server)
        assert server.stop() == 0, server.log


def test_it_stops_in_order_while_a_query_is_in_a_long_function(weftd, folder):
    with serve(weftd, folder, "--stop-timeout=1", query_time="1h") as server:
        asking, replies = ask_in_background(server, SNIPPET)
        running = until_one_runs(server)
        assert server.stop() == 0, server.log
        assert not Path(f"/proc/{running}").exists()
        asking.join()
        assert replies[0].status_code == 503, replies[0].text


def test_a_query_in_a_long_function_does_not_let_the_log_grow(weftd, folder):
    with serve(weftd, folder, query_time="1h", checkpoint_pages=2, synchronous="off") as server, httpx.Client() as client:
        asking, replies = ask_in_background(server, SNIPPET)
        until_one_runs(server)
        for count in itertools.takewhile(lambda _: asking.is_alive(), itertools.count(2)):
            row = {"filters": [{"column": "id", "value": count}], "writeColumns": [{"column": "name", "value": "Alan"}]}
            written = client.post(server.url("/0.1.0/batchwrite"), json={
                "operations": [{"method": "POST", "relative-url": "shop/people/pk-write", "body": row}]})
            assert written.status_code == 200, written.text
        assert replies[0].status_code == 503 and "log" in replies[0].text
        assert (folder / "shop.db-wal").stat().st_size < 1024 * 4096
        assert is_served(server)
        assert server.stop() == 0, server.log


def test_the_process_of_a_query_is_confined(weftd, folder):
    with serve(weftd, folder, query_memory_bytes="16MiB") as server:
        assert is_served(server)
        (process,) = queries_of(server)
        status = dict(line.split(":\t", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
        limits = Path(f"/proc/{process}/limits").read_text()
        assert status["NoNewPrivs"] == "1"
        if "no seccomp" not in server.log:
            assert status["Seccomp"] == "2"
        assert limits.split("Max open files")[1].split()[0] == "32"
        assert limits.split("Max file size")[1].split()[0] == "0"
        assert is_served(server) and queries_of(server) == [process], "it is kept for the next"
        assert metric(server, "store_query_processes_killed_total") == 0
        assert server.stop() == 0, server.log


def test_the_process_of_a_query_serves_no_folder(weftd, folder):
    """Of a server that has come while another had the lock of the folder, which has gone since."""
    with open(folder / ".weft.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with serve(weftd, folder) as server:
            fcntl.flock(lock, fcntl.LOCK_UN)
            told = server.log.count("serves this folder")
            assert is_served(server) and queries_of(server)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            assert server.stop() == 0, server.log
    assert server.log.count("serves this folder") == told == 1


def test_what_the_kernel_lacks_is_told_at_start(weftd, folder):
    with serve(weftd, folder, preexec=lambda: forbid(CREATE_RULESET)) as server:
        assert "no Landlock" in server.log
        assert is_served(server)
        assert server.stop() == 0, server.log


def test_processes_that_nobody_uses_are_ended(weftd, folder):
    with serve(weftd, folder, schema_refresh="100ms") as server:
        assert is_served(server)
        wait_until(lambda: not queries_of(server))
        assert is_served(server)
        assert server.stop() == 0, server.log


def test_a_query_that_waits_reads_what_was_written_before(weftd, folder):
    """Its process keeps a connection, and the database another moment."""
    with serve(weftd, folder) as server:
        for age in range(5):
            with sqlite3.connect(folder / "shop.db") as database:
                database.execute("UPDATE people SET name=?", [f"Ada {age}"])
            database.close()
            assert ask(server, "SELECT name FROM people").json()["data"] == [{"name": f"Ada {age}"}]
        os.rename(folder / "shop.db", folder / "gone")
        assert server.stop() == 0, server.log


@pytest.mark.parametrize("program, words", [
    ("#!/bin/sh\nprintf 'this is no message, and longer than eight mebibytes if its first four are its length' >&3\n", "the process that ran the query"),
    ("#!/bin/sh\nprintf '\\005\\000\\000\\000hello' >&3\nexec sleep 100\n", "is no answer"),
    ("#!/bin/sh\nexit 7\n", "exit code 7"),
    ("#!/bin/sh\nexec sleep 100\n", "took too long"),
], ids=["noise", "another-version", "gone", "silent"])
def test_a_process_that_does_not_do_its_work_fails_its_query_alone(weftd, folder, program, words):
    other = folder / "program"
    other.write_text(program)
    other.chmod(0o755)
    with serve(weftd, folder, query_program=other, query_time="3s") as server:
        reply = ask(server, "SELECT 1")
        assert reply.status_code in (500, 504) and words in reply.text, reply.text
        key = {"filters": [{"column": "id", "value": 1}]}
        assert httpx.post(server.url("/0.1.0/shop/people/pk-read"), json=key).json()["data"]["name"] == "Ada"
        assert server.stop() == 0, server.log


def test_a_program_that_there_is_not_is_told_before_the_start(weftd, folder):
    with pytest.raises(AssertionError, match="query_program"), serve(weftd, folder, query_program="/nowhere"):
        pass
