"""Files that change beneath weftd: rows of two files are never mixed, and no write is acknowledged into a file that has gone.

WEFT_MOVES=200 moves files under load more often.
"""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from marked_files import LOADED, OTHER, ROWS, SAME, Load, all_of, make, read, rows_of, scan, size_of, whole, write
from row_client import RowClient, given
from weft_process import Server, wait_until

MOVES = int(os.environ.get("WEFT_MOVES", "4"))
KEEP_LOG = "--store.sqlite.engine.checkpoint_idle=1h"  # what was written stays in the log
SEE_AT_ONCE = "--store.sqlite.engine.schema_refresh=1h"  # nothing is noticed by waiting for it


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "data"
    made.mkdir()
    make(made / "shop.db", "old")
    return made


@pytest.fixture
def serve(weftd, folder):
    def start(*more, preexec=None):
        return Server([weftd, "--listen", "127.0.0.1:0", "--threads", "2", "--data", folder, SEE_AT_ONCE, KEEP_LOG, *more], preexec=preexec)

    return start


@pytest.mark.parametrize("schema", [SAME, OTHER], ids=["same", "other"])
def test_a_file_moved_over_one_with_a_log_is_served_whole(serve, folder, schema):
    make(folder / "new", "new", schema)
    os.link(folder / "shop.db", folder / "kept")
    with serve() as server, RowClient(server) as client:
        for id in range(17):
            assert write(client, id, "written")[0] == 200
        assert size_of(folder / "shop.db-wal") > 0
        os.replace(folder / "new", folder / "shop.db")
        assert all_of(client) == whole("new")
        assert write(client, 5, "later")[0] == 200
        assert all_of(client) == whole("new") | {5: "later"}
        server.wait_for_log("was replaced by another file")
        assert server.stop() == 0, server.log
    assert rows_of(folder / "shop.db") == whole("new") | {5: "later"}
    assert rows_of(folder / "kept") == whole("old") | {id: "written" for id in range(17)}


@pytest.mark.parametrize("schema", [SAME, OTHER], ids=["same", "other"])
def test_a_link_to_the_folder_that_leads_elsewhere_is_followed(weftd, tmp_path, schema):
    for each, content in (("one", SAME), ("two", schema)):
        (tmp_path / each).mkdir()
        make(tmp_path / each / "shop.db", each, content)
    (tmp_path / "current").symlink_to("one")
    (tmp_path / "next").symlink_to("two")
    command = [weftd, "--listen", "127.0.0.1:0", "--threads", "2", "--data", tmp_path / "current", SEE_AT_ONCE, KEEP_LOG]
    with Server(command) as server, RowClient(server) as client:
        for id in range(17):
            assert write(client, id, "written")[0] == 200
        os.replace(tmp_path / "next", tmp_path / "current")
        assert all_of(client) == whole("two")
        assert write(client, 5, "later")[0] == 200
        assert all_of(client) == whole("two") | {5: "later"}
        server.wait_for_log("was replaced by another file")
        assert server.stop() == 0, server.log
    assert rows_of(tmp_path / "one" / "shop.db") == whole("one") | {id: "written" for id in range(17)}
    assert rows_of(tmp_path / "two" / "shop.db") == whole("two") | {5: "later"}
    for each in ("one", "two"):
        assert os.listdir(tmp_path / each) == ["shop.db"]


@pytest.mark.parametrize("schema", [SAME, OTHER], ids=["same", "other"])
def test_a_log_that_a_killed_server_has_left_is_not_put_into_another_file(serve, folder, schema):
    make(folder / "new", "new", schema)
    with serve() as server, RowClient(server) as client:
        for id in range(17):
            assert write(client, id, "written")[0] == 200
        server.send_signal(signal.SIGKILL)
        server.process.wait()
    os.replace(folder / "new", folder / "shop.db")
    before = (folder / "shop.db").read_bytes()
    with serve() as server, RowClient(server) as client:
        server.wait_for_log("whose rows the log (-wal) holds")
        status, text = client.ask("shop/t/scan", {"limit": 10})
        assert status in (404, 500, 503), text
        assert server.get("/readyz")[0] == 503
        assert (folder / "shop.db").read_bytes() == before, "nothing was put into it"
        server.stop()
    for ending in ("-wal", "-shm"):
        (folder / f"shop.db{ending}").unlink(missing_ok=True)
    with serve() as server, RowClient(server) as client:
        assert all_of(client) == whole("new")
        assert server.stop() == 0, server.log
    assert rows_of(folder / "shop.db") == whole("new")


