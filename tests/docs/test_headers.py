"""Every header compiles by itself, and twice: what it needs, it includes.

Who has a source is compiled by itself in the build: the source includes it before anything else, and the
release build precompiles nothing. The others are compiled here."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
HEADERS = sorted(path.relative_to(ROOT) for path in (ROOT / "weft").rglob("*.hpp"))
WITHOUT_SOURCE = [str(path) for path in HEADERS if not (ROOT / path).with_suffix(".cpp").exists()]
WITH_SOURCE = [str(path) for path in HEADERS if str(path) not in WITHOUT_SOURCE]
INCLUDE = re.compile(r"^#include <(.+)>$", re.MULTILINE)


@pytest.fixture(scope="module")
def faults(compiler):
    return compiler.faults_of_all({header: f"#include <{header}>\n#include <{header}>\n"
                                   for header in WITHOUT_SOURCE})


@pytest.mark.parametrize("header", WITHOUT_SOURCE)
def test_compiles_alone(faults, header):
    assert not faults[header], faults[header]


@pytest.mark.parametrize("header", WITH_SOURCE)
def test_is_what_its_source_includes_first(header):
    source = (ROOT / header).with_suffix(".cpp").read_text()
    assert INCLUDE.search(source)[1] == header
    assert "\n#pragma once\n" in (ROOT / header).read_text()


def test_a_header_that_lacks_an_include_is_found(compiler):
    assert "vector" in compiler.faults("std::vector<int> numbers;\n")
