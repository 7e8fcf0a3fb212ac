"""The HTTP server over TLS, with real clients: curl, and openssl s_client."""

import contextlib
import json
import re
import shutil
import signal
import ssl
import subprocess
import time

import pytest
from authority import Authority, tls_options
from weft_process import Server, curl, run


def serving(example, site, *options, backend="epoll"):
    return Server([example("https"), "--listen", "127.0.0.1:0", "--backend", backend, *tls_options(site), *options],
                  scheme="https")


def ask(server, authority, *arguments, name="site.test", path="/whoami"):
    """What curl gets from `name`, who is this server."""
    return curl("--cacert", authority.file, "--resolve", f"{name}:{server.port}:127.0.0.1", *arguments,
                f"https://{name}:{server.port}{path}")


def refused(server, authority, *arguments, name="site.test"):
    done = run(["curl", "--silent", "--show-error", "--max-time", "20", "--cacert", authority.file, "--resolve",
                f"{name}:{server.port}:127.0.0.1", *arguments, f"https://{name}:{server.port}/whoami"])
    return done.returncode != 0


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_curl_speaks_both_versions(example, backend, authority, site, version):
    with serving(example, site, backend=backend) as server:
        seen = json.loads(ask(server, authority, f"--tlsv{version}", "--tls-max", version))
        assert seen["scheme"] == "https" and seen["name_asked_for"] == "site.test" and seen["subject"] == ""
        body = "x" * 900_000
        upload = server_file(authority.folder, body)
        assert ask(server, authority, f"--tlsv{version}", "--tls-max", version, "--data-binary", f"@{upload}",
                   path="/echo") == body
        assert server.stop() == 0, server.log


def server_file(folder, text):
    path = folder / "upload"
    path.write_text(text)
    return path


def test_the_minimum_version_is_kept(example, authority, site):
    with serving(example, site, "--http.server.tls.minimum=tls_1_3") as server:
        assert refused(server, authority, "--tls-max", "1.2")
        assert json.loads(ask(server, authority))["scheme"] == "https"


@pytest.mark.parametrize(("options", "chosen"), [([], "h2"), (["--http.server.http2=false"], "http/1.1")])
def test_alpn_chooses_what_is_spoken(example, authority, site, options, chosen):
    with serving(example, site, *options) as server:
        done = subprocess.run(["openssl", "s_client", "-connect", server.address, "-alpn", "h2,http/1.1", "-CAfile",
                               authority.file, "-verify_return_error", "-servername", "site.test"],
                              input="", capture_output=True, text=True, timeout=20)
        assert f"ALPN protocol: {chosen}" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_sessions_are_resumed(example, authority, site, tmp_path, version):
    with serving(example, site, "--threads", "2") as server:
        kept = tmp_path / "session"

        def visit(*arguments):
            request = "GET /whoami HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n"
            done = subprocess.run(["openssl", "s_client", "-quiet", "-connect", server.address, version, "-CAfile",
                                   authority.file, "-servername", "site.test", *map(str, arguments)],
                                  input=request, capture_output=True, text=True, timeout=20)
            return json.loads(re.search(r"\{.*\}", done.stdout)[0])["is_resumed"]
        assert not visit("-sess_out", kept)
        assert visit("-sess_in", kept), "also by another shard"


def test_each_name_has_its_certificate(example, authority, site, tmp_path):
    certificate, key = authority.issue("shop.test", "shop.test", "*.shop.test")
    config = tmp_path / "site.toml"
    config.write_text(f'[[http.server.tls.more]]\ncertificate = "{certificate}"\nkey = "{key}"\n')
    with serving(example, site, "--config", config) as server:
        for name in ("site.test", "shop.test", "www.shop.test"):
            assert json.loads(ask(server, authority, name=name))["name_asked_for"] == name
        assert refused(server, authority, name="elsewhere.test")


def test_clients_say_who_they_are(example, authority, site, tmp_path):
    stranger = Authority(tmp_path / "stranger", "stranger")
    ann, eve = authority.issue("ann"), stranger.issue("eve")

    def shown(files):
        return "--cert", files[0], "--key", files[1]
    for wanted in ("asked", "required"):
        with serving(example, site, f"--http.server.tls.clients={wanted}",
                     f"--http.server.tls.client_ca={authority.file}") as server:
            assert json.loads(ask(server, authority, *shown(ann)))["subject"] == "CN=ann"
            assert refused(server, authority, *shown(eve))
            assert refused(server, authority) == (wanted == "required")


class Visitor:
    """openssl's client, which shows a certificate and keeps its session from visit to visit."""

    def __init__(self, server, authority, folder, name):
        self.address, self.authority, self.session = server.address, authority, folder / f"{name}.session"

    def visit(self, files, version="-tls1_3"):
        """Whether the session was resumed; None: it was not let in."""
        request = "GET /whoami HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n"
        before = ["-sess_in", self.session] if self.session.exists() else []
        command = ["openssl", "s_client", "-quiet", "-connect", self.address, version, "-CAfile", self.authority.file,
                   "-servername", "site.test", "-cert", files[0], "-key", files[1], "-sess_out", self.session, *before]
        done = subprocess.run(list(map(str, command)), input=request, capture_output=True, text=True, timeout=60)
        answer = re.search(r"\{.*\}", done.stdout)
        return json.loads(answer[0])["is_resumed"] if answer else None


