"""weftd before a cluster of Galera, behind HAProxy, while clients write and read: nodes are killed, cut off and
restarted, and no acknowledged write is lost, nobody is told what is not so, and faults are over when the cluster says so.

WEFT_GALERA=whole does all of it, in a good minute; else one node is killed. A cut is one of networks of their own, which the
test must be allowed to make.
"""

import contextlib
import http.client
import os
import re
import shutil
import signal
import time
from pathlib import Path

import galera
import pytest
from cluster_load import TABLE, Load
from galera_network import Hub
from network import networks_can_be_made
from other_servers import free_port, running
from weft_process import Server

IS_WHOLE = os.environ.get("WEFT_GALERA") == "whole"
SECONDS_MAX = 900
DEPLOY = Path(__file__).resolve().parent.parent.parent / "apps/weftd/deploy"
NODES = WEFTDS = 3


def balancer_config(ports, entry):
    """The one that users are given, with the addresses of this test."""
    text = (DEPLOY / "haproxy.cfg").read_text()
    text, bound = re.subn(r"(?m)^(  bind) .*", rf"\1 127.0.0.1:{entry}", text)
    line = re.search(r"(?m)^  server \S+ \S+ check port \S+(.*)\n", text)
    servers = "".join(f"  server weftd{i} 127.0.0.1:{port} check port {probe}{line[1]}\n" for i, (port, probe) in enumerate(ports))
    text = re.sub(r"(?m)^  server .*\n", "", text)
    assert bound == 1
    return text + servers


class Service:
    """Three weftd behind HAProxy."""

    def __init__(self, weftd, cluster, folder, ends):
        password = folder / "password"
        password.write_text(galera.PASSWORD + "\n")
        password.chmod(0o600)
        servers = ",".join(node.address for node in cluster.nodes)
        self.ports = [(free_port(), free_port()) for _ in range(WEFTDS)]
        self.commands = [[weftd, "--listen", f"127.0.0.1:{port}", "--probe-listen", f"127.0.0.1:{probe}", "--threads", "1",
                          "--mysql", f"mysql://{galera.USER}@{servers}/shop", f"--store.mysql.engine.password_file={password}",
                          "--store.mysql.engine.connect_timeout=1s"] for port, probe in self.ports]
        self.ends = ends
        self.weftds = [ends.enter_context(Server(command)) for command in self.commands]
        entry = free_port()
        config = folder / "haproxy.cfg"
        config.write_text(balancer_config(self.ports, entry))
        ends.enter_context(running([shutil.which("haproxy", path="/usr/sbin:/usr/bin"), "-db", "-f", config], entry))
        self.address = ("127.0.0.1", entry)

    def start_anew(self, number):
        self.weftds[number] = self.ends.enter_context(Server(self.commands[number]))
        give_up = time.monotonic() + galera.PATIENCE_S
        while self.get_health(number) != "1":
            assert time.monotonic() < give_up, self.weftds[number].log
            time.sleep(0.02)

    def get_health(self, number):
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[number][0], timeout=60)
        with contextlib.closing(connection):
            connection.request("GET", "/0.1.0/health")
            return connection.getresponse().read().decode()


@pytest.fixture
def tell(capsys):
    def say(*words):
        with capsys.disabled():
            print("\n  ", *words, end="", flush=True)
    return say


@pytest.fixture
def service(weftd, request, tmp_path):
    """A cluster with what is before it, on loopback, or, where the parameter says so, with a network of each node's own."""
    if why := galera.missing():
        pytest.skip(why)
    if shutil.which("haproxy", path="/usr/sbin:/usr/bin") is None:
        pytest.skip("haproxy is not installed: tools/setup installs it")
    with contextlib.ExitStack() as ends:
        if request.param == "networks":
            if not networks_can_be_made():
                pytest.skip("this machine does not let us make networks")
            signal.alarm(SECONDS_MAX)
            hub = ends.enter_context(Hub(NODES))
            cluster = ends.enter_context(galera.Cluster(tmp_path, hub.places, [TABLE]))
            cluster.hub = hub
        else:
            cluster = ends.enter_context(galera.Cluster(tmp_path, [galera.Place() for _ in range(NODES)], [TABLE]))
        made = Service(weftd, cluster, tmp_path, ends)
        made.cluster = cluster
        yield made


class Trial:
    """Faults one after the other, each of which is over before the next."""

    def __init__(self, load, tell):
        self.load, self.tell = load, tell

    @contextlib.contextmanager
    def fault(self, name):
        """Clients may notice it until they have settled, and nothing before and after."""
        told = len(self.load.faults)
        self.load.settle()
        assert len(self.load.faults) == told, f"before it: {self.load.faults[told:]}"
        begin = time.monotonic()
        yield
        self.load.settle()
        self.tell(f"{name}: {self.load.report_since(begin)}")


def check_rows(cluster, load, tell):
    """What the clients were told is what each node has."""
    assert not load.wrong, load.wrong[:10]
    kept = []
    for node in cluster.nodes:
        rows = {int(key): content for key, content in node.ask("SELECT id, content FROM shop.notes")}
        kept.append(rows)
        for key in load.acknowledged:
            assert rows.get(key) == f"row {key}", f"node {node.number} has lost {key}"
        for key in load.undone:
            assert key not in rows, f"{key} was refused, and node {node.number} has it"
    assert kept[0] == kept[1] == kept[2]
    done = sum(key in kept[0] for key in load.unknown)
    tell(f"{len(load.acknowledged)} writes acknowledged, {len(load.undone)} refused, {len(load.unknown)} whose end was not known, "
         f"{done} of which were done")


@pytest.mark.parametrize("service", ["loopback"], indirect=True)
def test_a_node_is_killed_and_comes_back(service, tell):
    cluster = service.cluster
    with Load(service.address) as load:
        trial = Trial(load, tell)
        victim = cluster.in_use()
        with trial.fault("a node is killed"):
            victim.kill()
        with trial.fault("it comes back"):
            victim.rejoin()
            victim.wait_until(victim.has_joined)
    check_rows(cluster, load, tell)
    for weftd in service.weftds:
        assert weftd.stop() == 0, weftd.log


@pytest.mark.skipif(not IS_WHOLE, reason="takes a minute: WEFT_GALERA=whole runs it")
@pytest.mark.parametrize("service", ["networks"], indirect=True)
def test_a_cluster_in_trouble(service, tell):
    cluster, hub = service.cluster, service.cluster.hub
    with Load(service.address) as load:
        trial = Trial(load, tell)
        victim = cluster.in_use()
        with trial.fault("kill -9 of the node in use"):
            victim.kill()
        with trial.fault("it comes back"):
            victim.rejoin()
            victim.wait_until(victim.has_joined)
        for name, cut in (("the node in use is cut off from the others", hub.cut_from_nodes),
                          ("the node in use is cut off from all", hub.cut_from_all)):
            victim = cluster.in_use()
            with trial.fault(name):
                cut(victim.number)
                victim.wait_until(victim.has_left)
            with trial.fault("the network heals"):
                hub.heal(victim.number)
                victim.wait_until(victim.has_joined)
        with trial.fault("nodes restart one after the other"):
            for node in cluster.nodes:
                node.end()
                node.rejoin()
                node.wait_until(node.has_joined)
                load.settle()
        with trial.fault("weftd restart one after the other"):
            for number, weftd in enumerate(service.weftds):
                assert weftd.stop() == 0, weftd.log
                service.start_anew(number)
                load.settle()
        with trial.fault("kill -9 of a weftd"):
            service.weftds[0].process.kill()
            service.weftds[0].process.wait()
    check_rows(cluster, load, tell)
