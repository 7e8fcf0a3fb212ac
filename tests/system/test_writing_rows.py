"""weftd's writes by primary key: what is acknowledged is in the database; of each database, all of a batch or nothing."""

import contextlib
import json
import sqlite3
import threading

import httpx
import pytest
from weft_process import Server, wait_until


def values(**content):
    return [{"column": name, "value": value} for name, value in content.items()]


def write(action, key, table="people", operation_id=None, method="POST", **content):
    body = {"filters": values(id=key)}
    if content:
        body["writeColumns"] = values(**content)
    if operation_id is not None:
        body["operationId"] = operation_id
    return {"method": method, "relative-url": f"shop/{table}/{action}", "body": body}


@pytest.fixture
def shop(tmp_path):
    with sqlite3.connect(tmp_path / "shop.db") as database:
        database.executescript("""
            PRAGMA journal_mode=WAL;
            CREATE TABLE people(id INTEGER PRIMARY KEY, name VARCHAR(10) NOT NULL DEFAULT 'nobody', age TINYINT CHECK(age >= 0),
              email VARCHAR(20) UNIQUE, photo BLOB, shout VARCHAR(10) AS (upper(name)));
            INSERT INTO people(id, name, age) VALUES(1, 'Ada', 36), (2, 'Alan', 41);""")
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, a INT)")
    return tmp_path


@pytest.fixture
def server(weftd, shop, backend):
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "2", "--data", shop, "--backend", backend]) as started:
        yield started
        assert started.stop() == 0, started.log


def post(server, *operations, path="batchwrite", version="0.1.0", method="POST"):
    return httpx.request(method, server.url(f"/{version}/{path}"), content=json.dumps({"operations": operations}), timeout=60)


def rows(shop, query="SELECT id, name, age FROM people ORDER BY id"):
    with sqlite3.connect(shop / "shop.db") as database:
        return database.execute(query).fetchall()


def test_rows_are_inserted_updated_and_both(server, shop):
    reply = post(server, write("pk-insert", 3, name="Grace", age=85, operation_id="a"), write("pk-update", 1, age=37),
                 write("pk-write", 2, name="Alan T."), write("pk-write", 4, name="Ken"), write("pk-insert", 5))
    assert reply.status_code == 200, reply.text
    assert reply.text.startswith('{"result":[{"code":200,"body":{"operationId":"a","data":{}}},{"code":200,')
    assert rows(shop) == [(1, "Ada", 37), (2, "Alan T.", 41), (3, "Grace", 85), (4, "Ken", None), (5, "nobody", None)]
    read = httpx.post(server.url("/0.1.0/shop/people/pk-read"), json={"filters": values(id=3)}).json()
    assert read["data"] == {"name": "Grace", "age": 85, "email": None, "photo": None, "shout": "GRACE"}


@pytest.mark.parametrize("how", ["POST", "DELETE"])
def test_rows_are_removed(server, shop, how):
    reply = post(server, write("pk-delete", 1, method=how), write("pk-delete", 9, operation_id="x"), path="batchdelete",
                 version="0.2.0", method=how)
    assert [(each["code"], each.get("message")) for each in reply.json()["result"]] == [
        (200, None), (404, "the row does not exist")]
    assert rows(shop) == [(2, "Alan", 41)]


def test_a_row_that_is_not_there_to_be_updated_is_no_failure(server, shop):
    reply = post(server, write("pk-update", 9, name="None"), write("pk-update", 1, name="Ada L."))
    assert reply.status_code == 200 and [each["code"] for each in reply.json()["result"]] == [404, 200]
    assert rows(shop)[0] == (1, "Ada L.", 36)


