"""Chromium opens a page of ours, in the clear and over TLS, whose script fetches, uploads and downloads."""

import base64
import gzip
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from authority import tls_options
from chromium import browser
from weft_process import Server

PAGE = Path(__file__).resolve().parent / "page"
PATIENCE_S = 60


def key_digest(certificate):
    """By which a browser is told to trust this key, and no other that it would not."""
    shown = subprocess.run(["openssl", "x509", "-in", certificate, "-noout", "-pubkey"], capture_output=True, check=True)
    der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=shown.stdout, capture_output=True,
                         check=True).stdout
    return base64.b64encode(hashlib.sha256(der).digest()).decode()


@pytest.fixture
def folder(tmp_path):
    served = tmp_path / "served"
    shutil.copytree(PAGE, served)
    (served / "page.js.gz").write_bytes(gzip.compress((PAGE / "page.js").read_bytes()))
    (served / "large.bin").write_bytes(random.Random(5).randbytes(1_000_000))
    return served


def report(server, chromium):
    """What the page has told the server."""
    give_up = time.monotonic() + PATIENCE_S
    while not (told := httpx.get(server.url("/report"), verify=False, timeout=20).text):
        assert chromium.poll() is None, f"the browser has ended with {chromium.returncode}"
        assert time.monotonic() < give_up, "the page has reported nothing"
        time.sleep(0.1)
    return json.loads(told)


def test_a_page_in_chromium(playground, folder, site, tmp_path):
    command = [playground, "--threads", "1", f"--http.static_files.folder={folder}"]
    with Server(command) as plain, Server([*command, *tls_options(site)], scheme="https") as secured, \
            open(tmp_path / "chromium.log", "w+") as log:
        chromium = subprocess.Popen(
            [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--remote-debugging-port=0", f"--user-data-dir={tmp_path / 'profile'}",
             f"--ignore-certificate-errors-spki-list={key_digest(site[0])}", plain.url(f"/?next={secured.url('/')}")],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        try:
            for server, protocol in (plain, "http:"), (secured, "https:"):
                outcomes = report(server, chromium)
                assert outcomes.pop("protocol") == protocol
                assert len(outcomes) > 5
                assert set(outcomes.values()) == {"ok"}, outcomes
        except AssertionError:
            log.seek(0)
            print(log.read())
            raise
        finally:
            os.killpg(chromium.pid, signal.SIGKILL)  # with the processes it has started
            chromium.wait()
        for server in plain, secured:
            assert server.stop() == 0, server.log
