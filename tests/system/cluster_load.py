"""Clients that write rows and read them back by one address, and note what they were told.

    with Load(address) as load:
        load.settle()
    assert not load.wrong

Each writer has keys of its own, each of which is written once, and a row that has the number of its last batch: what
was acknowledged must be there from then on, what was refused must not, and all else may be there or not.
"""

import http.client
import json
import random
import threading
import time

from row_client import given, operation

WRITERS, READERS = 4, 3
SETTLED = 40  # requests of each client, one after the other, that all are answered as they should be
PATIENCE_S = 90
KEYS = 1_000_000
UNDONE = 503  # of weftd, and of a balancer that has found none
PAUSE_S = 0.004  # the machine has other things to do

TABLE = "CREATE TABLE shop.notes(id BIGINT PRIMARY KEY, content VARCHAR(40) NOT NULL)"


def content_of(key):
    return f"row {key}"


class Client(threading.Thread):
    def __init__(self, load, number):
        super().__init__(daemon=True)
        self.load, self.number = load, number
        self.answered = 0
        self.slowest = []  # (when it began, how long it took)
        self.connection = None

    def run(self):
        try:
            while not self.load.ended.is_set():
                self.ask_once()
                time.sleep(PAUSE_S)
        except BaseException as bug:
            self.load.wrong.append(f"{type(self).__name__} {self.number}: {bug!r}")

    def post(self, path, body):
        """(status, text); (0, why) where the connection broke."""
        began = time.monotonic()
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection(*self.load.address, timeout=PATIENCE_S)
            self.connection.request("POST", f"/0.1.0/{path}", json.dumps(body))
            answer = self.connection.getresponse()
            status, text = answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException) as why:
            self.connection.close()
            self.connection = None
            status, text = 0, repr(why)
        self.slowest.append((began, time.monotonic() - began))
        return status, text

    def note(self, status, text):
        if status in (200, 404):
            self.answered += 1
        else:
            self.load.faults.append((time.monotonic(), type(self).__name__, status, text))


class Writer(Client):
    def __init__(self, load, number):
        super().__init__(load, number)
        self.begun = self.acknowledged = 0

    @property
    def own_row(self):
        return -1 - self.number

    def ask_once(self):
        """A row, and every second time in one batch with the number of that batch."""
        key = self.number * KEYS + self.begun + 1
        writes = [operation("shop/notes/pk-insert", {"filters": given(id=key), "writeColumns": given(content=content_of(key))})]
        is_batch = self.begun % 2 == 0
        self.begun += 1
        if is_batch:
            writes.append(operation("shop/notes/pk-write", {"filters": given(id=self.own_row), "writeColumns": given(content=f"{self.begun}")}))
        status, text = self.post("batchwrite", {"operations": writes})
        self.note(status, text)
        if status == 200:
            self.load.acknowledged.append(key)
            if is_batch:
                self.acknowledged = self.begun
        elif status == UNDONE:
            self.load.undone.append(key)
        elif status in (0, 500, 502, 504):
            self.load.unknown.append(key)
        else:
            self.load.wrong.append(f"the write of {key} was answered with {status} {text}")


class Reader(Client):
    def ask_once(self):
        self._look_up_what_was_acknowledged()
        self._look_up_how_far_a_writer_is()

    def _read(self, key):
        status, text = self.post("shop/notes/pk-read", {"filters": given(id=key)})
        self.note(status, text)
        if status not in (0, 200, 404, 500, 502, 503, 504):
            self.load.wrong.append(f"the read of {key} was answered with {status} {text}")
        return (json.loads(text)["data"]["content"] if status == 200 else None), status == 404

    def _look_up_what_was_acknowledged(self):
        if not self.load.acknowledged:
            return
        key = random.choice(self.load.acknowledged[-100:])
        content, is_missing = self._read(key)
        if is_missing or content not in (None, content_of(key)):
            self.load.wrong.append(f"{key} was acknowledged, and then read as {content}")

    def _look_up_how_far_a_writer_is(self):
        writer = random.choice(self.load.writers)
        least = writer.acknowledged
        content, is_missing = self._read(writer.own_row)
        if (is_missing and least) or (content is not None and not least <= int(content) <= writer.begun):
            self.load.wrong.append(f"writer {writer.number} was at {least}, and then read at {content}")


class Load:
    def __init__(self, address):
        self.address = address
        self.ended = threading.Event()
        self.acknowledged, self.undone, self.unknown = [], [], []
        self.faults, self.wrong = [], []
        self.writers = [Writer(self, number) for number in range(WRITERS)]
        self.clients = self.writers + [Reader(self, number) for number in range(READERS)]

    def __enter__(self):
        for each in self.clients:
            each.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for each in self.clients:
            each.join()

    def settle(self):
        """Until nobody is told of faults any more."""
        give_up = time.monotonic() + PATIENCE_S
        faults = -1
        while faults != len(self.faults):
            faults = len(self.faults)
            enough = [each.answered + SETTLED for each in self.clients]
            while any(each.answered < wanted for each, wanted in zip(self.clients, enough, strict=True)):
                assert not self.wrong, self.wrong[:10]
                assert time.monotonic() < give_up, f"it does not settle: {self.faults[-20:]}"
                time.sleep(0.02)

    def report_since(self, begin):
        """What clients have noticed."""
        faults = [fault for fault in self.faults if fault[0] >= begin]
        slowest = max(took for each in self.clients for began, took in each.slowest if began + took >= begin)
        last = f", the last after {max(fault[0] for fault in faults) - begin:.2f} s" if faults else ""
        writes = [status for _, who, status, _ in faults if who == "Writer"]
        undone = writes.count(UNDONE)
        return (f"{undone} writes refused, {len(writes) - undone} whose end is not known, {len(faults) - len(writes)} reads failed{last}; "
                f"the slowest answer took {slowest:.2f} s")
