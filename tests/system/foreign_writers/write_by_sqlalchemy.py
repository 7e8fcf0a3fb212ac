"""Writes a database with each type that SQLAlchemy has: write_by_sqlalchemy.py FILE"""

import datetime
import decimal
import enum
import sys
import uuid

import sqlalchemy as sa
from sqlalchemy import orm


class Colour(enum.Enum):
    RED = 1
    DARK_GREEN = 2


class Base(orm.DeclarativeBase):
    pass


VALUES = {
    "big": (sa.BigInteger, [2**53 + 1, -(2**63), 2**63 - 1]),
    "small": (sa.SmallInteger, [-32768, 0, 32767]),
    "whole": (sa.Integer, [-(2**31), 0, 2**53 + 1]),
    "flag": (sa.Boolean, [True, False, True]),
    "born": (sa.Date, [datetime.date(1815, 12, 10), datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
    "seen": (sa.DateTime, [datetime.datetime(2026, 1, 2, 3, 4, 5, 678901), datetime.datetime(1969, 12, 31), datetime.datetime(2026, 1, 2, 3, 4, 5)]),
    "at": (sa.Time, [datetime.time(12, 34, 56), datetime.time(0, 0, 0, 1), datetime.time(23, 59, 59, 999999)]),
    "span": (sa.Interval, [datetime.timedelta(days=-3), datetime.timedelta(seconds=1.5), datetime.timedelta(0)]),
    "price": (sa.Numeric(10, 2), [decimal.Decimal("12.50"), decimal.Decimal("-0.01"), decimal.Decimal("99999999.99")]),
    "rate": (sa.Float, [0.1, 1e300, -2.5]),
    "exact": (sa.Double, [0.30000000000000004, 5e-324, 2.0]),
    "name": (sa.String(50), ["Ada", "", "\u20ac\U0001f600 'x' \"y\"\r\n\t"]),
    "note": (sa.Text, ["null", "123", "x" * 5000]),
    "title": (sa.Unicode(20), ["1e5", " blanks ", "007"]),
    "colour": (sa.Enum(Colour), [Colour.RED, Colour.DARK_GREEN, Colour.RED]),
    "data": (sa.LargeBinary, [b"\0\xff", b"", bytes(range(256))]),
    "kept": (sa.PickleType, [{"a": 1}, [1, 2], None]),
    "document": (sa.JSON, [{"a": [1, None]}, [], "text"]),
    "other": (sa.Uuid, [uuid.UUID(int=1), uuid.UUID("550e8400-e29b-41d4-a716-446655440000"), uuid.UUID(int=2**128 - 1)]),
}
KEYS = {"big": sa.BigInteger, "born": sa.Date, "seen": sa.DateTime, "at": sa.Time, "price": sa.Numeric(10, 2), "rate": sa.Float,
        "name": sa.String(50), "data": sa.LargeBinary, "other": sa.Uuid}


def main(file):
    engine = sa.create_engine(f"sqlite:///{file}")
    columns = {name: orm.mapped_column(made, nullable=True) for name, (made, _) in VALUES.items()}
    everything = type("Everything", (Base,), {"__tablename__": "everything", "id": orm.mapped_column(sa.Integer, primary_key=True), **columns})
    keyed = {name: type(f"By{name}", (Base,), {"__tablename__": f"by_{name}", "id": orm.mapped_column(made, primary_key=True, autoincrement=False),
                                               "note": orm.mapped_column(sa.Text)}) for name, made in KEYS.items()}
    Base.metadata.create_all(engine)
    with orm.Session(engine) as session:
        for i in range(3):
            session.add(everything(id=i + 1, **{name: values[i] for name, (_, values) in VALUES.items()}))
            for name, made in keyed.items():
                session.add(made(id=VALUES[name][1][i], note=str(i)))
        session.add(everything(id=4))
        session.commit()


main(sys.argv[1])
