"""The harness's arithmetic: what the generators and /proc say, and what is made of it."""

import pytest
from harness.cpu import CoreTimes, Process, parse_core, parse_process, parse_resident, strayed, use_between
from harness.generators import Unreadable, parse_ab, parse_weft_bench, parse_wrk
from harness.machine import Cores, choose_cores, parse_compiler, parse_cpu_model, parse_memory
from harness.network import most_connections
from harness.ratios import median_of, paired_ratio, quartiles
from harness.watch import Sample, stretch

STAT = """\
cpu  300 0 300 2000 10 0 30 0 0 0
cpu0 100 2 200 1000 5 1 30 4 0 0
cpu1 200 0 100 1000 5 0 0 0 0 0
intr 1 2 3
"""


def test_core_line_is_the_right_one():
    times = parse_core(STAT, 0, 1.5)
    assert times.at == 1.5
    assert times.ticks["user"] == 100
    assert times.ticks["idle"] == 1000
    assert times.ticks["softirq"] == 30
    assert times.ticks["steal"] == 4
    with pytest.raises(ValueError, match="cpu7"):
        parse_core(STAT, 7, 0)


def core_times(at, **ticks):
    fields = dict.fromkeys(
        ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"), 0
    )
    return CoreTimes(at, {**fields, **ticks})


def test_busy_is_all_but_idle_iowait_and_steal():
    before = core_times(10.0, user=5, idle=50)
    after = core_times(12.0, user=25, system=70, softirq=10, idle=140, iowait=5, steal=5)
    use = use_between(before, after)
    assert use.wall == pytest.approx(2.0)
    assert use.busy == pytest.approx(2.0 - 0.90 - 0.05 - 0.05)
    assert use.user == pytest.approx(use.busy * 0.2)  # of 100 ticks at work, 20
    assert use.system == pytest.approx(use.busy * 0.8)
    assert use.steal == pytest.approx(0.05)
    assert use.share == pytest.approx(0.5)


def test_idle_by_more_than_the_wall_is_not_negative_work():
    use = use_between(core_times(0.0), core_times(1.0, idle=101))
    assert use.busy == 0
    assert use.user == 0


def a_sample(at, idle, process, resident):
    return Sample(core_times(at, idle=idle), core_times(at, idle=0), process, resident)


SAMPLES = [
    a_sample(10.0, 0, 0.0, 100),
    a_sample(11.0, 100, 0.0, 500),  # idle all the second
    a_sample(12.0, 150, 0.5, 300),
    a_sample(13.0, 250, 0.5, 200),
]


def test_a_stretch_is_what_lies_between():
    seen = stretch(SAMPLES, (11.0, 12.0))
    assert seen.server_core.wall == pytest.approx(1.0)
    assert seen.server_core.busy == pytest.approx(0.5)
    assert seen.generator_core.busy == pytest.approx(1.0)
    assert seen.process == pytest.approx(0.5)
    assert seen.resident == 500


def test_a_stretch_between_samples_is_interpolated():
    seen = stretch(SAMPLES, (11.5, 12.25))
    assert seen.server_core.wall == pytest.approx(0.75)
    assert seen.server_core.busy == pytest.approx(0.25)  # half of the busy half second
    assert seen.process == pytest.approx(0.25)


def test_without_a_window_it_is_all_that_was_seen():
    for window in (None, (0.0, 99.0)):
        seen = stretch(SAMPLES, window)
        assert seen.server_core.wall == pytest.approx(3.0)
        assert seen.server_core.busy == pytest.approx(0.5)


def test_most_connections():
    assert most_connections(20_000, "2048\t65535") == 19_500  # descriptors are the limit
    assert most_connections(1_000_000, "32768 60999") == 22_584  # ports are
    assert most_connections(1024, "32768 60999") == 524


def test_process_line_with_a_name_like_a_field():
    line = "42 (a) R (b) S 7 42 42 0 -1 4194304 9 9 0 0 100 20 3 4 20 0 1 0 55 99 9"
    assert parse_process(line) == Process("a) R (b", 7, 120, 7)
    assert parse_process(line).ticks == 127


def test_what_strangers_used_is_told_with_the_busiest():
    before = {1: Process("shell", 0, 10, 500), 2: Process("make", 1, 5, 0)}
    after = {1: Process("shell", 0, 20, 500), 2: Process("make", 1, 6, 40), 3: Process("cc", 2, 30, 0)}
    assert strayed(before, after) == (pytest.approx(0.81), "cc")
    assert strayed(before, before) == (0, None)
    # A child's ticks go to its parent when it ends: they are not counted twice.
    ended = {1: Process("shell", 0, 10, 505)}
    assert strayed(before, ended) == (0, None)


def test_resident():
    assert parse_resident("Name:\tx\nVmRSS:\t    1024 kB\n") == 1024 * 1024
    assert parse_resident("Name:\tx\n") == 0


WEFT_BENCH = (
    '{"target":"t","connections":4,"measured_from":7.5,"seconds":2.0,"interrupted":false,"requests":100,'
    '"requests_with_warm_up":150,"requests_per_second":50.0,"bytes_received":9,'
    '"latency_us":{"p50":1.5,"p90":2.0,"p99":3.25,"p99.9":4.0,"max":5.0,"mean":1.6},'
    '"status":{"3xx":0,"4xx":2,"5xx":0},"reconnects":0,'
    '"errors":{"connect":0,"reset":1,"total":1},"errors_in_warm_up":{"connect":3,"reset":0,"total":3},'
    '"cpu_user_seconds":0.1,"cpu_system_seconds":0.2,"cpu_us_per_request":3.0}\n'
)


