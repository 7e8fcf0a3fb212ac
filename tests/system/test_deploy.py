"""The configurations of balancers and of Kubernetes that weftd comes with work as they are: each is started, with the
addresses of this machine. tests/system/test_access.py has the unit for systemd."""

import contextlib
import http.client
import json
import os
import re
import shutil
import sqlite3
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from other_servers import free_port, running
from row_client import RowClient, given
from row_engines import mariadb, sqlite_arguments
from weft_process import Server, run, wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "apps/weftd/deploy"


def make_rows(folder):
    with contextlib.closing(sqlite3.connect(folder / "shop.db")) as database, database:
        database.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)")
        database.execute("INSERT INTO t VALUES(1, 'x')")


class Behind:
    """Two weftd, on ports of their own, behind a balancer."""

    def __init__(self, name, weftd, folder, ends):
        self.program = shutil.which(name, path="/usr/sbin:/usr/bin")
        if self.program is None:
            pytest.skip(f"{name} is not installed: tools/setup installs it")
        self.ends, self.entry = ends, free_port()
        self.ports = [(free_port(), free_port()) for _ in range(2)]
        make_rows(folder)
        self.commands = [[weftd, *sqlite_arguments(folder), "--listen", f"127.0.0.1:{port}", "--probe-listen",
                          f"127.0.0.1:{probe}", "--threads", "1"] for port, probe in self.ports]
        self.weftds = [self.start(0)]
        self.weftds.append(self.start(1))
        config = folder / f"{name}.conf"
        config.write_text(getattr(self, f"{name}_config")())
        command = {"haproxy": ["-db", "-f", config], "nginx": ["-p", folder, "-c", config, "-e", "stderr", "-g", "daemon off; master_process off;"]}[name]
        test = {"haproxy": ["-c", "-f", config], "nginx": ["-t", "-p", folder, "-c", config, "-e", "stderr"]}[name]
        done = run([self.program, *test])
        assert done.returncode == 0 and "warn" not in (done.stdout + done.stderr).lower(), done.stderr
        ends.enter_context(running([self.program, *command], self.entry))

    def start(self, number):
        return self.ends.enter_context(Server(self.commands[number]))

    def haproxy_config(self):
        text = (DEPLOY / "haproxy.cfg").read_text().replace("bind :80", f"bind 127.0.0.1:{self.entry}")
        for number, (port, probe) in enumerate(self.ports, 1):
            text = text.replace(f"192.0.2.{number}:8080 check port 8081", f"127.0.0.1:{port} check port {probe}")
        return text

    def nginx_config(self):
        text = (DEPLOY / "nginx.conf").read_text().replace("listen 80;", f"listen 127.0.0.1:{self.entry};")
        for number, (port, _) in enumerate(self.ports, 1):
            text = text.replace(f"192.0.2.{number}:8080", f"127.0.0.1:{port}")
        return text.replace("worker_processes auto;", "worker_processes 1; pid nginx.pid;")

    def ask(self, blanks=0):
        connection = http.client.HTTPConnection("127.0.0.1", self.entry, timeout=60)
        with contextlib.closing(connection):
            connection.request("POST", "/0.1.0/shop/t/pk-read", json.dumps({"filters": given(id=1)}) + " " * blanks)
            answer = connection.getresponse()
            answer.read()
            return answer.status


@pytest.fixture(params=["haproxy", "nginx"])
def behind(request, weftd, tmp_path):
    with contextlib.ExitStack() as ends:
        yield Behind(request.param, weftd, tmp_path, ends)


def test_a_balancer_goes_on_with_those_that_are_there(behind):
    """A request on a connection that it has kept, of each of its threads, may have been got by who is killed: 502."""
    def is_used(port):
        return behind.ask() == 200 and reads(port) > 0

    for number, (port, _) in enumerate(behind.ports):
        wait_until(lambda: is_used(port))
        behind.weftds[number].process.kill()
        behind.weftds[number].process.wait()
        told = [behind.ask() for _ in range(100)]
        assert set(told) <= {200, 502} and told.count(502) <= os.cpu_count(), told
        behind.weftds[number] = behind.start(number)
        wait_until(lambda: is_used(port))


def test_a_balancer_takes_what_weftd_takes(behind):
    """Bodies of weftd.row_api.request_bytes."""
    assert behind.ask((4 << 20) - 100) == 200


