// The command line of the workloads.
//
//   weft-bench start --services 10000 --graph random --json
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

namespace weft::bench {

/// What the services of `start` need: each a logger of its own, and ...
enum class service_graph_shape : std::uint8_t {
  loggers,  // nobody else
  fan_in,   // all the first
  chain,    // each the one before
  random    // three of those before, drawn from one seed
};

/// How they get it.
enum class injection_form : std::uint8_t {
  constructor,  // as T&
  dynamic       // as maybe<T>, which shows what comes and goes
};

/// What the primary key of `store` is declared as.
enum class store_key_form : std::uint8_t {
  integer_key,  // INTEGER: SQLite's row number
  int_key       // INT: an index beside the rows
};

struct workload_options {
  bool help = false;
  bool json = false;
  unsigned threads = 1;
  std::uint64_t count = 0;           // 0: as many as the workload has by itself
  std::uint64_t capacity = 0;        // 0: the producer never waits
  std::uint64_t queued = 1'000'000;  // of low priority, behind which none of `dispatch` waits
  std::uint64_t services = 10'000;
  service_graph_shape graph = service_graph_shape::loggers;
  injection_form injection = injection_form::constructor;
  std::uint64_t batch = 100;
  store_key_form key = store_key_form::integer_key;
};

/// `arguments` without the program's and the command's name; the error is a sentence for the user.
std::expected<workload_options, std::string> parse_workload_options(
    std::span<const std::string_view> arguments);

extern const std::string_view workload_help;

}  // namespace weft::bench
