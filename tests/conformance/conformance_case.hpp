// The cases of tests/conformance/http1/, read from their files; README.md there describes the
// format.
//
// Contract: read_cases() reads every *.txt below the current directory's tests/conformance/http1,
// in the order of their names, and throws std::runtime_error for a line it does not understand.
// What a case does not say about its replies is filled in by the defaults README.md gives.
//
//   for (const conformance_case& one : read_cases()) check(one, describe_message(one.bytes, {}, {}));
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tests/conformance/case_files.hpp>
#include <weft/http/limits.hpp>

namespace weft::http {

/// What a client is to be told, once.
struct expected_reply {
  int status = 0;
  bool to_head = false;      // it has no content, whatever its length says
  bool is_optional = false;  // 100 Continue, which whoever sends its body at once may miss
  std::vector<std::string> lines = {};      // of its head
  std::vector<std::string> absent = {};     // names of fields that it must not have
  std::optional<std::string> content = {};  // the whole of it
  std::string content_begins = {};
  std::string content_ends = {};
};

/// After the last reply.
enum class expected_end {
  open,     // another request is answered
  waiting,  // silent, until the client ends its side
  closed,   // in order: never reset
  ended,    // closed, or reset by bytes of a client that had said it would send no more
};

struct conformance_case {
  std::string name;
  std::string file;
  std::string rule;
  std::string bytes;
  std::string expect;              // "accept", "incomplete" or a status
  std::vector<std::string> facts;  // lines that the parser's outcome must hold
  limits bounds;
  bool has_own_bounds = false;
  std::string routes = "echo";
  bool states_replies = false;
  std::vector<expected_reply> replies;
  std::optional<expected_end> end;
  /// Offsets in `bytes` with the number of replies that must have come before what follows is sent.
  std::vector<std::pair<std::size_t, std::size_t>> awaits;

  /// The value of a fact that stands in the case.
  [[nodiscard]] std::optional<std::string> fact(std::string_view key) const {
    for (const std::string& each : facts)
      if (each.starts_with(key) && each[key.size()] == '=') return each.substr(key.size() + 1);
    return std::nullopt;
  }
};

namespace conformance_detail {

inline std::string unescape(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
      continue;
    }
    switch (text.at(++i)) {
      case 'r': bytes += '\r'; break;
      case 'n': bytes += '\n'; break;
      case 't': bytes += '\t'; break;
      case 's': bytes += ' '; break;
      case '\\': bytes += '\\'; break;
      case 'x':
        bytes += static_cast<char>(std::stoi(std::string{text.substr(i + 1, 2)}, nullptr, 16));
        i += 2;
        break;
      default: throw std::runtime_error("unknown escape in: " + std::string{text});
    }
  }
  return bytes;
}

inline void set_limit(limits& bounds, const std::string& text) {
  const std::size_t space = text.find(' ');
  const std::string name = text.substr(0, space);
  const std::size_t value = std::stoul(text.substr(space));
  if (name == "request_line_bytes")
    bounds.request_line_bytes = value;
  else if (name == "head_bytes")
    bounds.head_bytes = value;
  else if (name == "headers")
    bounds.headers = value;
  else if (name == "body_bytes")
    bounds.body_bytes = value;
  else if (name == "chunk_extension_bytes")
    bounds.chunk_extension_bytes = value;
  else if (name == "trailer_bytes")
    bounds.trailer_bytes = value;
  else if (name == "requests_per_connection")
    bounds.requests_per_connection = static_cast<std::uint32_t>(value);
  else
    throw std::runtime_error("unknown limit: " + name);
}

inline void add_reply(conformance_case& to, const std::string& text) {
  to.states_replies = true;
  if (text == "none") return;
  const std::string behind = text.substr(std::min<std::size_t>(3, text.size()));
  if (behind != "" && behind != " to HEAD" && behind != " maybe")
    throw std::runtime_error("unknown kind of reply: " + text);
  to.replies.push_back({.status = std::stoi(text),
                        .to_head = behind == " to HEAD",
                        .is_optional = behind == " maybe"});
}