@contextlib.contextmanager
def asking(behind):
    """What clients are told meanwhile, who ask one thing after the other."""
    told, ended = [], threading.Event()

    def ask_on():
        while not ended.is_set():
            try:
                told.append(behind.ask())
            except (OSError, http.client.HTTPException) as why:
                told.append(repr(why))

    clients = [threading.Thread(target=ask_on) for _ in range(4)]
    for each in clients:
        each.start()
    try:
        yield told
    finally:
        ended.set()
        for each in clients:
            each.join()


def reads(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    return sum(int(count) for count in re.findall(r"^store_reads_total.* (\d+)$", text, re.MULTILINE))


def test_a_weftd_that_ends_under_load_is_noticed_by_nobody(behind):
    with asking(behind) as told:
        for number, (port, _) in enumerate(behind.ports):
            wait_until(lambda: reads(port) > 100)
            assert behind.weftds[number].stop() == 0
            behind.weftds[number] = behind.start(number)
            wait_until(lambda: reads(port) > 100)
    assert set(told) == {200}, [each for each in told if each != 200]


def manifests():
    return list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))


def one(kind):
    found = [each for each in manifests() if each["kind"] == kind]
    assert len(found) == 1, kind
    return found[0]


def test_what_kubernetes_is_told_fits_together():
    deployment = one("Deployment")["spec"]
    labels = deployment["template"]["metadata"]["labels"]
    pod = deployment["template"]["spec"]
    (container,) = pod["containers"]
    for chosen in (deployment["selector"]["matchLabels"], one("Service")["spec"]["selector"],
                   one("PodDisruptionBudget")["spec"]["selector"]["matchLabels"]):
        assert chosen == labels
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert {port["targetPort"] for port in one("Service")["spec"]["ports"]} <= ports.keys()
    assert {container[probe]["httpGet"]["port"] for probe in ("readinessProbe", "livenessProbe")} <= ports.keys()
    given_names = {volume["name"]: volume.get("configMap", {}).get("name") or volume["secret"]["secretName"] for volume in pod["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == given_names.keys()
    assert set(given_names.values()) == {one("ConfigMap")["metadata"]["name"], one("Secret")["metadata"]["name"]}


def test_a_pod_of_kubernetes_starts_and_answers_its_probes(weftd, tmp_path):
    """What would be in the container, in a folder, and its ports are free ones."""
    (container,) = one("Deployment")["spec"]["template"]["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    text = one("ConfigMap")["data"]["weftd.toml"]
    free = {name: free_port() for name in ports}
    for name, port in ports.items():
        assert text.count(f'listen = ":{port}"') == 1, f"port {name} is one that weftd listens on"
        text = text.replace(f'":{port}"', f'"127.0.0.1:{free[name]}"')
    secret = tmp_path / "secret"
    secret.mkdir()
    for name, content in one("Secret")["stringData"].items():
        (secret / name).write_text(content)
    with mariadb(tmp_path) as database:
        shutil.copy(tmp_path / "password", secret / "password")
        database.client.run("CREATE TABLE shop.t(id INT PRIMARY KEY)")
        text = text.replace("/etc/weftd/secret", str(secret))
        text, servers = re.subn(r'"mysql://shop@[^/]*/shop"', f'"mysql://weft@127.0.0.1:{database.port}/shop"', text)
        assert servers == 1
        config = tmp_path / "weftd.toml"
        config.write_text(text)
        made = run([weftd, "keygen", "--databases", "shop"])
        (secret / "keys.toml").write_text(made.stdout)
        command = [str(config) if part == "/etc/weftd/weftd.toml" else part for part in container["command"]]
        assert command[0] == "weftd"
        with Server([weftd, *command[1:]]) as server:
            for probe in ("readinessProbe", "livenessProbe"):
                asked = container[probe]["httpGet"]
                connection = http.client.HTTPConnection("127.0.0.1", free[asked["port"]], timeout=60)
                with contextlib.closing(connection):
                    connection.request("GET", asked["path"])
                    assert connection.getresponse().status == 200, probe
            with RowClient(SimpleNamespace(port=free["http"])) as client:
                assert client.ask("shop/t/pk-read", {"filters": given(id=1)})[0] == 401, "nobody may, without a key"
            assert server.stop() == 0, server.log
