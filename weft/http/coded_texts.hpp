// What is kept of a request whose reply may be coded, or whose body was.
//
// Contract: internal to http. Made for the first request of an active_request that needs it, and
// cleared between two.
//
//   of.coded->request_body = ...
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <weft/coro/frame_pool.hpp>
#include <weft/http/coded_slots.hpp>
#include <weft/http/content_coding.hpp>
#include <weft/http/response.hpp>
#include <weft/loop/memory_share.hpp>

namespace weft::http {

struct compress_rules;

struct coded_texts {
  // A request that waits takes its own along, so that one is made each time.
  static void* operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }
  static void operator delete(void* memory, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(memory, size_bytes);
  }

  void clear() noexcept {
    rules = nullptr;
    deferred.reset();
    memory.reset();
    slot.reset();
    reply_fields.clear();
    for (std::string* each : {&request_body, &reply_body}) {
      if (each->capacity() > kept_most_bytes) *each = std::string{};
      each->clear();
    }
  }

  static constexpr std::size_t kept_most_bytes = 64 * 1024;

  compress_rules* rules = nullptr;  // where the reply may be coded
  content_coding wanted = content_coding::identity;
  std::optional<response> deferred;  // a reply too long to be coded at once
  std::string reply_fields;
  std::string reply_body;
  std::string request_body;   // decoded
  memory_reservation memory;  // for that, where it is long
  coded_slot slot;            // of what decodes it
};

}  // namespace weft::http
