"""tools/check_results.py finds results that nobody reads, and takes those that say why."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools/check_results.py"


def verdict(folder, text, name="weft/loop/a.cpp"):
    file = folder / name
    file.parent.mkdir(parents=True)
    (folder / "apps").mkdir(exist_ok=True)
    file.write_text(text)
    return subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("statement", [
    "::setsockopt(fd, 1, 2, &on, sizeof on);", "if (is_tcp) ::listen(fd, 5);", "std::ignore = ::write(fd, &one, 8);",
    "static_cast<void>(::read(fd, &one, 8));", "[[maybe_unused]] const ssize_t n = ::read(fd, &one, 8);",
    "io_uring_submit(&ring);", "std::rename(from, to);", "pthread_setname_np(self, name);"])
def test_a_dropped_result_is_found(tmp_path, statement):
    done = verdict(tmp_path, f"void f() {{\n  int on = 1;\n  {statement}\n}}\n")
    assert done.returncode == 1
    assert "weft/loop/a.cpp:3: " in done.stdout


@pytest.mark.parametrize("text", [
    "// Why.\n  ::listen(fd, 5);", "::listen(fd, 5);  // why", "return ::listen(fd, 5);", "const int n = ::listen(fd, 5);",
    "const int n =\n      ::listen(fd, 5);", "::close(fd);", "io_uring_prep_nop(entry);",
    'std::fputs("a", stderr);', "std::fputs(\n      text,\n      stderr);"])
def test_a_result_that_is_read_or_has_a_reason_is_not(tmp_path, text):
    done = verdict(tmp_path, f"void f() {{\n  int on = 1;\n  {text}\n}}\n")
    assert done.returncode == 0, done.stdout


def test_tests_may_drop_results(tmp_path):
    assert verdict(tmp_path, "void f() {\n  ::listen(fd, 5);\n}\n", "weft/loop/a_test.cpp").returncode == 0


def test_this_repository_is_in_order():
    done = subprocess.run([sys.executable, TOOL], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
