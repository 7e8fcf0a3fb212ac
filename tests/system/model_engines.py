"""What the model's tables are in each engine, and how that engine is asked without weftd.

A value is a triple, as in row_model: what is sent, the JSON that is told, and what the model takes it for, whose order is
the engine's.
"""

import json
import re
import sqlite3
import struct
from contextlib import closing
from decimal import Decimal

from row_engines import BYTES, CHARACTERS, sql_literal, sqlite_arguments
from test_row_types import TYPES, declared_in, is_key, told_of, types_of


def quoted(name, mark):
    return mark + name.replace(mark, mark * 2) + mark


class Sqlite:
    name = "sqlite"
    mark = '"'
    types = types_of("sqlite")
    key_types = [each for each in types if each.key and "(256)" not in each.declared]
    indexed = staticmethod(lambda declared: True)

    def __init__(self, folder):
        self.folder, self.files = folder, {}
        self.arguments = sqlite_arguments(folder)

    def value(self, kind, sent, told, kept):
        return sent, told_of(sent, told), kept

    def declared(self, kind):
        return kind.declared

    def literal(self, declared, value):
        kept = value[2]
        if isinstance(kept, bytes):
            return f"x'{kept.hex()}'"
        return repr(kept) if not isinstance(kept, str) else "CAST(x'%s' AS TEXT)" % kept.encode().hex()

    def table_end(self, rowid):
        return "" if rowid else " WITHOUT ROWID"

    def make(self, database, statements):
        file = self.files[database] = sqlite3.connect(self.folder / f"{database}.db", isolation_level=None)
        file.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF")
        file.execute("BEGIN")
        for each in statements:
            file.execute(each)
        file.execute("COMMIT")

    def run(self, database, text, values):
        """`{}` in the text stands for a value, as (declared, value). How many rows it changed."""
        return self.files[database].execute(text.format(*"?" * len(values)), [value[2] for _, value in values]).rowcount

    def count(self, database, table, where, values):
        text = f"SELECT count(*) FROM {table} WHERE {where.format(*'?' * len(values))}"
        return self.files[database].execute(text, [value[2] for _, value in values]).fetchone()[0]

    def has_just(self, database, table, columns, rows):
        names = ",".join(quoted(each.name, self.mark) for each in columns)
        kept = sorted(repr(row) for row in self.files[database].execute(f"SELECT {names} FROM {table}"))
        return kept == sorted(repr(tuple(value[2] for value in row)) for row in rows)

    def end(self):
        for file in self.files.values():
            with closing(file):
                told = [line for line, in file.execute("PRAGMA integrity_check(1000000)")]
                # SQLite 3.40 says the others of tables WITHOUT ROWID whose key has another order than their columns.
                assert [line for line in told if not line.startswith(("ok", "NULL value in t", "TEXT value in t"))] == []


class Mariadb:
    name = "mariadb"
    mark = "`"
    types = [each for each in TYPES if declared_in("mariadb", each)]
    key_types = [each for each in types if is_key("mariadb", each) and "(256)" not in each.declared]

    def __init__(self, server):
        self.ask, self.arguments = server.client.ask, server.arguments

    @staticmethod
    def indexed(declared):
        return declared not in ("TEXT", "BLOB")

    def value(self, kind, sent, told, kept):
        told = told_of(sent, told)
        return sent, told, self.rank(kind.declared, told)

    @staticmethod
    def rank(declared, told):
        """What the order of such values is that of."""
        if not told.startswith('"'):
            return float(told) if declared.startswith(("FLOAT", "DOUBLE")) else Decimal(told)
        literal = sql_literal(declared, told)
        if declared.startswith("BIT"):
            return int(literal)
        if declared.startswith(BYTES):
            return bytes.fromhex(literal[2:-1])
        text = json.loads(told)
        if not re.fullmatch(r"TIME(\(\d\))?", declared):
            return text
        hours, minutes, seconds = text.lstrip("-").split(":")
        return (int(hours) * 3600 + int(minutes) * 60 + Decimal(seconds)) * (-1 if text.startswith("-") else 1)

    def declared(self, kind):
        return declared_in("mariadb", kind)

    def literal(self, declared, value):
        told = value[1]
        if told == "null":
            return told
        if declared.startswith("FLOAT"):
            told = repr(struct.unpack("f", struct.pack("f", float(told)))[0])
        if declared.startswith(("FLOAT", "DOUBLE")):
            return told if "e" in told else told + "e0"
        return sql_literal(declared, told)

    def table_end(self, rowid):
        return ""

    def make(self, database, statements):
        self.ask(f"CREATE DATABASE {database} {CHARACTERS}")
        self.ask(f"USE {database}")
        for each in statements:
            self.ask(each)

    def filled(self, text, values):
        return text.format(*[self.literal(declared, value) for declared, value in values])

    def run(self, database, text, values):
        return int(self.ask(f"USE {database}; {self.filled(text, values)}; SELECT ROW_COUNT()")[0][0])

    def count(self, database, table, where, values):
        return int(self.ask(f"SELECT COUNT(*) FROM {database}.{table} WHERE {self.filled(where, values)}")[0][0])

    def has_just(self, database, table, columns, rows):
        parts = [f"SELECT COUNT(*) FROM {database}.{table}"]
        for row in rows:
            same = " AND ".join(f"{quoted(of.name, self.mark)} <=> {self.literal(of.declared, value)}" for of, value in zip(columns, row))
            parts.append(f"SELECT COUNT(*) FROM {database}.{table} WHERE {same}")
        return [int(count) for count, in self.ask(" UNION ALL ".join(parts))] == [len(rows)] + [1] * len(rows)

    def end(self):
        pass
