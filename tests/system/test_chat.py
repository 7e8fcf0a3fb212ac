"""examples/chat: two pages in Chromium that hear each other, and what other pages and programs get."""

import json
import os
import shutil
import signal
import subprocess
import time

import httpx
import pytest
from test_browser import browser
from weft_process import Server

HANDSHAKE = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
             "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}


@pytest.fixture
def started(example, backend):
    with Server([example("chat"), "--listen", "127.0.0.1:0", "--threads", "2", "--backend", backend]) as server:
        yield server


@pytest.fixture
def chat(started):
    yield started
    assert started.stop() == 0, started.log


class Chromium:
    """A browser with pages whose scripts can be asked, over the DevTools protocol on two pipes."""

    def __init__(self, folder):
        to_browser, self.asks = os.pipe()
        self.hears, from_browser = os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "bash", browser(), "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
             f"--user-data-dir={folder}", "--remote-debugging-pipe"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(to_browser, from_browser), start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.asked = 0
        self.heard = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)  # with the processes it has started
        self.process.wait()
        os.close(self.asks)
        os.close(self.hears)

    def ask(self, method, session=None, **parameters):
        self.asked += 1
        message = {"id": self.asked, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.asks, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.heard:
                more = os.read(self.hears, 1 << 16)
                assert more, "the browser has ended"
                self.heard += more
            answer, self.heard = self.heard.split(b"\0", 1)
            answer = json.loads(answer)
            if answer.get("id") == self.asked:
                return answer["result"]

    def open(self, url):
        """Gives by what the page is asked."""
        target = self.ask("Target.createTarget", url=url)["targetId"]
        return self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def wait_for(self, page, script):
        """Until it is true; the test has its time."""
        while not self.ask("Runtime.evaluate", page, expression=script)["result"].get("value"):
            time.sleep(0.05)


def test_two_pages_hear_each_other(chat, tmp_path):
    with Chromium(tmp_path) as chromium:
        pages = {name: chromium.open(chat.url(f"/?name={name}&say=hello+from+{name}")) for name in ("ann", "bob")}
        for page in pages.values():
            for name in pages:
                chromium.wait_for(page, "document.getElementById('said')?.innerText.includes"
                                        f"('{name}: hello from {name}')")
        chromium.ask("Runtime.evaluate", pages["ann"], expression="socket.send('<b>κόσμε</b>')")
        chromium.wait_for(pages["bob"], "document.getElementById('said').innerText.includes('ann: <b>κόσμε</b>')")


def test_pages_are_told_the_end(started, tmp_path):
    with Chromium(tmp_path) as chromium:
        page = chromium.open(started.url("/?name=ann&say=hello"))
        chromium.wait_for(page, "document.getElementById('said')?.innerText.includes('hello')")
        started.send_signal(signal.SIGTERM)
        chromium.wait_for(page, "document.getElementById('said').innerText.includes('The end: 1001 the server ends')")
    assert started.process.wait(20) == 0, started.read_log()


def test_a_page_of_others_may_not_connect(chat):
    def status(origin):
        with httpx.stream("GET", chat.url("/rooms/lobby?name=eve"), headers={**HANDSHAKE, "Origin": origin}) as reply:
            return reply.status_code

    assert status("http://evil.example") == 403
    assert status(f"http://{chat.address}") == 101


def test_curl_is_upgraded(chat):
    curl = shutil.which("curl")
    done = subprocess.run([curl, "-sS", "-i", "--max-time", "2", "-o", "-",
                           *(part for name, value in HANDSHAKE.items() for part in ("-H", f"{name}: {value}")),
                           chat.url("/rooms/lobby?name=curl")], capture_output=True)
    assert done.stdout.startswith(b"HTTP/1.1 101 Switching Protocols\r\n"), done.stdout
    assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in done.stdout
