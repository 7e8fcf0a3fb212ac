"""weftd with its rows on a MariaDB: the server goes and comes back, and nobody is told what is not so."""

import json
import os
import signal
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

import httpx
import pytest
from authority import Authority
from mariadb_client import MariadbClient
from mariadb_server import PASSWORD, USER
from row_client import RowClient, given, operation
from row_engines import mariadb
from weft_process import Server, wait_until

PATIENCE_S = 30


@pytest.fixture
def database(tmp_path):
    with mariadb(tmp_path) as server:
        server.client.run("USE shop", "CREATE TABLE people(id INT PRIMARY KEY, name VARCHAR(20))",
                          "INSERT INTO people VALUES(1, 'Ada'), (2, 'Alan')")
        yield server


@pytest.fixture
def start(weftd, database):
    def start_with(*arguments, threads=2):
        return Server([weftd, "--listen", "127.0.0.1:0", "--threads", threads, *database.arguments, *arguments])
    return start_with


def person(action, key, **content):
    body = {"filters": given(id=key), **({"writeColumns": given(**content)} if content else {})}
    return operation(f"shop/people/{action}", body)


def is_well(server):
    return server.get("/0.1.0/health") == (200, "1") and server.get("/readyz")[0] == 200


def requests(server):
    """Each kind of request, which has rows in it."""
    read = {"filters": given(id=1)}
    for path, body in (("shop/people/pk-read", read), ("batch", {"operations": [person("pk-read", 1)]}),
                       ("shop/people/scan", {"limit": 1}), ("sql", {"database": "shop", "query": "SELECT 1"}),
                       ("batchwrite", {"operations": [person("pk-write", 1, name="x")]}),
                       ("batchdelete", {"operations": [person("pk-delete", 9)]})):
        yield httpx.post(server.url(f"/0.2.0/{path}"), json=body)


def check_unreachable(server):
    for reply in requests(server):
        assert reply.status_code == 503 and reply.headers["retry-after"] == "1", reply.text
        assert reply.json()["error"]["message"] == "the database server cannot be reached now: try again later"
    assert server.get("/0.1.0/ping") == (200, "")
    assert server.get("/0.1.0/health") == (503, "0")
    assert server.get("/readyz") == (503, '{"ready":false,"not_ready":[{"name":"rows","why":"unavailable"}]}')
    assert server.get("/healthz")[0] == 200
    assert "store_servers_reachable 0" in server.get("/metrics")[1]


def test_a_server_that_goes_is_told_and_used_again_when_it_is_back(start, database):
    with start(threads=1) as server:
        for reply in requests(server):
            assert reply.status_code == 200, reply.text
        assert is_well(server) and "store_servers_reachable 1" in server.get("/metrics")[1]
        database.kill()
        for reply in requests(server):  # which finds out, whoever asks first
            assert reply.status_code in (500, 503), reply.text
        check_unreachable(server)
        database.start()
        wait_until(lambda: is_well(server))
        for reply in requests(server):
            assert reply.status_code == 200, reply.text
        assert "the server of the rows is gone: cannot connect to 127.0.0.1" in server.read_log()
        assert "the server of the rows is there" in server.read_log()
        assert server.stop() == 0, server.log


def test_a_server_that_is_not_there_at_first_is_waited_for(start, database):
    database.kill()
    with start("--store.mysql.engine.start_timeout=300ms", threads=1) as server:
        check_unreachable(server)
        database.start()
        wait_until(lambda: is_well(server))
        for reply in requests(server):
            assert reply.status_code == 200, reply.text
        assert server.stop() == 0, server.log