def kill(server):
    server.send_signal(signal.SIGKILL)
    server.process.wait()


def cut_and_fill(source, target):
    os.truncate(target, 0)
    target.write_bytes(source.read_bytes())


@pytest.mark.parametrize("schema", [SAME, OTHER], ids=["same", "other"])
@pytest.mark.parametrize("overwrite", [shutil.copyfile, shutil.copy2, cut_and_fill], ids=["copy", "copy with times", "truncate and write"])
def test_a_log_that_a_killed_server_has_left_is_not_put_into_a_file_overwritten_in_place(serve, folder, overwrite, schema):
    make(folder / "new", "new", schema)
    with serve() as server, RowClient(server) as client:
        for id in range(17):
            assert write(client, id, "written")[0] == 200
        kill(server)
    overwrite(folder / "new", folder / "shop.db")
    before = (folder / "shop.db").read_bytes()
    for _ in range(2):  # a clean end forgets nothing
        with serve() as server, RowClient(server) as client:
            server.wait_for_log("was overwritten in place after weft was killed")
            assert client.ask("shop/t/scan", {"limit": 10})[0] in (404, 500, 503)
            assert write(client, 3, "later")[0] in (404, 500, 503)
            assert server.get("/readyz")[0] == 503
            assert (folder / "shop.db").read_bytes() == before, "nothing was put into it"
            assert size_of(folder / "shop.db-wal") > 0, "and the log is kept"
            server.stop()
    for ending in ("-wal", "-shm"):
        (folder / f"shop.db{ending}").unlink(missing_ok=True)
    with serve() as server, RowClient(server) as client:
        assert all_of(client) == whole("new")
        assert server.stop() == 0, server.log
    assert rows_of(folder / "shop.db") == whole("new")


def test_a_file_that_was_truncated_after_a_kill_is_refused(serve, folder):
    with serve() as server, RowClient(server) as client:
        assert write(client, 3, "written")[0] == 200
        kill(server)
    os.truncate(folder / "shop.db", 0)
    with serve() as server, RowClient(server) as client:
        server.wait_for_log("was overwritten in place after weft was killed")
        assert write(client, 4, "later")[0] in (404, 500, 503)
        server.stop()
    assert size_of(folder / "shop.db") == 0 and size_of(folder / "shop.db-wal") > 0


def test_a_file_overwritten_after_pages_were_moved_and_a_kill_is_refused(serve, folder):
    make(folder / "new", "new")
    with serve("--store.sqlite.engine.checkpoint_pages=20") as server, RowClient(server) as client:
        for id in range(200):  # pages are moved at every twentieth or so, while the log goes on
            assert write(client, id, "written")[0] == 200
        kill(server)
    assert size_of(folder / "shop.db-wal") > 0
    shutil.copyfile(folder / "new", folder / "shop.db")
    with serve() as server:
        server.wait_for_log("was overwritten in place after weft was killed")
        server.stop()


def test_the_log_that_a_killed_server_has_left_is_emptied_at_the_next_start(serve, folder):
    make(folder / "new", "new")
    with serve() as server, RowClient(server) as client:
        assert write(client, 3, "written")[0] == 200
        kill(server)
    assert size_of(folder / "shop.db-wal") > 0
    with serve() as server, RowClient(server) as client:
        assert all_of(client) == whole("old") | {3: "written"}
        assert size_of(folder / "shop.db-wal") == 0
        kill(server)
    shutil.copyfile(folder / "new", folder / "shop.db")
    with serve() as server, RowClient(server) as client:
        assert all_of(client) == whole("new")
        assert server.stop() == 0, server.log


def test_a_file_of_which_only_the_times_have_changed_is_served_once_the_lock_file_is_removed(serve, folder):
    with serve() as server, RowClient(server) as client:
        assert write(client, 3, "written")[0] == 200
        kill(server)
    os.utime(folder / "shop.db")
    with serve() as server:
        server.wait_for_log("remove .weft.lock")
        server.stop()
    os.remove(folder / ".weft.lock")
    with serve() as server, RowClient(server) as client:
        assert all_of(client) == whole("old") | {3: "written"}
        assert server.stop() == 0, server.log


