#include <apps/weftd/check_request.hpp>

#include <algorithm>
#include <string>

#include <weft/base/format.hpp>

#include <apps/weftd/name_set.hpp>

namespace weftd {
namespace {

constexpr std::size_t name_bytes_max = 64;

/// Of text that is UTF-8: NUL, and what lies beyond U+FFFF, are in no identifier.
bool has_invalid_character(std::string_view name) noexcept {
  return std::ranges::any_of(
      name, [](char c) { return c == '\0' || static_cast<unsigned char>(c) >= 0xf0; });
}

checked check_identifier(std::string_view name) {
  if (name.empty()) return refuse("identifier is empty");
  if (name.size() > name_bytes_max)
    return refuse(weft::format("identifier is too large: {}", name));
  if (has_invalid_character(name))
    return refuse(weft::format("identifier carries an invalid character: {}", name));
  return {};
}

checked check_length(std::string_view name, std::string_view what) {
  if (!name.empty() && name.size() <= name_bytes_max) return {};
  return refuse(
      weft::format("Field validation for '{}' failed on the '{}' tag: 1 to {} bytes are allowed",
                   what, name.empty() ? "min" : "max", name_bytes_max));
}

/// `section`: "filters" or "writeColumns".
checked check_values(const std::optional<column_values>& values, std::string_view section,
                     std::string_view kind) {
  if (!values) return refuse(weft::format("the {} section is null", section));
  if (values->empty()) return refuse(weft::format("the {} section is empty", section));
  for (const column_value& each : *values) {
    if (!each.column) return refuse(weft::format("a Column in the {} section is null", section));
    if (auto named = check_identifier(each.column->view()); !named) return named;
    if (!each.value.is_given())
      return refuse(weft::format("the Value of {} '{}' is missing", kind, each.column->view()));
  }
  return {};
}

checked check_filters(const std::optional<column_values>& filters) {
  if (auto fine = check_values(filters, "filters", "filter"); !fine) return fine;
  if (name_set{*filters}.has_twins())
    return refuse(
        "field validation for filter failed on the 'unique' tag: a column is named twice");
  return {};
}

checked check_read_column(const read_column& asked) {
  if (!asked.column) return refuse("a column to read is missing a name");
  if (auto named = check_identifier(asked.column->view()); !named) return named;
  if (asked.dataReturnType && asked.dataReturnType->view() != "default")
    return refuse(weft::format("default dataReturnType is the only supported, not '{}'",
                               asked.dataReturnType->view()));
  return {};
}

checked check_read_columns(const std::optional<read_columns>& asked) {
  if (!asked) return {};
  for (const read_column& each : *asked)
    if (auto fine = check_read_column(each); !fine) return fine;
  if (name_set{*asked}.has_twins())
    return refuse(
        "field validation for 'ReadColumns' failed on the 'unique' tag: a column is named twice");
  return {};
}

checked check_none_is_filtered(const pk_read_request& asked) {
  if (!asked.readColumns) return {};
  const name_set filtered{*asked.filters};
  for (const read_column& each : *asked.readColumns)
    if (filtered.contains(each.column->view()))
      return refuse(
          weft::format("field validation for read columns failed. '{}' already included in filter",
                       each.column->view()));
  return {};
}

checked check_write_columns(const pk_write_request& asked) {
  if (!asked.writeColumns || asked.writeColumns->empty()) return {};
  if (auto fine = check_values(asked.writeColumns, "writeColumns", "column"); !fine) return fine;
  const name_set filtered{*asked.filters};
  for (const column_value& each : *asked.writeColumns)
    if (filtered.contains(each.column->view()))
      return refuse(
          weft::format("field validation for write columns failed. '{}' already included in filter",
                       each.column->view()));
  if (name_set{*asked.writeColumns}.has_twins())
    return refuse(
        "field validation for 'WriteColumns' failed on the 'unique' tag: a column is named twice");
  return {};
}

}  // namespace

checked check_operation_id(const std::optional<lent_text>& id, const api_limits& limits) {
  if (!id || id->view().size() <= limits.operation_id_bytes) return {};
  return refuse(weft::format("the operationId has {} bytes; max allowed length is {}",
                             id->view().size(), limits.operation_id_bytes));
}

checked check_database(std::string_view name) {
  if (auto fits = check_length(name, "DB"); !fits) return fits;
  return check_identifier(name);
}

checked check_names(std::string_view database, std::string_view table) {
  if (auto fits = check_length(database, "DB"); !fits) return fits;
  if (auto fits = check_length(table, "Table"); !fits) return fits;
  if (auto named = check_identifier(database); !named) return named;
  return check_identifier(table);
}

checked check(const pk_read_request& asked, const api_limits& limits, request_memory& memory) {
  const using_memory here{memory};
  if (auto fine = check_operation_id(asked.operationId, limits); !fine) return fine;
  if (auto fine = check_filters(asked.filters); !fine) return fine;
  if (auto fine = check_read_columns(asked.readColumns); !fine) return fine;
  return check_none_is_filtered(asked);
}

checked check(const scan_request& asked, request_memory& memory) {
  const using_memory here{memory};
  return check_read_columns(asked.readColumns);
}

checked check(const pk_write_request& asked, const api_limits& limits, request_memory& memory) {
  const using_memory here{memory};
  if (auto fine = check_operation_id(asked.operationId, limits); !fine) return fine;
  if (auto fine = check_filters(asked.filters); !fine) return fine;
  return check_write_columns(asked);
}

}  // namespace weftd
