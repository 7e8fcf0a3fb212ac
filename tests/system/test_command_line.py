"""What weftd says to the person who starts it."""

import json
import re
import socket

import pytest


def test_help_shows_every_option_with_its_default(run_weftd):
    done = run_weftd("--help")
    assert done.returncode == 0
    assert done.stderr == ""
    lines = " ".join(done.stdout.split())
    for option, default in [("--listen", "127.0.0.1:8080"), ("--threads", "0"), ("--backend", "auto"),
                            ("--idle", "sleep"), ("--log-level", "info"), ("--log-format", "auto")]:
        assert re.search(rf"{option} \S+={re.escape(default)} \w", lines), f"{option}={default}:\n{done.stdout}"
    for part in ("--help", "--version", "POST /ping", "GET /healthz", "SIGTERM", "Exit code", "Examples:"):
        assert part in done.stdout


def test_version(run_weftd):
    done = run_weftd("--version")
    assert done.returncode == 0
    assert re.fullmatch(r"weftd \d+\.\d+\.\d+\n", done.stdout)


@pytest.mark.parametrize("wrong, right", [("--thread", "--threads"), ("--treads=2", "--threads"),
                                          ("--listn", "--listen"), ("--back-end", "--backend")])
def test_wrong_option_is_refused_with_the_nearest_right_one(run_weftd, wrong, right):
    done = run_weftd(wrong)
    assert done.returncode == 2
    assert f"unknown option '{wrong}'; did you mean '{right}'?" in done.stderr
    assert "--help" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("option, value, allowed", [
    ("--backend", "uring", "auto, io_uring, epoll"),
    ("--log-level", "loud", "trace, debug, info, warning, error, off"),
    ("--idle", "spin=5", "lacks a unit: ns, us or ms; allowed: sleep, spin, spin=TIME"),
    ("--idle", "spin=-5us", "has no whole number"),
    ("--idle", "spin=2000ms", "is more than a second"),
    ("--threads", "many", "a whole number from 0 to "),
    ("--threads", "-1", "a whole number from 0 to "),
    ("--threads", "100000", "a whole number from 0 to 1024"),
])
def test_bad_value_names_option_value_and_what_is_allowed(run_weftd, option, value, allowed):
    done = run_weftd(f"{option}={value}")
    assert done.returncode == 2
    assert option in done.stderr and f"'{value}'" in done.stderr and allowed in done.stderr, done.stderr


def test_option_without_its_value_is_refused(run_weftd):
    done = run_weftd("--listen")
    assert done.returncode == 2
    assert "--listen" in done.stderr and "ADDRESS:PORT" in done.stderr


def test_the_services_can_be_drawn_without_being_made(run_weftd):
    done = run_weftd("--print-graph", "dot", "--threads", "2")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("digraph weft {\n") and done.stdout.endswith("}\n")
    assert done.stdout.count("subgraph cluster_") == 2
    server = re.search(r'(s0_\d+) \[label="weft::http::server"', done.stdout)[1]
    assert re.search(rf"s0_\d+ -> {server};", done.stdout), done.stdout
    assert "nobody is" not in done.stdout


def test_the_services_can_be_printed_as_json(run_weftd):
    done = run_weftd("--print-graph=json", "--threads", "1")
    assert done.returncode == 0
    [shard] = json.loads(done.stdout)["shards"]
    types = {service["type"]: service for service in shard["services"]}
    assert types["weft::http::server"]["state"] == "waiting"
    assert types["weft::event_loop"]["state"] == "lent"
    assert all(need["providers"] for service in shard["services"] for need in service["needs"]
               if need["form"] == "required"), "all that is needed is there"


def test_stray_word_is_refused(run_weftd):
    done = run_weftd("8080")
    assert done.returncode == 2
    assert "unknown argument '8080'" in done.stderr


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1", "127.0.0.1:99999", "localhost:x", "[::1:80", "unix:"])
def test_what_is_no_address_is_an_error_that_shows_how_to_write_one(run_weftd, address):
    done = run_weftd("--listen", address)
    assert done.returncode == 2
    assert f"'{address}' is no address" in done.stderr
    assert "ADDRESS:PORT" in done.stderr and "unix:PATH" in done.stderr


def test_an_address_of_another_machine_is_an_error(run_weftd):
    done = run_weftd("--listen", "203.0.113.1:80", "--insecure-allow-all")  # RFC 5737: nobody's
    assert done.returncode == 1
    assert "cannot listen on 203.0.113.1:80" in done.stderr


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("shared", [False, True])
def test_busy_port_is_one_clear_error(run_weftd, threads, shared):
    with socket.socket() as other:
        if shared:  # a server that shares its port must not be joined either
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = "127.0.0.1:{}".format(other.getsockname()[1])
        done = run_weftd("--listen", address, "--threads", threads)
        assert done.returncode == 1
        assert done.stderr.count(f"{address} is in use by another program") == 1, done.stderr
        assert "ready, " not in done.stderr


def test_two_weftd_never_share_a_port_silently(run_weftd, serve):
    with serve("--threads", "2") as first:
        second = run_weftd("--listen", first.address, "--threads", "2")
        assert second.returncode == 1
        assert f"{first.address} is in use by another program" in second.stderr
        assert first.get("/healthz") == (200, "ok\n")
        address = first.address
        assert first.stop() == 0
    with serve(listen=address) as third:  # free again at once
        assert third.get("/healthz") == (200, "ok\n")
