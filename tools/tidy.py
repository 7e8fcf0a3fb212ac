#!/usr/bin/env python3
"""clang-tidy over the sources of the release build, in parallel, skipping what it already found clean.

    tools/tidy.py                    all but tests
    tools/tidy.py weft/net           those whose path contains `weft/net`

A source is skipped when nothing that could change the verdict has changed, of itself and of those looked at with
it: its text, every header of ours that it reaches, its compile command, .clang-tidy and the tool's version. What was
found clean is remembered in ~/.cache/weft/tidy for all checkouts. Tests are compiled with the same warnings, and left
out here to keep the time bounded.

Nearly all of that time goes into the standard library's headers, so sources of one folder that are compiled alike
are looked at together, without the compiler's own warnings, which the build has. Where anything is found, or two of
them have the same names, they are told apart.
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "tidy"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weft" / "tidy"
REMEMBERED_S = 90 * 24 * 3600
TOGETHER = ROOT / "build" / "tidy-together"
TOGETHER_MOST = 10
TIDY = os.environ.get("CLANG_TIDY", "clang-tidy-19")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
NOISE = re.compile(r"^\d+ warnings? (generated|treated)|^Suppressed |^Use -header-filter|^$")


def reachable(source):
    """The source and every header of the repository it includes, directly or not."""
    found, waiting = set(), [source]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        for name in INCLUDE.findall(file.read_text(errors="replace")):
            for candidate in (ROOT / name, file.parent / name):
                if candidate.is_file():
                    waiting.append(candidate.resolve())
    return sorted(found)


def key_of(source, command, tool):
    digest = hashlib.sha256(tool + command.replace(str(ROOT), "").encode())
    for file in reachable(source):
        digest.update(str(file.relative_to(ROOT)).encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def flags_of(source, command):
    """What the compiler is given, but for the names of its input and output."""
    words = shlex.split(command)
    compiler = next(i for i, word in enumerate(words) if "g++" in Path(word).name or "clang++" in Path(word).name)
    words = words[compiler + 1:]
    output = words.index("-o")
    return tuple(word for word in words[:output] + words[output + 2:] if word not in ("-c", str(source)))


def groups_of(work):
    """Sources that can be looked at together: lists of them, and their flags."""
    alike = {}
    for source, (_, flags) in sorted(work.items()):
        alike.setdefault((source.parent, flags), []).append(source)
    for (_, flags), sources in alike.items():
        for begin in range(0, len(sources), TOGETHER_MOST):
            yield sources[begin:begin + TOGETHER_MOST], flags


def run_tidy(sources, flags):
    together = TOGETHER / f"{hashlib.sha256(str(sources).encode()).hexdigest()[:16]}.cpp"
    together.write_text("".join(f'#include "{source}"\n' for source in sources))
    run = subprocess.run([TIDY, "--quiet", "--checks=-bugprone-suspicious-include", str(together), "--", *flags, "-w"],
                         cwd=ROOT, capture_output=True, text=True)
    complaints = [line for line in run.stderr.splitlines() if not NOISE.match(line)]
    return run.returncode, "\n".join([run.stdout.strip(), *complaints]).strip()


def tidy(group):
    """(source, exit code, output) of each source of a group."""
    sources, flags = group
    status, output = run_tidy(sources, flags)
    if status == 0 or len(sources) == 1:
        return [(source, status, output) for source in sources]
    half = len(sources) // 2
    return tidy((sources[:half], flags)) + tidy((sources[half:], flags))


def main():
    subprocess.run(["cmake", "--preset", "release", "-B", BUILD, "-DWEFT_UNITY=OFF", "--log-level=ERROR"], cwd=ROOT,
                   stdout=subprocess.DEVNULL, check=True)
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    tool = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    tool += (ROOT / ".clang-tidy").read_bytes()

    work, changed = {}, set()
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        source = Path(entry["file"]).resolve()
        if not source.is_relative_to(ROOT) or source.is_relative_to(ROOT / "build"):
            continue
        is_test = source.name.endswith("_test.cpp") or source.is_relative_to(ROOT / "tests")
        if is_test or wanted not in str(source) or not source.exists():
            continue
        stamp = CACHE / key_of(source, entry["command"], tool)
        work[source] = stamp, flags_of(entry["file"], entry["command"])
        if stamp.exists():
            stamp.touch()  # it is in use
        else:
            changed.add(source)

    for folder in CACHE, TOGETHER:
        folder.mkdir(parents=True, exist_ok=True)
    for stamp in CACHE.iterdir():
        if stamp.stat().st_mtime < time.time() - REMEMBERED_S:
            stamp.unlink(missing_ok=True)
    failed, checked, begin = 0, 0, time.monotonic()
    # Of all sources, since what is found in one may depend on what stands before it.
    groups = [group for group in groups_of(work) if changed.intersection(group[0])]
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for source, status, output in (verdict for group in pool.map(tidy, groups) for verdict in group):
            checked += 1
            print(f"  {'FAIL' if status else 'ok  '} {source.relative_to(ROOT)}", flush=True)
            if status:
                failed += 1
                print(output.replace(f"{ROOT}/", ""), flush=True)
            else:
                work[source][0].touch()
    print(f"  {checked} checked in {time.monotonic() - begin:.0f} s, {len(work) - checked} unchanged, "
          f"{failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
