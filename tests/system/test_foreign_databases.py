"""SQLite files that other programs have written: what weftd tells of a row names the row, goes in again as it was, and survives an
export and an import, whatever class of value lies in whatever column. What is stored is asked of sqlite3.

The databases are made by SQLAlchemy, Django, peewee and knex, and by hand as Sequelize, Prisma, Entity Framework Core, Rails and
Northwind have it, which need a build of their own or another language. tools/setup installs those four.
"""

import base64
import contextlib
import json
import os
import shutil
import sqlite3
import struct
import subprocess
from pathlib import Path

import pytest
from row_client import VERSIONS, RowClient, given, named, operation
from row_engines import sqlite_arguments
from weft_process import Server

WRITERS = Path(__file__).resolve().parent / "foreign_writers"
TOOLS = Path(__file__).resolve().parents[2] / ".deps/foreign_writers"
MARK = "\x10"
BATCH = 100  # operations

# As they write it.
BY_HAND = {
    "sequelize": """
        CREATE TABLE `Users`(`id` UUID PRIMARY KEY, `name` VARCHAR(255), `isOn` TINYINT(1), `price` DECIMAL(10,2), `rate` DOUBLE PRECISION, `day` DATE,
          `createdAt` DATETIME NOT NULL, `document` JSON, `data` BLOB, `choice` TEXT, `at` TIME, `natural` INTEGER UNSIGNED, `big` BIGINT);
        INSERT INTO Users VALUES('550e8400-e29b-41d4-a716-446655440000','Ada',1,12.5,0.1,'2026-01-02','2026-01-02 03:04:05.678 +00:00','{"a":1}',x'00ff','a',
          '12:34:56',5,'9007199254740993'),
          ('12345678123456781234567812345678','',0,-0.01,2,'1815-12-10','2026-01-02 03:04:05.000 +02:00','[]',x'','b','00:00:00',0,-1);""",
    "prisma": """
        CREATE TABLE "User"("id" TEXT NOT NULL PRIMARY KEY, "on" BOOLEAN, "big" BIGINT, "rate" REAL, "price" DECIMAL, "seen" DATETIME NOT NULL DEFAULT
          CURRENT_TIMESTAMP, "document" JSONB, "data" BLOB, "count" INTEGER);
        INSERT INTO User VALUES('clx1',1,9223372036854775807,0.1,12.345,1767323045678,'{"a":[1]}',x'00ff',-5),
          ('clx2',0,-1,1e300,'0.1','2026-01-02T03:04:05.678+00:00','[]',NULL,NULL), ('clx3',NULL,NULL,NULL,7,'2026-01-02T03:04:05.678Z','"text"',NULL,1);
        INSERT INTO User(id) VALUES('clx4');
        CREATE TABLE "_moments"("at" DATETIME NOT NULL PRIMARY KEY, "note" TEXT);
        INSERT INTO _moments VALUES(1767323045678,'a'),('2026-01-02T03:04:05.678+00:00','b'),('2026-01-02 03:04:05','c'),(2460677.62853,'d');""",
    "entity_framework": """
        CREATE TABLE "Orders"("Id" TEXT NOT NULL CONSTRAINT "PK_Orders" PRIMARY KEY, "Placed" TEXT NOT NULL, "Total" TEXT, "Paid" INTEGER, "Raw" BLOB, "Took" TEXT);
        INSERT INTO Orders VALUES('550E8400-E29B-41D4-A716-446655440000','2026-01-02 03:04:05.1234567','12.50',1,x'00','1.02:03:04.0050000'),
          ('00000000-0000-0000-0000-000000000000','0001-01-01 00:00:00+00:00','0.0',0,NULL,NULL);""",
    "rails": """
        CREATE TABLE "users"("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "name" varchar, "on" boolean DEFAULT 0, "price" decimal(8,2), "rate" float,
          "created_at" datetime(6) NOT NULL, "born" date, "at" time, "document" json, "data" blob, "count" bigint);
        INSERT INTO users VALUES(1,'Ada',1,12.5,0.1,'2026-01-02 03:04:05.678901','1815-12-10','2000-01-01 12:34:56.000000','{"a":1}',x'00ff',5),
          (2,'',0,-0.01,2.0,'2026-01-02 03:04:05.000000',NULL,NULL,'[]',NULL,NULL);""",
    "northwind": """
        CREATE TABLE Orders(OrderID INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, CustomerID TEXT, OrderDate DATETIME, Freight NUMERIC DEFAULT 0, Photo BLOB);
        INSERT INTO Orders VALUES(10248,'VINET','2016-07-04 00:00:00',32.38,NULL),(10249,'TOMSP','2016-07-05 10:00:00',11,x'ff');""",
    "spreadsheet": """
        CREATE TABLE sheet(id UUID PRIMARY KEY, name STRING, amount NUMERIC, untyped, cost MONEY, day INTERVAL);
        INSERT INTO sheet VALUES('a-1','Ada','n/a','n/a','12.50','3 days'),('b-2',7,12.5,5,'$5',1.5),('c-3','x',9007199254740993,2.0,x'',''),(4,NULL,NULL,'5',NULL,2);
        CREATE TABLE notes(key PRIMARY KEY, value);
        INSERT INTO notes VALUES(1,1),('1','1'),(1.5,1.5),('1.5','1.5'),('',''),('null','null'),('2.0',2.0);
        CREATE TABLE strict_any(k ANY PRIMARY KEY, v ANY, n INT, t TEXT, b BLOB, r REAL) STRICT;
        INSERT INTO strict_any VALUES(1,'007',5000000000,'x',x'00',1),('1','1e5',-1,'5',x'',2.5),(1.5,1.5,NULL,'',NULL,NULL);""",
}

