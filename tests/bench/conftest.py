import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))


@pytest.fixture(scope="session")
def build():
    return Path(os.environ.get("WEFT_BUILD_DIR", ROOT / "build/release"))


def _built(path):
    if not path.exists():
        pytest.fail(f"{path} is not built: `make build` makes it")
    return str(path)


@pytest.fixture(scope="session")
def weft_bench(build):
    return _built(build / "apps/weft-bench/weft-bench")


@pytest.fixture(scope="session", params=["epoll", "io_uring"])
def ceiling(build, request):
    return _built(build / f"bench/ceilings/{request.param}_server")
