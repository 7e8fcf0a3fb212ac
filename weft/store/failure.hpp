// Why one operation of a batch was not done, while others were.
//
// Contract: `kind` is what callers branch on; `message` is for people: cause, value, and what to do
// about it. The message is good as long as the call lasts that it is handed to.
//
//   void failed(std::size_t operation, const failure& why) override {
//     reply(operation, why.kind == failure_kind::duplicate_key ? 409 : 500, why.message);
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace weft::store {

enum class failure_kind : std::uint8_t {
  schema_changed,  // the table is not what it was when the request was made: look it up again
  duplicate_key,   // a row has this key already, or a value that is unique
  constraint,      // the row breaks a rule of the table
  rolled_back,     // another operation of the batch failed, and so none was done
  busy,            // another program holds the database; may work later
  read_only,       // the database cannot be written to
  full,            // the disk, or the database's bound
  corrupt,         // the file is damaged, or no database
  input_output,    // the disk, or the way to it, failed
  invalid,         // what was asked for is not to be had: a query with a mistake, say
  too_large,       // the rows have more bytes than the engine keeps at once: ask for fewer
  unsupported,     // the table needs what the engine does not have: a collation, a function
  no_memory,       // memory ran out, and nothing was done; may work later
  unknown,         // nobody knows whether it was done: look before it is done again
  other,
};
inline constexpr std::size_t failure_kinds =
    std::size_t{std::to_underlying(failure_kind::other)} + 1;

/// As it is spelled here. Static storage.
[[nodiscard]] std::string_view to_string(failure_kind kind) noexcept;

/// What is wrong with a query in SQL (query.hpp), for clients that branch on it.
enum class query_fault : std::uint8_t {
  none,         // it is no query, or the query is not to blame
  syntax,       // it is no SQL
  semantic,     // it names what there is not, or compares or computes what does not fit
  unsupported,  // SQL that is not allowed here
  limit,        // it is too large, or its result is
};

struct failure {
  failure_kind kind = failure_kind::other;
  std::string_view message{};
  /// Of the batch as a whole, as of a rule that is looked at with the commit: all of its operations
  /// have failed so, and which one is to blame is not known.
  bool is_of_all = false;
  query_fault of_query = query_fault::none;
};

}  // namespace weft::store
