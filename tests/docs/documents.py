"""The documents and the code in them.

Every ```cpp block of README.md and docs/ is compiled. A block is:
  - complete, if it has an #include: compiled as it stands;
  - else a snippet: declarations, compiled after PRELUDE;
  - marked ```cpp statements: compiled inside of a coroutine, after PRELUDE.
Text that is no C++ has another mark (```text, ```sh, ```cmake).
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "bench/README.md",
             *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)[ ]?(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

PRELUDE = """
#include <cstdint>
#include <string>
#include <vector>
#include <weft/coro/scope.hpp>
#include <weft/http/server.hpp>
#include <weft/json/read.hpp>
#include <weft/json/write.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/net/tcp_listener.hpp>
#include <weft/net/tcp_stream.hpp>
#include <weft/service/application.hpp>
"""
IN_A_COROUTINE = """
weft::task<void> statements(weft::event_loop& loop, weft::net::tcp_stream& stream, weft::http::server& http) {{
  (void)loop, (void)stream, (void)http;
{}
  co_return;
}}
"""


@dataclass(frozen=True)
class Block:
    place: str  # file:line
    language: str
    mark: str
    text: str

    def source(self):
        """What the compiler is given, with the lines numbered as in the document."""
        file, line = self.place.split(":")
        text = f'#line {int(line) + 1} "{file}"\n{self.text}'
        if "#include" in self.text:
            return text
        return PRELUDE + (IN_A_COROUTINE.format(text) if self.mark == "statements" else text)


def blocks_of(path):
    text = path.read_text()
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(f"{path.relative_to(ROOT)}:{line}", found[1], found[2], found[3])


def cpp_blocks():
    return [block for path in DOCUMENTS for block in blocks_of(path) if block.language == "cpp"]


def words(code):
    """Code without its layout, which belongs to clang-format."""
    return " ".join(code.split())
