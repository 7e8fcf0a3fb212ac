"""The lifetime check finds each kind of fault in a made-up tree, lets the permitted ones pass, and finds none here."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECK = ROOT / "tools" / "check_lifetimes.py"
HEADER = "// Problem, contract, example.\n#pragma once\n"
INTERNAL = "// Contract: internal to http.\n#pragma once\n"


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


def test_this_repository_is_in_order():
    status, output = check(ROOT)
    assert status == 0, output


BAD = [
    ("weft/http/a.hpp", HEADER + "task<int> get(std::string_view url);\n", "a.hpp:3: get() returns a task that keeps a view"),
    ("weft/http/a.hpp", HEADER + "[[nodiscard]] weft::task<result<std::vector<int>>> get(\n    int a,\n    std::span<const char> b);\n",
     "a.hpp:3: get() returns a task that keeps a view, `std::span<const char> b`"),
    ("weft/http/a.hpp", HEADER + "class client {\n public:\n  task<> get(const char* url);\n};\n", "a.hpp:5: get() returns a task that"),
    ("weft/http/a.hpp", HEADER + "struct client {\n  virtual task<> get(const options& with) = 0;\n};\n",
     "a.hpp:4: get() returns a task that keeps a reference to const"),
    ("weft/http/a.hpp", HEADER + "task<> give(std::string&& text);\n", "give() returns a task that keeps an rvalue reference"),
    ("weft/http/a.hpp", HEADER + "template <class T>\ngenerator<T> each(std::string_view of) {\n  co_yield of;\n}\n",
     "a.hpp:4: each() returns a generator that keeps a view"),
    ("weft/http/a.hpp", HEADER + "struct message {\n  int kind = 0;\n  std::string_view data{};\n};\ntask<> publish(message what);\n",
     "a.hpp:7: publish() returns a task that keeps a view, `message what`"),
    ("weft/http/a.hpp", HEADER + "borrowing_task<> write(std::string_view text);\n", "write() borrows `std::string_view text`"),
    ("weft/http/a.hpp", HEADER + "/// Copies `url` at the call.\ntask<> get(std::string_view url) {\n  co_return;\n}\n",
     "a.hpp:4: get() says that it takes its arguments at the call, but is a coroutine"),
    ("examples/a/a.cpp", "void f(scope& s, int a) {\n  s.spawn([a]() -> task<void> { co_await on(a); }());\n}\n",
     "a.cpp:2: a coroutine lambda with captures is called where it stands"),
    ("weft/http/a_test.cpp", "auto t = [&] { co_return; }();\n", "a_test.cpp:1: a coroutine lambda"),
    ("docs/a.md", "# A\n```cpp\nscope.spawn([&]() -> weft::task<void> { co_return; }());\n```\n", "a.md:3: a coroutine lambda"),
]


@pytest.mark.parametrize("path, text, finding", BAD, ids=[finding for _, _, finding in BAD])
def test_finds(tree, path, text, finding):
    status, output = check(tree({path: text}))
    assert status == 1 and finding in output and "1 findings" in output, output


def test_a_claim_is_checked_in_the_source_beside_it(tree):
    files = {"weft/http/a.hpp": HEADER + "/// Copies `url` at the call.\ntask<> get(std::string_view url);\n",
             "weft/http/a.cpp": "task<> get(std::string_view url) {\n  co_return;\n}\n"}
    assert check(tree(files))[0] == 1
    files["weft/http/a.cpp"] = "task<> get(std::string_view url) { return get_owned(std::string{url}); }\n"
    assert check(tree(files))[0] == 0


GOOD = [
    ("weft/http/a.hpp", HEADER + "task<int> get(owned_text url, std::string body, event_loop& loop, std::span<char> into);\n"),
    ("weft/http/a.hpp", HEADER + "borrowing_task<> write(std::string_view text WEFT_LIFETIME_BOUND, sink& to);\n"),
    ("weft/http/a.hpp", HEADER + "class client {\n  task<> get(std::string_view url);\n public:\n  void go();\n};\n"),
    ("weft/http/a.hpp", HEADER + "namespace detail {\ntask<> get(std::string_view url);\n}\n"),
    ("weft/http/a.hpp", HEADER + "// task<> get(std::string_view url);\nvoid on(task<> (*f)(int));\n"),
    ("weft/http/a.hpp", HEADER + "task<> get(const options&& with) = delete;\n"),
    ("weft/http/a.hpp", HEADER + "struct message {\n  std::string data;\n  std::string_view text() const;\n};\ntask<> publish(message what);\n"),
    ("weft/http/a.hpp", INTERNAL + "task<> get(std::string_view url);\n"),
    ("weft/http/a.cpp", "task<> get(std::string_view url) { co_return; }\n"),
    ("weft/http/a_test.cpp", "s.spawn([](int a) -> task<void> { co_return; }(1));\ns.spawn([&]() -> task<void> { co_return; });\n"
     "co_await shielded([&]() -> task<void> { co_return; }());\nint a = [&] { return 1; }();\n"),
]


@pytest.mark.parametrize("path, text", GOOD, ids=[text.split("\n")[2 if "pragma" in text else 0] for _, text in GOOD])
def test_permits(tree, path, text):
    status, output = check(tree({path: text}))
    assert status == 0, output
