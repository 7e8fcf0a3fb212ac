"""Requests such as clients and attackers send: whole ones, and ones with up to three things wrong or odd.

Drawn by a seed, so that a difference which is found is found again.
"""

from __future__ import annotations

import random

METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "CONNECT", "TRACE", "PROPFIND"]
ODD_METHODS = ["get", "G", "GETT", "G T", "", "LOCK", "M-SEARCH", "FOO", "G\x00T"]
TARGETS = ["/", "/a", "/a/b?c=d", "/a%20b", "/?", "/a/../b", "//a", "http://host/a", "http://host:80/?q", "*",
           "host:443", "/%zz", "/%00", "/a#b", "/\xe4", "/a\"b", "/a|b", "/a{b}", "", "a", "/a b", "http://", "/a\tb",
           "https://user@host/", "http://other/"]
VERSIONS = ["HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "HTTP/1.10", "http/1.1", "HTTP/11", "HTTP/1.",
            "HTTPS/1.1", "", "HTTP/ 1.1"]
LENGTHS = ["0", "5", "05", "+5", "-5", "5 ", "5,5", "5, 5", "5;", "0x5", "", "99999999999999999999", "5 5", "5.0",
           "1048577", "18446744073709551616"]
CODINGS = [
    "chunked", "Chunked", "gzip", "gzip, chunked", "chunked, gzip", "chunked, chunked", "identity", "", "chunked ",
    "\tchunked", "xchunked", "chunkedx", ",chunked", "chunked,", "chunked;q=1", "\"chunked\"", "\x0bchunked",
]
CONNECTIONS = ["close", "keep-alive", "Keep-Alive", "close, keep-alive", "upgrade", "Upgrade, close", "", "x y", ",",
               "te, close", "closed", "c\xe4"]
NAMES = [
    "Accept", "X-A", "x", "A b", "A\t", "A ", "", "A\x00", "\xc4", "(A)", "A:B", "A_b", "A~!#$%&'*+-.^_`|", " A",
    "Expect", "Host", "Cookie", "Proxy-Connection",
]
VALUES = [
    "a", "", " ", "a b", "\ta\t", "a\x00b", "a\x01b", "a\x7fb", "\xe4", "a\rb", "a\nb", "a\r\n b", "a\r\n\tb",
    "\r\n", "a, b", "100-continue", "x" * 300, "a\x0bb", "host", "a:b",
]
HOSTS = [
    "host", "host:80", "host:", "[::1]", "[::1]:80", "[::1", "", "a b", "user@host", "a,b", "host:x", "h\xe4",
    "host/a", "127.0.0.1", "a_b", "other",
]
CHUNKED = [
    "5\r\nhello\r\n0\r\n\r\n", "0\r\n\r\n", "5;a=b\r\nhello\r\n0\r\n\r\n", "5;a=\"b\"\r\nhello\r\n0\r\n\r\n",
    "5 \r\nhello\r\n0\r\n\r\n", "05\r\nhello\r\n000\r\n\r\n", "5\nhello\n0\n\n", "5\r\nhello0\r\n\r\n",
    "5\r\nhell\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\nA: b\r\n\r\n", "5\r\nhello\r\n0\r\nA b\r\n\r\n", "g\r\n\r\n",
    "-1\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n", "ffffffffffffffff\r\n", "10000000000000000\r\nhello", "\r\n",
    "5;\r\nhello\r\n0\r\n\r\n", "5;a=\x00\r\nhello\r\n0\r\n\r\n", "5;a=\"\r\n\"\r\nhello\r\n0\r\n\r\n",
    "5\r\nhello\r\n0\r\n", "5\r\nhello\r\n0\r\nHost: b\r\n\r\n", "5;a\nb\r\nhello\r\n0\r\n\r\n",
    "A\r\n0123456789\r\n0\r\n\r\n", "5\rhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\n\n", ";\r\nhello\r\n0\r\n\r\n",
    "5\r\nhello\r\n0\r\n A: b\r\n\r\n", "5\r\nhello\r\n0\r\nA:\x00\r\n\r\n",
]
LINE_ENDS = ["\n", "\r", "\r\r\n", "\n\r", " \r\n", "\r\n\r\n", "\r\n ", ""]
PREFIXES = ["\r\n", "\n", "\r\n\r\n", " ", "\t", "\r", "\x00", "\xef\xbb\xbf", "\r\n\r\n\r\n"]
BYTES = "\x00\t\n\r !\"#%,/:;=?@[]{}|\x7f\x80\xffA0"


