"""A real browser whose pages can be asked."""

import json
import os
import shutil
import signal
import subprocess
import time

import pytest

BLANK = "about:blank"
NAMES = ["chromium-headless-shell", "chromium"]


def browser():
    found = next(filter(None, map(shutil.which, NAMES)), None)
    return found or pytest.fail("there is no Chromium: `make setup` installs it")


class Refused(Exception):
    """What was asked could not be done."""


class Chromium:
    """A browser with pages whose scripts can be asked, over the DevTools protocol on two pipes."""

    def __init__(self, folder, *options):
        to_browser, self.asks = os.pipe()
        self.hears, from_browser = os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "bash", browser(), "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
             f"--user-data-dir={folder}", "--remote-debugging-pipe", *options],
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
            if answer.get("id") != self.asked:
                continue
            if "error" in answer:
                raise Refused(f"{method}: {answer['error']['message']}")
            return answer["result"]

    def open(self, url):
        """Gives by what the page is asked, once it is there: each begins as a blank one."""
        target = self.ask("Target.createTarget", url=url)["targetId"]
        page = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        if url != BLANK:
            self.wait_for(page, f"location.href != '{BLANK}'")
        return page

    def wait_for(self, page, script):
        """Until it is true; the test has its time."""
        while not self.is_true(page, script):
            time.sleep(0.05)

    def is_true(self, page, script):
        """Of a page that is just being left it is not."""
        try:
            return self.ask("Runtime.evaluate", page, expression=script)["result"].get("value", False)
        except Refused:
            return False
