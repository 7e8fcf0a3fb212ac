"""The command line of bench/run."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from harness import html_report, network, peers, rdrs_peers, text_report
from harness.effort import EFFORTS, FULL, QUICK, USUAL, Effort
from harness.machine import Cores, choose_cores, compiler_of, facts
from harness.rdrs_workloads import PROTOCOL, prepare, rdrs_subjects, rdrs_workloads
from harness.runner import measure
from harness.servers import Subject
from harness.summary import is_whole, summarise
from harness.workloads import MANY, Workload, own_subjects, workloads

REPOSITORY = Path(__file__).resolve().parent.parent.parent
ALL_PEERS = (*peers.ALL, *rdrs_peers.ALL)

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
    parser.add_argument("--seconds", type=float, help="length of a run (5)")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this server beside "
                        "the baseline; repeatable")  # fmt: skip
    parser.add_argument("--subject", action="append", default=[], metavar="NAME=COMMAND",
                        type=lambda text: parse_subject(text, "http"),
                        help="one more server for the ping; repeatable")  # fmt: skip
    parser.add_argument("--echo-subject", action="append", default=[], metavar="NAME=COMMAND",
                        type=lambda text: parse_subject(text, "echo"),
                        help="one more server for the echo; repeatable")  # fmt: skip
    parser.add_argument("--no-peers", action="store_true", help="without other people's servers")
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build/release",
                        help="where the programs are (build/release)")  # fmt: skip
    parser.add_argument("--out", type=Path, default=REPOSITORY / "bench/out",
                        help="where report.txt, .json and .html go (bench/out)")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="names workloads and servers, and ends")
    options = parser.parse_args(arguments)
    if options.pairs is not None and options.pairs < 1:
        parser.error("--pairs: at least 1")
    if options.seconds is not None and not 0.2 <= options.seconds <= 60:
        parser.error("--seconds: 0.2 to 60")
    return options


def asked_by_environment() -> Effort:
    """`make bench QUICK=1`, or FULL=1."""
    asked = [each for each in (QUICK, FULL) if os.environ.get(each.name.upper(), "0") not in ("", "0")]
    if len(asked) > 1:
        raise SystemExit(_complain("QUICK=1 and FULL=1: one of them"))
    return asked[0] if asked else USUAL


def effort_of(options: argparse.Namespace) -> Effort:
    effort = EFFORTS[options.effort] if options.effort else asked_by_environment()
    if options.seconds:
        effort = replace(effort, seconds=options.seconds)
    if options.pairs:
        pairs = options.pairs
        effort = replace(effort, pairs=pairs, headline_pairs=pairs, peer_pairs=pairs)
    return effort


def wanted_peers(
    options: argparse.Namespace, effort: Effort, works: Sequence[Workload]
) -> list[peers.Peer]:
    """Those that some workload takes. A quick run takes some complete servers only, unless another
    is asked for by name."""
    if options.no_peers:
        return []
    protocols = {work.protocol for work in works if work.peer_pairs}
    taken = [peer for peer in ALL_PEERS if peer.protocol in protocols]
    if options.only:
        return [peer for peer in taken if peer.name in options.only]
    return [peer for peer in taken if peer.quick or not effort.is_quick]


def chosen(
    options: argparse.Namespace, effort: Effort, others: list[Subject], many: int = MANY
) -> tuple[list[Workload], list[Subject]]:
    """Workloads and subjects after --workload, --only and the like; `others` are the peers."""
    build = options.build.resolve()
    works = workloads(effort, build, many) + rdrs_workloads(effort, build)
    subjects = own_subjects(build) + rdrs_subjects(build)
    subjects += others + options.subject + options.echo_subject

    asked = options.workload or []
    wrong = {each for each in asked if not any(fnmatchcase(work.name, each) for work in works)}
    wrong |= set(options.only or []) - {each.name for each in (*subjects, *ALL_PEERS)}
    if wrong:
        raise SystemExit(_complain(f"no such name: {', '.join(sorted(wrong))}; see --list"))
    if asked:
        works = [work for work in works if any(fnmatchcase(work.name, each) for each in asked)]
    else:
        works = [work for work in works if (work.in_quick if effort.is_quick else work.in_full)]
    if options.only:
        kept = {
            *(work.baseline for work in works),
            *options.only,
            *(each.name for each in options.subject + options.echo_subject),
        }
        subjects = [subject for subject in subjects if subject.name in kept]
    return works, subjects


def _complain(what: str) -> int:
    print(f"bench/run: {what}", file=sys.stderr)
    return 2


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def write_reports(report: dict, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.txt").write_text(text_report.render(report), encoding="utf-8")
    (out / "report.html").write_text(html_report.render(report), encoding="utf-8")
    (out / "report.json").write_text(
        json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def connections_allowed(notes: list[str]) -> int:
    """For the level of MANY, in a network of our own if that is permitted; `notes` says if not."""
    why_not = network.isolate()
    if why_not:
        notes.append(f"in the machine's own network, for a network namespace is refused: {why_not}")
    most = network.most_connections(network.raise_descriptor_limit(), network.port_range())
    if most >= MANY:
        return MANY
    notes.append(f"{most} connections in place of {MANY}: the limit on descriptors or ports")
    return most


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def measure_all(
    works: list[Workload], subjects: list[Subject], cores: Cores, report: dict
) -> bool:
    """Fills the report in; False when it was interrupted."""
    lengths = [work.length(subjects) for work in works]
    whole, passed = sum(lengths), 0.0
    _tell(f"about {_minutes(whole)} minutes")
    started = time.monotonic()
    for work, length in zip(works, lengths, strict=True):

        def tell(what: str) -> None:
            now = time.monotonic() - started
            _tell(f"{_minutes(now)} of about {_minutes(now + whole - passed)}  {what}")

        taking_part = [subject for subject in subjects if work.takes(subject)]
        measured = measure(work, taking_part, cores, {os.getpid()}, tell)
        report["workloads"].append(summarise(measured))
        if measured.problem == "interrupted":
            report["notes"].append("interrupted: what follows is not all")
            return False
        passed += length
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    effort = effort_of(options)
    works, subjects = chosen(options, effort, [])
    if options.list:
        print("workloads:", *(work.name for work in works))
        print("servers:  ", *dict.fromkeys(subject.name for subject in subjects))
        print("peers:    ", *(peer.name for peer in ALL_PEERS))
        return 0
    # Before the network is left: a package may have to come through it.
    compiler = peers.compiler_command(compiler_of(options.build) or "c++")
    into = options.build.resolve().parent / "bench-peers"
    others, notes = peers.build(wanted_peers(options, effort, works), compiler, into, _tell)
    works, subjects = chosen(options, effort, others, connections_allowed(notes))
    baselines = {(work.baseline, work.protocol) for work in works}
    for subject in subjects:
        if (subject.name, subject.protocol) in baselines and subject.missing():
            return _complain(f"{subject.missing()}; `make build` makes it")

    if any(work.protocol == PROTOCOL for work in works):
        prepare(subjects, options.build.resolve())

    cores = choose_cores(os.sched_getaffinity(0))
    report = {
        "machine": facts(REPOSITORY, options.build, cores),
        "notes": notes,
        "workloads": [],
    }
    if cores.shared:
        report["notes"].append(
            "one core only: server and generator share it, so the CPU per request is of both, and "
            "no ratio says anything about the server alone"
        )
    # Nothing of ours but the server may run on its core; SIGTERM ends us as Ctrl-C does.
    os.sched_setaffinity(0, {cores.generator})
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    is_finished = measure_all(works, subjects, cores, report)
    write_reports(report, options.out)
    print(text_report.render(report))
    print(f"  {options.out / 'report.html'}")
    if not is_finished:
        return 130
    return 0 if is_whole(report) else 1
