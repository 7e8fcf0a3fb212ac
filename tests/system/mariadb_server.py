#!/usr/bin/env python3
"""A MariaDB of its own in a temporary folder, on a Unix socket and a free port of 127.0.0.1. Nothing of the system's
is read or touched, and whoever ends, it ends too.

    with MariadbServer() as server:
        connect(server.socket, user=USER, password=PASSWORD, database=DATABASE)

As a program, which passes its arguments on to the server, it serves C++ tests: it says "ready SOCKET PORT" or "unavailable WHY", obeys lines ("kill", "start") that
it answers in the same way, and ends with its standard input.
"""

import atexit
import functools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

USER, PASSWORD, DATABASE = "weft", "secret", "shop"
PATIENCE_S = 60
# Small and quick: what is in it outlives a kill, and need not outlive the machine's next fall.
OPTIONS = ["--innodb-buffer-pool-size=8M", "--innodb-log-file-size=4M", "--innodb-data-file-path=ibdata1:5M:autoextend",
           "--innodb-flush-log-at-trx-commit=2", "--loose-innodb-flush-method=nosync", "--loose-sync-frm=OFF",
           "--performance-schema=OFF", "--skip-log-bin", "--bind-address=127.0.0.1", "--skip-name-resolve",
           "--max-connections=100"]


def find(name):
    """Debian keeps servers where only root looks."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def missing():
    """What of MariaDB is not installed, or None."""
    lacking = [name for name in ("mariadbd", "mariadb-install-db", "my_print_defaults") if find(name) is None]
    return f"{', '.join(lacking)} not installed: tools/setup installs them" if lacking else None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def end_with_parent():
    """A server whose test has crashed ends as well."""
    import ctypes
    death_signal = 1  # PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(death_signal, signal.SIGKILL)


def as_user():
    return ["--user=root"] if os.geteuid() == 0 else []


@functools.cache
def new_files(*options):
    """A folder with what a new server begins with, to be copied; it takes seconds to make, and is there for as long as this
    program. `options`: those that its files depend on."""
    folder = Path(tempfile.mkdtemp(prefix="weft-mariadb-new-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run([find("mariadb-install-db"), "--no-defaults", f"--datadir={folder}/data",
                    "--auth-root-authentication-method=normal", "--skip-name-resolve", "--skip-test-db",
                    "--innodb-autoextend-increment=1", *as_user(), *OPTIONS[1:3], *options],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder / "data"


class MariadbServer:
    def __init__(self, *options):
        """`options`: that the server has as well, or otherwise."""
        self.options = options
        self.folder = Path(tempfile.mkdtemp(prefix="weft-mariadb-"))
        self.socket = str(self.folder / "socket")
        self.port = 0
        self.process = None

    def __enter__(self):
        try:
            self._make()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _make(self):
        shutil.copytree(new_files(*[each for each in self.options if each.startswith("--innodb")]), self.folder / "data")
        (self.folder / "init.sql").write_text(
            f"CREATE DATABASE IF NOT EXISTS {DATABASE};\n"
            f"CREATE USER IF NOT EXISTS {USER} IDENTIFIED BY '{PASSWORD}';\n"
            f"GRANT ALL ON *.* TO {USER} WITH GRANT OPTION;\n")

    def start(self):
        """Once more, too, with what is there. A port that another takes meanwhile is given up for the next."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            self.port = self.port or free_port()
            with (self.folder / "log").open("ab") as log:
                self.process = subprocess.Popen(
                    [find("mariadbd"), "--no-defaults", *as_user(), f"--datadir={self.folder}/data",
                     f"--socket={self.socket}", f"--port={self.port}", f"--pid-file={self.folder}/pid",
                     f"--init-file={self.folder}/init.sql", *OPTIONS, *self.options],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=end_with_parent)
            while self.process.poll() is None:
                if self._greets():
                    return
                if time.monotonic() > deadline:
                    break
                time.sleep(0.02)
            self.kill()
            self.port = 0
            if time.monotonic() > deadline:
                raise TimeoutError("mariadbd does not start:\n" + (self.folder / "log").read_text())

    def _greets(self):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(PATIENCE_S)
            try:
                probe.connect(self.socket)
                return bool(probe.recv(1))
            except OSError:
                return False

    def kill(self):
        """At once, as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def main():
    if why := missing():
        print("unavailable", why, flush=True)
        return
    with MariadbServer(*sys.argv[1:]) as server:
        print("ready", server.socket, server.port, flush=True)
        for line in sys.stdin:
            if line == "kill\n":
                server.kill()
            else:
                server.start()
            print("ready", server.socket, server.port, flush=True)


if __name__ == "__main__":
    main()
