"""The options of bench/run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from harness.servers import Subject

REPOSITORY = Path(__file__).resolve().parent.parent.parent
DEFAULT_OUT = REPOSITORY / "bench/out"

_EPILOG = """\
A command given with --subject or --echo-subject listens on 127.0.0.1:{port} and stays in the
foreground, for example
  bench/run --quick --workload ping --subject "nginx=nginx -c /etc/my.conf -g 'listen {port};'"

Exit status: 0 all was measured without an error; 1 something was missing, failed or answered
wrongly (the report tells what); 2 wrong command line, or no baseline; 130 interrupted."""


def parse_subject(text: str, protocol: str) -> Subject:
    name, equals, command = text.partition("=")
    if not name or not equals or "{port}" not in command:
        raise argparse.ArgumentTypeError(f"'{text}': write NAME=COMMAND with {{port}} in COMMAND")
    return Subject(name, command, protocol)


def parse_external(text: str, protocol: str) -> Subject:
    name, equals, address = text.partition("=")
    host, _, port = address.rpartition(":")
    if not name or not equals or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise argparse.ArgumentTypeError(f"'{text}': write NAME=HOST:PORT, as in mine=10.0.0.2:8080")
    return Subject(name, "", protocol, address=address)


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run",
        description="Measures weft's servers beside bare servers, pair by pair, on two cores.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", dest="effort", action="store_const", const="quick",
                        help="few runs of 1 s, under three minutes in all (QUICK=1 in the "
                        "environment does the same)")  # fmt: skip
    parser.add_argument("--full", dest="effort", action="store_const", const="full",
                        help="runs of 30 s, as long as published ones, hours in all (FULL=1)")
    parser.add_argument("--workload", action="append", metavar="NAME", help="only this, or those "
                        "of a pattern (rdrs-*); repeatable")  # fmt: skip
    parser.add_argument("--pairs", type=int, help="rounds of each workload")
    parser.add_argument("--seconds", type=float, help="length of a run (2.5)")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this server beside "
                        "the baseline; repeatable")  # fmt: skip
    parser.add_argument("--subject", action="append", default=[], metavar="NAME=COMMAND",
                        type=lambda text: parse_subject(text, "http"),
                        help="one more server for the ping; repeatable")  # fmt: skip
    parser.add_argument("--echo-subject", action="append", default=[], metavar="NAME=COMMAND",
                        type=lambda text: parse_subject(text, "echo"),
                        help="one more server for the echo; repeatable")  # fmt: skip
    parser.add_argument("--external", action="append", default=[], metavar="NAME=HOST:PORT",
                        type=lambda text: parse_external(text, "http"),
                        help="a server for the ping that somebody else has started; repeatable")  # fmt: skip
    parser.add_argument("--echo-external", action="append", default=[], metavar="NAME=HOST:PORT",
                        type=lambda text: parse_external(text, "echo"),
                        help="one for the echo; repeatable")  # fmt: skip
    parser.add_argument("--no-peers", action="store_true", help="without other people's servers")
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build/release",
                        help="where the programs are (build/release)")  # fmt: skip
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT,
                        help="where report.txt, .json and .html go, and rounds.jsonl "
                        "(bench/out)")  # fmt: skip
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out that was "
                        "broken off, after its last whole round")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="names workloads and servers, and ends")
    options = parser.parse_args(arguments)
    if options.pairs is not None and options.pairs < 1:
        parser.error("--pairs: at least 1")
    if options.seconds is not None and not 0.2 <= options.seconds <= 60:
        parser.error("--seconds: 0.2 to 60")
    return options