def test_the_way_to_the_server_is_encrypted_and_the_server_proves_its_name(weftd, tmp_path, run_weftd):
    authority, other = Authority(tmp_path / "ca"), Authority(tmp_path / "other", "another authority")
    certificate, key = authority.issue("localhost", "localhost")
    with mariadb(tmp_path, f"--ssl-cert={certificate}", f"--ssl-key={key}") as database:
        database.client.run("CREATE TABLE shop.t(id INT PRIMARY KEY)", "INSERT INTO shop.t VALUES(1)")
        login = [database.arguments[-1], "--store.mysql.engine.start_timeout=100ms"]

        def start(url):
            return Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--mysql", url, *login])

        verified = f"mysql://weft@localhost:{database.port}/shop?tls=verify&tls_ca="
        with start(f"{verified}{authority.file}") as server, RowClient(server) as client:
            assert client.ask("shop/t/pk-read", {"filters": given(id=1)})[0] == 200
            assert server.get("/0.1.0/health") == (200, "1")
            assert server.stop() == 0, server.log
        for url, why in [
            (f"{verified}{other.file}", "tls_ca is to name the file of who has signed the server's certificate"),
            (f"{verified}{authority.file}".replace("localhost", "127.0.0.1"),
             "the certificate is made out to localhost, and not to 127.0.0.1"),
        ]:
            with start(url) as server:
                assert server.get("/0.1.0/health") == (503, "0")
                log = server.read_log()
                assert f"cannot connect to 127.0.0.1:{database.port}: " in log and why in log, log
                assert server.stop() == 0
        done = run_weftd("--mysql", verified + "/no/such.pem", *login)
        assert done.returncode == 2 and 'store.mysql.engine.tls.ca: cannot read "/no/such.pem": ' in done.stderr, done.stderr


def test_a_server_whose_certificate_is_revoked_is_not_asked(weftd, tmp_path, run_weftd):
    """The files are read for each connection, so that no restart is needed."""
    authority = Authority(tmp_path / "ca")
    certificate, key = authority.issue("localhost", "localhost")
    crl = authority.revoke()
    with mariadb(tmp_path, f"--ssl-cert={certificate}", f"--ssl-key={key}") as database:
        database.client.run("CREATE TABLE shop.t(id INT PRIMARY KEY)", "INSERT INTO shop.t VALUES(1)")
        url = f"mysql://weft@localhost:{database.port}/shop?tls=verify&tls_ca={authority.file}&tls_crl="
        login = [database.arguments[-1], "--store.mysql.engine.start_timeout=100ms"]
        with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--mysql", f"{url}{crl}", *login]) as server, \
                RowClient(server) as client:
            def status():
                return client.ask("shop/t/pk-read", {"filters": given(id=1)})[0]

            def restart():
                server.send_signal(signal.SIGHUP)
                database.kill()
                database.start()

            assert status() == 200
            authority.revoke(certificate)
            restart()
            wait_until(lambda: server.get("/0.1.0/health") == (503, "0"))
            why = "certificate revoked (error 2026 of the way to the server): have the server's certificate renewed, for tls_crl lists it"
            server.wait_for_log(why)
            assert status() == 503
            authority.issue("localhost", "localhost")
            restart()
            wait_until(lambda: server.get("/0.1.0/health") == (200, "1"))
            assert status() == 200
            assert server.stop() == 0, server.log
        broken = tmp_path / "broken.crl"
        broken.write_text("no list")
        done = run_weftd("--mysql", f"{url}{broken}", *login)
        assert done.returncode == 2 and f"store.mysql.engine.tls.crl: '{broken}'" in done.stderr, done.stderr


