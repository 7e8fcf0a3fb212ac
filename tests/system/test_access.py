"""Who may touch which database: API keys, and how often; and what is served to other machines without any."""

import hashlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import threading
import tomllib
from pathlib import Path

import httpx
import pytest
from mariadb_server import PASSWORD, USER, find
from row_engines import mariadb
from weft_process import Server


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("data")
    for name in ("shop", "hr"):
        with sqlite3.connect(made / f"{name}.db") as database:
            database.executescript("CREATE TABLE t(id INTEGER PRIMARY KEY, v INT); INSERT INTO t VALUES(1, 10);")
    return made


@pytest.fixture
def make_key(run_weftd, tmp_path):
    """make_key("--databases", "shop"): adds one to tmp_path/keys.toml, and gives its text."""
    def make(*words):
        done = run_weftd("keygen", *words)
        assert done.returncode == 0, done.stderr
        with open(tmp_path / "keys.toml", "a") as keys:
            keys.write(done.stdout)
        key = re.search(r"[0-9a-f]{16}\.[0-9a-f]{64}", done.stderr)[0]
        assert key.split(".")[1] not in done.stdout, "the file has no secret"
        return key
    return make


@pytest.fixture
def start(weftd, folder, tmp_path):
    """start(): a server that knows the keys made so far."""
    def begin(*words, threads="2"):
        return Server([weftd, "--listen", "127.0.0.1:0", "--threads", threads, "--data", folder,
                       "--keys", tmp_path / "keys.toml", *words])
    return begin


ROW = {"filters": [{"column": "id", "value": 1}]}
CHANGE = {**ROW, "writeColumns": [{"column": "v", "value": 11}]}
CHANGE_NOTHING = {**ROW, "writeColumns": [{"column": "v", "value": 10}]}


def post(server, path, body, key=None, method="POST"):
    headers = {"X-API-KEY": key} if key is not None else {}
    return httpx.request(method, server.url(path), content=json.dumps(body), headers=headers)


def batch(*operations):
    return {"operations": [{"method": "POST", "relative-url": url, "body": body} for url, body in operations]}


def test_a_key_opens_its_databases_and_no_others(start, make_key):
    key = make_key("--databases", "shop", "--name", "till")
    with start() as server:
        assert "1 key in " in server.log
        assert post(server, "/0.1.0/shop/t/pk-read", ROW, key).json()["data"] == {"v": 10}
        assert post(server, "/0.1.0/shop/t/scan", {"limit": 1}, key).status_code == 200
        refused = post(server, "/0.1.0/hr/t/pk-read", ROW, key)
        assert (refused.status_code, refused.text) == (401, "API key not authorized to access hr")
        assert refused.headers["www-authenticate"] == 'ApiKey realm="weftd"'
        assert post(server, "/0.1.0/hr/t/scan", {"limit": 1}, key).status_code == 401
        both = batch(("shop/t/pk-read", ROW), ("hr/t/pk-read", ROW))
        assert post(server, "/0.1.0/batch", batch(("shop/t/pk-read", ROW)), key).status_code == 200
        told = post(server, "/0.2.0/batch", both, key)
        assert told.status_code == 401
        assert told.json()["error"]["message"] == "API key not authorized to access hr"
        assert told.json()["error"]["status"] == -1


@pytest.mark.parametrize("sent, words", [
    (None, "the apikey is nil"), ("", "the apikey is nil"), ("x", "the apikey has an incorrect format"),
    ("0123456789abcdef", "the apikey has an incorrect format"), ("0123456789abcdef.x", "the apikey is unknown"),
    ("0123456789abcdef." + 64 * "0", "the apikey is unknown"), (17 * "a" + "." + 64 * "0", "incorrect format")])
def test_who_has_no_key_is_told(start, make_key, sent, words):
    make_key("--databases", "*")
    with start(threads="1") as server:
        for path, body in (("/0.1.0/shop/t/pk-read", ROW), ("/0.1.0/batch", batch(("shop/t/pk-read", ROW))),
                           ("/0.1.0/shop/t/scan", {"limit": 1}), ("/0.1.0/batchwrite", batch(("shop/t/pk-write", CHANGE))),
                           ("/0.1.0/batchdelete", batch(("shop/t/pk-delete", ROW)))):
            reply = post(server, path, body, sent)
            assert reply.status_code == 401 and words in reply.text, path
        assert httpx.get(server.url("/0.1.0/ping")).status_code == 200, "probes need no key"


