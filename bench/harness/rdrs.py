"""Batches of reads as clients of the RonDB REST server send them, and what is answered: the model
that every program is checked by, and the workloads that are made of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.asks import Ask, Trial

DATABASE, TABLE, KEYED_TABLE = "my_database_1", "my_table_1", "my_table_2"
VALUES = 100  # of each column of the key of TABLE
KEYS = 100_000  # of KEYED_TABLE
BATCHES = (1, 9, 10, 100)  # 9: what the published "batch of 10" has
FORMS = ("published", "minified")

Batch = dict


def operation(id0: int, id1: int) -> dict:
    """As published: with (0, 0) it is the published one."""
    return {
        "method": "POST",
        "relative-url": f"{DATABASE}/{TABLE}/pk-read",
        "body": {
            "filters": [
                {"column": "id0", "value": str(id0)},
                {"column": "id1", "value": str(id1)},
            ],
            "readColumns": [
                {"column": "col0", "dataReturnType": "default"},
                {"column": "col1", "dataReturnType": "default"},
            ],
            "operationId": "1",
        },
    }


def batch(count: int) -> Batch:
    """Of different rows, all as long as the published operation, up to 100 of them."""
    return {"operations": [operation(index % 10, index // 10) for index in range(count)]}


def keyed_batch(count: int) -> Batch:
    """By an integer, two columns each."""
    reads = [
        {
            "filters": [{"column": "id", "value": index * 7919 % KEYS}],
            "readColumns": [{"column": "col0"}, {"column": "col1"}],
        }
        for index in range(count)
    ]
    url = f"{DATABASE}/{KEYED_TABLE}/pk-read"
    return {"operations": [{"method": "POST", "relative-url": url, "body": each} for each in reads]}


def minified(document: dict) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def text_of(document: dict, form: str) -> bytes:
    if form == "published":
        return (json.dumps(document, indent=2) + "\n").encode()
    return minified(document)


def _texts(of: Batch) -> list[tuple[str, bool]]:
    """All strings, and whether each is a name or value that is summed up."""
    texts = []
    for each in of["operations"]:
        body = each["body"]
        texts += [(each["method"], False), (each["relative-url"], False)]
        texts += [(text, True) for filter_ in body["filters"] for text in filter_.values()]
        for column in body["readColumns"]:
            texts += [(column["column"], True), (column["dataReturnType"], False)]
        texts.append((body["operationId"], False))
    return texts


def summary(of: Batch) -> bytes:
    """FNV-1a (32 bits) over names and values, in their order."""
    total = 2166136261
    for text, is_summed in _texts(of):
        for byte in text.encode() if is_summed else b"":
            total = (total ^ byte) * 16777619 % 2**32
    size = sum(len(text.encode()) for text, _ in _texts(of))
    return minified({"operations": len(of["operations"]), "bytes": size, "sum": total})


def _row(of: dict) -> dict:
    values = [int(each["value"]) for each in of["filters"]]
    number = values[0] * VALUES + values[1] if len(values) == 2 else values[0]
    return {"col0": number, "col1": f"value {number}"}


def rows(of: Batch) -> bytes:
    """The answer of the RonDB REST server."""
    bodies = [each["body"] for each in of["operations"]]
    return minified(
        {
            "result": [
                {
                    "code": 200,
                    "body": {"operationId": each.get("operationId", ""), "data": _row(each)},
                }
                for each in bodies
            ]
        }
    )


def make_database(folder: Path) -> None:
    """The same rows for weftd."""
    wanted = folder / f"{DATABASE}.db"
    if wanted.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    half = wanted.with_suffix(".part")
    half.unlink(missing_ok=True)
    columns = "col0 INT NOT NULL, col1 VARCHAR(50) NOT NULL"
    database = sqlite3.connect(half)
    database.executescript(
        f"CREATE TABLE {TABLE}(id0 INT, id1 INT, {columns}, PRIMARY KEY(id0, id1)) WITHOUT ROWID;"
        f"CREATE TABLE {KEYED_TABLE}(id INTEGER PRIMARY KEY, {columns});"
    )
    for number in range(VALUES * VALUES):
        row = (*divmod(number, VALUES), number, f"value {number}")
        database.execute(f"INSERT INTO {TABLE} VALUES(?, ?, ?, ?)", row)
    for number in range(KEYS):
        row = (number, number, f"value {number}")
        database.execute(f"INSERT INTO {KEYED_TABLE} VALUES(?, ?, ?)", row)
    database.commit()
    database.execute("PRAGMA journal_mode = WAL")
    database.close()
    half.rename(wanted)


@dataclass(frozen=True)
class Step:
    """What is done to a batch; each does more than the one before."""

    name: str
    title: str
    answer: Callable[[Batch], bytes]


STEPS = (
    Step("walk", "every string is looked at, none kept", summary),
    Step("read", "read into structs", summary),
    Step("check", "read into structs and checked by the API's rules", summary),
    Step("write", "read into structs and written again", minified),
    Step("rows", "answered with rows", rows),
)


def _twins() -> Batch:
    """A column is named twice."""
    wrong = batch(2)
    wrong["operations"][1]["body"]["filters"][1]["column"] = "id0"
    return wrong


def trials(step: Step, path: str) -> tuple[Trial, ...]:
    """What a right program answers beside what is timed: that it looks at what it is sent."""
    other = {"operations": [operation(41, 7), operation(5, 99), operation(0, 20)]}
    cut = minified(other)[:-3]
    asked = [Trial("POST", path, text_of(other, form), 200, step.answer(other)) for form in FORMS]
    asked.append(Trial("POST", path, cut, 400, None))
    if step.name == "check":
        asked.append(Trial("POST", path, minified(_twins()), 400, None))
    return tuple(asked)


PING = Ask(Trial("GET", "/ping", b"", 200, b"OK"), None)


def workload_name(step: str, count: int, form: str) -> str:
    return f"rdrs-{step}-{count}" + ("" if form == "published" else f"-{form}")


class Asks:
    """What each kind of program is asked in each workload. Bodies are to lie as files in `folder`, so
    that the commands of a report can be repeated."""

    def __init__(self, folder: Path):
        self._folder = folder

    def _ask(self, name: str, path: str, body: bytes, answer: bytes, *more: Trial) -> Ask:
        return Ask(Trial("POST", path, body, 200, answer), self._folder / f"{name}.json", more)

    def of_step(self, step: Step, path: str) -> dict[str, Ask]:
        asks = {}
        for count in BATCHES:
            for form in FORMS:
                asked = batch(count)
                name = workload_name(step.name, count, form)
                asks[name] = self._ask(
                    f"batch-{count}-{form}",
                    path,
                    text_of(asked, form),
                    step.answer(asked),
                    *trials(step, path),
                )
        return asks

    def of_server(self, without: tuple[str, ...] = ()) -> dict[str, Ask]:
        """Of a program that serves the steps but those of `without`."""
        asks = {"rdrs-ping": PING}
        for step in STEPS:
            if step.name not in without:
                asks |= self.of_step(step, f"/{step.name}")
        return asks

    def of_weftd(self) -> dict[str, Ask]:
        """Where others answer from memory, weftd does from its database."""
        (step,) = (step for step in STEPS if step.name == "rows")
        return self.of_step(step, "/0.1.0/batch")

    def of_ping(self) -> Ask:
        body = b'{"sequence":2}'
        return self._ask("ping", "/ping", body, body)

    def of_pk_read(self) -> Ask:
        (only,) = keyed_batch(1)["operations"]
        data = minified({"code": 200, "operationId": "", "data": _row(only["body"])})
        path = f"/0.1.0/{only['relative-url']}"
        return self._ask("pk-read", path, minified(only["body"]), data)

    def of_keyed_batch(self, count: int) -> Ask:
        asked = keyed_batch(count)
        return self._ask(f"keyed-{count}", "/0.1.0/batch", minified(asked), rows(asked))
