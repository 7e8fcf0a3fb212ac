"""Nodes on networks of their own, which can be cut: each has an address that clients reach, and one that other nodes
reach, and either way may lead nowhere.

    with Hub(3) as hub:            # this thread, and what it starts, is where clients are
        hub.cut_from_nodes(1)      # node 1 can be asked, and hears nothing of the others
        hub.heal(1)

All of it ends with the programs that are in it; nothing of the machine's own network is touched.
"""

import ctypes
import os
import subprocess

from galera import Place
from mariadb_server import end_with_parent
from network import CLONE_NEWNET, join_network, new_network

CLIENTS, NODES = "10.99.1", "10.99.2"  # of addresses that end in the number of who has them


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True, capture_output=True)


class Hub:
    def __init__(self, nodes):
        self.nodes = nodes

    def __enter__(self):
        self.outside = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        new_network()
        self.holders = []
        try:
            for bridge in ("clients", "nodes"):
                ip("link", "add", bridge, "type", "bridge", "forward_delay", 0)
                ip("link", "set", bridge, "up")
            ip("address", "add", f"{CLIENTS}.1/24", "dev", "clients")
            self.places = [self._place(number) for number in range(self.nodes)]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for holder in self.holders:
            holder.kill()
            holder.wait()
        ctypes.CDLL(None, use_errno=True).setns(self.outside, CLONE_NEWNET)
        os.close(self.outside)

    def _place(self, number):
        def enter():
            end_with_parent()
            new_network()
        # Whose network is there once it runs, since Popen() returns after that.
        holder = subprocess.Popen(["sleep", "infinity"], stdin=subprocess.DEVNULL, preexec_fn=enter)
        self.holders.append(holder)
        inside = ["nsenter", f"--net=/proc/{holder.pid}/ns/net", "ip"]
        for bridge, subnet in (("clients", CLIENTS), ("nodes", NODES)):
            here = f"{bridge}{number}"
            ip("link", "add", here, "type", "veth", "peer", "name", bridge, "netns", holder.pid)
            ip("link", "set", here, "master", bridge, "up")
            subprocess.run([*inside, "address", "add", f"{subnet}.{10 + number}/24", "dev", bridge], check=True)
            subprocess.run([*inside, "link", "set", bridge, "up"], check=True)
        return Place(serves=f"{CLIENTS}.{10 + number}", group=f"{NODES}.{10 + number}", enter=lambda: join_network(holder.pid))

    def cut_from_nodes(self, number):
        """Silently: what is sent goes nowhere."""
        ip("link", "set", f"nodes{number}", "nomaster")

    def cut_from_all(self, number):
        self.cut_from_nodes(number)
        ip("link", "set", f"clients{number}", "nomaster")

    def heal(self, number):
        for bridge in ("clients", "nodes"):
            ip("link", "set", f"{bridge}{number}", "master", bridge)
