"""`weftd swap` exchanges the file of a database that is served: whole, at once, and without a row lost."""

import os
import shutil
import socket
import sqlite3
import stat
import threading
from contextlib import closing

import pytest
from marked_files import LOADED, OTHER, ROWS, SAME, Load, all_of, make, query, read, rows_of, whole, write
from row_client import RowClient
from weft_process import Server, run, wait_until

SWAPS = int(os.environ.get("WEFT_MOVES", "4"))


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "data"
    made.mkdir()
    make(made / "shop.db", "old")
    return made


@pytest.fixture
def serve(weftd, folder):
    def start(*more):
        return Server([weftd, "--listen", "127.0.0.1:0", "--threads", "2", "--data", folder, "--store.sqlite.engine.schema_refresh=1h",
                       "--store.sqlite.engine.checkpoint_idle=1h", *more])

    return start


@pytest.fixture
def swap(weftd, folder):
    def ask(file, *more, data=folder, database="shop"):
        return run([weftd, "swap", file, "--data", data, "--database", database, *more])

    return ask


def holders_of(path):
    """Processes that have the file open, by their names."""
    found = []
    for process in os.listdir("/proc"):
        try:
            if process.isdigit() and any(os.path.samefile(f"/proc/{process}/fd/{fd}", path) for fd in os.listdir(f"/proc/{process}/fd")):
                found.append(open(f"/proc/{process}/comm").read().strip())
        except OSError:
            continue  # it has ended meanwhile, or is somebody else's
    return found


def kept_in(folder):
    return sorted(each for each in folder.iterdir() if each.name.startswith("shop.db.2"))


@pytest.mark.parametrize("schema", [SAME, OTHER], ids=["same", "other"])
def test_a_swap_is_whole_and_keeps_the_former_file(serve, swap, folder, schema):
    make(folder / "new", "new", schema)
    with serve() as server, RowClient(server) as client:
        assert write(client, 3, "written")[0] == 200
        assert all_of(client) == whole("old") | {3: "written"}
        done = swap(folder / "new")
        assert done.returncode == 0, done.stderr
        [kept] = kept_in(folder)
        assert str(kept) in done.stdout
        assert ("the schema has changed: table u: it is new" in done.stderr) == (schema == OTHER), done.stderr
        assert all_of(client) == whole("new")
        assert write(client, 4, "later")[0] == 200
        assert server.stop() == 0, server.log
    assert not (folder / "new").exists()
    assert rows_of(kept) == whole("old") | {3: "written"}
    assert rows_of(folder / "shop.db") == whole("new") | {4: "later"}


def test_no_row_is_lost_by_swaps_under_load(serve, swap, folder):
    names = [f"file{n}_" for n in range(SWAPS)]
    with serve() as server:
        with Load(server) as load:
            for name in names:
                wanted = len(load.acknowledged) + 5
                wait_until(lambda: len(load.acknowledged) >= wanted)
                make(folder / "new", name)
                done = swap(folder / "new")
                assert done.returncode == 0, done.stderr
            wanted = len(load.acknowledged) + 5
            wait_until(lambda: len(load.acknowledged) >= wanted)
        assert not load.faults, load.faults[:3]
        assert server.stop() == 0, server.log
    files = [*kept_in(folder), folder / "shop.db"]
    assert len(files) == SWAPS + 1
    seen = []
    for rows in map(rows_of, files):
        assert {id: a for id, a in rows.items() if id < LOADED} in [whole(name) for name in ("old", *names)]
        seen += [id for id in rows if id >= LOADED]
    assert set(load.acknowledged) <= set(seen), "an acknowledged row is in none of the files"


def test_a_file_with_a_log_of_its_own_is_taken_with_it(serve, swap, folder):
    make(folder / "made", "new")
    with closing(sqlite3.connect(folder / "made", isolation_level=None)) as database:
        database.execute("PRAGMA wal_autocheckpoint=0")
        database.execute("UPDATE t SET a='logged' WHERE id=7")
        for ending in ("", "-wal"):
            shutil.copyfile(folder / f"made{ending}", folder / f"new{ending}")
    with serve() as server, RowClient(server) as client:
        done = swap(folder / "new")
        assert done.returncode == 0, done.stderr
        assert all_of(client) == whole("new") | {7: "logged"}
        assert server.stop() == 0, server.log


def spoil(folder):
    """Files that may not be swapped in, and what is said of them."""
    make(folder / "damaged", "new", rows=3000)
    with open(folder / "damaged", "r+b") as file:
        file.seek(8192)
        file.write(b"\xa5" * 4096)
    (folder / "noise").write_bytes(b"no database " * 1000)
    make(folder / "good", "new")
    (folder / "link").symlink_to(folder / "good")
    os.mkfifo(folder / "fifo")
    (folder / "empty").touch()
    with closing(sqlite3.connect(folder / "utf16")) as database:
        database.executescript("PRAGMA encoding='UTF-16'; CREATE TABLE t(id INTEGER PRIMARY KEY)")
    make(folder / "other.db", "other")
    make(folder / "differs", "new", OTHER)
    return [("damaged", [], "restore it from a copy"), ("noise", [], "put a SQLite database there"), ("link", [], "no regular file"), ("fifo", [], "no regular file"), ("empty", [], "it is empty"),
            ("utf16", [], "UTF-16"), ("missing", [], "No such file"), ("shop.db", [], "it is"), ("other.db", [], "name it otherwise"),
            ("differs", ["--same-schema"], "its schema is another: table t: ")]