def test_a_batch_of_large_rows_waits_for_memory_and_then_says_so(weftd, tmp_path):
    """Batches that hold memory for their rows wait for the server, which has locked the table of one row of each."""
    with mariadb(tmp_path) as database:
        database.client.run(
            "CREATE TABLE shop.photos(id INT PRIMARY KEY, photo LONGBLOB)", "CREATE TABLE shop.locked(id INT PRIMARY KEY)",
            "USE shop", "INSERT INTO shop.photos SELECT seq, REPEAT('x', 5000) FROM seq_1_to_20", "INSERT INTO shop.locked VALUES(1)")
        photos = [operation("shop/photos/pk-read", {"filters": given(id=key)}) for key in range(1, 21)]
        times = [f"--store.mysql.engine.{name}=60s" for name in ("read_time", "statement_time")]
        with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", *database.arguments, *times,
                     "--store.mysql.engine.connections_max=40", "--application.memory_bytes=16MiB"]) as server, \
                ThreadPoolExecutor(16) as threads:
            def ask(*operations):
                return httpx.post(server.url("/0.1.0/batch"), json={"operations": operations}, timeout=90)

            assert ask(*photos).status_code == 200
            locked = operation("shop/locked/pk-read", {"filters": given(id=1)})
            database.client.run("LOCK TABLES shop.locked WRITE")
            asked = [threads.submit(ask, *photos, locked) for _ in range(16)]
            done, waiting = wait(asked, PATIENCE_S, FIRST_COMPLETED)
            assert done and waiting, "some are refused, though the table is locked, and some are not"
            small = ask(operation("shop/photos/pk-read", {"filters": given(id=99)}))
            assert small.status_code == 200, "what has few bytes is answered"
            database.client.run("UNLOCK TABLES")
            for each in done:  # what was left was too little for the rows, or for the request itself
                assert each.result().text in ("there is no memory for the rows now: try again, or ask for fewer rows or columns at once",
                                              "there is no memory for a request of this size now: try again, or send less")
            for reply in (each.result() for each in asked):  # there may be none for the reply, either
                assert reply.status_code == 200 or (reply.status_code, reply.headers["retry-after"]) == (503, "1"), reply.text
            assert ask(*photos, locked).status_code == 200
            assert 'memory_in_use_bytes{kind="queries"} 0' in server.get("/metrics")[1]
            assert server.stop() == 0, server.log


def test_rows_are_read_from_a_replica_and_written_to_its_main_server(weftd, tmp_path):
    ways = ["--log-bin=log", "--server-id={}", "--gtid-domain-id=1", "--slave-net-timeout=5"]
    (tmp_path / "main").mkdir()
    (tmp_path / "replica").mkdir()
    with (mariadb(tmp_path / "main", *(way.format(1) for way in ways)) as main,
          mariadb(tmp_path / "replica", *(way.format(2) for way in ways)) as replica):
        replica.client.run(
            "SET GLOBAL gtid_slave_pos = ''",
            f"CHANGE MASTER TO master_host = '127.0.0.1', master_port = {main.port}, master_user = '{USER}', "
            f"master_password = '{PASSWORD}', master_use_gtid = slave_pos", "SET GLOBAL slave_exec_mode = IDEMPOTENT", "START SLAVE")
        main.client.run("CREATE TABLE shop.people(id INT PRIMARY KEY, name VARCHAR(20))", "INSERT INTO shop.people VALUES(1, 'Ada')")
        wait_until(lambda: replica.client.ask("SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'people'") == [("1",)])
        with Server([weftd, "--listen", "127.0.0.1:0", "--threads", 1, *main.arguments,
                     "--mysql-replicas", f"127.0.0.1:{replica.port}"]) as server, RowClient(server) as client:
            wait_until(lambda: "store_replicas_reachable 1" in server.get("/metrics")[1])

            def name_of(key):
                status, text = client.ask("shop/people/pk-read", {"filters": given(id=key)})
                return json.loads(text)["data"]["name"] if status == 200 else status

            assert client.write(person("pk-insert", 2, name="Alan"))[0] == 200
            wait_until(lambda: name_of(2) == "Alan")
            replica.client.run("STOP SLAVE SQL_THREAD")
            assert client.write(person("pk-update", 2, name="Turing"))[0] == 200
            assert name_of(2) == "Alan"
            assert main.client.ask("SELECT name FROM shop.people WHERE id = 2") == [("Turing",)]
            replica.client.run("START SLAVE SQL_THREAD")
            wait_until(lambda: name_of(2) == "Turing")
            replica.kill()
            assert client.write(person("pk-update", 2, name="A. M. T."))[0] == 200
            assert name_of(2) == "A. M. T."
            assert server.stop() == 0, server.log


def test_a_wrong_password_is_told_and_shown_to_nobody(weftd, database, tmp_path, run_weftd):
    (tmp_path / "wrong").write_text("hunter2\n")
    arguments = ["--mysql", f"weft@127.0.0.1:{database.port}", f"--store.mysql.engine.password_file={tmp_path / 'wrong'}",
                 "--store.mysql.engine.start_timeout=100ms"]
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", *arguments]) as server:
        assert "Access denied for user 'weft'" in server.read_log()
        assert server.get("/0.1.0/health") == (503, "0")
        assert server.stop() == 0
        assert "hunter2" not in server.log
    shown = run_weftd(*arguments, "--print-config")
    assert shown.returncode == 0 and "hunter2" not in shown.stdout and "password_file" in shown.stdout


