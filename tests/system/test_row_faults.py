"""weftd while something is wrong with its databases: it is told clearly, and is over when the cause is."""

import ctypes
import json
import os
import resource
import shutil
import sqlite3
import threading
import time
from contextlib import closing

import pytest
from row_client import RowClient, given, named, of_one, operation
from small_disk import small_disk
from weft_process import Server, run

ROWS = 100


def make(path, journal="WAL", rows=ROWS, content="x"):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"PRAGMA journal_mode={journal}")
        database.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)")
        database.executemany("INSERT INTO t VALUES(?, ?)", [(i, f"{content}{i}") for i in range(rows)])


def read(client, id=1, **more):
    return client.ask("shop/t/pk-read", {"filters": given(id=id), **more})


def found(text):
    return 200, '{"code":200,"operationId":"","data":{"a":"%s"}}' % text


def write(client, id, a, version="0.1.0"):
    return of_one(client.write(operation("shop/t/pk-write", {"filters": given(id=id), "writeColumns": given(a=a)}), version=version))


def scan(client, **asked):
    return client.ask("shop/t/scan", {"limit": 1_000_000, "readColumns": named("id"), **asked})


def until(what):
    """What is noticed at an interval is noticed; the test's own bound is that of all tests."""
    while True:
        got = what()
        if got:
            return got
        time.sleep(0.01)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "data"
    made.mkdir()
    return made


@pytest.fixture
def serve(weftd, folder):
    def start(*more, preexec=None):
        return Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", folder, "--store.sqlite.engine.schema_refresh=20ms", *more],
                      preexec=preexec)
    return start


