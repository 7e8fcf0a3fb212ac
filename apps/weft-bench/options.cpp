#include "options.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include <weft/base/format.hpp>

namespace weft::bench {

const std::string_view load_help =
    R"(Usage: weft-bench load URL [options]

Puts a load on a server: each connection sends a request, waits for the whole reply, sends the
next; at once (closed loop), or when one is due at a fixed rate (open loop). Two system calls a
request.

  URL                       http://HOST[:PORT][/PATH], the same with https://; ws:// or wss://,
                            where each message is answered by one; or tcp://HOST:PORT for a plain
                            echo

What is sent
      --data TEXT           body of the request (of ws:// and tcp:// the message itself)
      --body FILE           the same, from a file
  -X, --method METHOD       default: POST with a body, GET without
  -H, --header 'NAME: VALUE'  one more header, may be repeated;
                            default with a body: Content-Type: application/json
      --requests FILE       other requests instead, in turn: lines METHOD /PATH [BODY]
      --echo                the server gives the request back unchanged, byte for byte
                            (always so with tcp://)
      --binary              a WebSocket's messages are binary ones, not text
      --http2               HTTP/2; by http:// without asking for it (prior knowledge)
      --ca FILE             certificates that https and wss trust, instead of the system's
  -k, --insecure            they trust any certificate

How much
  -c, --connections N       default 50
      --pipeline N          requests on a connection that wait for a reply at once, default 1;
                            of HTTP/2 as many streams
  -t, --threads N           which the connections are divided among, default 1
  -r, --rate N              open loop: N requests a second, 1500, 2.5k or 1M, whatever the server
                            does; latencies count from when a request was due, so that those
                            that a stall holds up are in them
      --find-max            search the highest such rate that is served without an error and
                            within --p99, in steps of --duration (then 2s by default)
      --p99 TIME            what --find-max allows, default 10ms
  -d, --duration TIME       measured time, default 10s; 1.5, 500ms, 2s, 1m are times
  -w, --warm-up TIME        before it, not counted, default 1s
      --timeout TIME        for a connect and for a reply, default 10s

What comes out
      --json                one JSON object on standard output; latencies in microseconds
      --html FILE           a page with the latency curve, too
  -q, --quiet               no progress on standard error
  -h, --help

Ctrl-C ends the run and reports what there is.
Exit status: 0 all replies were 2xx and nothing failed; 1 some were not or did;
2 wrong command line; 3 not one reply.

  weft-bench load http://127.0.0.1:8080/ping --data '{"sequence": 2}' -c 400
  weft-bench load tcp://127.0.0.1:9000 -c 1000 -d 5s --rate 20k
  weft-bench load http://127.0.0.1:8080/ping -c 100 --find-max --p99 5ms
)";

namespace {

constexpr std::chrono::seconds default_duration{10};
constexpr std::chrono::seconds find_max_step{2};
constexpr std::string_view default_echo_message =
    "The quick brown fox jumps over the lazy dog; what is sent comes back again.";

using problem = std::unexpected<std::string>;

struct option {
  std::string_view name;
  char letter;  // 0: none
  bool takes_value;
};

constexpr std::array all_options{
    option{"data", 0, true},       option{"body", 0, true},      option{"method", 'X', true},
    option{"header", 'H', true},   option{"echo", 0, false},     option{"connections", 'c', true},
    option{"requests", 0, true},   option{"pipeline", 0, true},  option{"threads", 't', true},
    option{"rate", 'r', true},     option{"find-max", 0, false}, option{"p99", 0, true},
    option{"duration", 'd', true}, option{"warm-up", 'w', true}, option{"timeout", 0, true},
    option{"html", 0, true},       option{"ca", 0, true},        option{"insecure", 'k', false},
    option{"binary", 0, false},    option{"http2", 0, false},    option{"json", 0, false},
    option{"quiet", 'q', false},   option{"help", 'h', false},
};

// Levenshtein's distance.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

problem unknown_option(std::string_view given) {
  std::string_view bare = given.substr(std::min(given.find_first_not_of('-'), given.size()));
  const auto* const nearest = std::ranges::min_element(
      all_options, {}, [&](const option& known) { return edits_between(bare, known.name); });
  return problem{weft::format("unknown option '{}'; did you mean '--{}'?", given, nearest->name)};
}

std::expected<std::string, std::string> read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "rb"),
                                                             &std::fclose};
  if (file == nullptr) {
    return problem{weft::format("cannot read '{}': {}", path, std::strerror(errno))};
  }
  std::string text;
  std::array<char, 4096> piece;
  while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), file.get())) {
    text.append(piece.data(), got);
  }
  if (std::ferror(file.get()) != 0) return problem{weft::format("cannot read '{}'", path)};
  return text;
}

