// Internal: HTTP/2 by nghttp2, with so many streams at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conversation.hpp"

struct nghttp2_session;

namespace weft::bench {

class http2_conversation final : public conversation {
 public:
  http2_conversation(std::size_t most, reply_listener& told);
  ~http2_conversation() override;

  void restart() override;
  [[nodiscard]] bool has_room() const override { return !free_.empty() && !is_leaving_; }
  void ask(const owed_reply& reply) override;
  std::size_t unsent(std::span<iovec> pieces) override;
  void advance(std::size_t sent_bytes) override;
  verdict take(std::string_view bytes) override;
  verdict end() override;
  [[nodiscard]] std::size_t owed() const override { return streams_.size() - free_.size(); }
  [[nodiscard]] std::size_t owed_from(std::uint64_t due) const override;
  [[nodiscard]] std::uint64_t oldest() const override;
  void forget() override;

 private:
  friend struct http2_callbacks;

  struct stream {
    owed_reply reply{};
    bool is_owed = false;
    bool is_asked = false;  // on this connection
    int status = 0;
    std::size_t body_sent = 0;
  };

  void fill_output();
  void submit(stream& on);
  void complete(stream& on);
  void lose(stream& on, std::uint32_t error);
  void free(stream& on);

  std::deque<stream> streams_;  // where each stays
  std::vector<stream*> free_;
  nghttp2_session* session_ = nullptr;
  bool is_leaving_ = false;  // the peer takes no more: GOAWAY
  std::string output_;
  std::size_t output_sent_ = 0;
};

}  // namespace weft::bench
