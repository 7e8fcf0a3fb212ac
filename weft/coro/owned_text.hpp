// Text that a task keeps: what a function that returns a task takes instead of a string_view.
//
// Problem: a task is lazy. With a string_view parameter, `requests.push_back(get(base + id))` reads
// the temporary string after it is gone. Contract: constructed from any text, which it copies at
// the call, before the task begins; the caller may destroy the text at once. Up to 4 KiB come from
// the shard's frame pool, so that a warm call allocates nothing; longer texts come from the heap.
// Moving it leaves the text where it is: views stay valid. One shard: a call of remote<T> that
// would take it to another does not compile.
//
//   task<result<page>> get(owned_text url) { co_return co_await fetch(parse(url.view())); }
//   pages.push_back(get("http://host/" + std::to_string(id)));
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include <weft/coro/frame_pool.hpp>

namespace weft {

class owned_text {
 public:
  using stays_on_its_shard = void;

  owned_text() noexcept = default;
  template <class Text>
    requires std::convertible_to<const Text&, std::string_view>
  owned_text(const Text& text) : owned_text{std::in_place, text} {}
  owned_text(owned_text&& other) noexcept
      : data_{std::exchange(other.data_, nullptr)}, size_{std::exchange(other.size_, 0)} {}
  owned_text& operator=(owned_text&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~owned_text() {
    if (data_ != nullptr) frame_pool::deallocate(data_, size_);
  }

  [[nodiscard]] std::string_view view() const noexcept { return {data_, size_}; }

 private:
  owned_text(std::in_place_t, std::string_view text) : size_{text.size()} {
    if (text.empty()) return;
    data_ = static_cast<char*>(frame_pool::allocate(text.size()));
    std::memcpy(data_, text.data(), text.size());
  }

  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weft
