"""A cluster of Galera: nodes of MariaDB that have the same rows, on this machine.

    with Cluster(folder, [Place() for _ in range(3)]) as cluster:
        cluster.nodes[0].kill()

Each begins with a copy of the first one's files; what is missing since then nodes get from each other (IST). Who has been
away for too long for that would be handed all rows (SST), which wsrep_sst_weft refuses. Bounds of time are Galera's own.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import mariadb_server
from mariadb_server import DATABASE, PASSWORD, USER, as_user, end_with_parent, find, free_port, new_files

HERE = Path(__file__).resolve().parent
PROVIDER = Path("/usr/lib/galera/libgalera_smm.so")
PATIENCE_S = 60
OPTIONS = [option for option in mariadb_server.OPTIONS if not option.startswith("--bind-address")]


def missing():
    """What is not installed, or None."""
    if why := mariadb_server.missing():
        return why
    return None if PROVIDER.exists() else "galera-4 is not installed: tools/setup installs it"


@dataclass
class Place:
    """Where a node is: its address for clients and the one for other nodes, and how a program gets there."""
    serves: str = "127.0.0.1"
    group: str = "127.0.0.1"
    enter: object = None
    port: int = field(default_factory=free_port)
    group_port: int = field(default_factory=free_port)
    transfer_port: int = field(default_factory=free_port)


class Node:
    def __init__(self, folder, number, place, peers):
        self.folder, self.number, self.place, self.peers = folder, number, place, peers
        self.folder.mkdir()
        self.socket = str(folder / "socket")
        self.process = None

    @property
    def address(self):
        return f"{self.place.serves}:{self.place.port}"

    def _command(self, *more):
        place = self.place
        provider = (f"base_host={place.group};base_port={place.group_port};gmcast.listen_addr=tcp://{place.group}:{place.group_port};"
                    f"ist.recv_addr={place.group}:{place.transfer_port};gcache.size=16M")
        return [find("mariadbd"), "--no-defaults", *as_user(), f"--datadir={self.folder}/data",
                f"--socket={self.socket}", f"--port={place.port}", f"--bind-address={place.serves}",
                f"--pid-file={self.folder}/pid", *OPTIONS, "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2",
                "--wsrep-on=ON", f"--wsrep-provider={PROVIDER}", f"--wsrep-node-name=node{self.number}",
                f"--wsrep-node-address={place.group}:{place.group_port}", f"--wsrep-cluster-address=gcomm://{','.join(self.peers)}",
                "--wsrep-sst-method=weft", f"--wsrep-sst-receive-address={self.folder}/state", "--wsrep-sync-wait=1",
                f"--wsrep-provider-options={provider}", *more]

    def start(self, *more):
        def enter():
            end_with_parent()
            if self.place.enter:
                self.place.enter()
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(self._command(*more), stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=enter,
                                            env={**os.environ, "PATH": f"{HERE}:{os.environ['PATH']}"})

    def rejoin(self):
        """With the rows that it has, however it ended."""
        self.start(f"--wsrep-start-position={self.position()}")

    def position(self):
        """Of its rows in the cluster's history."""
        state = dict(re.findall(r"^(\w+): +(\S+)", (self.folder / "data/grastate.dat").read_text(), re.MULTILINE))
        if state["seqno"] != "-1":
            return f"{state['uuid']}:{state['seqno']}"
        done = subprocess.run(self._command("--wsrep-recover"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S, check=False)
        return re.search(r"WSREP: Recovered position: (\S+?)(,|\s)", done.stdout)[1]

    def ask(self, text):
        """The rows that it has, for its administrator; None: it does not say."""
        done = subprocess.run([find("mariadb"), "--no-defaults", "--user=root", "--socket", self.socket, "--batch",
                               "--skip-column-names", "--execute", text],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        return [tuple(line.split("\t")) for line in done.stdout.splitlines()] if done.returncode == 0 else None

    def has_joined(self):
        told = self.ask("SET wsrep_sync_wait=0; SHOW STATUS WHERE variable_name IN "
                        "('wsrep_cluster_status', 'wsrep_local_state_comment')")
        return told is not None and {value for _, value in told} == {"Primary", "Synced"}

    def has_left(self):
        told = self.ask("SET wsrep_sync_wait=0; SHOW STATUS LIKE 'wsrep_cluster_status'")
        return told is not None and told[0][1] != "Primary"

    def users(self):
        """How many connections weftd has to it."""
        told = self.ask(f"SET wsrep_sync_wait=0; SELECT COUNT(*) FROM information_schema.processlist WHERE user='{USER}'")
        return int(told[0][0]) if told else 0

    def wait_until(self, is_so):
        give_up = time.monotonic() + PATIENCE_S
        while not is_so():
            if self.process.poll() is not None or time.monotonic() > give_up:
                raise AssertionError(f"node {self.number}:\n{(self.folder / 'log').read_text()[-6000:]}")
            time.sleep(0.05)

    def end(self):
        """As its administrator would."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=PATIENCE_S)

    def kill(self):
        """At once, as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


class Cluster:
    """`tables`: statements of SQL that make what is in it."""

    def __init__(self, folder, places, tables=()):
        peers = [f"{place.group}:{place.group_port}" for place in places]
        self.nodes = [Node(folder / f"node{number}", number, place, peers) for number, place in enumerate(places)]
        self.tables = tables

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.kill()
        for node in self.nodes:
            shutil.rmtree(node.folder / "data", ignore_errors=True)

    def _make(self):
        first, *others = self.nodes
        shutil.copytree(new_files(), first.folder / "data")
        first.start("--wsrep-new-cluster")
        first.wait_until(first.has_joined)
        for statement in (f"CREATE DATABASE {DATABASE}", f"CREATE USER {USER} IDENTIFIED BY '{PASSWORD}'",
                          f"GRANT ALL ON *.* TO {USER}", *self.tables):
            assert first.ask(statement) is not None, statement
        first.end()
        for node in others:
            shutil.copytree(first.folder / "data", node.folder / "data")
        first.start("--wsrep-new-cluster", f"--wsrep-start-position={first.position()}")
        first.wait_until(first.has_joined)
        for node in others:  # one by one: where two come at once the cluster takes seconds longer to agree
            node.rejoin()
            node.wait_until(node.has_joined)

    def in_use(self):
        """The node that has most of weftd's connections."""
        return max(self.running(), key=Node.users)

    def running(self):
        return [node for node in self.nodes if node.process.poll() is None]
