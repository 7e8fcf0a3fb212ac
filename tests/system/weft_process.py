"""One program of ours under test: started, waited for, asked to end, and always ended.

    with Server([weftd, "--listen", "127.0.0.1:0"]) as server:
        curl(server.url("/healthz"))
"""

import http.client
import os
import re
import select
import signal
import socket
import subprocess
import time

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
LISTENING = re.compile(r"listening on (\S+)")


def wait_until(is_so, patience_s=30):
    give_up = time.monotonic() + patience_s
    while not is_so():
        assert time.monotonic() < give_up, "it has not come to that in time"
        time.sleep(0.02)


class Server:
    """A program that logs `listening on ADDRESS` and then `ready` on stderr, in lines for people.
    `passed_on`: descriptors that it inherits; `scheme`: what it speaks."""

    def __init__(self, command, preexec=None, patience_s=20, passed_on=(), scheme="http",
                 output=subprocess.DEVNULL):
        self.command = [str(part) for part in command]
        self.preexec = preexec
        self.passed_on = passed_on
        self.patience_s = patience_s
        self.scheme = scheme
        self.output = output
        self.log = ""

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=self.output,
                                        stderr=subprocess.PIPE, preexec_fn=self.preexec,
                                        pass_fds=self.passed_on,
                                        env={"WEFT_LOG_FORMAT": "pretty", **os.environ})
        os.set_blocking(self.process.stderr.fileno(), False)
        try:
            self.wait_for_log("ready, ")
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_):
        self._end()

    def _end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    @property
    def pid(self):
        return self.process.pid

    @property
    def address(self):
        return LISTENING.search(self.log)[1]

    @property
    def port(self):
        return int(self.address.rsplit(":", 1)[1])

    def url(self, path="/"):
        return f"{self.scheme}://{self.address}{path}"

    def read_log(self):
        while chunk := self.process.stderr.read():
            self.log += chunk.decode()
        return self.log

    def wait_for_log(self, text):
        """Returns once `text` has been logged; fails when the program has ended without it."""
        give_up = time.monotonic() + self.patience_s
        while text not in self.read_log():
            ended = self.process.poll() is not None
            if ended and text not in self.read_log():
                raise AssertionError(f"ended with {self.process.returncode} before it logged "
                                     f"{text!r}:\n{self.log}")
            assert time.monotonic() < give_up, f"{text!r} was never logged:\n{self.log}"
            self.wait_for_output(0.1)

    def wait_for_output(self, patience_s):
        poll = select.poll()  # select() takes no descriptors beyond 1023
        poll.register(self.process.stderr, select.POLLIN)
        poll.poll(patience_s * 1000)

    def send_signal(self, number=signal.SIGTERM):
        os.kill(self.pid, number)

    def wait_for_end(self):
        """The exit code, after it has ended by itself."""
        code = self.process.wait(timeout=self.patience_s)
        self.read_log()
        return code

    def stop(self, number=signal.SIGTERM):
        self.send_signal(number)
        return self.wait_for_end()

    def cpu_ticks(self):
        """User and system time so far, in ticks (TICKS_A_SECOND)."""
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def voluntary_switches(self):
        """How often it has gone to sleep."""
        with open(f"/proc/{self.pid}/status") as status:
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status.read(), re.MULTILINE)[1])

    def memory_kib(self, field):
        """VmRSS: what it has in memory now; VmHWM: the most so far."""
        with open(f"/proc/{self.pid}/status") as status:
            return int(re.search(rf"^{field}:\s+(\d+) kB", status.read(), re.MULTILINE)[1])

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=self.patience_s)

    def get(self, path="/"):
        """(status, body) by a plain client."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.patience_s)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


def run(command, timeout_s=60, preexec=None):
    """A command that ends by itself: its exit code, stdout and stderr."""
    return subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=timeout_s, preexec_fn=preexec)


def curl(*arguments):
    """What curl prints, after it has succeeded."""
    done = run(["curl", "--silent", "--show-error", "--max-time", "20", *arguments])
    assert done.returncode == 0, done.stderr
    return done.stdout
