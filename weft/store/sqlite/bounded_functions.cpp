#include <weft/store/sqlite/bounded_functions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <vector>

#include <weft/store/sqlite/query_watch.hpp>

namespace weft::store::sqlite {
namespace {

constexpr bool continues_a_character(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}
constexpr bool begins_a_long_character(char c) noexcept {
  return static_cast<unsigned char>(c) >= 0xC0U;
}

/// In linear time, which std::search and string_view::find() of a text are not.
std::size_t place_of(std::string_view in, std::string_view what, std::size_t from) noexcept {
  if (what.size() > in.size() - from) return in.npos;
  if (what.size() == 1) return in.find(what.front(), from);
  const void* const found = ::memmem(in.data() + from, in.size() - from, what.data(), what.size());
  return found == nullptr ? in.npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - in.data());
}

/// Nothing: NULL, or no memory to make a text of it.
std::optional<std::string_view> text_of(sqlite3_value* from) noexcept {
  const auto* const text = sqlite3_value_text(from);
  if (text == nullptr) return std::nullopt;
  return std::string_view{reinterpret_cast<const char*>(text),
                          static_cast<std::size_t>(sqlite3_value_bytes(from))};
}

std::string_view bytes_of(sqlite3_value* from) noexcept {
  const auto* const bytes = static_cast<const char*>(sqlite3_value_blob(from));
  return {bytes, bytes == nullptr ? 0 : static_cast<std::size_t>(sqlite3_value_bytes(from))};
}

/// Whether one is NULL, and so is the answer.
bool has_null(int count, sqlite3_value** arguments) noexcept {
  return std::any_of(arguments, arguments + count,
                     [](sqlite3_value* each) { return sqlite3_value_type(each) == SQLITE_NULL; });
}

/// Counted from 1, in bytes; 0: nowhere.
sqlite3_int64 place_in_bytes(std::string_view in, std::string_view what) noexcept {
  if (what.empty()) return 1;
  const std::size_t found = place_of(in, what, 0);
  return found == in.npos ? 0 : static_cast<sqlite3_int64>(found) + 1;
}

/// Counted from 1, in characters.
sqlite3_int64 place_in_text(std::string_view in, std::string_view what) noexcept {
  if (what.empty() || in.starts_with(what)) return 1;
  if (continues_a_character(what.front())) return 0;  // no character begins so
  const std::size_t found = place_of(in, what, 0);
  if (found == in.npos) return 0;
  const std::string_view before = in.substr(1, found);
  return 1 + std::ranges::count_if(before, [](char c) { return !continues_a_character(c); });
}

struct value_end {
  void operator()(sqlite3_value* ended) const noexcept { sqlite3_value_free(ended); }
};
using own_value = std::unique_ptr<sqlite3_value, value_end>;

void call_instr(sqlite3_context* to, int count, sqlite3_value** arguments) {
  if (has_null(count, arguments)) return;
  if (sqlite3_value_type(arguments[0]) == SQLITE_BLOB &&
      sqlite3_value_type(arguments[1]) == SQLITE_BLOB)
    return sqlite3_result_int64(to, place_in_bytes(bytes_of(arguments[0]), bytes_of(arguments[1])));
  // To make a text of bytes changes the value, which may be of use to others.
  const own_value in_copy{sqlite3_value_dup(arguments[0])};
  const own_value what_copy{sqlite3_value_dup(arguments[1])};
  if (in_copy == nullptr || what_copy == nullptr) return sqlite3_result_error_nomem(to);
  const auto in = text_of(in_copy.get());
  const auto what = text_of(what_copy.get());
  if (!in || !what) return sqlite3_result_error_nomem(to);
  sqlite3_result_int64(to, place_in_text(*in, *what));
}

void call_replace(sqlite3_context* to, int count, sqlite3_value** arguments) {
  if (has_null(count, arguments)) return;
  const auto in = text_of(arguments[0]);
  const auto what = text_of(arguments[1]);
  const auto by = text_of(arguments[2]);
  if (!in || !what || !by) return sqlite3_result_error_nomem(to);
  if (what->empty() || what->front() == '\0') return sqlite3_result_value(to, arguments[0]);
  std::size_t matches = 0;
  for (std::size_t at = 0; (at = place_of(*in, *what, at)) != in->npos; at += what->size())
    ++matches;
  const std::size_t size = in->size() - (matches * what->size()) + (matches * by->size());
  const int most = sqlite3_limit(sqlite3_context_db_handle(to), SQLITE_LIMIT_LENGTH, -1);
  if (size > static_cast<std::size_t>(most)) return sqlite3_result_error_toobig(to);
  auto* const made = static_cast<char*>(sqlite3_malloc64(size + 1));
  if (made == nullptr) return sqlite3_result_error_nomem(to);
  char* end = made;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = place_of(*in, *what, from)) != in->npos;
       from = at + what->size()) {
    end = std::ranges::copy(in->substr(from, at - from), end).out;
    end = std::ranges::copy(*by, end).out;
  }
  std::ranges::copy(in->substr(from), end);
  sqlite3_result_text64(to, made, size, &sqlite3_free, SQLITE_UTF8);
}

std::uint32_t packed(std::string_view character) noexcept {
  std::uint32_t all = 0;
  for (const char c : character) all = (all << 8U) | static_cast<unsigned char>(c);
  return all;
}

std::string_view first_character(std::string_view of) noexcept {
  std::size_t size = 1;
  if (begins_a_long_character(of.front()))
    while (size < std::min<std::size_t>(of.size(), 4) && continues_a_character(of[size])) ++size;
  return of.substr(0, size);
}

