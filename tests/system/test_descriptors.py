"""Out of file descriptors: those who are in are served, nobody spins, and newcomers get in as others leave."""

import resource
import select
import time

from weft_process import TICKS_A_SECOND

DESCRIPTORS = 48
CLIENTS = 80
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
