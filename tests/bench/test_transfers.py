"""`bench/transfers/compare`: large files by examples/files, timed and told."""

import importlib.machinery
import importlib.util
import os
import sys

import pytest
from conftest import ROOT


@pytest.fixture(scope="module")
def transfers(build):
    loader = importlib.machinery.SourceFileLoader("transfers", str(ROOT / "bench/transfers/compare"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("transfers", loader))
    sys.modules[loader.name] = module  # where its dataclasses look
    loader.exec_module(module)
    module.FILES = build / "examples/files"
    return module


@pytest.fixture(scope="module")
def scratch(transfers, tmp_path_factory):
    folder = tmp_path_factory.mktemp("transfers")
    transfers.make_scratch(folder)
    return folder


@pytest.mark.parametrize("kind", ["download", "upload", "TLS download", "TLS upload"])
def test_a_run_moves_whole_files(transfers, scratch, kind):
    content = os.urandom(transfers.SIZE)
    run = transfers.timed(transfers.weft(scratch, kind.startswith("TLS")), kind, content, seconds=0.1)
    assert run.megabytes_per_s > 0
    assert run.core_s_per_gb >= 0
    if kind.endswith("upload"):
        assert (scratch / "files/stored").read_bytes() == content


def test_a_row_has_medians_and_ratios(transfers):
    pairs = [(transfers.Run(1100.0 * n, 0.5), transfers.Run(1000.0 * n, 1.0)) for n in (1, 2, 3)]
    assert transfers.line("upload", pairs) == (
        "| 10 MB upload | 2,200 | 2,000 | 1.10 (1.10–1.10) | 0.500 | 1.000 | 0.50 (0.50–0.50) |")
