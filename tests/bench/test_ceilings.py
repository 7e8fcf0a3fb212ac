"""The ceilings are small but not wrong: requests cut up or piled up, peers that read slowly."""

import os
import socket
import threading

import pytest
from harness.servers import Subject, running

REQUEST = b'POST /ping HTTP/1.1\r\nHost: a\r\nContent-Length: 15\r\n\r\n{"sequence": 7}'
REPLY = (
    b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{"sequence":7}'
)


@pytest.fixture(params=["http"])
def peer(ceiling, request):
    """A connection to a ceiling."""
    with (
        running(Subject("ceiling", f"'{ceiling}' {{port}} {request.param}", ""), 0) as (_, port),
        socket.create_connection(("127.0.0.1", port), 10) as connection,
    ):
        yield connection


echo = pytest.mark.parametrize("peer", ["echo"], indirect=True)


def receive(peer, size):
    got = bytearray()
    while len(got) < size:
        piece = peer.recv(size - len(got))
        assert piece, f"closed after {len(got)} of {size} bytes"
        got += piece
    return bytes(got)


def test_a_request_byte_by_byte(peer):
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in REQUEST * 2:
        peer.sendall(bytes([byte]))
    assert receive(peer, 2 * len(REPLY)) == REPLY * 2


def test_many_requests_at_once_come_back_in_order_and_number(peer):
    requests = [REQUEST.replace(b"7", b"%d" % (index % 10)) for index in range(5000)]
    replies = b"".join(REPLY.replace(b":7}", b":%d}" % (index % 10)) for index in range(5000))
    sender = threading.Thread(target=peer.sendall, args=(b"".join(requests),))
    sender.start()
    assert receive(peer, len(replies)) == replies
    sender.join()


def test_a_peer_that_sends_all_before_it_reads(peer):
    """The replies fill the peer's buffers and the server must keep the rest."""
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    count = 10_000
    peer.sendall(REQUEST * count)
    assert receive(peer, count * len(REPLY)) == REPLY * count


def test_nonsense_ends_the_connection(peer):
    peer.sendall(b"POST /ping HTTP/1.1\r\nContent-Length: 2\r\n\r\n[]")
    assert peer.recv(100) == b""


@echo
def test_an_echo_of_megabytes_is_whole(peer):
    message = bytes(range(256)) * 8192
    sender = threading.Thread(target=peer.sendall, args=(message,))
    sender.start()
    assert receive(peer, len(message)) == message
    sender.join()


def test_connections_come_and_go(ceiling):
    with running(Subject("ceiling", f"'{ceiling}' {{port}} http", ""), 0) as (pid, port):
        for _ in range(300):
            with socket.create_connection(("127.0.0.1", port), 10) as connection:
                connection.sendall(REQUEST)
                assert receive(connection, len(REPLY)) == REPLY
        with socket.create_connection(("127.0.0.1", port), 10) as connection:
            connection.sendall(REQUEST)
            receive(connection, len(REPLY))
            # Those of before are closed: listener, ring or epoll, standard streams and this one.
            assert len(os.listdir(f"/proc/{pid}/fd")) < 12