def test_a_password_that_has_changed_is_read_on_sighup(weftd, database, tmp_path):
    file = tmp_path / "changed"
    file.write_text("before\n")
    database.client.run("CREATE USER clerk IDENTIFIED BY 'before'", "GRANT ALL ON shop.* TO clerk")
    arguments = ["--mysql", f"mysql://clerk@127.0.0.1:{database.port}/shop", f"--store.mysql.engine.password_file={file}"]
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "2", *arguments]) as server:
        assert is_well(server)
        database.client.run("ALTER USER clerk IDENTIFIED BY 'after'", "KILL USER clerk")
        file.write_text("after\n")
        wait_until(lambda: "Access denied for user 'clerk'" in server.read_log())
        server.send_signal(signal.SIGHUP)
        wait_until(lambda: is_well(server) and all(reply.status_code == 200 for reply in requests(server)))  # each shard
        assert server.stop() == 0


@pytest.mark.parametrize("arguments, words", [
    (["--mysql", "weft:secret@db"], "--mysql: store.mysql.engine.server: a password is not written here, where others see it"),
    (["--mysql", "db.example"], "--mysql: the server's user is missing"),
    (["--mysql", "weft@db:port"], '--mysql: store.mysql.engine.server: "weft@db:port" is no server: say one such as mysql://shop@db.example:3306/shop'),
    (["--mysql", "weft@db", "--data", "x"], "--data, --mysql: the rows are in a folder or on a server, not in both"),
    (["--store.mysql.engine.nosuch=1"], 'store.mysql.engine has no option "nosuch"'),
    (["--store.mysql.engine.connections_max=0"], "store.mysql.engine.connections_max is from 1 to 10000"),
])
def test_wrong_options_are_told(run_weftd, arguments, words):
    done = run_weftd("check-config", *arguments)
    assert done.returncode == 2 and words in done.stderr and "secret" not in done.stderr, done.stderr


def test_a_file_of_options_names_a_server_and_unknown_ones_by_their_place(run_weftd, tmp_path):
    file = tmp_path / "weftd.toml"
    file.write_text('[store.mysql.engine]\nserver = "mysql://shop@db.example/shop"\npassword = "x"\n')
    done = run_weftd("check-config", "--config", file)
    assert done.returncode == 2 and f"{file}:3:1: store.mysql.engine has no option \"password\"" in done.stderr, done.stderr
    file.write_text('[store.mysql.engine]\nserver = "mysql://shop@db.example/shop"\nconnections_max = 4\n')
    assert run_weftd("check-config", "--config", file).returncode == 0


def test_tables_that_come_and_change_are_noticed(start, database):
    with start("--store.mysql.engine.schema_refresh=100ms", threads=1) as server, RowClient(server) as client:
        database.client.run("CREATE TABLE later(id INT PRIMARY KEY, a INT)", "INSERT INTO later VALUES(1, 5)")
        wait_until(lambda: client.ask("shop/later/pk-read", {"filters": given(id=1)})[0] == 200)
        database.client.run("ALTER TABLE later DROP COLUMN a, ADD COLUMN b INT DEFAULT 7")
        assert json.loads(client.ask("shop/later/pk-read", {"filters": given(id=1)})[1])["data"] == {"b": 7}
        database.client.run("DROP TABLE later")
        assert client.ask("shop/later/pk-read", {"filters": given(id=1)})[0] == 404
        assert server.stop() == 0, server.log


def test_a_batch_that_could_not_be_undone_is_refused(start, database):
    database.client.run("CREATE TABLE people_log(id INT PRIMARY KEY) ENGINE=MyISAM")
    with start(threads=1) as server, RowClient(server) as client:
        insert = operation("shop/people_log/pk-insert", {"filters": given(id=1)})
        status, text = client.ask("batchwrite", {"operations": [person("pk-insert", 9), insert]})[:2]
        assert status == 400 and "operation 1: the table shop.people_log is kept by MyISAM" in text, text
        assert client.ask("batchwrite", {"operations": [insert]})[0] == 200
        assert server.stop() == 0, server.log
    assert database.client.ask("SELECT (SELECT COUNT(*) FROM people), (SELECT COUNT(*) FROM people_log)") == [("2", "1")]


