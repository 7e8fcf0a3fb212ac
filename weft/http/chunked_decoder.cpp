#include <weft/http/chunked_decoder.hpp>

#include <algorithm>

#include <weft/base/assert.hpp>
#include <weft/http/field_syntax.hpp>
#include <weft/http/scan.hpp>

namespace weft::http {
namespace {

using field_syntax::is_space;

bool is_token(char c) noexcept { return scan::contains<scan::set::token>(c); }
bool is_field(char c) noexcept { return scan::contains<scan::set::field>(c); }

}  // namespace

chunked_progress chunked_decoder::decode(std::string_view input, std::string& out,
                                         const limits& bounds) {
  for (std::size_t taken = 0;;) {
    const chunked_piece piece = next(input.substr(taken), bounds);
    taken += piece.consumed_bytes;
    out.append(piece.content);
    if (piece.status != chunked_status::incomplete || taken == input.size())
      return {piece.status, taken};
  }
}

// Only the data is long; the bytes around it are taken one at a time, which keeps every state
// explicit.
chunked_piece chunked_decoder::next(std::string_view input, const limits& bounds) noexcept {
  WEFT_DEBUG_ASSERT(step_ != step::finished, "reset() the decoder before the next body");
  std::size_t at = 0;
  while (at < input.size()) {
    if (step_ == step::data) {
      const std::string_view content = take_data(input.substr(at));
      return {chunked_status::incomplete, at + content.size(), content};
    }
    if (!take(input[at], bounds)) return {chunked_status::failed, at, {}};
    ++at;
    ++offset_;
    if (step_ == step::finished) return {chunked_status::complete, at, {}};
  }
  return {chunked_status::incomplete, at, {}};
}

std::string_view chunked_decoder::take_data(std::string_view input) noexcept {
  const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
  left_ -= taken;
  offset_ += taken;
  if (left_ == 0) step_ = step::data_cr;
  return input.substr(0, taken);
}

bool chunked_decoder::take(char c, const limits& bounds) noexcept {
  switch (step_) {
    case step::size: return take_size(c, bounds);
    case step::size_line_end:
      return expect(c, '\n', step::data, fault_kind::bad_chunk_line_end) && begin_data();
    case step::data_cr: return expect(c, '\r', step::data_lf, fault_kind::bad_chunk_end);
    case step::data_lf: return expect(c, '\n', step::size, fault_kind::bad_chunk_end);
    case step::trailer_line:
    case step::trailer_name:
    case step::trailer_value:
    case step::trailer_line_end:
    case step::last_line_end: return take_trailer(c, bounds);
    default: return take_extension(c, bounds);
  }
}

bool chunked_decoder::take_size(char c, const limits& bounds) noexcept {
  const int digit = scan::hex_value(c);
  if (digit >= 0) {
    if (++counted_ > 16) return fail(fault_kind::chunk_size_overflow);
    left_ = left_ << 4 | static_cast<unsigned>(digit);
    return true;
  }
  if (counted_ == 0) return fail(fault_kind::bad_chunk_size);
  // Before the line has ended: what comes after it need not be waited for.
  if (left_ > bounds.body_bytes || content_ > bounds.body_bytes - left_)
    return fail(fault_kind::body_too_large);
  if (c == '\r') return go(step::size_line_end);
  counted_ = 0;
  if (c != ';' && !is_space(c)) return fail(fault_kind::bad_chunk_size);
  if (bounds.chunk_extension_bytes == 0) return fail(fault_kind::chunk_extension_too_long);
  counted_ = 1;
  if (is_space(c) && sizes_ == sizes::padded) return go(step::padding);
  return begin_extension(c);
}

bool chunked_decoder::begin_data() noexcept {
  content_ += left_;
  counted_ = 0;
  return left_ != 0 || go(step::trailer_line);
}

// chunk-ext = *( BWS ";" BWS name [ BWS "=" BWS value ] ), value = token / quoted-string (RFC 9112
// section 7.1.1).
bool chunked_decoder::take_extension(char c, const limits& bounds) noexcept {
  const bool may_end = step_ == step::padding || step_ == step::extension_name ||
                       step_ == step::extension_value || step_ == step::after_quoted;
  if (c == '\r') return may_end ? go(step::size_line_end) : fail(fault_kind::bad_chunk_extension);
  if (++counted_ > bounds.chunk_extension_bytes) return fail(fault_kind::chunk_extension_too_long);
  switch (step_) {
    case step::padding: return is_space(c) || begin_extension(c);
    case step::extension: return begin_extension(c);
    case step::extension_name_start:
      if (is_space(c)) return true;
      return is_token(c) ? go(step::extension_name) : fail(fault_kind::bad_chunk_extension);
    case step::extension_name:
      if (is_token(c)) return true;
      [[fallthrough]];
    case step::after_extension_name:
      if (c == '=') return go(step::extension_value_start);
      if (is_space(c)) return go(step::after_extension_name);
      return c == ';' ? go(step::extension_name_start) : fail(fault_kind::bad_chunk_extension);
    case step::extension_value_start:
      if (is_space(c)) return true;
      if (c == '"') return go(step::quoted);
      return is_token(c) ? go(step::extension_value) : fail(fault_kind::bad_chunk_extension);
    case step::extension_value: return is_token(c) || begin_extension(c);
    case step::quoted:
      if (c == '"') return go(step::after_quoted);
      if (c == '\\') return go(step::quoted_escape);
      return is_field(c) || fail(fault_kind::bad_chunk_extension);
    case step::quoted_escape:
      return is_field(c) ? go(step::quoted) : fail(fault_kind::bad_chunk_extension);
    default: return begin_extension(c);
  }
}

// Behind a size or a whole extension: white space, then another extension.
bool chunked_decoder::begin_extension(char c) noexcept {
  if (is_space(c)) return go(step::extension);
  return c == ';' ? go(step::extension_name_start) : fail(fault_kind::bad_chunk_extension);
}

// Fields as in a head, checked and dropped (RFC 9112 section 7.1.2).
bool chunked_decoder::take_trailer(char c, const limits& bounds) noexcept {
  if (step_ == step::last_line_end) return expect(c, '\n', step::finished, fault_kind::bad_trailer);
  if (step_ == step::trailer_line && c == '\r') return go(step::last_line_end);
  if (++counted_ > bounds.trailer_bytes) return fail(fault_kind::trailer_too_long);
  switch (step_) {
    case step::trailer_line:
      return is_token(c) ? go(step::trailer_name) : fail(fault_kind::bad_trailer);
    case step::trailer_name:
      if (is_token(c)) return true;
      return c == ':' ? go(step::trailer_value) : fail(fault_kind::bad_trailer);
    case step::trailer_value:
      if (is_field(c)) return true;
      return c == '\r' ? go(step::trailer_line_end) : fail(fault_kind::bad_trailer);
    default: return expect(c, '\n', step::trailer_line, fault_kind::bad_trailer);
  }
}

bool chunked_decoder::expect(char c, char wanted, step next, fault_kind otherwise) noexcept {
  return c == wanted ? go(next) : fail(otherwise);
}

bool chunked_decoder::go(step next) noexcept {
  step_ = next;
  return true;
}

bool chunked_decoder::fail(fault_kind kind) noexcept {
  step_ = step::finished;
  fault_ = kind;
  return false;
}

}  // namespace weft::http
