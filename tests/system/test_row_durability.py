"""weftd is killed while it writes: what was acknowledged is there, a batch is there whole or not at all.

WEFT_KILLS=100 kills it more often.
"""

import http.client
import json
import os
import random
import signal
import sqlite3
import threading
from contextlib import closing

import pytest
from row_client import RowClient, given, operation
from weft_process import Server

KILLS = int(os.environ.get("WEFT_KILLS", "4"))
WRITERS = 4
KEYS = 20  # of a writer


class Writer:
    """Changes its own rows until the server is gone, and knows what must be there: `sure`, and what may be: `perhaps`."""

    def __init__(self, number, seed):
        self.number, self.chance = number, random.Random(seed)
        self.sure, self.perhaps, self.acknowledged = {}, {}, 0

    def draw(self):
        ids = self.chance.sample(range(self.number * KEYS, (self.number + 1) * KEYS), 5)
        after = dict(self.sure)
        if self.chance.random() < 0.25:
            for id in ids:
                after.pop(id, None)
            return "batchdelete", [operation("shop/t/pk-delete", {"filters": given(id=id)}) for id in ids], after
        text = f"{self.chance.random()} " * self.chance.randint(1, 200)
        after.update({id: text for id in ids})
        return "batchwrite", [operation("shop/t/pk-write", {"filters": given(id=id), "writeColumns": given(a=text)}) for id in ids], after

    def run(self, server):
        try:
            with RowClient(server) as client:
                while True:
                    path, operations, self.perhaps = self.draw()
                    status, text = client.ask(path, {"operations": operations})
                    assert status == 200, text
                    self.sure = self.perhaps
                    self.acknowledged += 1
        except (OSError, http.client.HTTPException):
            pass

    def compare(self, rows):
        """Takes over what is there."""
        mine = {id: a for id, a in rows if self.number * KEYS <= id < (self.number + 1) * KEYS}
        assert mine == self.sure or mine == self.perhaps, (self.number, sorted(mine), sorted(self.sure), sorted(self.perhaps))
        self.sure = self.perhaps = mine


@pytest.mark.parametrize("synchronous", ["full", "normal", "off"])
def test_what_is_acknowledged_survives_a_kill(weftd, tmp_path, synchronous):
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL); CREATE INDEX by_a ON t(a)")
    writers = [Writer(number, number) for number in range(WRITERS)]
    chance = random.Random(1)
    for kill in range(KILLS):
        with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "2", "--data", tmp_path, f"--store.sqlite.engine.synchronous={synchronous}",
                     "--store.sqlite.engine.checkpoint_pages=50"]) as server:
            threads = [threading.Thread(target=each.run, args=(server,)) for each in writers]
            wanted = sum(each.acknowledged for each in writers) + chance.randint(20, 200)
            for thread in threads:
                thread.start()
            while sum(each.acknowledged for each in writers) < wanted:
                threading.Event().wait(0.001)
            os.kill(server.pid, signal.SIGKILL)
            for thread in threads:
                thread.join()
        if kill % 2:  # the next server finds the log as it was left
            with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", tmp_path]) as server, RowClient(server) as client:
                status, text = client.ask("shop/t/scan", {"limit": 1000})
                assert status == 200, text
                for each in writers:
                    each.compare([(row["id"], row["a"]) for row in json.loads(text)["data"]])
        with closing(sqlite3.connect(path)) as database:
            rows = database.execute("SELECT id, a FROM t").fetchall()
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        for each in writers:
            each.compare(rows)
