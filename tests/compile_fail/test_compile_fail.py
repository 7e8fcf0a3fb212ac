"""Mistakes that must not compile, and whose message must name the fix.

Each .cpp here begins with `// expect: TEXT`. With MISTAKE defined the compiler must refuse it and its errors must
hold TEXT; without it the same file must compile, so that it can only fail for the reason it is here for.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CASES = sorted(HERE.glob("*.cpp"))
COMPILER = os.environ.get("WEFT_CXX", "clang++-19")


INCLUDE = re.compile(r"^#include <.+>$", re.MULTILINE)


def command():
    said = [COMPILER, "-std=c++23", "-stdlib=libc++", "-Wall", "-Wextra", f"-I{ROOT}"]
    glaze = ROOT / ".deps" / "glaze" / "include"
    return said + (["-isystem", str(glaze)] if glaze.exists() else [])


@pytest.fixture(scope="session")
def compile_case(tmp_path_factory):
    """Most of the time would go into reading headers: all that the cases include are read once."""
    assert shutil.which(COMPILER), f"{COMPILER} is not installed; WEFT_CXX names another compiler"
    folder = tmp_path_factory.mktemp("headers")
    includes = {line for path in CASES for line in INCLUDE.findall(path.read_text())}
    (folder / "headers.hpp").write_text("\n".join(sorted(includes)) + "\n")
    subprocess.run([*command(), "-x", "c++-header", folder / "headers.hpp", "-o", folder / "headers.pch"],
                   check=True, timeout=300)

    def compile_one(path, *defines):
        return subprocess.run([*command(), "-include-pch", folder / "headers.pch", "-fsyntax-only", *defines, path],
                              capture_output=True, text=True, timeout=300)
    return compile_one


def expected_text(path):
    first_line = path.read_text().splitlines()[0]
    assert first_line.startswith("// expect: "), f"{path.name} does not say what to expect"
    return first_line.removeprefix("// expect: ")


def errors_of(run):
    return [line for line in run.stderr.splitlines() if "error:" in line]


def test_there_are_cases():
    assert CASES


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_mistake_is_refused_with_the_fix(compile_case, path):
    run = compile_case(path, "-DMISTAKE")
    assert run.returncode != 0, "the mistake compiles"
    assert any(expected_text(path) in line for line in errors_of(run)), run.stderr


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_fixed_file_compiles(compile_case, path):
    run = compile_case(path)
    assert run.returncode == 0, run.stderr
