"""The examples, under the load generators they name."""

import gzip
import os
import random
import re
import selectors
import signal
import socket
import subprocess
import time

import httpx
import pytest
from small_disk import small_disk
from weft_process import Server, curl, run, wait_until

PING_LUA = """
wrk.method = "POST"
wrk.body = '{"sequence": 2}'
wrk.headers["Content-Type"] = "application/json"
"""


def wrk(*arguments):
    """The number of requests wrk made, none of which failed."""
    done = run(["wrk", *arguments])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Socket errors" not in done.stdout, done.stdout
    assert "Non-2xx" not in done.stdout, done.stdout
    return int(re.search(r"(\d+) requests in", done.stdout)[1])


def listening(example, name, backend):
    return Server([example(name), "--listen", "127.0.0.1:0", "--backend", backend])


def test_echo_gives_back_what_it_gets(example, backend):
    sent = bytes(range(256)) * 4096  # 1 MiB: more than the queues between us hold
    with listening(example, "echo", backend) as server:
        with server.connect() as stream:
            stream.setblocking(False)
            got, left = bytearray(), memoryview(sent)
            with selectors.DefaultSelector() as ready:
                ready.register(stream, selectors.EVENT_READ | selectors.EVENT_WRITE)
                while len(got) < len(sent):
                    for _, events in ready.select(timeout=20) or [(None, None)]:
                        assert events is not None, "nothing moves"
                        if events & selectors.EVENT_WRITE and left:
                            left = left[stream.send(left[:65536]):]
                            if not left:
                                ready.modify(stream, selectors.EVENT_READ)
                        if events & selectors.EVENT_READ:
                            got += stream.recv(65536)
            assert got == sent
        assert server.stop() == 0


@pytest.mark.usefixtures("at_speed")
def test_echo_under_ab(example, backend):
    with listening(example, "echo", backend) as server:
        done = run(["ab", "-q", "-n", "20000", "-c", "200", "-k", server.url("/")])
        assert done.returncode == 0, done.stdout + done.stderr
        assert re.search(r"Complete requests:\s+20000\n", done.stdout), done.stdout
        assert re.search(r"Failed requests:\s+0\n", done.stdout), done.stdout
        assert server.stop() == 0


@pytest.mark.usefixtures("at_speed")
def test_hello_http_with_kept_connections(example, backend):
    with listening(example, "hello_http", backend) as server:
        assert curl(server.url("/")) == "Hello, World!"
        assert wrk("-t1", "-c64", "-d1s", server.url("/")) > 100
        assert server.stop() == 0


@pytest.mark.usefixtures("at_speed")
def test_hello_http_with_a_connection_a_request(example, backend):
    with listening(example, "hello_http", backend) as server:
        assert wrk("-t1", "-c32", "-d1s", "-H", "Connection: close", server.url("/")) > 100
        assert server.stop() == 0


