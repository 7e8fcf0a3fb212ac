"""weftd import and weftd export: what goes in comes out, wrong rows are told by their lines, and what is interrupted is gone on with."""

import csv
import fcntl
import io
import json
import os
import pty
import re
import shutil
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest
from row_engines import mariadb

SCHEMA = """
PRAGMA journal_mode=WAL;
CREATE TABLE users(id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, email VARCHAR(100) UNIQUE, balance DECIMAL(10,2),
  score DOUBLE, born DATE, seen DATETIME(3), photo BLOB, flags BIT(8), loud TEXT AS (upper(name)));
CREATE TABLE pairs(a CHAR(2), b INT UNSIGNED, note TEXT, PRIMARY KEY(a, b)) WITHOUT ROWID;
CREATE TABLE heap(a INT);
"""


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "data"
    made.mkdir()
    with sqlite3.connect(made / "shop.db") as database:
        database.executescript(SCHEMA)
    return made


@pytest.fixture
def load(run_weftd, folder, tmp_path):
    """load("a,b\\n1,2\\n", table="shop.pairs"): imports that as a file."""
    def begin(text, *words, name="rows.csv", table="shop.users"):
        file = tmp_path / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return run_weftd("import", file, "--data", folder, "--table", table, *words)
    return begin


def rows(folder, query):
    with sqlite3.connect(folder / "shop.db") as database:
        return database.execute(query).fetchall()


def test_csv_goes_in(load, folder, tmp_path):
    done = load('id,name,email,balance,photo\r\n1,"Ada, ""the"" first",,12.5,AAEC\r\n2,"",a@x,,\r\n3,"two\nlines",b@x,-1,\r\n')
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout.startswith("imported 3 rows into shop.users in ")
    assert rows(folder, "SELECT id, name, email, CAST(balance AS TEXT), photo FROM users") == [
        (1, 'Ada, "the" first', None, "12.5", b"\0\1\2"), (2, "", "a@x", None, None), (3, "two\nlines", "b@x", "-1", None)]
    assert not (tmp_path / "rows.csv.import").exists()


def test_json_lines_go_in(load, folder):
    done = load('{"a":"x","b":1,"note":"caf\\u00e9"}\n\n{"b":"2","a":"y"}\n', name="rows.jsonl", table="shop.pairs")
    assert (done.returncode, done.stderr) == (0, "")
    assert rows(folder, "SELECT * FROM pairs ORDER BY b") == [("x", 1, "café"), ("y", 2, None)]


def test_rows_that_a_trigger_passes_over_are_not_counted_as_imported(load, folder):
    with sqlite3.connect(folder / "shop.db") as database:
        database.executescript("CREATE TRIGGER even BEFORE INSERT ON pairs WHEN new.b % 2 BEGIN SELECT RAISE(IGNORE); END")
    done = load("a,b,note\nx,1,n\nx,2,n\nx,3,n\n", table="shop.pairs")
    assert done.returncode == 1 and done.stdout.startswith("imported 1 row into shop.pairs in "), done.stdout
    assert done.stderr == "2 rows were passed over by a trigger, and are not in the table\n"
    assert rows(folder, "SELECT b FROM pairs") == [(2,)]


@pytest.mark.parametrize("longer, fits", [(0, True), (1, False)])
def test_a_record_has_16_mib_at_most(load, folder, tmp_path, longer, fits):
    record = b'{"a":"x","b":2}'
    record += b" " * ((16 << 20) - len(record) - 1 + longer) + b"\n"
    done = load(b'{"a":"x","b":1}\n' + record + b'{"a":"x","b":3}\n', name="rows.jsonl", table="shop.pairs")
    assert done.returncode == (0 if fits else 1), done.stderr
    assert fits or f"{tmp_path}/rows.jsonl:2: a record of more than 16 MiB" in done.stderr
    assert rows(folder, "SELECT b FROM pairs ORDER BY b") == ([(1,), (2,), (3,)] if fits else [])


