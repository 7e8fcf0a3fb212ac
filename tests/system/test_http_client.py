"""http::client asks servers that are not ours: nginx, h2o, Node.js and Python's."""

import contextlib
import http.server
import json
import os
import shutil
import ssl
import threading

import pytest
from conftest import program
from other_servers import free_port, node, running
from weft_process import run

LARGE = b"all work and no play\n" * 150_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("asked")
    (made / "small.txt").write_bytes(b"small")
    (made / "large.bin").write_bytes(LARGE)
    (made / "empty").write_bytes(b"")
    return made


def fetch(*urls, **options):
    """What becomes of each URL."""
    named = [f"--{name.replace('__', '.')}={value}" for name, value in options.items()]
    done = run([program("tests/system/fetch"), f"--fetch.urls={','.join(urls)}", *named])
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def nginx(folder, site, tmp_path_factory):
    if not (path := shutil.which("nginx", path="/usr/sbin:/usr/bin")):
        pytest.skip("nginx is not installed")
    at = tmp_path_factory.mktemp("nginx")
    plain, secured = free_port(), free_port()
    (at / "nginx.conf").write_text(f"""
daemon off; master_process off; pid {at}/pid; error_log stderr; events {{}}
http {{
  access_log off; client_body_temp_path {at}/b; proxy_temp_path {at}/p; fastcgi_temp_path {at}/f;
  uwsgi_temp_path {at}/u; scgi_temp_path {at}/s; keepalive_requests 3; root {folder};
  server {{
    listen 127.0.0.1:{plain}; listen 127.0.0.1:{secured} ssl http2; ssl_certificate {site[0]}; ssl_certificate_key {site[1]};
    location /zipped/ {{ alias {folder}/; gzip on; gzip_types *; }}
    location /moved {{ return 301 /small.txt; }}
    location /nothing {{ return 204; }}
    location /slow/ {{ alias {folder}/; limit_rate 1k; }}
    location /much {{ {' '.join(f'add_header X-{i} "{"v" * 100}";' for i in range(60))} return 200 "much"; }}
  }}
}}""")
    with running([path, "-p", at, "-c", at / "nginx.conf", "-e", "stderr"], plain, secured):
        yield plain, secured


@pytest.fixture(scope="module")
def h2o(folder, site, tmp_path_factory):
    if not (path := shutil.which("h2o")):
        pytest.skip("h2o is not installed")
    at = tmp_path_factory.mktemp("h2o")
    plain, secured = free_port(), free_port()
    (at / "h2o.conf").write_text(f"""
num-threads: 1
{"user: root" if os.geteuid() == 0 else ""}
hosts:
  default:
    listen: {{host: 127.0.0.1, port: {plain}}}
    listen: {{host: 127.0.0.1, port: {secured}, ssl: {{certificate-file: {site[0]}, key-file: {site[1]}}}}}
    paths:
      /: {{file.dir: {folder}}}
""")
    with running([path, "-c", at / "h2o.conf"], plain, secured):
        yield plain, secured


@pytest.fixture(scope="module")
def asked_node():
    with node() as port:
        yield f"http://127.0.0.1:{port}"


@pytest.mark.parametrize("server", ["nginx", "h2o"])
def test_files_of_servers(server, request, authority):
    plain, secured = request.getfixturevalue(server)
    for origin in (f"http://127.0.0.1:{plain}", f"https://127.0.0.1:{secured}"):
        paths = ("/small.txt", "/large.bin", "/empty", "/none", "/small.txt", "/large.bin", "/small.txt")
        got = fetch(*(origin + path for path in paths), http__client__tls__ca=authority.file)
        assert [(each["status"], each["bytes"]) for each in got if not each["error"]] == [
            (200, 5), (200, len(LARGE)), (200, 0), (404, got[3]["bytes"]), (200, 5), (200, len(LARGE)), (200, 5)], got
        assert got[0]["body"] == "small" and got[0]["field"].startswith("text/plain")
        assert len(fetch(origin + "/large.bin", fetch__method="HEAD", http__client__tls__ca=authority.file)) == 1


