// A client that does exactly what it is told: sends bytes as they stand, reads replies one by one.
//
// Problem: a test of a server must send what no good client would, and must see where each reply
// ends. Contract: one connection; one reader. It knows Content-Length and nothing else of HTTP.
// What has come beyond a reply waits for the next. On the shard of its loop.
//
//   auto client = co_await world.connect();
//   co_await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
//   const http_reply answer = co_await client.reply();
//   EXPECT_EQ(answer.status, 200);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <weft/coro/owned_text.hpp>
#include <weft/coro/task.hpp>
#include <weft/net/tcp_stream.hpp>

namespace weft::testing {

/// As short as a request can be.
inline constexpr std::string_view plain_get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

struct http_reply {
  /// 0: the connection ended before a whole head had come.
  int status = 0;
  /// Status line and header fields, with the empty line.
  std::string head;
  /// Shorter than Content-Length says if the connection ended within it.
  std::string body;

  /// The first field of that name, in any case.
  [[nodiscard]] std::optional<std::string_view> field(std::string_view name) const noexcept;
};

class http_client {
 public:
  explicit http_client(net::tcp_stream stream) noexcept : stream_{std::move(stream)} {}

  /// Sends `bytes`; a lost connection shows when replies are read.
  [[nodiscard]] task<void> send(owned_text bytes);
  /// `method` and `target` with a Host field; `fields` are further ones, each with its line end.
  /// A body brings its Content-Length along.
  [[nodiscard]] task<http_reply> ask(owned_text method, owned_text target, owned_text body = {},
                                     owned_text fields = {});
  /// The next reply. To HEAD: its head alone, whatever length that speaks of.
  [[nodiscard]] task<http_reply> reply(bool to_head = false);
  /// What one receive gives; empty: the end. Not to be mixed with a reply that is half read.
  [[nodiscard]] task<std::string> receive();
  /// All that comes until the connection ends.
  [[nodiscard]] task<std::string> rest();
  /// Why the last receive gave nothing: errc::closed after a proper end, errc::reset, ...
  [[nodiscard]] error last_error() const noexcept { return last_error_; }

  [[nodiscard]] net::tcp_stream& stream() noexcept { return stream_; }

 private:
  /// Adds to received_. False: the end.
  task<bool> receive_more();

  net::tcp_stream stream_;
  std::string received_;
  error last_error_{errc::unavailable};
};

}  // namespace weft::testing
