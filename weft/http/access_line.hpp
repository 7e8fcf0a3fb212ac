// A line of the access log for one reply.
//
// Problem: what a client sends goes into a file that people and programs read; a line end in it
// forges a line. Contract: `combined` is the format that Apache and nginx share and every tool
// reads, with the reply's time in microseconds behind it; `json` is an object. Both are one line of
// UTF-8 without control characters, ended by "\n", whatever the texts hold: in `combined` quotes
// and backslashes of a client stand behind a backslash. Appends; allocates only what `out` does.
//
//   line.clear();
//   http::append_access_line(line, {.client = "10.0.0.1", .method = "GET", .target = "/", ...},
//                            access_format::combined);
//   // 10.0.0.1 - - [06/Nov/1994:08:49:37 +0000] "GET / HTTP/1.1" 200 5 "-" "curl/8" 120
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <weft/base/time.hpp>
#include <weft/http/status.hpp>

namespace weft::http {

struct access_record {
  std::string_view client;  // an address
  std::string_view method;
  std::string_view target;  // mind that queries may hold what is secret
  unsigned major_version = 1;
  unsigned minor_version = 1;
  http::status code = status::ok;
  std::uint64_t body_bytes = 0;  // sent
  duration length{};             // from the request's first byte to the reply's last
  std::int64_t unix_seconds = 0;
  std::string_view referer{};     // empty: none
  std::string_view user_agent{};  // empty: none
};

enum class access_format : std::uint8_t { combined, json };

void append_access_line(std::string& out, const access_record& what, access_format how);

}  // namespace weft::http
