// The command line of `weft-bench load`.
//
//   auto options = weft::bench::parse_load_options({"http://127.0.0.1:8080/ping", "-c", "400"});
//   // options->connections == 400
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "request_file.hpp"
#include "target.hpp"

namespace weft::bench {

struct load_options {
  bool help = false;  // asked for: nothing else matters then
  target to;
  std::string method;                // empty: POST with a body, GET without
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  std::vector<request_line> requests;  // instead of the target's path, sent in turn
  bool echo = false;                   // the reply is the request itself
  bool http2 = false;                  // is spoken, without asking for it in the clear
  bool binary = false;                 // a WebSocket's messages are no text
  int connections = 50;
  int pipelined = 1;  // requests on a connection, or its streams, that have no reply yet
  int threads = 1;
  double rate = 0;        // a second; 0: closed loop
  bool find_max = false;  // search the highest rate that keeps `p99_most`
  std::chrono::nanoseconds p99_most = std::chrono::milliseconds{10};
  std::string ca_file;                  // whom https trusts; empty: those whom the system trusts
  bool insecure = false;                // https trusts anybody
  std::chrono::nanoseconds duration{};  // never 0 once parsed
  std::chrono::nanoseconds warm_up = std::chrono::seconds{1};
  std::chrono::nanoseconds timeout = std::chrono::seconds{10};
  std::string html;  // the file that a page is written to; empty: none
  bool json = false;
  bool quiet = false;
};

inline constexpr int most_connections = 1'000'000;
inline constexpr int most_pipelined = 1'000;
inline constexpr int most_threads = 1'000;
inline constexpr double most_rate = 1e9;

// `arguments` without the program's and the command's name. Reads the files of --body and
// --requests. The error is
// a sentence for the user; for a misspelt option it names the nearest right one.
std::expected<load_options, std::string> parse_load_options(
    std::span<const std::string_view> arguments);

// "10" and "1.5" are seconds; "500ms", "2s" and "1m" say their unit.
std::expected<std::chrono::nanoseconds, std::string> parse_duration(std::string_view text);

// "1500", "2.5k" and "1M" a second.
std::expected<double, std::string> parse_rate(std::string_view text);

extern const std::string_view load_help;

}  // namespace weft::bench
