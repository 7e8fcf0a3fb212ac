"""Many clients that are slow, in a process of their own, told what to do line by line as those of a Crowd.

    with SlowCrowd(server) as slow:
        slow.tell("begin", "body", 9_000)   # connect, and send a request up to within its head, or its body
        slow.tell("go_on")                  # each sends a byte more -> how many are still there
        slow.tell("go_on", 1.0)             # the same, one after the other, in a second
        slow.tell("finish")                 # each sends the rest -> {status: how many}, and {"gone": how many}
        slow.tell("hear")                   # the same of those who do not go on

        slow.tell("ask", "/large", 1_000)   # connect, and ask for that, by a small window
        slow.tell("ask", "/small", 1_000, 100)  # the same, a hundred times on each connection
        slow.tell("take", 4096)             # each takes so many bytes -> bytes taken by all so far
        slow.tell("nibble")                 # each takes a byte where there is one
        slow.tell("get", "/small")          # another one asks, and takes the answer -> its status
        slow.tell("fetch", "/small")        # the same -> its body
"""

import collections
import contextlib
import http.client
import select
import socket
import time

from crowd import PATIENCE_S, Crowd, obey

REQUEST = b'POST /ping HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n{"sequence": 2}'
BEGUN = {"head": REQUEST.index(b"Host"), "body": REQUEST.index(b"{") + 1}
WINDOW_BYTES = 64 * 1024
SENT_AT_ONCE = 20


class SlowCrowd(Crowd):
    program = __file__


class Client:
    def __init__(self, port, sent):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, WINDOW_BYTES)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(("127.0.0.1", port))
        self.socket.sendall(sent)


class SlowSender(Client):
    def __init__(self, port, at):
        super().__init__(port, REQUEST[:at])
        self.at = at

    def send(self, count):
        self.socket.sendall(REQUEST[self.at:self.at + count])
        self.at += count


class SlowClients:
    def __init__(self, port):
        self.port = port
        self.senders = []
        self.readers = []
        self.taken = 0

    def begin(self, what, count):
        self.senders += [SlowSender(self.port, BEGUN[what]) for _ in range(count)]
        return len(self.senders)

    def go_on(self, seconds=0.0):
        """Nobody is to hear anything yet."""
        began = time.monotonic()
        with select.epoll() as poll:
            for number, sender in enumerate(self.senders):
                if seconds and number % SENT_AT_ONCE == 0:
                    time.sleep(max(0.0, began + seconds * number / len(self.senders) - time.monotonic()))
                sender.send(1)
                poll.register(sender.socket, select.EPOLLIN)
            return len(self.senders) - len(poll.poll(0, len(self.senders)))

    def finish(self):
        for sender in self.senders:
            sender.send(len(REQUEST))
        return self.hear()

    def hear(self):
        outcomes = collections.Counter()
        for sender in self.senders:
            reply = sender.socket.recv(4096)
            outcomes[reply[9:12].decode() or "gone"] += 1
            sender.socket.close()
        return outcomes

    def ask(self, path, count, times=1):
        request = f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * times
        self.readers += [Client(self.port, request) for _ in range(count)]
        return len(self.readers)

    def nibble(self):
        for reader in self.readers:
            with contextlib.suppress(BlockingIOError, ConnectionError):  # some may have been cut
                reader.socket.recv(1, socket.MSG_DONTWAIT)

    def get(self, path):
        return self._answer(path)[0]

    def fetch(self, path):
        return self._answer(path)[1].decode()

    def _answer(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        with contextlib.closing(connection):
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def take(self, size):
        for reader in self.readers:
            left = size
            while left > 0:
                part = reader.socket.recv(left)
                assert part, f"the end after {self.taken} bytes"
                left -= len(part)
            self.taken += size
        return self.taken


if __name__ == "__main__":
    obey(SlowClients)
