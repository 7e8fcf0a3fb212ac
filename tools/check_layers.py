#!/usr/bin/env python3
"""Keeps the house in order: arrows between layers point down, and files stay tidy.

    tools/check_layers.py            the repository
    tools/check_layers.py FOLDER     another tree of the same shape (its tests use this)

Each finding is one line, `file:line: what is wrong (the rule)`; the exit code is 1 if there is any. The layers
and their order are docs/architecture.md's; ROWS below is the one place that a new layer is added to.
"""

import re
import sys
from pathlib import Path

# From the ground up. Layers of one row do not know each other.
ROWS = [
    ["base"], ["coro"], ["loop"], ["net"], ["telemetry", "json"], ["realtime"], ["service"], ["http"],
    ["store", "redis"], ["testing"],
]
HEIGHT = {layer: height for height, row in enumerate(ROWS) for layer in row}
TOP = len(ROWS)  # apps, examples, bench: above all layers, and apart from each other

MAX_COLUMNS = 100
# Every user of a header pays for what it includes.
HEAVY = {"filesystem", "format", "fstream", "functional", "iostream", "istream", "map", "ostream",
         "print", "regex", "sstream", "weft/base/format.hpp"}
# The one place that std::format is compiled in.
FORMAT = {Path("weft/base/format.hpp"), Path("weft/base/format.cpp")}
# These take formats that are checked as their users compile, who are few.
CHECK_FORMATS = {Path("weft/realtime") / name
                 for name in ("deadline_miss_format.hpp", "deferred_line.hpp", "deferred_log.hpp")}
STD_FORMAT = re.compile(r"\bstd::v?format(?:_to)?\(")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
LEFTOVER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
CODE_IN_COMMENT = re.compile(
    r"^\s*//\s?(?:(?:if|for|while|switch) \(.*[{;]|return\b.*;|#\s*include\b.*|[\w:.<>*&\[\] ]+ = .*;"
    r"|[\w:.>-]+\(.*\);|[{}];?)\s*$")
# GCC 14 awaits what stands to the right of &&, || and ?: here, whatever stands to the left.
BALANCED = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"
EAGER_AWAIT = re.compile(
    rf"\b(?:(?:while|for|switch) \({BALANCED}|co_return\b.*)(?:&&|\|\||\?){BALANCED}\bco_await\b")
LAYER_CALL = re.compile(r"weft_layer\(\s*(\w+)([^)]*)\)")
KEYWORDS = {"DEPENDS", "LINK", "PRIVATE_HEADERS", "TEST_DEPENDS"}


def room_of(path):
    """The layer or program a file lives in, as ('weft', 'net'), ('apps', 'weftd'), ('bench', ''); or None."""
    parts = path.parts
    if len(parts) >= 3 and parts[0] == "weft":
        return "weft", parts[1]
    if len(parts) >= 3 and parts[0] in ("apps", "examples"):
        return parts[0], parts[1]
    if len(parts) >= 2 and parts[0] == "bench":
        return "bench", ""
    return None


def height_of(room):
    return HEIGHT.get(room[1], -1) if room[0] == "weft" else TOP


def name_of(room):
    return room[1] if room[0] == "weft" else "/".join(part for part in room if part)


def is_test(path):
    return path.name.endswith(("_test.cpp", "_test.hpp", "_fuzz.cpp"))


def arrow_fault(path, source, target):
    """Why the arrow from room `source` to room `target` is wrong, or None."""
    if source == target:
        return None
    arrow = f"{name_of(source)} -> {name_of(target)}"
    if target[0] == "weft" and target[1] not in HEIGHT:
        return f"{arrow} (no such layer: ROWS in tools/check_layers.py lists them)"
    if source[0] == "weft" and source[1] not in HEIGHT:
        return f"{arrow} (layer {source[1]} has no place: add it to ROWS in tools/check_layers.py)"
    up, down = height_of(source), height_of(target)
    if is_test(path) and source[0] == "weft":
        up = max(up, HEIGHT["testing"] + 1)  # tests may reach up to testing/
    if down < up:
        return None
    if down == up:
        return f"{arrow} (sideways: neighbours in a row do not know each other)"
    return f"{arrow} (upwards: a layer knows only those below it)"


