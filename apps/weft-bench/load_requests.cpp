#include "load_requests.hpp"

#include <strings.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "websocket_frame.hpp"

#include <weft/base/format.hpp>

namespace weft::bench {
namespace {

bool has_header(const load_options& options, std::string_view name) {
  return std::ranges::any_of(options.headers, [&](const std::string& header) {
    return header.size() > name.size() && header[name.size()] == ':' &&
           ::strncasecmp(header.data(), name.data(), name.size()) == 0;
  });
}

std::string http_bytes(const load_options& options, const request_line& what) {
  std::string bytes = weft::format("{} {} HTTP/1.1\r\n", what.method, what.path);
  if (!has_header(options, "host")) bytes += weft::format("Host: {}\r\n", options.to.authority());
  if (!what.body.empty() && !has_header(options, "content-type"))
    bytes += "Content-Type: application/json\r\n";
  for (const std::string& header : options.headers) bytes += header + "\r\n";
  if (!what.body.empty() || what.method == "POST" || what.method == "PUT")
    bytes += weft::format("Content-Length: {}\r\n", what.body.size());
  return bytes + "\r\n" + what.body;
}

std::string lower_case(std::string_view text) {
  std::string lower{text};
  for (char& letter : lower) letter = letter >= 'A' && letter <= 'Z' ? letter | 0x20 : letter;
  return lower;
}

// "Name: value" as a field of HTTP/2, whose names are in lower case (RFC 9113 section 8.2).
load_field field_of(std::string_view header) {
  const std::size_t colon = header.find(':');
  const std::size_t value = std::min(header.find_first_not_of(" \t", colon + 1), header.size());
  return {lower_case(header.substr(0, colon)), std::string{header.substr(value)}};
}

load_request http2_request(const load_options& options, const request_line& what) {
  load_request made{.bytes = what.body, .is_head = what.method == "HEAD"};
  const std::string scheme = is_secured(options.to.speaks) ? "https" : "http";
  made.fields = {{":method", what.method},
                 {":scheme", scheme},
                 {":authority", options.to.authority()},
                 {":path", what.path}};
  if (!what.body.empty() && !has_header(options, "content-type"))
    made.fields.push_back({"content-type", "application/json"});
  for (const std::string& header : options.headers) {
    load_field field = field_of(header);
    if (field.name == "host")
      made.fields[2].value = std::move(field.value);
    else
      made.fields.push_back(std::move(field));
  }
  if (!what.body.empty())
    made.fields.push_back({"content-length", std::to_string(what.body.size())});
  return made;
}

load_request http_request(const load_options& options, const request_line& what) {
  if (options.http2) return http2_request(options, what);
  return {.bytes = http_bytes(options, what), .is_head = what.method == "HEAD"};
}

load_request message(const load_options& options) {
  const opcode means = options.binary ? opcode::binary : opcode::text;
  return {.bytes = masked_frame(means, options.body), .echo = options.echo ? options.body : ""};
}

request_line only_request(const load_options& options) {
  const std::string_view usual = options.body.empty() ? "GET" : "POST";
  return {.method = options.method.empty() ? std::string{usual} : options.method,
          .path = options.to.path,
          .body = options.body};
}

}  // namespace

std::vector<load_request> make_requests(const load_options& options) {
  if (options.to.speaks == scheme::tcp) return {{.bytes = options.body}};
  if (is_websocket(options.to.speaks)) return {message(options)};
  if (options.requests.empty()) return {http_request(options, only_request(options))};
  std::vector<load_request> all;
  all.reserve(options.requests.size());
  for (const request_line& each : options.requests) all.push_back(http_request(options, each));
  return all;
}

std::string make_opening(const load_options& options) {
  std::string head = weft::format("GET {} HTTP/1.1\r\n", options.to.path);
  if (!has_header(options, "host")) head += weft::format("Host: {}\r\n", options.to.authority());
  head += "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n";
  for (const std::string& header : options.headers) head += header + "\r\n";
  return head;
}

}  // namespace weft::bench
