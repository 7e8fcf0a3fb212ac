"""Clients that know exactly what they are owed: which requests the server's socket had when, and what came of them.

    load = Load(port, connections=64)
    load.run(until=lambda: ...)          # as long as that says False
    assert not load.faults

Each connection sends batches of pipelined requests, a batch in one send(): on the loopback interface its last byte
has reached the server's socket when send() returns. The next one follows when all replies have come and nothing has
told that the connection ends. So whatever was sent must be answered; an end before that, or a reset, is a fault.
"""

import errno
import random
import re
import selectors
import socket
import time

HEAD = re.compile(rb"HTTP/1\.1 (\d{3}) [^\r]*\r\n((?:[^\r]+\r\n)*)\r\n")
LENGTH = re.compile(rb"content-length: (\d+)\r\n", re.IGNORECASE)
CLOSE = re.compile(rb"connection: close\r\n", re.IGNORECASE)


def ping(sequence):
    body = b'{"sequence":%d}' % sequence
    return b"POST /ping HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body), body


class Connection:
    def __init__(self, load, lasting):
        self.load = load
        self.lasting = lasting
        self.owed = []          # the bodies of the replies that are due
        self.received = b""
        self.told_close = False
        self.connected = False
        self.due = 0.0          # when the next batch is
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.connect_ex(("127.0.0.1", load.port))

    def on_connect(self):
        """False: it was refused."""
        failure = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if failure == errno.ECONNREFUSED:
            self.load.refused += 1
            return False
        if failure:
            self.load.faults.append(f"connecting: {errno.errorcode[failure]}")
            return False
        self.connected = True
        return True

    def send(self):
        """The next batch. False: the connection is over."""
        try:
            if self.socket.recv(1, socket.MSG_PEEK) == b"":
                return self.on_end()  # which was to be seen before anything was sent
        except BlockingIOError:
            pass
        except ConnectionError as failure:
            return self.fault(f"{type(failure).__name__} between two requests")
        batch = b""
        for _ in range(random.choice((1, 1, 1, 2, 5, 60))):  # the longest takes several reads
            request, body = ping(self.load.next_sequence())
            self.owed.append(body)
            batch += request
        try:
            assert self.socket.send(batch) == len(batch), "a batch fits the socket's buffer"
        except ConnectionError as failure:
            return self.fault(f"{type(failure).__name__} while sending")
        return True

    def on_readable(self):
        """Takes replies. False: the connection is over."""
        try:
            part = self.socket.recv(65536)
        except BlockingIOError:
            return True
        except ConnectionError as failure:
            return self.fault(f"{type(failure).__name__}, {len(self.owed)} replies due")
        if part == b"":
            return self.on_end()
        self.received += part
        while reply := HEAD.match(self.received):
            end = reply.end() + int(LENGTH.search(reply[2])[1])
            if len(self.received) < end:
                break
            self.take(reply, self.received[reply.end():end])
            self.received = self.received[end:]
        if self.owed:
            return True
        if not self.lasting and not self.told_close:
            return False
        self.due = time.monotonic() + random.choice((0, 0, 0.001, 0.01))
        return True

    def take(self, reply, body):
        if self.told_close:
            self.fault("a reply after the last")
        if not self.owed or reply[1] != b"200" or body != self.owed.pop(0):
            self.fault(f"a wrong reply: {reply[0]!r} {body!r}")
        self.load.answered += 1
        self.told_close = CLOSE.search(reply[2]) is not None

    def on_end(self):
        if self.owed or self.received:
            return self.fault(f"the end, {len(self.owed)} replies due"
                              + (", after `Connection: close`" if self.told_close else ""))
        self.load.ended += 1
        return False

    def fault(self, what):
        self.load.faults.append(what)
        return False


class Load:
    def __init__(self, port, connections, newcomers_a_second=500):
        self.port = port
        self.newcomer_pause_s = 1 / newcomers_a_second
        self.sequence = self.answered = self.refused = self.ended = 0
        self.faults = []
        self.selector = selectors.DefaultSelector()
        self.open = set()
        self.next_newcomer = time.monotonic()
        for _ in range(connections):
            self.add(lasting=True)

    def next_sequence(self):
        self.sequence += 1
        return self.sequence

    def add(self, lasting):
        connection = Connection(self, lasting)
        self.open.add(connection)
        self.selector.register(connection.socket, selectors.EVENT_WRITE, connection)

    def drop(self, connection):
        self.open.discard(connection)
        self.selector.unregister(connection.socket)
        connection.socket.close()

    def step(self):
        for key, events in self.selector.select(timeout=0.001):
            connection = key.data
            if connection.connected:
                alive = connection.on_readable()
            elif alive := connection.on_connect():
                self.selector.modify(connection.socket, selectors.EVENT_READ, connection)
            if not alive:
                self.drop(connection)
        now = time.monotonic()
        for connection in list(self.open):
            if connection.connected and not connection.owed and not connection.told_close and now >= connection.due:
                if not connection.send():
                    self.drop(connection)
        while now >= self.next_newcomer:
            self.next_newcomer = max(self.next_newcomer + self.newcomer_pause_s, now - 0.01)
            self.add(lasting=False)

    def run(self, until):
        while not until():
            self.step()

    def finish(self, patience_s=20):
        """Waits for the end of every connection that was made. Who has not got through is left out: nobody answered."""
        give_up = time.monotonic() + patience_s
        self.next_newcomer = float("inf")
        while any(connection.connected for connection in self.open):
            if time.monotonic() > give_up:
                self.faults.append("a connection never ended")
                break
            self.step()
        for connection in list(self.open):
            self.drop(connection)
        self.selector.close()
