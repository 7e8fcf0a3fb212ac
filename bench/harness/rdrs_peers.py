"""Other people's HTTP servers and JSON libraries that do what `weft-bench rdrs` does, in programs of
our writing (bench/peers/rdrs_go, rdrs_drogon)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.asks import Ask
from harness.building import PEERS, LeftOut, build_once, go, run, sources_of
from harness.peers import Peer
from harness.rdrs import Asks
from harness.rdrs_workloads import PROTOCOL, rdrs_folder

REPOSITORY = PEERS.parent.parent
SHARED = REPOSITORY / "apps/weft-bench"  # rdrs_*.hpp
DROGON_ROOT = REPOSITORY / ".deps/drogon/root"
_CPP = ("g++", "-std=c++23", "-O3", "-DNDEBUG", "-march=native", "-w")
_LINK = ("-ldrogon", "-ltrantor", "-ljsoncpp", "-lsimdjson", "-lyyjson")


def _asks(*without: str) -> Callable[[Path], Mapping[str, Ask]]:
    return lambda into: Asks(rdrs_folder(into)).of_server(without)


def _drogon(name: str, _: Sequence[str], into: Path) -> str:
    """Compiled in a root of Debian 13, and run by that one's loader and libraries."""
    if not (DROGON_ROOT.parent / "recipe").exists():
        raise LeftOut("a Debian 13 with Drogon in it is not there (tools/setup bench, as root)")
    library = name.removeprefix("drogon_")
    inside = Path("/peers")
    place = DROGON_ROOT / inside.relative_to("/")
    target = place / name
    sources = [*sources_of(PEERS / "rdrs_drogon"), *sorted(SHARED.glob("rdrs_*.hpp"))]
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    command = [
        *(*as_root, "chroot", str(DROGON_ROOT), *_CPP, "-I/usr/include/jsoncpp", f"-I{inside}"),
        *(str(inside / f"{library}.cpp"), "-o", str(inside / name), *_LINK),
    ]

    def make() -> None:
        run([*as_root, "mkdir", "-p", str(place)])
        run([*as_root, "cp", *map(str, sources), str(place)])
        run(command)

    build_once(target, sources, command, make, stamp=into / f"{name}.stamp")
    libraries = DROGON_ROOT / "usr/lib/x86_64-linux-gnu"
    loader = f"'{DROGON_ROOT / 'lib64/ld-linux-x86-64.so.2'}' --library-path '{libraries}'"
    return f"{loader} '{target}' {{port}}"


def _peer(name: str, of_go: bool = False, leads: bool = False, without: Sequence[str] = ()) -> Peer:
    make = go("rdrs_go", name) if of_go else _drogon
    return Peer(name, "complete", make, PROTOCOL, leads=leads, asks=_asks(*without))


# encoding/json has no views: it cannot look at strings without making them.
_NO_VIEWS = ("walk",)
ALL = (
    _peer("go_fasthttp", of_go=True, without=_NO_VIEWS),
    _peer("go_gin", of_go=True, without=_NO_VIEWS),
    _peer("go_gin_simdjson", of_go=True),
    _peer("drogon_simdjson", leads=True),
    _peer("drogon_glaze", leads=True),
    _peer("drogon_yyjson"),
    _peer("drogon_jsoncpp"),
)
