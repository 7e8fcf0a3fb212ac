"""What weftd holds before anybody needs it: a library that is linked is not set up until it is used."""

import re

import httpx
import pytest

CODE_MAX = 1 << 20  # bytes of OpenSSL's code; setting it up touches twice that


def resident_code(pid, library):
    """Bytes; None where the program has no such library."""
    resident, is_its_code = None, False
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as smaps:
        for line in smaps:
            if mapping := re.match(r"[0-9a-f]+-[0-9a-f]+ (\S+) .*?(\S*)$", line):
                is_its_code = mapping[1].startswith("r-x") and f"/{library}" in mapping[2]
            elif is_its_code and line.startswith("Rss:"):
                resident = (resident or 0) + int(line.split()[1]) * 1024
    return resident


def test_openssl_is_not_set_up_before_it_is_needed(serve, backend):
    with serve("--backend", backend, "--threads", "1") as server:
        before = resident_code(server.pid, "libcrypto")
        if before is None:
            pytest.skip("OpenSSL is no library of its own here")
        assert before < CODE_MAX
        assert httpx.post(server.url("/ping"), json={"sequence": 2}).status_code == 200
        assert resident_code(server.pid, "libcrypto") < CODE_MAX
        # The page's policy has hashes.
        assert "sha256-" in httpx.get(server.url("/"), headers={"Accept": "text/html"}).headers["content-security-policy"]
        assert resident_code(server.pid, "libcrypto") > before
        assert server.stop() == 0, server.log