def rondb_entry(secret, salt, **more):
    """As the RonDB REST server has it in hopsworks.api_key."""
    hashed = hashlib.sha256((secret + salt).encode()).hexdigest()
    lines = {"name": "fern", "prefix": "Zb9HnPfQ2xUc7LwA", "salt": salt, "rondb_hash": hashed, **more}
    return "[[access.keys]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in {"databases": ["shop"], **lines}.items() if value is not None)


@pytest.mark.parametrize("secret, salt", [("s", "cardamom"), (64 * "Q", ""), ("x" * 300, "\u00e9t\u00e9 \"quoted\""), ("7fTz_-~!", "a" * 64)])
def test_a_key_of_the_rondb_rest_server_opens_its_databases(start, make_key, tmp_path, secret, salt):
    own = make_key("--databases", "*")
    with open(tmp_path / "keys.toml", "a") as keys:
        keys.write(rondb_entry(secret, salt))
    key = f"Zb9HnPfQ2xUc7LwA.{secret}"
    with start(threads="1") as server:
        # Before it has been right once, and after.
        for sent, status in ((key + "x", 401), (key[:-1], 401), (key, 200), (key, 200), (key[:-1] + "\u007e", 401), (own, 200)):
            assert post(server, "/0.1.0/shop/t/pk-read", ROW, sent).status_code == status, sent
        assert post(server, "/0.1.0/hr/t/pk-read", ROW, key).status_code == 401
        assert post(server, "/0.1.0/batchwrite", batch(("shop/t/pk-update", CHANGE)), key).status_code == 401, "its rights are to read"
        assert post(server, "/0.1.0/shop/t/pk-read", ROW, "Zb9HnPfQ2xUc7LwA.").status_code == 401, "no secret is none"


def test_the_two_hashes_are_not_taken_for_each_other(start, tmp_path):
    secret, salt = 64 * "a", 32 * "b"
    swapped = hashlib.sha256((salt + secret).encode()).hexdigest()
    (tmp_path / "keys.toml").write_text(rondb_entry(secret, salt, rondb_hash=swapped))
    with start(threads="1") as server:
        assert post(server, "/0.1.0/shop/t/pk-read", ROW, f"Zb9HnPfQ2xUc7LwA.{secret}").status_code == 401
    (tmp_path / "keys.toml").write_text(rondb_entry(secret, salt, rondb_hash=None, hash=swapped))
    with start(threads="1") as server:
        assert post(server, "/0.1.0/shop/t/pk-read", ROW, f"Zb9HnPfQ2xUc7LwA.{secret}").status_code == 200


def test_keygen_makes_a_key_that_both_servers_take(start, make_key, tmp_path):
    key = make_key("--rondb", "--databases", "shop")
    entry = tomllib.loads((tmp_path / "keys.toml").read_text())["access"]["keys"][0]
    prefix, secret = key.split(".")
    assert entry["prefix"] == prefix and "hash" not in entry
    assert entry["rondb_hash"] == hashlib.sha256((secret + entry["salt"]).encode()).hexdigest()
    with start(threads="1") as server:
        assert post(server, "/0.1.0/shop/t/pk-read", ROW, key).status_code == 200


@pytest.mark.parametrize("wrong, words", [
    ({"hash": 64 * "0"}, "it has both a hash and a rondb_hash: give the one that its secret was hashed for"),
    ({"rondb_hash": 64 * "G"}, "its rondb_hash is not 64 digits of 0 to 9 and a to f"),
    ({"rondb_hash": 63 * "0"}, "its rondb_hash is not 64 digits of 0 to 9 and a to f"),
    ({"rondb_hash": ""}, "its hash is not 64 digits of 0 to 9 and a to f"),
    ({"prefix": "short"}, "its prefix is not 16 characters without points, but 'short'")])
def test_what_is_wrong_with_a_key_of_the_rondb_rest_server_is_said(run_weftd, tmp_path, wrong, words):
    (tmp_path / "keys.toml").write_text(rondb_entry("s", "t", **wrong))
    done = run_weftd("check-config", "--keys", tmp_path / "keys.toml")
    assert done.returncode == 2 and f"key 'fern': {words}" in done.stderr, done.stderr


