"""What a service costs its container, counted: no more among many than among few."""

import os
import subprocess

import pytest
from tracing import instructions_in, need

FEW, MORE, MANY = 500, 1_000, 20_000
GROWTH_MAX = 1.1
INSTRUCTIONS_MAX = 3_000  # a service, made, started, stopped and ended


def instructions(tests, graph, services, folder):
    """Of one life of a container with so many services."""
    need("valgrind")
    profile = folder / f"profile.{services}"
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}",
         tests, f"--gtest_filter=container_growth.{graph}"],
        env={**os.environ, "WEFT_SERVICES": str(services)}, capture_output=True, text=True, timeout=100, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return instructions_in(profile)


@pytest.mark.parametrize("graph", ["fan_in", "chain", "random"])
def test_a_service_costs_the_same_among_many(service_tests, graph, tmp_path):
    few, more, many = (instructions(service_tests, graph, count, tmp_path) for count in (FEW, MORE, MANY))
    among_few = (more - few) / (MORE - FEW)
    among_many = (many - more) / (MANY - MORE)
    assert among_many <= GROWTH_MAX * among_few, f"{among_few:.0f} each, then {among_many:.0f}"
    assert among_many <= INSTRUCTIONS_MAX