std::string_view last_character(std::string_view of) noexcept {
  for (std::size_t size = 1; size <= std::min<std::size_t>(of.size(), 4); ++size) {
    const char c = of[of.size() - size];
    if (begins_a_long_character(c)) return of.substr(of.size() - size);
    if (!continues_a_character(c)) break;
  }
  return of.substr(of.size() - 1);
}

/// In order.
std::vector<std::uint32_t> characters_of(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  std::vector<std::uint32_t> all;
  while (!text.empty()) {
    const std::string_view first = first_character(text);
    all.push_back(packed(first));
    text.remove_prefix(first.size());
  }
  std::ranges::sort(all);
  return all;
}

enum trimmed_sides : std::uint8_t { at_front = 1, at_back = 2 };

std::string_view trimmed(std::string_view text, std::string_view characters, unsigned sides) {
  const std::vector<std::uint32_t> wanted = characters_of(characters);
  const auto is_wanted = [&](std::string_view character) {
    return std::ranges::binary_search(wanted, packed(character));
  };
  while ((sides & at_front) != 0 && !text.empty() && is_wanted(first_character(text)))
    text.remove_prefix(first_character(text).size());
  while ((sides & at_back) != 0 && !text.empty() && is_wanted(last_character(text)))
    text.remove_suffix(last_character(text).size());
  return text;
}

template <unsigned Sides>
void call_trim(sqlite3_context* to, int count, sqlite3_value** arguments) {
  if (has_null(count, arguments)) return;
  const auto text = text_of(arguments[0]);
  const auto characters = text_of(arguments[1]);
  if (!text || !characters) return sqlite3_result_error_nomem(to);
  try {
    const std::string_view left = trimmed(*text, *characters, Sides);
    sqlite3_result_text64(to, left.data(), left.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(to);
  }
}

/// As SQLite was built: bytes are like nothing.
bool are_comparable(sqlite3_value* one, sqlite3_value* other) noexcept {
  static const bool leaves_bytes = sqlite3_compileoption_used("LIKE_DOESNT_MATCH_BLOBS") != 0;
  return !leaves_bytes ||
         (sqlite3_value_type(one) != SQLITE_BLOB && sqlite3_value_type(other) != SQLITE_BLOB);
}

/// Nothing: it is not one character, or stands for others already.
std::optional<unsigned> escape_of(std::string_view text) noexcept {
  if (text.empty() || first_character(text).size() != text.size()) return std::nullopt;
  if (text == "%" || text == "_") return std::nullopt;
  unsigned point = static_cast<unsigned char>(text.front());
  if (text.size() > 1) point &= 0x7FU >> text.size();
  for (const char c : text.substr(1))
    point = (point << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  return point;
}

/// SQLite has the pattern first. True: text and pattern are at hand.
bool has_pattern(sqlite3_context* to, int count, sqlite3_value** arguments) {
  if (!are_comparable(arguments[0], arguments[1])) {
    sqlite3_result_int(to, 0);
    return false;
  }
  if (has_null(count, arguments)) return false;
  if (sqlite3_value_text(arguments[0]) == nullptr || sqlite3_value_text(arguments[1]) == nullptr) {
    sqlite3_result_error_nomem(to);
    return false;
  }
  const int most =
      sqlite3_limit(sqlite3_context_db_handle(to), SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
  if (sqlite3_value_bytes(arguments[0]) <= most) return true;
  sqlite3_result_error(to, "LIKE or GLOB pattern too complex", -1);
  return false;
}

const char* characters_at(sqlite3_value* text) noexcept {
  return reinterpret_cast<const char*>(sqlite3_value_text(text));
}

void call_like(sqlite3_context* to, int count, sqlite3_value** arguments) {
  if (!has_pattern(to, count, arguments)) return;
  std::optional<unsigned> escape = 0;
  if (count == 3) escape = escape_of(text_of(arguments[2]).value_or(""));
  if (!escape)
    return sqlite3_result_error(to, "ESCAPE is a single character, and neither % nor _", -1);
  const char* const pattern = characters_at(arguments[0]);
  sqlite3_result_int(to,
                     sqlite3_strlike(pattern, characters_at(arguments[1]), *escape) == 0 ? 1 : 0);
}

void call_glob(sqlite3_context* to, int count, sqlite3_value** arguments) {
  if (!has_pattern(to, count, arguments)) return;
  const char* const pattern = characters_at(arguments[0]);
  sqlite3_result_int(to, sqlite3_strglob(pattern, characters_at(arguments[1])) == 0 ? 1 : 0);
}

using function_body = void (*)(sqlite3_context* to, int count, sqlite3_value** arguments);

template <function_body Body>
void unless_over(sqlite3_context* to, int count, sqlite3_value** arguments) {
  if (query_watch::is_over()) return sqlite3_result_error_code(to, SQLITE_INTERRUPT);
  Body(to, count, arguments);
}

struct bounded_function {
  const char* name;
  int arguments;
  function_body call;
};
constexpr bounded_function all_bounded_functions[] = {
    {"instr", 2, &unless_over<&call_instr>},
    {"replace", 3, &unless_over<&call_replace>},
    {"trim", 2, &unless_over<&call_trim<at_front | at_back>>},
    {"ltrim", 2, &unless_over<&call_trim<at_front>>},
    {"rtrim", 2, &unless_over<&call_trim<at_back>>},
    {"like", 2, &unless_over<&call_like>},
    {"like", 3, &unless_over<&call_like>},
    {"glob", 2, &unless_over<&call_glob>}};

}  // namespace

int add_bounded_functions(connection& to) noexcept {
  for (const bounded_function& each : all_bounded_functions) {
    const int code = sqlite3_create_function_v2(
        to.get(), each.name, each.arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
        nullptr, each.call, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

}  // namespace weft::store::sqlite
