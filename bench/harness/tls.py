"""What servers that speak TLS show, and how they are spoken to: each of them is given a certificate of its own."""

from __future__ import annotations

import socket
import ssl
import subprocess
from pathlib import Path

CERTIFICATE, KEY = "certificate.pem", "key.pem"
# Options of weftd, in the command of a Subject.
WEFTD_TLS = f"--http.server.tls.certificate={{scratch}}/{CERTIFICATE} --http.server.tls.key={{scratch}}/{KEY}"


def make_certificate(folder: Path) -> None:
    """One that vouches for itself, and its key: P-256, which most of the web has. Raises OSError without openssl."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-keyout", folder / KEY, "-out", folder / CERTIFICATE],
        check=True, capture_output=True,
    )  # fmt: skip


def secured(plain: socket.socket) -> ssl.SSLSocket:
    """Whoever it is on the other side. Owns `plain` from then on."""
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False
    trusting.verify_mode = ssl.CERT_NONE
    return trusting.wrap_socket(plain)
