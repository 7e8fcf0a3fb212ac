"""bench/ichor/compare reads what both sides print, and divides the right way round."""

import importlib.machinery
import importlib.util
import json
import sys

import pytest
from conftest import ROOT


@pytest.fixture(scope="module")
def compare():
    loader = importlib.machinery.SourceFileLoader("ichor_compare", str(ROOT / "bench/ichor/compare"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("ichor_compare", loader))
    sys.modules["ichor_compare"] = module  # dataclasses look there
    loader.exec_module(module)
    return module


def test_reads_what_ichor_prints(compare):
    output = ("../bin/ichor_start_benchmark single threaded advanced injection ran for 3,921,122 µs with 41,680,896 peak "
              "memory usage\n../bin/ichor_event_benchmark multi threaded ran for 770000 µs with 287000000 peak memory "
              "usage 6,493,506 events/s\n")
    seconds, megabytes = compare.ichor_phases(output)
    assert seconds == {"single": 3.921122, "multi": 0.77}
    assert megabytes == {"single": 41.680896, "multi": 287.0}
    with pytest.raises(ValueError, match="no figures"):
        compare.ichor_phases("Segmentation fault")


def test_reads_what_weft_prints(compare):
    output = "\n".join(json.dumps({"threads": threads, "seconds": 0.1 * threads, "peak_rss_mb": 2.0}) for threads in (1, 8))
    assert compare.weft_phases(output) == ({"single": 0.1, "multi": 0.8}, {"single": 2.0, "multi": 2.0})


def test_a_ratio_is_the_median_of_pairs(compare):
    assert compare.ratio([(10.0, 2.0), (9.0, 3.0), (8.0, 2.0)]) == "4.0 (3.0–5.0)"


def test_a_line_a_phase(compare):
    theirs = compare.Run({"single": 1.0, "multi": 4.0}, {"single": 40.0, "multi": 300.0}, 9.0)
    ours = compare.Run({"single": 0.25, "multi": 0.5}, {"single": 2.0, "multi": 3.0}, 3.0)
    single, multi = compare.lines(compare.ROWS[0], [(theirs, ours)] * 3)
    assert single == "| coroutine | 1 | 1,000.0 | 250.0 | 4.0 (4.0–4.0) | – | 40 | 2 |"
    assert multi == "| coroutine | 8 | 4,000.0 | 500.0 | 8.0 (8.0–8.0) | 3.0 (3.0–3.0) | 300 | 3 |"