def test_whom_the_system_does_not_trust_is_asked_nothing(nginx):
    _, secured = nginx
    [got] = fetch(f"https://127.0.0.1:{secured}/small.txt")
    assert got["status"] == 0 and "no TLS with 127.0.0.1" in got["error"] and "certificate" in got["error"]


def test_what_nginx_answers(nginx):
    plain, _ = nginx
    origin = f"http://127.0.0.1:{plain}"
    moved, nothing, much = fetch(f"{origin}/moved", f"{origin}/nothing", f"{origin}/much", fetch__field="X-59")
    assert moved["status"] == 301 and nothing["status"] == 204 and nothing["bytes"] == 0
    assert much["status"] == 200 and much["field"] == "v" * 100
    [slow] = fetch(f"{origin}/slow/large.bin", http__client__timeout="500ms")
    assert slow["status"] == 0 and "broke off within its body" in slow["error"] and "timed out" in slow["error"]
    [long_head] = fetch(f"{origin}/much", http__client__head_bytes="4096")
    assert "more than is taken" in long_head["error"] and "4096 bytes of head" in long_head["error"]


def test_what_nginx_compresses(nginx):
    origin = f"http://127.0.0.1:{nginx[0]}"
    for decompress, coded in (("true", "gzip"), ("false", "")):
        got = fetch(f"{origin}/zipped/large.bin", f"{origin}/zipped/large.bin", fetch__field="Content-Encoding",
                    http__client__decompress=decompress)
        assert [(each["status"], each["bytes"], each["field"]) for each in got] == [(200, len(LARGE), coded)] * 2, got


def test_what_node_answers(asked_node):
    asked = ("/pieces", "/hints", "/close", "/until-close", "/none", "/pieces")
    got = fetch(*(asked_node + path for path in asked))
    assert [(each["status"], each["bytes"], each["error"]) for each in got] == [
        (200, 10_000, ""), (200, 6, ""), (200, 6, ""), (200, 13, ""), (404, 0, ""), (200, 10_000, "")]
    assert got[1]["body"] == "hinted" and got[3]["body"] == "until the end"
    body = "all work and no play " * 1000
    [echoed] = fetch(f"{asked_node}/echo", fetch__method="POST", fetch__body=body)
    assert echoed["bytes"] == len(body), echoed
    assert echoed["body"] == body[:1024]


@pytest.mark.parametrize("path, why", [
    ("/cut", "broke off within its body"),
    ("/cut-pieces", "broke off within its body"),
    ("/drop", "no response came: the server closed the connection"),
    ("/never", "no response came: timed out"),
    ("/two-lengths", "the response is no HTTP"),
    ("/two-framings", "the response is no HTTP"),
    ("/endless-head", "the response is more than is taken"),
    ("/endless-body", "the response is more than is taken"),
])
def test_what_is_wrong_is_said_in_time(asked_node, path, why):
    """And the next request has a good connection."""
    bad, good = fetch(asked_node + path, f"{asked_node}/close", http__client__timeout="5s" if path != "/never" else "300ms",
                      http__client__body_bytes=100_000)
    assert bad["status"] == 0 and why in bad["error"], bad
    assert bad["error"].startswith(f"GET {asked_node}{path}: ")
    assert (good["status"], good["body"]) == (200, "closed")


@pytest.fixture(scope="module")
def nghttpd(folder, site):
    if not (path := shutil.which("nghttpd")):
        pytest.skip("nghttpd is not installed")
    plain, secured = free_port(), free_port()
    common = [path, "-a", "127.0.0.1", "-d", folder]
    with running([*common, "--no-tls", plain], plain), running([*common, secured, site[1], site[0]], secured):
        yield plain, secured


