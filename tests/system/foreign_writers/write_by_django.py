"""Writes a database with each field that Django has: write_by_django.py FILE"""

import datetime
import decimal
import sys
import uuid

import django
from django.conf import settings

settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[1]}}, USE_TZ=True,
                   DEFAULT_AUTO_FIELD="django.db.models.BigAutoField")
django.setup()

from django.db import connection, models  # noqa: E402, as Django wants it

UTC = datetime.timezone.utc
VALUES = {
    "big": (models.BigIntegerField, {}, [2**53 + 1, -(2**63), 2**63 - 1]),
    "natural": (models.PositiveIntegerField, {}, [0, 2147483647, 5]),
    "flag": (models.BooleanField, {}, [True, False, True]),
    "data": (models.BinaryField, {}, [b"\0\xff", b"", b"text"]),
    "short": (models.CharField, {"max_length": 20}, ["Ada", "", "\u20ac '\""]),
    "born": (models.DateField, {}, [datetime.date(1815, 12, 10), datetime.date(2, 2, 2), datetime.date(9999, 12, 31)]),
    "seen": (models.DateTimeField, {}, [datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, UTC), datetime.datetime(1969, 12, 31, tzinfo=UTC),
                                        datetime.datetime(2026, 1, 2, 3, 4, 5, 600000, UTC)]),
    "price": (models.DecimalField, {"max_digits": 30, "decimal_places": 10}, [decimal.Decimal("12.5"), decimal.Decimal("-0.1"), decimal.Decimal(7)]),
    "span": (models.DurationField, {}, [datetime.timedelta(days=-3), datetime.timedelta(seconds=1.5), datetime.timedelta(0)]),
    "mail": (models.EmailField, {}, ["a@x", "b@x", ""]),
    "rate": (models.FloatField, {}, [0.1, 1e300, 2.0]),
    "address": (models.GenericIPAddressField, {}, ["::1", "127.0.0.1", "2001:db8::1"]),
    "document": (models.JSONField, {}, [{"a": [1, None]}, 12, "text"]),
    "slug": (models.SlugField, {}, ["123", "a-b", "1e5"]),
    "small": (models.SmallIntegerField, {}, [-32768, 0, 32767]),
    "note": (models.TextField, {}, ["", "x" * 5000, "line\r\nline"]),
    "at": (models.TimeField, {}, [datetime.time(12, 34, 56), datetime.time(0, 0, 0, 1), datetime.time(23, 59)]),
    "other": (models.UUIDField, {}, [uuid.UUID(int=1), uuid.UUID("550e8400-e29b-41d4-a716-446655440000"), uuid.UUID(int=2**128 - 1)]),
}
KEYS = ("big", "short", "born", "seen", "price", "rate", "at", "other", "address")


def model(name, fields):
    meta = type("Meta", (), {"app_label": "foreign", "db_table": name})
    return type(name, (models.Model,), {"__module__": __name__, "Meta": meta, **fields})


everything = model("everything", {name: made(null=True, **how) for name, (made, how, _) in VALUES.items()})
keyed = {name: model(f"by_{name}", {"id": VALUES[name][0](primary_key=True, **VALUES[name][1]), "note": models.TextField()}) for name in KEYS}
with connection.schema_editor() as editor:
    for each in (everything, *keyed.values()):
        editor.create_model(each)
for i in range(3):
    everything.objects.create(**{name: values[i] for name, (_, _, values) in VALUES.items()})
    for name, made in keyed.items():
        made.objects.create(id=VALUES[name][2][i], note=str(i))
everything.objects.create()
