// What the routes for rows say of themselves.
//
//   api.post("/batch", http::described(read, describe_reads(spoken)));
#pragma once

#include <apps/weftd/api_fault.hpp>
#include <weft/http/route_handler.hpp>

namespace weftd {

[[nodiscard]] weft::http::route_description describe_row_read(api_version spoken);
[[nodiscard]] weft::http::route_description describe_scan(api_version spoken);
[[nodiscard]] weft::http::route_description describe_reads(api_version spoken);
[[nodiscard]] weft::http::route_description describe_writes(api_version spoken);
[[nodiscard]] weft::http::route_description describe_deletes(api_version spoken);

}  // namespace weftd
