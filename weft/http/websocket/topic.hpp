// What many WebSockets of a shard are to be sent: publish once, and all who have subscribed get it.
//
// Problem: a message to a thousand readers must not be framed and compressed a thousand times, and
// one of them who reads slowly must neither fill the memory nor hold up the others unasked.
// Contract: of WebSockets of a server or, masked one by one, of clients. Who subscribes gets what
// is published until his subscription ends; it must end before his WebSocket does, as one does that
// stands in the handler. What a subscriber gets stands in his own queue, in the order of
// publishing, and before what tasks wait to send to him (websocket.hpp). A slow one has more than
// topic_options::queued_bytes in that, or is in the midst of a message in parts; what becomes of
// him is the topic's policy:
//   drop   he does not get this message
//   close  he is closed with 1013 (try again later): who must not miss a message comes back
//   wait   publish() waits for him and all others who are slow, and the rest have it meanwhile
// A topic ends after its subscriptions. One shard: tell the others by an event (docs/websocket.md).
//
//   http.websocket("/ticks", [this](http::websocket& socket) -> weft::task<void> {
//     const http::subscription to_ticks{ticks_, socket};
//     while (auto message = co_await socket.read()) {}
//   });
//   std::size_t got = ticks_.publish_now(R"({"price":17})");
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/result.hpp>
#include <weft/coro/borrowed_text.hpp>
#include <weft/coro/borrowing_task.hpp>
#include <weft/coro/mutex.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/websocket/websocket.hpp>
#include <weft/http/websocket/websocket_message.hpp>

namespace weft::http {

enum class slow_reader : std::uint8_t { drop, close, wait };

struct topic_options {
  slow_reader policy = slow_reader::drop;
  /// What may wait to be sent to one subscriber before he is slow; for `wait` 64 KiB at most count.
  std::size_t queued_bytes = 256 * 1024;
};

class topic;

class subscription {
 public:
  subscription(topic& to, websocket& socket) noexcept;
  subscription(const subscription&) = delete;
  subscription& operator=(const subscription&) = delete;
  ~subscription();

 private:
  friend class topic;
  list_hook in_topic_;
  topic& topic_;
  ws::session& session_;
  std::size_t behind_at_;  // where it stands in the topic's behind_
};

class topic {
 public:
  explicit topic(topic_options options = {}) noexcept : options_{options} {}
  topic(const topic&) = delete;
  topic& operator=(const topic&) = delete;
  ~topic();

  /// Queues it for all who are not slow, and never waits: with the policy `wait` a slow one does
  /// not get it. Gives how many get it; errc::invalid_argument for text that is no UTF-8.
  result<std::size_t> publish_now(const websocket_message& message);
  result<std::size_t> publish_now(std::string_view text) {
    return publish_now(websocket_message{message_kind::text, text});
  }
  /// As publish_now(), and waits for slow ones if that is the policy: until the task's deadline,
  /// or until it is asked to stop, which the slow ones then have missed. One at a time: messages of
  /// others wait in line.
  [[nodiscard]] borrowing_task<result<std::size_t>> publish(
      websocket_message message WEFT_LIFETIME_BOUND);
  [[nodiscard]] borrowing_task<result<std::size_t>> publish(
      borrowed_text text WEFT_LIFETIME_BOUND) {
    return publish(websocket_message{message_kind::text, text.view()});
  }

  [[nodiscard]] std::size_t subscribers() const noexcept { return count_; }
  /// Messages that slow ones did not get, so far.
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }

 private:
  friend class subscription;

  result<std::size_t> give_out(const websocket_message& message, bool waits);
  class wait_for_slow;
  [[nodiscard]] task<void> wait_for(std::size_t place, websocket_message message, std::size_t& got,
                                    result<void>& how);
  void catch_up(std::size_t place) noexcept;

  topic_options options_;
  intrusive_list<subscription, &subscription::in_topic_> all_;
  std::size_t count_ = 0;
  std::uint64_t missed_ = 0;
  mutex publishing_;
  std::vector<subscription*> behind_;  // waited for by publish(); nullptr: not any more
};

}  // namespace weft::http