DECLARED = [
    "", "ANY", "UUID", "STRING", "NUMERIC", "DECIMAL", "DECIMAL(10,2)", "DECIMAL(20,5)", "INTEGER", "INT", "INT UNSIGNED", "TINYINT", "TINYINT(1)", "SMALLINT",
    "MEDIUMINT", "BIGINT", "BIGINT UNSIGNED", "INT8", "BOOLEAN", "BOOL", "REAL", "FLOAT", "DOUBLE", "DOUBLE UNSIGNED", "FLOAT8", "TEXT", "CLOB", "CHAR(5)",
    "VARCHAR(5)", "VARCHAR", "NVARCHAR(5)", "NATIVE CHARACTER(70)", "JSON", "JSONB", "ENUM", "BLOB", "BINARY(4)", "VARBINARY(4)", "BIT", "BIT(8)", "BIT(64)",
    "DATE", "TIME", "TIME(3)", "DATETIME", "DATETIME(3)", "DATETIME(6)", "TIMESTAMP", "TIMESTAMP(6)", "YEAR", "MONEY", "POINT", "INTERVAL", "FLOATING POINT"]
STORED = [
    0, 1, -1, 2, 127, 128, 255, 256, 300, 1901, 2156, 32768, 65536, 2**31, 2**32, 2**53 + 1, 2**63 - 1, -2**63, 1_700_000_000_123,
    0.5, 1.5, -2.5, 0.1, 0.30000000000000004, 12.345, 1e20, 1e300, 5e-324, -0.25, float("inf"), float("-inf"), 2460677.5, 9.3e18, 2.0,
    "", "a", "abc", "abc ", " abc", "abcdefgh", "\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac", "5", "1.50", "007", "1e5", " 1", "-0", ".5", "12345678901234567890",
    "1.23456789012345678", "0x10", "inf", "nan", "null", "true", "t", "AP8=", "AAAA", "a\0b", "\x10", "\x10text:x", "\x10blob:AP8=", "\x10\x10", "a,b", '"', "a\r\nb",
    "2026-01-02", "2026-1-2", "2026-02-30", "12:34", "12:34:56", "12:34:56.5", "12:34:56.123456", "-01:00:00", "2026-01-02 03:04", "2026-01-02 03:04:05",
    "2026-01-02T03:04:05", "2026-01-02 03:04:05.6", "2026-01-02 03:04:05.678", "2026-01-02 03:04:05.678901", "2026-01-02 03:04:05.123456789",
    "2026-01-02 03:04:05.1234567890", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678+02:00", "2026-01-02 03:04:05 +0200", "2026-01-02 03:04:05+25:00",
    "2099-12-31 23:59:59", "1950-01-01 00:00:00", "2026-01-02T03:04:05Zx",
    b"", b"\0\xff", b"abc", b"abcd", b"abcdef", b"\xff" * 8, b"\0" * 7 + b"\1", b"1.5", b"1.50000", b"1e5", b"123", b"12345678901234567890.50000"]


