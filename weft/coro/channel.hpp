// A bounded queue between tasks: who sends waits while it is full, who receives while it is empty.
//
// Contract: any number of senders and receivers, first come, first served. close() ends it in good
// order: nothing more goes in, what is in comes out, then receive() gives errc::closed. Waiting
// ends with errc::cancelled or errc::timed_out as the environment says. No item is lost: send()
// moves from its argument only if it succeeds, and a receiver that was given an item has it, though
// it is asked to stop before it runs. All memory is allocated by the constructor. Outlives who
// waits. One shard.
//
//   channel<job> jobs{64};
//   auto sent = co_await jobs.send(std::move(next));             // the producer
//   while (auto work = co_await jobs.receive()) run(*work);      // the consumer, until close()
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/base/lifetime_bound.hpp>
#include <weft/coro/waiter.hpp>

namespace weft {

template <class T>
class channel {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "an item is handed from task to task, where nobody could catch what it throws");

  class [[nodiscard]] send_wait final : public waiter {
   public:
    send_wait(channel& to, T& item) noexcept : channel_{to}, item_{item} {}
    [[nodiscard]] result<void> await_resume() const noexcept { return outcome(); }

   private:
    friend class channel;
    friend waiter;
    wait_line& line() noexcept { return channel_.senders_; }
    bool take() noexcept {
      if (channel_.closed_) answer(fail(errc::closed));
      return channel_.closed_ || channel_.try_send(std::move(item_));
    }
    channel& channel_;
    T& item_;
  };

  class [[nodiscard]] receive_wait final : public waiter {
   public:
    explicit receive_wait(channel& from) noexcept : channel_{from} {}
    [[nodiscard]] result<T> await_resume() noexcept {
      if (!outcome()) return fail(outcome().error());
      return std::move(*item_);
    }

   private:
    friend class channel;
    friend waiter;
    wait_line& line() noexcept { return channel_.receivers_; }
    bool take() noexcept {
      if (auto item = channel_.try_receive()) {
        item_.emplace(std::move(*item));
        return true;
      }
      if (channel_.closed_) answer(fail(errc::closed));
      return channel_.closed_;
    }
    channel& channel_;
    std::optional<T> item_;
  };

 public:
  explicit channel(std::size_t capacity) : slots_(capacity) {
    WEFT_ASSERT(capacity > 0, "a channel needs room for one item");
  }

  /// Awaitable, gives result<void>: until the item is in the channel, or with a receiver. On
  /// failure the item is still the caller's; errc::closed if the channel is, or becomes so.
  send_wait send(T&& item WEFT_LIFETIME_BOUND) noexcept { return {*this, item}; }
  /// Awaitable, gives result<T>: until there is an item; errc::closed if there will be none.
  receive_wait receive() noexcept { return receive_wait{*this}; }

  /// Moves from `item` only if there is room. Looks at neither stop request nor deadline.
  [[nodiscard]] bool try_send(T&& item) noexcept {
    if (closed_) return false;
    if (auto* const receiver = static_cast<receive_wait*>(receivers_.front())) {
      receiver->item_.emplace(std::move(item));
      receiver->wake();
      return true;
    }
    if (size_ == slots_.size()) return false;
    push(std::move(item));
    return true;
  }

  /// Nothing if there is none. Looks at neither stop request nor deadline.
  [[nodiscard]] std::optional<T> try_receive() noexcept {
    if (size_ == 0) return std::nullopt;
    std::optional<T> item = std::exchange(slots_[first_], std::nullopt);
    first_ = wrapped(first_ + 1);
    --size_;
    if (auto* const sender = static_cast<send_wait*>(senders_.front())) {
      push(std::move(sender->item_));
      sender->wake();
    }
    return item;
  }

  /// Who waits to send or to receive is answered errc::closed; the second time it does nothing.
  void close() noexcept {
    closed_ = true;
    senders_.wake_all(fail(errc::closed));
    receivers_.wake_all(fail(errc::closed));
  }

  [[nodiscard]] bool is_closed() const noexcept { return closed_; }
  /// Items that wait to be received.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return slots_.size(); }

 private:
  [[nodiscard]] std::size_t wrapped(std::size_t at) const noexcept {
    return at < slots_.size() ? at : at - slots_.size();
  }
  void push(T&& item) noexcept {
    slots_[wrapped(first_ + size_)].emplace(std::move(item));
    ++size_;
  }

  std::vector<std::optional<T>> slots_;  // a ring
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  bool closed_ = false;
  wait_line senders_;    // only while the ring is full
  wait_line receivers_;  // only while it is empty
};

}  // namespace weft
