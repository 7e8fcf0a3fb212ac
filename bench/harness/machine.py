"""The machine: which cores are used, and what a reader must know of it."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cores:
    server: int
    generator: int

    @property
    def shared(self) -> bool:
        return self.server == self.generator


def choose_cores(allowed: set[int]) -> Cores:
    """The first two; with one core both share it."""
    first, *rest = sorted(allowed)
    return Cores(first, rest[0] if rest else first)


def _output(*command: str) -> str | None:
    """What a command prints, or None when it cannot be run or fails."""
    if not shutil.which(command[0]):
        return None
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def describe_commit(repository: Path) -> str:
    git = ("git", "-C", str(repository))
    commit = _output(*git, "log", "-1", "--format=%h of %cs")
    if commit is None:
        return "none"
    changed = _output(*git, "status", "--porcelain")
    return commit.strip() + (", with local changes" if changed else "")


def parse_cpu_model(cpuinfo: str) -> str:
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.machine()


def parse_compiler(cmake_cache: str) -> str | None:
    """The C++ compiler's path from CMakeCache.txt."""
    for line in cmake_cache.splitlines():
        if line.startswith("CMAKE_CXX_COMPILER:"):
            return line.partition("=")[2]
    return None


def compiler_of(build: Path) -> str | None:
    cache = build / "CMakeCache.txt"
    return parse_compiler(cache.read_text()) if cache.exists() else None


def parse_memory(meminfo: str) -> str:
    for line in meminfo.splitlines():
        if line.startswith("MemTotal:"):
            return f"{int(line.split()[1]) / 1024 / 1024:.0f} GiB"
    return "unknown"


def _first_line(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return "not told"


def facts(repository: Path, build: Path, cores: Cores) -> dict[str, str]:
    compiler = compiler_of(build)
    version = _output(compiler, "--version") if compiler else None
    return {
        "date": time.strftime("%Y-%m-%d %H:%M %Z"),
        "commit": describe_commit(repository),
        "processor": parse_cpu_model(Path("/proc/cpuinfo").read_text()),
        "cores": f"{os.cpu_count()}; server on {cores.server}, generator on {cores.generator}",
        "memory": parse_memory(Path("/proc/meminfo").read_text()),
        "kernel": f"{platform.system()} {platform.release()}",
        "tcp": _first_line("/proc/sys/net/ipv4/tcp_congestion_control"),
        "governor": _first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "compiler": version.splitlines()[0] if version else "unknown",
    }