def test_how_far_it_is_is_on_the_disk_before_it_counts(weftd, load, folder, tmp_path):
    tracer = shutil.which("strace")
    if tracer is None:
        pytest.skip("there is no strace")
    (tmp_path / "rows.csv").write_text("a,b\n" + "".join(f"x,{i}\n" for i in range(2500)))
    # Who is traced cannot be looked through for leaks, where this is built with a sanitizer.
    environment = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    done = subprocess.run([tracer, "-f", "-y", "-e", "trace=fsync,fdatasync,rename", weftd, "import", tmp_path / "rows.csv", "--data", folder,
                           "--table", "shop.pairs"], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    steps = re.findall(r"fsync\(\d+<[^>]*rows\.csv\.import\.part>|rename\(\"[^\"]*\.part\"|fsync\(\d+<" + re.escape(str(tmp_path)) + ">", done.stderr)
    kinds = [step.split("(")[0] + (".part" if ".part>" in step else "") for step in steps]
    assert len(kinds) >= 9 and kinds == ["fsync.part", "rename", "fsync"] * (len(kinds) // 3), steps


@pytest.mark.parametrize("name, text, words", [
    ("rows.tsv", "a\tb\tnote\nx\t1\tn,o\n", ()), ("rows.csv", "a;b;note\nx;1;n,o\n", ("--separator", ";")),
    ("rows.txt", "\ufeffa,b,note\nx,1,\"n,o\"", ("--format", "csv")), ("rows.ndjson", '{"a":"x","b":1,"note":"n,o"}', ())])
def test_forms_of_files(load, folder, name, text, words):
    done = load(text, *words, name=name, table="shop.pairs")
    assert (done.returncode, done.stderr) == (0, "")
    assert rows(folder, "SELECT * FROM pairs") == [("x", 1, "n,o")]


def test_what_is_wrong_with_a_row_is_told_with_its_line_and_the_others_go_in(load, folder, tmp_path):
    done = load('id,name,email\n1,a,\nx,b,\n3,,\n4,"two\nlines",e\n5,q"q,\n6,a,b,c\n7,' + 21 * "n" + ',\n8,same,e\n9,ok,f\n')
    path = tmp_path / "rows.csv"
    assert done.returncode == 1
    told = done.stderr.splitlines()
    # What a rule of the table forbids is told once the rows of its batch are written.
    assert told[:5] == [f"{path}:3: Wrong data type. Expecting BIGINT. Column: id",
                        f"{path}:4: Invalid column data. The column does not take NULL. Column: name",
                        f"{path}:7: a quote within a field that does not begin with one",
                        f"{path}:8: 4 fields, and not 3",
                        told[4]]
    assert told[4].startswith(f"{path}:9: Invalid column data.") and told[4].endswith("Column: name")
    assert told[5].startswith(f"{path}:10: ") and "email" in told[5]
    assert told[6] == "6 rows were wrong, and are not in the table"
    assert [row[0] for row in rows(folder, "SELECT id FROM users")] == [1, 4, 9]


@pytest.mark.parametrize("text, words", [
    ('{"a":"x","b":1,"b":2}', '"b" is there twice'), ('{"a":"x","a":"y"}', '"a" is there twice'),
    ('{"a":"x"}', "1 of 2 columns of the primary key"), ('{"a":"x","b":1,"c":1}', 'there is no column "c"'),
    ("[1]", "expected an object"), ('{"a":"x","b":{}}', "rows.jsonl:1: /b: "), ('{"a":"x","b":1', "byte")])
def test_what_is_wrong_with_an_object(load, folder, text, words):
    done = load(text + "\n", name="rows.jsonl", table="shop.pairs")
    assert done.returncode == 1 and f"rows.jsonl:1: " in done.stderr and words in done.stderr, done.stderr
    assert rows(folder, "SELECT count(*) FROM pairs") == [(0,)]


@pytest.mark.parametrize("text, table, told", [
    ("a,b\n", "shop.none", "there is no table 'none' in shop; there are: "),
    ("a,b\n", "none.t", "there is no database 'none'; there are: shop"),
    ("a\n", "shop.heap", "shop.heap has no primary key"),
    ("id,name,nme\n", "shop.users", "users has no column 'nme'"), ("id,id\n", "shop.users", "two columns are called 'id'"),
    ("", "shop.users", "rows.csv is empty")])
def test_what_makes_no_sense_is_refused_before_a_row_is_read(load, text, table, told):
    done = load(text, table=table)
    assert done.returncode == 1 and told in done.stderr, done.stderr


@pytest.mark.parametrize("words, told", [
    ((), "FILE is required"), (("x.csv",), "--table: '' is no DATABASE.TABLE"), (("x.csv", "--table", "shop"), "DATABASE.TABLE"),
    (("x.dat", "--table", "a.b"), "--format csv, or --format jsonl"),
    (("x.csv", "--table", "a.b", "--separator", "ab"), "not one character")])
def test_a_wrong_command_line_is_told(run_weftd, words, told):
    done = run_weftd("import", *words)
    assert done.returncode == 2 and told in done.stderr, done.stderr


def test_rows_that_are_there_are_replaced_or_refused(load, folder):
    assert load("a,b,note\nx,1,old\n", table="shop.pairs").returncode == 0
    assert load("a,b,note\nx,1,new\n", table="shop.pairs").returncode == 0
    assert rows(folder, "SELECT note FROM pairs") == [("new",)]
    done = load("a,b,note\nx,1,other\ny,1,more\n", "--if-exists", "refuse", table="shop.pairs")
    assert done.returncode == 1 and "rows.csv:2: " in done.stderr
    assert rows(folder, "SELECT note FROM pairs ORDER BY a") == [("new",), ("more",)]


def test_it_gives_up_when_too_much_is_wrong(load, folder):
    text = "a,b\n" + "".join(f"a,{i}\n" if i < 3 else f"a,x{i}\n" for i in range(20))
    done = load(text, "--wrong-max", "5", table="shop.pairs")
    assert done.returncode == 1 and "more than 5 rows are wrong" in done.stderr
    assert done.stderr.count("Wrong data type") == 6
    assert rows(folder, "SELECT count(*) FROM pairs") == [(3,)], "what was right before that is kept"


def test_rows_that_a_rule_of_the_whole_batch_forbids_are_found(load, folder):
    with sqlite3.connect(folder / "shop.db") as database:
        database.executescript("""
            CREATE TABLE parents(id INTEGER PRIMARY KEY);
            INSERT INTO parents VALUES(1), (2);
            CREATE TABLE children(id INTEGER PRIMARY KEY, p INT REFERENCES parents(id) DEFERRABLE INITIALLY DEFERRED);
            CREATE TABLE once(id INTEGER PRIMARY KEY, u INT UNIQUE ON CONFLICT ROLLBACK);
        """)
    done = load("id,p\n" + "".join(f"{i},{99 if i in (15, 700) else 1 + i % 2}\n" for i in range(1500)), table="shop.children")
    assert done.returncode == 1
    assert [line.split(": ")[0].rsplit(":", 1)[1] for line in done.stderr.splitlines()[:-1]] == ["17", "702"], done.stderr
    assert rows(folder, "SELECT count(*) FROM children") == [(1498,)]
    done = load("id,u\n" + "".join(f"{i},{3 if i == 8 else i}\n" for i in range(10)), table="shop.once")
    assert done.returncode == 1 and "rows.csv:10: " in done.stderr and done.stderr.count("rows.csv") == 1
    assert [row[0] for row in rows(folder, "SELECT id FROM once ORDER BY id")] == [0, 1, 2, 3, 4, 5, 6, 7, 9]


def test_a_row_that_cannot_be_computed_with_is_left_out(load, folder):
    with sqlite3.connect(folder / "shop.db") as database:
        database.execute("CREATE TABLE made(id INTEGER PRIMARY KEY, v TEXT, a TEXT AS (json_extract(v, '$.a')) STORED)")
    done = load('id,v\n1,"{""a"":1}"\n2,nojson\n3,{}\n', table="shop.made")
    assert done.returncode == 1 and "rows.csv:3: " in done.stderr, done.stderr
    assert rows(folder, "SELECT id FROM made ORDER BY id") == [(1,), (3,)]


def test_blanks_are_a_value(load, run_weftd, folder, tmp_path):
    with sqlite3.connect(folder / "shop.db") as database:
        database.execute("CREATE TABLE one(k TEXT PRIMARY KEY)")
        database.executemany("INSERT INTO one VALUES(?)", [("",), (" ",), ("\t",), ("  y",), ("x ",)])
    before = rows(folder, "SELECT k FROM one ORDER BY k")
    out = tmp_path / "one.csv"
    assert run_weftd("export", "--data", folder, "--table", "shop.one", "--output", out).returncode == 0
    with sqlite3.connect(folder / "shop.db") as database:
        database.execute("DELETE FROM one")
    assert run_weftd("import", out, "--data", folder, "--table", "shop.one").returncode == 0
    assert rows(folder, "SELECT k FROM one ORDER BY k") == before
    assert load("\n\nk\n\nz\n", table="shop.one").returncode == 0, "lines without anything are none"


def test_a_quote_that_is_never_closed_ends_it(load, folder):
    done = load('a,b,note\nx,1,fine\ny,2,"open\nz,3,n\n', table="shop.pairs")
    assert done.returncode == 1 and "rows.csv:3: a quote without its pair" in done.stderr, done.stderr


def test_standard_input_is_read(weftd, folder):
    done = subprocess.run([weftd, "import", "-", "--format", "jsonl", "--data", folder, "--table", "shop.pairs"],
                          input=b'{"a":"x","b":1}\n', capture_output=True, check=True)
    assert b"imported 1 row into" in done.stdout


def is_in_ppoll(process):
    ppoll = 271 if os.uname().machine == "x86_64" else 73
    return Path(f"/proc/{process.pid}/syscall").read_text().split()[0] == str(ppoll)


def hear_interrupts():
    """Shells have what they start in the background ignore SIGINT, these tests perhaps among it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("words, pipes", [(["import", "-", "--format", "csv"], {"stdin": subprocess.PIPE}),
                                          (["export"], {"stdout": subprocess.PIPE})])
def test_who_waits_for_another_program_can_be_ended(weftd, folder, load, words, pipes, number):
    load("a,b,note\n" + "".join(f"x,{i},{'n' * 200}\n" for i in range(2000)), table="shop.pairs")
    with subprocess.Popen([weftd, *words, "--data", folder, "--table", "shop.pairs"], stderr=subprocess.DEVNULL,
                          preexec_fn=hear_interrupts, **pipes) as process:
        while not is_in_ppoll(process):
            assert process.poll() is None, "it did not wait"
            time.sleep(0.01)
        process.send_signal(number)
        assert process.wait(20) == -number


def wait_for_rows(process, state):
    """Until some are known to be imported, or the import has ended."""
    while process.poll() is None:
        try:
            if json.loads(state.read_text())["rows"] > 0:
                return
        except FileNotFoundError:
            pass
        time.sleep(0.001)


def many(count):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "name", "email"])
    writer.writerows([i, f"name {i}", f"{i}@example.com"] for i in range(count))
    return text.getvalue()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_what_is_interrupted_is_gone_on_with(weftd, run_weftd, folder, tmp_path, number):
    count = 200_000
    file = tmp_path / "many.csv"
    file.write_text(many(count))
    command = [weftd, "import", file, "--data", folder, "--table", "shop.users"]
    state = tmp_path / "many.csv.import"
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_rows(process, state)
    process.send_signal(number)
    _, err = process.communicate()
    if process.returncode == 0:
        pytest.skip("it was quicker than the signal")
    if number == signal.SIGINT:
        assert process.returncode == 130 and "the same command goes on" in err, err
    before = json.loads(state.read_text())
    [(there,)] = rows(folder, "SELECT count(*) FROM users")
    assert 0 < before["rows"] <= there < count
    done = run_weftd(*command[1:])
    assert done.returncode == 0 and f"going on at line {before['line']}" in done.stderr
    assert "imported 200,000 rows" in done.stdout, "all of them, those of before included"
    assert rows(folder, "SELECT count(*), sum(id) FROM users") == [(count, count * (count - 1) // 2)]
    assert not state.exists()


def test_what_was_interrupted_is_not_gone_on_with_in_another_file(load, tmp_path):
    (tmp_path / "rows.csv.import").write_text(
        '{"table":"shop.pairs","how":"","file_bytes":1,"file_changed_ns":2,"offset_bytes":3,"line":4,"rows":5,"wrong":0,"passed_over":0}')
    done = load("a,b\nx,1\n", table="shop.pairs")
    assert done.returncode == 1 and "remove it to begin anew" in done.stderr, done.stderr
    (tmp_path / "rows.csv.import").write_text("{")
    done = load("a,b\nx,1\n", table="shop.pairs")
    assert done.returncode == 1 and "does not say how far" in done.stderr


def test_an_import_that_refuses_and_is_begun_anew_counts_what_it_refused(load, run_weftd, folder, tmp_path):
    with sqlite3.connect(folder / "shop.db") as database:
        database.executemany("INSERT INTO users(id, name) VALUES(?, 'there')", [(10,), (20,)])
    with sqlite3.connect(folder / "shop.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        done = load(many(1500), "--if-exists", "refuse", "--store.sqlite.engine.busy_timeout=1ms", name="many.csv")
        assert done.returncode == 1 and (tmp_path / "many.csv.import").exists(), done.stderr
        other.execute("ROLLBACK")
    done = run_weftd("import", tmp_path / "many.csv", "--data", folder, "--table", "shop.users", "--if-exists", "refuse",
                     "--store.sqlite.engine.busy_timeout=1ms")
    assert done.stdout.startswith("imported 1,498 rows into shop.users"), done.stdout
    assert done.returncode == 1 and done.stderr.endswith("2 rows were wrong, and are not in the table\n"), done.stderr
    assert rows(folder, "SELECT count(*), sum(name='there') FROM users") == [(1500, 2)]


@pytest.mark.parametrize("if_exists", ["replace", "refuse"])
def test_what_is_wrong_is_counted_over_all_runs(weftd, run_weftd, folder, tmp_path, if_exists):
    """20 wrong rows in each 1,000 of 6,000. A run that gives up, and one that is killed, are gone on with."""
    file, state = tmp_path / "many.csv", tmp_path / "many.csv.import"
    file.write_text("id,name\n" + "".join(f"{'x' if i % 50 == 7 else i},n\n" for i in range(6000)))

    def again(wrong_max, *tracer):
        command = ["import", file, "--data", folder, "--table", "shop.users", "--if-exists", if_exists, "--wrong-max", wrong_max]
        return subprocess.run([*tracer, weftd, *map(str, command)], capture_output=True, text=True)

    done = again(30)
    assert done.returncode == 1 and "more than 30 rows are wrong" in done.stderr and done.stderr.count("Wrong data type") == 31
    before = rows(folder, "SELECT count(*) FROM users")
    for _ in range(2):
        done = again(30)
        assert done.returncode == 1 and "more than 30 rows are wrong" in done.stderr, "the bound is of all runs"
        assert rows(folder, "SELECT count(*) FROM users") == before
    done = again(70)
    assert done.returncode == 1 and "more than 70 rows are wrong" in done.stderr, done.stderr
    wrong = json.loads(state.read_text())["wrong"]
    assert wrong <= 71
    tracer = shutil.which("strace")
    for step in range(1, 7) if tracer else ():
        again(119, tracer, "-f", "-o", os.devnull, "-e", f"inject=fsync,fdatasync,rename:signal=SIGKILL:when={step}")
    done = again(119)
    assert done.returncode == 1 and "more than 119 rows are wrong" in done.stderr, done.stderr
    done = again(120)
    assert done.stdout.startswith("imported 5,880 rows") and "120 rows were wrong" in done.stderr, done.stdout + done.stderr
    assert rows(folder, "SELECT count(*) FROM users") == [(5880,)] and not state.exists()


REFUSED = """
CREATE TABLE goods(id INTEGER PRIMARY KEY, n INT UNIQUE);
CREATE TRIGGER passes_over BEFORE INSERT ON goods WHEN new.id % 300 = 7 BEGIN SELECT RAISE(IGNORE); END;
INSERT INTO goods VALUES(3, -3), (900, -900), (1100, -1100), (9000, 1150);
"""


def test_an_import_that_refuses_may_be_killed_at_any_step(weftd, run_weftd, tmp_path):
    """Of 1,200 rows 3 are there, 2 come twice, 1 is no row, 1 breaks a rule, and 4 are passed over."""
    tracer = shutil.which("strace")
    if tracer is None:
        pytest.skip("there is no strace")
    lines = [f"{i},{i}" for i in range(1, 1201)]
    lines[500:500] = ["400,70000", "x,1"]
    lines[1150:1150] = ["1120,70001"]
    file = tmp_path / "goods.csv"
    file.write_text("id,n\n" + "\n".join(lines) + "\n")
    environment = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    expected = ("imported 1,192 rows", ["4 rows were passed over by a trigger, and are not in the table",
                                        "7 rows were wrong, and are not in the table"])
    killed = 0
    for step in range(1, 100):
        folder = tmp_path / f"data{step}"
        folder.mkdir()
        with sqlite3.connect(folder / "shop.db") as database:
            database.executescript("PRAGMA journal_mode=WAL;" + REFUSED)
        command = ["import", file, "--data", folder, "--table", "shop.goods", "--if-exists", "refuse"]
        done = subprocess.run([tracer, "-f", "-o", os.devnull, "-e", f"inject=fsync,fdatasync,rename,unlink:signal=SIGKILL:when={step}",
                               weftd, *command], capture_output=True, text=True, env=environment)
        was_killed = done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
        if was_killed:
            killed += 1
            done = run_weftd(*command)
        told = (done.stdout.split(" into")[0], done.stderr.splitlines()[-2:])
        if was_killed and not done.stdout.startswith("imported 1,19") and "going on" not in done.stderr:
            # It had come to its end: the same command is another import, of rows that are all there.
            assert "more than 100 rows are wrong" in done.stderr, done.stderr
        else:
            assert (done.returncode, *told) == (1, *expected), f"killed at step {step}: {done.stdout}{done.stderr}"
        assert rows(folder, "SELECT count(*), sum(n < 0) FROM goods") == [(1196, 3)], f"killed at step {step}"
        shutil.rmtree(folder)
        if not was_killed:
            break
    assert killed >= 8


@pytest.mark.parametrize("kind", ["link", "link to nothing", "fifo", "folder"])
@pytest.mark.parametrize("name, words", [
    ("many.csv.import", ["import"]), ("many.csv.import.part", ["import"]), ("out.csv.part", ["export"])])
def test_what_is_no_file_is_not_written_to(run_weftd, folder, tmp_path, kind, name, words):
    (tmp_path / "many.csv").write_text(many(10))
    victim = tmp_path / "victim"
    if kind == "link":
        victim.write_text("precious")
    if kind.startswith("link"):
        (tmp_path / name).symlink_to(victim)
    elif kind == "fifo":
        os.mkfifo(tmp_path / name)
    else:
        (tmp_path / name).mkdir()
    last = [tmp_path / "many.csv"] if words == ["import"] else ["--output", tmp_path / "out.csv"]
    done = run_weftd(*words, *last, "--data", folder, "--table", "shop.users")
    what = {"link": "a symbolic link", "fifo": "a FIFO", "folder": "a folder"}[kind.split()[0]]
    assert done.returncode == 1 and f"{tmp_path / name} is {what}" in done.stderr, done.stderr
    assert victim.exists() == (kind == "link") and (kind != "link" or victim.read_text() == "precious")
    assert os.path.lexists(tmp_path / name)


def test_what_a_killed_program_left_is_replaced_and_what_another_writes_is_not(run_weftd, folder, load, tmp_path):
    load("a,b,note\nx,1,n\n", table="shop.pairs")
    part = tmp_path / "out.csv.part"
    part.write_text("left\n" * 1000)
    command = ["export", "--data", folder, "--table", "shop.pairs", "--output", tmp_path / "out.csv"]
    assert run_weftd(*command).returncode == 0
    assert (tmp_path / "out.csv").read_text() == "a,b,note\nx,1,n\n" and not part.exists()
    with open(part, "w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        done = run_weftd(*command)
        assert done.returncode == 1 and "is written by another program" in done.stderr, done.stderr
        assert part.exists()


def test_rows_whose_keys_are_null_come_out(run_weftd, folder, tmp_path):
    with sqlite3.connect(folder / "shop.db") as database:
        database.executescript("CREATE TABLE t(id TEXT PRIMARY KEY, v INT); INSERT INTO t VALUES('b', 2), ('a', 1);")
        database.executemany("INSERT INTO t VALUES(NULL, ?)", [(i,) for i in range(1000)])
    out = tmp_path / "t.csv"
    done = run_weftd("export", "--data", folder, "--table", "shop.t", "--output", out)
    assert done.returncode == 0 and "exported 1,002 rows of shop.t" in done.stderr, done.stderr
    assert out.read_text() == "id,v\n" + "".join(f",{i}\n" for i in range(1000)) + "a,1\nb,2\n"


def test_how_far_it_has_come_is_shown_on_a_terminal(weftd, folder, tmp_path):
    file = tmp_path / "many.csv"
    file.write_text(many(400_000))
    ours, theirs = pty.openpty()
    process = subprocess.Popen([weftd, "import", file, "--data", folder, "--table", "shop.users"], stdout=subprocess.DEVNULL,
                               stderr=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 4096):
            shown += chunk
    except OSError:
        pass  # the other end is closed
    os.close(ours)
    assert process.wait() == 0
    for part in (b"[#", b" %  ", b" rows  ", b"/s  ", b" s left"):
        assert part in shown, shown
    assert shown.endswith(b"\r\x1b[K"), "nothing is left of it"


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_what_comes_out_goes_in_again(load, run_weftd, folder, tmp_path, ending):
    with sqlite3.connect(folder / "shop.db") as database:
        database.executemany("INSERT INTO users VALUES(?,?,?,?,?,?,?,?,?)", [
            (1, 'a "quoted", name', None, 12.5, 1 / 3, "1999-12-31", "2026-01-02 03:04:05.678", b"\x00\xff\"", 5),
            (2, "", "", None, None, None, None, b"", None), (3, "κόσμε\r\n\t", "x\\y", -0.01, 1e300, None, None, None, 255)])
    before = rows(folder, "SELECT * FROM users")
    out = tmp_path / f"users.{ending}"
    done = run_weftd("export", "--data", folder, "--table", "shop.users", "--output", out)
    assert done.returncode == 0 and "exported 3 rows of shop.users" in done.stderr, done.stderr
    with sqlite3.connect(folder / "shop.db") as database:
        database.execute("DELETE FROM users")
    done = run_weftd("import", out, "--data", folder, "--table", "shop.users")
    assert (done.returncode, done.stderr) == (0, "")
    assert rows(folder, "SELECT * FROM users") == before
    if ending == "csv":
        [names, *others] = csv.reader(io.StringIO(out.read_text(), newline=""))
        assert names == ["id", "name", "email", "balance", "score", "born", "seen", "photo", "flags", "loud"]
        assert others[0][:3] == ["1", 'a "quoted", name', ""] and len(others) == 3


def test_an_import_into_another_database_begins_at_the_beginning(weftd, run_weftd, folder, tmp_path):
    file = tmp_path / "many.csv"
    file.write_text(many(200_000))
    state = tmp_path / "many.csv.import"
    process = subprocess.Popen([weftd, "import", file, "--data", folder, "--table", "shop.users"], stderr=subprocess.DEVNULL)
    wait_for_rows(process, state)
    process.kill()
    process.wait()
    (folder / "shop.db").rename(tmp_path / "old.db")
    for left in folder.glob("shop.db-*"):
        left.unlink()
    with sqlite3.connect(folder / "shop.db") as database:
        database.executescript(SCHEMA)
    done = run_weftd("import", file, "--data", folder, "--table", "shop.users")
    assert done.returncode == 1 and "remove it to begin anew" in done.stderr, done.stderr
    assert rows(folder, "SELECT count(*) FROM users") == [(0,)]


def test_an_export_writes_to_what_is_there(run_weftd, folder, load, tmp_path):
    load("a,b,note\nx,1,n\n", table="shop.pairs")
    real = tmp_path / "real.csv"
    real.write_text("old")
    real.chmod(0o600)
    (tmp_path / "link.csv").symlink_to(real)
    assert run_weftd("export", "--data", folder, "--table", "shop.pairs", "--output", tmp_path / "link.csv").returncode == 0
    assert real.read_text() == "a,b,note\nx,1,n\n" and real.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "link.csv").is_symlink()
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE)
    assert run_weftd("export", "--data", folder, "--table", "shop.pairs", "--output", fifo).returncode == 0
    assert reader.communicate()[0] == b"a,b,note\nx,1,n\n" and fifo.is_fifo()


def test_rows_go_to_standard_output(weftd, folder, load):
    load("a,b,note\nx,1,n\n", table="shop.pairs")
    command = [weftd, "export", "--data", folder, "--table", "shop.pairs"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"a,b,note\nx,1,n\n"
    assert subprocess.run([*command, "--format", "jsonl"], capture_output=True, check=True).stdout == (
        b'{"a":"x","b":1,"note":"n"}\n')


def test_an_export_that_fails_leaves_no_file(run_weftd, folder, tmp_path):
    out = tmp_path / "x.csv"
    done = run_weftd("export", "--data", folder, "--table", "shop.none", "--output", out)
    assert done.returncode == 1 and "there is no table 'none'" in done.stderr
    assert list(tmp_path.glob("x.csv*")) == []
    done = run_weftd("export", "--data", folder, "--table", "shop.pairs", "--output", tmp_path / "no" / "x.csv")
    assert done.returncode == 1 and "cannot be written: No such file" in done.stderr
    assert run_weftd("export", "--data", folder).returncode == 2


@pytest.fixture
def database(tmp_path):
    with mariadb(tmp_path) as server:
        server.client.run("USE shop", "CREATE TABLE users(id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, email VARCHAR(100) UNIQUE, "
                          "balance DECIMAL(10,2), photo BLOB) CHARACTER SET utf8mb4")
        yield server


def test_rows_go_into_a_server_and_come_out_of_it(run_weftd, database, tmp_path):
    file, out = tmp_path / "users.csv", tmp_path / "out.csv"
    file.write_text('id,name,email,balance,photo\n1,"Ada, ""the"" first",,12.50,AAEC\nx,b,,,\n3,κόσμε,a@x,,\n4,d,a@x,,\n2,"",,-0.01,\n')
    done = run_weftd("import", file, *database.arguments, "--table", "shop.users")
    assert done.returncode == 1 and done.stdout.startswith("imported 3 rows into shop.users in "), done.stdout + done.stderr
    told = done.stderr.splitlines()
    assert told[0] == f"{file}:3: Wrong data type. Expecting INT. Column: id"
    assert told[1].startswith(f"{file}:5: Duplicate entry 'a@x'") and len(told) == 3, told
    done = run_weftd("export", *database.arguments, "--table", "shop.users", "--output", out)
    assert done.returncode == 0 and "exported 3 rows of shop.users" in done.stderr, done.stderr
    assert out.read_text() == 'id,name,email,balance,photo\n1,"Ada, ""the"" first",,12.50,AAEC\n2,"",,-0.01,\n3,κόσμε,a@x,,\n'
    database.client.run("DELETE FROM users")
    done = run_weftd("import", out, *database.arguments, "--table", "shop.users")
    assert (done.returncode, done.stderr) == (0, "")
    done = run_weftd("import", out, *database.arguments, "--table", "shop.users", "--if-exists", "refuse")
    assert done.returncode == 1 and "3 rows were wrong" in done.stderr
    assert database.client.ask("SELECT COUNT(*), SUM(id) FROM users") == [("3", "6")]


def test_rows_go_one_by_one_into_a_table_without_transactions(run_weftd, database, tmp_path):
    database.client.run("CREATE TABLE log(id INT PRIMARY KEY, a INT, u INT UNIQUE) ENGINE=MyISAM", "INSERT INTO log VALUES(7, 1, 1)")
    file = tmp_path / "log.csv"
    file.write_text("id,a,u\n" + "".join(f"{i},{i},{9 if i == 20 else i}\n" for i in range(5, 1205)))
    done = run_weftd("import", file, *database.arguments, "--table", "shop.log")
    assert done.returncode == 1 and done.stdout.startswith("imported 1,199 rows into shop.log in "), done.stdout + done.stderr
    told = done.stderr.splitlines()
    assert told[0].startswith(f"{file}:17: Duplicate entry '9'") and len(told) == 2, told
    assert database.client.ask("SELECT COUNT(*), SUM(a = id AND u = id) FROM log") == [("1199", "1199")]
    done = run_weftd("import", file, *database.arguments, "--table", "shop.log", "--if-exists", "refuse", "--wrong-max", "2000")
    assert done.returncode == 1 and "1,200 rows were wrong" in done.stderr


def test_what_was_interrupted_on_a_server_is_gone_on_with(weftd, run_weftd, database, tmp_path):
    count = 20_000
    file = tmp_path / "many.csv"
    file.write_text(many(count))
    command = [weftd, "import", file, *database.arguments, "--table", "shop.users"]
    state = tmp_path / "many.csv.import"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_rows(process, state)
    process.kill()
    process.wait()
    before = json.loads(state.read_text())
    [(there,)] = database.client.ask("SELECT COUNT(*) FROM users")
    assert 0 < before["rows"] <= int(there) < count
    other = run_weftd("import", file, *["--mysql", f"mysql://weft@localhost:{database.port}"], *database.arguments[2:], *command[-2:])
    assert other.returncode != 0, "the server is named otherwise"
    done = run_weftd(*command[1:])
    assert done.returncode == 0 and f"going on at line {before['line']}" in done.stderr, done.stderr
    assert database.client.ask("SELECT COUNT(*), SUM(id) FROM users") == [(str(count), str(count * (count - 1) // 2))]
    assert not state.exists()


def test_a_server_that_is_not_there_is_told(run_weftd, database, tmp_path):
    database.kill()
    for words in (["export"], ["import", "-", "--format", "csv"]):
        done = run_weftd(*words, *database.arguments, "--store.mysql.engine.start_timeout=100ms", "--table", "shop.users")
        assert done.returncode == 1 and "cannot connect to 127.0.0.1" in done.stderr, done.stderr
