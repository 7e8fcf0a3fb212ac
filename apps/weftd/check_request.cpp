#include <apps/weftd/check_request.hpp>

#include <algorithm>
#include <string>

#include <weft/base/format.hpp>

#include <apps/weftd/name_set.hpp>

namespace weftd {
namespace {

constexpr std::size_t name_bytes_max = 64;

std::unexpected<api_fault> refuse(std::string message) {
  return std::unexpected{bad_request(std::move(message))};
}

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

checked check_filter(const filter& asked) {
  if (!asked.column) return refuse("a Column in the filters section is null");
  if (auto named = check_identifier(asked.column->view()); !named) return named;
  if (!asked.value.is_given())
    return refuse(weft::format("the Value of filter '{}' is missing", asked.column->view()));
  return {};
}

checked check_read_column(const read_column& asked, const name_set& filtered) {
  if (!asked.column) return refuse("a column to read is missing a name");
  const std::string_view name = asked.column->view();
  if (auto named = check_identifier(name); !named) return named;
  if (asked.dataReturnType && asked.dataReturnType->view() != "default")
    return refuse(weft::format("default dataReturnType is the only supported, not '{}'",
                               asked.dataReturnType->view()));
  if (filtered.contains(name))
    return refuse(weft::format(
        "field validation for read columns failed. '{}' already included in filter", name));
  return {};
}

checked check_columns(const pk_read_request& asked) {
  if (!asked.filters) return refuse("the filters section is null");
  if (asked.filters->empty()) return refuse("the filters section is empty");
  for (const filter& each : *asked.filters)
    if (auto fine = check_filter(each); !fine) return fine;
  const name_set filtered{*asked.filters};
  if (filtered.has_twins())
    return refuse(
        "field validation for filter failed on the 'unique' tag: a column is named twice");
  if (!asked.readColumns) return {};
  for (const read_column& each : *asked.readColumns)
    if (auto fine = check_read_column(each, filtered); !fine) return fine;
  if (name_set{*asked.readColumns}.has_twins())
    return refuse(
        "field validation for 'ReadColumns' failed on the 'unique' tag: a column is named twice");
  return {};
}

}  // namespace

checked check_names(std::string_view database, std::string_view table) {
  if (auto fits = check_length(database, "DB"); !fits) return fits;
  if (auto fits = check_length(table, "Table"); !fits) return fits;
  if (auto named = check_identifier(database); !named) return named;
  return check_identifier(table);
}

checked check(const pk_read_request& asked, const api_limits& limits, request_memory& memory) {
  const using_memory here{memory};
  if (asked.operationId && asked.operationId->view().size() > limits.operation_id_bytes)
    return refuse(weft::format("the operationId has {} bytes; max allowed length is {}",
                               asked.operationId->view().size(), limits.operation_id_bytes));
  return check_columns(asked);
}

}  // namespace weftd
