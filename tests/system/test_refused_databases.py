"""A database in the folder that cannot be served: requests report the cause, and health reports that one is missing."""

import contextlib
import os
import re
import sqlite3

import httpx
import pytest
from weft_process import Server, wait_until

ROW = {"filters": [{"column": "id", "value": 1}]}
WRITE = {"filters": [{"column": "id", "value": 2}], "writeColumns": [{"column": "v", "value": "b"}]}
SCHEMA = "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES(1, 'a');"


def make(folder, name, journal="wal"):
    with contextlib.closing(sqlite3.connect(folder / f"{name}.db")) as database:
        database.executescript(f"PRAGMA journal_mode={journal};" + SCHEMA)


def lock(folder, journal):
    """Another program has `shop`, and lets nobody read it until it is closed."""
    other = sqlite3.connect(folder / "shop.db", isolation_level=None)
    if journal == "wal":
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    other.execute("INSERT INTO t VALUES(7, 'x')")
    if journal == "wal":
        other.execute("COMMIT")  # the lock stays
    return contextlib.closing(other)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "data"
    made.mkdir()
    make(made, "ok")
    return made


@pytest.fixture
def serve(weftd, folder):
    return lambda: Server([weftd, "--listen", "127.0.0.1:0", "--data", folder, "--threads", "1",
                           "--store.sqlite.engine.busy_timeout=50ms"])


def post(server, path, body):
    return httpx.post(server.url(f"/0.1.0/{path}"), json=body, timeout=60)


def read(server, database="shop"):
    return post(server, f"{database}/t/pk-read", ROW)


def asked_in_all_ways(server, database="shop"):
    operation = {"method": "POST", "relative-url": f"{database}/t/pk-read", "body": ROW}
    write = {"method": "POST", "relative-url": f"{database}/t/pk-write", "body": WRITE}
    sql = {"database": database, "query": "SELECT count(*) FROM t"}
    return {"read": read(server, database), "scan": post(server, f"{database}/t/scan", {"limit": 1}),
            "batch": post(server, "batch", {"operations": [operation]}), "write": post(server, "batchwrite", {"operations": [write]}),
            "sql": post(server, "sql", sql), "ronsql": post(server, "ronsql", sql)}


def is_well(server):
    return server.get("/0.1.0/health") == (200, "1") and server.get("/readyz")[0] == 200


def refused(server):
    return int(re.search(r"^store_databases_refused (\d+)", server.get("/metrics")[1], re.MULTILINE)[1])


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_one_that_another_program_has_locked_at_the_start_is_served_once_the_lock_is_gone(serve, folder, journal):
    make(folder, "shop", journal)
    with contextlib.ExitStack() as held:
        held.enter_context(lock(folder, journal))
        with serve() as server:
            for how, reply in asked_in_all_ways(server).items():
                assert reply.status_code == 503 and reply.headers.get("retry-after") == "1", f"{how}: {reply.status_code} {reply.text}"
                assert "shop.db: another program has locked it" in reply.text and str(folder) not in reply.text, f"{how}: {reply.text}"
            assert server.get("/0.1.0/health") == (503, "0") and server.get("/readyz")[0] == 503
            assert refused(server) == 1
            assert read(server, "ok").status_code == 200
            assert post(server, "ok/none/pk-read", ROW).status_code == 404
            assert read(server, "none").status_code == 404
            held.close()
            assert read(server).status_code == 200, "the first request after the lock has gone"
            wait_until(lambda: is_well(server))
            assert [each.status_code for each in asked_in_all_ways(server).values()] == [200] * 6
            assert refused(server) == 0
            assert server.log.count("another program has locked it") == 1
            assert server.stop() == 0, server.log


def test_health_is_back_without_a_request_for_the_database(serve, folder):
    make(folder, "shop", "delete")
    with contextlib.ExitStack() as held:
        held.enter_context(lock(folder, "delete"))
        with serve() as server:
            assert server.get("/0.1.0/health") == (503, "0")
            held.close()
            wait_until(lambda: is_well(server))
            assert server.stop() == 0, server.log


