"""weftd's page at /: what browsers are given and what others are, and the page in Chromium, by keyboard and by script."""

import json
import re
import sqlite3
from contextlib import closing

import httpx
import pytest
from chromium import Chromium
from row_engines import mariadb
from test_row_faults import without_override
from weft_process import Server, curl, run

SCHEMA = '''
PRAGMA journal_mode=WAL;
CREATE TABLE people(id INTEGER PRIMARY KEY, name VARCHAR(50), big BIGINT);
INSERT INTO people VALUES(1, 'Ada', 9223372036854775807), (2, '<img src=x onerror=hacked=1>', NULL);
WITH RECURSIVE c(x) AS (SELECT 3 UNION ALL SELECT x+1 FROM c WHERE x<50) INSERT INTO people SELECT x, 'n'||x, x FROM c;
CREATE TABLE "<i>odd & name"("the ""key""" VARCHAR(10), part INT, v INT, PRIMARY KEY("the ""key""", part));
INSERT INTO "<i>odd & name" VALUES('x y', 1, 5);
CREATE TABLE heap(a INT);
'''
# Its key columns are neither the first ones nor in the table's order.
MIXED = '''
CREATE TABLE mixed(note TEXT, part BIGINT UNSIGNED NOT NULL, name VARCHAR(20) NOT NULL, data BLOB, loose, price DECIMAL(8,2) NOT NULL,
  active TINYINT DEFAULT 1 NOT NULL, twice BIGINT AS (part * 2), PRIMARY KEY(name, part));
INSERT INTO mixed(note, part, name, data, loose, price) VALUES(NULL, 1, 'a/b%c', x'00ff', 17, 1.5), ('', 2, 'a/b%c', NULL, '17', 2),
  ('one', 1, 'two' || char(10) || 'lines', NULL, NULL, 3), ('other', 1, 'twolines', NULL, NULL, 4);
CREATE TABLE "<b>""'"("<img src=x onerror=hacked=1>" VARCHAR(30) PRIMARY KEY, "a""b'c" TEXT, code INT) WITHOUT ROWID;
CREATE TABLE "a/b%c"(key TEXT PRIMARY KEY);
INSERT INTO "<b>""'" VALUES('</td><script>hacked=1</script>', '<img src=x onerror=hacked=1>', 7);
'''
WATCH = """violations = 0; errors = 0;
document.addEventListener('securitypolicyviolation', () => violations++); addEventListener('error', () => errors++);"""


@pytest.fixture
def data(tmp_path):
    made = tmp_path / "data"
    made.mkdir()
    with sqlite3.connect(made / "shop.db") as database:
        database.executescript(SCHEMA)
    return made


@pytest.fixture
def server(weftd, data):
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", data]) as started:
        yield started
        assert started.stop() == 0, started.log


