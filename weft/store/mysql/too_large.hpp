// What is said of rows that have more bytes than an engine may keep.
//
//   to.failed({.kind = failure_kind::too_large, .message = too_large(options.read_memory_bytes)});
#pragma once

#include <cstdint>
#include <string>

namespace weft::store::mysql {

class connection;

[[nodiscard]] std::string too_large(std::uint64_t bytes_max);
/// Of a row that `by` has refused.
[[nodiscard]] std::string too_large(const connection& by, std::uint64_t bytes_max);

}  // namespace weft::store::mysql
