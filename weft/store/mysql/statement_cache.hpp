// Statements that one connection keeps prepared, the most lately used of them.
//
// Problem: to prepare a statement costs a round trip to the server, and work there, and each that
// is kept takes memory on both sides. Contract: found by their texts; so many are kept, and the one
// that was not used for the longest time goes first. What is given is good until the next keep(),
// shrink() or clear(). One connection's, which is not at work when one is dropped.
//
//   if (statement* known = statements.find(text)) co_return known;
//   co_return &statements.keep(std::move(prepared));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <weft/base/hash_map.hpp>
#include <weft/base/intrusive_list.hpp>
#include <weft/store/mysql/statement.hpp>

namespace weft::store::mysql {

/// What the connections share that prepare their statements in the same room of a server
/// (max_prepared_stmt_count): who finds it full and has nothing to give up counts one more, and
/// then each of the others gives up half of what it keeps, before it does anything else.
struct statement_room {
  std::uint64_t shortages = 0;
};

class statement_cache {
 public:
  explicit statement_cache(std::size_t most) noexcept : most_{most} {}
  statement_cache(const statement_cache&) = delete;
  statement_cache& operator=(const statement_cache&) = delete;
  ~statement_cache() { clear(); }

  /// nullptr: there is none of this text.
  [[nodiscard]] statement* find(std::string_view text) noexcept;
  /// There is none of its text yet.
  statement& keep(statement made);
  /// Gives up half of those that are kept, and keeps no more from now on. False: there were none.
  bool shrink() noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return by_text_.size(); }
  void clear() noexcept;
  /// For the next statement that comes.
  void set_most(std::size_t most) noexcept { most_ = most; }

 private:
  struct kept_statement {
    statement prepared;
    list_hook by_use;
  };

  /// The ones used last.
  void leave(std::size_t statements) noexcept;

  std::size_t most_;
  hash_map<std::string_view, std::unique_ptr<kept_statement>> by_text_;
  intrusive_list<kept_statement, &kept_statement::by_use> by_use_;  // the latest at the back
};

}  // namespace weft::store::mysql
