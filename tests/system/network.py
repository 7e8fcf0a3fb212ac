"""A network of their own for a program and its clients, with all ports free: nobody else's connections count.

    Server(command, preexec=new_network)
    Crowd(server, preexec=lambda: join_network(server.pid))
"""

import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS = 0x8914
IFF_UP = 1

_libc = ctypes.CDLL(None, use_errno=True)


def new_network():
    """For preexec_fn: a network namespace with a loopback interface and every port from 1024."""
    if _libc.unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
    with open("/proc/sys/net/ipv4/ip_local_port_range", "w") as ports:
        ports.write("1024 65535")


def join_network(pid):
    """For preexec_fn: the namespace of that process."""
    with open(f"/proc/{pid}/ns/net") as namespace:
        if _libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")


def networks_can_be_made():
    pid = os.fork()
    if pid == 0:
        try:
            new_network()
            os._exit(0)
        except OSError:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0
