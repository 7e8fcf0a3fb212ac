// How urgent a client calls a request: its Priority field (RFC 9218 section 4).
//
// Contract: internal to http. What the field does not say has its default, and so has all of it
// where it cannot be read: nobody is refused for it.
//
//   const stream_priority wish = read_priority("u=1, i");
#pragma once

#include <cstdint>
#include <string_view>

#include <weft/http/field_syntax.hpp>

namespace weft::http::http2 {

struct stream_priority {
  std::uint32_t urgency = 3;  // 0: first, 7: last
  bool is_incremental = false;

  friend bool operator==(const stream_priority&, const stream_priority&) = default;
};

[[nodiscard]] inline stream_priority read_priority(std::string_view field) noexcept {
  stream_priority read;
  while (!field.empty()) {
    std::string_view element = field_syntax::take_element(field);
    element = field_syntax::trim(element.substr(0, element.find(';')));  // no parameter is known
    if (element.size() == 3 && element.starts_with("u=")) {
      if (element[2] < '0' || element[2] > '7') return {};
      read.urgency = static_cast<std::uint32_t>(element[2] - '0');
    } else if (element == "i" || element == "i=?1") {
      read.is_incremental = true;
    } else if (element == "i=?0") {
      read.is_incremental = false;
    }
  }
  return read;
}

}  // namespace weft::http::http2
