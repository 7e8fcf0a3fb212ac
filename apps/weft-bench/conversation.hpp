// What a connection of a load says and hears: a protocol, without the socket and without TLS.
//
// Contract: restart() begins on a new connection; what is owed is then asked for again. The owner
// sends what unsent() gives and says so by advance(), and hands over by take() what comes. The
// listener, which outlives the conversation, is told in between.
//
//   auto said = make_conversation(plan, known, listener);
//   said->restart();
//   said->ask({.to = &plan.requests[0], .due = now, .since = now});
//   send(said->unsent(pieces)), said->advance(bytes_sent);
//   said->take(bytes_received);   // listener.on_reply()
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "load.hpp"
#include "owed_replies.hpp"
#include "response_framer.hpp"

namespace weft::bench {

class reply_listener {
 public:
  // The whole reply has come. `status`: of HTTP; else 0.
  virtual void on_reply(const owed_reply& to, int status) = 0;
  // It will not come: the peer has given up this request, but not the connection.
  virtual void on_failure(const owed_reply& to) = 0;

 protected:
  ~reply_listener() = default;
};

class conversation {
 public:
  enum class verdict : std::uint8_t {
    going_on,
    last_reply,  // the peer takes no more on this connection
    refused,     // it does not speak the protocol: failure() says why
    malformed,
    unasked,  // bytes that answer nothing
    closed,   // the connection ended before it should have
  };

  explicit conversation(reply_listener& told) : told_{told} {}
  conversation(const conversation&) = delete;
  conversation& operator=(const conversation&) = delete;
  virtual ~conversation() = default;

  virtual void restart() = 0;
  // Whether requests may be sent, or something else must come before.
  [[nodiscard]] virtual bool is_open() const { return true; }
  [[nodiscard]] virtual bool has_room() const = 0;
  // If there is room.
  virtual void ask(const owed_reply& reply) = 0;

  // What to send next, in so many pieces at most; gives how many there are.
  virtual std::size_t unsent(std::span<iovec> pieces) = 0;
  virtual void advance(std::size_t sent_bytes) = 0;

  // All of `bytes`, which came from the peer.
  virtual verdict take(std::string_view bytes) = 0;
  // Nothing more will come.
  virtual verdict end() = 0;

  [[nodiscard]] virtual std::size_t owed() const = 0;
  // Of those owed, how many were due then or later.
  [[nodiscard]] virtual std::size_t owed_from(std::uint64_t due) const = 0;
  // When the first of those owed was asked for; there must be one.
  [[nodiscard]] virtual std::uint64_t oldest() const = 0;
  // Whatever is owed will not come.
  virtual void forget() = 0;

  // A sentence for the user.
  [[nodiscard]] virtual std::string_view failure() const { return {}; }

 protected:
  [[nodiscard]] reply_listener& told() const { return told_; }

 private:
  reply_listener& told_;
};

// `known` serves all conversations of a thread.
std::unique_ptr<conversation> make_conversation(const load_plan& plan, known_head& known,
                                                reply_listener& told);

}  // namespace weft::bench
