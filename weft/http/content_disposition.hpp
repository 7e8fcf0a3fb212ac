// The Content-Disposition field: what a part or a message is called (RFC 6266, RFC 7578
// section 4.2).
//
// Contract: disposition-type *( ";" parameter ), each parameter once, with white space around its
// "=" where a client sends some. `filename*` is decoded (RFC 8187: UTF-8 and ISO-8859-1) and goes
// before `filename` (RFC 6266 section 4.3); in another character set, malformed or empty it is
// passed over. A parameter without a value is empty. Inside of quotes a backslash hides only `"`
// and `\`: browsers send the backslashes of file names bare. Percent signs stay as they are:
// browsers write a quote as "%22", and so does a file that is called so. What is decoded lies in
// `room`; allocates nothing. A file name that came from outside is text to show, never a path:
// safe_file_name.hpp.
//
//   std::array<char, 512> room;
//   auto part = http::parse_content_disposition(R"(form-data; name="a"; filename="b.txt")", room);
//   part->name;  // "a"
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace weft::http {

struct content_disposition {
  std::string_view type;  // "form-data", "attachment", as sent
  std::optional<std::string_view> name = std::nullopt;
  std::optional<std::string_view> filename = std::nullopt;  // UTF-8 where it came as `filename*`
  bool has_extended_filename = false;                       // whether that is the `filename*`
  bool has_unknown_filename = false;  // there was a `filename*` that cannot be read
};

// None where the value breaks the grammar, has a `name` without a value, or has one of these
// parameters twice. `room` has as many bytes as `value`, and outlives
// what is returned.
[[nodiscard]] std::optional<content_disposition> parse_content_disposition(
    std::string_view value, std::span<char> room) noexcept;

}  // namespace weft::http
