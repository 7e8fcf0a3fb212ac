#include <weft/store/sqlite/declared_type.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::store::sqlite {
namespace {

struct known_type {
  std::string_view name;
  column_type type;
  std::uint32_t length = 0;  // where none is given
};

// The longest name that fits is taken: "CHARACTER VARYING" before "CHARACTER".
constexpr std::array known_types{
    known_type{"TINYINT", column_type::tiny_int},
    known_type{"BOOL", column_type::tiny_int},
    known_type{"BOOLEAN", column_type::tiny_int},
    known_type{"SMALLINT", column_type::small_int},
    known_type{"MEDIUMINT", column_type::medium_int},
    known_type{"INT", column_type::integer},
    known_type{"INTEGER", column_type::big_int},
    known_type{"BIGINT", column_type::big_int},
    known_type{"BIG INT", column_type::big_int},
    known_type{"FLOAT", column_type::float64},
    known_type{"DOUBLE", column_type::float64},
    known_type{"DOUBLE PRECISION", column_type::float64},
    known_type{"REAL", column_type::float64},
    known_type{"DECIMAL", column_type::decimal},
    known_type{"DEC", column_type::decimal},
    known_type{"NUMERIC", column_type::decimal},
    known_type{"FIXED", column_type::decimal},
    known_type{"CHAR", column_type::character, 1},
    known_type{"CHARACTER", column_type::character, 1},
    known_type{"NCHAR", column_type::character, 1},
    known_type{"VARCHAR", column_type::varchar},
    known_type{"NVARCHAR", column_type::varchar},
    known_type{"CHARACTER VARYING", column_type::varchar},
    known_type{"TEXT", column_type::text},
    known_type{"TINYTEXT", column_type::text},
    known_type{"MEDIUMTEXT", column_type::text},
    known_type{"LONGTEXT", column_type::text},
    known_type{"JSON", column_type::text},
    known_type{"ENUM", column_type::text},
    known_type{"SET", column_type::text},
    known_type{"BINARY", column_type::binary, 1},
    known_type{"VARBINARY", column_type::varbinary},
    known_type{"BLOB", column_type::blob},
    known_type{"TINYBLOB", column_type::blob},
    known_type{"MEDIUMBLOB", column_type::blob},
    known_type{"LONGBLOB", column_type::blob},
    known_type{"BIT", column_type::bit, 1},
    known_type{"DATE", column_type::date},
    known_type{"TIME", column_type::time},
    known_type{"DATETIME", column_type::date_time},
    known_type{"TIMESTAMP", column_type::timestamp},
    known_type{"YEAR", column_type::year},
};

constexpr char upper(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

/// In capitals, words apart by one blank, without what is in parentheses.
std::string words_of(std::string_view declared) {
  std::string words;
  bool inside = false;
  for (const char c : declared) {
    if (c == '(') inside = true;
    const bool is_blank = inside || c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!is_blank)
      words += upper(c);
    else if (!words.empty() && words.back() != ' ')
      words += ' ';
    if (c == ')') inside = false;
  }
  if (words.ends_with(' ')) words.pop_back();
  return words;
}

/// Takes `word` out of `words`, if it is one of them.
bool take_word(std::string& words, std::string_view word) {
  for (std::size_t at = words.find(word); at != std::string::npos; at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at != 0 && words[at - 1] != ' ') || (end != words.size() && words[end] != ' ')) continue;
    words.erase(at, end - at);
    while (words.starts_with(' ')) words.erase(0, 1);
    while (words.ends_with(' ')) words.pop_back();
    return true;
  }
  return false;
}

/// The numbers in the parentheses; 0 where there is none.
std::array<std::uint32_t, 2> sizes_of(std::string_view declared) noexcept {
  std::array<std::uint32_t, 2> sizes{};
  std::size_t at = declared.find('(');
  for (std::uint32_t& each : sizes) {
    if (at == std::string_view::npos) break;
    at = declared.find_first_not_of(" \t", at + 1);
    if (at == std::string_view::npos) break;
    std::from_chars(declared.data() + at, declared.data() + declared.size(), each);
    at = declared.find(',', at);
  }
  return sizes;
}

const known_type* find_known(std::string_view words) noexcept {
  const known_type* best = nullptr;
  for (const known_type& each : known_types) {
    const bool fits = words.starts_with(each.name) &&
                      (words.size() == each.name.size() || words[each.name.size()] == ' ');
    if (fits && (best == nullptr || each.name.size() > best->name.size())) best = &each;
  }
  return best;
}

bool has_text_affinity(std::string_view words) noexcept {
  const auto has = [words](std::string_view part) { return words.contains(part); };
  return !has("INT") && (has("CHAR") || has("CLOB") || has("TEXT"));
}

/// "INT2", "INT8"
bool is_sized_integer(std::string_view words) noexcept {
  return words.starts_with("INT") && words.size() > 3 &&
         words.find_first_not_of("0123456789", 3) == std::string_view::npos;
}

/// What has NUMERIC affinity, or that of INTEGER by chance ("POINT", "INTERVAL"), may be a name
/// that means texts ("UUID", "STRING").
column_type by_affinity(std::string_view words) noexcept {
  const auto has = [words](std::string_view part) { return words.contains(part); };
  if (is_sized_integer(words)) return column_type::big_int;
  if (has("INT")) return column_type::any;
  if (has_text_affinity(words)) return column_type::text;
  if (has("BLOB")) return column_type::blob;
  if (has("REAL") || has("FLOA") || has("DOUB")) return column_type::float64;
  return column_type::any;
}

void take_sizes(std::array<std::uint32_t, 2> sizes, const known_type& known, column& of) {
  constexpr std::uint32_t digits_max = 65;  // of MySQL
  constexpr std::uint32_t fraction_max = 6;
  constexpr std::uint32_t bits_max = 64;
  switch (of.type) {
    case column_type::decimal:
      of.precision = static_cast<std::uint8_t>(std::min(sizes[0], digits_max));
      of.scale = std::min(static_cast<std::uint8_t>(std::min(sizes[1], digits_max)), of.precision);
      break;
    case column_type::time:
    case column_type::date_time:
    case column_type::timestamp:
      of.fraction_digits = static_cast<std::uint8_t>(std::min(sizes[0], fraction_max));
      break;
    case column_type::bit: of.length = std::clamp(sizes[0], known.length, bits_max); break;
    case column_type::character:
    case column_type::varchar:
    case column_type::binary:
    case column_type::varbinary: of.length = sizes[0] != 0 ? sizes[0] : known.length; break;
    default: break;  // INT(11) is a width to show
  }
}

}  // namespace

void read_declared_type(std::string_view declared, column& of) {
  std::string words = words_of(declared);
  of.is_unsigned = take_word(words, "UNSIGNED");
  take_word(words, "SIGNED");
  of.is_dynamic = true;
  const known_type* const known = find_known(words);
  if (known == nullptr) {
    of.type = by_affinity(words);
    of.makes_numbers = of.type == column_type::any && !words.empty();
    of.is_unsigned = of.is_unsigned && of.type == column_type::big_int;
    return;
  }
  of.type = known->type;
  of.makes_numbers = is_text(of.type) && !has_text_affinity(words);
  of.keeps_form = is_temporal(of.type) && !declared.contains('(');
  take_sizes(sizes_of(declared), *known, of);
}

}  // namespace weft::store::sqlite
