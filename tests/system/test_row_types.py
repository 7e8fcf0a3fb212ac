"""Each type of the table of types, through weftd: what is taken, how it is told, how it is kept, and what is refused."""

import base64
import json
import sqlite3
from dataclasses import dataclass, field, replace

import pytest
from row_client import VERSIONS, RowClient, given, named, operation
from row_engines import CHARACTERS, ENGINES, mariadb, sql_literal, sqlite_arguments, sqlite_rows
from weft_process import Server


def b64(content):
    return base64.b64encode(content).decode()


def whole(bits, signed):
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    taken = [(each, str(each), each) for each in (low, high, 0, 1)]
    taken += [("17", "17", 17), (str(high), str(high), high), (str(low), str(low), low)]
    refused = [low - 1, high + 1, str(high + 1), 1.5, "1.5", "x", "", " 1", "0x1", True, [], "1e1", 1e30]
    return taken, refused + ([] if signed else [-1, "-1"])


@dataclass
class Type:
    """A declared type: `taken` is (what is sent, the JSON that is told, what sqlite3 finds), `refused` what is not taken."""

    declared: str
    taken: list
    refused: list
    words: str
    key: bool = True
    other_words: dict = field(default_factory=dict)  # of some that are refused
    same: list = field(default_factory=list)         # (one way to say a value, another)

    def __str__(self):
        return self.declared


def integers():
    for name, bits in (("TINYINT", 8), ("SMALLINT", 16), ("MEDIUMINT", 24), ("INT", 32), ("BIGINT", 64)):
        for signed in (True, False):
            taken, refused = whole(bits, signed)
            if bits == 64 and not signed:  # beyond SQLite's integers: eight bytes
                taken = [(sent, told, kept.to_bytes(8, "big") if kept >= 1 << 63 else kept) for sent, told, kept in taken]
            declared = name if signed else f"{name} UNSIGNED"
            yield Type(declared, taken, refused, f"Wrong data type. Expecting {declared}.", same=[(1, "1"), (0, "-0")])


