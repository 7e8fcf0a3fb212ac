#include <apps/weftd/known_table.hpp>

#include <vector>

#include <weft/base/format.hpp>

namespace weftd {
namespace {

/// "; there are: a, b", for people.
std::string there_are(const std::vector<std::string_view>& names) {
  constexpr std::size_t shown_max = 20;
  if (names.empty()) return "; there are none";
  std::string text = "; there are: ";
  for (std::size_t i = 0; i < names.size() && i < shown_max; ++i) {
    if (i != 0) text += ", ";
    text += names[i];
  }
  return names.size() > shown_max ? text + ", ..." : text;
}

}  // namespace

std::optional<table_name> parse_table_name(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == 0 || point == std::string_view::npos || point + 1 == text.size())
    return std::nullopt;
  return table_name{std::string{text.substr(0, point)}, std::string{text.substr(point + 1)}};
}

std::expected<const weft::store::table*, std::string> known_table(
    const weft::store::catalog& schema, std::string_view database, std::string_view table) {
  if (const auto* const refused = schema.refused(database))
    return std::unexpected{refused->message};
  if (!schema.has(database)) {
    const auto all = schema.databases();
    return std::unexpected{weft::format(
        "there is no database '{}'{} (--data FOLDER, or --mysql SERVER, says where they are)",
        database, there_are({all.begin(), all.end()}))};
  }
  if (const weft::store::table* const found = schema.find(database, table)) {
    if (!found->key().empty()) return found;
    return std::unexpected{weft::format("{}.{} has no primary key", database, table)};
  }
  std::vector<std::string_view> others;
  for (const auto& each : schema.tables())
    if (each->database() == database) others.push_back(each->name());
  return std::unexpected{
      weft::format("there is no table '{}' in {}{}", table, database, there_are(others))};
}

}  // namespace weftd
