"""Who wins: the best of weft's servers beside the best complete one of others, figure by figure, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from harness.ratios import Ratio, median_of, paired_ratio
from harness.runs import Series
from harness.workloads import Workload


@dataclass(frozen=True)
class Metric:
    name: str  # of a run's figure
    words: str
    more_is_better: bool = False
    generator_may_limit: bool = False  # it is the generator's where its core is full
    is_asked_for: bool = False  # by an open loop
    of_many: bool = False  # connections: with few, a server's start would be most of it


METRICS = (
    Metric("cpu_us", "core time a request"),
    Metric("per_second", "requests a second", more_is_better=True, generator_may_limit=True, is_asked_for=True),
    Metric("p99_us", "p99", generator_may_limit=True),
    Metric("resident_bytes", "memory"),
    Metric("grown_bytes", "memory a connection", of_many=True),
)
MANY_ENOUGH = 1000  # connections
NEAR = 1.05
ALIKE = 0.02  # a median so close to 1 is no difference, wherever the rounds lie
ROUNDS_LEAST, ROUNDS_ENOUGH = 2, 3


def is_ours(series: Series) -> bool:
    return series.subject.kind == "complete" and not series.subject.is_peer


def is_rival(series: Series) -> bool:
    """A complete server of others; what somebody names on the command line is taken for one."""
    return series.subject.kind != "bare" and not is_ours(series)


def _standing(series: Series, baseline: Series, metric: Metric) -> float | None:
    """Beside the baseline of the same rounds, for not all take part in all rounds; less is better."""
    figures = series.figures(metric.name)
    ratio = paired_ratio(figures, baseline.figures(metric.name))
    standing = ratio.median if ratio else median_of(figures)
    return standing and (-standing if metric.more_is_better else standing)


def _best(of: Sequence[Series], baseline: Series, metric: Metric) -> Series | None:
    standings = [(standing, series) for series in of
                 if (standing := _standing(series, baseline, metric))]  # fmt: skip
    return min(standings, key=lambda each: each[0])[1] if standings else None


def outcome(ratio: Ratio, metric: Metric) -> str:
    """Even unless the whole middle half of the rounds is on one side, of more than one round."""
    is_alike = ratio.low <= 1 <= ratio.high or abs(ratio.median - 1) < ALIKE
    if is_alike or ratio.pairs < ROUNDS_LEAST:
        return "even"
    return "wins" if (ratio.low > 1) == metric.more_is_better else "loses"


def _judge(
    metric: Metric, ours: Sequence[Series], theirs: Sequence[Series], baseline: Series
) -> dict | None:
    our_best, their_best = (_best(each, baseline, metric) for each in (ours, theirs))
    if not our_best or not their_best:
        return None
    if metric.generator_may_limit and (our_best.is_limited_by_generator or their_best.is_limited_by_generator):
        return None
    ratio = paired_ratio(our_best.figures(metric.name), their_best.figures(metric.name))
    if ratio is None:
        return None
    runs = [run for series in (our_best, their_best) for run in series.runs if run]
    return {
        "metric": metric.name,
        "ours": our_best.subject.name,
        "theirs": their_best.subject.name,
        "they_parse": their_best.subject.parses,
        "our_errors": our_best.errors,
        "our_problem": our_best.problem,
        "their_errors": their_best.errors,
        "ratio": asdict(ratio),
        "outcome": outcome(ratio, metric),
        "is_busy": any(run.is_busy for run in runs),
    }


def _is_told(metric: Metric, workload: Workload) -> bool:
    if metric.of_many and workload.connections < MANY_ENOUGH:
        return False
    return not (metric.is_asked_for and workload.share is not None)


def verdicts(workload: Workload, all_series: Sequence[Series]) -> list[dict]:
    """One for each figure that both sides have, and that is theirs; the first series is the baseline."""
    ours = [series for series in all_series if is_ours(series)]
    theirs = [series for series in all_series if is_rival(series)]
    metrics = [each for each in METRICS if _is_told(each, workload)]
    found = (_judge(metric, ours, theirs, all_series[0]) for metric in metrics)
    return [each for each in found if each]


def floor(all_series: Sequence[Series]) -> dict | None:
    """Beside the best bare server: what a complete one could save at most."""
    ours = [series for series in all_series if is_ours(series)]
    bare = [series for series in all_series if series.subject.kind == "bare"]
    return _judge(METRICS[0], ours, bare, all_series[0])


_OUTCOMES = {"wins": "weft wins", "loses": "weft loses", "even": "even"}


def ratio_words(verdict: dict) -> str:
    ratio = verdict["ratio"]
    star = "" if verdict["they_parse"] else "*"
    return f"{ratio['median']:.2f} ({ratio['low']:.2f}–{ratio['high']:.2f}) × {verdict['theirs']}{star}"


def remarks(verdict: dict) -> str:
    said = []
    if verdict["our_errors"]:
        said.append(f"weft had {verdict['our_errors']:,} errors")
    if verdict["our_problem"]:
        said.append("weft failed then")
    if verdict["ratio"]["pairs"] < ROUNDS_ENOUGH:
        said.append(f"in {verdict['ratio']['pairs']} rounds alone")
    if verdict["their_errors"]:
        said.append(f"{verdict['theirs']} had {verdict['their_errors']:,} errors")
    if verdict["is_busy"]:
        said.append("on a busy machine")
    return "".join(f", {each}" for each in said)


def words(verdict: dict) -> str:
    """`core time a request: weft wins, weftd_epoll 0.83 (0.81–0.86) × nginx*`"""
    (metric,) = (each for each in METRICS if each.name == verdict["metric"])
    how = _OUTCOMES[verdict["outcome"]]
    return f"{metric.words}: {how}, {verdict['ours']} {ratio_words(verdict)}{remarks(verdict)}"


def floor_words(verdict: dict) -> str:
    """Nobody can win against less work: it is told without an outcome."""
    return f"beside the best bare server, core time a request: {verdict['ours']} {ratio_words(verdict)}"


def runtime_words(row: dict) -> str:
    """`round trip, p50: weft loses, 1.04 (1.02–1.05) × tokio`"""
    ratio = row["ratio"]
    return f"{row['title']}: {_OUTCOMES[row['outcome']]}, {ratio['median']:.2f} ({ratio['low']:.2f}–{ratio['high']:.2f}) × tokio"


def losses(report: dict) -> list[tuple[str, str]]:
    """Where weft loses: the workload's name, and how."""
    by_servers = [
        (workload["name"], words(verdict))
        for workload in report["workloads"]
        for verdict in workload["verdicts"]
        if verdict["outcome"] == "loses"
    ]
    by_runtimes = [
        (work["name"], runtime_words(row))
        for work in report.get("runtime", [])
        for row in work["rows"]
        if row["outcome"] == "loses"
    ]
    return by_servers + by_runtimes


