#!/usr/bin/env python3
"""What building costs: a clean release build, the tour, and the headers the tour spends its time in.

Times are printed beside their limits, never enforced: they depend on the machine. ccache is not used.
"""

import json
import os
import shlex
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "stats"
TOUR = ROOT / "examples" / "tour" / "tour.cpp"
LIBRARY_LIMIT_S = 180
TOUR_LIMIT_S = 4
HEADERS_SHOWN = 12


def run(command, **options):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"tools/build_stats.py: {shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def timed(command, **options):
    begin = time.monotonic()
    run(command, **options)
    return time.monotonic() - begin


def clean_build():
    """Seconds to build the library, and weftd where it exists, from nothing, without tests."""
    run(["cmake", "--preset", "release", "-B", BUILD, "--fresh", "-DWEFT_BUILD_TESTS=OFF",
         "-DCMAKE_C_COMPILER_LAUNCHER=", "-DCMAKE_CXX_COMPILER_LAUNCHER="])
    build = ["cmake", "--build", BUILD, "--parallel", os.environ.get("JOBS", str(os.cpu_count()))]
    run([*build, "--target", "clean"])
    known = run(["ninja", "-C", BUILD, "-t", "targets", "all"])
    wanted = [f"weft_{folder.name}" for folder in sorted((ROOT / "weft").iterdir())
              if f"weft_{folder.name}: phony" in known]
    wanted += ["weftd"] if "weftd: phony" in known else []
    return timed([*build, "--target", *wanted]), wanted


def tour_command():
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        if Path(entry["file"]) == TOUR:
            command = shlex.split(entry["command"])
            command[command.index("-o") + 1] = str(BUILD / "tour.o")
            return command
    return None


def heaviest_headers(trace):
    """(seconds, header) of every include, with all that it includes in turn, heaviest first."""
    total = defaultdict(float)
    entered = []  # begin and end events nest as the includes do
    for event in sorted(json.loads(trace.read_text())["traceEvents"], key=lambda e: e.get("ts", 0)):
        if event["name"] != "Source":
            continue
        if event["ph"] == "X":
            total[event["args"]["detail"]] += event["dur"] / 1e6
        elif event["ph"] == "b":
            entered.append((event["args"]["detail"], event["ts"]))
        elif event["ph"] == "e" and entered:
            header, begin = entered.pop()
            total[header] += (event["ts"] - begin) / 1e6
    return sorted(((seconds, header) for header, seconds in total.items()), reverse=True)


def short(header):
    path = Path(header).resolve()
    if path.is_relative_to(ROOT):
        return str(path.relative_to(ROOT))
    for mark in ("/c++/v1/", "/include/"):
        if mark in str(path):
            return f"<{str(path).split(mark)[-1]}>"
    return str(path)


def row(name, seconds, limit):
    print(f"{name:<46}{seconds:>8.1f} s   limit {limit} s   {'ok' if seconds <= limit else 'OVER'}")


def main():
    if subprocess.run(["which", "ninja"], capture_output=True).returncode:
        sys.exit("tools/build_stats.py: ninja is missing; run tools/setup")
    seconds, targets = clean_build()
    row("clean release build: " + ("library and weftd" if "weftd" in targets else "library"), seconds,
        LIBRARY_LIMIT_S)
    command = tour_command() if TOUR.exists() else None
    if command is None:
        print("examples/tour/tour.cpp is not part of this build: nothing to say about it")
        return 0
    row("tour.cpp (median of 3)", statistics.median(timed(command) for _ in range(3)), TOUR_LIMIT_S)
    if "clang" not in command[0]:
        return 0
    run([*command, "-ftime-trace", "-ftime-trace-granularity=500"])
    print("\nheaviest headers of tour.cpp, each with all it includes:")
    for seconds, header in heaviest_headers(BUILD / "tour.json")[:HEADERS_SHOWN]:
        print(f"{seconds:>8.2f} s   {short(header)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