def test_files_come_and_go_whole(example, backend, tmp_path):
    content = random.Random(7).randbytes(10_000_000)
    (tmp_path / "sent").write_bytes(content)
    with Server([example("files"), "--listen", "127.0.0.1:0", "--backend", backend, "--folder", tmp_path]) as server:
        assert curl("-T", tmp_path / "sent", server.url("/large")) == "10000000 bytes\n"
        assert (tmp_path / "large").read_bytes() == content
        assert curl("-T", tmp_path / "sent", "-H", "Transfer-Encoding: chunked",
                    server.url("/chunks")) == "10000000 bytes\n"
        assert (tmp_path / "chunks").read_bytes() == content
        curl("-o", tmp_path / "got", server.url("/large"))
        assert (tmp_path / "got").read_bytes() == content
        (tmp_path / "part").write_bytes(content[:4_000_000])
        curl("-C", "-", "-o", tmp_path / "part", server.url("/large"))
        assert (tmp_path / "part").read_bytes() == content
        assert curl("-r", "0-1,-1", server.url("/large"), "-D", "-", "-o", tmp_path / "parts").startswith("HTTP/1.1 206")
        assert httpx.get(server.url("/nowhere"), timeout=20).status_code == 404
        with server.connect() as gone:
            gone.sendall(b"PUT /half HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + content[:50_000])
        assert server.stop() == 0
    assert visible(tmp_path) == ["chunks", "got", "large", "part", "parts", "sent"]
    assert not list((tmp_path / ".unfinished").iterdir())


def visible(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def file_store(example, backend, folder, *arguments, **more):
    command = [example("files"), "--listen", "127.0.0.1:0", "--backend", backend, "--folder", folder, *arguments]
    return Server(command, **more)


def test_an_upload_touches_no_other_file(example, backend, tmp_path):
    """Whatever the others are called: these are the names that parts of uploads had once."""
    others = [f"r.txt.0-{number}.part" for number in range(5, 15)]
    with file_store(example, backend, tmp_path) as server, httpx.Client(base_url=server.url(""), timeout=20) as client:
        for name in others:
            assert client.put(f"/{name}", content=name).status_code == 201
        assert client.put("/r.txt", content="whole").status_code == 201
        assert client.get("/r.txt").text == "whole"
        assert [client.get(f"/{name}").text for name in others] == others
        assert server.stop() == 0
    assert visible(tmp_path) == sorted([*others, "r.txt"])


def test_an_upload_is_served_by_its_own_name_alone(example, backend, tmp_path):
    """As a file that is compressed already it would change what others are given."""
    with file_store(example, backend, tmp_path) as server, httpx.Client(base_url=server.url(""), timeout=20) as client:
        assert client.put("/a.txt", content="honest").status_code == 201
        for ending in ("gz", "br", "zst"):
            assert client.put(f"/a.txt.{ending}", content=gzip.compress(b"another")).status_code == 201
        for coding in ("gzip", "br", "zstd", "*"):
            assert client.get("/a.txt", headers={"Accept-Encoding": coding}).text == "honest"
        assert server.stop() == 0


def test_a_part_does_not_replace_a_file(example, backend, tmp_path):
    with file_store(example, backend, tmp_path) as server, httpx.Client(base_url=server.url(""), timeout=20) as client:
        assert client.put("/a", content="whole").status_code == 201
        assert client.put("/a", content="pa", headers={"Content-Range": "bytes 0-1/5"}).status_code == 400
        assert client.get("/a").text == "whole"
        assert server.stop() == 0


def test_half_an_upload_is_served_to_nobody(example, backend, tmp_path):
    with file_store(example, backend, tmp_path) as server:
        with server.connect() as slow, httpx.Client(base_url=server.url(""), timeout=20) as client:
            slow.sendall(b"PUT /half HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + b"secret" * 8_000)
            parts = []
            wait_until(lambda: parts.extend(path for path in tmp_path.rglob("*") if path.is_file()) or parts)
            for part in parts:
                path = part.relative_to(tmp_path)
                assert client.get(f"/{path}").status_code == 404
                assert client.put(f"/{path}", content="mine").status_code in (400, 404, 405)
            assert client.get("/half").status_code == 404
        wait_until(lambda: not [path for path in tmp_path.rglob("*") if path.is_file()])
        assert server.stop() == 0


def test_what_a_killed_server_has_left_goes(example, backend, tmp_path):
    (tmp_path / ".unfinished").mkdir()
    old, new = (tmp_path / ".unfinished" / name for name in ("old", "new"))
    for path in (old, new):
        path.write_text("part")
    two_days_ago = time.time() - 2 * 86_400
    os.utime(old, (two_days_ago, two_days_ago))
    with file_store(example, backend, tmp_path) as server:
        assert server.stop() == 0
    assert new.exists() and not old.exists()


def test_bad_names_and_full_disks_are_told(example, backend, tmp_path):
    with file_store(example, backend, tmp_path, f"--file_store.free_bytes={2 ** 62}") as server:
        with httpx.Client(base_url=server.url(""), timeout=20) as client:
            for name in (".hidden", "a" * 256, "a%2Fb", "a%00b"):
                assert client.put(f"/{name}", content="text").status_code == 400
            assert client.put("/good", content="text").status_code == 503
        assert server.stop() == 0
    assert visible(tmp_path) == []


def test_an_upload_without_a_length_leaves_space_too(example, backend, tmp_path):
    with file_store(example, backend, tmp_path, preexec=small_disk(tmp_path, "100m")) as server:
        def is_stored(name, megabytes):
            try:
                return httpx.put(server.url(name), content=(b"x" * 2**20 for _ in range(megabytes)), timeout=60).status_code == 201
            except httpx.TransportError:  # the reply came, and the end of the connection, before all was sent
                return False
        assert is_stored("/small", 20)
        assert not is_stored("/large", 40)
        assert httpx.get(server.url("/large"), timeout=60).status_code == 404
        assert len(httpx.get(server.url("/small"), timeout=60).content) == 20 * 2**20
        wait_until(lambda: is_stored("/another", 10))  # what was stored of the large one is gone
        assert server.stop() == 0


def is_closed(stream):
    stream.settimeout(20)
    try:
        return stream.recv(1) == b""
    except ConnectionResetError:
        return True


def echoes(stream):
    stream.settimeout(20)
    try:
        stream.sendall(b"hello")
        return stream.recv(5) == b"hello"
    except ConnectionError:
        return False


def test_echo_serves_so_many(example, backend):
    with Server([example("echo"), "--listen", "127.0.0.1:0", "--backend", backend, "--threads", "1",
                 "--echo_server.connections=2"]) as server:
        with server.connect() as first, server.connect() as second:
            assert echoes(first) and echoes(second)
            with server.connect() as third:
                assert is_closed(third)

        def is_served_again():
            with server.connect() as later:
                return echoes(later)
        wait_until(is_served_again)
        assert server.stop() == 0


def test_echo_serves_nobody_for_ever(example, backend):
    with Server([example("echo"), "--listen", "127.0.0.1:0", "--backend", backend, "--threads", "1",
                 "--echo_server.lifetime=100ms"]) as server:
        with server.connect() as idle:
            assert is_closed(idle)
        assert server.stop() == 0


def test_middlewares_look_before_handlers(example, backend):
    with Server([example("middlewares"), "--listen", "127.0.0.1:0", "--backend", backend, "--threads", "1",
                 "--club.watchers=1"]) as server:
        assert curl(server.url("/open/ann")) == "ann, welcome!\n"
        refused = httpx.get(server.url("/club/ann"), timeout=20)
        assert refused.status_code == 401 and "say who you are" in refused.json()["detail"]
        assert curl("-H", "Authorization: me", server.url("/club/ann")) == "ann, welcome!\n"
        assert httpx.get(server.url("/stats"), timeout=20).json() == {"asked": 2, "admitted": 1, "watched": 4}
        assert server.stop() == 0


def test_the_api_says_what_it_takes_and_gives(example, backend):
    with listening(example, "api", backend) as server:
        with httpx.Client(base_url=server.url(""), timeout=20) as client:
            kept = client.post("/notes", json={"text": "buy milk", "tags": ["home"]})
            assert (kept.status_code, kept.headers["location"]) == (201, "/notes/1")
            assert kept.json() == client.get("/notes/1").json() == {"id": 1, "text": "buy milk", "tags": ["home"]}
            client.post("/notes", json={"text": "write"})
            found = client.get("/notes", params={"sort": "newest", "limit": 1}).json()
            assert found == {"notes": [{"id": 2, "text": "write", "tags": []}], "in_all": 2}
            assert client.put("/notes/2", json={"text": "read"}).json()["text"] == "read"
            assert client.delete("/notes/2").status_code == 204
            assert client.get("/notes/2").status_code == 404
            assert "from 1 to 100" in client.get("/notes", params={"limit": 0}).json()["detail"]
            document = client.get("/openapi.json")
            assert sorted(document.json()["paths"]["/notes/{id}"]) == ["delete", "get", "put"]
            unchanged = client.get("/openapi.json", headers={"If-None-Match": document.headers["etag"]})
            assert unchanged.status_code == 304
        assert server.stop() == 0


def test_all_shards_have_the_same_notes(example, backend):
    with Server([example("api"), "--listen", "127.0.0.1:0", "--backend", backend, "--threads", "3",
                 "--notes.store.notes=12", "--notes.store.bytes=1000"]) as server:
        def on_a_new_connection(method, path, **what):
            return httpx.request(method, server.url(path), timeout=20, **what)

        kept = [on_a_new_connection("POST", "/notes", json={"text": str(number)}) for number in range(12)]
        assert [reply.json()["id"] for reply in kept] == list(range(1, 13))
        for number in range(1, 13):
            assert on_a_new_connection("GET", f"/notes/{number}").json()["text"] == str(number - 1)
        assert on_a_new_connection("POST", "/notes", json={"text": "one too many"}).status_code == 503
        assert on_a_new_connection("PUT", "/notes/1", json={"text": "x" * 2000}).status_code == 503
        assert on_a_new_connection("GET", "/notes/1").json()["text"] == "0"
        assert on_a_new_connection("DELETE", "/notes/1").status_code == 204
        assert on_a_new_connection("POST", "/notes", json={"text": "y" * 900}).status_code == 201
        assert on_a_new_connection("GET", "/notes").json()["in_all"] == 12
        assert server.stop() == 0


@pytest.mark.usefixtures("at_speed")
def test_weftd_ping_under_wrk(serve, backend, tmp_path):
    script = tmp_path / "ping.lua"
    script.write_text(PING_LUA)
    with serve("--backend", backend, "--threads", "1") as server:
        assert wrk("-t1", "-c64", "-d1s", "-s", script, server.url("/ping")) > 100
        assert server.stop() == 0


def test_the_tour_takes_and_gives_json(example, backend):
    """It listens where its source says; where that port is taken, it says so, and that is the test."""
    tour = [example("tour"), "--backend", backend]
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken = probe.connect_ex(("127.0.0.1", 8080)) == 0
    if taken:
        done = run(tour)
        assert done.returncode == 1 and "127.0.0.1:8080 is in use" in done.stderr
        return
    with Server(tour) as server:
        answer = httpx.post("http://127.0.0.1:8080/ping", json={"sequence": 2}, timeout=20)
        assert (answer.status_code, answer.json()) == (200, {"sequence": 2})
        assert httpx.post("http://127.0.0.1:8080/ping", content="{}", timeout=20).status_code == 400
        assert server.stop() == 0


def test_a_gateway_asks_another_service(example, backend):
    with Server([example("tour"), "--http.server.listen=127.0.0.1:0", "--backend", backend]) as tour:
        command = [example("gateway"), "--listen", "127.0.0.1:0", "--backend", backend, f"--gateway.upstream={tour.url('')}"]
        with Server(command) as gateway:
            assert curl(gateway.url("/ping/2")) == '{"sequence":2}'
            assert tour.stop() == 0
            begun = time.monotonic()
            for _ in range(50):
                assert httpx.get(gateway.url("/ping/3"), timeout=20).status_code >= 500
            assert gateway.stop() == 0
            assert 1 <= gateway.log.count("since the last line") <= time.monotonic() - begun + 1


def test_events_are_heard_by_functions_and_coroutines(example):
    done = run([example("events"), "3"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["meal 0: 0 heard of it", "meal 1 is served", "meal 1: 2 heard of it",
                                        "meal 2 is served", "meal 2: 2 heard of it", "earned 15"]


def lines_of(example, name, *arguments):
    done = run([example(name), *arguments])
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_services_start_in_the_order_of_their_needs_and_stop_in_reverse(example):
    assert lines_of(example, "services", "--kitchen.dishes=1") == [
        "the stove is hot", "the kitchen has 1 dishes", "dish 1 is sold",
        "the shop is closed", "the kitchen is clean", "the stove is off"]


def test_what_is_optional_and_what_is_many_come_and_go(example):
    assert lines_of(example, "optional_and_many") == ["This morning", "- sun", "- no traffic",
                                                      "(no title)", "- sun", "- no traffic"]


def test_each_consumer_has_an_instance_of_its_own(example):
    lines = lines_of(example, "per_consumer")
    assert lines[:3] == ["bakery enters 3", "bakery enters 4", "butcher enters 20"]
    assert sorted(lines[3:]) == ["bakery has earned 7", "butcher has earned 20", "the bank has 27"]
    assert lines[-1] == "the bank has 27", "who is needed stops last"


def test_all_shards_call_the_one_there_is(example):
    lines = lines_of(example, "cross_shard", "--threads", "3")
    assert sorted(lines[:3]) == [f"shard {n}: not found" for n in range(3)]
    assert lines[3:] == ["30 times soup"]


def test_words_are_counted_on_the_shard_that_owns_them(example):
    lines = lines_of(example, "shards", "2", "to be or not to be")
    counted = [re.fullmatch(r"(\w+): (\d+), on shard ([01])", line) for line in lines[:6]]
    assert [(each[1], each[2]) for each in counted] == [("to", "1"), ("be", "1"), ("or", "1"), ("not", "1"),
                                                        ("to", "2"), ("be", "2")]
    assert sum(int(line.split()[0]) for line in lines[6:]) == 4


@pytest.mark.parametrize("command, cause", [(("shards", "0"), "number of shards"), (("shards", "-1"), "number of shards"),
                                            (("shards", "many"), "number of shards"), (("events", "few"), "number of meals")])
def test_a_number_that_is_none_is_told(example, command, cause):
    name, *arguments = command
    done = run([example(name), *arguments])
    assert done.returncode == 2 and cause in done.stderr and arguments[0] in done.stderr


def test_timers_give_up_race_and_tick(example):
    assert lines_of(example, "timers") == ["an hour's work in 5 ms: timed out", "the first of two to end is number 1",
                                           "ticked three times"]


DURATION = r"[\d,]+"


@pytest.mark.usefixtures("at_speed")
def test_realtime_says_which_runs_took_too_long(example):
    done = run([example("realtime"), "--worker.runs=500"])
    assert done.returncode == 0, done.stderr
    *late, last = done.stdout.splitlines()
    assert re.fullmatch(rf"duration min/max/avg: {DURATION}/{DURATION}/{DURATION} µs", last)
    for line in late:
        assert re.fullmatch(rf"duration of run {DURATION} is {DURATION} µs which exceeded maximum of 2,000 µs", line)
    every = lines_of(example, "realtime", "--worker.runs=20", "--worker.limit=1us")
    assert len(every) == 21 and every[0].startswith("duration of run 1 is ")


def test_no_run_at_all_is_refused(example):
    done = run([example("realtime"), "--worker.runs=0"])
    assert done.returncode == 2 and "worker.runs" in done.stderr, done.stderr


def without_rights(command):
    """Run by who may neither go before others nor keep memory, whoever runs the tests."""
    dropped = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    return run(["prlimit", "--rtprio=0", "--memlock=0", *dropped, *command])


@pytest.mark.usefixtures("at_speed")
def test_realtime_runs_without_rights_and_says_what_it_lacks(example):
    done = without_rights([example("realtime"), "--worker.runs=20"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("duration min/max/avg: ")
    assert "SCHED_FIFO, priority 20  NO: Operation not permitted; to allow it: `setcap cap_sys_nice+ep" in done.stderr
    assert re.search("memory locked  NO: .*; to allow it: `setcap cap_ipc_lock[+]ep", done.stderr)


@pytest.mark.usefixtures("at_speed")
def test_a_periodic_task_allocates_nothing_and_touches_no_new_page(example):
    lines = lines_of(example, "periodic", "--control.period=100us", "--control.runs=20000", "--control.warm_up=1000")
    assert re.fullmatch(r"runs \d+, skipped \d+, misses \d+", lines[0])
    assert [line.split()[0] for line in lines[2:5]] == ["latency", "response", "execution"]
    assert lines[-1] == "page faults 0, allocations 0"


@pytest.mark.parametrize("backend", ["epoll", "io_uring"])
def test_a_shard_that_is_not_to_allocate_does_not(example, backend):
    done = run([example("periodic"), "--backend", backend, "--realtime.policy=other", "--realtime.allocations=abort",
                "--control.runs=1000", "--control.period=500us"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith("allocations 0")


@pytest.mark.parametrize("rule", ["count", "log", "abort"])
@pytest.mark.parametrize("backend", ["epoll", "io_uring"])
def test_a_periodic_task_ends_when_it_is_told_to(example, backend, rule):
    with subprocess.Popen([example("periodic"), "--backend", backend, "--realtime.policy=other", f"--realtime.allocations={rule}",
                           "--control.runs=1000000000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as told:
        for line in told.stderr:
            if "ready" in line:
                break
        time.sleep(0.1)
        told.send_signal(signal.SIGTERM)
        _, errors = told.communicate(timeout=60)
    assert told.returncode == 0, errors
    assert "to allocate" not in errors
