// A client of HTTP/2 that does what it is told, also what no good client would.
//
// Problem: tests of a server must see what becomes of each stream, and must send what is wrong.
// Contract: one connection in clear text; one reader. nghttp2 does the framing, whose errors of the
// client's own making it does not look for; send_raw() sends any bytes instead. Nothing is sent
// before a function that returns a task is awaited. On the shard of its loop.
//
//   http2_client client{(co_await world.connect()).stream()};
//   const http2_reply answer = co_await client.ask("GET", "/");
//   EXPECT_EQ(answer.status, 200);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/coro/borrowing_task.hpp>
#include <weft/coro/owned_text.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/http2/library.hpp>
#include <weft/net/tcp_stream.hpp>

namespace weft::testing {

struct http2_reply {
  int status = 0;    // 0: none has come
  std::string head;  // "name: value\n", each
  std::string body;
  bool is_whole = false;               // its end has come
  std::optional<std::uint32_t> error;  // of who has reset the stream
  std::vector<int> interim;            // 1xx, before it

  [[nodiscard]] std::optional<std::string_view> field(std::string_view name) const noexcept;
};

class http2_client {
 public:
  using fields = std::vector<std::pair<std::string_view, std::string_view>>;
  struct settings {
    std::uint32_t stream_window_bytes = 65'535;
    bool takes_bodies = true;  // gives windows back
  };

  explicit http2_client(net::tcp_stream stream) : http2_client{std::move(stream), settings{}} {}
  http2_client(net::tcp_stream stream, const settings& chosen);
  http2_client(const http2_client&) = delete;
  http2_client& operator=(const http2_client&) = delete;
  ~http2_client();

  /// Begins a request; with pieces to follow, unless it `ends`. Gives its stream.
  std::int32_t begin(std::string_view method, std::string_view target, const fields& more = {},
                     bool ends = true);
  /// As begin(), with exactly these fields, pseudo-header fields included.
  std::int32_t begin_with(const fields& all, bool ends = true);
  void give(std::int32_t id, std::string_view piece, bool ends);
  void reset(std::int32_t id, std::uint32_t code = NGHTTP2_CANCEL);

  /// Sends what is to be sent and takes what comes once. False: the connection has ended.
  [[nodiscard]] task<bool> turn();
  /// Until `holds()`, or the connection has ended.
  template <class F>
  [[nodiscard]] task<void> until(F holds) {
    while (!holds()) {
      const bool goes_on = co_await turn();
      if (!goes_on) break;
    }
  }
  /// Sends what is to be sent.
  [[nodiscard]] task<void> send();
  [[nodiscard]] task<void> send_raw(owned_text bytes);
  /// Until the stream has closed, or the connection has ended.
  [[nodiscard]] task<http2_reply> reply(std::int32_t id);
  [[nodiscard]] borrowing_task<http2_reply> ask(std::string_view method WEFT_LIFETIME_BOUND,
                                                std::string_view target WEFT_LIFETIME_BOUND,
                                                std::string_view body WEFT_LIFETIME_BOUND = {},
                                                const fields& more WEFT_LIFETIME_BOUND = {});
  /// Until the server ends the connection, also past frames for streams that send_raw() has begun,
  /// which nghttp2 does not know: the error of its last GOAWAY; nothing: none has come.
  [[nodiscard]] task<std::optional<std::uint32_t>> end();

  /// As it stands.
  [[nodiscard]] http2_reply& so_far(std::int32_t id) { return replies_[id]; }
  [[nodiscard]] std::optional<std::uint32_t> goaway() const noexcept { return goaway_; }
  [[nodiscard]] std::int32_t last_answered() const noexcept { return last_answered_; }
  [[nodiscard]] nghttp2_session* library() noexcept { return library_.get(); }
  [[nodiscard]] net::tcp_stream& stream() noexcept { return stream_; }

 private:
  struct outgoing {
    std::string text;
    bool ends = false;
  };
  struct callbacks;

  void note_goodbyes(std::string_view bytes);

  net::tcp_stream stream_;
  http::http2::session_handle library_;
  std::map<std::int32_t, http2_reply> replies_;
  std::map<std::int32_t, outgoing> bodies_;
  std::string come_;  // of a frame that is not whole yet
  std::optional<std::uint32_t> goaway_;
  std::int32_t last_answered_ = 0;
};

}  // namespace weft::testing
