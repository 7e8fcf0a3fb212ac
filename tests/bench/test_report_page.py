"""The report in a real browser: it fits a phone, and is legible by day and by night."""

import re
import sys

import pytest
from conftest import ROOT
from harness import html_report
from test_plots import IN_PROCESS, a_workload

sys.path.insert(0, str(ROOT / "tests/system"))
from chromium import Chromium  # noqa: E402  (the path comes first)

CONTRAST = 4.5  # WCAG 2.2, 1.4.3, of text this small


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    names = ("ours", *(f"peer-with-a-long-name-{number}" for number in range(6)))
    works = [a_workload(connections, names) for connections in (2, 400, 19_000)]
    report = {"machine": {"processor": "x" * 90}, "notes": ["a note"], "workloads": works, "in_process": [IN_PROCESS]}
    folder = tmp_path_factory.mktemp("page")
    (folder / "report.html").write_text(html_report.render(report).replace("<details>", "<details open>"))
    with Chromium(folder / "profile") as browser:
        yield browser, browser.open(f"file://{folder}/report.html")


def look(page, width, scheme):
    """Sets the screen, and gives what evaluates in the page."""
    browser, session = page
    browser.ask("Emulation.setDeviceMetricsOverride", session, width=width, height=800, deviceScaleFactor=1, mobile=False)
    browser.ask("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.wait_for(session, "document.readyState == 'complete'")

    def evaluate(script):
        return browser.ask("Runtime.evaluate", session, expression=script, returnByValue=True)["result"]["value"]

    return evaluate


@pytest.mark.parametrize("width", [360, 768, 1200])
def test_nothing_is_wider_than_the_screen(page, width):
    evaluate = look(page, width, "light")
    assert evaluate("document.documentElement.scrollWidth") <= width
    # Tables may be, in frames that scroll; bars and curves may not.
    widest = evaluate("Math.max(...[...document.querySelectorAll('.bars *, figure, .legend')]"
                      ".map(each => each.getBoundingClientRect().right))")  # fmt: skip
    assert 0 < widest <= width


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(page, scheme):
    evaluate = look(page, 1200, scheme)
    behind = luminance(evaluate("getComputedStyle(document.body).backgroundColor"))
    assert (behind > 0.5) == (scheme == "light")
    for what in ("body", ".key", "th", ".wins, .even, .loses", ".bad", "a"):
        before = luminance(evaluate(f"getComputedStyle(document.querySelector('{what}')).color"))
        brighter, darker = max(before, behind), min(before, behind)
        assert (brighter + 0.05) / (darker + 0.05) >= CONTRAST, what
