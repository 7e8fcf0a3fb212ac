// What this process and one that runs a query (query_child.hpp) say to each other.
//
// Problem: the other process reads files and SQL of strangers, and may have been taken over by one
// of them. Contract: messages are a length of 4 bytes and as many bytes, query_message_bytes_max at
// most; numbers are in the order of this machine. They take turns: a greeting comes first, then
// each command has one answer. Whatever bytes come, reading them gives a message or nothing, and
// never takes more memory than the bytes that came. What is read views the bytes.
//
//   std::string bytes;
//   write_query(request, {.memory_bytes = 1U << 27U, .cpu_seconds = 11}, bytes);
//   if (auto answer = read_answer(body, columns_max)) tell(*answer);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/store/query.hpp>
#include <weft/store/sqlite/query_sandbox.hpp>

namespace weft::store::sqlite {

inline constexpr std::size_t query_message_bytes_max = std::size_t{8} * 1024 * 1024;
inline constexpr std::size_t query_message_head_bytes = 4;

/// Appends a message that `body` writes into the string it is given.
template <class Body>
void write_message(std::string& to, Body body) {
  const std::size_t before = to.size();
  to.append(query_message_head_bytes, '\0');
  body(to);
  const auto size = static_cast<std::uint32_t>(to.size() - before - query_message_head_bytes);
  to.replace(before, sizeof size, reinterpret_cast<const char*>(&size), sizeof size);
}

// From the process that runs queries, first.

void write_greeting(const sandbox_support& has, std::string& to);
/// Nothing: it is another version, or no such process.
[[nodiscard]] std::optional<sandbox_support> read_greeting(std::string_view body) noexcept;

// To it.

struct query_allowance {
  std::uint64_t memory_bytes = 0;
  std::uint32_t cpu_seconds = 0;
};
struct query_command {
  enum class kind : std::uint8_t { begin, go_on, leave } what = kind::go_on;
  query_allowance allowed{};
  std::uint64_t rows_max = 0;
  std::string_view text{};
  std::vector<query_parameter> parameters{};
};
void write_query(const query_request& request, const query_allowance& allowed, std::string& to);
/// Of a query under way: the next rows, or no more of them.
void write_command(query_command::kind what, std::string& to);
[[nodiscard]] std::optional<query_command> read_command(std::string_view body);

// And what it answers.

struct query_answer {
  enum class state : std::uint8_t { has_more, is_all, is_cut, has_failed } is = state::is_all;
  /// With the first answer of a query that has not failed before.
  std::optional<std::vector<column>> columns{};
  /// Row after row.
  std::vector<value> values{};
  std::size_t rows = 0;
  failure_kind why = failure_kind::other;
  query_fault of_query = query_fault::none;
  std::string_view message{};
};
/// `columns`: nullptr after the first answer.
void write_answer(query_answer::state is, const std::vector<column>* columns,
                  std::span<const std::span<const value>> rows, const failure& why,
                  std::string& to);
/// `columns`: how many the query's first answer had; nothing: this is that one.
[[nodiscard]] std::optional<query_answer> read_answer(std::string_view body,
                                                      std::optional<std::size_t> columns);

}  // namespace weft::store::sqlite