def test_another_program_may_move_pages_after_a_kill(serve, folder):
    """Of a program that was there before, and of one that opens the database when nobody has it open."""
    expected = whole("old")
    for is_early in (True, False):
        with serve() as server, RowClient(server) as client:
            assert write(client, 3, f"written{is_early}")[0] == 200
            with closing(sqlite3.connect(folder / "shop.db", isolation_level=None)) as other:
                if is_early:
                    assert other.execute("SELECT count(*) FROM t").fetchone() == (ROWS,)
                kill(server)
                other.execute("UPDATE t SET a='theirs' WHERE id=7")
                assert other.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[0] == 0
                expected |= {3: f"written{is_early}", 7: "theirs"}
                with serve() as next, RowClient(next) as reader:
                    assert all_of(reader) == expected
                    assert next.stop() == 0, next.log


LEAVES_A_JOURNAL = """
import os, signal, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA cache_size=5")
database.execute("BEGIN")
database.execute("UPDATE t SET a=a||hex(randomblob(4000))")
os.kill(os.getpid(), signal.SIGKILL)
"""


def set_mode(path, mode):
    with closing(sqlite3.connect(path)) as database:
        assert database.execute(f"PRAGMA journal_mode={mode}").fetchone() == (mode.lower(),)


def leave_a_journal(path):
    """As a program does that is killed within a transaction: it has written to the file, and a journal is to undo that."""
    subprocess.run([sys.executable, "-c", LEAVES_A_JOURNAL, path], check=False)
    assert size_of(path.with_name(f"{path.name}-journal")) > 0


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_journal_that_another_program_has_left_is_not_put_into_another_file(serve, folder, mode):
    make(folder / "new", "new")
    set_mode(folder / "new", mode)
    set_mode(folder / "shop.db", "DELETE")
    with serve() as server, RowClient(server) as client:
        assert read(client) == "old1"
        os.link(folder / "shop.db", folder / "former")
        leave_a_journal(folder / "shop.db")
        os.replace(folder / "new", folder / "shop.db")
        before = (folder / "shop.db").read_bytes()
        status, text = client.ask("shop/t/pk-read", {"filters": given(id=1)})
        assert status == 500 and "rollback journal (-journal)" in text, text
        assert write(client, 4, "later")[0] == 500
        assert server.get("/readyz")[0] == 503
        assert (folder / "shop.db").read_bytes() == before, "nothing was put into it"
        (folder / "shop.db-journal").rename(folder / "former-journal")
        assert write(client, 4, "later")[0] == 200
        assert all_of(client) == whole("new") | {4: "later"}
        assert server.stop() == 0, server.log
    assert rows_of(folder / "former") == whole("old"), "and whose it is gets it"


def test_a_journal_is_not_put_into_another_file_after_a_kill(serve, folder):
    make(folder / "new", "new")
    with serve() as server, RowClient(server) as client:
        assert write(client, 3, "written")[0] == 200
        kill(server)
    set_mode(folder / "shop.db", "DELETE")
    leave_a_journal(folder / "shop.db")
    os.replace(folder / "new", folder / "shop.db")
    before = (folder / "shop.db").read_bytes()
    with serve() as server:
        server.wait_for_log("rollback journal (-journal)")
        assert (folder / "shop.db").read_bytes() == before, "nothing was put into it"
        server.stop()


def test_a_log_that_another_program_has_written_is_not_put_into_another_file(serve, folder):
    make(folder / "new", "new")
    with closing(sqlite3.connect(folder / "shop.db", isolation_level=None)) as other:
        other.execute("PRAGMA wal_autocheckpoint=0")
        other.execute("UPDATE t SET a='theirs' WHERE id=7")
        with serve() as server, RowClient(server) as client:
            assert all_of(client) == whole("old") | {7: "theirs"}
            os.replace(folder / "new", folder / "shop.db")
            status, text = client.ask("shop/t/pk-read", {"filters": given(id=1)})
            assert status == 500 and "holds rows of the former one" in text, text
            assert server.get("/readyz")[0] == 503
            for ending in ("-wal", "-shm"):
                os.remove(folder / f"shop.db{ending}")
            assert all_of(client) == whole("new")
            assert server.stop() == 0, server.log
    assert rows_of(folder / "shop.db") == whole("new")


