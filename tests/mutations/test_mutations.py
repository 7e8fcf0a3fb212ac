"""Each mutation says what it breaks, and applies to the sources as they are. tools/mutants builds and runs them."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATCHES = sorted(Path(__file__).parent.glob("*.patch"))


def test_there_are_twelve_at_least():
    assert len(PATCHES) >= 12


@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: path.stem)
def test_a_mutation_applies(patch):
    what, header, *_ = patch.read_text().splitlines()
    assert what.endswith(".") and header.startswith("--- a/weft/"), "a sentence, then a change of the library"
    run = subprocess.run(["patch", "--dry-run", "--force", "--fuzz=0", "--strip=1", "--reject-file=-", "--directory", ROOT, "--input", patch],
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
