"""weftd with two servers that have the same rows: one is killed, readers notice nothing but the time, writers are told
the truth, and nobody makes more connections than it should."""

import contextlib
import re
import threading
import time

import pytest
from mariadb_client import MariadbClient
from row_client import RowClient, given, operation
from row_engines import mariadb
from test_row_server import is_well
from weft_process import Server, wait_until

THREADS, CONNECTIONS_MAX, READERS = 2, 4, 8
ROWS = 50


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    with mariadb(tmp_path_factory.mktemp("one")) as one, mariadb(tmp_path_factory.mktemp("two")) as two:
        yield one, two


@pytest.fixture
def databases(both):
    """Two of them, which are there and have the same rows; the first one is used first."""
    with contextlib.ExitStack() as ends:
        for each in both:
            if each.process is None:
                each.start()
            each.client = ends.enter_context(MariadbClient(each))
            each.client.run("USE shop", "CREATE OR REPLACE TABLE people(id INT PRIMARY KEY, name VARCHAR(20))",
                            f"INSERT INTO people SELECT seq, CONCAT('name', seq) FROM seq_1_to_{ROWS}")
        yield both


@pytest.fixture
def server(weftd, databases):
    one, two = databases
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", THREADS, f"--store.mysql.engine.connections_max={CONNECTIONS_MAX}",
                 "--store.mysql.engine.retry_most=1s", *one.arguments[2:],
                 "--mysql", f"mysql://weft@127.0.0.1:{one.port},127.0.0.1:{two.port}"]) as made:
        yield made


def person(action, key, **content):
    return operation(f"shop/people/{action}", {"filters": given(id=key), **({"writeColumns": given(**content)} if content else {})})


class Readers:
    """Clients that read, and note all that is not what they should be told."""

    def __init__(self, server):
        self.server, self.answered, self.faults = server, [0] * READERS, []
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self._read, args=(number,)) for number in range(READERS)]

    def __enter__(self):
        for each in self.threads:
            each.start()
        self.go_on()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for each in self.threads:
            each.join()

    def _read(self, number):
        with RowClient(self.server) as client:
            while not self.ended.is_set():
                key = 1 + (self.answered[number] + number) % ROWS
                told = client.batch(person("pk-read", key))
                if told[0] != 200 or f'"name{key}"' not in told[1]:
                    self.faults.append(told)
                self.answered[number] += 1
                time.sleep(0.001)

    def go_on(self):
        """Until each has read so many more rows."""
        enough = [count + 50 for count in self.answered]
        wait_until(lambda: all(count >= wanted for count, wanted in zip(self.answered, enough, strict=True)))


def series(server, name):
    """Over all shards."""
    return sum(int(value) for value in re.findall(rf"^{name}(?:\{{.*\}})? (\d+)$", server.get("/metrics")[1], re.MULTILINE))


def connections_made(database):
    return int(database.client.ask("SHOW GLOBAL STATUS LIKE 'Connections'")[0][1])


def test_readers_notice_nothing_but_the_time(server, databases):
    one, two = databases
    before = connections_made(two)
    with Readers(server) as readers:
        assert connections_made(two) == before, "one server at a time"
        one.kill()
        readers.go_on()
        assert not readers.faults
        # Each shard has found out by one attempt, and has made no more connections than it keeps.
        assert series(server, "store_connect_failures_total") == THREADS
        assert 0 < connections_made(two) - before <= THREADS * CONNECTIONS_MAX
        assert is_well(server)
        one.start()
        readers.go_on()
        with MariadbClient(one) as client:
            assert client.ask("SELECT COUNT(*) FROM information_schema.processlist WHERE user='weft'") == [("1",)], "nobody goes back"
            two.kill()
            readers.go_on()
            assert not readers.faults
            assert 0 < int(client.ask("SELECT COUNT(*) FROM information_schema.processlist WHERE user='weft'")[0][0]) - 1 \
                <= THREADS * CONNECTIONS_MAX
        assert series(server, "store_connect_failures_total") == 2 * THREADS
        assert series(server, "store_servers_given_up_total") == 2 * THREADS
    assert not readers.faults
    assert f"the rows are asked of 127.0.0.1:{two.port} from now on" in server.read_log()
    assert server.stop() == 0, server.log


def test_a_write_whose_answer_was_lost_is_told_as_one(server, databases):
    """Both wait for a lock: a row alone, which commits itself, and a batch that has not come to its commit, and that is
    done by the other server."""
    one, two = databases
    told = {}

    def write(name, *operations):
        with RowClient(server) as client:
            told[name] = client.write(*operations)

    with MariadbClient(one) as other:
        other.run("BEGIN", "SELECT * FROM shop.people WHERE id IN (1, 2) FOR UPDATE")
        writers = [threading.Thread(target=write, args=("row", person("pk-update", 1, name="new"))),
                   threading.Thread(target=write, args=("batch", person("pk-insert", 1001, name="new"), person("pk-update", 2, name="new")))]
        for each in writers:
            each.start()
        wait_until(lambda: one.client.locks_waited_for() == 2)
        one.kill()
        for each in writers:
            each.join()
    assert told["row"][0] == 500 and "nobody knows whether the batch was done" in told["row"][1], told
    assert told["batch"][0] == 200, told
    assert two.client.ask("SELECT name FROM shop.people WHERE id IN (1, 2, 1001)") == [("name1",), ("new",), ("new",)]
    one.start()
    with MariadbClient(one) as client:
        assert client.ask("SELECT name FROM shop.people WHERE id IN (1, 2, 1001)") in ([("name1",), ("name2",)], [("new",), ("name2",)])
    assert series(server, "store_writes_retried_total") == 1
    assert server.stop() == 0, server.log


def test_while_both_are_gone_each_is_tried_at_its_own_pace(server, databases):
    one, two = databases
    with RowClient(server) as client:
        one.kill()
        two.kill()
        for _ in range(1000):
            assert client.batch(person("pk-read", 1))[0] == 503
        assert series(server, "store_connect_failures_total") < 500, "who asks in a pause is told at once"
        two.start()
        wait_until(lambda: client.batch(person("pk-read", 1))[0] == 200)
        assert server.stop() == 0, server.log
