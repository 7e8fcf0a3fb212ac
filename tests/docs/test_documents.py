"""The documents tell the truth: their code compiles, and what they name exists."""

import fnmatch
import re

import pytest
from documents import BLOCK, DOCUMENTS, ROOT, blocks_of, cpp_blocks, words

BLOCKS = cpp_blocks()
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")
CUT_LINK = re.compile(r"\[[^\]\n]*\]\([^)\n]*$", re.MULTILINE)
PATH = re.compile(r"`((?:weft|apps|examples|bench|tests|tools|docs|cmake)/[\w./-]*\w)`")
TEST = re.compile(r"\bTEST(?:_P|_F)?\(\s*(\w+),\s*(\w+)\)")
PYTHON_TEST = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)
# In a column of tests: `suite.case`, `suite.*`, `test_file.py`, `::test_name`, and a target that ends in _fuzz.
LIKE_A_TEST = re.compile(r"^[\w/]+\.(?:\w+|\*)$|::|_fuzz$|^test_\w+$|^tests/")
PARAMETER_SET = re.compile(r"^\w+/")  # as in sqlite/suite.case, where both engines run one suite
VERB = re.compile(r"\bmake ([a-z][a-z0-9-]*)")


@pytest.fixture(scope="module")
def faults(compiler):
    return compiler.faults_of_all({block.place: block.source() for block in BLOCKS})


@pytest.mark.parametrize("place", [block.place for block in BLOCKS])
def test_code_compiles(faults, place):
    assert not faults[place], faults[place]


def test_there_is_code_to_check_and_wrong_code_is_found(compiler):
    assert len(BLOCKS) >= 4
    assert "http.pust" in compiler.faults(BLOCKS[0].source().replace("http.post", "http.pust"))


def readme_code():
    return [words(block.text) for block in blocks_of(ROOT / "README.md") if block.language == "cpp"]


def test_the_readme_tour_is_the_tour():
    tour = (ROOT / "examples/tour/tour.cpp").read_text()
    assert words(tour[tour.index("#include"):]) in readme_code()


def test_the_readme_echo_is_the_echo():
    echo = (ROOT / "examples/echo/echo.cpp").read_text()
    shown = [code for code in readme_code() if code.startswith("weft::task<void> echo(")]
    assert len(shown) == 1
    assert shown[0] in words(echo)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_it_names_exists(path):
    text = path.read_text()
    prose = BLOCK.sub("", text)
    assert not CUT_LINK.findall(prose), "a link without its end"
    for link in LINK.findall(prose):
        if "://" not in link:
            assert (path.parent / link).exists(), f"link to {link}"
    for named in PATH.findall(prose):
        assert (ROOT / named).exists() or list(ROOT.glob(f"{named}.*")), f"`{named}`"
    verbs = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    in_code = "\n".join([*re.findall(r"`([^`\n]+)`", prose), *(block.text for block in blocks_of(path))])
    assert set(VERB.findall(in_code)) <= verbs


def named_tests(text):
    """Whatever stands in code in the last column of tables that end with a column `test`."""
    in_table = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if cells and cells[-1] == "test":
            in_table = True
        in_table = in_table and bool(cells)
        if in_table:
            yield from re.findall(r"`([^`]+)`", cells[-1])


def existing_tests():
    """The cases of GoogleTest as `suite.case`, those of pytest as `test_file.py::test_name`, files as `test_file.py`."""
    for folder in ("weft", "apps", "tests"):
        for path in (ROOT / folder).rglob("*_test.[ch]pp"):
            yield from (".".join(found) for found in TEST.findall(path.read_text()))
    for path in (ROOT / "tests").rglob("test_*.py"):
        yield path.name
        yield from (f"{path.name}::{name}" for name in PYTHON_TEST.findall(path.read_text()))
    yield from (path.stem for path in (ROOT / "weft").rglob("*_fuzz.cpp"))


def is_among(named, there):
    """Whether a test is there: by its name, with `*` for any part of it, `::name` in any file, or as a file of the repository."""
    if named.startswith(("tests/", "weft/")) and "::" not in named:
        return (ROOT / named).exists()
    name = PARAMETER_SET.sub("", named.removeprefix("tests/system/"))
    return bool(fnmatch.filter(there, f"*{name}" if name.startswith("::") else name))


def test_tests_that_are_named_exist():
    there = set(existing_tests())
    named = [name for path in DOCUMENTS for name in named_tests(path.read_text()) if LIKE_A_TEST.search(name)]
    assert named
    assert not [name for name in named if not is_among(name, there)]
