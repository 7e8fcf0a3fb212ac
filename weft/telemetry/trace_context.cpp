#include <weft/telemetry/trace_context.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

namespace weft::telemetry {
namespace {

// Lower case alone (section 3.2.2).
std::optional<std::uint8_t> hex_value(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return static_cast<std::uint8_t>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<std::uint8_t>(digit - 'a' + 10);
  return std::nullopt;
}

// Takes two digits a byte and, unless it was the last, a dash.
bool take_hex(std::string_view& text, std::span<std::uint8_t> bytes) noexcept {
  if (text.size() < 2 * bytes.size()) return false;
  for (std::uint8_t& byte : bytes) {
    const auto high = hex_value(text[0]);
    const auto low = hex_value(text[1]);
    if (!high || !low) return false;
    byte = static_cast<std::uint8_t>(*high << 4U | *low);
    text.remove_prefix(2);
  }
  if (text.empty()) return true;
  if (text.front() != '-') return false;
  text.remove_prefix(1);
  return true;
}

bool is_zero(std::span<const std::uint8_t> bytes) noexcept {
  return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

char* put_hex(char* out, std::span<const std::uint8_t> bytes) noexcept {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const std::uint8_t byte : bytes) {
    *out++ = digits[byte >> 4U];
    *out++ = digits[byte & 15U];
  }
  return out;
}

bool may_stand_in_a_field(char c) noexcept { return (c >= ' ' && c < 0x7f) || c == '\t'; }

void draw(std::span<std::uint8_t> bytes, random& dice) noexcept {
  do {
    dice.fill(std::as_writable_bytes(bytes));
  } while (is_zero(bytes));  // which is no identity (sections 3.2.2.3 and 3.2.2.4)
}

}  // namespace

bool trace_context::read(std::string_view parent, std::string_view state_field) {
  if (parent.size() < parent_bytes) return false;
  std::array<std::uint8_t, 1> version{};
  std::array<std::uint8_t, 1> given_flags{};
  auto trace = trace_id;
  auto span = span_id;
  std::string_view rest = parent.substr(0, parent_bytes);
  if (!take_hex(rest, version) || !take_hex(rest, trace) || !take_hex(rest, span) ||
      !take_hex(rest, given_flags))
    return false;
  // Later versions may go on behind a dash (section 3.2.4).
  const bool is_known = version[0] == 0;
  if (version[0] == 0xff || is_zero(trace) || is_zero(span)) return false;
  if (parent.size() != parent_bytes && (is_known || parent[parent_bytes] != '-')) return false;
  trace_id = trace;
  span_id = span;
  flags = given_flags[0] & 1U;  // the only one that version 00 knows
  const bool keeps_state = state_field.size() <= most_state_bytes &&
                           std::ranges::all_of(state_field, may_stand_in_a_field);
  state = keeps_state ? state_field : std::string_view{};
  return true;
}

void trace_context::begin_trace(random& dice) {
  draw(trace_id, dice);
  begin_span(dice);
  flags = 0;
  state.clear();
}

void trace_context::begin_span(random& dice) noexcept { draw(span_id, dice); }

std::array<char, trace_context::parent_bytes> trace_context::parent() const noexcept {
  std::array<char, parent_bytes> text{'0', '0', '-'};
  char* end = put_hex(text.data() + 3, trace_id);
  *end++ = '-';
  end = put_hex(end, span_id);
  *end++ = '-';
  put_hex(end, std::span{&flags, 1});
  return text;
}

void trace_context::append_trace_id(std::string& out) const {
  std::array<char, 2 * sizeof(trace_id)> text;
  put_hex(text.data(), trace_id);
  out.append(text.data(), text.size());
}

}  // namespace weft::telemetry
