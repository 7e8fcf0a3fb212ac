"""What a check says to a server over HTTP/2, by curl, which knows its framing. The load itself finds out whether connections are kept."""

from __future__ import annotations

import json
import shutil
import subprocess

from harness.answer import TIMEOUT, Answer


class CurlConversation:
    def __init__(self, host: str, port: int):
        self._base = f"http://{host}:{port}"

    def ask(self, method: str, path: str, body: bytes = b"", reads_all: bool = True) -> Answer:
        """Raises ValueError for an answer that is none, or not by HTTP/2. `reads_all` cannot be seen from here."""
        if shutil.which("curl") is None:
            raise ValueError("curl is not installed, which looks whether answers are right")
        sent = ["--data-binary", "@-", "--header", "Content-Type: application/json"] if method == "POST" else []
        done = subprocess.run(
            ["curl", "--silent", "--show-error", "--http2-prior-knowledge", "--max-time", f"{TIMEOUT:g}", *sent,
             "--write-out", "%{stderr}%{json}", self._base + path],
            input=body, capture_output=True, timeout=2 * TIMEOUT, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise ValueError(done.stderr.decode(errors="replace").partition("\n")[0])
        said = json.loads(done.stderr)
        if said["http_version"] != "2":
            raise ValueError(f"HTTP/{said['http_version']}, not 2")
        return Answer(
            status=said["response_code"],
            kind=said["content_type"] or "",
            body=done.stdout,
            size=said["size_header"] + said["size_download"],
            closes=False,
        )