@pytest.mark.parametrize("wrong, status, words", [
    (write("pk-insert", 1, name="Twin"), 409, "operation 1: "),
    (write("pk-write", 3, age=-1), 400, "operation 1: "),
    (write("pk-update", 1), 400, "operation 1: the writeColumns section is empty"),
    (write("pk-write", 3), 400, "operation 1: the writeColumns section is empty"),
    (write("pk-write", 3, id=4), 400, "field validation for write columns failed. 'id' already included in filter"),
    (write("pk-delete", 1), 400, "Field validation for 'RelativeURL' failed"),
    (write("pk-read", 1), 400, "Field validation for 'RelativeURL' failed"),
    (write("pk-write", 3, method="DELETE", name="x"), 400, "the Method section should be POST"),
])
def test_one_that_is_no_write_or_is_refused_fails_the_batch(server, shop, wrong, status, words):
    reply = post(server, write("pk-write", 1, name="New"), wrong)
    assert reply.status_code == status and words in reply.text, reply.text
    assert rows(shop) == [(1, "Ada", 36), (2, "Alan", 41)]


@pytest.mark.parametrize("wrong, code, words", [
    (write("pk-write", 3, age=200), 400, "Wrong data type. Expecting TINYINT. Column: age"),
    (write("pk-write", 3, name=None), 400, "Column: name"),
    (write("pk-write", 3, name="much too long"), 400, "Column: name"),
    (write("pk-write", 3, photo="no base64!"), 400, "Column: photo"),
    (write("pk-write", 3, shout="X"), 400, "Column shout is generated"),
    (write("pk-write", 3, none=1), 400, "Column does not exist. Column: none"),
    (write("pk-write", 3, table="none", name="x"), 404, "Database/Table does not exist."),
    (write("pk-write", None, name="x"), 400, "Column: id"),
])
def test_one_that_is_not_of_its_table_has_its_code_and_the_others_are_not_done(server, shop, wrong, code, words):
    reply = post(server, write("pk-write", 1, name="New", operation_id="a"), wrong, write("pk-insert", 3), version="0.2.0")
    assert reply.status_code == 200, reply.text
    first, second, third = reply.json()["result"]
    assert first == {"code": 424, "body": {"operationId": "a", "data": {}}, "message": "not done, since another operation of its database has failed"}
    assert third["code"] == 424 and second["code"] == code and words in second["message"], reply.text
    assert rows(shop) == [(1, "Ada", 36), (2, "Alan", 41)]


def test_a_database_that_another_program_holds_is_503(weftd, shop):
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", shop,
                 "--store.sqlite.engine.busy_timeout=50ms"]) as server, sqlite3.connect(shop / "shop.db") as other:
        other.execute("BEGIN IMMEDIATE")
        reply = post(server, write("pk-write", 1, name="New"))
        assert reply.status_code == 503, reply.text
        other.rollback()
        assert post(server, write("pk-write", 1, name="New")).status_code == 200
        assert server.stop() == 0, server.log


def waiting(server):
    page = server.get("/metrics")[1]
    return sum(int(line.split()[1]) for line in page.splitlines() if line.startswith("store_write_batches_waiting "))


def test_writes_that_wait_for_a_lock_are_told_so_before_the_server_ends(weftd, shop):
    """All of them together wait for busy_timeout; each after the other, they would take a minute."""
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", shop,
                 "--store.sqlite.engine.busy_timeout=3s"]) as server, sqlite3.connect(shop / "shop.db") as other:
        other.execute("BEGIN IMMEDIATE")
        replies = []

        def client():
            with contextlib.suppress(httpx.ConnectError):  # one that comes after the stop
                replies.append(post(server, write("pk-write", 1, name="New")))

        clients = [threading.Thread(target=client) for _ in range(20)]
        for client in clients:
            client.start()
        wait_until(lambda: replies or waiting(server) >= 15)  # some are in the first transaction
        assert server.stop() == 0, server.log
        for client in clients:
            client.join()
        assert len(replies) >= 15
        assert {reply.status_code for reply in replies} == {503}, [reply.text for reply in replies]
        other.rollback()
        assert rows(shop)[0] == (1, "Ada", 36)


def test_writes_of_many_at_once_are_all_done(server, shop):
    def insert(first):
        with httpx.Client() as client:
            for i in range(25):
                asked = {"operations": [write("pk-insert", first + i, name=f"n{first + i}")]}
                assert client.post(server.url("/0.1.0/batchwrite"), content=json.dumps(asked)).status_code == 200

    threads = [threading.Thread(target=insert, args=(1000 * (n + 1),)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows(shop, "SELECT count(*), count(DISTINCT name) FROM people WHERE id >= 1000") == [(200, 200)]
