"""How peers are built: once, and again when they changed. What is made here are makers: of a peer's name, the
compiler of weft's own build and the folder to build into they give the command that runs it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.tls import WEFTD_TLS

PEERS = Path(__file__).resolve().parent.parent / "peers"
CPP_FLAGS = ("-std=c++23", "-O3", "-DNDEBUG", "-march=native", "-w")
GO_FLAGS = ("-trimpath", "-ldflags=-s -w", "-buildvcs=false")
BUILD_TIMEOUT = 600.0

Make = Callable[[str, Sequence[str], Path], str]


class LeftOut(Exception):
    """A peer cannot be built here, and what would help."""


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


def need(program: str, of: str) -> None:
    if shutil.which(program) is None:
        raise LeftOut(f"{program} is not installed; it needs {of}")


def sources_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


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


def compiler_command(path: str) -> list[str]:
    """The compiler that weft is built with, and its standard library."""
    return [path, "-stdlib=libc++"] if "clang" in Path(path).name else [path]


def cpp(
    source: str, header: str, package: str, flags: Sequence[str] = (), link: Sequence[str] = ()
) -> Make:
    """A program of one file on a library that `package` brings, known by its `header`."""

    def make(name: str, compiler: Sequence[str], into: Path) -> str:
        if shutil.which(compiler[0]) is None:
            raise LeftOut(f"{compiler[0]} is not there")
        test = f"#if !__has_include(<{header}>)\n#error\n#endif\n"
        looks = [*compiler, "-x", "c++", "-E", "-"]
        if subprocess.run(looks, input=test, capture_output=True, text=True).returncode != 0:
            raise LeftOut(f"{package} is not installed (tools/setup bench)")
        target = into / name
        read = [PEERS / source, PEERS.parent / "ceilings/ping.hpp"]
        command = [*compiler, *CPP_FLAGS, *flags, str(read[0]), "-o", str(target), *link]
        build_once(target, read, command, lambda: run(command))
        return f"'{target}' {{port}}"

    return make


def rust(folder: str, package: str, program: str = "", arguments: str = "") -> Make:
    """A program of a package in a folder of the workspace peers/rust; it is named as the package, or `program`. Its `arguments` come
    behind the port."""
    binary = program or package

    def make(name: str, _: Sequence[str], into: Path) -> str:
        need("cargo", "cargo and rustc, 1.85 or newer")
        workspace, built = PEERS / "rust", into / "rust-target"
        manifest = str(workspace / "Cargo.toml")
        which = ["--manifest-path", manifest, "--package", package, "--bin", binary]
        command = ["cargo", "build", "--release", "--locked", *which]

        def build() -> None:
            run(command, {"CARGO_TARGET_DIR": str(built), "RUSTFLAGS": "-C target-cpu=native"})
            shutil.copy2(built / "release" / binary, into / name)

        shared = [workspace / "Cargo.toml", workspace / "Cargo.lock"]
        build_once(into / name, [*shared, *sources_of(workspace / folder)], command, build)
        return f"'{into / name}' {{port}} {arguments}".rstrip()

    return make


def go(module: str, package: str, tags: str = "", arguments: str = "") -> Make:
    """A package of a Go module in a folder of peers. Its `arguments` come behind the port."""

    def make(name: str, _: Sequence[str], into: Path) -> str:
        need("go", "Go 1.25 or newer, and its module proxy")
        target = into / name
        where = ["-C", str(PEERS / module)]
        tagged = ["-tags", tags] if tags else []
        command = ["go", "build", *where, *GO_FLAGS, *tagged, "-o", str(target), f"./{package}"]
        build_once(target, sources_of(PEERS / module), command, lambda: run(command))
        return f"'{target}' {{port}} {arguments}".rstrip()

    return make


def node(script: str) -> Make:
    """A script of peers/node, with the packages of its lock file."""

    def make(_: str, __: Sequence[str], into: Path) -> str:
        need("node", "nodejs")
        need("npm", "npm")
        folder = into / "node"
        sources = sources_of(PEERS / "node")
        command = ["npm", "ci", "--prefix", str(folder), "--ignore-scripts", "--no-audit", "--no-fund"]

        def build() -> None:
            folder.mkdir(parents=True, exist_ok=True)
            for each in sources:
                shutil.copy2(each, folder)
            run(command)

        build_once(folder / script, sources, command, build, stamp=into / "node.stamp")
        return f"env NODE_ENV=production node '{folder / script}' {{port}}"

    return make


def installed(program: str, arguments: str = "") -> Make:
    """A server of the system's, which the script `serve` of its folder runs with our configuration."""

    def make(_: str, __: Sequence[str], ___: Path) -> str:
        if shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None:
            raise LeftOut("it is not installed (tools/setup bench)")
        return f"'{PEERS / program / 'serve'}' {{port}} {{scratch}} {arguments}".rstrip()

    return make


def weftd_on_aws_lc(backend: str) -> Make:
    """weftd with the TLS of AWS-LC instead of OpenSSL's. Whether it is up to date ninja knows best."""

    def make(_: str, __: Sequence[str], into: Path) -> str:
        need("cargo", "cargo, by which AWS-LC's sources come")
        weft, build = PEERS.parent.parent, into / "aws-lc"
        run([str(weft / "tools/aws_lc/build")])
        run(["cmake", "--preset", "aws-lc", "-S", str(weft), "-B", str(build), "-DWEFT_BUILD_TESTS=OFF"])
        run(["cmake", "--build", str(build), "--target", "weftd"])
        return f"'{build / 'apps/weftd/weftd'}' --listen 127.0.0.1:{{port}} --threads 1 --backend {backend} {WEFTD_TLS}"

    return make
