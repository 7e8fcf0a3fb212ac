// What a simulated world knows of a socket: a listener with its line, or one end of a connection.
//
// Contract: internal to sim. The bytes under way to a socket are in its own inbox, and become
// visible to it as they arrive; so their order is never in question. Slots are used again last in,
// first out, with a new generation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/intrusive_list.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/operation.hpp>
#include <weft/loop/sim/sim_event.hpp>

namespace weft {

class sim_backend;
struct sim_host;

/// An operation that waits, and its number among those of its direction: events that come late
/// find out whether it is still the one they mean.
struct sim_place {
  operation* op = nullptr;
  std::uint32_t number = 0;
};

/// A datagram on its way, or one that has come.
struct sim_datagram {
  std::string bytes;
  raw_address to;
  raw_address from;
  sim_handle sender;
  std::uint32_t there = 0;   // the host
  std::uint64_t number = 0;  // among its sender's
};

struct sim_socket : descriptor {
  static constexpr std::size_t pipe_bytes = 64 * 1024;

  sim_backend* owner = nullptr;
  sim_host* host = nullptr;
  sim_handle self;
  bool open = false;
  bool dead = false;  // its host has crashed: everything fails
  raw_address local;
  raw_address remote;
  sim_place reader;
  sim_place writer;
  operation* closer = nullptr;
  list_hook starved;  // where the reader waits for a buffer alone

  // A listener's.
  bool listening = false;
  bool shared = false;
  bool in_line = false;  // a connection that nobody has accepted yet
  std::size_t backlog_limit = 0;
  std::vector<sim_handle> backlog;

  // Of datagrams; `remote` is the only peer, if there is one.
  bool datagrams = false;
  std::vector<sim_datagram> inbox_datagrams;
  std::uint64_t datagrams_sent = 0;
  std::uint64_t latest_arrived = 0;  // of those sent

  // A connection's.
  enum class phase : std::uint8_t { fresh, connecting, failed, connected };
  phase state = phase::fresh;
  int connect_error = 0;
  sim_handle peer;
  sim_host* peer_host = nullptr;
  std::uint32_t connection = 0;  // its number, for both ends
  std::string inbox;             // what the peer has sent
  std::size_t consumed = 0;      // of inbox, from the front
  std::size_t visible = 0;       // ... and arrived
  bool fin_sent = false;         // by this end
  bool fin_arrived = false;      // from the other
  bool broken = false;           // nothing more can be sent, and nothing comes
  int failure = 0;               // why, told once
  time_point stalled_until = time_point::min();
  std::uint64_t offered = 0;  // a checksum of what the send that waits has offered

  [[nodiscard]] bool is_starved(const sim_place& place) const noexcept {
    return &place == &reader && starved.is_linked();
  }
  [[nodiscard]] std::size_t readable_bytes() const noexcept { return visible - consumed; }
  [[nodiscard]] std::size_t held_bytes() const noexcept { return inbox.size() - consumed; }
  /// Whether all that will ever come has been read.
  [[nodiscard]] bool input_is_over() const noexcept {
    return (fin_arrived || broken) && consumed == inbox.size();
  }
  void consume(std::size_t size_bytes) noexcept {
    consumed += size_bytes;
    if (consumed != inbox.size() && consumed < pipe_bytes) return;
    inbox.erase(0, consumed);
    visible -= consumed;
    consumed = 0;
  }
};

}  // namespace weft
