"""All attacks on memory and time at once, in a memory group of 256 MiB, beside an honest client. `bench/siege` is the long form."""

import itertools
import re
import sqlite3

import httpx
import pytest
from memory_group import memory_group
from siege import ATTACKS, MIB, Siege
from weft_process import Server, wait_until

LIMIT_BYTES = 256 * MIB
HONEST_REQUESTS = 100
BLOBS = 128
ROW = {"filters": [{"column": "id", "value": 1}]}


def besieged_data(folder):
    with sqlite3.connect(folder / "demo.db") as database:
        database.executescript(f"""
            CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
              INSERT INTO users SELECT i, 'user ' || i FROM n;
            CREATE TABLE blobs(id INTEGER PRIMARY KEY, data TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {BLOBS})
              INSERT INTO blobs SELECT i, hex(zeroblob(250000)) FROM n;""")
    database.close()
    return folder


@pytest.fixture
def key(run_weftd, tmp_path):
    done = run_weftd("keygen", "--databases", "demo")
    (tmp_path / "keys.toml").write_text(done.stdout)
    return re.search(r"[0-9a-f]{16}\.[0-9a-f]{64}", done.stderr)[0]


def test_a_server_under_all_attacks_at_once_serves_on(weftd, key, tmp_path):
    (tmp_path / "data").mkdir()
    data = besieged_data(tmp_path / "data")
    with memory_group(LIMIT_BYTES) as group:
        with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", data, "--keys",
                     tmp_path / "keys.toml"], preexec=group.join) as server:
            before = server.memory_kib("VmRSS")
            with Siege(server.port, key) as siege, httpx.Client(
                    headers={"X-API-KEY": key}, timeout=60) as honest:
                for number in itertools.takewhile(lambda n: n < HONEST_REQUESTS or not siege.is_under_way(), itertools.count()):
                    try:
                        reply = honest.post(server.url("/ping"), json={"sequence": number})
                        assert reply.status_code == 200, reply.text
                        reply = honest.post(server.url("/0.1.0/demo/users/pk-read"), json=ROW)
                        assert reply.status_code in (200, 503), reply.text
                    except httpx.TransportError as why:
                        raise AssertionError(f"request {number}: {why!r}: {server.read_log()[-10_000:]}") from why
                siege.end()
            print(siege.outcomes)
            assert all(siege.outcomes.get(name) for name in ATTACKS), "an attack has done nothing"
            assert group.kills() == 0
            assert server.process.poll() is None
            assert honest_read(server, key) == 200
            wait_until(lambda: server.memory_kib("VmRSS") < before + LIMIT_BYTES / 4 / 1024, patience_s=90)
            assert server.stop() == 0, server.log


def honest_read(server, key):
    return httpx.post(server.url("/0.1.0/demo/users/pk-read"), json=ROW, headers={"X-API-KEY": key}, timeout=60).status_code