def test_the_only_one_is_named_too(serve, folder):
    (folder / "ok.db").unlink()
    make(folder, "shop", "delete")
    with lock(folder, "delete"), serve() as server:
        reply = read(server)
        assert reply.status_code == 503 and "shop.db: another program has locked it" in reply.text
        assert server.stop() == 0, server.log


def test_commands_name_the_cause(run_weftd, serve, folder, tmp_path):
    make(folder, "shop", "delete")
    (tmp_path / "t.csv").write_text("id,v\n3,c\n")
    with lock(folder, "delete"):
        for words in (["import", tmp_path / "t.csv"], ["export"]):
            done = run_weftd(*words, "--data", folder, "--table", "shop.t", "--store.sqlite.engine.busy_timeout=50ms")
            assert done.returncode == 1 and "shop.db: another program has locked it" in done.stderr, done.stderr


def text(path):
    path.write_text("no database at all, but a text " * 100)


def encrypted(path):
    path.write_bytes(os.urandom(8192))


def malformed(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript(SCHEMA)
    pages = bytearray(path.read_bytes())
    pages[100:4096] = os.urandom(3996)  # behind the header, so that it looks like one
    path.write_bytes(pages)


def utf16(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript("PRAGMA encoding='UTF-16';" + SCHEMA)


@pytest.mark.parametrize("spoil, cause", [
    (text, "file is not a database"), (encrypted, "file is not a database"), (malformed, "malformed"), (utf16, "UTF-16"),
    (os.mkdir, "no regular file"), (os.mkfifo, "no regular file")], ids=lambda value: getattr(value, "__name__", None))
def test_what_is_no_database_says_so_until_there_is_one(serve, folder, spoil, cause):
    spoil(folder / "shop.db")
    with serve() as server:
        for how, reply in asked_in_all_ways(server).items():
            assert reply.status_code == 500, f"{how}: {reply.status_code} {reply.text}"
            assert "shop.db: " in reply.text and cause in reply.text and str(folder) not in reply.text, f"{how}: {reply.text}"
        assert server.get("/0.1.0/health") == (503, "0") and refused(server) == 1
        assert read(server, "ok").status_code == 200
        make(folder, "new")
        if (folder / "shop.db").is_dir():
            (folder / "shop.db").rmdir()
        os.replace(folder / "new.db", folder / "shop.db")
        assert read(server).status_code == 200
        wait_until(lambda: is_well(server))
        assert server.stop() == 0, server.log


def test_one_that_is_taken_away_is_missed_no_more(serve, folder):
    text(folder / "shop.db")
    with serve() as server:
        assert server.get("/0.1.0/health") == (503, "0")
        (folder / "shop.db").unlink()
        assert read(server).status_code == 404
        wait_until(lambda: is_well(server))
        assert refused(server) == 0
        assert server.stop() == 0, server.log


@pytest.mark.skipif(os.getuid() != 0, reason="takes root to serve as nobody")
def test_one_that_may_not_be_read_says_so(weftd, folder, tmp_path):
    make(folder, "shop")
    for path in (folder, *folder.iterdir()):
        os.chown(path, 65534, 65534)
    os.chmod(folder / "shop.db", 0)
    parents = [tmp_path, *tmp_path.parents]
    modes = {each: each.stat().st_mode for each in parents}
    try:
        for each in parents:
            os.chmod(each, modes[each] | 0o055)
        with Server([weftd, "--listen", "127.0.0.1:0", "--data", folder, "--threads", "1"], lambda: os.setuid(65534)) as server:
            reply = read(server)
            assert reply.status_code == 500 and "shop.db: unable to open database file" in reply.text, reply.text
            assert server.get("/0.1.0/health") == (503, "0")
            os.chmod(folder / "shop.db", 0o600)
            assert read(server).status_code == 200
            assert server.stop() == 0, server.log
    finally:
        for each in parents:
            os.chmod(each, modes[each] & 0o7777)
