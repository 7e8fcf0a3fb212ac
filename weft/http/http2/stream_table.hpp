// The open streams of a connection by their numbers.
//
// Problem: most connections have a handful of streams, and many connections are idle: a map that
// grows costs each of them a page, and a request more than its frames. Contract: intrusive; derive
// T from stream_table<T>::entry. A few chains in the table itself, so that it never allocates. What
// is added has a number that no other has, and is taken out before it is gone. One shard.
//
//   table.add(id, stream);
//   if (server_stream* const found = table.find(id)) table.remove(*found);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::http::http2 {

template <class T>
class stream_table {
 public:
  class entry {
   public:
    explicit entry(std::int32_t id) noexcept : id_{id} {}
    [[nodiscard]] std::int32_t id() const noexcept { return id_; }

   private:
    friend stream_table;
    const std::int32_t id_;
    T* next_ = nullptr;
  };

  void add(T& added) noexcept {
    T*& first = chain_of(static_cast<const entry&>(added).id_);
    static_cast<entry&>(added).next_ = first;
    first = &added;
    ++size_;
  }
  /// nullptr: there is none.
  [[nodiscard]] T* find(std::int32_t id) noexcept {
    T* at = chain_of(id);
    while (at != nullptr && static_cast<entry&>(*at).id_ != id) at = static_cast<entry&>(*at).next_;
    return at;
  }
  void remove(T& gone) noexcept {
    T** at = &chain_of(static_cast<const entry&>(gone).id_);
    while (*at != &gone) at = &static_cast<entry&>(**at).next_;
    *at = static_cast<entry&>(gone).next_;
    --size_;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  static constexpr std::size_t chains = 16;

  /// A client's numbers are odd.
  [[nodiscard]] T*& chain_of(std::int32_t id) noexcept {
    return first_[static_cast<std::uint32_t>(id) / 2 % chains];
  }

  std::array<T*, chains> first_{};
  std::size_t size_ = 0;
};

}  // namespace weft::http::http2