class Request:
    """The parts of a request, each of which may be spoilt."""

    def __init__(self, draw: random.Random) -> None:
        self.prefix = ""
        self.method = draw.choice(METHODS[:7])
        self.target = draw.choice(TARGETS[:5])
        self.spaces = [" ", " "]
        self.version = "HTTP/1.1" if draw.random() < 0.9 else "HTTP/1.0"
        self.fields = [("Host", ": ", "host")]
        self.ends: dict[int, str] = {}  # instead of CR LF, by line
        self.body = ""
        for _ in range(draw.randrange(3)):
            self.fields.append((draw.choice(NAMES[:3]), ": ", draw.choice(VALUES[:4])))
        kind = draw.random()
        if kind < 0.3:
            self.fields.append(("Content-Length", ": ", "5"))
            self.body = "hello"
        elif kind < 0.6:
            self.fields.append(("Transfer-Encoding", ": ", "chunked"))
            self.body = draw.choice(CHUNKED[:4])
        draw.shuffle(self.fields)

    def bytes(self) -> bytes:
        lines = [self.method + self.spaces[0] + self.target + self.spaces[1] + self.version]
        lines += [name + colon + value for name, colon, value in self.fields] + [""]
        text = "".join(line + self.ends.get(i, "\r\n") for i, line in enumerate(lines))
        return (self.prefix + text + self.body).encode("latin-1")


def at_random(draw: random.Random, fields: list) -> int:
    return draw.randrange(len(fields) + 1)


def add(request: Request, draw: random.Random, name: str, value: str, colon: str = ": ") -> None:
    request.fields.insert(at_random(draw, request.fields), (name, colon, value))


def replace(request: Request, name: str, value: str) -> None:
    request.fields = [(n, c, value if n == name else v) for n, c, v in request.fields]


def drop_a_field(request: Request, draw: random.Random) -> None:
    if request.fields:
        request.fields.pop(draw.randrange(len(request.fields)))


def break_a_line(request: Request, draw: random.Random) -> None:
    request.ends[draw.randrange(len(request.fields) + 2)] = draw.choice(LINE_ENDS)


def spoil_a_space(request: Request, draw: random.Random) -> None:
    request.spaces[draw.randrange(2)] = draw.choice(["", "  ", "\t", "\x0b", "\r"])


def odd_chunks(request: Request, draw: random.Random) -> None:
    if not any(name == "Transfer-Encoding" for name, _, _ in request.fields):
        add(request, draw, "Transfer-Encoding", "chunked")
    request.body = draw.choice(CHUNKED)


def odd_length(request: Request, draw: random.Random) -> None:
    length = draw.choice(LENGTHS)
    if any(name == "Content-Length" for name, _, _ in request.fields) and draw.random() < 0.5:
        replace(request, "Content-Length", length)
    else:
        add(request, draw, "Content-Length", length)
        request.body = request.body or "hello"


MUTATIONS = [
    lambda r, d: setattr(r, "method", d.choice(METHODS + ODD_METHODS)),
    lambda r, d: setattr(r, "target", d.choice(TARGETS)),
    lambda r, d: setattr(r, "version", d.choice(VERSIONS)),
    lambda r, d: setattr(r, "prefix", d.choice(PREFIXES)),
    lambda r, d: add(r, d, d.choice(NAMES), d.choice(VALUES[:4])),
    lambda r, d: add(r, d, "X-A", d.choice(VALUES)),
    lambda r, d: add(r, d, "X-A", "a", d.choice([":", " : ", ":\t", "", " ", "\t:", "::", ":  "])),
    lambda r, d: add(r, d, "Connection", d.choice(CONNECTIONS)),
    lambda r, d: add(r, d, "Transfer-Encoding", d.choice(CODINGS)),
    lambda r, d: replace(r, "Transfer-Encoding", d.choice(CODINGS)),
    lambda r, d: replace(r, "Host", d.choice(HOSTS)),
    lambda r, d: add(r, d, "Expect", d.choice(["100-continue", "100-Continue", "other", ""])),
    lambda r, d: add(r, d, "Upgrade", d.choice(["websocket", "h2c", ""])),
    drop_a_field, break_a_line, spoil_a_space, odd_chunks, odd_length,
]


def change_a_byte(raw: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(raw))
    new = draw.choice(BYTES).encode("latin-1")
    return {0: raw[:at] + raw[at + 1:], 1: raw[:at] + new + raw[at:], 2: raw[:at] + new + raw[at + 1:],
            3: raw[:at]}[draw.randrange(4)]


def generate(count: int, seed: int) -> list[bytes]:
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        request = Request(draw)
        for _ in range(draw.choice([0, 1, 1, 1, 2, 2, 3])):
            draw.choice(MUTATIONS)(request, draw)
        raw = request.bytes()
        if draw.random() < 0.15:
            raw = change_a_byte(raw, draw)
        made.append(raw)
    return made
