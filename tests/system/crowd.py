"""Many clients of one server in a process of their own, told what to do line by line.

    crowd = Crowd(server, preexec=...)      # with Crowd(...) as crowd:
    crowd.tell("open", 10_000)              # connect, and ask for /healthz
    crowd.tell("wait")                      # -> who has been answered so far, once nothing moves any more
    crowd.tell("ask")                       # who has been answered asks again -> how many are answered
    crowd.tell("leave", 100)                # so many of them go
    crowd.tell("end")                       # -> how many see a proper end, after the server's
"""

import json
import resource
import select
import socket
import subprocess
import sys

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
PATIENCE_S = 20
STILL_S = 0.5


class Crowd:
    program = __file__

    def __init__(self, server, preexec=None):
        self.process = subprocess.Popen([sys.executable, self.program, str(server.port)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, preexec_fn=preexec)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def send(self, *words):
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()

    def answer(self):
        return json.loads(self.process.stdout.readline())

    def tell(self, *words):
        self.send(*words)
        return self.answer()


class Clients:
    def __init__(self, port):
        self.port = port
        self.poll = select.epoll()
        self.all = {}
        self.inside = set()  # descriptors of those who have been answered

    def open(self, count):
        for _ in range(count):
            client = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
            client.sendall(REQUEST)
            self.all[client.fileno()] = client
            self.poll.register(client, select.EPOLLIN)
        return len(self.all)

    def collect(self, patience_s, enough):
        """Those who get an answer, until they are enough or none comes for so long."""
        answered = set()
        while len(answered) < enough and (ready := self.poll.poll(patience_s)):
            for descriptor, _ in ready:
                assert self.all[descriptor].recv(4096).startswith(b"HTTP/1.1 200 OK"), "served or waiting"
                answered.add(descriptor)
        return answered

    def wait(self):
        self.inside |= self.collect(STILL_S, len(self.all) - len(self.inside))
        return len(self.inside)

    def ask(self):
        for descriptor in self.inside:
            self.all[descriptor].sendall(REQUEST)
        return len(self.collect(PATIENCE_S, len(self.inside)))

    def leave(self, count):
        for _ in range(count):
            self.all.pop(self.inside.pop()).close()
        return len(self.inside)

    def end(self):
        proper = 0
        for client in self.all.values():
            proper += client.recv(4096) == b""
            client.close()
        return proper


def obey(make_clients):
    """What the process of a crowd does: all that it is told."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    clients = make_clients(int(sys.argv[1]))
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        print(json.dumps(getattr(clients, command)(*arguments)), flush=True)


if __name__ == "__main__":
    obey(Clients)
