"""The engines that weftd serves rows from: how a test makes tables in each, and asks it what they hold without weftd.

    @pytest.fixture(scope="module", params=ENGINES)
    def rows(request, weftd, tmp_path_factory): ...
"""

import base64
import contextlib
import json
import sqlite3

import mariadb_server
import pytest
from mariadb_client import MariadbClient

ENGINES = ["sqlite", "mariadb"]
BYTES = ("BINARY", "VARBINARY", "BLOB")
# Compared as SQLite compares: byte by byte, with the blanks at the end.
CHARACTERS = "CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"


def sql_literal(declared, told):
    """What JSON tells of a column of this type, as MariaDB writes it."""
    if not told.startswith('"'):
        return told
    text = json.loads(told)
    if declared.startswith("BIT"):
        return str(int.from_bytes(base64.b64decode(text), "big"))
    if declared.startswith(BYTES):
        return f"x'{base64.b64decode(text).hex()}'"
    return f"_utf8mb4 x'{text.encode().hex()}'"


@contextlib.contextmanager
def mariadb(folder, *options):
    """A server with what weftd is to be told of it, and a client. Skips where there is none."""
    if why := mariadb_server.missing():
        pytest.skip(why)
    password = folder / "password"
    password.write_text(mariadb_server.PASSWORD + "\n")
    password.chmod(0o600)
    with mariadb_server.MariadbServer(*options) as server, MariadbClient(server) as client:
        server.arguments = ["--mysql", f"mysql://{mariadb_server.USER}@127.0.0.1:{server.port}",
                            f"--store.mysql.engine.password_file={password}"]
        server.client = client
        yield server


def sqlite_arguments(folder):
    return ["--data", folder, "--store.sqlite.engine.synchronous=off"]


def sqlite_rows(folder, database, query, *values):
    with contextlib.closing(sqlite3.connect(folder / f"{database}.db")) as file:
        return file.execute(query, values).fetchall()
