"""A policy that refuses one system call: weftd serves without it, or ends with what is wrong. It never hangs.

`python3 tests/system/test_refused_calls.py WEFTD` tries all combinations and prints a line each.
"""

import concurrent.futures
import contextlib
import http.client
import json
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
import seccomp
from weft_process import Server

# What strace sees of a start, a ping and an end, on either backend, and what weftd makes besides: for files, for
# threads and for peers that go away.
CALLS = """accept4 access bind brk clock_gettime clock_nanosleep clone3 close connect epoll_create1 epoll_ctl
    epoll_pwait epoll_pwait2 eventfd2 exit_group fcntl fdatasync fstat fsync ftruncate futex getcwd getpeername getpid
    getrandom getsockname getsockopt gettid getuid io_uring_enter io_uring_register io_uring_setup ioctl listen lseek
    madvise mmap mprotect mremap munmap newfstatat openat openat2 pipe2 poll ppoll prctl pread64 preadv2 prlimit64
    pwrite64 read readlink recvfrom recvmsg rename rt_sigaction rt_sigprocmask rt_sigtimedwait sched_getaffinity
    sched_setaffinity sched_yield sendfile sendmsg sendto set_robust_list setsockopt shutdown sigaltstack signalfd4
    socket socketpair statx tgkill uname unlink wait4 write writev""".split()
# Calls that weftd makes only long after its start, or that only its queries in SQL make: of files, of the processes for
# queries, and of single connections.
LATER = """access clock_nanosleep faccessat2 fallocate fchmod fcntl fdatasync flock fsync ftruncate link lseek preadv2 pwrite64
    readlink readlinkat rename statx unlink utimensat
    clone close_range dup2 dup3 getrusage kill landlock_add_rule landlock_create_ruleset landlock_restrict_self pidfd_open prctl
    prlimit64 recvfrom recvmsg seccomp sendmsg sendto setrlimit socketpair vfork wait4 waitid
    accept4 getpeername getsockopt madvise munmap sendfile setsockopt shutdown splice""".split()
# Without these nothing can be said, by the program or by the loader before it.
SPEECHLESS = {"mmap", "write"}
REASON = r"error|[Cc]annot|not permitted|not implemented|terminate"
PATIENCE_S = 40
PING = json.dumps({"sequence": 7})


def answers_ping(port):
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        client.request("POST", "/ping", body=PING)
        return json.loads(client.getresponse().read()) == {"sequence": 7}
    except (OSError, http.client.HTTPException):
        return False
    finally:
        client.close()


def until_ready(process, log):
    """The port that it serves on; None: it has ended before."""
    for line in process.stderr:
        log.append(line)
        if "ready, " in line:
            return int(re.search(r"listening on \S+:(\d+)", "".join(log))[1])
    return None


ROW = {"filters": [{"column": "id", "value": 1}]}
WRITE = {"filters": [{"column": "id", "value": 2}], "writeColumns": [{"column": "v", "value": "b"}]}
REQUESTS = {"ping": ("/ping", {"sequence": 7}), "read": ("/0.1.0/shop/t/pk-read", ROW), "scan": ("/0.1.0/shop/t/scan", {"limit": 9}),
            "write": ("/0.1.0/batchwrite", {"operations": [{"method": "POST", "relative-url": "shop/t/pk-write", "body": WRITE}]}),
            "sql": ("/0.1.0/sql", {"database": "shop", "query": "SELECT count(*) FROM t"})}


def status_of(port, path, document):
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        client.request("POST", path, body=json.dumps(document))
        reply = client.getresponse()
        return reply.status, reply.read().decode()
    except (OSError, http.client.HTTPException) as why:
        return 0, repr(why)
    finally:
        client.close()


