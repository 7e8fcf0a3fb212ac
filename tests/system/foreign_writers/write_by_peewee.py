"""Writes a database with each field that peewee has: write_by_peewee.py FILE"""

import datetime
import decimal
import sys
import uuid

import peewee

database = peewee.SqliteDatabase(sys.argv[1])
VALUES = {
    "big": (peewee.BigIntegerField, {}, [2**53 + 1, -(2**63), 2**63 - 1]),
    "small": (peewee.SmallIntegerField, {}, [-32768, 0, 32767]),
    "flag": (peewee.BooleanField, {}, [True, False, True]),
    "name": (peewee.CharField, {"max_length": 20}, ["Ada", "", "\u20ac"]),
    "code": (peewee.FixedCharField, {"max_length": 3}, ["abc", "d", ""]),
    "note": (peewee.TextField, {}, ["1", "x" * 300, "a\r\nb"]),
    "data": (peewee.BlobField, {}, [b"\0\xff", b"", b"text"]),
    "rate": (peewee.FloatField, {}, [0.1, 1e300, 2.0]),
    "exact": (peewee.DoubleField, {}, [0.1, 5e-324, 2.0]),
    "price": (peewee.DecimalField, {"max_digits": 10, "decimal_places": 2}, [decimal.Decimal("12.50"), decimal.Decimal("-0.01"), decimal.Decimal(7)]),
    "other": (peewee.UUIDField, {}, [uuid.UUID(int=1), uuid.UUID("550e8400-e29b-41d4-a716-446655440000"), uuid.UUID(int=2**128 - 1)]),
    "other_bytes": (peewee.BinaryUUIDField, {}, [uuid.UUID(int=1), uuid.UUID(int=2), uuid.UUID(int=2**128 - 1)]),
    "born": (peewee.DateField, {}, [datetime.date(1815, 12, 10), datetime.date(2, 2, 2), datetime.date(9999, 12, 31)]),
    "seen": (peewee.DateTimeField, {}, [datetime.datetime(2026, 1, 2, 3, 4, 5, 678901), datetime.datetime(1969, 12, 31), datetime.datetime(2026, 1, 2, 3, 4, 5)]),
    "at": (peewee.TimeField, {}, [datetime.time(12, 34, 56), datetime.time(0, 0, 0, 1), datetime.time(23, 59)]),
    "stamp": (peewee.TimestampField, {}, [0, 1_700_000_000, 2**31]),
    "address": (peewee.IPField, {}, ["127.0.0.1", "255.255.255.255", "0.0.0.0"]),
    "bare": (peewee.BareField, {}, [5, "5", 5.5]),
}
KEYS = ("big", "name", "code", "data", "rate", "price", "other", "other_bytes", "born", "seen", "at", "bare")


def model(name, fields):
    meta = type("Meta", (), {"database": database, "table_name": name})
    return type(name, (peewee.Model,), {"Meta": meta, **fields})


everything = model("everything", {name: made(null=True, **how) for name, (made, how, _) in VALUES.items()})
keyed = {name: model(f"by_{name}", {"id": VALUES[name][0](primary_key=True, **VALUES[name][1]), "note": peewee.TextField()}) for name in KEYS}
database.create_tables([everything, *keyed.values()])
for i in range(3):
    everything.create(**{name: values[i] for name, (_, _, values) in VALUES.items()})
    for name, made in keyed.items():
        made.create(id=VALUES[name][2][i], note=str(i))
everything.insert({everything.stamp: None}).execute()
