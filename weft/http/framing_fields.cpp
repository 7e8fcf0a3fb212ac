#include <weft/http/framing_fields.hpp>

#include <weft/http/field_syntax.hpp>
#include <weft/http/headers.hpp>

namespace weft::http {
namespace {

using field_syntax::is_token;
using field_syntax::trim;

// Takes the next element off a comma-separated list of tokens.
std::string_view take_token(std::string_view& list) noexcept {
  const std::size_t comma = list.find(',');
  const std::string_view element = trim(list.substr(0, comma));
  list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  return element;
}

}  // namespace

std::optional<std::uint64_t> parse_long_content_length(std::string_view value) noexcept {
  while (value.size() > 18 && value.front() == '0') value.remove_prefix(1);
  return scan::decimal(value);
}

fault_kind check_transfer_encoding(std::string_view value) noexcept {
  if (equals_ignoring_case(value, "chunked")) return fault_kind::none;
  // Only to give the right status: none of these is served. Parameters may hold quoted commas, so a
  // coding is judged by the name before them.
  if (value.empty() || value.ends_with(',')) return fault_kind::bad_transfer_encoding;
  std::string_view last;
  for (std::string_view rest = value; !rest.empty();) {
    if (equals_ignoring_case(last, "chunked"))
      return fault_kind::bad_transfer_encoding;  // chunked but not last
    last = take_token(rest);
    if (!is_token(trim(last.substr(0, last.find(';'))))) return fault_kind::bad_transfer_encoding;
  }
  return equals_ignoring_case(last, "chunked") ? fault_kind::unknown_transfer_coding
                                               : fault_kind::not_finally_chunked;
}

std::optional<connection_options> parse_connection(std::string_view value) noexcept {
  connection_options options;
  if (value == "keep-alive" || value == "Keep-Alive") {  // what browsers and benchmark tools send
    options.keep_alive = true;
    return options;
  }
  while (!value.empty()) {
    const std::string_view option = take_token(value);
    if (option.empty()) continue;
    if (!is_token(option)) return std::nullopt;
    if (equals_ignoring_case(option, "close")) options.close = true;
    if (equals_ignoring_case(option, "keep-alive")) options.keep_alive = true;
    if (equals_ignoring_case(option, "upgrade")) options.upgrade = true;
  }
  return options;
}

bool expects_only_continue(std::string_view value) noexcept {
  bool found = false;
  while (!value.empty()) {
    const std::string_view expectation = take_token(value);
    if (expectation.empty()) continue;
    if (!equals_ignoring_case(expectation, "100-continue")) return false;
    found = true;
  }
  return found;
}

}  // namespace weft::http
