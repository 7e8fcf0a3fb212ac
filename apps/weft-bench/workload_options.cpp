#include "workload_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <weft/base/format.hpp>

namespace weft::bench {
namespace {

constexpr std::uint64_t count_most = 1'000'000'000;
constexpr std::uint64_t services_most = 100'000'000;
constexpr std::uint64_t threads_most = 1024;
constexpr std::uint64_t batch_most = 10'000;

constexpr std::array<std::pair<std::string_view, service_graph_shape>, 4> shapes{{
    {"loggers", service_graph_shape::loggers},
    {"fan-in", service_graph_shape::fan_in},
    {"chain", service_graph_shape::chain},
    {"random", service_graph_shape::random},
}};
constexpr std::array<std::pair<std::string_view, injection_form>, 2> forms{{
    {"constructor", injection_form::constructor},
    {"dynamic", injection_form::dynamic},
}};

constexpr std::array<std::pair<std::string_view, store_key_form>, 2> keys{{
    {"integer", store_key_form::integer_key},
    {"int", store_key_form::int_key},
}};

using refusal = std::unexpected<std::string>;
using parsed = std::expected<void, std::string>;

parsed parse_number(std::string_view name, std::string_view text, std::uint64_t most,
                    std::uint64_t& into) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end || number < 1 || number > most)
    return refusal{weft::format("'{}' for {}: give a number from 1 to {}", text, name, most)};
  into = number;
  return {};
}

template <class Choices, class T>
parsed parse_choice(std::string_view name, std::string_view text, const Choices& choices, T& into) {
  std::string names;
  for (const auto& [each, meaning] : choices) {
    if (each == text) {
      into = meaning;
      return {};
    }
    names += weft::format("{}{}", names.empty() ? "" : ", ", each);
  }
  return refusal{weft::format("'{}' for {}: one of {}", text, name, names)};
}

parsed set(workload_options& options, std::string_view name, std::string_view value) {
  if (name == "--count") return parse_number(name, value, count_most, options.count);
  if (name == "--capacity") return parse_number(name, value, count_most, options.capacity);
  if (name == "--queued") return parse_number(name, value, count_most, options.queued);
  if (name == "--services") return parse_number(name, value, services_most, options.services);
  if (name == "--graph") return parse_choice(name, value, shapes, options.graph);
  if (name == "--injection") return parse_choice(name, value, forms, options.injection);
  if (name == "--batch") return parse_number(name, value, batch_most, options.batch);
  if (name == "--key") return parse_choice(name, value, keys, options.key);
  std::uint64_t threads = 0;
  if (auto read = parse_number(name, value, threads_most, threads); !read) return read;
  options.threads = static_cast<unsigned>(threads);
  return {};
}

bool takes_value(std::string_view name) {
  constexpr std::array<std::string_view, 9> known{"--threads",   "--count",    "--capacity",
                                                  "--queued",    "--services", "--graph",
                                                  "--injection", "--batch",    "--key"};
  return std::ranges::find(known, name) != known.end();
}

}  // namespace

const std::string_view workload_help =
    R"(Usage: weft-bench coroutine|event|dispatch|start|start-stop|serializer|store [options]

  coroutine   a coroutine made, queued, run and ended, and another one resumed, again and again
  event       events without data are published, all of them, and then told to nobody, in order
  dispatch    an urgent event is published and told, again and again, before all that are queued
  start       services are made and started, each with a logger of its own, and all are stopped
  start-stop  a service that another one needs is stopped and started again: both of them are
  serializer  a struct is written as JSON, read back and compared
  store       rows of a SQLite database are looked up by their key, two columns each

  --threads N        after one thread, N at once, each of which does the whole count (1)
  --count N          how often (5000000; dispatch, start-stop: 1000000; start: 1)
  --capacity N       event: the producer waits while N events are queued (it never does)
  --queued N         dispatch: events of low priority that wait meanwhile (1000000)
  --services N       start: how many, without their loggers (10000)
  --graph SHAPE      start: loggers, or what they need as well: fan-in, chain or random (loggers)
  --injection FORM   start: constructor (T&) or dynamic (maybe<T>) (constructor)
  --batch N          store: look-ups a turn of the loop, in one call (100)
  --key FORM         store: INTEGER PRIMARY KEY, or INT PRIMARY KEY, which has an index (integer)
  --json             a line of JSON a phase
)";

std::expected<workload_options, std::string> parse_workload_options(
    std::span<const std::string_view> arguments) {
  workload_options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
      return options;
    }
    if (name == "--json") {
      options.json = true;
      continue;
    }
    if (!takes_value(name)) return refusal{weft::format("unknown option '{}'", name)};
    if (i + 1 == arguments.size()) return refusal{weft::format("'{}' needs a value", name)};
    if (auto given = set(options, name, arguments[++i]); !given) return refusal{given.error()};
  }
  return options;
}

}  // namespace weft::bench