class Digits(str):
    """A number of JSON with a point or an exponent, as it is written."""


def parse(text):
    return json.loads(text, parse_float=Digits)


def dump(document):
    if isinstance(document, Digits):
        return str(document)
    if isinstance(document, dict):
        return "{%s}" % ",".join(f"{json.dumps(name)}:{dump(value)}" for name, value in document.items())
    return "[%s]" % ",".join(map(dump, document)) if isinstance(document, (list, tuple)) else json.dumps(document)


def class_of(value):
    """A value with its storage class, to be compared: a float by its bits."""
    return type(value).__name__, struct.pack(">d", value) if isinstance(value, float) else value


def ask_sqlite(file, query):
    with contextlib.closing(sqlite3.connect(file)) as database:
        # A text that is no UTF-8 stays distinct.
        database.text_factory = lambda text: text.decode(errors="surrogateescape")
        return database.execute(query).fetchall()


def content(file, table, order):
    return [[class_of(each) for each in row] for row in ask_sqlite(file, f'SELECT * FROM "{table}" ORDER BY {order}')]


def tables_of(file):
    return [name for name, in ask_sqlite(file, "SELECT name FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")]


def untagged(told):
    name, _, text = told[1:].partition(":")
    return {"integer": int, "real": float, "text": str, "blob": base64.b64decode,
            "text-base64": lambda each: base64.b64decode(each).decode(errors="surrogateescape")}[name](text)


def is_told(told, stored, declared):
    """Whether this is how JSON tells what is stored, in a column whose type is `declared` in the schema."""
    if has_tag(told):
        return class_of(untagged(told)) == class_of(stored)
    if isinstance(told, (int, Digits)):
        if isinstance(stored, bytes):  # more digits than SQLite's numbers have
            return declared.startswith(("DECIMAL", "BIGINT")) and str(told) in (stored.decode(errors="replace"), str(int.from_bytes(stored, "big")))
        is_same_class = declared != "ANY" or isinstance(told, int) == isinstance(stored, int)
        return is_same_class and (told == stored if isinstance(told, int) else float(told) == stored)
    if not isinstance(told, str) or isinstance(stored, str):
        return told == stored
    if declared.startswith("BIT"):
        number = int.from_bytes(base64.b64decode(told), "big")
        return stored in (number, number.to_bytes(8, "big"))
    if "BINARY" in declared or declared == "BLOB":
        return base64.b64decode(told, validate=True) == stored
    # Where SQLite would make a number of a text: an integer that is written so, and else bytes.
    return declared in ("TEXT", "ANY") and stored == (told.encode() if isinstance(stored, bytes) else int(told))


def has_tag(value):
    return isinstance(value, str) and value.startswith(MARK)


