// From a request to scan a table to what an engine is asked.
//
// Contract: as row_plan.hpp, with the words of the RonDB REST server's scans (docs/weftd.md). An
// index is one of the table's, or "PRIMARY", the primary key; its key_columns are its first ones,
// in its order; left out, they are all. Where no columns are named, all of the table are meant, in
// its order.
//
//   auto plan = plan_scan(*schema, "shop", "orders", asked, memory);
//   if (!plan) return fail(plan.error());
//   plan->limit = 100;
//   auto rest = co_await engine.scan(*plan, sink);
#pragma once

#include <expected>
#include <string_view>

#include <apps/weftd/api_fault.hpp>
#include <apps/weftd/api_request.hpp>
#include <apps/weftd/request_memory.hpp>
#include <weft/store/catalog.hpp>
#include <weft/store/scan.hpp>

namespace weftd {

/// Its limit is what was asked for, its continuation a view of the request.
[[nodiscard]] std::expected<weft::store::scan_request, api_fault> plan_scan(
    const weft::store::catalog& schema, std::string_view database, std::string_view table,
    const scan_request& asked, request_memory& memory);

}  // namespace weftd