def test_weft_bench_tells_what_it_counted_and_when():
    outcome = parse_weft_bench(WEFT_BENCH)
    assert outcome.requests == 100  # in the window only
    assert outcome.window == (7.5, 9.5) and outcome.bytes == 9
    assert outcome.p999 == 4.0
    assert outcome.percentiles == {"50": 1.5, "90": 2.0, "99": 3.25, "99.9": 4.0}
    assert outcome.per_second == 50.0
    assert (outcome.p50, outcome.p99, outcome.max) == (1.5, 3.25, 5.0)
    assert outcome.errors == {"connect": 3, "reset": 1, "4xx": 2}
    assert outcome.failed == 6


WRK = """\
Running 2s test @ http://127.0.0.1:9100/ping
  1 threads and 400 connections
  Latency Distribution
     50%    2.50ms
Requests/sec: 122000.13
RESULT {"requests": 244000, "seconds": 2.000000, \
"percentiles": {"p50": 2500.0, "p99": 4100.0, "p99.9": 5000.0}, "max": 9000.0, \
"connect": 0, "read": 7, "write": 0, "timeout": 0, "status": 1}
"""


def test_wrk_is_read_from_our_line():
    outcome = parse_wrk(WRK)
    assert outcome.requests == 244000
    assert outcome.per_second == 122000.0
    assert outcome.p99 == 4100.0
    assert outcome.p999 == 5000.0
    assert outcome.percentiles == {"50": 2500.0, "99": 4100.0, "99.9": 5000.0}
    assert outcome.window is None
    assert outcome.errors == {"read": 7, "status": 1}


AB = """\
Concurrency Level:      1000
Time taken for tests:   2.160 seconds
Complete requests:      200000
Failed requests:        3
   (Connect: 0, Receive: 0, Length: 3, Exceptions: 0)
Write errors:           1
Non-2xx responses:      200000
Keep-Alive requests:    200000
Requests per second:    92592.59 [#/sec] (mean)
Time per request:       10.800 [ms] (mean)

Percentage of the requests served within a certain time (ms)
  50%     10
  66%     11
  99%     14
 100%     63 (longest request)
"""


def test_ab_of_an_echo():
    outcome = parse_ab(AB, is_echo=True)
    assert outcome.requests == 200000
    assert outcome.per_second == 92592.59
    assert (outcome.p50, outcome.p99, outcome.max) == (10_000, 14_000, 63_000)
    assert outcome.errors == {"failed": 3, "write": 1}  # an echo is never a 2xx: no error
    assert outcome.p999 is None
    assert outcome.percentiles == {"50": 10_000, "66": 11_000, "99": 14_000}
    assert parse_ab(AB).errors == {"failed": 3, "write": 1, "status": 200_000}


@pytest.mark.parametrize("parse", [parse_weft_bench, parse_wrk, parse_ab])
def test_other_output_is_refused_and_shown(parse):
    with pytest.raises(Unreadable, match="unable to connect"):
        parse("unable to connect to 127.0.0.1")


def test_ratio_is_the_median_of_the_pairs_ratios():
    # The host was twice as slow in the second half: the medians alone would say 10.5 / 5 = 2.1.
    ours = [5.0, 5.5, 10.5, 11.0]
    theirs = [5.0, 5.0, 10.0, 10.0]
    ratio = paired_ratio(ours, theirs)
    assert ratio.median == pytest.approx(1.075)
    assert ratio.pairs == 4
    assert ratio.low == pytest.approx(1.0375)
    assert ratio.high == pytest.approx(1.1)


def test_a_failed_run_takes_its_pair_with_it():
    ratio = paired_ratio([2.0, None, 6.0, 9.0], [1.0, 1.0, 2.0, None])
    assert ratio.pairs == 2
    assert ratio.median == pytest.approx(2.5)
    assert paired_ratio([None], [1.0]) is None
    assert paired_ratio([], []) is None


def test_medians_and_quartiles():
    assert median_of([3.0, None, 1.0]) == 2.0
    assert median_of([None]) is None
    assert quartiles([4.0]) == (4.0, 4.0)
    assert quartiles([5.0, 1.0, 2.0, 4.0, 3.0]) == (2.0, 4.0)


def test_cores():
    assert choose_cores({3, 0, 1, 2}) == Cores(0, 1)
    assert choose_cores({6, 4}) == Cores(4, 6)
    assert choose_cores({5}).shared
    assert not choose_cores({0, 1}).shared


def test_machine_facts():
    assert parse_cpu_model("processor\t: 0\nmodel name\t: AMD EPYC\n") == "AMD EPYC"
    assert parse_memory("MemTotal:       24691684 kB\n") == "24 GiB"
    cache = "//CXX compiler\nCMAKE_CXX_COMPILER:STRING=/usr/bin/clang++-19\n"
    assert parse_compiler(cache) == "/usr/bin/clang++-19"
    assert parse_compiler("") is None