@pytest.mark.parametrize("server", ["nginx", "h2o", "nghttpd"])
def test_files_by_http2(server, request, authority):
    """Over TLS, and in the clear where the server takes it."""
    plain, secured = request.getfixturevalue(server)
    origins = [f"https://127.0.0.1:{secured}"] + [f"http://127.0.0.1:{plain}"] * (server != "nginx")
    for origin in origins:
        paths = ("/small.txt", "/large.bin", "/empty", "/none", "/small.txt", "/large.bin", "/small.txt")
        got = fetch(*(origin + path for path in paths), http__client__tls__ca=authority.file, http__client__http2="always")
        assert [(each["status"], each["bytes"]) for each in got if not each["error"]] == [
            (200, 5), (200, len(LARGE)), (200, 0), (404, got[3]["bytes"]), (200, 5), (200, len(LARGE)), (200, 5)], got
        [head] = fetch(origin + "/large.bin", fetch__method="HEAD", fetch__field="Content-Length",
                       http__client__tls__ca=authority.file, http__client__http2="always")
        assert (head["status"], head["bytes"], head["field"]) == (200, 0, str(len(LARGE)))


def test_who_speaks_no_http2_is_told(site, authority):
    """Whether the server ends the handshake for want of a common protocol (node), or goes on as if none had been asked
    for."""
    trusting = {"http__client__tls__ca": authority.file, "http__client__http2": "always"}
    with node(*site) as port:
        [got] = fetch(f"https://127.0.0.1:{port}/", **trusting)
        assert got["status"] == 0 and "no TLS with 127.0.0.1" in got["error"], got
        [got] = fetch(f"https://127.0.0.1:{port}/close", http__client__tls__ca=authority.file)
        assert got["status"] == 200, got
    with deaf_to_alpn(*site) as port:
        [got] = fetch(f"https://127.0.0.1:{port}/", **trusting)
        assert got["status"] == 0 and got["error"].endswith(": the server does not speak HTTP/2"), got
        [got] = fetch(f"https://127.0.0.1:{port}/", http__client__tls__ca=authority.file)
        assert got["status"] == 501, got


