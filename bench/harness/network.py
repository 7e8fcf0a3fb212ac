"""A network for the benchmark alone, where that is permitted: nobody else's connections, and room
for many.

With the usual range of ports 19,000 connections to one address are slow to open, since the kernel
searches for a free port in order once half of them are used.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import socket
import struct
from pathlib import Path

_CLONE_NEWUSER = 0x1000_0000
_CLONE_NEWNET = 0x4000_0000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

SETTINGS = {
    "net/ipv4/ip_local_port_range": "2048 65535",
    "net/ipv4/tcp_max_syn_backlog": "8192",
    "net/core/somaxconn": "4096",
}
SPARE_DESCRIPTORS = 500  # what a server and a generator need beside their connections


def isolate() -> str | None:
    """Moves this process and those it starts into a network namespace of their own. Why not, if it
    is not permitted: all goes on in the machine's network then."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_CLONE_NEWNET) != 0:
        if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
            return os.strerror(ctypes.get_errno())
        for name, line in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            Path(f"/proc/self/{name}").write_text(line)
    with socket.socket() as any_socket:
        request = struct.pack("16sh", b"lo", 0)
        (flags,) = struct.unpack_from("h", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request), 16)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh", b"lo", flags | _IFF_UP))
    for name, value in SETTINGS.items():
        Path("/proc/sys", name).write_text(value)
    return None


def raise_descriptor_limit() -> int:
    """As far as it goes, for this process and those it starts; that limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def most_connections(descriptors: int, port_range: str) -> int:
    """How many connections to one address are possible: each end needs a descriptor of its process
    and the client a port, of which a fifth is left free so that one is found soon."""
    low, high = map(int, port_range.split())
    return min(descriptors - SPARE_DESCRIPTORS, (high - low) * 4 // 5)


def port_range() -> str:
    return Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
