"""Every header compiles by itself, and twice: what it needs, it includes. Its source includes it first.

That of the sources is checked of all headers. Compiled are, of each folder, the first; WEFT_HEADERS=all compiles each, which takes five
minutes of a processor, and is part of `make test-long`.
"""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
HEADERS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "weft").rglob("*.hpp"))
WITH_SOURCE = [header for header in HEADERS if (ROOT / header).with_suffix(".cpp").exists()]
INCLUDE = re.compile(r"^#include <(.+)>$", re.MULTILINE)


FIRST = list({str(Path(header).parent): header for header in reversed(HEADERS)}.values())
COMPILED = HEADERS if os.environ.get("WEFT_HEADERS") == "all" else FIRST


@pytest.fixture(scope="module")
def faults(compiler):
    return compiler.faults_of_all({header: f"#include <{header}>\n#include <{header}>\n"
                                   for header in COMPILED})


@pytest.mark.parametrize("header", COMPILED)
def test_compiles_alone(faults, header):
    assert not faults[header], faults[header]


@pytest.mark.parametrize("header", WITH_SOURCE)
def test_is_what_its_source_includes_first(header):
    source = (ROOT / header).with_suffix(".cpp").read_text()
    assert INCLUDE.search(source)[1] == header
    assert "\n#pragma once\n" in (ROOT / header).read_text()


def test_a_header_that_lacks_an_include_is_found(compiler):
    assert "vector" in compiler.faults("std::vector<int> numbers;\n")
