"""What weftd says of itself: /stat, and the same numbers in /metrics."""

import json
import sqlite3

import httpx
import pytest
from row_engines import mariadb
from weft_process import Server, wait_until


@pytest.fixture
def server(weftd, tmp_path):
    for name in "shop", "bank":
        with sqlite3.connect(tmp_path / f"{name}.db") as database:
            database.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, a INT); INSERT INTO t VALUES(1, 2)")
    with sqlite3.connect(tmp_path / "shop.db") as database:
        database.executescript("CREATE TABLE u(id INTEGER PRIMARY KEY)")
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "2", "--data", tmp_path]) as started:
        yield started
        assert started.stop() == 0, started.log


def post(server, path, body):
    reply = httpx.post(server.url(f"/0.2.0/{path}"), content=json.dumps(body))
    assert reply.status_code == 200, reply.text


def test_stat_tells_of_the_server_that_has_the_rows(weftd, tmp_path):
    with mariadb(tmp_path) as database:
        database.client.run("CREATE OR REPLACE DATABASE shop", "CREATE TABLE shop.t(id INT PRIMARY KEY)")
        with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", *database.arguments]) as server:
            assert httpx.post(server.url("/0.2.0/shop/t/pk-read"), content='{"filters": [{"column": "id", "value": 1}]}').status_code == 404
            store = httpx.get(server.url("/0.2.0/stat")).json()["store"]
            assert (store["engine"], store["reachable"], store["readTimes"]["count"]) == ("mysql", True, 1)
            assert store["connections"]["open"] >= 1 and store["connections"]["failed"] == 0
            database.kill()
            wait_until(lambda: not httpx.get(server.url("/0.2.0/stat")).json()["store"]["reachable"])
            assert httpx.get(server.url("/0.2.0/stat")).json()["store"]["connections"]["failed"] > 0
            assert server.stop() == 0, server.log


@pytest.mark.parametrize("version", ["0.1.0", "0.2.0"])
def test_stat_tells_what_there_is_and_what_was_done(server, version):
    key = [{"column": "id", "value": 1}]
    post(server, "shop/t/pk-read", {"filters": key})
    post(server, "batch", {"operations": [
        {"method": "POST", "relative-url": "bank/t/pk-read", "body": {"filters": [{"column": "id", "value": id}]}} for id in (1, 2)]})
    post(server, "shop/t/scan", {"limit": 5})
    post(server, "batchwrite", {"operations": [
        {"method": "POST", "relative-url": "shop/t/pk-write",
         "body": {"filters": key, "writeColumns": [{"column": "a", "value": 3}]}}]})
    told = httpx.get(server.url(f"/{version}/stat"))
    assert told.status_code == 200 and told.headers["content-type"] == "application/json"
    stat = told.json()
    assert stat["shards"] == 2 and stat["uptimeSeconds"] >= 0
    assert stat["databases"] == [{"name": "bank", "tables": 1}, {"name": "shop", "tables": 2}]
    store = stat["store"]
    assert store["readsInMemory"] + store["readsElsewhere"] == 3 and store["rowsRead"] == 2
    assert (store["rowsScanned"], store["rowsWritten"], store["commits"], store["writeBatchesWaiting"]) == (1, 1, 1, 0)
    assert store["failures"] == {}
    assert (store["engine"], store["reachable"], store.get("connections")) == ("sqlite", True, None)
    assert store["writeTimes"]["count"] == 1
    assert 0 < store["writeTimes"]["p50Us"] <= store["writeTimes"]["p99Us"] <= store["writeTimes"]["maxUs"] + 1
    assert stat["http"]["replies"] >= 4 and stat["http"]["connections"] >= 1 and stat["memory"]["frameBytes"] > 0
    metrics = httpx.get(server.url("/metrics")).text
    for line in ("store_rows_read_total 2", "store_writes_total 1", "store_commits_total 1", "store_scan_rows_total 1",
                 'store_failures_total{kind="busy"} 0', "store_write_wait_ns_count 1"):
        assert f"\n{line}\n" in metrics, (line, metrics)