def what_is_not_said(weftd, call, code, backend):
    """What fails without that call, though the start has not named it; empty: nothing does."""
    number = seccomp.numbers().get(call)
    if number is None:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.closing(sqlite3.connect(f"{folder}/shop.db")) as database:
            database.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES(1, 'a');")
        process = subprocess.Popen(
            [sys.executable, seccomp.__file__, code, str(number), weftd, "--listen", "127.0.0.1:0", "--backend", backend, "--threads", "1",
             "--drain-idle", "0", "--stop-timeout", "5", "--data", folder],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
            env={"WEFT_LOG_FORMAT": "pretty", "PYTHONDONTWRITEBYTECODE": "1"})
        log = []
        with concurrent.futures.ThreadPoolExecutor(1) as reader:
            try:
                port = reader.submit(until_ready, process, log).result(PATIENCE_S)
                said = "".join(log)
                if port is None:
                    return "" if re.search(REASON, said) else f"ended without a word: {said}"
                failed = {name: reply for name, asked in REQUESTS.items() if (reply := status_of(port, *asked))[0] != 200}
                process.send_signal(signal.SIGTERM)
                rest = reader.submit(process.stderr.read)
                end = process.wait(PATIENCE_S)
                log.append(rest.result(PATIENCE_S))
            except (TimeoutError, concurrent.futures.TimeoutError, subprocess.TimeoutExpired):
                return f"hangs: {''.join(log)}"
            finally:
                if process.poll() is None:
                    process.kill()
                process.wait()
        is_named = re.search(rf"refuses {call.removesuffix('at')}\b", said) is not None
        return "" if end == 0 and (not failed or is_named) else f"{failed}, ended with {end}, and said:\n{''.join(log)}"