def test_rows_that_are_too_large_together_are_refused_and_kept_by_nobody(start, database, monkeypatch):
    # A sanitizer keeps what was freed, for a while.
    monkeypatch.setenv("ASAN_OPTIONS", os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=4")
    database.client.run("CREATE TABLE photos(id INT PRIMARY KEY, photo LONGBLOB)",
                        *[f"INSERT INTO photos SELECT seq, REPEAT('x', 1000000) FROM seq_{n}_to_{n + 9}" for n in range(1, 100, 10)])
    one = operation("shop/photos/pk-read", {"filters": given(id=1)})
    all_of_them = [operation("shop/photos/pk-read", {"filters": given(id=n)}) for n in range(1, 101)]
    with start("--store.mysql.engine.read_memory_bytes=8000000", threads=1) as server, RowClient(server) as client:
        assert client.batch(one, one)[0] == 200
        before = server.memory_kib("VmHWM")
        status, text = client.fault("batch", {"operations": all_of_them})
        assert status == 413 and "more than 8000000 bytes (store.mysql.engine.read_memory_bytes)" in text, text
        status, text = client.ask("shop/photos/scan", {"limit": 100})
        assert status == 200 and "continuation" in text and len(text) < 6_000_000
        status, text = client.ask("sql", {"database": "shop", "query": "SELECT * FROM photos"})
        assert status == 200 and json.loads(text)["truncated"]
        assert client.batch(*all_of_them[:5])[0] == 200
        assert server.memory_kib("VmHWM") - before < 60_000  # of 100 MB
        assert server.stop() == 0, server.log


def test_what_is_acknowledged_outlives_the_server_and_no_batch_is_there_in_part(start, database):
    """Batches of two rows each; the server is killed in the middle of them, again and again."""
    acknowledged, unknown = set(), set()
    with start() as server:
        ended = threading.Event()

        def write(first):
            with httpx.Client(timeout=PATIENCE_S) as client:
                number = first
                while not ended.is_set():
                    number += 2
                    body = {"operations": [person("pk-insert", number, name="a"), person("pk-insert", number + 1, name="b")]}
                    status = client.post(server.url("/0.1.0/batchwrite"), json=body).status_code
                    assert status in (200, 500, 503), status
                    if status == 200:
                        acknowledged.add(number)
                    elif status == 500:
                        unknown.add(number)
                    else:
                        time.sleep(0.01)

        writers = [threading.Thread(target=write, args=(1_000_000 * (n + 1),)) for n in range(4)]
        for each in writers:
            each.start()
        for _ in range(3):
            before = len(acknowledged)
            wait_until(lambda: len(acknowledged) > before + 50)
            database.kill()
            database.start()
        wait_until(lambda: is_well(server))
        ended.set()
        for each in writers:
            each.join()
        assert server.stop() == 0, server.log
    with MariadbClient(database) as client:
        kept = {int(number) for number, in client.ask("SELECT id FROM shop.people WHERE id >= 1000000")}
    for number in kept:
        assert (number + 1 if number % 2 == 0 else number - 1) in kept, number
    first_ones = {number for number in kept if number % 2 == 0}
    assert acknowledged <= first_ones and first_ones <= acknowledged | unknown
    assert len(acknowledged) > 150


def test_writes_of_many_at_once_are_all_done(start, database):
    with start() as server:
        def insert(first):
            with httpx.Client(timeout=PATIENCE_S) as client:
                for i in range(25):
                    body = {"operations": [person("pk-insert", first + i, name=f"n{first + i}")]}
                    assert client.post(server.url("/0.1.0/batchwrite"), json=body).status_code == 200

        threads = [threading.Thread(target=insert, args=(1000 * (n + 1),)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert server.stop() == 0, server.log
    assert database.client.ask("SELECT COUNT(*), COUNT(DISTINCT name) FROM people WHERE id >= 1000") == [("200", "200")]
