// Whether a request is one that the API knows, before anybody looks at a table.
//
// Contract: the rules and the words of the RonDB REST server (docs/weftd.md); the first fault is
// told. What has passed has all its columns named, once each, and a value with each filter. Names
// are 1 to 64 bytes of characters up to U+FFFF, but not NUL.
//
//   if (auto checked = check(asked, limits); !checked) return reply(e, checked.error(), version);
#pragma once

#include <cstddef>
#include <expected>
#include <string_view>

#include <apps/weftd/api_fault.hpp>
#include <apps/weftd/api_request.hpp>

namespace weftd {

using checked = std::expected<void, api_fault>;

struct api_limits {
  std::size_t operation_id_bytes = 256;
};

[[nodiscard]] checked check_operation_id(const std::optional<lent_text>& id,
                                         const api_limits& limits);
[[nodiscard]] checked check_database(std::string_view name);
/// Of a path: which database, which table.
[[nodiscard]] checked check_names(std::string_view database, std::string_view table);
[[nodiscard]] checked check(const pk_read_request& asked, const api_limits& limits,
                            request_memory& memory);
/// Which columns it is to give; the rest depends on the table.
[[nodiscard]] checked check(const scan_request& asked, request_memory& memory);
/// Whether there must be something to write depends on the operation (check_batch.hpp).
[[nodiscard]] checked check(const pk_write_request& asked, const api_limits& limits,
                            request_memory& memory);

}  // namespace weftd