def verdict(weftd, call, code, backend, *options):
    """What is wrong with what weftd does without that call; empty: nothing is."""
    number = seccomp.numbers().get(call)
    if number is None:
        return ""  # another architecture
    process = subprocess.Popen(
        [sys.executable, seccomp.__file__, code, str(number), weftd, "--listen", "127.0.0.1:0", "--backend", backend,
         "--threads", "2", "--drain-idle", "0", "--stop-timeout", "5", *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
        env={"WEFT_LOG_FORMAT": "pretty", "PYTHONDONTWRITEBYTECODE": "1"})
    log = []
    with concurrent.futures.ThreadPoolExecutor(1) as reader:
        try:
            port = reader.submit(until_ready, process, log).result(PATIENCE_S)
            served = port is not None and answers_ping(port)
            if port is not None:
                process.send_signal(signal.SIGTERM)
            rest = reader.submit(process.stderr.read)
            end = process.wait(PATIENCE_S)
            log.append(rest.result(PATIENCE_S))
        except (TimeoutError, concurrent.futures.TimeoutError, subprocess.TimeoutExpired):
            return f"hangs: {''.join(log)}"
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
    said = "".join(log)
    if served and end == 0:
        return ""
    if end != 0 and (call in SPEECHLESS or re.search(REASON, said)):
        return ""
    return f"served={served}, ended with {end}, and said:\n{said}"


def sweep(weftd, combinations, tell=None, judge=verdict):
    wrong = []
    with concurrent.futures.ThreadPoolExecutor(3) as several:
        for combination, fault in zip(combinations, several.map(lambda c: judge(weftd, *c), combinations)):
            if tell:
                tell(combination, fault)
            if fault:
                wrong.append(f"{' '.join(combination)}: {fault}")
    return wrong


@pytest.mark.parametrize("chosen", ["epoll", "auto"])
def test_without_any_one_call_it_serves_or_says_why_not(weftd, chosen):
    # ENOSYS is what old kernels answer; EPERM, what policies do. Each call once by either.
    combinations = [(call, ("EPERM", "ENOSYS")[(at + (chosen == "auto")) % 2], chosen)
                    for at, call in enumerate(CALLS)]
    assert sweep(weftd, combinations) == []


@pytest.mark.parametrize("chosen", ["epoll", "auto"])
def test_a_call_that_is_needed_later_is_done_without_or_named_at_the_start(weftd, chosen):
    combinations = [(call, ("EPERM", "ENOSYS")[(at + (chosen == "auto")) % 2], chosen) for at, call in enumerate(LATER)]
    assert sweep(weftd, combinations, judge=what_is_not_said) == []


@pytest.mark.parametrize("call, missing", [
    ("landlock_create_ruleset", "no Landlock"), ("landlock_add_rule", "no Landlock"), ("landlock_restrict_self", "no Landlock"),
    ("preadv2", "refuses preadv2")])
def test_what_can_be_done_without_is_done_and_said(weftd, tmp_path, call, missing):
    with contextlib.closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        database.executescript("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES(1, 'a');")
    with Server([weftd, "--listen", "127.0.0.1:0", "--data", tmp_path, "--threads", "1"], lambda: seccomp.forbid(seccomp.numbers()[call])) as server:
        assert missing in server.log
        assert {name: status_of(server.port, *asked)[0] for name, asked in REQUESTS.items()} == dict.fromkeys(REQUESTS, 200)
        assert server.stop() == 0, server.log


def groups_of_systemd():
    """Each group's calls, and groups in it, as this machine's systemd has them."""
    said = subprocess.run(["systemd-analyze", "syscall-filter"], capture_output=True, text=True, timeout=PATIENCE_S)
    groups = {}
    for line in said.stdout.splitlines():
        if line.startswith("@"):
            members = groups.setdefault(line.strip(), [])
        elif line.startswith("    ") and "#" not in line:
            members.append(line.strip())
    return groups


def test_the_unit_for_systemd_forbids_no_call_that_is_made():
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd here")
    unit = (Path(__file__).resolve().parents[2] / "apps/weftd/weftd.service").read_text()
    allowed, groups = re.search(r"^SystemCallFilter=(.*)$", unit, re.MULTILINE)[1].split(), groups_of_systemd()
    for each in allowed:  # which grows
        allowed += groups.get(each, [])
    made = set(CALLS + LATER) - {"seccomp"}  # what it would do, prctl(2) does
    assert made - set(allowed) == set()
    assert "SystemCallErrorNumber=EPERM" in unit, "a call of a newer library fails, instead of ending the program"


@pytest.mark.parametrize("code", ["EPERM", "ENOSYS"])
def test_lines_reach_a_socket_that_may_not_be_sent_to(weftd, code):
    ours, theirs = socket.socketpair()
    number = str(seccomp.numbers()["sendto"])
    done = subprocess.run([sys.executable, seccomp.__file__, code, number, weftd, "--listen", "127.0.0.1:0", "--backend", "epoll"],
                          stderr=theirs, timeout=PATIENCE_S)
    theirs.close()
    with ours:
        said = b"".join(iter(lambda: ours.recv(65536), b"")).decode()
    assert done.returncode == 1 and "sendto" in said, said


@pytest.mark.parametrize("code", ["EPERM", "ENOSYS"])
def test_a_ring_that_may_be_made_but_not_used(weftd, code):
    number = str(seccomp.numbers()["io_uring_enter"])
    assert verdict(weftd, "io_uring_enter", code, "auto") == ""
    asked = subprocess.run([sys.executable, seccomp.__file__, code, number, weftd, "--listen", "127.0.0.1:0",
                            "--backend", "io_uring"], capture_output=True, text=True, timeout=PATIENCE_S)
    assert asked.returncode == 1
    assert "io_uring_enter" in asked.stderr or "io_uring_setup" in asked.stderr  # a machine without io_uring
    assert "ready" not in asked.stderr


@pytest.mark.parametrize("code", ["EPERM", "ENOSYS"])
@pytest.mark.parametrize("backend", ["epoll", "auto"])
def test_a_program_that_hears_no_signal_does_not_start(weftd, backend, code):
    number = str(seccomp.numbers()["signalfd4"])
    done = subprocess.run([sys.executable, seccomp.__file__, code, number, weftd, "--listen", "127.0.0.1:0",
                           "--backend", backend], capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 1
    assert "signalfd4" in done.stderr and "ready" not in done.stderr


if __name__ == "__main__":
    began = time.monotonic()
    every = [(call, code, backend) for call in CALLS for code in ("EPERM", "ENOSYS") for backend in ("epoll", "auto")]
    faults = sweep(sys.argv[1], every,
                   lambda which, fault: print(*which, "WRONG: " + fault if fault else "ok", flush=True))
    print(f"{len(every)} combinations, {len(faults)} wrong, {time.monotonic() - began:.0f} s")
    sys.exit(bool(faults))
