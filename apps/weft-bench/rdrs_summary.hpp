// What a program has seen in a batch, in few bytes: no answer can be given without having parsed.
//
// Contract: the number of operations; the bytes of all strings, decoded; and FNV-1a (32 bits) over
// the names and values of the filters and the names of the columns to read, in their order.
// bench/harness/rdrs.py says the same in Python, by which all programs are checked. Plain C++20.
//
//   rdrs::summary seen = rdrs::summary_of(batch);
//   seen.append_to(reply);                      // {"operations":1,"bytes":82,"sum":1234567890}
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "rdrs_documents.hpp"

namespace rdrs {

class summary {
 public:
  void begin_operation() noexcept { ++operations_; }
  /// A string that only counts.
  void see(std::string_view text) noexcept { bytes_ += text.size(); }
  /// A column's name, or the value that it is to have.
  void sum_up(std::string_view text) noexcept {
    bytes_ += text.size();
    for (const char c : text) sum_ = (sum_ ^ static_cast<unsigned char>(c)) * 16777619U;
  }

  void append_to(std::string& reply) const {
    append(reply, R"({"operations":)", operations_);
    append(reply, R"(,"bytes":)", bytes_);
    append(reply, R"(,"sum":)", sum_);
    reply += '}';
  }

 private:
  static void append(std::string& reply, std::string_view name, std::uint64_t number) {
    char digits[20];
    reply += name;
    reply.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }

  std::uint64_t operations_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint32_t sum_ = 2166136261U;
};

/// `Text` converts to std::string_view, or has a view().
template <class Text>
[[nodiscard]] std::string_view view_of(const Text& text) noexcept {
  if constexpr (requires { text.view(); })
    return text.view();
  else
    return text;
}

template <class Text>
[[nodiscard]] summary summary_of(const batch_of<Text>& of) noexcept {
  summary seen;
  for (const auto& each : of.operations) {
    seen.begin_operation();
    seen.see(view_of(each.method));
    seen.see(view_of(each.relative_url));
    for (const auto& filter : each.body.filters) {
      seen.sum_up(view_of(filter.column));
      seen.sum_up(view_of(filter.value));
    }
    for (const auto& column : each.body.readColumns) {
      seen.sum_up(view_of(column.column));
      seen.see(view_of(column.dataReturnType));
    }
    seen.see(view_of(each.body.operationId));
  }
  return seen;
}

}  // namespace rdrs