class Foreign:
    """A folder with one database of others, served."""

    def __init__(self, weftd, run_weftd, folder, database):
        self.run_weftd, self.folder, self.database = run_weftd, folder, database
        self.file = folder / f"{database}.db"
        self.server = Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", *sqlite_arguments(folder)])

    def __enter__(self):
        self.server.__enter__()
        self.client = RowClient(self.server)
        status, text = self.client.ask("schema", "", method="GET")
        assert status == 200, text
        database, = json.loads(text)["databases"]
        self.tables = {each["name"]: each for each in database["tables"]}
        return self

    def __exit__(self, *failed):
        self.client.connection.close()
        if failed[0] is None:
            assert self.server.stop() == 0, self.server.log
        self.server.__exit__(*failed)

    def ask(self, path, document, version="0.1.0"):
        status, text = self.client.ask(path, dump(document), version)
        assert status == 200, (path, text)
        return parse(text)

    def scan(self, table):
        rows, asked = [], {"limit": 1000}
        while True:
            answer = self.ask(f"{self.database}/{table}/scan", asked)
            rows += answer["data"]
            if "continuation" not in answer:
                return rows
            asked["continuation"] = answer["continuation"]

    def check(self, table):
        """All that is promised of a row, of each row of the table. Gives what a scan tells."""
        order = ", ".join(f'"{name}"' for name in self.tables[table]["key"])
        before = content(self.file, table, order)
        rows = self.scan(table)
        self.check_told(table, rows, ask_sqlite(self.file, f'SELECT * FROM "{table}" ORDER BY {order}'))
        self.check_keys(table, rows)
        self.check_writes(table, rows)
        assert content(self.file, table, order) == before, f"{table}: written again"
        for form in ("csv", "jsonl"):
            self.check_copy(table, form, order, before)
        return rows

    def check_told(self, table, rows, stored):
        types = {each["name"]: each["type"] for each in self.tables[table]["columns"]}
        assert len(rows) == len(stored), table
        for row, values in zip(rows, stored):
            for (name, told), value in zip(row.items(), values):
                assert is_told(told, value, types[name]), (table, name, told, value)

    def key_of(self, table, row):
        return given(**{name: row[name] for name in self.tables[table]["key"]})

    def values_of(self, table, row):
        return {name: value for name, value in row.items() if name not in self.tables[table]["key"]}

    def read_of(self, table, row):
        return {"filters": self.key_of(table, row), "readColumns": named(*self.values_of(table, row))}

    def check_keys(self, table, rows):
        url = f"{self.database}/{table}"
        for version in VERSIONS:
            for first in range(0, len(rows), BATCH):
                part = rows[first:first + BATCH]
                answers = self.ask("batch", {"operations": [operation(f"{url}/pk-read", self.read_of(table, row)) for row in part]}, version)
                for row, answer in zip(part, answers["result"]):
                    assert (answer["code"], answer["body"]["data"]) == (200, self.values_of(table, row)), (table, row, answer)
        for row in rows[-3:]:
            assert self.ask(f"{url}/pk-read", self.read_of(table, row))["data"] == self.values_of(table, row)
            name = self.tables[table]["key"][0]
            found = self.ask(f"{url}/scan", {"limit": 9, "filters": {"op": "CMP", "column": name, "cond": "EQ", "value": row[name]}})
            assert row in found["data"]

    def check_writes(self, table, rows):
        for first in range(0, len(rows), BATCH):
            part = rows[first:first + BATCH]
            answers = self.ask("batchwrite", {"operations": [operation(f"{self.database}/{table}/pk-write", {
                "filters": self.key_of(table, row), "writeColumns": given(**self.values_of(table, row))}) for row in part]}, "0.2.0")
            for row, answer in zip(part, answers["result"], strict=True):
                assert answer["code"] == 200, (table, row, answer)

    def check_copy(self, table, form, order, before):
        rows, copy = self.folder / f"rows.{form}", self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        definition, = ask_sqlite(self.file, f"SELECT sql FROM sqlite_schema WHERE name='{table}'")[0]
        with contextlib.closing(sqlite3.connect(copy / self.file.name)) as database:
            database.execute(definition)
        name = f"{self.database}.{table}"
        done = self.run_weftd("export", "--data", self.folder, "--table", name, "--output", rows, "--format", form)
        assert done.returncode == 0, (table, done.stderr)
        done = self.run_weftd("import", rows, "--data", copy, "--table", name, "--format", form)
        assert done.returncode == 0, (table, done.stderr)
        assert content(copy / self.file.name, table, order) == before, (table, form)
        rows.unlink()


