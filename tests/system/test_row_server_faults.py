"""weftd while its server is read-only, full or stopped: it is told clearly, all else goes on, and it is over when the cause is."""

import signal
import threading
from pathlib import Path

import pytest
from mariadb_client import MariadbClient
from row_client import RowClient, given, operation
from row_engines import mariadb
from weft_process import Server, wait_until



def one_file(mebibytes):
    """All of InnoDB's tables in it, and it may grow no larger."""
    return ["--innodb-file-per-table=OFF", f"--innodb-data-file-path=ibdata1:5M:autoextend:max:{mebibytes}M", "--innodb-autoextend-increment=1"]


def stand_still(database):
    database.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: "State:\tT" in Path(f"/proc/{database.process.pid}/status").read_text())


def read(client, key=1):
    return client.ask("shop/t/pk-read", {"filters": given(id=key)})


def found(text):
    return 200, '{"code":200,"operationId":"","data":{"a":"%s"}}' % text


def writes(first, *texts):
    return [operation("shop/t/pk-write", {"filters": given(id=first + i), "writeColumns": given(a=text)})
            for i, text in enumerate(texts)]


@pytest.fixture
def start(weftd, tmp_path):
    def start_with(database, *arguments):
        database.client.run("USE shop", "CREATE TABLE t(id INT PRIMARY KEY, a MEDIUMTEXT)", "INSERT INTO t VALUES(1, 'x1')")
        return Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", *database.arguments, *arguments])
    return start_with


def test_a_server_that_is_read_only_is_403_for_writes_until_it_is_not(start, tmp_path):
    with mariadb(tmp_path) as database, MariadbClient(database, "root") as administrator:
        administrator.run("REVOKE READ ONLY ADMIN ON *.* FROM weft")
        with start(database) as server, RowClient(server) as client:
            assert client.write(*writes(1, "old"))[0] == 200
            administrator.run("SET GLOBAL read_only=1")
            for version in ("0.1.0", "0.2.0"):
                for batch in (writes(1, "new"), writes(1, "new", "newer")):
                    status, text = client.write(*batch, version=version)
                    assert status == 403 and "read-only" in text, text
            assert read(client) == found("old") and read(client, 2)[0] == 404
            assert server.get("/0.1.0/health") == (200, "1")
            administrator.run("SET GLOBAL read_only=0")
            assert client.write(*writes(1, "new", "newer"))[0] == 200
            assert read(client) == found("new") and read(client, 2) == found("newer")
            assert server.stop() == 0, server.log


def test_a_server_that_is_full_is_507_for_what_needs_room_until_it_has_some(start, tmp_path):
    with mariadb(tmp_path, *one_file(12)) as database:
        with start(database) as server, RowClient(server) as client:
            big, told = "x" * 400_000, []
            while not told or told[-1][0] == 200:
                told.append(client.write(*writes(1000 + len(told), big)))
                assert len(told) < 60
            assert told[-1][0] == 507 and "is full" in told[-1][1], told[-1]
            for version in ("0.1.0", "0.2.0"):
                assert client.write(*writes(5000, big, big), version=version)[0] == 507
            for i in range(len(told) - 1):
                assert read(client, 1000 + i)[0] == 200
            assert read(client, 5000)[0] == read(client, 1000 + len(told) - 1)[0] == 404
            assert server.get("/0.1.0/health") == (200, "1")
            database.kill()
            database.options = one_file(24)
            database.start()
            wait_until(lambda: client.write(*writes(5000, big, big))[0] == 200)
            assert read(client, 5000) == found(big) == read(client, 5001)
            assert server.stop() == 0, server.log


def test_a_server_that_stands_still_keeps_nobody_who_does_not_ask_it(start, tmp_path):
    with mariadb(tmp_path) as database, start(database) as server:
        told = []

        def ask():
            with RowClient(server) as client:
                told.append(read(client))

        with RowClient(server) as client:
            assert read(client) == found("x1")
            stand_still(database)
            readers = [threading.Thread(target=ask) for _ in range(20)]
            for each in readers:
                each.start()
            for _ in range(100):
                assert client.ask("ping", "", method="GET") == (200, "")
                assert client.ask("health", "", method="GET") in ((200, "1"), (503, "0"))
                assert server.get("/healthz")[0] == 200
            assert not told, "nobody has an answer that the server has not given"
            database.process.send_signal(signal.SIGCONT)
            for each in readers:
                each.join()
        assert told == [found("x1")] * 20
        assert server.stop() == 0, server.log


def test_a_server_that_stands_still_for_too_long_is_told_and_used_again(start, tmp_path):
    with mariadb(tmp_path) as database, \
            start(database, "--store.mysql.engine.read_time=1s", "--store.mysql.engine.connect_timeout=100ms",
                  "--store.mysql.engine.retry_most=200ms") as server, \
            RowClient(server) as client:
        assert read(client) == found("x1")
        stand_still(database)
        status, text = read(client)
        assert status == 504, text
        wait_until(lambda: read(client)[0] == 503)
        assert server.get("/0.1.0/health") == (503, "0") and client.ask("ping", "", method="GET") == (200, "")
        database.process.send_signal(signal.SIGCONT)
        wait_until(lambda: read(client) == found("x1"))
        assert server.get("/0.1.0/health") == (200, "1")
        assert server.stop() == 0, server.log
