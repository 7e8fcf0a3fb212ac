// The request that a connection is busy with.
//
// Contract: internal to http: connection.cpp answers it, connection_end.cpp tells of it. Drawn from
// the pool when bytes come and given back when they are used up, so that an idle connection does
// without its two kilobytes.
//
//   auto work = std::make_unique_for_overwrite<active>();
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <weft/coro/frame_pool.hpp>
#include <weft/http/connection.hpp>
#include <weft/http/exchange.hpp>
#include <weft/http/parsed_head.hpp>
#include <weft/http/request.hpp>

namespace weft::http {

struct connection::active {
  static void* operator new(std::size_t size_bytes) {
    static_assert(sizeof(active) <= 2048, "what is larger is not pooled");
    return frame_pool::allocate(size_bytes);
  }
  static void operator delete(void* memory, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(memory, size_bytes);
  }

  parsed_head head;
  route_match match;
  std::size_t body_bytes = 0;  // on the wire
  std::string_view body;
  std::string decoded;     // the body, where that was chunked
  std::string normalized;  // the path, where that was not in normal form
  std::string_view path;
  std::optional<request> asked;
  std::optional<exchange> reply;
  wait waits_for = wait::body;
};

}  // namespace weft::http
