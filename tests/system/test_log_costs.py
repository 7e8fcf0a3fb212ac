"""What a line of a deferred log costs who writes it: instructions, counted."""

import subprocess

from tracing import instructions_in, need

LINES = 5 * 2**14  # what bench_runtime writes
INSTRUCTIONS_MAX = 150  # a line with a number and a text; the clock is the kernel's here


def test_instructions_of_a_deferred_line(bench_runtime, tmp_path):
    need("valgrind")
    profile = tmp_path / "profile"
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}",
                    "--toggle-collect=*leave_lines*", bench_runtime, "deferred_log"],
                   check=True, capture_output=True)
    each = instructions_in(profile) / LINES
    print(f"{each:.0f} instructions a line")
    assert 20 < each <= INSTRUCTIONS_MAX
