"""Mistakes that must not compile, and whose message must name the fix.

Each .cpp here begins with `// expect: TEXT`. With MISTAKE defined the compiler must refuse it and its errors must
hold TEXT; without it the same file must compile, so that it can only fail for the reason it is here for.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CASES = sorted(HERE.glob("*.cpp"))
COMPILER = os.environ.get("WEFT_CXX", "clang++-19")


def compile_case(path, *defines):
    command = [COMPILER, "-std=c++23", "-stdlib=libc++", "-fsyntax-only", "-Wall", "-Wextra", f"-I{ROOT}"]
    glaze = ROOT / ".deps" / "glaze" / "include"
    if glaze.exists():
        command += ["-isystem", str(glaze)]
    return subprocess.run([*command, *defines, str(path)], capture_output=True, text=True, timeout=300)


def expected_text(path):
    first_line = path.read_text().splitlines()[0]
    assert first_line.startswith("// expect: "), f"{path.name} does not say what to expect"
    return first_line.removeprefix("// expect: ")


def errors_of(run):
    return [line for line in run.stderr.splitlines() if "error:" in line]


@pytest.fixture(scope="session", autouse=True)
def compiler():
    assert shutil.which(COMPILER), f"{COMPILER} is not installed; WEFT_CXX names another compiler"


def test_there_are_cases():
    assert CASES


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_mistake_is_refused_with_the_fix(path):
    run = compile_case(path, "-DMISTAKE")
    assert run.returncode != 0, "the mistake compiles"
    assert any(expected_text(path) in line for line in errors_of(run)), run.stderr


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_fixed_file_compiles(path):
    run = compile_case(path)
    assert run.returncode == 0, run.stderr