def without_override():
    """The system's administrator, too, may not write to what is read-only."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH (capabilities(7))
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def test_what_a_schema_needs_and_is_not_there_is_named(serve, folder):
    with closing(sqlite3.connect(folder / "shop.db")) as database, database:
        database.create_collation("klingon", lambda a, b: (a > b) - (a < b))
        database.create_function("mystery", 1, lambda x: x, deterministic=True)
        database.executescript("""
            PRAGMA journal_mode=WAL;
            CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);
            CREATE TABLE by_collation(id TEXT COLLATE klingon PRIMARY KEY, a TEXT);
            CREATE TABLE computed(id INTEGER PRIMARY KEY, a TEXT, g TEXT AS (mystery(a)));
            INSERT INTO t VALUES(1, 'x1'); INSERT INTO by_collation VALUES('1', 'x'); INSERT INTO computed VALUES(1, 'x1');
        """)
    no_collation = "shop.db: no such collation sequence: klingon (SQLite's code 257): this program has SQLite's own collations"
    no_function = "shop.db: unknown function: mystery() (SQLite's code 1): this program has SQLite's own collations"
    with serve() as server, RowClient(server) as client:
        for version in ("0.1.0", "0.2.0"):
            for path, asked, why in [
                    ("by_collation/pk-read", {"filters": given(id="1")}, no_collation),
                    ("by_collation/scan", {"limit": 10}, no_collation),
                    ("computed/pk-read", {"filters": given(id=1)}, no_function),
                    ("computed/scan", {"limit": 10, "readColumns": named("g")}, no_function)]:
                status, text = client.ask(f"shop/{path}", asked, version)
                assert status == 500 and why in text, text
            for table, key, why in [("by_collation", "2", no_collation), ("computed", 2, no_function)]:
                status, text = client.write(operation(f"shop/{table}/pk-insert", {"filters": given(id=key), "writeColumns": given(a="y")}),
                                            version=version)
                assert status == 500 and why in text, text
        assert read(client) == found("x1")
        assert client.ask("shop/computed/pk-read", {"filters": given(id=1), "readColumns": named("a")}) == found("x1")


def test_rows_whose_keys_are_null_are_scanned(serve, folder):
    with closing(sqlite3.connect(folder / "shop.db")) as database, database:
        database.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t(key TEXT PRIMARY KEY, id INT)")
        database.executemany("INSERT INTO t VALUES(?, ?)", [(None if i % 3 else f"k{i}", i) for i in range(1000)])
        expected = {order: [row[0] for row in database.execute(f"SELECT id FROM t ORDER BY key {order}, rowid {order}")]
                    for order in ("ASC", "DESC")}
    with serve() as server, RowClient(server) as client:
        for order, ids in expected.items():
            for limit in (100, 256, 999, 5000):
                told, asked = [], {"limit": limit, "readColumns": named("id"),
                               "index": {"name": "PRIMARY", "key_columns": ["key"], "order": order.lower()}}
                while True:
                    status, text = client.ask("shop/t/scan", asked)
                    assert status == 200, text
                    page = json.loads(text)
                    told += [row["id"] for row in page["data"]]
                    if "continuation" not in page:
                        break
                    asked["continuation"] = page["continuation"]
                assert told == ids, (order, limit)


def test_a_file_that_is_read_only_is_403_until_it_is_not(serve, folder):
    make(folder / "shop.db")
    os.chmod(folder / "shop.db", 0o444)
    with serve(preexec=without_override) as server, RowClient(server) as client:
        assert read(client) == found("x1")
        for version in ("0.1.0", "0.2.0"):
            status, text = write(client, 1, "new", version)
            assert status == 403 and "let this program's user write" in text, text
        os.chmod(folder / "shop.db", 0o644)
        assert until(lambda: write(client, 1, "new")[0] == 200)
        assert read(client) == found("new")
        assert server.stop() == 0, server.log


def test_a_file_that_may_not_be_read_is_refused_until_it_may(serve, folder):
    make(folder / "shop.db")
    os.chmod(folder / "shop.db", 0)
    with serve(preexec=without_override) as server, RowClient(server) as client:
        status, text = read(client)
        assert status == 500 and "unable to open database file (SQLite's code 14, Permission denied)" in text, text
        server.wait_for_log("see to it that file and folder exist and can be opened")
        os.chmod(folder / "shop.db", 0o644)
        assert until(lambda: read(client) == found("x1"))


def test_a_disk_that_is_full_is_507_until_it_is_not(serve, folder):
    make(folder.parent / "shop.db")
    mount = small_disk(folder, "1536k")

    def enter():
        mount()
        shutil.copy(folder.parent / "shop.db", folder / "shop.db")
    with serve(preexec=enter) as server, RowClient(server) as client:
        big, told = "x" * 50_000, []
        while not told or told[-1][0] == 200:
            told.append(write(client, 1000 + len(told), big))
            assert len(told) < 100
        assert told[-1][0] == 507 and "free some space" in told[-1][1], told[-1]
        for version in ("0.1.0", "0.2.0"):
            assert write(client, 5000, big, version)[0] == 507
        for i in range(len(told) - 1):
            assert read(client, 1000 + i)[0] == 200
        assert read(client, 5000)[0] == read(client, 1000 + len(told) - 1)[0] == 404
        assert client.delete(*[operation("shop/t/pk-delete", {"filters": given(id=1000 + i)}) for i in range(3)])[0] in (200, 507)
        inside = ["nsenter", "--target", str(server.pid), "--mount"]
        assert run([*inside, "mount", "-o", "remount,size=8m", folder]).returncode == 0
        assert write(client, 5000, big)[0] == 200
        assert read(client, 5000) == found(big)
        ask = f"import sqlite3; print(sqlite3.connect('{folder}/shop.db').execute('PRAGMA integrity_check').fetchone())"
        assert run([*inside, "python3", "-c", ask]).stdout == "('ok',)\n"
        assert server.stop() == 0, server.log


def limit_files(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_a_limit_on_the_size_of_files_is_an_error_and_no_end(serve, folder):
    """setrlimit(2): who writes beyond RLIMIT_FSIZE is killed by SIGXFSZ, unless it ignores that."""
    make(folder / "shop.db")
    with serve(preexec=lambda: limit_files(200_000)) as server, RowClient(server) as client:
        told = [write(client, 1000 + i, "x" * 50_000) for i in range(10)]
        assert told[0][0] == 200 and told[-1][0] == 507, told[-1]
        assert read(client) == found("x1")
        assert server.stop() == 0, server.log


def test_the_time_of_a_scan_is_over(serve, folder):
    make(folder / "shop.db", rows=200_000)
    with serve("--weftd.row_api.scan_timeout=1ms") as server, RowClient(server) as client:
        nothing = {"op": "CMP", "column": "a", "cond": "EQ", "value": "none"}
        for _ in range(5):
            nothing = {"op": "OR", "args": [nothing, nothing]}
        for version in ("0.1.0", "0.2.0"):
            status, text = scan(client, filters=nothing)
            assert status == 504 and "the rows were not scanned: " in text, text
        assert read(client) == found("x1")
        assert server.stop() == 0, server.log


@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
def test_another_program_that_writes_is_503_for_writes(serve, folder, journal):
    make(folder / "shop.db", journal)
    with serve("--store.sqlite.engine.busy_timeout=20ms") as server, RowClient(server) as client:
        other = sqlite3.connect(folder / "shop.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        for version in ("0.1.0", "0.2.0"):
            status, text = write(client, 1, "new", version)
            assert status == 503 and "another program writes to it: try again" in text, text
        assert read(client) == found("x1")
        other.execute("ROLLBACK")
        assert write(client, 1, "new")[0] == 200
        assert read(client) == found("new")
        assert server.stop() == 0, server.log


def test_another_program_that_holds_all_of_a_database_is_503_for_reads(serve, folder):
    make(folder / "shop.db", "DELETE")
    with serve("--store.sqlite.engine.busy_timeout=20ms") as server, RowClient(server) as client:
        assert read(client) == found("x1")
        other = sqlite3.connect(folder / "shop.db", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        for told in (read(client), client.batch(operation("shop/t/pk-read", {"filters": given(id=1)})), scan(client)):
            assert told[0] == 503 and "another program writes to it: try again" in told[1], told
        other.execute("UPDATE t SET a='other' WHERE id=1")
        other.execute("COMMIT")
        assert until(lambda: read(client) == found("other"))
        assert server.stop() == 0, server.log


def test_a_read_waits_for_another_program(serve, folder):
    make(folder / "shop.db", "DELETE")
    with serve() as server, RowClient(server) as client, RowClient(server) as free:
        other = sqlite3.connect(folder / "shop.db", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        other.execute("UPDATE t SET a='other' WHERE id=1")
        told = []
        waiting = threading.Thread(target=lambda: told.append(read(client)))
        waiting.start()
        for _ in range(20):
            assert free.ask("ping", "", method="GET") == (200, "")  # the shard is not kept
        other.execute("COMMIT")
        waiting.join()
        assert told == [found("other")]


def crash_in_a_transaction(path):
    """As a program does that ends in the midst of its commit, where there is no write-ahead log."""
    run(["/usr/bin/env", "python3", "-c", f"""
