"""`make bench-matrix`: eight variants, and a table of medians."""

import importlib.machinery
import importlib.util

import pytest
from conftest import ROOT


@pytest.fixture(scope="module")
def matrix():
    loader = importlib.machinery.SourceFileLoader("matrix", str(ROOT / "bench/matrix"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("matrix", loader))
    loader.exec_module(module)
    return module


def test_eight_variants_have_names_of_their_own(matrix):
    names = {matrix.title(variant) for variant in matrix.VARIANTS}
    assert len(names) == 8
    assert "std containers, std alloc" in names
    assert "flat containers, mimalloc, no hardening" in names


def test_a_cell_is_the_median_time_and_the_most_memory(matrix):
    phases = [{"seconds": seconds, "peak_rss_mb": memory} for seconds, memory in ((0.5, 80), (0.1, 82.4), (0.2, 81))]
    assert matrix.cell(phases) == "200,000 µs, 82 MB"


def test_a_table_has_a_row_for_each_variant(matrix):
    phases = [{"seconds": 1.0, "peak_rss_mb": 2.0}]
    seen = {("a", workload, 8): phases for workload in matrix.WORKLOADS}
    shown = matrix.table(seen, ["a"], 8)
    assert shown.startswith("8 threads")
    assert shown.splitlines()[-1] == "| a |" + " 1,000,000 µs, 2 MB |" * 4
