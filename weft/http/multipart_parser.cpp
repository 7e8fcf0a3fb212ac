#include <weft/http/multipart_parser.hpp>

#include <algorithm>

#include <weft/base/assert.hpp>
#include <weft/http/content_disposition.hpp>
#include <weft/http/content_type.hpp>
#include <weft/http/field_syntax.hpp>
#include <weft/http/headers.hpp>

namespace weft::http {
namespace {

constexpr std::string_view line_end = "\r\n";

constexpr std::string_view boundary_marks = "'()+_,-./:=? ";

// bchars (RFC 2046 section 5.1.1).
bool is_boundary(std::string_view text) noexcept {
  if (text.empty() || text.size() > multipart_parser::boundary_bytes_max || text.ends_with(' '))
    return false;
  return std::ranges::all_of(text, [](char c) {
    return scan::detail::alphanumeric.find(c) != std::string_view::npos ||
           boundary_marks.find(c) != std::string_view::npos;
  });
}

bool leaves_as_is(std::string_view encoding) noexcept {
  for (std::string_view each : {"7bit", "8bit", "binary"})
    if (equals_ignoring_case(encoding, each)) return true;
  return false;
}

// An empty name is that of a file input for which nobody has chosen a file. One that cannot be read
// is a file's all the same.
std::optional<std::string_view> file_name_of(const content_disposition& said) noexcept {
  if (said.filename && !said.filename->empty()) return said.filename;
  return said.has_unknown_filename ? std::optional<std::string_view>{"unnamed"} : std::nullopt;
}

}  // namespace

result<std::string_view> form_data_boundary(std::string_view content_type,
                                            std::span<char> room) noexcept {
  const auto type = parse_content_type(content_type);
  if (!type) return weft::fail(errc::invalid_argument);
  if (!type->is("multipart", "form-data")) return weft::fail(errc::unsupported);
  const auto boundary = type->parameter("boundary", room);
  if (!boundary || !is_boundary(*boundary)) return weft::fail(errc::invalid_argument);
  return *boundary;
}

multipart_parser::multipart_parser(std::string_view boundary, const multipart_limits& bounds)
    : bounds_{bounds}, delimiter_size_{boundary.size() + 4} {
  WEFT_ASSERT(is_boundary(boundary), "take the boundary from form_data_boundary()");
  constexpr std::string_view before = "\r\n--";
  boundary.copy(before.copy(delimiter_.data(), before.size()) + delimiter_.data(), boundary.size());
}

multipart_event multipart_parser::next(std::string_view& input) {
  while (!input.empty()) {
    std::optional<multipart_event> event;
    switch (step_) {
      case step::preamble: event = skip_preamble(input); break;
      case step::head: event = take_head(input); break;
      case step::content: event = take_content(input); break;
      case step::epilogue: advance(input, input.size()); return multipart_event::finished;
      case step::failed: return multipart_event::failed;
      default: event = take_delimiter_end(input); break;
    }
    if (event) return *event;
  }
  return step_ == step::failed ? multipart_event::failed : multipart_event::need_more;
}

// Where in `input` the delimiter begins, or what may become one at its end; else the size. Only a
// CR begins one, and there is no second CR in it.
std::size_t multipart_parser::find_delimiter(std::string_view input) const noexcept {
  std::size_t at = input.find('\r');
  for (; at != std::string_view::npos; at = input.find('\r', at + 1))
    if (delimiter().starts_with(input.substr(at, delimiter_size_))) return at;
  return input.size();
}

std::optional<multipart_event> multipart_parser::skip_preamble(std::string_view& input) {
  if (matched_ == 0) {
    const std::size_t skipped = find_delimiter(input);
    counted_ += skipped;
    advance(input, skipped);
  } else {
    const std::size_t common = static_cast<std::size_t>(
        std::ranges::mismatch(input, delimiter().substr(matched_)).in1 - input.begin());
    matched_ += common;
    advance(input, common);
  }
  if (matched_ == delimiter_size_) {
    step_ = step::after_delimiter;
    counted_ = 0;
    return std::nullopt;
  }
  if (counted_ > bounds_.header_bytes)
    return fail("the preamble is too long", status::request_header_fields_too_large);
  if (input.empty()) return std::nullopt;
  if (matched_ == 0) {
    matched_ = 1;  // find_delimiter() stopped at its CR
    advance(input, 1);
  } else {
    counted_ += matched_ - imagined_;
    matched_ = imagined_ = 0;
  }
  return std::nullopt;
}

std::optional<multipart_event> multipart_parser::take_content(std::string_view& input) {
  if (matched_ == 0) {
    const std::size_t before = find_delimiter(input);
    if (before == 0) {
      matched_ = 1;
      advance(input, 1);
      return std::nullopt;
    }
    data_ = input.substr(0, before);
    advance(input, before);
    return multipart_event::data;
  }
  const std::size_t common = static_cast<std::size_t>(
      std::ranges::mismatch(input, delimiter().substr(matched_)).in1 - input.begin());
  matched_ += common;
  advance(input, common);
  if (matched_ == delimiter_size_) {
    step_ = step::after_delimiter;
    return multipart_event::part_end;
  }
  if (input.empty()) return std::nullopt;
  // It was content after all, and is known by heart.
  data_ = delimiter().substr(imagined_, matched_ - imagined_);
  matched_ = imagined_ = 0;
  return data_.empty() ? std::nullopt : std::optional{multipart_event::data};
}

// "--" ends the body; else padding and a line's end (RFC 2046 section 5.1.1).
std::optional<multipart_event> multipart_parser::take_delimiter_end(std::string_view& input) {
  const char c = input.front();
  if (step_ == step::second_hyphen) {
    if (c != '-') return fail("one hyphen behind a boundary");
    step_ = step::epilogue;
    advance(input, input.size());
    return multipart_event::finished;
  }
  if (step_ == step::delimiter_lf) {
    if (c != '\n') return fail("no CR LF behind a boundary");
    if (++parts_ > bounds_.parts) return fail("too many parts", status::content_too_large);
    step_ = step::head;
    head_.clear();
  } else if (c == '-' && step_ == step::after_delimiter) {
    step_ = step::second_hyphen;
  } else if (c == '\r') {
    step_ = step::delimiter_lf;
  } else if (field_syntax::is_space(c)) {
    step_ = step::padding;
    if (++counted_ > bounds_.header_bytes)
      return fail("too much padding behind a boundary", status::request_header_fields_too_large);
  } else {
    return fail("a line begins with the boundary and goes on");
  }
  advance(input, 1);
  return std::nullopt;
}

std::optional<multipart_event> multipart_parser::take_head(std::string_view& input) {
  const std::size_t line = std::min(input.find('\n'), input.size() - 1) + 1;
  if (head_.size() + line > bounds_.header_bytes)
    return fail("too many header fields in a part", status::request_header_fields_too_large);
  head_.append(input.substr(0, line));
  advance(input, line);
  if (!head_.ends_with('\n')) return std::nullopt;
  if (!head_.ends_with(line_end)) return fail("a line of a part's head ends without CR");
  const bool is_last = head_ == line_end || head_.ends_with("\r\n\r\n");
  return is_last ? std::optional{begin_part()} : std::nullopt;
}

multipart_event multipart_parser::begin_part() {
  part_ = {.name = {}, .filename = std::nullopt, .content_type = "text/plain"};
  has_disposition_ = has_type_ = false;
  room_.resize(std::max(room_.size(), head_.size()));
  std::string_view rest = head_;
  while (rest != line_end) {
    const std::size_t end = rest.find(line_end);
    if (const std::string_view reason = take_field(rest.substr(0, end)); !reason.empty())
      return fail(reason);
    rest.remove_prefix(end + line_end.size());
  }
  if (!has_disposition_) return fail("a part without Content-Disposition");
  step_ = step::content;
  matched_ = imagined_ = line_end.size();  // without content the head's end is the boundary's, too
  return multipart_event::part;
}

std::string_view multipart_parser::take_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return "a line of a part's head without a colon";
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = field_syntax::trim(line.substr(colon + 1));
  if (!field_syntax::is_token(name)) return "a part's header field has no valid name";
  if (!scan::consists_of<scan::set::field>(value))
    return "a control character in a part's header field";
  if (equals_ignoring_case(name, "Content-Disposition")) {
    const auto found = parse_content_disposition(value, room_);
    if (has_disposition_ || !found || !equals_ignoring_case(found->type, "form-data") ||
        !found->name)
      return "a part's Content-Disposition must be one form-data with a name";
    part_.name = *found->name;
    part_.filename = file_name_of(*found);
    has_disposition_ = true;
  } else if (equals_ignoring_case(name, "Content-Type")) {
    if (has_type_) return "a part has two Content-Types";
    if (parse_content_type(value)) part_.content_type = value;
    has_type_ = true;
  } else if (equals_ignoring_case(name, "Content-Transfer-Encoding") && !leaves_as_is(value)) {
    return "a part is encoded (RFC 7578 section 4.7)";
  }
  return {};
}

void multipart_parser::advance(std::string_view& input, std::size_t bytes) noexcept {
  input.remove_prefix(bytes);
  offset_ += bytes;
}

multipart_event multipart_parser::fail(std::string_view reason, status code) noexcept {
  reason_ = reason;
  code_ = code;
  step_ = step::failed;
  return multipart_event::failed;
}

}  // namespace weft::http
