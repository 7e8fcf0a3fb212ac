// What the RonDB REST server refuses of a batch of reads before it looks anything up.
//
// Contract: gives the first fault in few words, or nothing. 1 to 128 operations, each a POST to
// database/table/pk-read with 1 or more filters; names have 1 to 64 bytes, none of them NUL and no
// character beyond U+FFFF; no column is named twice; the return type is "default"; an operationId
// has 256 bytes at most. Plain C++20.
//
//   if (const std::string_view fault = rdrs::fault_of(batch); !fault.empty()) refuse(fault);
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "rdrs_documents.hpp"

namespace rdrs {

inline constexpr std::size_t operations_max = 128;
inline constexpr std::size_t name_bytes_max = 64;
inline constexpr std::size_t operation_id_bytes_max = 256;

[[nodiscard]] inline bool is_name(std::string_view text) noexcept {
  return !text.empty() && text.size() <= name_bytes_max &&
         std::none_of(text.begin(), text.end(),
                      [](char c) { return c == '\0' || static_cast<unsigned char>(c) >= 0xf0; });
}

[[nodiscard]] inline bool is_path(std::string_view url) noexcept {
  constexpr std::string_view action = "/pk-read";
  if (!url.ends_with(action)) return false;
  url.remove_suffix(action.size());
  const std::size_t slash = url.rfind('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view front = url.substr(0, slash);
  const std::size_t before = front.rfind('/');
  const std::string_view database =
      before == std::string_view::npos ? front : front.substr(before + 1);
  return is_name(database) && is_name(url.substr(slash + 1));
}

/// Of a few items; quadratic.
template <class Items>
[[nodiscard]] bool has_twins(const Items& items) noexcept {
  for (auto each = items.begin(); each != items.end(); ++each)
    for (auto other = items.begin(); other != each; ++other)
      if (each->column == other->column) return true;
  return false;
}

[[nodiscard]] inline std::string_view fault_of(const key_read& read) noexcept {
  if (read.operationId.size() > operation_id_bytes_max) return "operationId is too long";
  if (read.filters.empty()) return "the filters section is empty";
  for (const filter& each : read.filters)
    if (!is_name(each.column)) return "a filter has no valid identifier";
  if (has_twins(read.filters)) return "a filter is there twice";
  for (const read_column& each : read.readColumns) {
    if (!is_name(each.column)) return "a column to read has no valid identifier";
    if (each.dataReturnType != "default") return "default dataReturnType is the only supported";
    for (const filter& named : read.filters)
      if (named.column == each.column) return "a column to read is included in filter";
  }
  return has_twins(read.readColumns) ? "a column to read is there twice" : std::string_view{};
}

[[nodiscard]] inline std::string_view fault_of(const batch& asked) noexcept {
  if (asked.operations.empty()) return "No operations defined";
  if (asked.operations.size() > operations_max) return "Batch size exceeds maximum allowed size";
  for (const operation& each : asked.operations) {
    if (each.method != "POST") return "the Method section should be POST";
    if (!is_path(each.relative_url)) return "Field validation for 'RelativeURL' failed";
    if (const std::string_view fault = fault_of(each.body); !fault.empty()) return fault;
  }
  return {};
}

}  // namespace rdrs