class Page:
    def __init__(self, chromium, url):
        self.chromium = chromium
        self.session = chromium.open("about:blank")
        chromium.ask("Page.enable", self.session)
        chromium.ask("Page.addScriptToEvaluateOnNewDocument", self.session, source=WATCH)
        self.go(url)

    def go(self, url):
        self.chromium.ask("Page.navigate", self.session, url=url)

    def run(self, script):
        done = self.chromium.ask("Runtime.evaluate", self.session, expression=script, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def wait(self, script):
        self.chromium.wait_for(self.session, f"Boolean({script})")

    def text(self, id):
        return self.run(f"document.getElementById('{id}').innerText")

    def fill(self, selector, value, which=0):
        self.run(f"(() => {{ const it = document.querySelectorAll({json.dumps(selector)})[{which}]; it.value = {json.dumps(value)};"
                 "it.dispatchEvent(new Event('input', {bubbles: true})); it.dispatchEvent(new Event('change', {bubbles: true})) })()")

    def press(self, key, code, **others):
        for kind in ("keyDown", "keyUp"):
            self.chromium.ask("Input.dispatchKeyEvent", self.session, type=kind, key=key, windowsVirtualKeyCode=code, **others)

    def send(self, status):
        """By the keyboard; gives what is said of the reply."""
        self.run("document.getElementById('status').textContent = ''")
        self.press("Enter", 13, modifiers=2)
        return self.told(status)

    def told(self, status):
        self.wait("/^\\d/.test(document.getElementById('status').textContent)")
        told = self.text("status") + "\n" + self.text("wrong")
        assert told.startswith(str(status)), told
        return told

    def delete(self, status):
        """Is asked first."""
        self.run("document.getElementById('status').textContent = ''; document.getElementById('send').click()")
        self.wait("document.getElementById('sure').open")
        asked = self.text("sure-text")
        self.run("document.getElementById('sure-yes').click()")
        self.told(status)
        return asked

    def click(self, selector, which=0):
        self.run(f"document.querySelectorAll({json.dumps(selector)})[{which}].click()")

    def rows(self):
        """Without what can be done with them."""
        return self.run("[...document.querySelectorAll('#shown tbody tr')].map((row) => "
                        "[...row.cells].filter((cell) => cell.className !== 'does').map((cell) => cell.innerText))")

    def show(self, table, kind, database="shop"):
        """Has its form shown."""
        self.run(f"location.hash = [{json.dumps(database)}, {json.dumps(table)}, {json.dumps(kind)}].map(encodeURIComponent).join('/')")
        self.wait(f"document.getElementById('where').innerText === {json.dumps(f'{database} / {table}')}"
                  f" && document.querySelector('.kinds [aria-pressed=true]').innerText.toLowerCase() === '{kind}'")

    def set(self, column, value):
        """In the form for writes: None is NULL."""
        cell = f"[...document.querySelectorAll('[name=cell]')].findIndex((it) => it.column === {json.dumps(column)})"
        which = self.run(cell)
        if value is None:
            self.fill("select[name=how]", "null", which)
        else:
            self.fill("[name=cell]", value, which)

    def is_clean(self):
        """Its policy has forbidden nothing, no script has failed, and none was made of values."""
        return self.run("[violations, errors, typeof hacked]") == [0, 0, "undefined"]


@pytest.fixture
def open_page(tmp_path):
    with Chromium(tmp_path / "profile") as chromium:
        yield lambda url: Page(chromium, url)


def varies_by_accept(reply):
    return "Accept" in reply.headers["vary"].split(", ")


def test_browsers_get_the_page_and_others_a_text(server):
    page = httpx.get(server.url("/"), headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert page.status_code == 200 and page.headers["content-type"] == "text/html; charset=utf-8"
    assert varies_by_accept(page) and page.text.startswith("<!doctype html>")
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-") and "unsafe" not in policy
    assert not re.findall(r'(?:src|href)="(?!/|#|data:)', page.text), "nothing comes from elsewhere"
    for accept in ({}, {"Accept": "*/*"}, {"Accept": "text/plain"}):
        text = httpx.get(server.url("/"), headers=accept)
        assert text.headers["content-type"] == "text/plain; charset=utf-8" and varies_by_accept(text)
    first = re.search(r"curl (http://\S+/schema)", curl(server.url("/")))[1]
    assert httpx.get(first).json()["databases"][0]["name"] == "shop"


def test_the_page_opens_with_rows(server, open_page):
    page = open_page(server.url("/"))
    assert "20 rows" in page.told(200) and page.text("where") == "shop / people", "the first table whose key is one column"
    assert page.rows()[:2] == [["1", "Ada", "9223372036854775807"], ["2", "<img src=x onerror=hacked=1>", "null"]] and len(page.rows()) == 20
    line = page.text("curl")
    assert json.loads(run(["bash", "-c", line]).stdout)["rows"] == 20, line
    for which, table, rows in [(1, "heap", []), (0, "<i>odd & name", [["x y", "1", "5"]])]:
        page.run("document.getElementById('status').textContent = ''")
        page.click("#tables button", which)
        page.told(200)
        assert (page.text("where"), page.rows()) == (f"shop / {table}", rows)
    assert page.is_clean()


def test_the_demo_opens_with_its_users(weftd, tmp_path, open_page):
    with Server([weftd, "demo", "--listen", "127.0.0.1:0", "--threads", "1", "--data", tmp_path / "made"]) as server:
        page = open_page(server.url("/"))
        page.told(200)
        assert page.text("where") == "demo / users" and page.rows()[0][:3] == ["1", "Leslie B.", "user1@example.com"]
        for table in ("readings", "stock", "users"):
            for kind in ("row", "batch", "scan", "sql"):
                page.show(table, kind, "demo")
                if kind in ("row", "batch"):
                    page.wait("document.querySelector('input[name=key]').value !== ''")
                page.send(200)
                assert page.rows() and "404" not in page.rows()[0], "the first request of each kind finds rows"
        assert page.is_clean()
        assert server.stop() == 0, server.log


def test_rows_are_read_in_the_page(server, open_page):
    page = open_page(server.url("/#shop/people/row"))
    page.wait("document.querySelectorAll('#tables button').length === 3")
    assert page.text("where") == "shop / people"
    page.fill("input[name=key]", "1")
    assert "1 row" in page.send(200) and page.rows() == [["1", "Ada", "9223372036854775807"]]
    line = page.text("curl")
    assert line.startswith("curl --data-raw '{ \"filters\"") and server.url("/0.2.0/shop/people/pk-read") in line
    page.fill("input[name=key]", "99")
    assert "no such row" in page.send(404)
    page.fill("input[name=key]", "x")
    assert "Wrong data type" in page.send(400)
    page.fill("input[name=key]", "2")
    page.send(200)
    assert page.rows() == [["2", "<img src=x onerror=hacked=1>", "null"]], "values are no markup"
    assert page.is_clean()
    page.run("document.body.append(Object.assign(document.createElement('script'), {textContent: 'hacked = 1'}))")
    page.wait("violations > 0")
    assert page.run("typeof hacked") == "undefined", "the policy holds"


def test_batches_scans_and_sql_in_the_page(server, open_page):
    page = open_page(server.url("/#shop/%3Ci%3Eodd%20%26%20name/batch"))
    page.wait("document.querySelectorAll('input[name=key]').length === 4")
    for which, value in enumerate(["x y", "1", "x y", "2"]):
        page.fill("input[name=key]", value, which)
    page.send(200)
    assert page.rows() == [["200", "x y", "1", "5", ""], ["404", "x y", "2", "", "the row does not exist"]]
    page.show("people", "scan")
    page.fill("select[name=column]", "id")
    page.fill("select[name=cond]", "GE")
    page.fill("input[name=value]", "10")
    page.fill("input[name=limit]", "30")
    assert "30 rows" in page.send(200) and page.rows()[0] == ["10", "n10", "10"]
    page.run("document.getElementById('next').click()")
    page.wait("document.querySelector('#shown tbody td:not(.does)').innerText === '40'")
    assert len(page.rows()) == 11 and page.run("document.getElementById('next').hidden")
    page.fill("select[name=column]", "big")
    page.fill("input[name=value]", "9223372036854775807")
    assert "1 row" in page.send(200) and page.rows() == [["1", "Ada", "9223372036854775807"]], "no digit is lost"
    page.show("people", "sql")
    page.fill("textarea[name=query]", "SELECT name, :n AS n FROM people WHERE big = :big")
    page.fill("textarea[name=parameters]", '{"big": 9223372036854775807, "n": "it\'s"}')
    page.send(200)
    assert page.rows() == [["Ada", "it's"]] and "it'\\''s" in page.text("curl")
    page.fill("textarea[name=query]", "DELETE FROM people")
    assert "only read" in page.send(400)
    page.run("location.hash = '#shop/heap/row'")
    page.wait("document.getElementById('form').innerText.includes('no primary key')")
    assert "0 rows" in page.send(200)
    assert page.is_clean()


# Each index with the order that a scan by it has.
ORDERED = {"PRIMARY": "part, name", "by size": "size, part, name", "by/tag & size": "tag, size, part, name", "once": "size, tag, part, name"}


def test_rows_come_in_each_order_that_the_page_offers(server, data, open_page):
    with closing(sqlite3.connect(data / "shop.db")) as database:
        database.executescript("""
            CREATE TABLE ordered(name VARCHAR(9) NOT NULL, tag VARCHAR(9), size INT, part INT NOT NULL, PRIMARY KEY(part, name));
            CREATE INDEX "by size" ON ordered(size); CREATE INDEX "by/tag & size" ON ordered(tag, size); CREATE UNIQUE INDEX once ON ordered(size, tag);
            INSERT INTO ordered VALUES('a', 'x', 3, 2), ('b', NULL, 1, 1), ('c', 'x', 2, 2), ('d', 'y', 1, 1), ('e', NULL, NULL, 3);""")
    page = open_page(server.url("/#shop/ordered/scan"))
    page.told(200)
    offered = page.run("[...document.querySelector('select[name=order]').options].map((each) => [each.value, each.text])")
    assert len(offered) == 2 * len(ORDERED)
    for number, (value, text) in enumerate(offered):
        name, way = text[:-2].replace("primary key", "PRIMARY"), {"\u2191": "ASC", "\u2193": "DESC"}[text[-1]]
        page.fill("select[name=order]", value)
        page.send(200)
        order = ", ".join(f"{column} {way}" for column in ORDERED[name].split(", "))
        assert [row[0] for row in page.rows()] == [name for name, in stored(data, f"SELECT name FROM ordered ORDER BY {order}")], text
        asked = json.loads(page.run("document.getElementById('body').value"))
        assert ("index" in asked) == (number > 0), asked
    assert page.is_clean()


@pytest.fixture
def mixed(data, server, open_page):
    with closing(sqlite3.connect(data / "shop.db")) as database:
        database.executescript(MIXED)
    assert httpx.post(server.url("/0.2.0/shop/mixed/scan"), content='{"limit": 1}').status_code == 200  # the server knows it by now
    return open_page(server.url("/#shop/mixed/scan"))


def stored(data, query):
    with closing(sqlite3.connect(data / "shop.db")) as database:
        return database.execute(query).fetchall()


def test_rows_are_written_in_the_page(server, data, mixed):
    page = mixed
    page.told(200)
    page.show("mixed", "write")
    assert page.run("[...document.querySelectorAll('[name=cell]')].map((it) => it.column)") == ["note", "data", "loose", "price", "active"]
    page.fill("input[name=key]", "new")
    page.fill("input[name=key]", "9007199254740993", 1)
    assert "price" in page.send(400), "what must have a value is sent as it is, empty"
    for column, value in [("note", ""), ("data", "AP8="), ("loose", "17"), ("price", "12.50")]:
        page.set(column, value)
    page.send(200)
    assert page.rows() == [["200", "9007199254740993", "new"]]
    row = "SELECT note, part, data, loose, typeof(loose), price, active FROM mixed WHERE name = 'new'"
    assert stored(data, row) == [("", 9007199254740993, b"\0\xff", 17, "integer", 12.5, 1)]
    line = page.text("curl")
    assert '"value": 9007199254740993' in line and '"value": ""' in line and "/0.2.0/batchwrite" in line
    assert "UNIQUE" in run(["bash", "-c", line]).stdout, "it does the same"
    assert "UNIQUE" in page.send(409)
    page.fill("select[name=action]", "pk-update")
    for column, value in [("note", None), ("loose", '"17"'), ("price", "x")]:
        page.set(column, value)
    assert "Wrong data type" in page.send(400) and page.run("document.querySelector('[aria-invalid=true]').column") == "price"
    page.set("price", "1.5")
    page.send(200)
    assert page.run("document.querySelector('[aria-invalid=true]')") is None
    assert stored(data, row) == [(None, 9007199254740993, b"\0\xff", "17", "text", 1.5, 1)]
    page.fill("select[name=action]", "pk-delete")
    assert page.run("document.querySelector('.cells').checkVisibility()") is False
    page.run("document.getElementById('send').click()")
    page.wait("document.getElementById('sure').open")
    assert page.run("document.activeElement.id") == "sure-no"
    page.press("Escape", 27)
    page.wait("!document.getElementById('sure').open")
    assert len(stored(data, row)) == 1
    # Browsers tell with a delay that a dialog was closed: here when the page has asked again.
    page.run("document.getElementById('status').textContent = '';"
             "for (const id of ['send', 'sure-no', 'send']) document.getElementById(id).click();"
             "document.getElementById('sure').dispatchEvent(new Event('close'))")
    assert page.text("sure-text").split("\n")[1:] == ['shop/mixed: name = "new", part = 9007199254740993']
    page.click("#sure-yes")
    page.told(200)
    assert stored(data, row) == []
    page.delete(404)
    assert "does not exist" in page.text("wrong")
    assert page.is_clean()


def test_a_row_that_is_shown_is_edited(server, data, mixed):
    """Its key and what is not changed stay what they are, though fields lose ends of lines and types."""
    page = mixed
    page.told(200)
    assert page.rows() == [["null", "1", "a/b%c", "AP8=", "17", "1.50", "1", "2"], ["", "2", "a/b%c", "null", "17", "2.00", "1", "4"],
                           ["one", "1", "two\nlines", "null", "null", "3.00", "1", "2"], ["other", "1", "twolines", "null", "null", "4.00", "1", "2"]]

    def edit(which):
        page.show("mixed", "scan")
        page.told(200)
        page.click(".does button", which)
        page.wait("document.querySelector('select[name=action]')?.value === 'pk-update'")

    edit(2)
    page.set("price", "7")
    assert json.loads(page.run("document.getElementById('body').value"))["operations"][0]["body"] == {
        "filters": [{"column": "name", "value": "two\nlines"}, {"column": "part", "value": 1}], "writeColumns": [{"column": "price", "value": 7}]}
    page.send(200)
    edit(2)
    page.fill("select[name=action]", "pk-delete")
    assert '"two\\nlines"' in page.delete(200)
    assert stored(data, "SELECT name, price FROM mixed WHERE part = 1") == [("a/b%c", 1.5), ("twolines", 4)]
    for which, loose in ((0, 17), (1, "17")):
        edit(which)
        page.fill("select[name=action]", "pk-write")
        assert json.loads(page.run("document.getElementById('body').value"))["operations"][0]["body"]["writeColumns"][:3] == [
            {"column": "note", "value": [None, ""][which]}, {"column": "data", "value": ["AP8=", None][which]}, {"column": "loose", "value": loose}]
        page.send(200)
    assert stored(data, "SELECT loose FROM mixed WHERE name = 'a/b%c' ORDER BY part") == [(17,), ("17",)]
    assert page.is_clean()


def test_names_and_values_are_no_markup(server, data, mixed):
    page = mixed
    table, key, value = "<b>\"'", "<img src=x onerror=hacked=1>", "</td><script>hacked=1</script>"
    for kind, rows in [("scan", [[value, key, "7"]]), ("row", [[value, key, "7"]]), ("batch", [["200", value, key, "7", ""]]), ("sql", [[value, key, "7"]])]:
        page.show(table, kind)
        if kind in ("row", "batch"):
            page.fill("input[name=key]", value)
        page.send(200)
        assert page.rows()[:1] == rows, kind
        page.run("[...document.querySelectorAll('#views button')].at(-1).click()")
        assert key in page.text("shown")
        page.run("document.querySelector('#views button').click()")
    page.show(table, "scan")
    page.told(200)
    page.click(".does button")
    page.wait("document.querySelector('select[name=action]')?.value === 'pk-update'")
    page.set("a\"b'c", "it's <b>")
    page.send(200)
    assert json.loads(run(["bash", "-c", page.text("curl")]).stdout)["result"][0]["code"] == 200
    assert stored(data, "SELECT \"a\"\"b'c\" FROM \"<b>\"\"'\"") == [("it's <b>",)]
    page.fill("select[name=action]", "pk-delete")
    assert value in page.delete(200)
    for kind in ("batch", "write"):
        page.show("a/b%c", kind)
        assert "cannot name one that has a slash" in page.text("why") and page.run("document.getElementById('send').disabled")
    page.show("a/b%c", "scan")
    assert "0 rows" in page.told(200) and "weftd import FILE.csv --data FOLDER --table 'shop.a/b%c'" in page.text("status")
    page.run("location.hash = '#shop/none <img src=x onerror=hacked=1>'")
    page.wait("document.getElementById('notice').innerText.includes('There is no shop / none <img')")
    assert page.run("document.querySelector('main img, main script, main b:not(#status b)')") is None
    assert page.is_clean()


def test_the_page_works_by_keyboard_and_on_narrow_screens(server, open_page):
    page = open_page(server.url("/"))
    page.told(200)

    def tab_to(text):
        for _ in range(30):
            page.press("Tab", 9)
            if page.run("document.activeElement.innerText") == text:
                return page.press("Enter", 13, text="\r")
        raise AssertionError(text)

    tab_to("<i>odd & name")
    page.wait("document.querySelector('[aria-current]').innerText === '<i>odd & name'")
    assert page.run("document.activeElement.innerText") == "<i>odd & name"
    tab_to("Write")
    page.wait("document.querySelector('select[name=action]')")
    assert page.run("document.activeElement.innerText") == "Write"
    tab_to("Send")
    page.told(400)
    assert page.run("document.activeElement.id") == "send"
    for width, scheme in [(400, "light"), (320, "dark")]:
        page.chromium.ask("Emulation.setDeviceMetricsOverride", page.session, width=width, height=640, deviceScaleFactor=1, mobile=True)
        page.chromium.ask("Emulation.setEmulatedMedia", page.session, features=[{"name": "prefers-color-scheme", "value": scheme}])
        paper = page.run("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
        for kind in ("row", "batch", "scan", "write", "sql"):
            page.show("people", kind)
            page.run("document.querySelectorAll('details').forEach((it) => { it.open = true })")
            assert page.run("document.documentElement.scrollWidth") <= width, kind
            unnamed = "[...document.querySelectorAll('input, select, textarea')].filter((it) => !it.labels.length && !it.ariaLabel).length"
            assert page.run(unnamed) == 0, kind
            inks = "[...document.querySelectorAll('#work :is(input:not([type=checkbox]), select, textarea, code)')].map((it) => getComputedStyle(it).color)"
            assert paper not in page.run(inks), kind


def test_the_page_shows_how_the_server_is(server, open_page):
    page = open_page(server.url("/#state"))
    figure = "[...document.querySelectorAll('#state dt')].find((it) => it.innerText === '%s').nextSibling.innerText"
    page.wait("document.querySelectorAll('#state dt').length > 10")
    assert [page.run(figure % name) for name in ("Engine", "Reachable", "Shards", "Found")] == ["sqlite", "yes", "1", "0"]
    assert page.run("document.getElementById('work').hidden") and page.text("to-state") == "Status"
    httpx.post(server.url("/0.2.0/shop/people/pk-read"), content='{"filters": [{"column": "id", "value": 1}]}').raise_for_status()
    page.wait(f"{figure % 'Found'} === '1'")  # asked again by itself
    page.chromium.ask("Emulation.setDeviceMetricsOverride", page.session, width=320, height=640, deviceScaleFactor=1, mobile=True)
    assert page.run("document.documentElement.scrollWidth") <= 320
    page.run("document.querySelector('#tables button').click()")
    page.wait("!document.getElementById('work').hidden && document.getElementById('state').hidden")
    assert page.run("[violations, errors]") == [0, 0]


def test_the_page_says_what_is_missing(weftd, tmp_path, open_page):
    (tmp_path / "none").mkdir()
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", tmp_path / "none"]) as empty:
        page = open_page(empty.url("/"))
        page.wait("document.getElementById('notice').innerText.includes('no databases')")
        assert "weftd demo" in page.text("notice")
        assert empty.stop() == 0, empty.log
    page.fill("#key", "x")
    page.wait("document.getElementById('notice').innerText.includes('did not answer')")
    page.run("location.hash = '#a/b'")
    page.wait("document.getElementById('notice').innerText.includes('did not answer')")


def test_an_empty_database_says_how_it_is_filled(weftd, tmp_path, open_page):
    """By commands that do."""
    def execute(statement):
        with closing(sqlite3.connect(tmp_path / "new.db")) as database:
            database.execute(statement)
    execute("PRAGMA journal_mode=WAL")
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", tmp_path, "--store.sqlite.engine.schema_refresh=20ms"]) as server:
        page = open_page(server.url("/"))
        page.wait("document.getElementById('form').innerText.includes('no tables')")
        make, fill = page.run("document.querySelector('#form pre').innerText").split("\n")
        (tmp_path / "rows.csv").write_text("id,name\n1,Ada\n")
        assert run(["bash", "-c", make.replace("FOLDER", str(tmp_path))]).returncode == 0
        page.wait("fetch('/0.2.0/new/people/scan', {method: 'POST', body: '{\"limit\": 1}'}), true")
        page.go("about:blank")
        page.wait("location.href === 'about:blank'")
        page.go(server.url("/"))
        assert "0 rows" in page.told(200) and f"this command fills it: {fill}" in page.text("status")
        fill = fill.replace("FOLDER", str(tmp_path)).replace("FILE.csv", str(tmp_path / "rows.csv")).replace("weftd", weftd)
        assert run(["bash", "-c", fill]).returncode == 0
        page.send(200)
        assert page.rows() == [["1", "Ada"]]
        assert server.stop() == 0, server.log


@pytest.fixture
def with_key(weftd, run_weftd, data, tmp_path):
    """A server and one of its keys."""
    def start(*rights):
        made = run_weftd("keygen", "--databases", "shop", *rights)
        (tmp_path / "keys.toml").write_text(made.stdout)
        key = re.search(r"[0-9a-f]{16}\.[0-9a-f]{64}", made.stderr)[0]
        return key, Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", data, "--keys", tmp_path / "keys.toml"])
    return start


def test_the_page_takes_a_key_and_keeps_it_to_itself(with_key, open_page):
    key, server = with_key("--write")
    with server:
        page = open_page(server.url("/#shop/people/row"))
        page.wait("document.getElementById('notice').innerText.includes('asks for an API key')")
        assert page.run("document.activeElement.id") == "key" and "X-API-KEY" in page.text("notice"), "with the server's message"
        page.fill("#key", key[:-1] + ("0" if key[-1] != "0" else "1"))
        page.wait("document.getElementById('notice').innerText.includes('the apikey is unknown')")
        page.fill("#key", key)
        page.wait("document.querySelectorAll('#tables button').length === 3")
        page.fill("input[name=key]", "1")
        page.send(200)
        assert key not in page.text("curl") and "$WEFTD_KEY" in page.text("curl")
        assert page.run("localStorage.length") == 0 and page.run("document.cookie") == ""
        page.show("people", "write")
        page.fill("input[name=key]", "99")
        page.set("name", "Tim")
        page.send(200)
        page.go("about:blank")
        page.wait("location.href === 'about:blank'")
        page.go(server.url("/"))
        page.told(200)
        assert page.run("document.getElementById('key').value") == key, "as long as the tab"
        assert server.stop() == 0, server.log


def test_a_key_that_may_only_read_has_no_form_for_writes(with_key, open_page):
    key, server = with_key()
    with server:
        page = open_page(server.url("/"))
        page.wait("document.activeElement.id === 'key'")
        page.fill("#key", key)
        page.told(200)
        assert len(page.rows()) == 20 and page.run("document.querySelector('.does')") is None
        page.show("people", "write")
        assert page.text("why") == "This API key may read shop but not write to it."
        assert page.run("[...document.querySelectorAll('#form [name], #send')].every((it) => it.disabled)")
        page.press("Enter", 13, modifiers=2)
        assert page.run("document.getElementById('answer').hidden"), "the keyboard sends nothing either"
        page.show("people", "row")
        page.fill("input[name=key]", "1")
        page.send(200)
        assert server.stop() == 0, server.log


def test_a_database_that_is_read_only_ends_the_form_for_writes(weftd, data, open_page):
    (data / "shop.db").chmod(0o444)
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", data], preexec=without_override) as server:
        page = open_page(server.url("/#shop/people/write"))
        page.wait("document.querySelector('select[name=action]')")
        page.fill("input[name=key]", "99")
        page.set("name", "Tim")
        assert "let this program's user write" in page.send(403)
        assert page.run("document.getElementById('send').disabled") and "let this program's user write" in page.text("why")
        page.show("people", "scan")
        page.told(200)
        page.show("people", "write")
        assert page.run("document.getElementById('send').disabled") and "Reload this page" in page.text("why")
        assert server.stop() == 0, server.log


def test_what_the_server_says_is_shown(weftd, data, open_page):
    """Whether it is a reply of the API's or of the server below it, or none."""
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", data]) as server:
        page = open_page(server.url("/#shop/people/scan"))
        page.told(200)
        page.fill("#body", '{"limit": 1, "limt": 2}')
        assert "limt" in page.send(400)
        page.fill("#body", "x" * (5 << 20))
        assert "longer than this server takes" in page.send(413)
        page.run("location.hash = '#shop/none'")
        page.wait("document.getElementById('notice').innerText === 'There is no shop / none that you may read.'")
        assert server.stop() == 0, server.log
        page.press("Enter", 13, modifiers=2)
        page.wait("document.getElementById('wrong').innerText.includes('did not answer')")


def test_the_page_over_a_server(weftd, tmp_path, open_page):
    """Whose SQL quotes names otherwise than the standard."""
    with mariadb(tmp_path) as rows:
        rows.client.run("USE shop", "CREATE TABLE `odd ``\"heap` (a INT)", "INSERT INTO `odd ``\"heap` VALUES(7)",
                        "CREATE TABLE stock(area CHAR(2), id BIGINT UNSIGNED, note TEXT, photo BLOB, PRIMARY KEY(area, id))")
        with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", *rows.arguments], patience_s=60) as server:
            page = open_page(server.url("/#shop/stock/write"))
            page.wait("document.querySelector('select[name=action]')")
            page.fill("input[name=key]", "AB")
            page.fill("input[name=key]", "18446744073709551615", 1)
            page.set("note", "")
            page.send(200)
            page.show("stock", "scan")
            page.told(200)
            assert page.rows() == [["AB", "18446744073709551615", "", "null"]]
            page.show("odd `\"heap", "sql")
            page.wait("document.querySelector('#shown tbody')?.innerText === '7'")
            assert page.is_clean()
            assert server.stop() == 0, server.log


HOLD = """held = []; shown = false; ask_now = fetch;
fetch = async (...asked) => {
  const reply = await ask_now(...asked), text = await reply.text();
  await new Promise((go) => held.push(go));
  setTimeout(() => { shown = true; });
  return {status: reply.status, text: async () => text};
};"""


def test_a_late_reply_is_not_shown_as_another_tables(server, open_page):
    page = open_page(server.url("/#shop/heap"))
    page.told(200)
    page.run(HOLD)
    page.run("location.hash = '#shop/people/scan'")
    page.wait("held.length === 1")
    page.run("fetch = ask_now; location.hash = '#shop/' + encodeURIComponent('<i>odd & name')")
    page.wait("document.querySelector('#shown tbody')?.innerText.includes('x y')")
    page.run("held[0]()")
    page.wait("shown")
    assert page.rows() == [["x y", "1", "5"]]
    assert page.is_clean()
