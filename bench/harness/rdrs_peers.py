"""Other people's HTTP servers and JSON libraries that do what `weft-bench rdrs` does, in programs of
our writing (bench/peers/rdrs_go, rdrs_drogon)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from harness.peers import PEERS, LeftOut, Peer, build_once, run
from harness.rdrs import Asks
from harness.rdrs_workloads import PROTOCOL, rdrs_folder
from harness.servers import Subject

REPOSITORY = PEERS.parent.parent
SHARED = REPOSITORY / "apps/weft-bench"  # rdrs_*.hpp
DROGON_ROOT = REPOSITORY / ".deps/drogon/root"
_CPP = ("g++", "-std=c++23", "-O3", "-DNDEBUG", "-march=native", "-w")
_LINK = ("-ldrogon", "-ltrantor", "-ljsoncpp", "-lsimdjson", "-lyyjson")


def _subject(peer: Peer, command: str, into: Path, without: tuple[str, ...] = ()) -> Subject:
    asks = Asks(rdrs_folder(into)).of_server(without)
    return Subject(peer.name, command, PROTOCOL, peer.kind, is_peer=True, asks=asks)


def _make_go(peer: Peer, _: Sequence[str], into: Path) -> Subject:
    if shutil.which("go") is None:
        raise LeftOut(f"go is not installed; it needs {peer.package}")
    module, target = PEERS / "rdrs_go", into / peer.name
    flags = ["-trimpath", "-ldflags=-s -w", "-buildvcs=false"]
    command = ["go", "build", "-C", str(module), *flags, "-o", str(target), f"./{peer.name}"]
    build_once(target, _sources(module), command, lambda: run(command))
    # encoding/json has no views: it cannot look at strings without making them.
    return _subject(peer, f"'{target}' {{port}}", into, () if "simdjson" in peer.name else ("walk",))


def _sources(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _make_drogon(peer: Peer, _: Sequence[str], into: Path) -> Subject:
    """Compiled in a root of Debian 13, and run by that one's loader and libraries."""
    if not (DROGON_ROOT.parent / "recipe").exists():
        raise LeftOut("a Debian 13 with Drogon in it is not there (tools/setup bench, as root)")
    library = peer.name.removeprefix("drogon_")
    inside = Path("/peers")
    place = DROGON_ROOT / inside.relative_to("/")
    target = place / peer.name
    sources = [*_sources(PEERS / "rdrs_drogon"), *sorted(SHARED.glob("rdrs_*.hpp"))]
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    command = [
        *(*as_root, "chroot", str(DROGON_ROOT), *_CPP, "-I/usr/include/jsoncpp", f"-I{inside}"),
        *(str(inside / f"{library}.cpp"), "-o", str(inside / peer.name), *_LINK),
    ]

    def make() -> None:
        run([*as_root, "mkdir", "-p", str(place)])
        run([*as_root, "cp", *map(str, sources), str(place)])
        run(command)

    build_once(target, sources, command, make, stamp=into / f"{peer.name}.stamp")
    libraries = DROGON_ROOT / "usr/lib/x86_64-linux-gnu"
    loader = f"'{DROGON_ROOT / 'lib64/ld-linux-x86-64.so.2'}' --library-path '{libraries}'"
    return _subject(peer, f"{loader} '{target}' {{port}}", into)


_GO = "Go 1.24 or newer, and its module proxy"
ALL = (
    Peer("go_fasthttp", "complete", package=_GO, protocol=PROTOCOL, make=_make_go),
    Peer("go_gin", "complete", package=_GO, protocol=PROTOCOL, make=_make_go),
    Peer("go_gin_simdjson", "complete", package=_GO, protocol=PROTOCOL, make=_make_go),
    Peer("drogon_simdjson", "complete", protocol=PROTOCOL, make=_make_drogon, quick=True),
    Peer("drogon_glaze", "complete", protocol=PROTOCOL, make=_make_drogon, quick=True),
    Peer("drogon_yyjson", "complete", protocol=PROTOCOL, make=_make_drogon),
)
