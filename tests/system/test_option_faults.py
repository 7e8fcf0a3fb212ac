"""What is wrong with an option is said before anything starts, without the secrets it may hold, and without what
would move a terminal's cursor."""

import subprocess

import pytest
from weft_process import run

SECRET = "hunter2"
# ESC [ 2 J clears the screen; U+009B is the same as ESC [; U+202E turns the direction of what follows.
NASTY = "a\x1b[2J\x9b1mb\u202ec\nweftd: all is well"


def everything_said(done):
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def gateway(example):
    return [example("gateway"), "--listen", "127.0.0.1:0"]


@pytest.mark.parametrize("proxy", ["nonsense", "https://proxy.example:3128", "http://proxy.example/path", "http://:80",
                                   "proxy.example:3128"])
def test_a_proxy_that_is_none_does_not_pass(gateway, proxy):
    done = run([*gateway, f"--http.client.proxy={proxy}", "--check-config"])
    assert done.returncode == 2, everything_said(done)
    assert "http.client.proxy" in done.stderr and proxy in done.stderr and "http://host:port" in done.stderr
    assert run([*gateway, f"--http.client.proxy={proxy}"]).returncode == 2, "nor does it start"


@pytest.mark.parametrize("option", ["ca", "crl", "certificate"])
def test_a_file_of_the_client_that_is_not_there_does_not_pass(gateway, authority, tmp_path, option):
    absent = tmp_path / "absent.pem"
    options = {"ca": authority.file, option: absent}
    done = run([*gateway, *(f"--http.client.tls.{name}={file}" for name, file in options.items()), "--check-config"])
    assert done.returncode == 2, everything_said(done)
    assert str(absent) in done.stderr and "http.client.tls." in done.stderr


def test_what_is_right_passes(gateway, authority):
    done = run([*gateway, "--http.client.proxy=http://proxy.example:3128", f"--http.client.tls.ca={authority.file}",
                "--check-config"])
    assert done.returncode == 0, everything_said(done)


def said_with_proxy(gateway, file, url, asked):
    """By each way that an option is given."""
    file.write_text(f'[http.client]\nproxy = "{url}"\n')
    yield run([*gateway, f"--http.client.proxy={url}", asked])
    yield run([*gateway, "--config", file, asked])
    yield subprocess.run(["env", f"WEFT_HTTP_CLIENT_PROXY={url}", *gateway, asked], capture_output=True, text=True,
                         timeout=60)


@pytest.mark.parametrize("url", [f"http://ann:{SECRET}/x@proxy.example", f"http://ann:{SECRET}%@proxy.example",
                                 f"https://ann:{SECRET}@proxy.example", f"ann:{SECRET}@proxy.example"])
@pytest.mark.parametrize("asked", ["--check-config", "--print-config"])
def test_the_password_of_a_proxy_is_not_shown(gateway, tmp_path, url, asked):
    for done in said_with_proxy(gateway, tmp_path / "gateway.toml", url, asked):
        assert done.returncode == 2
        assert SECRET not in everything_said(done) and "no proxy" in done.stderr


@pytest.mark.parametrize("url", [f"http://ann:{SECRET}@proxy.example:3128", f"http://{SECRET}@proxy.example:3128"])
def test_the_password_of_a_proxy_that_is_used_is_not_shown(gateway, tmp_path, url):
    file = tmp_path / "gateway.toml"
    for done in said_with_proxy(gateway, file, url, "--check-config"):
        assert done.returncode == 0, done.stderr
        assert SECRET not in everything_said(done)
    for done in said_with_proxy(gateway, file, url, "--print-config"):
        assert done.returncode == 0, done.stderr
        assert SECRET not in everything_said(done) and 'proxy = "http://***@proxy.example:3128"' in done.stdout
    file.write_text(done.stdout)
    again = run([*gateway, "--config", file, "--check-config"])
    assert again.returncode == 2, "nobody goes on with a password that was only shown"
    assert "http.client.proxy" in again.stderr and "not shown" in again.stderr


@pytest.mark.parametrize("asked", ["--check-config", "--print-config"])
def test_the_password_of_a_database_server_is_not_shown(weftd, asked):
    for server in (f"mysql://ann:{SECRET}@db.example/shop", f"ann:{SECRET}@db.example", f"mysql://ann:{SECRET}/x@db"):
        done = run([weftd, "--mysql", server, asked])
        assert done.returncode == 2
        assert SECRET not in everything_said(done)


@pytest.mark.parametrize("words", [
    ["--listen", NASTY], ["--data", NASTY], ["--keys", NASTY], ["--config", NASTY], [f"--{NASTY}"], [NASTY],
    ["--threads", NASTY], ["--idle", NASTY], ["--mysql", NASTY], [f"--http.server.{NASTY}=1"],
    [f"--log.levels={NASTY}"], [f"--http.server.tls.certificate={NASTY}"], ["--probe-listen", NASTY],
    [f"--http.server.trusted_proxies={NASTY}"], ["--set", NASTY], ["--backend", NASTY]])
def test_a_message_about_an_option_controls_no_terminal(weftd, words):
    done = run([weftd, *words, "--check-config"])
    assert done.returncode == 2
    assert not set("\x1b\x9b\u202e") & set(everything_said(done)), repr(done.stderr)
    assert "\nweftd: all is well" not in done.stderr


def test_values_are_printed_so_that_they_control_no_terminal(weftd, tmp_path):
    printed = run([weftd, "--data", NASTY, "--print-config", "--check-config"])
    assert not set("\x1b\x9b\u202e") & set(everything_said(printed))
    file = tmp_path / "a\x1b[2Jb.toml"
    file.write_text('[application]\nthreads = 1\n')
    printed = run([weftd, "--config", file, "--print-config"])
    assert printed.returncode == 0 and "\x1b" not in printed.stdout and "\\x1b[2Jb.toml" in printed.stdout


@pytest.mark.parametrize("words", [["import", NASTY, "--table", "a.b"], ["import", "x.csv", "--table", NASTY],
                                   ["export", "--table", NASTY], ["keygen", "--databases", "a", "--name", NASTY]])
def test_commands_control_no_terminal(weftd, words):
    done = run([weftd, *words])
    assert done.returncode != 0
    assert not set("\x1b\x9b\u202e") & set(everything_said(done)), repr(done.stderr)


@pytest.mark.parametrize("asked", ["--print-config", "--print-graph=dot"])
def test_what_cannot_be_printed_is_an_error(weftd, asked):
    with open("/dev/full", "w") as full:
        done = subprocess.run([weftd, asked], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1 and "stdout" in done.stderr

@pytest.mark.parametrize("words", [["--listen"], ["--data"], ["--keys"], ["--config"], ["--threads"], ["--nosuch"], ["--backend"],
                                   ["--log.levels"], ["--http.server.trusted_proxies"], ["--set"], []])
def test_a_url_in_the_wrong_place_shows_no_password(weftd, words):
    url = f"mysql://ann:{SECRET}/x@db.example/shop"
    for given in ([*words, url], [f"{words[0]}={url}"] if words else [url]):
        done = run([weftd, *given, "--check-config"])
        assert done.returncode == 2
        assert SECRET not in everything_said(done)


def test_of_many_faults_the_first_are_shown(weftd, tmp_path):
    file = tmp_path / "weftd.toml"
    file.write_text("".join(f"k{number} = 1\n" for number in range(5000)))
    done = run([weftd, "--config", file, "--check-config"])
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 21 and "k0" in lines[0] and "4980 more" in lines[-1], done.stderr
