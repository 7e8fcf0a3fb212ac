"""What weftd says of itself, to people on terminals, to programs, and to stderr that does not listen."""

import fcntl
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time

import httpx
import pytest


@pytest.fixture
def started(weftd, tmp_path):
    """Starts weftd on a Unix socket, with this stderr; waits until it serves, and always ends it."""
    running = []

    def start(*arguments, stderr, preexec=None, **environment):
        path = tmp_path / f"weftd{len(running)}.sock"
        process = subprocess.Popen(
            [weftd, "--listen", f"unix:{path}", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=stderr, preexec_fn=preexec, env={**os.environ, **environment})
        running.append(process)
        while healthz(path) is None:
            assert process.poll() is None, f"weftd has ended with {process.returncode}"
            time.sleep(0.01)
        return process, path

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.wait()


def healthz(path):
    """The answer's status, or None where nobody listens yet."""
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    try:
        connection.sock.connect(str(path))
        connection.request("GET", "/healthz")
        return connection.getresponse().status
    except (FileNotFoundError, ConnectionRefusedError):
        return None
    finally:
        connection.close()


def end(process):
    process.send_signal(signal.SIGTERM)
    return process.wait(timeout=60)


def test_wrong_options_are_json_lines_where_these_were_asked_for(weftd, tmp_path):
    """What collects the log of a container reads nothing else."""
    toml = tmp_path / "weftd.toml"
    toml.write_text('[log]\nformat = "json"\n[http.server]\nbacklog = 0\n')
    for wrong in (["--log-format", "json", "--set", "http.server.backlog=0"], ["--config", toml],
                  ["--log-format", "json", "--data", tmp_path / "none"],
                  ["--log-format", "json", "--keys", tmp_path / "none.toml"],
                  ["--log-format", "json", "--config", tmp_path / "none.toml"]):
        ended = subprocess.run([weftd, *wrong], capture_output=True, text=True, timeout=60)
        assert ended.returncode == 2, wrong
        lines = [json.loads(line) for line in ended.stderr.splitlines()]
        assert [line["level"] for line in lines] == ["error"], wrong
    ended = subprocess.run([weftd, "--set", "http.server.backlog=0"], capture_output=True, text=True, timeout=60)
    assert ended.stderr.startswith("weftd: "), "for people, where nothing was said of programs"


def test_a_start_writes_nothing_but_json_where_that_was_asked_for(weftd, tmp_path):
    process = subprocess.Popen([weftd, "demo", "--log-format", "json", "--listen", "127.0.0.1:0"], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        messages = []
        while not any(message.startswith("listening on 127") for message in messages):
            messages.append(json.loads(process.stdout.readline())["message"])
        assert any("100,000 rows" in message for message in messages), messages
        assert httpx.post(f"http://{messages[-1].split()[-1]}/ping", json={"sequence": 1}, timeout=60).status_code == 200
    finally:
        assert end(process) == 0
    for line in process.stdout:
        json.loads(line)


def test_a_pipe_gets_json_lines(started):
    process, path = started(stderr=subprocess.PIPE)
    assert end(process) == 0
    lines = [json.loads(line) for line in process.stderr.read().decode().splitlines()]
    assert {"info"} == {line["level"] for line in lines}, lines
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"]) for line in lines), lines
    assert f"listening on unix:{path}" in [line["message"] for line in lines]


def test_a_terminal_gets_pretty_lines_in_colours(started):
    controller, terminal = os.openpty()
    process, _ = started(stderr=terminal, TERM="xterm", NO_COLOR="")
    os.close(terminal)
    assert end(process) == 0
    seen = b""
    try:
        while part := os.read(controller, 65536):
            seen += part
    except OSError:  # the terminal's last user has left
        pass
    os.close(controller)
    assert re.search(rb"Z \x1b\[32minfo \x1b\[0m ready, \d+ shard", seen), seen


def test_format_and_level_are_options(started, tmp_path):
    file = tmp_path / "weftd.toml"
    file.write_text("[log]\nformat = 'pretty'\nlevel = 'warning'\n")
    process, _ = started("--config", str(file), stderr=subprocess.PIPE)
    assert end(process) == 0
    assert process.stderr.read() == b""
    process, _ = started("--config", str(file), "--log-level", "info", stderr=subprocess.PIPE)
    assert end(process) == 0
    assert re.search(rb"^\S+Z info  ready, \d+ shard", process.stderr.read(), re.MULTILINE)


def test_a_pipe_that_nobody_reads_stops_nothing_and_losses_are_told(started):
    reader, writer = os.pipe()
    full = fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ)
    assert os.write(writer, b"x" * full) == full
    process, path = started("--log-format", "pretty", stderr=writer)
    os.close(writer)
    assert healthz(path) == 200
    assert os.read(reader, full) == b"x" * full
    assert end(process) == 0
    with open(reader, "rb") as rest:
        lines = rest.read().decode().splitlines()
    assert re.search(r"Z warn  \d+ lines? of the log (was|were) lost: stderr did not take (it|them)$", lines[0]), lines
    assert any("SIGTERM: stopping" in line for line in lines[1:]), "who serves already may still say that all is ready"


def test_an_order_of_chance_is_told_with_its_seed(started):
    process, path = started("--log-format", "pretty", stderr=subprocess.PIPE, WEFT_SHUFFLE="17")
    assert healthz(path) == 200
    assert end(process) == 0
    told = process.stderr.read().decode()
    assert told.count("ready tasks run in an order of chance: see it again with WEFT_SHUFFLE=17, ") == 1, told


def test_a_seed_that_is_none_is_refused_by_name(started):
    process, _ = started("--log-format", "pretty", stderr=subprocess.PIPE, WEFT_SHUFFLE="soon")
    assert end(process) == 0
    told = process.stderr.read().decode()
    assert "warn  WEFT_SHUFFLE is 'soon', which is no whole number, and is ignored: 17 is a seed" in told, told


def test_closed_standard_descriptors_are_nobody_elses(started):
    def close_all():
        for descriptor in (0, 1, 2):
            os.close(descriptor)

    process, path = started("--log-level", "trace", stderr=None, preexec=close_all)
    descriptors = {each: os.readlink(f"/proc/{process.pid}/fd/{each}") for each in (0, 1, 2)}
    assert set(descriptors.values()) == {"/dev/null"}, descriptors
    assert healthz(path) == 200
    assert end(process) == 0