def asking_clients(authority, *options):
    return ("--http.server.tls.clients=required", f"--http.server.tls.client_ca={authority.file}", *options)


def test_a_session_ends_with_its_client_s_certificate(example, authority, site, tmp_path):
    with serving(example, site, *asking_clients(authority)) as server:
        for life_s in (5, 20, 60):  # a machine that stands still is given longer
            end = time.time() + life_s
            ann = authority.issue_until(f"ann{life_s}", end)
            visitor = Visitor(server, authority, tmp_path, f"ann{life_s}")
            seen = [visitor.visit(ann), visitor.visit(ann), visitor.visit(ann)]
            context = ssl.create_default_context(cafile=str(authority.file))
            context.load_cert_chain(*map(str, ann))
            opened = False
            try:
                kept = context.wrap_socket(server.connect(), server_hostname="site.test")
                kept.sendall(b"GET /whoami HTTP/1.1\r\nHost: site.test\r\n\r\n")
                opened = b"200" in kept.recv(4096)
            except ssl.SSLError:
                pass
            if opened and time.time() < end - 1:
                break
        assert seen == [False, True, True] and opened
        # The kept connection is ended by the server, unasked.
        kept.settimeout(60)
        with contextlib.suppress(ssl.SSLError, ConnectionError):
            while kept.recv(4096):
                pass
        assert time.time() >= int(end)
        time.sleep(max(0, end + 1 - time.time()))
        assert visitor.visit(ann) is None, "its session goes on after its certificate has ended"
        assert server.stop() == 0, server.log


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_a_revoked_client_is_not_let_in_after_a_reload(example, authority, site, tmp_path, version):
    ann, bob = authority.issue("ann"), authority.issue("bob")
    authority.revoke()
    options = asking_clients(authority, f"--http.server.tls.client_crl={authority.crl}")
    with serving(example, site, *options) as server:
        visitors = [Visitor(server, authority, tmp_path, name) for name in ("ann", "bob")]

        def visit_both():
            return [visitor.visit(files, version) for visitor, files in zip(visitors, (ann, bob))]
        assert visit_both() == [False, False]
        assert visit_both() == [True, True]
        authority.revoke(ann[0])
        server.send_signal(signal.SIGHUP)
        server.wait_for_log("has read its certificates again")
        assert visit_both() == [None, False], "nobody's session outlives a change of who is trusted"
        authority.crl.write_text("nothing of the kind")
        server.send_signal(signal.SIGHUP)
        server.wait_for_log("has no revocation list")
        assert visit_both() == [None, True], "a broken list changes nothing"
        assert server.stop() == 0, server.log


def test_says_what_is_wrong_with_a_revocation_list(example, authority, site):
    done = run([example("https"), "--listen", "127.0.0.1:0", *tls_options(site),
                *asking_clients(authority, f"--http.server.tls.client_crl={authority.file}"), "--check-config"])
    assert done.returncode == 2
    assert str(authority.file) in done.stderr and "has no revocation list" in done.stderr


def test_a_reload_drops_nobody(example, authority):
    files = authority.issue("before", "site.test", to="changing")
    with serving(example, files) as server:
        client = subprocess.Popen(["openssl", "s_client", "-quiet", "-connect", server.address, "-CAfile",
                                   authority.file, "-servername", "site.test"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)

        def converse():
            client.stdin.write(b"GET /whoami HTTP/1.1\r\nHost: site.test\r\n\r\n")
            answer = b""
            while not answer.endswith(b"}"):
                part = client.stdout.read(4096)
                assert part, "the connection has ended"
                answer += part
        converse()
        authority.issue("after", "site.test", to="changing")
        server.send_signal(signal.SIGHUP)
        server.wait_for_log("has read its certificates again")
        converse()
        text = subprocess.run(["openssl", "s_client", "-connect", server.address, "-servername", "site.test"],
                              input="", capture_output=True, text=True, timeout=20).stdout
        assert re.search(r"subject=.*CN ?= ?after", text), text
        shutil.copy("/dev/null", files[1])
        server.send_signal(signal.SIGHUP)
        server.wait_for_log("keeps the certificates it has")
        assert str(files[1]) in server.log
        converse()
        client.kill()
        client.wait()
        assert server.stop() == 0, server.log


def test_says_what_is_wrong_with_a_certificate(example, tmp_path):
    absent = tmp_path / "absent.pem"
    done = run([example("https"), "--listen", "127.0.0.1:0", f"--http.server.tls.certificate={absent}"])
    assert done.returncode == 2
    assert str(absent) in done.stderr and "--http.server.tls.certificate: " in done.stderr


def test_plain_http_and_garbage_are_refused(example, authority, site):
    with serving(example, site) as server:
        for sent in (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", bytes(range(256)) * 20):
            with server.connect() as client:
                client.sendall(sent)
                while client.recv(4096):
                    pass
        assert json.loads(ask(server, authority))["scheme"] == "https"