def serve(weftd, run_weftd, tmp_path, name):
    return Foreign(weftd, run_weftd, tmp_path / "data", name)


def check_all(foreign):
    """What of it is told with a tag, since its type does not have it: (table, column)."""
    tagged = {}
    for table in tables_of(foreign.file):
        for row in foreign.check(table):
            tagged |= {(table, name): value for name, value in row.items() if has_tag(value)}
    return tagged


@pytest.fixture
def data(tmp_path):
    made = tmp_path / "data"
    made.mkdir()
    return made


@pytest.mark.parametrize("mapper", ["sqlalchemy", "django", "peewee", "knex"])
def test_what_object_mappers_write(weftd, run_weftd, data, tmp_path, mapper):
    program = [TOOLS / "bin/python", WRITERS / f"write_by_{mapper}.py"] if mapper != "knex" else ["node", WRITERS / "write_by_knex.js"]
    if not (TOOLS / "installed").exists():
        pytest.skip("tools/setup could not install the object mappers")
    subprocess.run([*map(str, program), data / f"{mapper}.db"], check=True, timeout=100, env={**os.environ, "NODE_MODULES": str(TOOLS / "node_modules")})
    with serve(weftd, run_weftd, tmp_path, mapper) as foreign:
        tagged = check_all(foreign)
    assert not tagged


@pytest.mark.parametrize("program", BY_HAND)
def test_what_other_programs_write(weftd, run_weftd, data, tmp_path, program):
    with contextlib.closing(sqlite3.connect(data / f"{program}.db")) as database:
        database.executescript(BY_HAND[program])
    with serve(weftd, run_weftd, tmp_path, program) as foreign:
        tagged = check_all(foreign)
    expected = {("users", "at")} if program == "rails" else {("sheet", "cost")} if program == "spreadsheet" else set()
    assert set(tagged) == expected, tagged


@pytest.mark.parametrize("declared", DECLARED)
def test_each_class_of_value_in_each_type(weftd, run_weftd, data, tmp_path, declared):
    with contextlib.closing(sqlite3.connect(data / "any.db")) as database:
        rowid = " WITHOUT ROWID" if len(declared) % 2 else ""
        database.execute(f"CREATE TABLE keyed(k {declared} PRIMARY KEY, v {declared}){rowid}")
        database.execute(f"CREATE TABLE content(id INT PRIMARY KEY, v {declared})")
        for i, value in enumerate(STORED):
            database.execute("INSERT INTO content VALUES(?, ?)", (i, value))
            with contextlib.suppress(sqlite3.IntegrityError):  # it is there already, or no number of a row
                database.execute("INSERT INTO keyed VALUES(?, ?)", (value, value))
        for i, text in enumerate(("ff", "61c3", "10ff", "2032ff")):
            database.execute(f"INSERT INTO content VALUES({1000 + i}, CAST(x'{text}' AS TEXT))")
            with contextlib.suppress(sqlite3.IntegrityError):
                database.execute(f"INSERT INTO keyed VALUES(CAST(x'{text}' AS TEXT), 1)")
        database.commit()
    with serve(weftd, run_weftd, tmp_path, "any") as foreign:
        foreign.check("keyed")
        foreign.check("content")


def test_a_tag_that_is_none_is_refused(weftd, run_weftd, data, tmp_path):
    with contextlib.closing(sqlite3.connect(data / "any.db")) as database:
        database.execute("CREATE TABLE t(k TEXT PRIMARY KEY, v INT)")
    with serve(weftd, run_weftd, tmp_path, "any") as foreign:
        for text in ("", "x", "integer:", "integer:1.5", "integer:9223372036854775808", "integer:+1", "integer:01", "real:", "real:nan", "real:x", "blob:AP8", "blob",
                     "text", "text-base64:?", "Text:x"):
            status, told = foreign.client.fault("any/t/pk-read", {"filters": given(k=MARK + text)})
            assert status == 400 and told.startswith("Invalid column data. Behind U+0010 comes ") and told.endswith("Column: k"), (text, told)
