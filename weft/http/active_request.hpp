// The request that a connection is busy with.
//
// Contract: internal to http: connection.cpp answers it, connection_end.cpp tells of it. A shard
// has one, at which all its connections answer what needs no waiting; one that must wait takes it
// along and leaves a new one. So an idle connection does without its two kilobytes.
//
//   waiting_ = std::exchange(host_.desk, std::make_unique_for_overwrite<active_request>());
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <weft/base/time.hpp>
#include <weft/coro/deadline.hpp>
#include <weft/coro/environment.hpp>
#include <weft/coro/frame_pool.hpp>
#include <weft/http/body_reader.hpp>
#include <weft/http/body_writer.hpp>
#include <weft/http/coded_texts.hpp>
#include <weft/http/exchange.hpp>
#include <weft/http/limits.hpp>
#include <weft/http/parsed_head.hpp>
#include <weft/http/router.hpp>
#include <weft/http/upgraded.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/net/ip_address.hpp>
#include <weft/telemetry/trace_context.hpp>

namespace weft::http {

/// Who asks, as somebody has said who knows better than the connection.
struct known_client {
  static void* operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }
  static void operator delete(void* memory, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(memory, size_bytes);
  }

  std::optional<net::ip_address> address;
  std::string_view scheme;  // a constant; empty: as the connection says
};

/// What a request says of the work that is done for it.
struct call_context {
  static void* operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }
  static void operator delete(void* memory, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(memory, size_bytes);
  }

  deadline until;
  telemetry::trace_context trace;  // where `is_traced`
  bool is_traced = false;
};

struct active_request {
  /// What it must wait for.
  enum class wait : std::uint8_t { body, handler, room, turn, client };

  static void* operator new(std::size_t size_bytes) {
    // Two kilobytes; with libstdc++, whose strings are larger, somewhat more.
    static_assert(sizeof(active_request) <= 2048 + 96);
    return frame_pool::allocate(size_bytes);
  }
  static void operator delete(void* memory, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(memory, size_bytes);
  }

  /// Something is kept besides a time, which the next request must not find.
  void note() noexcept { has_texts = has_notes = true; }
  void clear_texts() noexcept {
    if (has_notes) clear_notes();
    is_timed = has_texts = false;
  }
  /// What its handler runs with, of the service that serves it, as a part of what `server` does.
  [[nodiscard]] environment of_handler(const environment& server, lifetime* service) const {
    environment made = server;
    made.owner = service;
    made.called_by = &server;  // who waits for it
    made.trace = reply->trace();
    if (has_context) made.until = context->until;
    return made;
  }
  [[gnu::noinline]] void clear_notes() noexcept {
    decoded.clear();
    if (memory) decoded = {};
    memory.reset();
    if (fields) fields->clear();
    if (coded) coded->clear();
    codes_reply = is_client_known = has_context = has_notes = false;
  }

  /// Ends what is done for a request whose connection is dropped, so that the next finds nothing.
  void abandon() noexcept {
    reply.reset();
    reader.reset();
    writer.reset();
    upgrade.reset();
    untaken.reset();
    if (has_texts) clear_texts();
  }

  parsed_head head;
  const limits* bounds = nullptr;  // the route's, once it must be waited for; the route table's
  route_match match;
  std::size_t body_bytes = 0;  // on the wire
  std::string_view body;
  std::string decoded;        // the body, where that was chunked
  memory_reservation memory;  // for that, where it is long
  std::string normalized;     // the path, where that was not in normal form
  // Of the reply, by who looked at the request before its handler; made for the first of them.
  std::unique_ptr<std::string> fields;
  std::unique_ptr<known_client> known;    // where `is_client_known`
  std::unique_ptr<call_context> context;  // where `has_context`
  time_point timed_since;                 // where `is_timed`: what the reply says its time from
  std::unique_ptr<coded_texts> coded;
  std::optional<exchange> reply;
  std::unique_ptr<upgraded> upgrade;  // who has the connection after the reply
  // While a handler streams them.
  std::unique_ptr<body_reader> reader;
  std::unique_ptr<body_writer> writer;
  time_point handler_until;  // while it works: when its time is over
  // Waiting for room: bytes that the client had not taken when it was last looked at.
  std::optional<std::size_t> untaken{};
  wait waits_for = wait::body;
  bool codes_reply = false;  // as `*coded` says
  bool is_client_known = false;
  bool has_context = false;
  bool has_notes = false;  // see note()
  bool is_timed = false;
  bool has_texts = false;  // it is timed, or has notes
};

}  // namespace weft::http
