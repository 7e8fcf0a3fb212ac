"""Which backend is taken, and why, stands in the log; what is asked for by name is never replaced."""

import pytest
from seccomp import forbid_io_uring
from weft_process import run


def test_the_choice_is_logged_with_its_reason(serve, io_uring_works):
    with serve("--threads", "1") as server:
        wanted = "event loop on io_uring (" if io_uring_works else "event loop on epoll (io_uring is not to be had: "
        assert wanted in server.read_log()


def test_a_backend_asked_for_by_name_is_logged_as_asked(serve, backend):
    with serve("--threads", "1", "--backend", backend) as server:
        assert f"event loop on {backend} (" in server.read_log()


def test_auto_falls_back_to_epoll_and_says_why(serve):
    with serve("--threads", "2", preexec=forbid_io_uring) as server:
        assert "event loop on epoll (io_uring is not to be had: " in server.log
        assert "Operation not permitted" in server.log
        assert server.get("/healthz") == (200, "ok\n")
        assert server.stop() == 0


@pytest.mark.parametrize("threads", ["1", "2"])
def test_io_uring_by_name_fails_where_it_is_forbidden(weftd, threads):
    done = run([weftd, "--listen", "127.0.0.1:0", "--backend", "io_uring", "--threads", threads],
               preexec=forbid_io_uring)
    assert done.returncode == 1
    assert done.stderr.count("io_uring is not to be had: ") == 1, done.stderr
    assert "Operation not permitted" in done.stderr
    assert "ready, " not in done.stderr
