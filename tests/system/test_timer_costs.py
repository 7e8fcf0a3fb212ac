"""What a timer costs among few others and among many: instructions, counted."""

import subprocess

from tracing import instructions_in, need

FEW, MANY = 1_000, 1_000_000
GROWTH_MAX = 1.1


def instructions_to_arm_and_cancel(bench_runtime, live, profile):
    """Of one timer, while so many are armed."""
    need("valgrind")
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}",
                    "--toggle-collect=*arm_and_cancel_each*",
                    bench_runtime, "timers", str(live)],
                   check=True, capture_output=True)
    return instructions_in(profile) / live


def test_arming_and_cancelling_cost_the_same_among_a_million(bench_runtime, tmp_path):
    few = instructions_to_arm_and_cancel(bench_runtime, FEW, tmp_path / "few")
    many = instructions_to_arm_and_cancel(bench_runtime, MANY, tmp_path / "many")
    print(f"a timer armed and cancelled: {few:.0f} instructions among {FEW:,}, {many:.0f} among {MANY:,}")
    assert few > 10, "nothing was counted"
    assert many <= few * GROWTH_MAX