def test_a_killed_servers_log_goes_on_with_its_own_file(serve, folder):
    with serve() as server, RowClient(server) as client:
        assert write(client, 3, "written")[0] == 200
        server.send_signal(signal.SIGKILL)
        server.process.wait()
    with serve() as server, RowClient(server) as client:
        assert all_of(client) == whole("old") | {3: "written"}
        assert server.stop() == 0, server.log


@pytest.mark.parametrize("endings", [("-wal",), ("-shm",), ("-wal", "-shm")], ids="".join)
def test_a_log_that_is_removed_loses_nothing(serve, folder, endings):
    with serve() as server, RowClient(server) as client:
        expected = whole("old")
        for round in range(3):
            for id in range(round * 10, round * 10 + 10):
                assert write(client, id, f"written{round}")[0] == 200
                expected[id] = f"written{round}"
            for ending in endings:
                os.remove(folder / f"shop.db{ending}")
            if round % 2:
                assert all_of(client) == expected
            assert write(client, round * 10, "after")[0] == 200
            expected[round * 10] = "after"
            assert all_of(client) == expected
        assert server.stop() == 0, server.log
    assert rows_of(folder / "shop.db") == expected


def test_a_file_that_is_overwritten_in_place_is_read_anew(serve, folder):
    make(folder / "new", "new")
    with serve("--store.sqlite.engine.checkpoint_idle=10ms") as server, RowClient(server) as client:
        assert write(client, 3, "written")[0] == 200
        wait_until(lambda: size_of(folder / "shop.db-wal") == 0)
        assert all_of(client) == whole("old") | {3: "written"}
        shutil.copyfile(folder / "new", folder / "shop.db")
        assert all_of(client) == whole("new")
        assert write(client, 4, "later")[0] == 200
        assert all_of(client) == whole("new") | {4: "later"}
        assert server.stop() == 0, server.log
    assert rows_of(folder / "shop.db") == whole("new") | {4: "later"}


def test_a_file_that_is_overwritten_beneath_its_log_is_refused(serve, folder):
    make(folder / "new", "new")
    with serve() as server, RowClient(server) as client:
        assert write(client, 3, "written")[0] == 200
        shutil.copyfile(folder / "new", folder / "shop.db")
        status, text = client.ask("shop/t/pk-read", {"filters": given(id=1)})
        assert status == 500 and "overwritten" in text, text
        status, text = write(client, 4, "later")
        assert status == 500 and "overwritten" in text, text
        assert server.get("/readyz")[0] == 503
        assert client.ask("health", "", method="GET") == (503, "0")
        server.wait_for_log("overwritten")
        for ending in ("-wal", "-shm"):
            os.remove(folder / f"shop.db{ending}")
        assert write(client, 4, "later")[0] == 200
        assert all_of(client) == whole("new") | {4: "later"}
        assert server.get("/readyz")[0] == 200
        assert server.stop() == 0, server.log
    assert rows_of(folder / "shop.db") == whole("new") | {4: "later"}


def test_a_file_that_is_truncated_is_refused_until_there_is_another(serve, folder):
    make(folder / "new", "new")
    with serve() as server, RowClient(server) as client:
        assert read(client) == "old1"
        os.truncate(folder / "shop.db", 0)
        status, text = client.ask("shop/t/pk-read", {"filters": given(id=1)})
        assert status == 500 and "empty" in text, text
        assert write(client, 4, "later")[0] == 500
        assert server.get("/readyz")[0] == 503
        assert re.search(r"^store_databases_refused [1-9]", server.get("/metrics")[1], re.MULTILINE)
        os.replace(folder / "new", folder / "shop.db")
        assert write(client, 4, "later")[0] == 200
        assert all_of(client) == whole("new") | {4: "later"}
        assert server.stop() == 0, server.log


def test_nothing_is_acknowledged_once_the_file_is_removed(serve, folder):
    with serve() as server, RowClient(server) as client:
        assert write(client, 3, "written")[0] == 200
        os.remove(folder / "shop.db")
        assert write(client, 4, "later")[0] != 200
        assert read(client) != "old1"
        assert not (folder / "shop.db").exists()
        make(folder / "new", "new")
        os.replace(folder / "new", folder / "shop.db")
        wait_until(lambda: client.ask("shop/t/pk-read", {"filters": given(id=1)})[0] == 200 or client.ask("schema", "", method="GET")[0] == 200)
        assert server.stop() == 0, server.log
    assert rows_of(folder / "shop.db") == whole("new")


