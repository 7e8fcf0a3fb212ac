#include <weft/store/scan_token.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <weft/store/base64.hpp>

namespace weft::store {
namespace {

template <class Number>
void append_raw(Number number, std::string& out) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof number);
}

template <class Number>
bool take_raw(std::string_view& from, Number& out) {
  if (from.size() < sizeof out) return false;
  std::memcpy(&out, from.data(), sizeof out);
  from.remove_prefix(sizeof out);
  return true;
}

/// Names the scan: FNV-1a.
std::uint64_t shape_of(const scan_request& request) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash = (hash ^ text.size()) * 0x100000001b3;
  };
  mix(request.from->database());
  mix(request.from->name());
  for (const column_position at : order_of(request)) mix(request.from->columns()[at].name);
  mix(request.is_descending ? "descending" : "");
  const table_definition& of = request.from->definition();
  if (of.has_stored_places) mix("as stored");
  for (const std::string& each : of.tie_breakers) mix(each);
  return hash;
}

void append_value(const value& of, std::string& out) {
  out += static_cast<char>(of.kind());
  switch (of.kind()) {
    case value_kind::null: break;
    case value_kind::int64: append_raw(of.as_integer(), out); break;
    case value_kind::uint64: append_raw(of.as_natural(), out); break;
    case value_kind::float64: append_raw(of.as_real(), out); break;
    case value_kind::text:
    case value_kind::bytes:
      append_raw(static_cast<std::uint32_t>(of.as_text().size()), out);
      out += of.as_text();
      break;
  }
}

template <class Number>
std::optional<value> take_number(std::string_view& from, value (*make)(Number)) {
  Number number{};
  if (!take_raw(from, number)) return std::nullopt;
  return make(number);
}

std::optional<value> take_text(std::string_view& from, value (*make)(std::string_view)) {
  std::uint32_t size = 0;
  if (!take_raw(from, size) || size > from.size()) return std::nullopt;
  const value made = make(from.substr(0, size));
  from.remove_prefix(size);
  return made;
}

std::optional<value> take_value(std::string_view& from) {
  if (from.empty()) return std::nullopt;
  const auto kind = static_cast<value_kind>(from.front());
  from.remove_prefix(1);
  switch (kind) {
    case value_kind::null: return value{};
    case value_kind::int64:
      return take_number<std::int64_t>(from, [](std::int64_t n) { return value::integer(n); });
    case value_kind::uint64:
      return take_number<std::uint64_t>(from, [](std::uint64_t n) { return value::natural(n); });
    case value_kind::float64:
      return take_number<double>(from, [](double n) { return value::real(n); });
    case value_kind::text:
      return take_text(from, [](std::string_view text) { return value::text(text); });
    case value_kind::bytes:
      return take_text(from, [](std::string_view text) { return value::bytes(text); });
  }
  return std::nullopt;
}

}  // namespace

std::string scan_token(const scan_request& request, std::span<const value> place) {
  std::string bytes;
  append_raw(shape_of(request), bytes);
  for (const value& each : place) append_value(each, bytes);
  std::string token;
  append_base64(bytes, token);
  return token;
}

std::optional<std::span<const value>> read_scan_token(const scan_request& request, scratch& room) {
  const std::span<char> bytes = room.make(decoded_size_max(request.continuation.size()));
  const auto size = decode_base64(request.continuation, bytes);
  if (!size) return std::nullopt;
  std::string_view rest{bytes.data(), *size};
  std::uint64_t shape = 0;
  if (!take_raw(rest, shape) || shape != shape_of(request)) return std::nullopt;
  const std::span<value> place = room.make_array<value>(
      order_of(request).size() + request.from->definition().tie_breakers.size());
  for (value& each : place) {
    const auto taken = take_value(rest);
    if (!taken) return std::nullopt;
    each = *taken;
  }
  if (!rest.empty()) return std::nullopt;
  return place;
}

result<std::span<const value>> place_of(const scan_request& request, scratch& room) {
  if (!is_within_bounds(request)) return fail(errc::limit_exceeded);
  if (request.from->key().empty()) return fail(errc::invalid_argument);
  if (request.continuation.empty()) return std::span<const value>{};
  const auto read = read_scan_token(request, room);
  if (!read) return fail(errc::invalid_argument);
  return *read;
}

}  // namespace weft::store
