"""A server under strace or callgrind: what it cost, counted and not timed.

    with traced([weftd, "--listen", "127.0.0.1:0"], table) as server: ...
    calls_in(table)                       {"recvfrom": 64, "sendto": 64, ...}
"""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from weft_process import Server

# `% time  seconds  usecs/call  calls  errors  syscall`; errors may be missing.
TABLE_ROW = re.compile(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)(?:\s+\d+)?\s+(\w+)$", re.MULTILINE)
# `1,234 (12.3%)  file:function [object]`, callgrind_annotate's own.
PROFILE_ROW = re.compile(r"^\s*([\d,]+) \([ \d.]+%\)\s+[^:\s]+:(.+?)(?: \[[^]]*\])?$", re.MULTILINE)


def need(tool):
    assert shutil.which(tool), f"{tool} is not installed: `make setup` does it"


def child_of(parent):
    """The one process that `parent` has started."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has just ended
        if int(fields[1]) == parent:
            return int(stat.parent.name)
    raise AssertionError(f"process {parent} has started none")


class TracedServer(Server):
    """Signals go to the program, not to strace, which lets none end it while it traces."""

    @property
    def pid(self):
        return child_of(self.process.pid)

    def _end(self):
        if self.process.poll() is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
                self.process.wait(self.patience_s)
            except (AssertionError, OSError, subprocess.TimeoutExpired):
                self.process.kill()
        super()._end()


def skip_unless_traceable():
    need("strace")
    probe = subprocess.run(["strace", "-f", "-o", "/dev/null", "true"], capture_output=True, text=True)
    if probe.returncode != 0:
        pytest.skip(f"strace may not trace here: {probe.stderr.strip()}")


def traced(command, table):
    """The server; once it has ended, `table` holds its system calls, all threads together."""
    return TracedServer(["strace", "-f", "-c", "-o", table, *command])


def calls_in(table):
    text = Path(table).read_text()
    calls = {name: int(count) for count, name in TABLE_ROW.findall(text) if name != "total"}
    assert calls, f"no system calls in\n{text}"
    return calls


def profiled(command, profile):
    """The server; once it has ended, `profile` holds where its instructions went.

    What valgrind has to say goes nowhere: at each call it does not know it complains anew, which
    would fill the server's log.
    """
    need("valgrind")
    return Server(["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}",
                   "--log-file=/dev/null", *command], patience_s=60)


def instructions_in(profile):
    """All of them, the program's start and end included."""
    totals = re.search(r"^(?:totals|summary): (\d+)", Path(profile).read_text(), re.MULTILINE)
    assert totals, f"no totals in {profile}"
    return int(totals[1])


def functions_in(profile):
    """{function: instructions of its own}."""
    shown = subprocess.run(["callgrind_annotate", "--threshold=100", "--show-percs=yes", str(profile)],
                           capture_output=True, text=True, check=True).stdout
    functions = {}
    for count, name in PROFILE_ROW.findall(shown):
        functions[name] = functions.get(name, 0) + int(count.replace(",", ""))
    assert functions, f"callgrind_annotate has said:\n{shown}"
    return functions
