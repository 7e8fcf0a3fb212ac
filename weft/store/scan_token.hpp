// Where a scan is to go on: the last row's place in its order, as a text for clients.
//
// Contract: Base64 of the values of the order's columns and of the table's tie breakers, and of
// what the order is: a token of another table, index or direction is refused, and so is one that
// was made up, as far as that can be seen; it opens nothing that the scan itself would not show.
// Not signed.
//
//   std::string token = scan_token(request, values_of_last_row);
//   auto values = read_scan_token(request, room);  // nothing: no token of such a scan
#pragma once

#include <optional>
#include <span>
#include <string>

#include <weft/base/result.hpp>
#include <weft/store/scan.hpp>
#include <weft/store/scratch.hpp>

namespace weft::store {

/// `place`: of the columns of order_of(request), then of the table's tie breakers.
[[nodiscard]] std::string scan_token(const scan_request& request, std::span<const value> place);

/// Of request.continuation, which is not empty; the values lie in `room`.
[[nodiscard]] std::optional<std::span<const value>> read_scan_token(const scan_request& request,
                                                                    scratch& room);

/// Behind which row a scan goes on; empty: it begins. Lies in `room`. errc::limit_exceeded for a
/// request beyond the bounds, errc::invalid_argument where its table has no key, or its
/// continuation is no token of it.
[[nodiscard]] result<std::span<const value>> place_of(const scan_request& request, scratch& room);

}  // namespace weft::store