import os, sqlite3
database = sqlite3.connect({str(path)!r}, isolation_level=None)
database.execute("PRAGMA cache_size=1")
database.execute("BEGIN")
database.execute("UPDATE t SET a = a || ' torn'")
os._exit(0)"""])


def test_what_another_program_left_half_done_is_rolled_back(serve, folder):
    make(folder / "shop.db", "DELETE", rows=5000)
    crash_in_a_transaction(folder / "shop.db")
    assert (folder / "shop.db-journal").exists()
    with serve() as server, RowClient(server) as client:
        assert read(client) == found("x1"), server.log
        crash_in_a_transaction(folder / "shop.db")
        assert until(lambda: read(client) == found("x1"))
        assert read(client, 4999) == found("x4999")
        assert write(client, 1, "new")[0] == 200
        assert read(client) == found("new")
        assert server.stop() == 0, server.log


def test_a_reply_to_a_scan_ends_soon_after_its_bound(serve, folder):
    make(folder / "shop.db", rows=64, content="x" * 500_000)
    with serve("--weftd.row_api.scan_bytes=1000000") as server, RowClient(server) as client:
        seen, asked = [], {"limit": 64}
        while True:
            status, text = client.ask("shop/t/scan", asked)
            assert status == 200 and len(text) < 3_000_000, len(text)
            told = json.loads(text)
            seen += [row["id"] for row in told["data"]]
            if "continuation" not in told:
                break
            asked["continuation"] = told["continuation"]
        assert seen == list(range(64))
        assert server.stop() == 0, server.log


def damage(path):
    with open(path, "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))


def test_a_damaged_file_is_500_until_it_is_mended(serve, folder):
    make(folder / "shop.db", rows=5000)
    shutil.copy(folder / "shop.db", folder / "copy")
    damage(folder / "shop.db")
    with serve() as server, RowClient(server) as client:
        status, text = read(client, 4000)
        assert status == 500 and "restore it from a copy" in text, text
        assert scan(client)[0] == 500
        assert write(client, 4000, "new")[0] == 500
        assert client.batch(operation("shop/t/pk-read", {"filters": given(id=4000)}))[0] == 500
        assert client.batch(*[operation("shop/t/pk-read", {"filters": given(id=id)}) for id in (4000, 1, 9999)])[0] == 500
        os.replace(folder / "copy", folder / "shop.db")
        assert until(lambda: read(client, 4000) == found("x4000"))
        assert write(client, 4000, "new")[0] == 200
        assert read(client, 4000) == found("new")
        assert server.stop() == 0, server.log


def test_what_is_no_database_is_refused_until_it_is_one(serve, folder):
    (folder / "shop.db").write_bytes(b"this is no database " * 1000)
    (folder / "empty.db").write_bytes(b"")
    with serve() as server, RowClient(server) as client:
        status, text = read(client)
        assert status == 500 and "file is not a database" in text, text
        server.wait_for_log("put a SQLite database there, or take the file away")
        make(folder / "made")
        os.replace(folder / "made", folder / "shop.db")
        assert until(lambda: read(client) == found("x1"))
        assert server.stop() == 0, server.log


def test_a_file_that_goes_is_missed_and_one_that_comes_is_found(serve, folder):
    make(folder / "shop.db")
    with serve() as server, RowClient(server) as client:
        assert read(client) == found("x1")
        for ending in ("", "-wal", "-shm"):
            if (folder / f"shop.db{ending}").exists():
                os.remove(folder / f"shop.db{ending}")
        status, text = write(client, 1, "new")
        assert (status == 500 and "see to it that file and folder exist" in text) or status == 404, text
        assert until(lambda: read(client)[0] == 404)
        assert write(client, 1, "new")[0] == 404
        make(folder / "made", content="y")
        os.replace(folder / "made", folder / "shop.db")
        assert until(lambda: read(client) == found("y1"))
        assert write(client, 1, "new")[0] == 200
        assert server.stop() == 0, server.log


def test_a_file_that_is_replaced_is_followed(serve, folder):
    make(folder / "shop.db")
    with serve() as server, RowClient(server) as client:
        assert write(client, 1, "old")[0] == 200
        make(folder / "made", content="z")
        for ending in ("-wal", "-shm"):
            if (folder / f"shop.db{ending}").exists():
                os.remove(folder / f"shop.db{ending}")
        os.replace(folder / "made", folder / "shop.db")
        assert write(client, 2, "new")[0] == 200
        assert until(lambda: read(client) == found("z1"))
        assert read(client, 2) == found("new")
        assert server.stop() == 0, server.log
    with sqlite3.connect(folder / "shop.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_batch_is_made_anew_where_one_of_its_tables_has_changed(serve, folder):
    make(folder / "shop.db")
    with closing(sqlite3.connect(folder / "shop.db", isolation_level=None)) as other:
        other.execute("CREATE TABLE u(id INTEGER PRIMARY KEY, b TEXT)")
        other.execute("INSERT INTO u VALUES(1, 'u1')")
        with serve("--store.sqlite.engine.schema_refresh=1h") as server, RowClient(server) as client:
            reads = [operation(f"shop/{table}/pk-read", {"filters": given(id=1)}) for table in ("t", "u", "u", "t")]
            for n in range(20):
                other.execute(f"ALTER TABLE {'tu'[n % 2]} ADD COLUMN c{n} INT")
                status, text = client.batch(*reads)
                assert status == 200, text
                t = {"a": "x1", **{f"c{i}": None for i in range(n + 1) if i % 2 == 0}}
                u = {"b": "u1", **{f"c{i}": None for i in range(n + 1) if i % 2 == 1}}
                assert [each["body"]["data"] for each in json.loads(text)["result"]] == [t, u, u, t]
            assert server.stop() == 0, server.log


def test_a_reply_to_a_batch_has_a_bound(serve, folder):
    make(folder / "shop.db", rows=2, content="x" * 300_000)
    with serve("--weftd.row_api.reply_bytes=1000000") as server, RowClient(server) as client:
        one = operation("shop/t/pk-read", {"filters": given(id=1)})
        assert client.batch(one, one, one)[0] == 200
        status, text = client.fault("batch", {"operations": [one] * 5})
        assert status == 413 and "1000000" in text and "fewer" in text, text
        assert client.batch(one, one, one)[0] == 200
        assert server.stop() == 0, server.log
