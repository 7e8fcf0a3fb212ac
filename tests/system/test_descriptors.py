"""Out of file descriptors: those who are in are served, nobody spins, and newcomers get in as others leave."""

import platform
import resource
import select
import time

import pytest
from crowd import Crowd
from network import join_network, networks_can_be_made, new_network
from seccomp import forbid
from weft_process import TICKS_A_SECOND, run

DESCRIPTORS = 48
CLIENTS = 80
MANY_DESCRIPTORS = 20_000
TOO_MANY = 500  # more clients than that
ACCEPT4 = {"x86_64": 288, "aarch64": 242}
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


def few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


def answered(clients, patience_s, enough=CLIENTS):
    """Those of `clients` that get an answer; waits until they are `enough`, or until none came for so long."""
    waiting, served = set(clients), set()
    while len(served) < enough and waiting and (ready := select.select(list(waiting), [], [], patience_s)[0]):
        for client in ready:
            assert client.recv(4096).startswith(b"HTTP/1.1 200 OK"), "an accepted client is served or waits"
        waiting -= set(ready)
        served |= set(ready)
    return served


def test_running_out_of_descriptors(serve, backend):
    with serve("--backend", backend, "--threads", "1", preexec=few_descriptors) as server:
        clients = {server.connect() for _ in range(CLIENTS)}  # the kernel takes them all
        for client in clients:
            client.sendall(REQUEST)
        server.wait_for_log(f"may open {DESCRIPTORS} files")
        inside = answered(clients, patience_s=0.5)
        assert DESCRIPTORS // 2 <= len(inside) < DESCRIPTORS

        before = server.cpu_ticks()
        time.sleep(1)
        assert server.cpu_ticks() - before <= TICKS_A_SECOND // 4, "it spins"
        assert server.read_log().count("pauses") == 1, "it says so once"
        for client in inside:
            client.sendall(REQUEST)
        assert answered(inside, 20, len(inside)) == inside, "who is in is still served"

        outside = clients - inside
        assert outside
        while outside:  # as some leave, others get in
            for client in inside:
                client.close()
            inside = answered(outside, 20, enough=1)
            assert inside, "it has not recovered"
            outside -= inside
        assert server.stop() == 0
        assert server.log.count("pauses") == 1


def test_a_signal_without_descriptors_left(serve, backend):
    """Who stands in the line when it is asked to end gets in as the others leave."""
    with serve("--backend", backend, "--threads", "1", preexec=few_descriptors) as server:
        clients = {server.connect() for _ in range(CLIENTS)}
        for client in clients:
            client.sendall(REQUEST)
        server.wait_for_log(f"may open {DESCRIPTORS} files")
        server.send_signal()
        waiting = set(clients)
        while waiting:
            ready = select.select(list(waiting), [], [], 20)[0]
            assert ready, f"{len(waiting)} were never served"
            for client in ready:
                assert client.recv(4096).startswith(b"HTTP/1.1 200 OK")
                client.close()
            waiting -= set(ready)
        assert server.wait_for_end() == 0
        assert "cut" not in server.log


def test_more_clients_than_twenty_thousand_descriptors(serve, backend, record_property):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    descriptors = min(MANY_DESCRIPTORS, hard)
    alone = networks_can_be_made()
    record_property("setting", f"{descriptors} descriptors, {'its own' if alone else 'the common'} network")

    def limits():
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
        if alone:
            new_network()

    with serve("--backend", backend, "--threads", "1", preexec=limits) as server:
        def join():
            if alone:
                join_network(server.pid)
        with Crowd(server, join) as first, Crowd(server, join) as second:
            crowds = (first, second)

            def both(*words):
                for crowd in crowds:
                    crowd.send(*words)
                return sum(crowd.answer() for crowd in crowds)

            clients = both("open", (descriptors + TOO_MANY) // 2)
            server.wait_for_log(f"may open {descriptors} files")
            inside = both("wait")
            assert descriptors - 50 <= inside < descriptors

            switches, ticks = server.voluntary_switches(), server.cpu_ticks()
            time.sleep(1)
            assert server.voluntary_switches() - switches < 100, "it tries ten times a second"
            assert server.cpu_ticks() - ticks <= TICKS_A_SECOND // 10, "it spins"
            assert server.read_log().count("pauses") == 1, "it says so once"

            assert both("ask") == inside, "who is in is still served"
            leaving = TOO_MANY + 100
            for crowd in crowds:
                crowd.tell("leave", leaving // 2)
            assert both("wait") == clients - leaving, "everybody has room now"
            assert both("ask") == clients - leaving
            server.send_signal()
            assert both("end") == clients - leaving, "nobody sees a reset"
        assert server.wait_for_end() == 0
        assert server.log.count("pauses") == 1


@pytest.mark.skipif(platform.machine() not in ACCEPT4, reason="the number of accept4 is not known here")
def test_a_policy_that_forbids_accepting_is_said_at_the_start(weftd):
    done = run([weftd, "--listen", "127.0.0.1:0", "--backend", "epoll", "--threads", "1"],
               preexec=lambda: forbid(ACCEPT4[platform.machine()]))
    assert done.returncode == 1
    assert "accept4: Operation not permitted" in done.stderr and "ready" not in done.stderr
