// What has come on a connection and is not used up yet, and how far it has been parsed.
//
// Contract: internal to http. An idle connection has none: there are many of those.
//
//   auto input = std::make_unique<request_input>();
//   input->bytes.append(std::move(received));
//   input->parser.parse(input->bytes.text(), head, limits);
#pragma once

#include <cstddef>

#include <weft/coro/frame_pool.hpp>
#include <weft/http/input_buffer.hpp>
#include <weft/http/request_parser.hpp>

namespace weft::http {

struct request_input {
  static void* operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }
  static void operator delete(void* memory, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(memory, size_bytes);
  }

  input_buffer bytes;
  request_parser parser;
};

}  // namespace weft::http
