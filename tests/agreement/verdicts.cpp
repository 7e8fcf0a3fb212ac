// Says what our parser makes of each request of a file: one line of JSON each, in their order, as
// llhttp_verdicts.js says it of its own.
//
//   weft_verdicts requests.bin > verdicts.jsonl
//
// The file has a length of four bytes, little-endian, before each request.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weft/http/chunked_decoder.hpp>
#include <weft/http/request_parser.hpp>
#include <weft/json/write.hpp>

namespace {

using namespace weft::http;

struct verdict {
  std::string outcome{};  // "accept", "incomplete", or why not
  std::string method{};
  std::string target{};
  unsigned minor = 0;
  bool keep_alive = false;
  std::vector<std::vector<std::string>> headers{};  // name and value
  std::string body{};
};

/// JSON is text, requests are bytes: each byte as the character of its number (ISO 8859-1).
std::string as_text(std::string_view bytes) {
  std::string text;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte < 0x80) {
      text += each;
    } else {
      text += static_cast<char>(0xC0 | byte >> 6);
      text += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return text;
}

verdict describe(const parsed_head& head) {
  verdict found{.outcome = "accept",
                .method = std::string{to_string(head.method())},
                .target = as_text(head.target()),
                .minor = head.minor_version(),
                .keep_alive = head.keep_alive()};
  for (const auto [name, value] : head.headers())
    found.headers.push_back({as_text(name), as_text(value)});
  return found;
}

verdict refuse(const protocol_fault& why) { return {.outcome = std::string{why.reason}}; }

verdict read_chunks(std::string_view bytes, verdict head, const limits& bounds) {
  chunked_decoder decoder;
  std::string body;
  const chunked_progress progress = decoder.decode(bytes, body, bounds);
  if (progress.status == chunked_status::failed) return refuse(decoder.fault());
  if (progress.status != chunked_status::complete) return {.outcome = "incomplete"};
  head.body = as_text(body);
  return head;
}

verdict judge(std::string_view bytes) {
  const limits bounds;
  const auto head = std::make_unique<parsed_head>();
  request_parser parser;
  switch (parser.parse(bytes, *head, bounds)) {
    case parse_status::failed: return refuse(parser.fault());
    case parse_status::incomplete: return {.outcome = "incomplete"};
    case parse_status::complete: break;
  }
  const std::string_view rest = bytes.substr(head->size_bytes());
  if (head->chunked()) return read_chunks(rest, describe(*head), bounds);
  const std::size_t length = head->content_length().value_or(0);
  if (length > bounds.body_bytes)
    return refuse(weft::http::describe(fault_kind::body_too_large, 0));
  if (rest.size() < length) return {.outcome = "incomplete"};
  verdict found = describe(*head);
  found.body = as_text(rest.substr(0, length));
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 2;
  }
  std::ifstream file{argv[1], std::ios::binary};
  const std::string all{std::istreambuf_iterator<char>{file}, {}};
  std::string line;
  for (std::string_view left = all; !left.empty();) {
    std::uint32_t length = 0;
    if (left.size() < sizeof length) return 2;
    std::memcpy(&length, left.data(), sizeof length);
    left.remove_prefix(sizeof length);
    if (left.size() < length) return 2;
    line.clear();
    weft::json::write(judge(left.substr(0, length)), line);
    std::puts(line.c_str());
    left.remove_prefix(length);
  }
}
