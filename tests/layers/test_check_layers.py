"""The layer check finds each kind of fault in a made-up tree, lets the permitted ones pass, and finds none here."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECK = ROOT / "tools" / "check_layers.py"
HEADER = "// Problem, contract, example.\n#pragma once\n"


def check(tree):
    run = subprocess.run([sys.executable, CHECK, tree], capture_output=True, text=True)
    return run.returncode, run.stdout


@pytest.fixture
def tree(tmp_path):
    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path
    return write


def include(name):
    return HEADER + f"#include <{name}>\n"


def test_this_repository_is_in_order():
    status, output = check(ROOT)
    assert status == 0, output


BAD = [
    ("weft/net/a.hpp", include("weft/http/server.hpp"), "a.hpp:3: net -> http (upwards"),
    ("weft/base/a.hpp", include("weft/coro/task.hpp"), "a.hpp:3: base -> coro (upwards"),
    ("weft/base/a.cpp", "#include <apps/weftd/rows.hpp>\n", "a.cpp:1: base -> apps/weftd (upwards"),
    ("weft/json/a.hpp", include("weft/telemetry/counter.hpp"), "json -> telemetry (sideways"),
    ("weft/telemetry/a.hpp", include("weft/json/read.hpp"), "telemetry -> json (sideways"),
    ("weft/store/a.hpp", include("weft/redis/client.hpp"), "store -> redis (sideways"),
    ("weft/http/a.cpp", "#include <weft/testing/sim.hpp>\n", "http -> testing (upwards"),
    ("weft/testing/a_test.cpp", "#include <apps/weftd/rows.hpp>\n", "testing -> apps/weftd ("),
    ("apps/weftd/a.cpp", "#include <apps/weft-bench/load.hpp>\n", "apps/weftd -> apps/weft-bench (sideways"),
    ("weft/net/a.cpp", "#include <weft/nett/a.hpp>\n", "net -> nett (no such layer"),
    ("weft/cache/a.cpp", "#include <weft/base/a.hpp>\n", "cache -> base (layer cache has no place"),
    ("weft/net/CMakeLists.txt", "weft_layer(net DEPENDS loop http)\n", "CMakeLists.txt:1: DEPENDS net -> http"),
    ("weft/net/CMakeLists.txt", "weft_layer(nett DEPENDS loop)\n", "layer nett in the folder of net"),
    ("weft/net/a.hpp", HEADER + "#include <regex>\n", "<regex> in a header"),
    ("weft/net/a.hpp", include("weft/base/format.hpp"), "<weft/base/format.hpp> in a header"),
    ("weft/net/a.cpp", "int a;\nauto b = std::format(c, d);\n", "a.cpp:2: std::format makes all formatters anew"),
    ("weft/net/a.hpp", "#pragma once\n", "no opening comment"),
    ("weft/net/a.hpp", "// Says what it is.\n", "no `#pragma once`"),
    ("weft/net/a.cpp", f"// {'a' * 100}\n", "103 columns"),
    ("weft/net/a.cpp", "int a;  // TO" + "DO: more\n", "a.cpp:1: TO" + "DO (finish it"),
    ("weft/net/a.cpp", "int a;\n// a = next(3);\n", "a.cpp:2: commented-out code"),
    ("weft/net/a.cpp", "int a;\n  // if (a > 3) {\n", "a.cpp:2: commented-out code"),
    ("weft/a.hpp", HEADER, "outside any layer"),
    ("weft/net/a.cpp", "while (size(a) < b && co_await more()) {}\n", "a.cpp:1: co_await behind &&"),
    ("weft/net/a.cpp", "for (; f((a)) || co_await more();) {}\n", "a.cpp:1: co_await behind"),
    ("weft/net/a.cpp", "co_return open ? co_await more() : 0;\n", "a.cpp:1: co_await behind &&, || or ?"),
]


@pytest.mark.parametrize("name, text, finding", BAD, ids=[finding for _, _, finding in BAD])
def test_finds(tree, name, text, finding):
    status, output = check(tree({name: text}))
    assert finding in output
    assert status == 1


GOOD = [
    ("weft/http/a.hpp", include("weft/net/tcp_stream.hpp")),
    ("weft/http/a.hpp", include("weft/json/read.hpp")),
    ("weft/base/a_test.cpp", "#include <weft/testing/sim.hpp>\n"),
    ("weft/base/a_test.hpp", include("weft/testing/sim.hpp")),
    ("weft/net/a.cpp", "#include <regex>\n"),
    ("weft/net/a.cpp", "int a;\n// The kernel answers later; until then (see above) nothing moves;\n"),
    ("weft/net/a.cpp", "// An opening comment shows its use:\n//   a = next(3);\nint a;\n"),
    ("apps/weftd/a.cpp", "#include <weft/http/server.hpp>\n#include <apps/weftd/rows.hpp>\n"),
    ("examples/tour/tour.cpp", "#include <weft/testing/sim.hpp>\n"),
    ("weft/net/a.cpp", "while (a < b && c) co_await more();\nif (a && co_await more()) return;\n"),
    ("weft/net/a.cpp", "const bool both = a && co_await more();\nwhile (co_await more()) {}\n"),
]


@pytest.mark.parametrize("name, text", GOOD)
def test_permits(tree, name, text):
    status, output = check(tree({name: text}))
    assert status == 0, output


def test_an_include_must_be_declared_in_cmake(tree):
    files = {
        "weft/coro/CMakeLists.txt": "weft_layer(coro DEPENDS base)\n",
        "weft/loop/CMakeLists.txt": "weft_layer(loop DEPENDS base LINK coro)\n",
        "weft/loop/a.hpp": include("weft/coro/task.hpp"),
    }
    status, output = check(tree(files))
    assert "a.hpp:3: loop -> coro (not declared: add coro to DEPENDS" in output and status == 1
    status, output = check(tree({"weft/loop/CMakeLists.txt": "weft_layer(loop DEPENDS coro)\n"}))
    assert status == 0, output


def test_a_quoted_include_is_still_an_arrow(tree):
    status, output = check(tree({
        "weft/net/a.cpp": '#include "../http/b.hpp"\n',
        "weft/http/b.hpp": HEADER,
    }))
    assert "net -> http (upwards" in output and "write ours as <weft/" in output and status == 1
