"""examples/ticker: prices in Chromium's page, and to a client of Python's."""

import asyncio
import json

import pytest
import websockets
from chromium import Chromium
from weft_process import Server, run


@pytest.fixture
def ticker(example, backend):
    with Server([example("ticker"), "--listen", "127.0.0.1:0", "--threads", "2", "--backend", backend,
                 "--market.period=5ms"]) as server:
        yield server
        assert server.stop() == 0, server.log


def test_prices_move_on_a_page(ticker, tmp_path):
    with Chromium(tmp_path) as chromium:
        page = chromium.open(ticker.url("/"))
        chromium.wait_for(page, "document.getElementById('prices')?.rows.length === 8")
        chromium.wait_for(page, "document.querySelectorAll('.up').length && document.querySelectorAll('.down').length")
        chromium.wait_for(page, "(window.first ??= Number(document.getElementById('ticks').value)) && "
                                "Number(document.getElementById('ticks').value) > first")


def test_all_who_listen_get_the_same(ticker):
    async def ticks(count):
        async with websockets.connect(f"ws://{ticker.address}/ticks") as socket:
            return [json.loads(await socket.recv()) for _ in range(count)]

    async def listen():
        return await asyncio.gather(*(ticks(100) for _ in range(20)))

    first, *others = asyncio.run(listen())
    numbers = [tick["number"] for tick in first]
    assert numbers == list(range(numbers[0], numbers[0] + 100))
    known = {tick["number"]: tick["quotes"] for tick in first}
    for heard in others:
        common = [tick for tick in heard if tick["number"] in known]
        assert common and all(tick["quotes"] == known[tick["number"]] for tick in common)


def test_a_period_that_is_none_is_refused(example):
    done = run([example("ticker"), "--market.period=0s"])
    assert done.returncode == 2 and "market.period" in done.stderr
