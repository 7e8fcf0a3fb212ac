// Internal: replies come in the order of their requests, whose bytes are known beforehand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "conversation.hpp"

namespace weft::bench {

class in_order_conversation : public conversation {
 public:
  in_order_conversation(std::size_t most, reply_listener& told) : conversation{told}, owed_{most} {}

  void restart() override { whole_sent_ = sent_ = 0; }
  [[nodiscard]] bool has_room() const final { return !owed_.full(); }
  void ask(const owed_reply& reply) final { owed_.push(reply); }
  std::size_t unsent(std::span<iovec> pieces) override;
  void advance(std::size_t sent_bytes) override;
  [[nodiscard]] std::size_t owed() const final { return owed_.size(); }
  [[nodiscard]] std::size_t owed_from(std::uint64_t due) const final;
  [[nodiscard]] std::uint64_t oldest() const final { return owed_.front().since; }
  void forget() final { owed_.clear(); }

 protected:
  [[nodiscard]] bool owes_nothing() const { return owed_.empty(); }
  [[nodiscard]] const load_request& asked() const { return *owed_.front().to; }
  // Whether a request has been sent in part.
  [[nodiscard]] bool is_within_request() const { return sent_ != 0; }
  // Whether all of the oldest request has been sent.
  [[nodiscard]] bool is_sent() const { return whole_sent_ != 0; }
  void complete(int status);

 private:
  owed_replies owed_;
  std::size_t whole_sent_ = 0;  // of those owed
  std::size_t sent_ = 0;        // bytes of the next
};

}  // namespace weft::bench