ESCAPED = 'a"b\\c/\n\r\t\x01\x7f\u00e9\u20ac\U0001f600'
TYPES = [
    *integers(),
    Type("FLOAT", [(0.5, "0.5", 0.5), ("0.1", "0.1", 0.10000000149011612), (3.4e38, "3.4e+38", 3.3999999521443642e38),
                   (-2, "-2", -2.0), (0, "0", 0.0)],
         ["x", "", 1e39, "inf", "nan", True, "1e400"], "Wrong data type. Expecting FLOAT.", key=False),
    Type("DOUBLE", [(0.1, "0.1", 0.1), ("1e308", "1e+308", 1e308), (-1.5, "-1.5", -1.5), (5e-324, "5e-324", 5e-324),
                    (9007199254740993, "9007199254740992", 9007199254740992.0)],
         ["x", "", "1e309", "inf", "nan", False], "Wrong data type. Expecting DOUBLE.", key=False),
    Type("DOUBLE UNSIGNED", [(0.25, "0.25", 0.25)], [-0.5, "-1"], "Wrong data type. Expecting DOUBLE UNSIGNED.", key=False),
    Type("DECIMAL(10,2)", [("12.50", "12.50", 12.5), (99999999.99, "99999999.99", 99999999.99), (-99999999.99, "-99999999.99", -99999999.99),
                           (0, "0.00", 0), ("-0.00", "0.00", 0), (1.5e1, "15.00", 15), ("1e3", "1000.00", 1000), ("7.1", "7.10", 7.1)],
         ["100000000", "1.005", "x", "", "1e9", "--1", True], "Wrong data type. Expecting DECIMAL(10,2).",
         same=[("12.5", 12.50), ("1250e-2", 12.5)]),
    Type("UNSIGNED DECIMAL(5,0)", [(99999, "99999", 99999), ("0", "0", 0)], [100000, -1, "0.5"],
         "Wrong data type. Expecting DECIMAL(5,0) UNSIGNED."),
    Type("DECIMAL(65,30)", [("12345678901234567890123456789012345.123456789012345678901234567890",) * 2 +
                            (b"12345678901234567890123456789012345.123456789012345678901234567890",),
                            ("-1.5", "-1." + "5".ljust(30, "0"), b"-1." + b"5".ljust(30, b"0"))],
         ["1" + "0" * 35, "1e-31"], "Wrong data type. Expecting DECIMAL(65,30)."),
    Type("NUMERIC", [("1.25", "1.25", 1.25), (9223372036854775807, "9223372036854775807", 9223372036854775807),
                     ("1.23456789012345678", "1.23456789012345678", b"1.23456789012345678"), (0.1, "0.1", 0.1),
                     ("123456789012345678901234567890", "123456789012345678901234567890", b"123456789012345678901234567890"),
                     ("0.30000000000000004", "0.30000000000000004", 0.30000000000000004), (-3, "-3", -3)],
         ["x", "1e2000"], "Wrong data type. Expecting DECIMAL.", same=[("1.50", "1.5")]),
    Type("CHAR(10)", [("abc", '"abc"', "abc"), ("abc   ", '"abc"', "abc"), (" x", '" x"', " x"), ("", '""', ""), ("\u20ac" * 10, None, "\u20ac" * 10)],
         ["\u20ac" * 11, 5, True], "Wrong data type. Expecting CHAR.", same=[("abc", "abc  ")],
         other_words={"\u20ac" * 11: "Invalid column data. The value is longer than the column, which has 10 characters."}),
    Type("VARCHAR(50)", [(ESCAPED, '"a\\"b\\\\c/\\n\\r\\t\\u0001\x7f\u00e9\u20ac\U0001f600"', ESCAPED), ("trailing  ", '"trailing  "', "trailing  "),
                         ("123", '"123"', "123"), ("\u00e9" * 50, None, "\u00e9" * 50), ("\0 inside", '"\\u0000 inside"', "\0 inside")],
         ["x" * 51, 1, [1], {}], "Wrong data type. Expecting VARCHAR.",
         other_words={"x" * 51: "Invalid column data. The value is longer than the column, which has 50 characters."}),
    Type("VARCHAR(256)", [("x" * 256, None, "x" * 256), ("\u043f" * 256, None, "\u043f" * 256)], ["x" * 257], "Invalid column data."),
    Type("TEXT", [("", '""', ""), ("x" * 20_000, None, "x" * 20_000), ("1e5", '"1e5"', "1e5")], [1, False], "Wrong data type. Expecting TEXT."),
    Type("JSON", [('{"a": [1]}', None, '{"a": [1]}'), ("123", '"123"', 123), ("1e5", '"1e5"', b"1e5"), (" 1", '" 1"', b" 1"),
                  ("12345678901234567890", '"12345678901234567890"', b"12345678901234567890"), ("-0", '"-0"', b"-0"), (".5", '".5"', b".5"),
                  ("2026-01-02", '"2026-01-02"', "2026-01-02"), ("", '""', "")], [1], "Wrong data type. Expecting TEXT."),
    Type("BINARY(5)", [(b64(b"\0\xff"), f'"{b64(bytes([0, 255, 0, 0, 0]))}"', bytes([0, 255, 0, 0, 0])), (b64(b"12345"), None, b"12345")],
         [b64(b"123456"), "x", "====", 5], "Invalid column data. Expecting Base64, padded with \"=\".", same=[(b64(b"a"), b64(b"a\0"))],
         other_words={b64(b"123456"): "Invalid column data. The value is longer than the column, which has 5 bytes.",
                      5: "Wrong data type. Expecting BINARY."}),
    Type("VARBINARY(100)", [(b64(bytes(range(100))), None, bytes(range(100))), ("", '""', b"")], [b64(bytes(101)), "AA=A", "A===", "AA", "\u00e9"],
         "Invalid column data.", other_words={"AA": "Invalid column data. Expecting Base64, padded with \"=\"."}),
    Type("BLOB", [(b64(bytes(range(256)) * 20), None, bytes(range(256)) * 20), ("", '""', b"")], ["-_-_", 1.5], "Invalid column data. Expecting Base64",
         key=False, other_words={1.5: "Wrong data type. Expecting BLOB."}),
    Type("BIT(1)", [(b64(b"\1"), '"AQ=="', 1), (b64(b"\0"), '"AA=="', 0), ("", '"AA=="', 0)], [b64(b"\2"), b64(b"\0\1")],
         "Invalid column data. The value is longer than the column, which has 1 bits."),
    Type("BIT(31)", [(b64(b"\x7f\xff\xff\xff"), None, 2147483647), (b64(b"\1"), f'"{b64(bytes([0, 0, 0, 1]))}"', 1)],
         [b64(b"\x80\0\0\0"), 5, "?"], "Invalid column data.", other_words={5: "Wrong data type. Expecting BIT."},
         same=[(b64(b"\1"), b64(b"\0\0\1"))]),
    Type("BIT(64)", [(b64(b"\xff" * 8), None, b"\xff" * 8), (b64(b"\x7f" + b"\xff" * 7), None, (1 << 63) - 1)], [b64(bytes(9))], "Invalid column data."),
    Type("DATE", [("2024-02-29", '"2024-02-29"', "2024-02-29"), ("9999-12-31", None, "9999-12-31"), ("0001-1-1", '"0001-01-01"', "0001-01-01"),
                  ("2024-02-29 23:59:59", '"2024-02-29"', "2024-02-29")],
         ["2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-04-31", "24-01-01", "2024-01-01x", "", "12:00:00", 20240101],
         "Invalid Date/Time. Expecting DATE.", other_words={20240101: "Wrong data type. Expecting DATE."}, same=[("2024-3-1", "2024-03-01")]),
    Type("TIME", [("12:00:01", None, "12:00:01"), ("-838:59:59", None, "-838:59:59"), ("838:59:59", None, "838:59:59"), ("1:02", '"01:02:00"', "01:02:00"),
                  ("12:00:01.999", '"12:00:01"', "12:00:01"), ("-00:00:00", '"00:00:00"', "00:00:00")],
         ["839:00:00", "12:60:00", "12:00:60", "12", "x", "", "12:00:"], "Invalid Date/Time. Expecting TIME."),
    Type("TIME(3)", [("12:00:01.9999", '"12:00:01.999"', "12:00:01.999"), ("12:00:01", '"12:00:01.000"', "12:00:01.000")], ["12:00:01."], "Invalid Date/Time."),
    *[Type(f"DATETIME({digits})" if digits else "DATETIME", [
        ("2026-01-02 03:04:05.678901234", f'"{kept}"', kept), ("2026-01-02T03:04:05.678901", f'"{kept}"', kept),
        ("9999-12-31", f'"{midnight}"', midnight)], ["2026-01-02 24:00:00", "2026-02-30 00:00:00", "2026-01-02 03:04:05Z", "x"],
        "Invalid Date/Time. Expecting DATETIME.", same=[("2026-01-02", "2026-01-02T00:00")])
      for digits, kept, midnight in ((0, "2026-01-02 03:04:05", "9999-12-31 00:00:00"), (3, "2026-01-02 03:04:05.678", "9999-12-31 00:00:00.000"),
                                     (6, "2026-01-02 03:04:05.678901", "9999-12-31 00:00:00.000000"))],
    Type("TIMESTAMP", [("1970-01-01 00:00:01", None, "1970-01-01 00:00:01"), ("2038-01-19 03:14:07", None, "2038-01-19 03:14:07"),
                       ("2038-01-19 03:14:07.9", '"2038-01-19 03:14:07"', "2038-01-19 03:14:07")],
         ["1970-01-01 00:00:00", "2038-01-19 03:14:08", "1969-12-31"], "Invalid Date/Time. Expecting TIMESTAMP."),
    Type("TIMESTAMP(6)", [("2026-01-02 03:04:05.5", '"2026-01-02 03:04:05.500000"', "2026-01-02 03:04:05.500000")], ["2026-01-02 03:04:05.5x"], "Invalid Date/Time."),
    Type("YEAR", [(1901, "1901", 1901), (2155, "2155", 2155), ("1999", "1999", 1999)], [1900, 2156, 0, "99", 19.5, "x"], "Wrong data type. Expecting YEAR."),
    Type("BOOLEAN", [(1, "1", 1), (0, "0", 0)], [True, 128], "Wrong data type. Expecting TINYINT."),
    Type("INTEGER", [((1 << 63) - 1, str((1 << 63) - 1), (1 << 63) - 1), (-(1 << 63), str(-(1 << 63)), -(1 << 63))], [1 << 63], "Wrong data type. Expecting BIGINT."),
]


