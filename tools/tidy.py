#!/usr/bin/env python3
"""clang-tidy over the sources of a configured build, in parallel, skipping what it already found clean.

    tools/tidy.py                    all that compile_commands.json names, but tests
    tools/tidy.py weft/net           those whose path contains `weft/net`

A source is skipped when nothing that could change the verdict has changed: its text, every header of ours that
it reaches, its compile command, .clang-tidy and the tool's version. Tests are compiled with the same warnings,
and left out here to keep the time bounded.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
CACHE = ROOT / "build" / "tidy-cache"
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
    digest = hashlib.sha256(tool + command.encode())
    for file in reachable(source):
        digest.update(str(file.relative_to(ROOT)).encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def tidy(source):
    run = subprocess.run([TIDY, "-p", str(BUILD), "--quiet", str(source)], cwd=ROOT,
                         capture_output=True, text=True)
    complaints = [line for line in run.stderr.splitlines() if not NOISE.match(line)]
    return run.returncode, "\n".join([run.stdout.strip(), *complaints]).strip()


def main():
    database = BUILD / "compile_commands.json"
    if not database.exists():
        sys.exit(f"tools/tidy.py: no {database.relative_to(ROOT)}; run `cmake --preset release`")
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    tool = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    tool += (ROOT / ".clang-tidy").read_bytes()

    work, unchanged = {}, 0
    for entry in json.loads(database.read_text()):
        source = Path(entry["file"]).resolve()
        if not source.is_relative_to(ROOT) or source.is_relative_to(ROOT / "build"):
            continue
        if source.name.endswith("_test.cpp") or wanted not in str(source) or not source.exists():
            continue
        stamp = CACHE / key_of(source, entry["command"], tool)
        if stamp.exists():
            unchanged += 1
        else:
            work[source] = stamp

    CACHE.mkdir(parents=True, exist_ok=True)
    failed, begin = 0, time.monotonic()
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for (source, stamp), (status, output) in zip(work.items(), pool.map(tidy, work)):
            print(f"  {'FAIL' if status else 'ok  '} {source.relative_to(ROOT)}", flush=True)
            if status:
                failed += 1
                print(output.replace(f"{ROOT}/", ""), flush=True)
            else:
                stamp.touch()
    print(f"  {len(work)} checked in {time.monotonic() - begin:.0f} s, {unchanged} unchanged, "
          f"{failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
