"""examples/chat: two pages in Chromium that hear each other, and what other pages and programs get."""

import asyncio
import contextlib
import shutil
import signal
import subprocess
from pathlib import Path

import httpx
import pytest
import websockets
from authority import tls_options
from chromium import Chromium
from weft_process import Server

HANDSHAKE = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
             "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}


@pytest.fixture
def started(example, backend):
    with Server([example("chat"), "--listen", "127.0.0.1:0", "--threads", "2", "--backend", backend]) as server:
        yield server


@pytest.fixture
def chat(started):
    yield started
    assert started.stop() == 0, started.log


@pytest.mark.usefixtures("at_speed")
def test_two_pages_hear_each_other(chat, tmp_path):
    with Chromium(tmp_path) as chromium:
        pages = {name: chromium.open(chat.url(f"/?name={name}&say=hello+from+{name}")) for name in ("ann", "bob")}
        for page in pages.values():
            for name in pages:
                chromium.wait_for(page, "document.getElementById('said')?.innerText.includes"
                                        f"('{name}: hello from {name}')")
        chromium.ask("Runtime.evaluate", pages["ann"], expression="socket.send('<b>κόσμε</b>')")
        chromium.wait_for(pages["bob"], "document.getElementById('said').innerText.includes('ann: <b>κόσμε</b>')")


@pytest.mark.usefixtures("at_speed")
def test_a_page_speaks_over_its_connection_of_http2(example, site, tmp_path):
    with Server([example("chat"), "--listen", "127.0.0.1:0", "--threads", "1", *tls_options(site)], scheme="https") as server, \
            Chromium(tmp_path, "--ignore-certificate-errors") as chromium:
        page = chromium.open(server.url("/?name=ann&say=hello"))
        chromium.wait_for(page, "document.getElementById('said')?.innerText.includes('ann: hello')")
        chromium.ask("Runtime.evaluate", page, expression=f"socket.send('{'x' * 2000}')")
        chromium.wait_for(page, f"document.getElementById('said').innerText.includes('ann: {'x' * 2000}')")
        protocol = "performance.getEntriesByType('navigation')[0].nextHopProtocol"
        assert chromium.ask("Runtime.evaluate", page, expression=protocol)["result"]["value"] == "h2"
        connections = [line for line in Path("/proc/net/tcp").read_text().splitlines()[1:] if is_client_of(line, server.port)]
        assert len(connections) == 1, "the WebSocket has a connection of its own"
        server.send_signal(signal.SIGTERM)
        chromium.wait_for(page, "document.getElementById('said').innerText.includes('The end: 1001 the server ends')")
        assert server.process.wait(20) == 0, server.read_log()


def is_client_of(line, port):
    """Of /proc/net/tcp: an established connection to this port."""
    _, _, remote, state, *_ = line.split()
    return state == "01" and int(remote.split(":")[1], 16) == port


@pytest.mark.usefixtures("at_speed")
def test_pages_are_told_the_end(started, tmp_path):
    with Chromium(tmp_path) as chromium:
        page = chromium.open(started.url("/?name=ann&say=hello"))
        chromium.wait_for(page, "document.getElementById('said')?.innerText.includes('hello')")
        started.send_signal(signal.SIGTERM)
        chromium.wait_for(page, "document.getElementById('said').innerText.includes('The end: 1001 the server ends')")
    assert started.process.wait(20) == 0, started.read_log()


def test_a_page_of_others_may_not_connect(chat):
    def status(origin):
        with httpx.stream("GET", chat.url("/rooms/lobby?name=eve"), headers={**HANDSHAKE, "Origin": origin}) as reply:
            return reply.status_code

    assert status("http://evil.example") == 403
    assert status(f"http://{chat.address}") == 101


def test_what_is_no_text_is_told_to_nobody(chat):
    """And those who come later are let in all the same."""
    def visit(name):
        return websockets.connect(chat.url(f"/rooms/lobby?name={name}").replace("http", "ws"))

    async def hear(*visitors):
        return [await asyncio.wait_for(each.recv(), 10) for each in visitors]

    async def talk():
        async with visit("ann") as ann:
            await ann.send(b"\xff")
            with pytest.raises(websockets.ConnectionClosed):
                await hear(ann)
            assert ann.close_code == 1003
        async with visit("bob") as bob:
            await bob.send("hello")
            assert await hear(bob) == ["bob: hello"]
            async with visit("carl") as carl:
                assert await hear(carl) == ["bob: hello"]
                await carl.send("here")
                assert await hear(carl, bob) == ["carl: here"] * 2

    asyncio.run(talk())


@pytest.fixture
def chat_on_one_shard(example):
    with Server([example("chat"), "--listen", "127.0.0.1:0", "--threads", "1"]) as server:
        yield server
        assert server.stop() == 0, server.log


def test_rooms_that_nobody_is_in_make_room_for_others(chat_on_one_shard):
    def visit(room, name="ann"):
        return websockets.connect(chat_on_one_shard.url(f"/rooms/{room}?name={name}").replace("http", "ws"))

    async def say(room, name="ann"):
        async with visit(room, name) as socket:
            await socket.send("hello")
            return await asyncio.wait_for(socket.recv(), 20)

    async def talk():
        async with visit("lobby") as ann:
            await ann.send("first")
            assert await asyncio.wait_for(ann.recv(), 20) == "ann: first"
            for number in range(300):
                assert await say(f"room{number}") == "ann: hello"
            async with visit("lobby", "bob") as bob:  # ann is in it: it is not forgotten
                assert await asyncio.wait_for(bob.recv(), 20) == "ann: first"
            async with visit("room299") as late:  # nor the last ones
                assert await asyncio.wait_for(late.recv(), 20) == "ann: hello"
            assert await say("room0") == "ann: hello"

    asyncio.run(talk())


def test_a_crowd_that_speaks_at_once_throws_nobody_out(chat):
    def visit(name):
        return websockets.connect(chat.url(f"/rooms/lobby?name={name}").replace("http", "ws"), max_queue=None)

    async def talk():
        async with contextlib.AsyncExitStack() as crowd:
            listener = await crowd.enter_async_context(visit("ann"))
            speakers = [await crowd.enter_async_context(visit(str(number))) for number in range(40)]
            await asyncio.gather(*(each.send("y" * 2000) for each in speakers))
            heard = {(await asyncio.wait_for(listener.recv(), 60)).split(":")[0] for _ in speakers}
            assert heard == {str(number) for number in range(40)}

    asyncio.run(talk())


def test_names_are_short(chat):
    async def enter(room, name):
        async with websockets.connect(chat.url(f"/rooms/{room}?name={name}").replace("http", "ws")) as socket:
            with pytest.raises(websockets.ConnectionClosed):
                await asyncio.wait_for(socket.recv(), 20)
            return socket.close_code

    assert asyncio.run(enter("r" * 33, "ann")) == 1008
    assert asyncio.run(enter("lobby", "a" * 33)) == 1008


def test_curl_is_upgraded(chat):
    curl = shutil.which("curl")
    done = subprocess.run([curl, "-sS", "-i", "--max-time", "2", "-o", "-",
                           *(part for name, value in HANDSHAKE.items() for part in ("-H", f"{name}: {value}")),
                           chat.url("/rooms/lobby?name=curl")], capture_output=True)
    assert done.stdout.startswith(b"HTTP/1.1 101 Switching Protocols\r\n"), done.stdout
    assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in done.stdout
