// From a checked request to what an engine is asked: names become positions, JSON becomes values.
//
// Contract: of one table of one catalog, which the caller keeps as long as the plan; what it has
// made lies in the request's memory. A fault has the status and the words of the RonDB REST server:
// 404 for a database or table that is not there, 400 for everything else.
//
//   auto plan = plan_read(*schema, "shop", "orders", asked, memory);
//   if (!plan) return fail(plan.error());
//   co_await engine.read({&*plan, 1}, sink);
#pragma once

#include <expected>
#include <span>
#include <string_view>

#include <weft/store/catalog.hpp>
#include <weft/store/convert.hpp>
#include <weft/store/engine.hpp>

#include <apps/weftd/api_fault.hpp>
#include <apps/weftd/api_request.hpp>
#include <apps/weftd/request_memory.hpp>

namespace weftd {

[[nodiscard]] std::expected<weft::store::key_read, api_fault> plan_read(
    const weft::store::catalog& schema, std::string_view database, std::string_view table,
    const pk_read_request& asked, request_memory& memory);

[[nodiscard]] std::expected<weft::store::key_write, api_fault> plan_write(
    const weft::store::catalog& schema, std::string_view database, std::string_view table,
    weft::store::write_kind kind, const pk_write_request& asked, request_memory& memory);

// What other plans share with these.

/// One with a primary key.
[[nodiscard]] std::expected<const weft::store::table*, api_fault> find_table(
    const weft::store::catalog& schema, std::string_view database, std::string_view name);
[[nodiscard]] std::expected<weft::store::value, api_fault> make_value(
    const weft::json::lent_scalar& given, const weft::store::column& of, weft::store::purpose why,
    request_memory& memory);
[[nodiscard]] std::expected<std::span<const weft::store::column_position>, api_fault> find_columns(
    const weft::store::table& of, const request_vector<read_column>& asked, request_memory& memory);

}  // namespace weftd
