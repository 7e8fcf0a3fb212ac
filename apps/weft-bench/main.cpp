// weft-bench: measures servers, and weft itself. `weft-bench --help` lists the commands.
#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.hpp"
#include "dispatch_workload.hpp"
#include "event_workload.hpp"
#include "load_command.hpp"
#include "rdrs_server.hpp"
#include "realtime_command.hpp"
#include "serializer_workload.hpp"
#include "service_workload.hpp"
#include "store_workload.hpp"
#include "workload.hpp"

#include <weft/base/format.hpp>

namespace {

using namespace weft::bench;

constexpr std::string_view help =
    R"(Usage: weft-bench load URL [options]
       weft-bench coroutine|event|dispatch|start|start-stop|serializer|store [options]
       weft-bench rdrs [options]
       weft-bench realtime [options]

  load         puts a load on a server and reports rate, latency and errors
  coroutine    resumes a coroutine by a coroutine of an event, millions of times
  event        fills the event queue and tells what is in it
  dispatch     tells urgent events before a million of low priority
  start        makes, starts and stops services
  start-stop   stops and starts one that another needs
  serializer   writes and reads JSON
  store        looks up rows of a SQLite database
  rdrs         serves batches of reads in steps, for `load` to measure
  realtime     how late a thread is woken, beside cyclictest

`weft-bench COMMAND --help` lists a command's options.
)";

constexpr std::array<workload, 7> workloads{{
    {.name = "coroutine", .run = &run_coroutines, .count = 5'000'000},
    {.name = "event", .run = &run_events, .count = 5'000'000},
    {.name = "dispatch", .run = &run_dispatches, .count = 1'000'000},
    {.name = "start", .run = &run_starts, .count = 1},
    {.name = "start-stop", .run = &run_start_stops, .count = 1'000'000},
    {.name = "serializer", .run = &run_serializer, .count = 5'000'000},
    {.name = "store", .run = &run_look_ups, .count = 5'000'000},
}};

int run(const workload& what, std::span<const std::string_view> arguments) {
  const auto options = parse_workload_options(arguments);
  if (!options) return complain(what.name, options.error());
  if (options->help) {
    print(stdout, workload_help);
    return 0;
  }
  return run_workload(what, *options);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    print(stderr, help);
    return wrong_use;
  }
  const auto rest = std::span{arguments}.subspan(1);
  if (arguments[0] == "load") return run_load_command(rest);
  if (arguments[0] == "rdrs") return run_rdrs_server(argc - 1, argv + 1);
  if (arguments[0] == "realtime") return run_realtime_command(argc - 1, argv + 1);
  const auto* const named = std::ranges::find(workloads, arguments[0], &workload::name);
  if (named != workloads.end()) return run(*named, rest);
  if (arguments[0] == "--help" || arguments[0] == "-h") {
    print(stdout, help);
    return 0;
  }
  if (arguments[0] == "--version") {
    print(stdout, "weft-bench " WEFT_VERSION "\n");
    return 0;
  }
  std::string names = "load, rdrs, realtime";
  for (const workload& each : workloads) names += weft::format(", {}", each.name);
  return complain("load", weft::format("no command '{}', but {}", arguments[0], names));
}
