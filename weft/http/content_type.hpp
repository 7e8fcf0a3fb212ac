// The Content-Type field: a media type and its parameters (RFC 9110 section 8.3.1).
//
// Contract: type "/" subtype *( OWS ";" OWS parameter ), with white space around the "=" of a
// parameter, or no value, where a client sends that. Names compare without regard to case;
// values as sent. Stricter than most: a parameter that is there twice, or more than 16 of them,
// make the value malformed, since two readers would take different ones. Views of the value;
// nothing is allocated.
//
//   auto type = http::parse_content_type(*r.header("content-type"));
//   if (type && type->is("multipart", "form-data"))
//     use(type->parameter("boundary", room));
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace weft::http {

struct content_type {
  std::string_view type;
  std::string_view subtype;
  std::string_view parameters;  // from the first ";" on, as sent

  [[nodiscard]] bool is(std::string_view wanted_type,
                        std::string_view wanted_subtype) const noexcept;
  // What a parameter's value means; it may lie in `room`, which has as many bytes as `parameters`.
  [[nodiscard]] std::optional<std::string_view> parameter(std::string_view name,
                                                          std::span<char> room) const noexcept;
};

// None where the value is no media type.
[[nodiscard]] std::optional<content_type> parse_content_type(std::string_view value) noexcept;

}  // namespace weft::http
