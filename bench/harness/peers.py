"""The peers: other people's servers in a form of our writing (bench/peers), built here when they
are to be measured."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.servers import Subject

PEERS = Path(__file__).resolve().parent.parent / "peers"
CPP_FLAGS = ("-std=c++23", "-O3", "-DNDEBUG", "-march=native", "-w")
BUILD_TIMEOUT = 600.0


class LeftOut(Exception):
    """A peer cannot be built here, and what would help."""


@dataclass(frozen=True)
class Peer:
    name: str
    kind: str  # "complete", or "bare" for one with a trivial parser
    parses: bool = True  # its reply is made from the request
    header: str = ""  # a C++ header without which it cannot be compiled
    package: str = ""  # where its library or program comes from
    flags: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    quick: bool = False  # takes part in a quick run
    protocol: str = "http"
    # Builds it in a way of its own: of itself, the compiler, and the folder to build into.
    make: Callable[[Peer, Sequence[str], Path], Subject] | None = None


ALL = (
    Peer("nginx", "complete", parses=False, package="nginx", quick=True),
    Peer("boost_beast", "complete", header="boost/json/src.hpp", package="libboost1.81-dev",
         quick=True),
    Peer("hyper", "complete", package="cargo and rustc, 1.85 or newer", quick=True),
    # This Asio forgets to include <exception>, which libc++ does not bring along.
    Peer("asio", "bare", header="asio.hpp", package="libasio-dev", flags=("-include", "exception")),
    Peer("libuv", "bare", header="uv.h", package="libuv1-dev", link=("-luv",)),
)  # fmt: skip


def compiler_command(path: str) -> list[str]:
    """The compiler that weft is built with, and its standard library."""
    return [path, "-stdlib=libc++"] if "clang" in Path(path).name else [path]


def run(command: Sequence[str], environment: dict[str, str] | None = None) -> None:
    """Raises LeftOut with what the command complained of first."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=BUILD_TIMEOUT,
            check=False,
            env={**os.environ, **(environment or {})},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LeftOut(str(error)) from error
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if "error" in line]
        first = said[0] if said else done.stderr[-200:]
        raise LeftOut(f"it does not build: {first.strip()}")


def _stamp(sources: Sequence[Path], command: Sequence[str]) -> str:
    digest = hashlib.sha256("\0".join(command).encode())
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()


def build_once(
    target: Path,
    sources: Sequence[Path],
    command: list[str],
    make: Callable[[], None],
    stamp: Path | None = None,
) -> None:
    """Calls `make` unless `target` was made of the same sources by the same command, which `stamp`
    tells (beside the target, unless it is given)."""
    stamp = stamp or target.with_suffix(".stamp")
    wanted = _stamp(sources, command)
    if target.exists() and stamp.exists() and stamp.read_text() == wanted:
        return
    stamp.parent.mkdir(parents=True, exist_ok=True)
    make()
    stamp.write_text(wanted)


def _build_cpp(peer: Peer, compiler: Sequence[str], into: Path) -> None:
    if shutil.which(compiler[0]) is None:
        raise LeftOut(f"{compiler[0]} is not there")
    test = f"#if !__has_include(<{peer.header}>)\n#error\n#endif\n"
    found = subprocess.run(
        [*compiler, "-x", "c++", "-E", "-"], input=test, capture_output=True, text=True, check=False
    )
    if found.returncode != 0:
        raise LeftOut(f"{peer.package} is not installed (tools/setup bench)")
    source = PEERS / peer.name / "server.cpp"
    output = ["-o", str(into / peer.name)]
    command = [*compiler, *CPP_FLAGS, *peer.flags, str(source), *output, *peer.link]
    parser = PEERS.parent / "ceilings/ping.hpp"
    build_once(into / peer.name, [source, parser], command, lambda: run(command))


def _build_hyper(peer: Peer, into: Path) -> None:
    if shutil.which("cargo") is None:
        raise LeftOut(f"cargo is not installed; it needs {peer.package}")
    crate = PEERS / peer.name
    target = into / "hyper-target"
    command = ["cargo", "build", "--release", "--locked", "--manifest-path", f"{crate}/Cargo.toml"]

    def make() -> None:
        environment = {"CARGO_TARGET_DIR": str(target), "RUSTFLAGS": "-C target-cpu=native"}
        run(command, environment)
        shutil.copy2(target / "release/ping", into / peer.name)

    sources = [crate / "Cargo.toml", crate / "Cargo.lock", crate / "src/main.rs"]
    build_once(into / peer.name, sources, command, make)


def _subject(peer: Peer, into: Path) -> Subject:
    command = f"'{into / peer.name}' {{port}}"
    if peer.name == "nginx":
        command = f"'{PEERS}/nginx/serve' {{port}} {{scratch}}"
    return Subject(peer.name, command, "http", kind=peer.kind, is_peer=True, parses=peer.parses)


def build(
    peers: Sequence[Peer], compiler: Sequence[str], into: Path, tell: Callable[[str], None]
) -> tuple[list[Subject], list[str]]:
    """The peers that are ready to run, and for each of the others why not and how to get it."""
    ready, left_out = [], []
    for peer in peers:
        tell(f"peer {peer.name}")
        try:
            if peer.make:
                ready.append(peer.make(peer, compiler, into))
                continue
            if peer.name == "nginx":
                if shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None:
                    raise LeftOut("it is not installed (tools/setup bench)")
            elif peer.header:
                _build_cpp(peer, compiler, into)
            else:
                _build_hyper(peer, into)
        except LeftOut as reason:
            left_out.append(f"{peer.name} is left out: {reason}")
        else:
            ready.append(_subject(peer, into))
    return ready, left_out