def test_what_cannot_be_served_is_refused_and_nothing_changes(serve, swap, folder):
    refused = spoil(folder)
    with serve() as server, RowClient(server) as client:
        assert write(client, 3, "written")[0] == 200
        for name, more, why in refused:
            done = swap(folder / name, *more)
            assert (done.returncode, why in done.stderr, done.stdout) == (1, True, ""), (name, done)
        done = swap(folder / "good", database="nothing")
        assert done.returncode == 1 and "there is no database nothing" in done.stderr, done
        assert not kept_in(folder)
        assert all_of(client) == whole("old") | {3: "written"}
        with closing(sqlite3.connect(folder / "good")) as other:
            other.execute("SELECT * FROM t LIMIT 1").fetchone()
            done = swap(folder / "good")
            assert done.returncode == 1 and "another program has it open" in done.stderr, done
        assert swap(folder / "good").returncode == 0
        assert server.stop() == 0, server.log


def test_what_files_say_moves_no_cursor(serve, swap, folder):
    make(folder / "new", "new", f'{SAME}; CREATE TABLE "u\x1b[2J"(id INTEGER PRIMARY KEY)')
    with serve() as server:
        done = swap(folder / "new\x1b[2J")
        assert done.returncode == 1 and "\x1b" not in done.stderr and r"new\x1b[2J" in done.stderr, done
        done = swap(folder / "new")
        assert done.returncode == 0 and "\x1b" not in done.stderr and r"table u\x1b[2J: it is new" in done.stderr, done
        assert server.stop() == 0, server.log


def test_a_program_that_writes_all_the_time_does_not_lose_its_rows(serve, swap, folder):
    make(folder / "new", "new")
    ended = threading.Event()
    committed = []

    def write_all_the_time():
        with closing(sqlite3.connect(folder / "shop.db", timeout=60, isolation_level=None)) as database:
            while not ended.is_set():
                database.execute("INSERT INTO t VALUES(?, 'theirs')", (LOADED + len(committed),))
                committed.append(LOADED + len(committed))

    with serve() as server, RowClient(server) as client:
        other = threading.Thread(target=write_all_the_time)
        other.start()
        wait_until(lambda: len(committed) > 5)
        before = set(committed)
        done = swap(folder / "new")
        ended.set()
        other.join()
        assert done.returncode == 0, done.stderr
        assert all_of(client) == whole("new")
        assert server.stop() == 0, server.log
    rows = rows_of(kept_in(folder)[0])
    assert {id: a for id, a in rows.items() if id < LOADED} == whole("old")
    assert before <= set(rows), "a row that was committed before the swap is lost"


def test_words_that_are_wrong_are_told(weftd, folder, tmp_path):
    assert run([weftd, "swap", "--help"]).returncode == 0
    assert "weftd swap" in run([weftd, "--help"]).stdout
    for words in ([folder / "new"], [folder / "new", "--database", "shop"]):
        done = run([weftd, "swap", *words])
        assert done.returncode == 2 and "--data FOLDER" in done.stderr, done
    done = run([weftd, "swap", "new", "--database", "shop", "--data", folder])
    assert done.returncode == 1 and "is a weftd there" in done.stderr, done
    done = run([weftd, "swap", "new", "--database", "shop", "--socket", tmp_path / ("x" * 200)])
    assert done.returncode == 1 and "--socket" in done.stderr, done


def test_the_socket_is_its_users_alone_and_goes_with_the_server(serve, swap, folder, tmp_path):
    make(folder / "new", "new")
    where = folder / ".weftd.sock"
    with serve() as server:
        mode = where.lstat().st_mode
        assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600
        with closing(socket.socket(socket.AF_UNIX)) as client:
            client.connect(str(where))
            client.sendall(b"{\n")
            assert b"the request cannot be read" in client.recv(4096)
        with serve() as second:  # it serves all the same
            second.wait_for_log("`weftd swap` will not find this server")
            assert second.get("/readyz")[0] == 200
            assert second.stop() == 0, second.log
        assert server.stop() == 0, server.log
    assert not where.exists()
    with serve(f"--weftd.control_api.socket={tmp_path / 'own'}") as server, RowClient(server) as client:
        assert not where.exists()
        done = swap(folder / "new", "--socket", tmp_path / "own")
        assert done.returncode == 0, done.stderr
        assert read(client) == "new1"
        assert server.stop() == 0, server.log
    assert ROWS == len(rows_of(folder / "shop.db"))


@pytest.mark.parametrize("how", ["swap", "move"])
def test_the_process_of_a_query_lets_go_of_a_file_that_was_replaced(serve, swap, folder, how):
    make(folder / "new", "new")
    os.link(folder / "shop.db", folder / "former")
    with serve() as server, RowClient(server) as client:  # nothing is noticed by waiting for it
        assert query(client) == whole("old")
        assert holders_of(folder / "former")
        if how == "swap":
            assert swap(folder / "new").returncode == 0
        else:
            os.replace(folder / "new", folder / "shop.db")
            assert read(client) == "new1"  # it is noticed
        wait_until(lambda: not holders_of(folder / "former"))
        assert query(client) == whole("new")
        assert server.stop() == 0, server.log
