"""What a server may listen on besides a port: a Unix socket, and a socket that a service manager passes on."""

import socket
import stat
import sys

import pytest
from weft_process import Server, curl, run

# As systemd does it: the sockets from descriptor 3 on, and whose they are.
LAUNCHER = """
import os, sys
fd, names, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
os.dup2(fd, 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES=names)
os.execv(command[0], command)
"""


def ping(*where):
    return curl(*where, "-d", '{"sequence": 2}')


def activated(weftd, listener, text, backend, name="web"):
    return Server([sys.executable, "-c", LAUNCHER, listener.fileno(), name,
                   weftd, "--listen", text, "--threads", "2", "--backend", backend],
                  passed_on=[listener.fileno()])


def test_curl_asks_on_a_unix_socket(weftd, tmp_path, backend):
    path = tmp_path / "socket"
    with Server([weftd, "--listen", f"unix:{path}", "--threads", "2", "--backend", backend,
                 "--http.server.unix_mode=0600"]) as server:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert ping("--unix-socket", path, "http://localhost/ping") == '{"sequence":2}'
        second = run([weftd, "--listen", f"unix:{path}"])
        assert second.returncode == 1 and "in use" in second.stderr, "who listens keeps its socket"
        assert ping("--unix-socket", path, "http://localhost/ping") == '{"sequence":2}'
        assert server.stop() == 0
    assert not path.exists()


def test_the_socket_file_of_a_dead_program_is_no_obstacle(weftd, tmp_path):
    path = tmp_path / "socket"
    with Server([weftd, "--listen", f"unix:{path}", "--threads", "1", "--backend", "epoll"]) as server:
        server.process.kill()
        server.process.wait()
    assert path.exists()
    with Server([weftd, "--listen", f"unix:{path}", "--threads", "1"]) as server:
        assert ping("--unix-socket", path, "http://localhost/ping") == '{"sequence":2}'
        assert server.stop() == 0


def test_a_mode_that_is_none_is_an_error_that_shows_how_to_write_one(weftd, tmp_path):
    done = run([weftd, "--listen", f"unix:{tmp_path}/socket", "--http.server.unix_mode=rw"])
    assert done.returncode == 2
    assert '"rw"' in done.stderr and "0600" in done.stderr


def test_what_is_no_socket_is_left_alone(weftd, tmp_path):
    path = tmp_path / "precious"
    path.write_text("data")
    done = run([weftd, "--listen", f"unix:{path}"])
    assert done.returncode == 1
    assert path.read_text() == "data"


@pytest.mark.parametrize("text", ["systemd:", "systemd:web"])
def test_curl_asks_on_a_socket_that_was_passed_on(weftd, backend, text):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        for _ in range(2):  # the second has the same socket after the first has ended
            with activated(weftd, listener, text, backend) as server:
                assert server.port == port
                assert ping(f"http://127.0.0.1:{port}/ping") == '{"sequence":2}'
                assert server.stop() == 0
        with socket.create_connection(("127.0.0.1", port), timeout=20) as waiting:
            waiting.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            with activated(weftd, listener, text, backend) as server:
                answer = b"".join(iter(lambda: waiting.recv(4096), b""))
                assert answer.endswith(b"ok\n"), "who came between two programs waits for the next"
                assert server.stop() == 0


def test_a_unix_socket_that_was_passed_on_stays(weftd, tmp_path, backend):
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        for _ in range(2):
            with activated(weftd, listener, "systemd:web", backend) as server:
                assert ping("--unix-socket", path, "http://localhost/ping") == '{"sequence":2}'
                assert server.stop() == 0
    assert path.exists(), "it is the service manager's"


def test_says_which_socket_is_missing(weftd):
    done = run([weftd, "--listen", "systemd:web"])
    assert done.returncode == 1 and "LISTEN_FDS is not set" in done.stderr
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with pytest.raises(AssertionError, match="no socket of that name, only 'web'"):
            activated(weftd, listener, "systemd:api", "epoll").__enter__()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        with pytest.raises(AssertionError, match="ListenStream="):
            activated(weftd, datagrams, "systemd:web", "epoll").__enter__()
