#include <weft/store/schema_difference.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include <weft/base/format.hpp>

namespace weft::store {
namespace {

std::string type_of(const column& of) {
  std::string text{to_string(of.type)};
  if (of.precision != 0)
    text += weft::format("({},{})", of.precision, of.scale);
  else if (of.length != 0)
    text += weft::format("({})", of.length);
  else if (of.fraction_digits != 0)
    text += weft::format("({})", of.fraction_digits);
  if (of.is_unsigned) text += " UNSIGNED";
  if (!of.is_nullable) text += " NOT NULL";
  return text;
}

std::string names_of(const table_definition& in, std::span<const column_position> columns) {
  std::string text;
  for (const column_position each : columns)
    text += weft::format("{}{}", text.empty() ? "" : ", ", in.columns[each].name);
  return text;
}

/// "INDEX by_price (price)"; the same for each that finds the same rows.
std::string text_of(const table_definition& in, const secondary_index& of) {
  return weft::format("{}index {} ({})", of.is_unique ? "unique " : "", of.name,
                      names_of(in, of.columns));
}

class comparison {
 public:
  void compare(const table_definition& before, const table_definition& after) {
    for (const column& each : before.columns) {
      const auto now = std::ranges::find(after.columns, each.name, &column::name);
      if (now == after.columns.end())
        tell(before, weft::format("the column {} is missing", each.name));
      else if (type_of(*now) != type_of(each))
        tell(before, weft::format("the column {} is {}, and was {}", each.name, type_of(*now),
                                  type_of(each)));
      else if (*now != each)
        tell(before, weft::format("the column {} is declared otherwise", each.name));
    }
    for (const column& each : after.columns)
      if (!std::ranges::contains(before.columns, each.name, &column::name))
        tell(before, weft::format("the column {} {} is new", each.name, type_of(each)));
    const std::string key_before = names_of(before, before.key);
    const std::string key_after = names_of(after, after.key);
    if (key_before != key_after)
      tell(before, weft::format("the key is ({}), and was ({})", key_after, key_before));
    compare_indexes(before, after);
  }

  std::vector<std::string> lines;

 private:
  void tell(const table_definition& of, std::string_view what) {
    lines.push_back(weft::format("table {}: {}", of.name, what));
  }

  void compare_indexes(const table_definition& before, const table_definition& after) {
    const auto texts_of = [](const table_definition& in) {
      std::vector<std::string> texts;
      texts.reserve(in.indexes.size());
      for (const secondary_index& each : in.indexes) texts.push_back(text_of(in, each));
      return texts;
    };
    const auto old = texts_of(before);
    const auto now = texts_of(after);
    for (const std::string& each : old)
      if (!std::ranges::contains(now, each)) tell(before, weft::format("the {} is missing", each));
    for (const std::string& each : now)
      if (!std::ranges::contains(old, each)) tell(before, weft::format("the {} is new", each));
  }
};

}  // namespace

std::vector<std::string> schema_differences(std::span<const table_definition> before,
                                            std::span<const table_definition> after) {
  comparison found;
  for (const table_definition& each : before) {
    const auto now = std::ranges::find(after, each.name, &table_definition::name);
    if (now == after.end())
      found.lines.push_back(weft::format("table {}: it is missing", each.name));
    else
      found.compare(each, *now);
  }
  for (const table_definition& each : after)
    if (!std::ranges::contains(before, each.name, &table_definition::name))
      found.lines.push_back(weft::format("table {}: it is new", each.name));
  return std::move(found.lines);
}

}  // namespace weft::store
