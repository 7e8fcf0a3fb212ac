"""bench/slow_clients: pairs are divided the right way round, and what failed is not hidden."""

import importlib.machinery
import importlib.util
import sys

import pytest
from conftest import ROOT


@pytest.fixture(scope="module")
def slow_clients():
    loader = importlib.machinery.SourceFileLoader("slow_clients", str(ROOT / "bench/slow_clients"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("slow_clients", loader))
    sys.modules["slow_clients"] = module  # dataclasses look there
    loader.exec_module(module)
    return module


def test_a_row_is_medians_and_ratios_of_pairs(slow_clients):
    without = [slow_clients.Run(p50, 4_000.0, 50_000.0, 0) for p50 in (1_000.0, 2_000.0, 4_000.0)]
    beside = [slow_clients.Run(p50, 6_000.0, 40_000.0, failed, 2_800.0) for p50, failed in
              ((1_500.0, 0), (3_000.0, 2), (6_000.0, 1))]
    assert slow_clients.row("weftd", without, beside) == (
        "| weftd | 2.00 | 3.00 | 1.50 (1.50–1.50) | 4.00 | 6.00 | 1.50 (1.50–1.50) "
        "| 50,000.00 | 40,000.00 | 0.80 (0.80–0.80) | 2,800 | 3 |")


def test_the_slow_ones_are_within_the_raised_limits(slow_clients):
    served = slow_clients.subject(ROOT / "build/release", "epoll")
    assert "--http.server.limits.header_timeout=100s" in served.arguments(1)
    assert "--backend" in served.arguments(1) and "epoll" in served.arguments(1)