def test_the_documented_command_makes_a_file_of_the_keys_that_hopsworks_has(start, tmp_path):
    command = re.search(r"^mariadb (-N .*)$", (Path(__file__).parents[2] / "docs/weftd.md").read_text(), re.M)[1]
    secrets = {"Zb9HnPfQ2xUc7LwA": 64 * "k", "qA0sW1dE2fR3gT4h": "short"}
    with mariadb(tmp_path) as server:
        server.client.run("CREATE DATABASE hopsworks", "CREATE TABLE hopsworks.api_key(id INT PRIMARY KEY, prefix VARCHAR(45), "
                          "secret VARCHAR(512), salt VARCHAR(256), user_id INT, name VARCHAR(45))")
        for number, (prefix, secret) in enumerate(secrets.items()):
            salt = f"sa\"lt {number}"
            hashed = hashlib.sha256((secret + salt).encode()).hexdigest()
            server.client.run(f"INSERT INTO hopsworks.api_key VALUES({number}, '{prefix}', '{hashed}', '{salt}', 1, 'Ren\u00e9''s \"{number}\"')")
        done = subprocess.run(["bash", "-c", f"{find('mariadb')} --no-defaults --user {USER} --socket {server.socket} "
                               f"--default-character-set=utf8mb4 {command}"], env={"MYSQL_PWD": PASSWORD}, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    with start(threads="1") as server:
        assert "2 keys in " in server.log
        for prefix, secret in secrets.items():
            assert post(server, "/0.1.0/shop/t/pk-read", ROW, f"{prefix}.{secret}").status_code == 200
            assert post(server, "/0.1.0/shop/t/pk-read", ROW, f"{prefix}.{secret[:-1]}").status_code == 401


def test_a_secret_that_is_wrong_by_one_digit_is_not_it(start, make_key):
    key = make_key("--databases", "*")
    wrong = key[:-1] + ("0" if key[-1] != "0" else "1")
    with start(threads="1") as server:
        for sent, status in ((wrong, 401), (key, 200), (wrong, 401), (key[:-1], 401), (key + "0", 401), (key, 200)):
            assert post(server, "/0.1.0/shop/t/pk-read", ROW, sent).status_code == status
        metrics = httpx.get(server.url("/metrics")).text
        assert re.search(r'weftd_keys_refused_total\{[^}]*reason="wrong"[^}]*\} 4', metrics), metrics


def test_only_who_may_write_writes(start, make_key):
    reader = make_key("--databases", "shop")
    writer = make_key("--databases", "shop", "--write")
    write = batch(("shop/t/pk-update", CHANGE))
    with start() as server:
        told = post(server, "/0.1.0/batchwrite", write, reader)
        assert (told.status_code, told.text) == (401, "API key not authorized to write to shop")
        assert post(server, "/0.1.0/batchdelete", batch(("shop/t/pk-delete", ROW)), reader, "DELETE").status_code == 401
        assert post(server, "/0.1.0/shop/t/pk-read", ROW, writer).json()["data"] == {"v": 10}
        assert post(server, "/0.1.0/batchwrite", write, writer).status_code == 200
        assert post(server, "/0.1.0/shop/t/pk-read", ROW, reader).json()["data"] == {"v": 11}
        assert post(server, "/0.1.0/batchwrite", batch(("hr/t/pk-update", CHANGE)), writer).status_code == 401
        assert post(server, "/0.1.0/batchwrite", batch(("shop/t/pk-update", CHANGE_NOTHING)), writer).status_code == 200


def test_what_is_wrong_with_a_request_is_told_to_who_has_a_key_and_what_is_there_to_who_may_read_it(start, make_key):
    key = make_key("--databases", "shop")
    with start(threads="1") as server:
        assert post(server, "/0.1.0/shop/t/pk-read", {"filters": []}).status_code == 401
        assert post(server, "/0.1.0/hr/t/pk-read", {"filters": []}, key).status_code == 400
        assert post(server, "/0.1.0/none/t/pk-read", ROW).status_code == 401
        assert post(server, "/0.1.0/none/t/pk-read", ROW, key).status_code == 401
        assert post(server, "/0.1.0/shop/none/pk-read", ROW, key).status_code == 404


def test_keys_are_read_again_on_a_hangup(start, make_key, tmp_path):
    first = make_key("--databases", "shop")
    with start() as server:
        second = make_key("--databases", "shop")
        assert post(server, "/0.1.0/shop/t/pk-read", ROW, second).status_code == 401
        server.send_signal(signal.SIGHUP)
        server.wait_for_log("2 keys in ")
        for _ in range(20):  # each shard reads for itself
            if post(server, "/0.1.0/shop/t/pk-read", ROW, second).status_code == 200:
                break
        assert post(server, "/0.1.0/shop/t/pk-read", ROW, first).status_code == 200
        with open(tmp_path / "keys.toml", "a") as keys:
            keys.write("[[access.keys]]\nprefx = 'a'\n")
        server.send_signal(signal.SIGHUP)
        server.wait_for_log('has no option "prefx"; did you mean \'prefix\'?')
        server.wait_for_log("goes on as before")
        assert post(server, "/0.1.0/shop/t/pk-read", ROW, first).status_code == 200
        (tmp_path / "keys.toml").write_text("")
        make_key("--databases", "shop")
        server.send_signal(signal.SIGHUP)
        server.wait_for_log("1 key in ")
        for _ in range(20):
            if post(server, "/0.1.0/shop/t/pk-read", ROW, first).status_code == 401:
                break
        assert post(server, "/0.1.0/shop/t/pk-read", ROW, first).status_code == 401, "withdrawn"
        (tmp_path / "keys.toml").write_text("")
        server.send_signal(signal.SIGHUP)
        server.wait_for_log("has no keys: nobody may read or write")
        assert server.stop() == 0


def test_keys_that_are_read_again_leave_a_request_that_waits_its_own(start, make_key, tmp_path):
    """Each waits for a look at the schema, after its key was found."""
    key, file = make_key("--databases", "shop"), tmp_path / "keys.toml"
    with start(threads="1") as server:
        files = [file.read_text()]
        file.write_text("")
        make_key("--databases", "hr")
        files.append(file.read_text())
        told = []

        def ask():
            with httpx.Client(headers={"X-API-KEY": key}, timeout=60) as client:
                for _ in range(40):
                    reply = client.get(server.url("/0.1.0/schema"))
                    told.append([each["name"] for each in reply.json()["databases"]] if reply.status_code == 200 else reply.status_code)

        crowd = [threading.Thread(target=ask) for _ in range(8)]
        for each in crowd:
            each.start()
        while any(each.is_alive() for each in crowd):
            files.append(files.pop(0))
            (tmp_path / "new.toml").write_text(files[0])
            (tmp_path / "new.toml").replace(file)
            server.send_signal(signal.SIGHUP)
            crowd[0].join(0.01)
        assert all(each in (401, ["shop"]) for each in told), told
        assert server.stop() == 0, server.log


def test_a_file_of_keys_that_is_no_file_any_more_keeps_no_shard(start, make_key, tmp_path):
    key = make_key("--databases", "shop")
    with start() as server:
        (tmp_path / "keys.toml").unlink()
        os.mkfifo(tmp_path / "keys.toml")
        server.send_signal(signal.SIGHUP)
        server.wait_for_log("keys.toml: it is a FIFO: what is wanted is a regular file")
        server.wait_for_log("goes on as before")
        for _ in range(10):
            assert post(server, "/0.1.0/shop/t/pk-read", ROW, key).status_code == 200


def test_a_key_is_used_no_more_often_than_allowed(start, make_key):
    often, other = make_key("--databases", "*"), make_key("--databases", "*")
    with start("--weftd.access.rate.requests=1", "--weftd.access.rate.per=1h", "--weftd.access.rate.burst=3",
               threads="1") as server:
        answers = [post(server, "/0.1.0/shop/t/pk-read", ROW, often) for _ in range(5)]
        assert [reply.status_code for reply in answers] == [200, 200, 200, 429, 429]
        assert "more often than allowed" in answers[-1].text
        assert 0 < int(answers[-1].headers["retry-after"]) <= 3600
        assert post(server, "/0.1.0/shop/t/pk-read", ROW, other).status_code == 200
        wrong = often[:17] + 64 * "0"
        assert post(server, "/0.1.0/shop/t/pk-read", ROW, wrong).status_code == 401, "counts against nobody"


def test_a_key_is_for_what_it_names_and_not_for_what_looks_alike(start, make_key, folder):
    with sqlite3.connect(folder / "SHOP.db") as database:
        database.executescript("CREATE TABLE t(id INTEGER PRIMARY KEY, v INT); INSERT INTO t VALUES(1, 99);")
    key = make_key("--databases", "shop")
    try:
        with start(threads="1") as server:
            assert post(server, "/0.1.0/shop/t/pk-read", ROW, key).status_code == 200
            assert post(server, "/0.1.0/SHOP/t/pk-read", ROW, key).status_code == 401
    finally:
        (folder / "SHOP.db").unlink()


@pytest.mark.parametrize("headers, status", [
    ({}, 200), ({"Host": "localhost:80"}, 200), ({"Host": "LOCALHOST"}, 200), ({"Host": "LocalHost.:80"}, 200),
    ({"Host": "app.LocalHost"}, 200), ({"Host": "notlocalhost"}, 401), ({"Host": "."}, 401),
    ({"Host": "LocalHost:1234", "Origin": "http://localhost:1234"}, 200), ({"Host": "[::1]"}, 200), ({"Host": "127.9.9.9"}, 200),
    ({"Host": "evil.example"}, 401), ({"Host": "localhost.evil.example"}, 401), ({"Origin": "http://evil.example"}, 401),
    ({"Origin": "null"}, 401), ({"Host": "evil.example", "Origin": "http://evil.example"}, 401),
    ({"Host": "localhost:1234", "Origin": "http://localhost:1234"}, 200),
    ({"Host": "localhost:1234", "Origin": "http://localhost:4321"}, 401)])
def test_without_keys_pages_of_other_sites_get_nothing(weftd, folder, headers, status):
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", folder]) as server:
        for path, body in (("/0.1.0/shop/t/pk-read", ROW), ("/0.1.0/batchwrite", batch(("shop/t/pk-update", CHANGE_NOTHING)))):
            reply = httpx.post(server.url(path), content=json.dumps(body), headers=headers)
            assert reply.status_code == status, reply.text
            assert status == 200 or "another site" in reply.text
    with Server([weftd, "--listen", "127.0.0.1:0", "--threads", "1", "--data", folder, "--insecure-allow-all"]) as server:
        assert httpx.post(server.url("/0.1.0/shop/t/pk-read"), content=json.dumps(ROW), headers=headers).status_code == 200


@pytest.mark.parametrize("address", [":0", "0.0.0.0:0", "[::]:0"])
def test_other_machines_are_not_served_without_keys(weftd, run_weftd, address):
    done = run_weftd("--listen", address)
    assert done.returncode == 2
    for word in (address, "keygen", "--keys", "--insecure-allow-all"):
        assert word in done.stderr
    assert "listening" not in done.stderr
    with Server([weftd, "--listen", address, "--insecure-allow-all"]) as server:
        assert server.stop() == 0


@pytest.mark.parametrize("address", ["127.0.0.1:0", "127.1.2.3:0", "[::1]:0", "unix:@weftd-{pid}"])
def test_this_machine_is(weftd, address, tmp_path):
    with Server([weftd, "--listen", address.format(pid=tmp_path.name + str(id(tmp_path)))]) as server:
        assert server.stop() == 0


def test_with_keys_all_machines_are_served(start, make_key):
    key = make_key("--databases", "shop")
    with start("--http.server.listen=:0") as server:
        url = f"http://127.0.0.1:{server.port}/0.1.0/shop/t/pk-read"
        assert httpx.post(url, json=ROW, headers={"X-API-KEY": key}).status_code == 200
        assert httpx.post(url, json=ROW).status_code == 401


@pytest.mark.parametrize("asked", ["ping", "health"])
def test_a_probe_may_want_a_key(start, make_key, asked):
    """As RonDB's PingRequiresAuth and HealthRequiresAuth: of any database, on the port of rows alone."""
    key = make_key("--databases", "hr")
    other = {"ping": "health", "health": "ping"}[asked]
    with start("--probe-listen", "127.0.0.2:0", f"--weftd.probe_api.{asked}_requires_key=true", threads="1") as server:
        probe, main = [f"http://{address}" for address in re.findall(r"listening on (\S+)", server.log)]
        for version in ("0.1.0", "0.2.0"):
            for sent, status in ((None, 401), ("", 401), (key[:-1] + "x", 401), ("x.y", 401), (key, 200)):
                headers = {} if sent is None else {"X-API-KEY": sent}
                assert httpx.get(f"{main}/{version}/{asked}", headers=headers).status_code == status, sent
            assert httpx.get(f"{main}/{version}/{other}").status_code == 200
            assert httpx.get(f"{probe}/{version}/{asked}").status_code == 200
            refused = httpx.get(f"{main}/{version}/{asked}")
            assert "the apikey is nil" in refused.text and "www-authenticate" in refused.headers
            assert httpx.request("GET", f"{main}/{version}/{asked}", content="x", headers={"X-API-KEY": key}).status_code == 400
        assert httpx.get(f"{main}/healthz").status_code == httpx.get(f"{main}/readyz").status_code == 200
        paths = httpx.get(f"{main}/openapi.json").json()["paths"]
        assert paths[f"/0.2.0/{asked}"]["get"]["security"] == [{"X-API-KEY": []}]
        assert "security" not in paths[f"/0.2.0/{other}"]["get"]
        assert server.stop() == 0


def test_probes_want_no_key_where_there_are_none(run_weftd):
    done = run_weftd("check-config", "--weftd.probe_api.ping_requires_key=true", "--weftd.probe_api.health_requires_key=true")
    assert done.returncode == 2
    for name in ("ping_requires_key", "health_requires_key"):
        assert f"weftd.probe_api.{name}: there are no keys: name a file of them by --keys" in done.stderr, done.stderr


def test_probes_have_a_port_of_their_own(weftd, folder):
    with Server([weftd, "--listen", "127.0.0.1:0", "--probe-listen", "127.0.0.2:0", "--threads", "2", "--data", folder,
                 "--http.server.limits.connections=1"]) as server:
        probe, main = [f"http://{address}" for address in re.findall(r"listening on (\S+)", server.log)]
        for path, text in (("/0.1.0/ping", ""), ("/0.1.0/health", "1"), ("/0.2.0/health", "1")):
            reply = httpx.get(probe + path)
            assert (reply.status_code, reply.text) == (200, text)
        assert httpx.post(probe + "/0.1.0/shop/t/pk-read", json=ROW).status_code == 404
        assert httpx.get(probe + "/0.1.0/ping", headers={"x": 9000 * "y"}).status_code == 431
        assert httpx.get(main + "/0.1.0/health").text == "1"
        assert server.stop() == 0


def test_probes_cannot_share_the_port(run_weftd):
    done = run_weftd("--listen", "127.0.0.1:0", "--probe-listen", "127.0.0.1:0")
    assert done.returncode == 2 and "--probe-listen: 127.0.0.1:0 is where all else is served" in done.stderr


def test_what_is_wrong_with_the_configuration_is_said_without_a_start(run_weftd, tmp_path):
    file = tmp_path / "weftd.toml"
    file.write_text('[http.server]\nlisten = "127.0.0.1:0"\n[weftd.access]\nkeys = ""\n')
    done = run_weftd("check-config", "--config", file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "all options are right\n", "")
    file.write_text('[http.server]\nlisten = ":80"\n')
    assert run_weftd("check-config", "--config", file).returncode == 2
    file.write_text('[http.server]\nlistne = ":80"\n')
    done = run_weftd("check-config", "--config", file)
    assert done.returncode == 2 and f"{file}:2:1: http.server has no option" in done.stderr
    done = run_weftd("check-config", "--keys", tmp_path / "none.toml")
    assert done.returncode == 2 and "none.toml" in done.stderr
    file.write_text('[http.server]\nlisten = "here"\nunix_mode = "rw"\ntrusted_proxies = ["me"]\ntls.certificate = "none.pem"\n')
    done = run_weftd("check-config", "--config", file, "--data", tmp_path / "none", "--keys", tmp_path / "none.toml")
    faults = done.stderr.splitlines()
    assert done.returncode == 2 and [line.removeprefix("weftd: ").split(" ")[0] for line in faults[:5]] == [
        "--data:", f"{file}:2:10:", f"{file}:3:13:", f"{file}:4:19:", f"{file}:5:19:"], done.stderr
    assert all(word in fault for word, fault in zip(["none", "here", "rw", "me", "none.pem", "none.toml"], faults, strict=True))


def test_the_configuration_that_is_shipped_is_right(run_weftd, tmp_path, weftd):
    shipped = Path(__file__).parents[2] / "apps/weftd/weftd.toml"
    assert run_weftd("check-config", "--config", shipped).returncode == 0
    said = tmp_path / "all.toml"
    said.write_text(re.sub(r"^# (\w+ = )", r"\1", shipped.read_text(), flags=re.MULTILINE))
    done = run_weftd("check-config", "--config", said)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "keys.toml" in done.stderr, "the keys alone are not there"


def test_the_unit_is_one_that_systemd_takes(weftd, tmp_path):
    shipped = Path(__file__).parents[2] / "apps/weftd/weftd.service"
    unit = tmp_path / "weftd.service"
    unit.write_text(shipped.read_text().replace("=weftd ", f"={weftd} "))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("entry, words", [
    ("", "no keys; `weftd keygen"),
    ("prefix = 'short'", "its prefix is not 16 characters"),
    ("prefix = '0123456789abcdef'\nhash = 'zz'", "its hash is not 64 digits"),
    ("prefix = '0123456789abcdef'\nhash = '" + 64 * "0" + "'", "it has no databases"),
    ("rights = 'all'", "rights"), ("prefix = 17", "prefix is text")])
def test_what_is_wrong_with_a_file_of_keys_is_said(run_weftd, tmp_path, entry, words):
    keys = tmp_path / "keys.toml"
    keys.write_text(f"[[access.keys]]\nname = 'k'\n{entry}\n" if entry else "")
    done = run_weftd("--listen", "127.0.0.1:0", "--keys", keys)
    assert done.returncode == 2 and words in done.stderr and str(keys) in done.stderr, done.stderr


def test_two_keys_of_one_prefix_are_refused(run_weftd, make_key, tmp_path):
    make_key("--databases", "shop")
    keys = tmp_path / "keys.toml"
    keys.write_text(2 * keys.read_text())
    done = run_weftd("check-config", "--keys", keys)
    assert done.returncode == 2 and "another key has its prefix" in done.stderr


def test_a_key_must_be_for_something(run_weftd):
    done = run_weftd("keygen")
    assert done.returncode == 2 and "--databases" in done.stderr and done.stdout == ""
    assert run_weftd("keygen", "--databases", "a", "--name", "x\x7f").returncode == 2
    assert 'databases = ["shop","hr"]' in run_weftd("keygen", "--databases", " shop , hr,").stdout
    assert run_weftd("keygen", "--help").stdout.startswith("Makes an API key.")


def test_what_there_is_and_what_sql_finds_is_for_who_may_read_it(start, make_key):
    key = make_key("--databases", "shop")
    with start() as server:
        ask = {"database": "shop", "query": "SELECT v FROM t"}
        for version in ("0.1.0", "0.2.0"):
            for path in ("schema", "stat"):
                assert httpx.get(server.url(f"/{version}/{path}")).status_code == 401
                told = httpx.get(server.url(f"/{version}/{path}"), headers={"X-API-KEY": key})
                assert [each["name"] for each in told.json()["databases"]] == ["shop"], told.text
            for path in ("sql", "ronsql"):
                assert post(server, f"/{version}/{path}", ask).status_code == 401
                assert post(server, f"/{version}/{path}", ask, key).json()["data"][0]["v"] in (10, 11)
                for other in ("hr", "none"):
                    refused = post(server, f"/{version}/{path}", {**ask, "database": other}, key)
                    assert refused.status_code == 401 and f"not authorized to access {other}" in refused.text
        assert server.stop() == 0, server.log


def test_a_hangup_does_not_end_who_drains(start, make_key):
    key = make_key("--databases", "shop")
    with start(threads="1") as server:
        body = json.dumps(ROW)
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(f"POST /0.1.0/shop/t/pk-read HTTP/1.1\r\nHost: x\r\nX-API-KEY: {key}\r\n"
                           f"Content-Length: {len(body)}\r\n\r\n".encode())
            server.send_signal(signal.SIGTERM)
            server.wait_for_log("draining")
            server.send_signal(signal.SIGHUP)
            client.sendall(body.encode())
            assert b'{"code":200' in client.recv(4096)
        assert server.process.wait(20) == 0
