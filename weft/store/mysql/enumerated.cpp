#include <weft/store/mysql/enumerated.hpp>

#include <algorithm>
#include <span>
#include <utility>

#include <weft/base/format.hpp>

namespace weft::store::mysql {
namespace {

/// Blanks, a sign and digits: more than servers take for a number, and no less.
bool looks_like_number(std::string_view text) noexcept {
  return text.find_first_not_of("0123456789+- \t\n\v\f\r") == std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

/// The value behind a quotation mark, up to the next, which is taken off as well.
std::string take_value(std::string_view& rest) {
  std::string value;
  while (!rest.empty()) {
    const char next = rest.front();
    rest.remove_prefix(1);
    if (next == '\'' && !rest.starts_with('\'')) break;
    if (next != '\'' && next != '\\') {
      value += next;
      continue;
    }
    if (rest.empty()) break;
    const char marked = rest.front();
    rest.remove_prefix(1);
    value += next == '\\' && marked == 'n' ? '\n' : next == '\\' && marked == 'r' ? '\r' : marked;
  }
  return value;
}

std::string fault_of(const key_write& write, column_position at, const value& given) {
  const column& of = write.to->columns()[at];
  if (!of.is_enumerated || given.kind() != value_kind::text) return {};
  const std::string_view text = given.as_text();
  if (!looks_like_number(text) || std::ranges::contains(of.numeric_values, text)) return {};
  return weft::format(
      "\"{}\" is none of the values of the column {}: write one of them, and not its number", text,
      of.name);
}

}  // namespace

std::vector<std::string> numeric_values(std::string_view column_type) {
  std::vector<std::string> found;
  for (std::size_t mark = 0; (mark = column_type.find('\'')) != std::string_view::npos;) {
    column_type.remove_prefix(mark + 1);
    std::string value = take_value(column_type);
    if (looks_like_number(value)) found.push_back(std::move(value));
  }
  return found;
}

std::string number_fault(const key_write& write) {
  if (write.kind == write_kind::remove) return {};
  const std::span<const column_position> key = write.to->key();
  for (std::size_t i = 0; i < write.columns.size(); ++i)
    if (std::string fault = fault_of(write, write.columns[i], write.values[i]); !fault.empty())
      return fault;
  if (write.kind == write_kind::update) return {};
  for (std::size_t i = 0; i < key.size(); ++i)
    if (std::string fault = fault_of(write, key[i], write.key[i]); !fault.empty()) return fault;
  return {};
}

}  // namespace weft::store::mysql
