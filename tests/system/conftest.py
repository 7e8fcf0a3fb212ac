"""Whole programs, seen from outside: real clients, real signals, real limits."""

import os
import re
import signal
from pathlib import Path

import pytest
from authority import Authority
from network import join_network, networks_can_be_made, new_network
from weft_process import Server, run

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("WEFT_BUILD_DIR", ROOT / "build/release"))
TEST_SECONDS_MAX = 120


@pytest.fixture(autouse=True)
def bounded():
    """No test waits for ever, whatever it waits for."""
    def too_long(*_):
        raise TimeoutError(f"the test took more than {TEST_SECONDS_MAX} s")
    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(TEST_SECONDS_MAX)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def is_sanitized():
    cache = BUILD / "CMakeCache.txt"
    return cache.exists() and re.search(r"^WEFT_SANITIZE:\w+=\S", cache.read_text(), re.MULTILINE) is not None


@pytest.fixture
def at_speed():
    """For tests that measure, drive a browser or lock memory: a sanitizer shows nothing more there, or gets in the way."""
    if is_sanitized():
        pytest.skip("not in a build with sanitizers")


def program(relative):
    path = BUILD / relative
    if not path.exists():
        pytest.fail(f"{path} is not built: `make build` makes it")
    return str(path)


@pytest.fixture(scope="session")
def weftd():
    return program("apps/weftd/weftd")


@pytest.fixture(scope="session")
def weft_bench():
    return program("apps/weft-bench/weft-bench")


@pytest.fixture(scope="session")
def playground():
    return program("tests/system/playground")


@pytest.fixture(scope="session")
def service_tests():
    return program("weft/service/weft_service_tests")


@pytest.fixture(scope="session")
def bench_runtime():
    return program("bench/runtime/bench_runtime")


@pytest.fixture(scope="session")
def example():
    return lambda name: program(f"examples/{name}")


@pytest.fixture(scope="session")
def io_uring_works(weftd):
    """Whether this machine's kernel and policy let us have io_uring at all."""
    try:
        with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--backend", "io_uring"]):
            return True
    except AssertionError:
        return False


@pytest.fixture(params=["io_uring", "epoll"])
def backend(request, io_uring_works):
    if request.param == "io_uring" and not io_uring_works:
        pytest.skip("this machine refuses io_uring")
    return request.param


@pytest.fixture
def run_weftd(weftd):
    return lambda *arguments, **how: run([weftd, *arguments], **how)


@pytest.fixture
def serve(weftd):
    """serve("--threads", "2"): weftd on a port that the system chose."""
    def start(*arguments, listen="127.0.0.1:0", preexec=None):
        return Server([weftd, "--listen", listen, *arguments], preexec=preexec)
    return start


@pytest.fixture(scope="session")
def own_network():
    """A network for one server and its clients, if that may be had: what its `preexec` is, and what makes theirs."""
    if networks_can_be_made():
        return new_network, lambda server: lambda: join_network(server.pid)
    return None, lambda server: None


@pytest.fixture
def small_buffers(own_network):
    """A network in which the kernel, whose memory is not measured, keeps little of what is not taken."""
    made, join = own_network

    def network():
        made()
        Path("/proc/sys/net/ipv4/tcp_wmem").write_text("4096 16384 65536")
    return made and network, join


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def site(authority):
    """The files of the certificate of site.test, which is here."""
    return authority.issue("site.test", "site.test", "127.0.0.1")
