// Reads HTTP replies off a stream, impatiently: its reads are given up and begun again, and lose
// nothing by it.
//
//   reply_reader replies{stream, loop, dice};
//   auto reply = co_await replies.next(false);      // none: the stream has ended
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "scenario.hpp"

namespace weft::simulation {

struct seen_reply {
  int status = 0;
  std::string body;
  bool closes = false;  // it says that it is the last
};

class reply_reader {
 public:
  reply_reader(net::tcp_stream& stream, event_loop& loop, random& dice) noexcept
      : stream_{stream}, loop_{loop}, dice_{dice} {}

  /// None: the stream has ended before a whole reply had come.
  [[nodiscard]] task<std::optional<seen_reply>> next(bool to_head);
  /// Why a read has given nothing.
  [[nodiscard]] error last_error() const noexcept { return last_error_; }
  [[nodiscard]] bool has_no_rest() const noexcept { return received_.size() == taken_; }

 private:
  [[nodiscard]] task<bool> receive_more();
  /// What comes in chunks from `at` on, added to `body`. Gives where it ends; none: it did not.
  [[nodiscard]] task<std::optional<std::size_t>> take_chunks(std::size_t at, std::string& body);
  [[nodiscard]] std::string_view rest() const noexcept {
    return std::string_view{received_}.substr(taken_);
  }

  net::tcp_stream& stream_;
  event_loop& loop_;
  random& dice_;
  std::string received_;
  std::size_t taken_ = 0;
  error last_error_{errc::unavailable};
};

}  // namespace weft::simulation