# SQLite keeps values of any class in any column, of which these types take more than MySQL's (docs/store.md): days and times as they
# are written, reals of 64 bits, texts that are no numbers. Each can be a key.
IN_SQLITE = {
    "FLOAT": {"taken": [(0.5, "0.5", 0.5), ("0.1", "0.1", 0.1), (1e300, "1e+300", 1e300), (-2, "-2", -2.0), (0, "0", 0.0)],
              "refused": ["x", "", "inf", "nan", True, "1e400"], "words": "Wrong data type. Expecting DOUBLE.", "key": True},
    "DOUBLE": {"key": True},
    "DOUBLE UNSIGNED": {"key": True},
    "BLOB": {"key": True},
    "DECIMAL(65,30)": {"taken": [("12345678901234567890123456789012345.123456789012345678901234567890",) * 2 +
                                 (b"12345678901234567890123456789012345.123456789012345678901234567890",),
                                 ("-1.5", "-1." + "5".ljust(30, "0"), -1.5), (3, "3." + "0" * 30, 3),
                                 ("9007199254740993", "9007199254740993." + "0" * 30, 9007199254740993)]},
    "NUMERIC": {"taken": [("1.25", "1.25", 1.25), ("n/a", '"n/a"', "n/a"), ("", '""', ""),
                          ("1.23456789012345678", "1.23456789012345678", b"1.23456789012345678")], "refused": ["1e2000", True]},
    "DATE": {"taken": [("2024-02-29", '"2024-02-29"', "2024-02-29"), ("0001-1-1", '"0001-01-01"', "0001-01-01"),
                       ("2024-02-29 23:59:59", '"2024-02-29"', "2024-02-29"), (20240101, "20240101", 20240101), (2460677.5, "2460677.5", 2460677.5)],
             "refused": ["2023-02-29", "2024-13-01", "24-01-01", "2024-01-01x", "", "12:00:00", "20240101"], "other_words": {}},
    "TIME": {"taken": [("12:00:01", None, "12:00:01"), ("-838:59:59", None, "-838:59:59"), ("1:02", '"01:02:00"', "01:02:00"),
                       ("12:00:01.999", None, "12:00:01.999"), ("-00:00:00", '"00:00:00"', "00:00:00"), (0.5, "0.5", 0.5)]},
    "DATETIME": {"taken": [("2026-01-02 03:04:05.678901234", None, "2026-01-02 03:04:05.678901234"), ("2026-01-02T03:04:05.678Z", None, "2026-01-02T03:04:05.678Z"),
                           ("2026-01-02 03:04:05 +0200", None, "2026-01-02 03:04:05 +0200"), ("9999-12-31", '"9999-12-31 00:00:00"', "9999-12-31 00:00:00"),
                           (1767323045678, "1767323045678", 1767323045678)],
                 "refused": ["2026-01-02 24:00:00", "2026-02-30 00:00:00", "2026-01-02 03:04:05z", "2026-01-02 03:04:05+24:00", "x"]},
    "TIMESTAMP": {"taken": [("1970-01-01 00:00:01", None, "1970-01-01 00:00:01"), ("2038-01-19 03:14:07.9", None, "2038-01-19 03:14:07.9")]},
}


