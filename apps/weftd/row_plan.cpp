#include <apps/weftd/row_plan.hpp>

#include <span>

#include <weft/base/format.hpp>
#include <weft/store/convert.hpp>

namespace weftd {
namespace {

namespace store = weft::store;

template <class T>
using planned = std::expected<T, api_fault>;

store::json_scalar scalar_of(const weft::json::lent_scalar& given) noexcept {
  using weft::json::scalar_kind;
  const auto kind = given.kind() == scalar_kind::string    ? store::json_kind::string
                    : given.kind() == scalar_kind::number  ? store::json_kind::number
                    : given.kind() == scalar_kind::boolean ? store::json_kind::boolean
                                                           : store::json_kind::null;
  return {kind, given.view()};
}

/// Where it stands in the key.
planned<std::size_t> find_in_key(const store::table& in, std::string_view name) {
  const auto at = in.find(name);
  if (!at) return refuse_unknown(weft::format("Column does not exist. Column: {}", name));
  const auto place = in.place_in_key(*at);
  if (!place) return refuse_unknown(weft::format("Wrong primary-key column. Column: {}", name));
  return *place;
}

planned<std::span<const store::value>> make_key(const store::table& of,
                                                const column_values& filters,
                                                request_memory& memory) {
  if (filters.size() != of.key().size())
    return refuse_unknown(weft::format("Wrong number of primary-key columns. Expecting: {} Got: {}",
                                       of.key().size(), filters.size()));
  const std::span<store::value> key = memory.room.make_array<store::value>(filters.size());
  for (const column_value& each : filters) {
    const auto place = find_in_key(of, each.column->view());
    if (!place) return std::unexpected{place.error()};
    const store::column& column = of.columns()[of.key()[*place]];
    const auto value = make_value(each.value, column, store::purpose::key, memory);
    if (!value) return std::unexpected{value.error()};
    key[*place] = *value;
  }
  return key;
}

struct new_content {
  std::span<store::column_position> columns;
  std::span<store::value> values;
};

planned<new_content> make_content(const store::table& of, const std::optional<column_values>& asked,
                                  request_memory& memory) {
  const std::size_t count = asked ? asked->size() : 0;
  const new_content made{memory.room.make_array<store::column_position>(count),
                         memory.room.make_array<store::value>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const column_value& each = (*asked)[i];
    const auto at = of.find(each.column->view());
    if (!at)
      return refuse_unknown(weft::format("Column does not exist. Column: {}", each.column->view()));
    const store::column& column = of.columns()[*at];
    if (column.is_generated)
      return refuse_unknown(
          weft::format("Column {} is generated, and cannot be written.", column.name));
    const auto value = make_value(each.value, column, store::purpose::content, memory);
    if (!value) return std::unexpected{value.error()};
    made.columns[i] = *at;
    made.values[i] = *value;
  }
  return made;
}

}  // namespace

planned<const store::table*> find_table(const store::catalog& schema, std::string_view database,
                                        std::string_view name) {
  const store::table* const found = schema.find(database, name);
  if (found == nullptr) {
    if (const auto* const refused = schema.refused(database))
      return refuse_unserved({.kind = refused->why, .message = refused->message});
    return refuse_unknown(
        weft::format("Database/Table does not exist. Database: {} Table: {}", database, name),
        weft::http::status::not_found);
  }
  if (found->key().empty())
    return refuse_unknown(weft::format("Table {} has no primary key, which is unsupported.", name));
  return found;
}

planned<store::value> make_value(const weft::json::lent_scalar& given, const store::column& of,
                                 store::purpose why, request_memory& memory) {
  const auto value = store::to_value(scalar_of(given), of, why, memory.room);
  if (value) return *value;
  std::string message;
  store::append_message(value.error(), of, message);
  // No table has NULL in its key. All else may fit the column as it is by now.
  if (value.error() == store::conversion_fault::null_in_key) return refuse(std::move(message));
  return refuse_unknown(std::move(message));
}

planned<std::span<const store::column_position>> find_columns(
    const store::table& of, const request_vector<read_column>& asked, request_memory& memory) {
  const auto found = memory.room.make_array<store::column_position>(asked.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string_view name = asked[i].column->view();
    const auto at = of.find(name);
    if (!at) return refuse_unknown(weft::format("Column does not exist. Column: {}", name));
    found[i] = *at;
  }
  return found;
}

planned<store::key_read> plan_read(const store::catalog& schema, std::string_view database,
                                   std::string_view table, const pk_read_request& asked,
                                   request_memory& memory) {
  const auto from = find_table(schema, database, table);
  if (!from) return std::unexpected{from.error()};
  const auto key = make_key(**from, *asked.filters, memory);
  if (!key) return std::unexpected{key.error()};
  const bool names_columns = asked.readColumns && !asked.readColumns->empty();
  const auto columns =
      names_columns ? find_columns(**from, *asked.readColumns, memory) : (*from)->values();
  if (!columns) return std::unexpected{columns.error()};
  return store::key_read{*from, *key, *columns};
}

planned<store::key_write> plan_write(const store::catalog& schema, std::string_view database,
                                     std::string_view table, store::write_kind kind,
                                     const pk_write_request& asked, request_memory& memory) {
  const auto to = find_table(schema, database, table);
  if (!to) return std::unexpected{to.error()};
  const auto key = make_key(**to, *asked.filters, memory);
  if (!key) return std::unexpected{key.error()};
  const auto content = make_content(**to, asked.writeColumns, memory);
  if (!content) return std::unexpected{content.error()};
  return store::key_write{kind, *to, *key, content->columns, content->values};
}

}  // namespace weftd
