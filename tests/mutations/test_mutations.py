"""Each mutation says what it breaks and which test sees that, and applies to the sources as they are.

tools/mutants builds and runs them: `make mutants`.
"""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATCHES = sorted(Path(__file__).parent.glob("*.patch"))


def test_there_are_twelve_at_least():
    assert len(PATCHES) >= 12


def check_test(line):
    """The test program of a layer, and one of its tests."""
    layer, suite, test = re.fullmatch(r"Seen by weft_(\w+)_tests (\w+)\.(\w+)", line).groups()
    macro = re.compile(rf"\bTEST(?:_F|_P)?\({suite}, {test}\)")
    assert any(macro.search(path.read_text()) for path in (ROOT / "weft" / layer).rglob("*_test.cpp")), line


@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: path.stem)
def test_a_mutation_applies(patch):
    what, header, third, *_ = patch.read_text().splitlines()
    if header.startswith("Seen by "):
        check_test(header)
        header = third
    assert what.endswith(".") and header.startswith("--- a/weft/"), "a sentence, then a change of the library"
    run = subprocess.run(["patch", "--dry-run", "--force", "--fuzz=0", "--strip=1", "--reject-file=-", "--directory", ROOT, "--input", patch],
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
