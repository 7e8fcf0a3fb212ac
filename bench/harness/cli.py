"""What bench/run does, from its command line to its report."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

from harness import html_report, network, peers, rdrs_peers, text_report
from harness.command_line import DEFAULT_OUT, REPOSITORY, parse_arguments
from harness.cpu import stray_now
from harness.effort import EFFORTS, FULL, QUICK, USUAL, Effort
from harness.in_process import InProcess, in_process_workloads
from harness.journal import NAME, CannotResume, Journal
from harness.machine import choose_cores, compiler_of, facts
from harness.open_loop import open_loops, with_what_tells_rates
from harness.protocol_workloads import protocol_subjects, protocol_workloads
from harness.rdrs_workloads import PROTOCOL, prepare, rdrs_subjects, rdrs_workloads
from harness.runs import STRAY_LIMIT
from harness.runtime import RuntimeWork, runtime_works, with_tokio
from harness.servers import Subject
from harness.session import Plan, identity, measure_all
from harness.summary import is_whole
from harness.workloads import MANY, Workload, own_subjects, workloads

ALL_PEERS = (*peers.ALL, *rdrs_peers.ALL)
Alone = TypeVar("Alone", InProcess, RuntimeWork)


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
    return [peer for peer in taken if peer.leads or not effort.is_quick]


def given_subjects(options: argparse.Namespace) -> list[Subject]:
    return options.subject + options.echo_subject + options.external + options.echo_external


def _without_servers(options: argparse.Namespace, works: Sequence[Alone]) -> list[Alone]:
    """All unless workloads are asked for, or servers."""
    asked = options.workload or ([] if options.only or given_subjects(options) else ["*"])
    return [work for work in works if any(fnmatchcase(work.name, each) for each in asked)]


def chosen_in_process(options: argparse.Namespace, effort: Effort) -> list[InProcess]:
    return _without_servers(options, in_process_workloads(effort.pairs, options.build.resolve()))


def chosen_runtime(options: argparse.Namespace, effort: Effort) -> list[RuntimeWork]:
    """A quick run has none unasked."""
    if effort.is_quick and not options.workload:
        return []
    return _without_servers(options, runtime_works(effort.pairs, options.build.resolve()))


def chosen(
    options: argparse.Namespace, effort: Effort, others: list[Subject], many: int = MANY
) -> tuple[list[Workload], list[Subject]]:
    """Workloads and subjects after --workload, --only and the like; `others` are the peers."""
    build = options.build.resolve()
    works = all_works = (workloads(effort, build, many) + open_loops(effort, build)
                         + protocol_workloads(effort, build, many) + rdrs_workloads(effort, build))  # fmt: skip
    subjects = own_subjects(build) + protocol_subjects(build) + rdrs_subjects(build)
    subjects += others + given_subjects(options)
    names = [(each.name, each.protocol) for each in subjects if not each.levels and each.asks is None]
    twice = {name for name, protocol in names if names.count((name, protocol)) > 1}
    if twice:
        raise SystemExit(_complain(f"two servers are named {', '.join(sorted(twice))}"))

    asked = options.workload or []
    alone = (*in_process_workloads(effort.pairs, build), *runtime_works(effort.pairs, build))
    known = [work.name for work in (*works, *alone)]
    wrong = {each for each in asked if not any(fnmatchcase(name, each) for name in known)}
    wrong |= set(options.only or []) - {each.name for each in (*subjects, *ALL_PEERS)}
    if wrong:
        raise SystemExit(_complain(f"no such name: {', '.join(sorted(wrong))}; see --list"))
    if asked:
        works = [work for work in works if any(fnmatchcase(work.name, each) for each in asked)]
    else:
        works = [work for work in works if (work.in_quick if effort.is_quick else work.in_full)]
    works = with_what_tells_rates(works, all_works)
    if options.only:
        kept = {
            *(work.baseline for work in works),
            *options.only,
            *(each.name for each in given_subjects(options)),
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


def connections_allowed(notes: list[str], others_network: bool) -> int:
    """For the level of MANY, in a network of our own if that is permitted; `notes` says if not."""
    if others_network:
        notes.append("in the machine's own network, where the servers of others are")
    elif why_not := network.isolate():
        notes.append(f"in the machine's own network, for a network namespace is refused: {why_not}")
    most = network.most_connections(network.raise_descriptor_limit(), network.port_range())
    if most >= MANY:
        return MANY
    notes.append(f"{most} connections in place of {MANY}: the limit on descriptors or ports")
    return most


def resumed(options: argparse.Namespace) -> tuple[argparse.Namespace, Journal]:
    """The command line of the run that was broken off, and its rounds."""
    allowed = vars(parse_arguments(["--resume", "--out", str(options.out)]))
    if vars(options) != allowed:
        raise CannotResume("--resume goes on with the command line it was broken off with: give --out at most")
    journal = Journal.resume(options.out / NAME)
    before = parse_arguments([*journal.head["arguments"], "--out", str(options.out)])
    before.effort = journal.head["effort"]
    return before, journal


def notes_on(plan: Plan, others: list[str]) -> list[str]:
    """What a reader must know before the figures."""
    notes = list(others)
    if plan.cores.shared:
        notes.append(
            "one core only: server and generator share it, so the CPU per request is of both, and "
            "no ratio says anything about the server alone"
        )
    share, by = stray_now({os.getpid()})
    if share > STRAY_LIMIT:
        notes.append(
            f"the machine was busy before it began: others used {share:.2f} of a core, {by} most of it"
        )
        _tell(f"bench/run: {notes[-1]}; runs are marked")
    return notes


def planned(options: argparse.Namespace, effort: Effort) -> tuple[Plan, list[str]]:
    """What is measured, and notes on what is not. Builds the peers."""
    works, _ = chosen(options, effort, [])
    # Before the network is left: a package may have to come through it.
    compiler = peers.compiler_command(compiler_of(options.build) or "c++")
    into = options.build.resolve().parent / "bench-peers"
    others, notes = peers.build(wanted_peers(options, effort, works), compiler, into, _tell)
    runtime = chosen_runtime(options, effort)
    if not options.no_peers:
        runtime = with_tokio(runtime, into, notes)
    many = connections_allowed(notes, others_network=bool(options.external + options.echo_external))
    works, subjects = chosen(options, effort, others, many)
    cores = choose_cores(os.sched_getaffinity(0))
    plan = Plan(works, subjects, chosen_in_process(options, effort), cores, runtime)
    baselines = {(work.baseline, work.protocol) for work in works}
    for subject in subjects:
        if (subject.name, subject.protocol) in baselines and subject.missing():
            raise SystemExit(_complain(f"{subject.missing()}; `make build` makes it"))
    if any(work.protocol == PROTOCOL for work in works):
        prepare(subjects, options.build.resolve())
    return plan, notes


def journal_of(plan: Plan, options: argparse.Namespace, before: Journal | None, head: dict) -> Journal:
    if before is None:
        return Journal.begin(options.out / NAME, {**head, "identity": identity(plan)})
    before.must_be_of(identity(plan))
    return before


def list_names(options: argparse.Namespace, effort: Effort) -> None:
    works, subjects = chosen(options, effort, [])
    alone = (*chosen_in_process(options, effort), *chosen_runtime(options, effort))
    print("workloads:", *(work.name for work in (*works, *alone)))
    print("servers:  ", *dict.fromkeys(subject.name for subject in subjects))
    print("peers:    ", *(peer.name for peer in ALL_PEERS))


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        return run(sys.argv[1:] if arguments is None else arguments)
    except CannotResume as error:
        return _complain(str(error))
    except KeyboardInterrupt:
        return 130  # before there was anything to report


def run(arguments: Sequence[str]) -> int:
    options, before = parse_arguments(arguments), None
    if options.resume:
        options, before = resumed(options)
    effort = effort_of(options)
    if options.list:
        list_names(options, effort)
        return 0
    # SIGTERM ends us as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    plan, notes = planned(options, effort)
    machine = {**facts(REPOSITORY, options.build, plan.cores), "runs": effort.describe()}
    head = {"arguments": list(arguments), "effort": effort.name, "machine": machine}
    journal = journal_of(plan, options, before, head)
    report = {
        "machine": {**journal.head["machine"], **({"resumed": machine["date"]} if before else {})},
        "notes": notes_on(plan, notes),
        "workloads": [],
        "in_process": [],
        "runtime": [],
    }
    # Nothing of ours but the server may run on its core.
    os.sched_setaffinity(0, {plan.cores.generator})
    try:
        is_finished = measure_all(plan, journal, report, _tell)
    except KeyboardInterrupt:  # between two workloads
        is_finished = False
    for each in (signal.SIGINT, signal.SIGTERM):  # the report is written, whoever presses twice
        signal.signal(each, signal.SIG_IGN)
    if not is_finished:
        out = [] if options.out == DEFAULT_OUT else ["--out", str(options.out)]
        going_on = shlex.join(["bench/run", "--resume", *out])
        report["notes"].append(f"interrupted: what follows is not all; `{going_on}` goes on")
    write_reports(report, options.out)
    print(text_report.render(report))
    print(f"  {options.out / 'report.html'}")
    if not is_finished:
        return 130
    return 0 if is_whole(report) else 1
