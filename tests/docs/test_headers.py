"""Every header compiles by itself, and twice: what it needs, it includes."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
HEADERS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "weft").rglob("*.hpp"))


@pytest.fixture(scope="module")
def faults(compiler):
    return compiler.faults_of_all({header: f"#include <{header}>\n#include <{header}>\n" for header in HEADERS})


@pytest.mark.parametrize("header", HEADERS)
def test_compiles_alone(faults, header):
    assert not faults[header], faults[header]


def test_a_header_that_lacks_an_include_is_found(compiler):
    assert "vector" in compiler.faults("std::vector<int> numbers;\n")
