"""A WebSocket client as small as can be, for checks and for loads of few messages a second."""

from __future__ import annotations

import base64
import os
import socket
import struct

TIMEOUT = 10.0  # seconds


def frame(message: bytes) -> bytes:
    """A binary message, whose mask is zero: it changes nothing for the server."""
    size = len(message)
    if size < 126:
        length = bytes([0x80 | size])
    else:
        length = struct.pack("!BH", 0x80 | 126, size) if size < 65536 else struct.pack("!BQ", 0x80 | 127, size)
    return b"\x82" + length + b"\0\0\0\0" + message


def open_websocket(host: str, port: int, path: str) -> socket.socket:
    """Raises ValueError unless the server agrees."""
    one = socket.create_connection((host, port), TIMEOUT)
    try:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        one.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n").encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            piece = one.recv(4096)  # nothing follows the head before something is asked
            if not piece:
                raise ValueError(f"closed instead of a WebSocket: {head!r}")
            head += piece
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ValueError(f"no WebSocket: {head!r}")
    except BaseException:
        one.close()
        raise
    return one


def _exactly(one: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        piece = one.recv(size - len(received))
        if not piece:
            raise ValueError(f"closed after {len(received)} of {size} bytes")
        received += piece
    return bytes(received)


def read_message(one: socket.socket) -> bytes:
    """A binary message, in as many frames as the server makes of it (RFC 6455 section 5.4)."""
    message, is_last = b"", False
    while not is_last:
        first, second = _exactly(one, 2)
        is_last = bool(first & 0x80)
        if first & 0x7F not in (0x00, 0x02):
            raise ValueError(f"a frame with opcode {first & 0x0F} and bits {first >> 4:04b}")
        size = second & 0x7F
        if size >= 126:
            wide = 2 if size == 126 else 8
            size = int.from_bytes(_exactly(one, wide), "big")
        message += _exactly(one, size)
    return message
