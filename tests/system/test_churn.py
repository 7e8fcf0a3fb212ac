"""Ten thousand clients, each of which comes anew for every request."""

import re

from weft_process import run

CLIENTS = 10_000


def test_ten_thousand_come_and_go(serve, backend, own_network):
    """None is refused, cut or forgotten, however long it takes."""
    made, join = own_network
    with serve("--backend", backend, preexec=made) as server:
        done = run(["wrk", "-t1", f"-c{CLIENTS}", "-d3s", "--timeout", "60s", "-H", "Connection: close", server.url("/healthz")],
                   preexec=join(server))
        assert done.returncode == 0, done.stderr
        assert "Socket errors" not in done.stdout and "Non-2xx" not in done.stdout, done.stdout
        requests = int(re.search(r"(\d+) requests in", done.stdout)[1])
        print(f"{requests} connections came and went")
        assert requests > 0
        assert server.stop() == 0, server.log