std::expected<int, std::string> parse_count(std::string_view text, std::string_view what,
                                            int most) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end || number < 1 || number > most)
    return problem{weft::format("'{}' {}: give a number from 1 to {}", text, what, most)};
  return number;
}

std::expected<std::vector<request_line>, std::string> read_requests(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return problem{text.error()};
  auto requests = parse_requests(*text);
  if (!requests) return problem{weft::format("{}: {}", path, requests.error())};
  return requests;
}

std::expected<std::string, std::string> parse_header(std::string_view text) {
  const std::size_t colon = text.find(':');
  const bool one_line = text.find_first_of("\r\n") == text.npos;
  if (colon == text.npos || colon == 0 || text[colon - 1] == ' ' || !one_line) {
    return problem{weft::format("'{}' is no header: write 'Name: value'", text)};
  }
  return std::string{text};
}

std::expected<std::chrono::nanoseconds, std::string> parse_positive_duration(
    std::string_view text) {
  auto parsed = parse_duration(text);
  if (parsed && parsed->count() == 0) return problem{weft::format("'{}' is no time at all", text)};
  return parsed;
}

struct unit {
  std::string_view name;
  double scale;
};

// A number that is not negative, with one of these units behind it; times the unit's scale.
std::optional<double> parse_number(std::string_view text, std::span<const unit> units) {
  const std::size_t unit_start = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string digits{text.substr(0, unit_start)};
  const auto given = std::ranges::find(units, text.substr(unit_start), &unit::name);
  char* end = nullptr;  // libc++ 19 has no std::from_chars for double
  const double number = std::strtod(digits.c_str(), &end);
  const bool is_number = end == digits.c_str() + digits.size() && !digits.empty();
  if (!is_number || given == units.end()) return std::nullopt;
  return number * given->scale;
}

bool is_method(std::string_view text) {
  const auto is_letter = [](char letter) { return letter >= 'A' && letter <= 'Z'; };
  return !text.empty() && std::ranges::all_of(text, is_letter);
}

// Stores `value` where it is wanted.
template <class T, class U>
std::expected<void, std::string> keep(T& place, std::expected<U, std::string> value) {
  if (!value) return problem{std::move(value).error()};
  place = *std::move(value);
  return {};
}

std::expected<void, std::string> apply(load_options& to, std::string_view name,
                                       std::string_view value) {
  if (name == "connections")
    return keep(to.connections, parse_count(value, "connections", most_connections));
  if (name == "pipeline") return keep(to.pipelined, parse_count(value, "requests", most_pipelined));
  if (name == "threads") return keep(to.threads, parse_count(value, "threads", most_threads));
  if (name == "requests") return keep(to.requests, read_requests(std::string{value}));
  if (name == "rate") return keep(to.rate, parse_rate(value));
  if (name == "p99") return keep(to.p99_most, parse_positive_duration(value));
  if (name == "duration") return keep(to.duration, parse_positive_duration(value));
  if (name == "timeout") return keep(to.timeout, parse_positive_duration(value));
  if (name == "warm-up") return keep(to.warm_up, parse_duration(value));
  if (name == "body") return keep(to.body, read_file(std::string{value}));
  if (name == "data") {
    to.body = value;
  } else if (name == "method") {
    if (!is_method(value)) return problem{weft::format("'{}' is no method: GET, POST, ...", value)};
    to.method = value;
  } else if (name == "header") {
    auto header = parse_header(value);
    if (!header) return problem{std::move(header).error()};
    to.headers.push_back(*std::move(header));
  } else if (name == "find-max") {
    to.find_max = true;
  } else if (name == "ca") {
    to.ca_file = value;
  } else if (name == "insecure") {
    to.insecure = true;
  } else if (name == "http2") {
    to.http2 = true;
  } else if (name == "binary") {
    to.binary = true;
  } else if (name == "echo") {
    to.echo = true;
  } else if (name == "html") {
    if (value.empty()) return problem{std::string{"--html needs a file to write to"}};
    to.html = value;
  } else if (name == "json") {
    to.json = true;
  } else if (name == "quiet") {
    to.quiet = true;
  } else {
    to.help = true;
  }
  return {};
}