def types_of(engine):
    return [replace(each, **IN_SQLITE.get(each.declared, {})) for each in TYPES] if engine == "sqlite" else TYPES


def case(number):
    return f"content{number}", f"key{number}"


# How MariaDB declares what it has in another way; None: it has nothing of the kind.
IN_MARIADB = {"UNSIGNED DECIMAL(5,0)": "DECIMAL(5,0) UNSIGNED", "NUMERIC": None, "INTEGER": None, "JSON": None}
NO_KEY_IN_MARIADB = ("TEXT", "BLOB")  # but of their beginnings


def declared_in(engine, each):
    return each.declared if engine == "sqlite" else IN_MARIADB.get(each.declared, each.declared)


def is_key(engine, each):
    return each.key and (engine == "sqlite" or each.declared not in NO_KEY_IN_MARIADB)


class SqliteTypes:
    engine = "sqlite"
    types = types_of("sqlite")

    def __init__(self, folder):
        self.folder = folder
        self.arguments = sqlite_arguments(folder)
        with sqlite3.connect(folder / "types.db") as database:
            database.execute("PRAGMA journal_mode=WAL")
            for number, each in enumerate(TYPES):
                content, key = case(number)
                rowid = " WITHOUT ROWID" if each.key and number % 2 else ""
                database.execute(f"CREATE TABLE {content}(id INT PRIMARY KEY, v {each.declared})")
                database.execute(f"CREATE TABLE {key}(k {each.declared} PRIMARY KEY, v INT){rowid}")

    def check_kept(self, number, rows):
        """That the table has just these rows, in the form in which SQLite keeps each."""
        kept = [value for value, in sqlite_rows(self.folder, "types", f"SELECT v FROM {case(number)[0]} ORDER BY id")]
        assert [(type(value), value) for value in kept] == [(type(value), value) for _, _, value in rows]

    def count(self, number):
        return sqlite_rows(self.folder, "types", f"SELECT count(*) FROM {case(number)[0]}")