class Checker:
    def __init__(self, root):
        self.root = root
        self.findings = []
        self.declared = {}  # layer -> DEPENDS of its CMakeLists.txt

    def report(self, path, line, text):
        self.findings.append(f"{path}:{line}: {text}")

    def target_of(self, path, bracket, name):
        """The room an include leads to, or None for what is not ours."""
        if bracket == '"':
            near = (self.root / path.parent / name).resolve()
            if near.is_file() and near.is_relative_to(self.root):
                return room_of(near.relative_to(self.root))
        return room_of(Path(name))

    def read_declarations(self):
        for file in sorted(self.root.glob("weft/*/CMakeLists.txt")):
            path = file.relative_to(self.root)
            text = file.read_text()
            for call in LAYER_CALL.finditer(text):
                self.read_declaration(path, text.count("\n", 0, call.start()) + 1, call[1], call[2].split())

    def read_declaration(self, path, number, layer, words):
        if layer != path.parts[1]:
            self.report(path, number, f"layer {layer} in the folder of {path.parts[1]} (folder = layer = target)")
        part, depends = "", []
        for word in words:
            if word in KEYWORDS:
                part = word
            elif part == "DEPENDS":
                depends.append(word)
                if fault := arrow_fault(path, ("weft", layer), ("weft", word)):
                    self.report(path, number, f"DEPENDS {fault}")
        self.declared[layer] = depends

    def reaches(self, layer, wanted, seen=()):
        return any(below == wanted or (below not in seen and self.reaches(below, wanted, (*seen, below)))
                   for below in self.declared.get(layer, []))

    def check_include(self, path, number, room, bracket, name):
        target = self.target_of(path, bracket, name)
        if target is not None:
            if fault := arrow_fault(path, room, target):
                self.report(path, number, fault)
            elif (room[0] == target[0] == "weft" and room != target and not is_test(path)
                  and room[1] in self.declared and not self.reaches(room[1], target[1])):
                self.report(path, number, f"{name_of(room)} -> {name_of(target)} (not declared: add "
                            f"{target[1]} to DEPENDS in weft/{room[1]}/CMakeLists.txt)")
            if room[0] == "weft" and bracket == '"':
                self.report(path, number, f'"{name}" (write ours as <weft/layer/file.hpp>)')
        public_header = path.suffix == ".hpp" and room[0] == "weft" and room[1] != "testing"
        if public_header and name in HEAVY and path not in FORMAT | CHECK_FORMATS:
            self.report(path, number, f"<{name}> in a header (heavy: every user compiles it; use it in the .cpp)")

    def check_header(self, path, lines):
        if not lines or not lines[0].startswith(("//", "/*")):
            self.report(path, 1, "no opening comment (a header says its problem, contract and an example)")
        if "#pragma once" not in lines:
            self.report(path, 1, "no `#pragma once`")

    def check_file(self, path):
        room = room_of(path)
        lines = (self.root / path).read_text().splitlines()
        if path.suffix == ".hpp":
            self.check_header(path, lines)
        after_head = False
        for number, line in enumerate(lines, 1):
            after_head = after_head or not line.startswith("//")
            if include := INCLUDE.match(line):
                self.check_include(path, number, room, include[1], include[2])
            if LEFTOVER.search(line):
                self.report(path, number, f"{LEFTOVER.search(line)[0]} (finish it, or file it)")
            if len(line) > MAX_COLUMNS:
                self.report(path, number, f"{len(line)} columns (at most {MAX_COLUMNS})")
            if EAGER_AWAIT.search(line):
                self.report(path, number, "co_await behind &&, || or ? in a loop's condition, a switch or a "
                            "co_return (GCC 14 does not wait for the left side: use an if)")
            if (room[0] == "weft" and after_head and path not in FORMAT and not is_test(path)
                    and STD_FORMAT.search(line)):
                self.report(path, number, "std::format makes all formatters anew in each source (weft::format of "
                            "<weft/base/format.hpp> has them compiled)")
            if path.suffix == ".cpp" and after_head and CODE_IN_COMMENT.match(line):
                self.report(path, number, "commented-out code (delete it; git remembers)")

    def run(self):
        self.read_declarations()
        files = [file.relative_to(self.root) for folder in ("weft", "apps", "examples", "bench")
                 for suffix in ("hpp", "cpp") for file in sorted((self.root / folder).rglob(f"*.{suffix}"))]
        for path in files:
            if room_of(path) is not None:
                self.check_file(path)
            elif path.parts[0] == "weft":
                self.report(path, 1, "a file outside any layer (weft/<layer>/<file>)")
        return len(files)


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    checker = Checker(root)
    count = checker.run()
    for finding in checker.findings:
        print(finding)
    print(f"check_layers: {count} files, {len(checker.findings)} findings")
    return 1 if checker.findings else 0


if __name__ == "__main__":
    sys.exit(main())
