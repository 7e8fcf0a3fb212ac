"""What the compiler is called with for code that stands in documents and headers."""

import json
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("WEFT_BUILD_DIR", ROOT / "build/release"))
CACHE = BUILD / "CMakeCache.txt"
IS_SANITIZED = CACHE.exists() and re.search(r"^WEFT_SANITIZE:\w+=\S", CACHE.read_text(), re.MULTILINE) is not None
# Programs are run where that shows more than compiling them does.
collect_ignore = [] if IS_SANITIZED else ["test_programs.py"]
TAKES_A_VALUE = {"-I", "-isystem"}
# The standard library and the compiler's own headers are read once, as modules. What a header lacks shows all the same:
# glaze's <ratio> did. Some of the compiler's warn when they are read as a part of one.
AS_MODULES = ["-fmodules", "-fcxx-modules", "-fimplicit-module-maps", f"-fmodules-cache-path={BUILD}/header-modules",
              "-Wno-#warnings", "-include", "ratio"]


def is_wanted(word):
    return word.startswith(("-std", "-stdlib", "-W", "-D", "-m"))


class Compiler:
    """The build's own compiler, with the flags of examples/tour and everybody's include folders."""

    def __init__(self):
        database = BUILD / "compile_commands.json"
        if not database.exists():
            pytest.fail(f"{database} is missing: `make build` writes it")
        entries = json.loads(database.read_text())
        tour = next(entry for entry in entries if entry["file"].endswith("examples/tour/tour.cpp"))
        words = shlex.split(tour["command"])
        program = next(word for word in words if "clang++" in word or "g++" in word)
        self.command = [program, *(word for word in words if is_wanted(word)), *self._folders(entries),
                        *(AS_MODULES if "clang" in program else []), "-fsyntax-only", "-x", "c++", "-"]

    @staticmethod
    def _folders(entries):
        found = {}
        for entry in entries:
            words = shlex.split(entry["command"])
            for word, value in zip(words, words[1:]):
                if word in TAKES_A_VALUE:
                    found[word, value] = None
                elif word.startswith("-I"):
                    found["-I", word[2:]] = None
        return [part for folder in found for part in folder]

    def faults(self, source):
        """What the compiler says of `source`; empty if it compiles."""
        done = subprocess.run(self.command, input=source, capture_output=True, text=True, timeout=300)
        return "" if done.returncode == 0 else done.stderr or f"exit code {done.returncode}"

    def faults_of_all(self, sources):
        """As faults(), for a dict of sources, a few at a time."""
        with ThreadPoolExecutor(int(os.environ.get("JOBS", 2))) as workers:
            return dict(zip(sources, workers.map(self.faults, sources.values())))


@pytest.fixture(scope="session")
def compiler():
    return Compiler()
