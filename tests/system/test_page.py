"""weftd's page at /: what browsers are given and what others are, and the page in Chromium, by keyboard and by script."""

import json
import re
import sqlite3

import httpx
import pytest
from chromium import Chromium
from weft_process import Server, curl

SCHEMA = '''
PRAGMA journal_mode=WAL;
CREATE TABLE people(id INTEGER PRIMARY KEY, name VARCHAR(50), big BIGINT);
INSERT INTO people VALUES(1, 'Ada', 9223372036854775807), (2, '<img src=x onerror=hacked=1>', NULL);
WITH RECURSIVE c(x) AS (SELECT 3 UNION ALL SELECT x+1 FROM c WHERE x<50) INSERT INTO people SELECT x, 'n'||x, x FROM c;
CREATE TABLE "<i>odd & name"("the ""key""" VARCHAR(10), part INT, v INT, PRIMARY KEY("the ""key""", part));
INSERT INTO "<i>odd & name" VALUES('x y', 1, 5);
CREATE TABLE heap(a INT);
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
        self.chromium.wait_for(self.session, script)

    def text(self, id):
        return self.run(f"document.getElementById('{id}').innerText")

    def fill(self, selector, value, which=0):
        self.run(f"(() => {{ const it = document.querySelectorAll({json.dumps(selector)})[{which}]; it.value = {json.dumps(value)};"
                 "it.dispatchEvent(new Event('input', {bubbles: true})); it.dispatchEvent(new Event('change', {bubbles: true})) })()")

    def press(self, key, code, **others):
        for kind in ("keyDown", "keyUp"):
            self.chromium.ask("Input.dispatchKeyEvent", self.session, type=kind, key=key, windowsVirtualKeyCode=code, **others)

    def send(self, status):
        """By the keyboard; gives what is said above the answer."""
        self.run("document.getElementById('status').textContent = ''")
        self.press("Enter", 13, modifiers=2)
        self.wait("/^\\d/.test(document.getElementById('status').textContent)")
        told = self.text("status")
        assert told.startswith(str(status)), told
        return told

    def rows(self):
        return self.run("[...document.querySelectorAll('#shown tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText))")


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


def test_rows_are_read_in_the_page(server, open_page):
    page = open_page(server.url("/#shop/people/row"))
    page.wait("document.querySelectorAll('#tables button').length === 3")
    assert page.text("where") == "shop / people"
    page.fill("input[name=key]", "1")
    assert "1 row" in page.send(200) and page.rows() == [["Ada", "9223372036854775807"]]
    line = page.text("curl")
    assert line.startswith("curl --data-raw '{ \"filters\"") and server.url("/0.2.0/shop/people/pk-read") in line
    page.fill("input[name=key]", "99")
    assert "no such row" in page.send(404)
    page.fill("input[name=key]", "x")
    assert "Wrong data type" in page.send(400)
    page.fill("input[name=key]", "2")
    page.send(200)
    assert page.rows() == [["<img src=x onerror=hacked=1>", "null"]], "values are no markup"
    assert page.run("typeof hacked") == "undefined" and page.run("[violations, errors]") == [0, 0]
    page.run("document.body.append(Object.assign(document.createElement('script'), {textContent: 'hacked = 1'}))")
    page.wait("violations > 0")
    assert page.run("typeof hacked") == "undefined", "the policy holds"


def test_batches_scans_and_sql_in_the_page(server, open_page):
    page = open_page(server.url("/#shop/%3Ci%3Eodd%20%26%20name/batch"))
    page.wait("document.querySelectorAll('input[name=key]').length === 4")
    for which, value in enumerate(["x y", "1", "x y", "2"]):
        page.fill("input[name=key]", value, which)
    page.send(200)
    assert page.rows() == [["200", "5", ""], ["404", "", "the row does not exist"]]
    page.run("location.hash = '#shop/people/scan'")
    page.wait("document.querySelector('select[name=cond]') !== null")
    page.fill("select[name=column]", "id")
    page.fill("select[name=cond]", "GE")
    page.fill("input[name=value]", "10")
    page.fill("input[name=limit]", "30")
    assert "30 rows" in page.send(200) and page.rows()[0] == ["10", "n10", "10"]
    page.run("document.getElementById('next').click()")
    page.wait("document.querySelector('#shown tbody td').innerText === '40'")
    assert len(page.rows()) == 11 and page.run("document.getElementById('next').hidden")
    page.run("location.hash = '#shop/people/sql'")
    page.wait("document.querySelector('textarea[name=query]') !== null")
    page.fill("textarea[name=query]", "SELECT name, :n AS n FROM people WHERE id = :id")
    page.fill("textarea[name=parameters]", '{"id": 1, "n": "it\'s"}')
    page.send(200)
    assert page.rows() == [["Ada", "it's"]] and "it'\\''s" in page.text("curl")
    page.fill("textarea[name=query]", "DELETE FROM people")
    assert "only read" in page.send(400)
    page.run("location.hash = '#shop/heap/row'")
    page.wait("document.getElementById('form').innerText.includes('no primary key')")
    assert "0 rows" in page.send(200)
    assert page.run("[violations, errors]") == [0, 0]


def test_the_page_works_by_keyboard_and_on_narrow_screens(server, open_page):
    page = open_page(server.url("/"))
    page.wait("document.querySelectorAll('#tables button').length === 3")
    for _ in range(8):
        page.press("Tab", 9)
        if page.run("document.activeElement.innerText") == "people":
            break
    page.press("Enter", 13, text="\r")
    page.wait("document.querySelector('[aria-current]').innerText === 'people'")
    assert page.run("document.activeElement.innerText") == "people"
    page.chromium.ask("Emulation.setDeviceMetricsOverride", page.session, width=320, height=640, deviceScaleFactor=1, mobile=True)
    for kind in ("row", "batch", "scan", "sql"):
        page.run(f"location.hash = '#shop/people/{kind}'")
        page.wait("document.querySelector('.kinds [aria-pressed=true]').innerText.toLowerCase() === '%s'" % kind)
        assert page.run("document.documentElement.scrollWidth") <= 320, kind


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
        assert empty.stop() == 0, empty.log
    page.fill("#key", "x")
    page.wait("document.getElementById('notice').innerText.includes('did not answer')")


def test_the_page_takes_a_key_and_keeps_it_to_itself(weftd, run_weftd, data, tmp_path, open_page):
    made = run_weftd("keygen", "--databases", "shop")
    (tmp_path / "keys.toml").write_text(made.stdout)
    key = re.search(r"[0-9a-f]{16}\.[0-9a-f]{64}", made.stderr)[0]
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", data, "--keys", tmp_path / "keys.toml"]) as server:
        page = open_page(server.url("/#shop/people/row"))
        page.wait("document.getElementById('notice').innerText.includes('asks for an API key')")
        page.fill("#key", key)
        page.wait("document.querySelectorAll('#tables button').length === 3")
        page.fill("input[name=key]", "1")
        page.send(200)
        assert key not in page.text("curl") and "$WEFTD_KEY" in page.text("curl")
        assert page.run("localStorage.length") == 0 and page.run("document.cookie") == ""
        page.go("about:blank")
        page.wait("location.href === 'about:blank'")
        page.go(server.url("/"))
        page.wait("document.querySelectorAll('#tables button').length === 3")
        assert page.run("document.getElementById('key').value") == key, "as long as the tab"
        assert server.stop() == 0, server.log
