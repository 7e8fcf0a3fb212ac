// A text that many who send refer to: made once, kept until the last of them has sent it.
//
// Contract: immutable; copies refer to the same text and cost an addition. Where it is counted by a
// shard's memory, it is counted once, however many refer to it. One shard: neither the text nor a
// copy crosses to another, and the shard outlives both. Throws std::bad_alloc when made.
//
//   const shared_text page{std::move(document), &loop.memory()};
//   stream.append(page);
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <weft/loop/memory_share.hpp>

namespace weft {

class shared_text {
 public:
  shared_text() noexcept = default;
  explicit shared_text(std::string text, memory_share* counted_by = nullptr)
      : block_{new block{.text = std::move(text)}} {
    if (counted_by != nullptr)
      block_->counted = counted_by->hold(memory_kind::shared, block_->text.capacity());
  }
  shared_text(const shared_text& other) noexcept : block_{other.block_} {
    if (block_ != nullptr) ++block_->users;
  }
  shared_text(shared_text&& other) noexcept : block_{std::exchange(other.block_, nullptr)} {}
  shared_text& operator=(shared_text other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~shared_text() {
    if (block_ != nullptr && --block_->users == 0) delete block_;
  }

  [[nodiscard]] std::string_view view() const noexcept {
    return block_ != nullptr ? std::string_view{block_->text} : std::string_view{};
  }
  [[nodiscard]] std::size_t size() const noexcept { return view().size(); }
  [[nodiscard]] bool empty() const noexcept { return view().empty(); }

 private:
  struct block {
    std::string text;
    memory_reservation counted{};
    std::size_t users = 1;
  };
  block* block_ = nullptr;
};

}  // namespace weft