@contextlib.contextmanager
def deaf_to_alpn(certificate, key):
    """A server of Python's that knows nothing of ALPN, nor any method."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


@pytest.fixture(scope="module")
def http2_of_node():
    with node(script="answers_http2.js") as port:
        yield f"http://127.0.0.1:{port}"


def test_what_node_answers_by_http2(http2_of_node):
    asked = ("/pieces", "/hints", "/none", "/pieces")
    got = fetch(*(http2_of_node + path for path in asked), http__client__http2="always")
    assert [(each["status"], each["bytes"], each["error"]) for each in got] == [
        (200, 10_000, ""), (200, 6, ""), (404, 0, ""), (200, 10_000, "")]
    body = "all work and no play " * 5_000
    [echoed] = fetch(f"{http2_of_node}/echo", fetch__method="POST", fetch__body=body, http__client__http2="always")
    assert echoed["bytes"] == len(body) and echoed["body"] == body[:1024]


@pytest.mark.parametrize("path, why", [
    ("/reset", "the server has reset the stream: INTERNAL_ERROR"),
    ("/half", "broke off within its body"),
    ("/cut", "broke off within its body"),
    ("/drop", "no response came: the server closed the connection"),
    ("/never", "no response came: timed out"),
    ("/much", "the response is more than is taken"),
    ("/endless-body", "the response is more than is taken"),
])
def test_what_is_wrong_by_http2_is_said_in_time(http2_of_node, path, why):
    bad, good = fetch(http2_of_node + path, f"{http2_of_node}/hints", http__client__timeout="5s" if path != "/never" else "300ms",
                      http__client__body_bytes=100_000, http__client__head_bytes=20_000, http__client__http2="always")
    assert bad["status"] == 0 and why in bad["error"], bad
    assert (good["status"], good["body"]) == (200, "hinted")


def test_node_over_tls(site, authority):
    with node(*site) as port:
        got = fetch(f"https://127.0.0.1:{port}/pieces", f"https://127.0.0.1:{port}/cut", http__client__tls__ca=authority.file)
        assert got[0]["bytes"] == 10_000 and "broke off within its body" in got[1]["error"]


def test_through_a_proxy(asked_node, nginx, authority):
    """https in a tunnel: the proxy resolves the name, and the certificate is that of the name."""
    plain, secured = nginx
    origin = f"https://site.test:{secured}"
    got = fetch(f"{origin}/small.txt", f"{origin}/large.bin", "https://forbidden.test/", f"https://other.test:{secured}/",
                http__client__proxy=asked_node, http__client__tls__ca=authority.file)
    assert [(each["status"], each["bytes"]) for each in got] == [(200, 5), (200, len(LARGE)), (0, 0), (0, 0)], got
    assert "the proxy opens no way to forbidden.test:443: 403 Forbidden" in got[2]["error"]
    assert f"no TLS with other.test:{secured}" in got[3]["error"]


def test_a_host_in_other_letters_over_tls(asked_node, authority):
    """The proxy, SNI and the certificate have the name that the DNS has."""
    with node(*authority.issue("letters", "xn--bcher-kva.test")) as port:
        got = fetch(f"https://bücher.test:{port}/pieces", f"https://B%C3%9CCHER.test:{port}/pieces",
                    f"https://faß.test:{port}/pieces", f"https://-ü.test:{port}/", http__client__proxy=asked_node,
                    http__client__tls__ca=authority.file)
    assert [each["bytes"] for each in got] == [10_000, 10_000, 0, 0], got
    assert f"no TLS with xn--fa-hia.test:{port}" in got[2]["error"]
    assert 'the label "-ü"' in got[3]["error"]


@pytest.fixture(scope="module")
def tinyproxy(tmp_path_factory):
    """It requires credentials."""
    if not (path := shutil.which("tinyproxy")):
        pytest.skip("tinyproxy is not installed")
    at = tmp_path_factory.mktemp("tinyproxy")
    port = free_port()
    (at / "tinyproxy.conf").write_text(f"""
Port {port}
Listen 127.0.0.1
Timeout 60
MaxClients 10
LogLevel Critical
BasicAuth ann pa55-word
""")
    with running([path, "-d", "-c", at / "tinyproxy.conf"], port):
        yield port


def test_a_proxy_that_requires_credentials(tinyproxy, nginx, site, authority):
    plain, secured = nginx
    urls = [f"http://127.0.0.1:{plain}/small.txt", f"https://127.0.0.1:{secured}/large.bin"]

    def through(user):
        return fetch(*urls, http__client__proxy=f"http://{user}127.0.0.1:{tinyproxy}", http__client__no_proxy="nobody",
                     http__client__tls__ca=authority.file)

    got = through("ann:pa55%2Dword@")
    assert [(each["status"], each["bytes"]) for each in got] == [(200, 5), (200, len(LARGE))], got
    # It answers wrong credentials with 401, which is an answer like any other.
    got = through("ann:wrong@")
    assert got[0]["status"] == 401 and "the proxy opens no way to" in got[1]["error"] and "401" in got[1]["error"], got
    assert "wrong" not in str(got)
    for each in through(""):
        assert each["status"] == 0 and "407" in each["error"], each
        assert "http://user:password@host:port" in each["error"]


class OldServer(http.server.BaseHTTPRequestHandler):
    """Of HTTP/1.0: the end of the connection is that of the body."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(LARGE)

    def log_message(self, *_):
        pass


def test_python_of_http_1_0():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), OldServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        assert [(each["status"], each["bytes"]) for each in fetch(url, url)] == [(200, len(LARGE))] * 2
        server.shutdown()