class MariadbTypes:
    engine = "mariadb"
    types = types_of("mariadb")

    def __init__(self, server):
        self.ask, self.arguments = server.client.ask, server.arguments
        self.ask(f"CREATE DATABASE types {CHARACTERS}; USE types")
        for number, each in enumerate(TYPES):
            if not (declared := declared_in(self.engine, each)):
                continue
            content, key = case(number)
            self.ask(f"CREATE TABLE {content}(id INT PRIMARY KEY, v {declared} NULL)")
            if each.declared not in NO_KEY_IN_MARIADB:
                self.ask(f"CREATE TABLE {key}(k {declared} PRIMARY KEY, v INT)")

    def check_kept(self, number, rows):
        declared, table = TYPES[number].declared, case(number)[0]
        value = "CAST(CONCAT(v) AS DOUBLE)" if declared == "FLOAT" else "v"
        for i, (sent, told, _) in enumerate(rows):
            literal = sql_literal(declared, told_of(sent, told))
            assert self.ask(f"SELECT {value} <=> {literal} FROM {table} WHERE id={i}") == [("1",)], (sent, literal)
        assert self.count(number) == [(str(len(rows)),)]

    def count(self, number):
        return self.ask(f"SELECT COUNT(*) FROM {case(number)[0]}")


@pytest.fixture(scope="module", params=ENGINES)
def rows(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    if request.param == "sqlite":
        yield SqliteTypes(folder)
        return
    with mariadb(folder) as server:
        yield MariadbTypes(server)


@pytest.fixture(scope="module")
def client(weftd, rows):
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", *rows.arguments]) as server, RowClient(server) as made:
        yield made
        assert server.stop() == 0, server.log


def has(rows, number):
    if declared_in(rows.engine, TYPES[number]) is None:
        pytest.skip(f"{rows.engine} has no such type")


def told_of(sent, told):
    return told if told is not None else json.dumps(sent, ensure_ascii=False)


@pytest.mark.parametrize("number", range(len(TYPES)), ids=[str(each) for each in TYPES])
def test_what_is_taken_is_told_kept_and_found(client, rows, number):
    has(rows, number)
    of, (table, _) = rows.types[number], case(number)
    taken = [*of.taken, (None, "null", None)]
    status, text = client.write(*[operation(f"types/{table}/pk-write", {"filters": given(id=i), "writeColumns": given(v=sent)})
                                  for i, (sent, _, _) in enumerate(taken)])
    assert status == 200, text
    rows.check_kept(number, taken)
    told = ['{"v":%s}' % told_of(sent, told) for sent, told, _ in taken]
    for version in VERSIONS:
        for i, each in enumerate(told):
            answer = client.ask(f"types/{table}/pk-read", {"filters": given(id=i), "operationId": str(i)}, version)
            assert answer == (200, '{"code":200,"operationId":"%d","data":%s}' % (i, each))
        answer = client.batch(*[operation(f"types/{table}/pk-read", {"filters": given(id=i)}) for i in range(len(taken))], version=version)
        assert answer == (200, '{"result":[%s]}' % ",".join('{"code":200,"body":{"operationId":"","data":%s}}' % each for each in told))
        answer = client.ask(f"types/{table}/scan", {"limit": 100, "readColumns": named("v")}, version)
        assert answer == (200, '{"data":[%s],"rows":%d}' % (",".join(told), len(told)))


@pytest.mark.parametrize("number", [i for i, each in enumerate(TYPES) if each.key], ids=[str(each) for each in TYPES if each.key])
def test_a_key_of_the_type_finds_its_row(client, rows, number):
    has(rows, number)
    if not is_key(rows.engine, TYPES[number]):
        pytest.skip(f"no key of {rows.engine}'s has this type")
    of, (_, table) = rows.types[number], case(number)
    url = f"types/{table}/pk"
    for version in VERSIONS:
        for sent, told, _ in of.taken:
            key = {"filters": given(k=sent), "operationId": "x"}
            assert client.ask(f"{url}-read", key, version) == (404, '{"code":404,"operationId":"x","data":{}}'), sent
            assert client.write(operation(f"{url}-insert", {"filters": given(k=sent), "writeColumns": given(v=5)}), version=version)[0] == 200
            assert client.ask(f"{url}-read", key, version) == (200, '{"code":200,"operationId":"x","data":{"v":5}}'), sent
            asked = {"limit": 9, "filters": {"op": "CMP", "column": "k", "cond": "EQ", "value": sent}}
            expected = '{"data":[{"k":%s,"v":5}],"rows":1}' % told_of(sent, told)
            assert client.ask(f"types/{table}/scan", asked, version) == (200, expected)
            bound = {"values": [sent]}
            asked = {"limit": 9, "index": {"name": "PRIMARY", "key_columns": ["k"], "ranges": [{"lower": bound, "upper": bound}]}}
            assert client.ask(f"types/{table}/scan", asked, version) == (200, expected)
            status, text = client.write(operation(f"{url}-insert", {"filters": given(k=sent), "writeColumns": given(v=6)}), version=version)
            assert status == 409, text
            assert client.delete(operation(f"{url}-delete", {"filters": given(k=sent)}), version=version)[0] == 200
        for one, other in of.same:
            assert client.write(operation(f"{url}-write", {"filters": given(k=one), "writeColumns": given(v=7)}))[0] == 200
            assert client.ask(f"{url}-read", {"filters": given(k=other)}, version)[1].endswith('"data":{"v":7}}'), (one, other)
            client.delete(operation(f"{url}-delete", {"filters": given(k=other)}))


@pytest.mark.parametrize("number", range(len(TYPES)), ids=[str(each) for each in TYPES])
def test_what_is_not_taken_is_told(client, rows, number):
    has(rows, number)
    of, (content, table) = rows.types[number], case(number)
    before = rows.count(number)
    for sent in of.refused:
        if isinstance(sent, (list, dict)):
            continue
        words = "Wrong data type" if isinstance(sent, bool) else of.other_words.get(sent, of.words)
        [(code, text)] = client.results("batchwrite", operation(f"types/{content}/pk-write", {"filters": given(id=900), "writeColumns": given(v=sent)}))
        assert code == 400 and text.startswith(words) and text.endswith("Column: v"), (sent, text)
        status, text = client.fault(f"types/{content}/scan", {"limit": 1, "filters": {
            "op": "CMP", "column": "v", "cond": "GE", "value": sent}})
        assert status == 400 and text.startswith("[ScanFilter] Invalid value. " + words), (sent, text)
        if not is_key(rows.engine, of):
            continue
        status, text = client.fault(f"types/{table}/pk-read", {"filters": given(k=sent)})
        assert status == 400 and text.startswith(words) and text.endswith("Column: k"), (sent, text)
        _, text = client.batch(operation(f"types/{table}/pk-read", {"filters": given(k=sent), "operationId": "y"}), version="0.2.0")
        told = json.loads(text)["result"][0]
        assert told["code"] == 400 and told["message"].startswith(words) and told["body"] == {"operationId": "y", "data": {}}
    assert rows.count(number) == before


@pytest.mark.parametrize("number", range(len(TYPES)), ids=[str(each) for each in TYPES])
def test_scalars_alone_are_values(client, rows, number):
    has(rows, number)
    content, _ = case(number)
    for sent in ([], {}, [1]):
        status, text = client.fault("batchwrite", {"operations": [operation(
            f"types/{content}/pk-write", {"filters": given(id=900), "writeColumns": given(v=sent)})]})
        assert status == 400 and "/operations/0/body/writeColumns/0/value" in text, text


@pytest.mark.parametrize("number", range(len(TYPES)), ids=[str(each) for each in TYPES])
def test_null_is_no_key_and_some_types_are_none(client, rows, number):
    has(rows, number)
    if rows.engine == "mariadb" and TYPES[number].declared in NO_KEY_IN_MARIADB:
        pytest.skip("MariaDB has no such key")
    of, (_, table) = rows.types[number], case(number)
    sent, words = (None, "Invalid column data. NULL is in no primary key. Column: k") if of.key else (of.taken[0][0], " is unsupported. Column: k")
    for action in ("pk-read",):
        status, text = client.fault(f"types/{table}/{action}", {"filters": given(k=sent)})
        assert status == 400 and text.endswith(words), text
    for path, action, rest in (("batchwrite", "pk-insert", {"writeColumns": given(v=1)}), ("batchdelete", "pk-delete", {})):
        [(code, text)] = client.results(path, operation(f"types/{table}/{action}", {"filters": given(k=sent), **rest}))
        assert code == 400 and text.endswith(words), text