// The option that `argument` names, and the value glued to it ("--data=x", "-c400"), if any.
struct named_option {
  const option* which = nullptr;
  std::string_view value;
  bool has_value = false;
};

named_option find_option(std::string_view argument) {
  named_option found;
  if (argument.starts_with("--")) {
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(2, equals == argument.npos ? equals : equals - 2);
    const auto* const known = std::ranges::find(all_options, name, &option::name);
    if (known != all_options.end()) found.which = known;
    found.has_value = equals != argument.npos;
    if (found.has_value) found.value = argument.substr(equals + 1);
  } else {
    const auto* const known = std::ranges::find(all_options, argument[1], &option::letter);
    if (known != all_options.end()) found.which = known;
    found.has_value = argument.size() > 2;
    found.value = argument.substr(2);
  }
  return found;
}

// What tcp:// and ws:// send.
std::expected<load_options, std::string> with_message(load_options options) {
  const bool is_raw = options.to.speaks == scheme::tcp;
  if (options.http2 && (is_raw || is_websocket(options.to.speaks) || options.echo))
    return problem{std::string{"--http2 is for http:// and https://, without --echo"}};
  if (!is_raw && !is_websocket(options.to.speaks)) {
    if (options.binary) return problem{std::string{"--binary is for ws:// and wss://"}};
    return options;
  }
  if (!options.requests.empty() || !options.method.empty())
    return problem{std::string{
        "tcp:// and ws:// send one message again and again: leave out --requests and --method"}};
  options.echo |= is_raw;
  if (options.body.empty()) options.body = default_echo_message;
  return options;
}

}  // namespace

std::expected<std::chrono::nanoseconds, std::string> parse_duration(std::string_view text) {
  constexpr double longest_seconds = 86'400;
  constexpr std::array<unit, 4> units{{{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}}};
  const auto seconds = parse_number(text, units);
  if (!seconds || *seconds > longest_seconds) {
    return problem{
        weft::format("'{}' is no time: write 500ms, 2s, 1.5 or 1m, at most a day", text)};
  }
  return std::chrono::nanoseconds{static_cast<std::int64_t>(*seconds * 1e9)};
}

std::expected<double, std::string> parse_rate(std::string_view text) {
  constexpr std::array<unit, 3> units{{{"", 1}, {"k", 1e3}, {"M", 1e6}}};
  const auto rate = parse_number(text, units);
  if (!rate || *rate <= 0 || *rate > most_rate) {
    return problem{
        weft::format("'{}' is no rate: write 1500, 2.5k or 1M, for so many a second", text)};
  }
  return *rate;
}

std::expected<load_options, std::string> parse_load_options(
    std::span<const std::string_view> arguments) {
  load_options options;
  std::string_view url;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument.size() < 2 || argument.front() != '-') {
      if (!url.empty())
        return problem{weft::format("one URL at a time: '{}' is a second", argument)};
      url = argument;
      continue;
    }
    named_option given = find_option(argument);
    if (given.which == nullptr) return unknown_option(argument);
    if (given.which->takes_value && !given.has_value) {
      if (i + 1 == arguments.size()) return problem{weft::format("'{}' needs a value", argument)};
      given.value = arguments[++i];
    } else if (!given.which->takes_value && given.has_value) {
      return problem{weft::format("'{}' takes no value", argument)};
    }
    const auto applied = apply(options, given.which->name, given.value);
    if (!applied) return problem{applied.error()};
    if (options.help) return options;
  }
  if (!options.requests.empty() && !(options.body.empty() && options.method.empty()))
    return problem{std::string{"--requests says it all: leave out --data, --body and --method"}};
  options.threads = std::min(options.threads, options.connections);
  if (options.find_max && options.rate > 0)
    return problem{std::string{"--find-max looks for the rate: leave out --rate"}};
  if (options.duration.count() == 0)
    options.duration = options.find_max ? find_max_step : default_duration;
  if (url.empty()) return problem{std::string{"no URL given, as http://127.0.0.1:8080/"}};
  const auto kept = keep(options.to, parse_target(url));
  if (!kept) return problem{kept.error()};
  return with_message(std::move(options));
}

}  // namespace weft::bench
