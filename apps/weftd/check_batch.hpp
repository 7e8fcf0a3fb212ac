// Whether a batch is one that the API knows, before anybody looks at a table: one fault fails it.
//
// Contract: as check_request.hpp. What has passed has a path and a body in each operation.
//
//   auto fine = check_reads(asked, limits, memory);
//   if (!fine) return reply(e, fine.error(), version);
#pragma once

#include <optional>
#include <string_view>

#include <apps/weftd/api_request.hpp>
#include <apps/weftd/check_request.hpp>
#include <apps/weftd/request_memory.hpp>

namespace weftd {

/// "db/table/pk-read", of which more may stand in front.
struct operation_path {
  std::string_view database;
  std::string_view table;
  std::string_view action;
};
/// Nothing: it has no three parts.
[[nodiscard]] std::optional<operation_path> split_path(std::string_view relative_url) noexcept;

[[nodiscard]] checked check_reads(const batch_read_request& asked, const api_limits& limits,
                                  request_memory& memory);
/// pk-write, pk-update and pk-insert, in any order.
[[nodiscard]] checked check_writes(const batch_write_request& asked, const api_limits& limits,
                                   request_memory& memory);
/// pk-delete, by POST or DELETE.
[[nodiscard]] checked check_deletes(const batch_write_request& asked, const api_limits& limits,
                                    request_memory& memory);

}  // namespace weftd
