// How much memory SQLite may take for one query.
//
// Problem: a query of a few hundred bytes makes SQLite take all the memory there is, while it is
// prepared or while it runs. Contract: what SQLite allocates on a thread counts while a `use` of
// the budget lives there; beyond it SQLite is told that there is none, so that the query ends with
// SQLITE_NOMEM, and its connection is of use again. A query may go on on another thread, with a
// `use` there. library.hpp says where nothing is counted. Of one thread at a time.
//
//   memory_budget most{128U << 20U};
//   { const memory_budget::use here{most}; step(); }
//   if (most.was_exceeded()) ...
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace weft::store::sqlite {

class memory_budget {
 public:
  explicit memory_budget(std::uint64_t bytes_max) noexcept
      : bytes_max_{static_cast<std::int64_t>(bytes_max)} {}
  memory_budget(const memory_budget&) = delete;
  memory_budget& operator=(const memory_budget&) = delete;
  ~memory_budget() = default;

  [[nodiscard]] bool was_exceeded() const noexcept { return was_exceeded_; }
  /// How many bytes would have been in use when there was no room for more.
  [[nodiscard]] std::size_t wanted() const noexcept { return static_cast<std::size_t>(wanted_); }
  /// The most that was in use at a time, in bytes.
  [[nodiscard]] std::int64_t most() const noexcept { return most_; }

  class [[nodiscard]] use {
   public:
    explicit use(memory_budget& of) noexcept : before_{std::exchange(current, &of)} {}
    use(const use&) = delete;
    use& operator=(const use&) = delete;
    ~use() { current = before_; }

   private:
    memory_budget* before_;
  };

  // Who allocates.

  /// nullptr: nothing counts.
  [[nodiscard]] static memory_budget* of_this_thread() noexcept { return current; }
  [[nodiscard]] bool has_room_for(std::size_t bytes) noexcept {
    const bool has_room = in_use_ + static_cast<std::int64_t>(bytes) <= bytes_max_;
    if (!has_room) {
      was_exceeded_ = true;
      wanted_ = in_use_ + static_cast<std::int64_t>(bytes);
    }
    return has_room;
  }
  void take(std::size_t bytes) noexcept {
    in_use_ += static_cast<std::int64_t>(bytes);
    most_ = std::max(most_, in_use_);
  }
  /// What was taken before, by others, may be given back, too.
  void give_back(std::size_t bytes) noexcept { in_use_ -= static_cast<std::int64_t>(bytes); }

 private:
  static thread_local constinit inline memory_budget* current = nullptr;

  std::int64_t bytes_max_;
  std::int64_t in_use_ = 0;
  std::int64_t most_ = 0;
  std::int64_t wanted_ = 0;
  bool was_exceeded_ = false;
};

}  // namespace weft::store::sqlite