def test_a_folder_that_is_renamed_is_refused_and_goes_on_when_it_is_back(serve, folder, tmp_path):
    with serve() as server, RowClient(server) as client:
        assert write(client, 3, "written")[0] == 200
        folder.rename(tmp_path / "elsewhere")
        assert write(client, 4, "lost")[0] in (404, 500, 503)
        assert not isinstance(read(client), str)
        assert server.get("/readyz")[0] == 503
        (tmp_path / "elsewhere").rename(folder)
        assert write(client, 5, "later")[0] == 200
        assert all_of(client) == whole("old") | {3: "written", 5: "later"}
        assert server.get("/readyz")[0] == 200
        assert server.stop() == 0, server.log
    assert rows_of(folder / "shop.db") == whole("old") | {3: "written", 5: "later"}


@pytest.mark.skipif(os.getuid() != 0, reason="takes root to serve as nobody")
def test_a_file_that_may_not_be_opened_any_more_is_refused(serve, folder, tmp_path):
    for path in (folder, *folder.iterdir()):
        os.chown(path, 65534, 65534)
    parents = [tmp_path, *tmp_path.parents]
    modes = {each: each.stat().st_mode for each in parents}
    try:
        for each in parents:
            os.chmod(each, modes[each] | 0o055)
        with serve("--store.sqlite.engine.schema_refresh=20ms", preexec=lambda: os.setuid(65534)) as server, RowClient(server) as client:
            assert write(client, 3, "written")[0] == 200
            os.chmod(folder, 0)
            assert write(client, 4, "lost")[0] in (404, 500, 503)
            wait_until(lambda: server.get("/readyz")[0] == 503)
            os.chmod(folder, 0o755)
            wait_until(lambda: server.get("/readyz")[0] == 200)
            assert write(client, 5, "later")[0] == 200
            assert all_of(client) == whole("old") | {3: "written", 5: "later"}
            assert server.stop() == 0, server.log
    finally:
        for each in parents:
            os.chmod(each, modes[each] & 0o7777)


def test_the_log_is_empty_once_nobody_writes_and_gone_at_the_end(serve, folder):
    with serve("--store.sqlite.engine.checkpoint_idle=10ms") as server, RowClient(server) as client:
        for id in range(5):
            assert write(client, id, "written")[0] == 200
            wait_until(lambda: size_of(folder / "shop.db-wal") == 0)
        assert server.stop() == 0, server.log
    assert not (folder / "shop.db-wal").exists() and not (folder / "shop.db-shm").exists()
    with serve() as server, RowClient(server) as client:  # that only reads
        assert len(scan(client)) == ROWS
        assert server.stop() == 0, server.log
    assert not (folder / "shop.db-wal").exists() and not (folder / "shop.db-shm").exists()


def test_files_that_are_moved_under_load_are_never_mixed(serve, folder):
    names = [f"file{n}_" for n in range(MOVES)]
    os.remove(folder / "shop.db")
    make(folder / "shop.db", "first_")
    with serve() as server:
        with Load(server) as load:
            for n, name in enumerate(names):
                wanted = len(load.acknowledged) + 5
                wait_until(lambda: len(load.acknowledged) >= wanted)
                make(folder / "new", name)
                os.link(folder / "shop.db", folder / f"kept{n}")
                os.replace(folder / "new", folder / "shop.db")
            wanted = len(load.acknowledged) + 5
            wait_until(lambda: len(load.acknowledged) >= wanted)
        assert not load.faults, load.faults[:3]
        assert server.stop() == 0, server.log
    os.rename(folder / "shop.db", folder / f"kept{MOVES}")
    seen = set()
    for n, name in enumerate(["first_", *names]):
        rows = rows_of(folder / f"kept{n}")
        assert {id: a for id, a in rows.items() if id < LOADED} == whole(name)
        seen |= {id for id in rows if id >= LOADED}
    assert set(load.acknowledged) <= seen, "an acknowledged row is in none of the files"