inline expected_end parse_end(std::string_view text) {
  if (text == "open") return expected_end::open;
  if (text == "waiting") return expected_end::waiting;
  if (text == "closed") return expected_end::closed;
  if (text == "ended") return expected_end::ended;
  throw std::runtime_error("unknown end: " + std::string{text});
}

inline expected_reply& last_reply(conformance_case& of) {
  if (of.replies.empty()) throw std::runtime_error("no reply yet in " + of.name);
  return of.replies.back();
}

inline bool set_value(conformance_case& to, const std::string& key, const std::string& value) {
  if (key == "send") {
    to.bytes += unescape(value);
  } else if (key.starts_with("send*")) {
    for (int i = std::stoi(key.substr(5)); i > 0; --i) to.bytes += unescape(value);
  } else if (key == "expect") {
    to.expect = value;
  } else if (key == "fact") {
    to.facts.push_back(unescape(value));
  } else if (key == "limit") {
    set_limit(to.bounds, value);
    to.has_own_bounds = true;
  } else if (key == "routes") {
    to.routes = value;
  } else if (key == "reply") {
    add_reply(to, value);
  } else if (key == "line") {
    last_reply(to).lines.push_back(value);
  } else if (key == "no-line") {
    last_reply(to).absent.push_back(value);
  } else if (key == "content") {
    last_reply(to).content = unescape(value);
  } else if (key == "await") {
    to.awaits.emplace_back(to.bytes.size(), std::stoul(value));
  } else if (key == "end") {
    to.end = parse_end(value);
  } else {
    return false;
  }
  return true;
}

/// The method as it was sent, which an echo names first.
inline std::string sent_method(const conformance_case& one) {
  std::string_view text = one.bytes;
  if (text.starts_with("\r\n")) text.remove_prefix(2);
  return std::string{text.substr(0, text.find(' '))};
}

/// The reply of an echo: method, path and a line end, then the content.
inline expected_reply echo_of(const conformance_case& one) {
  expected_reply echo{.status = 200, .to_head = sent_method(one) == "HEAD"};
  const auto keep = one.fact("keep-alive");
  if (keep == "no")
    echo.lines.emplace_back("Connection: close");
  else if (keep == "yes" && one.fact("minor") == "0")
    echo.lines.emplace_back("Connection: keep-alive");
  else
    echo.absent.emplace_back("Connection");
  if (echo.to_head) return echo;
  echo.content_begins = sent_method(one) + " ";
  auto path = one.fact("normal");
  if (!path) path = one.fact("path");
  if (path) echo.content_begins += *path + "\n";
  if (const auto body = one.fact("body")) echo.content_ends = "\n" + *body;
  return echo;
}

/// What README.md says where a case says nothing of its replies.
inline void add_defaults(conformance_case& to) {
  const bool is_refused = to.expect != "accept" && to.expect != "incomplete";
  if (!to.states_replies && to.expect == "accept") {
    if (to.fact("expect-continue") == "yes")
      to.replies.push_back({.status = 100, .is_optional = true});
    to.replies.push_back(echo_of(to));
  } else if (!to.states_replies && is_refused) {
    to.replies.push_back({.status = std::stoi(to.expect), .to_head = sent_method(to) == "HEAD"});
  }
  if (is_refused && !to.replies.empty()) {
    to.replies.back().lines.emplace_back("Connection: close");
    to.replies.back().lines.emplace_back("Content-Type: application/problem+json");
  }
  if (to.end) return;
  if (to.expect == "incomplete")
    to.end = expected_end::waiting;
  else
    to.end =
        is_refused || to.fact("keep-alive") == "no" ? expected_end::closed : expected_end::open;
}

}  // namespace conformance_detail

[[nodiscard]] inline std::vector<conformance_case> read_cases() {
  auto cases = read_case_files<conformance_case>("http1", &conformance_detail::set_value);
  std::ranges::for_each(cases, conformance_detail::add_defaults);
  return cases;
}

/// Read once.
[[nodiscard]] inline const std::vector<conformance_case>& conformance_cases() {
  static const std::vector<conformance_case> all = read_cases();
  return all;
}

}  // namespace weft::http