def _closeness(report: dict) -> str:
    """What a user would notice is more than NEAR."""
    told = [each["ratio"]["median"] for workload in report["workloads"] for each in workload["verdicts"]
            if each["metric"] in ("cpu_us", "p99_us")]  # fmt: skip
    if not told:
        return ""
    near = sum(ratio <= NEAR for ratio in told)
    return f" In core time a request and p99 it is the first or within 5 % of it in {near} of {len(told)}."


def conclusion(report: dict) -> str:
    """A sentence or two over all workloads."""
    all_verdicts = [each["outcome"] for workload in report["workloads"] for each in workload["verdicts"]]
    of = "the best complete server of others"
    beside_tokio = [row["outcome"] for work in report.get("runtime", []) for row in work["rows"] if row["outcome"]]
    if beside_tokio:
        of = f"{of}, and with tokio's runtime," if all_verdicts else "tokio's runtime"
        all_verdicts += beside_tokio
    if not all_verdicts:
        return "No complete server of others took part: nothing is said of who wins."
    count = {name: all_verdicts.count(name) for name in _OUTCOMES}
    return (
        f"Of {len(all_verdicts)} comparisons with {of} weft wins "
        f"{count['wins']} and loses {count['loses']}; even: {count['even']}.{_closeness(report)}"
    )
