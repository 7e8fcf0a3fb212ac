// Bodies in a write_queue: in pieces that fit its slots, and out of it again.
//
// Contract: internal to http. Allocates nothing but what the queue does.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include <weft/net/tcp_stream.hpp>
#include <weft/net/write_queue.hpp>

namespace weft::http::http2 {

/// A queue takes what is longer into memory of its own.
inline constexpr std::size_t piece_bytes = net::write_queue::prepare_most_bytes;

inline void append_in_pieces(net::write_queue& to, std::string_view text) {
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), piece_bytes)))
    to.append(text.substr(0, piece_bytes));
}

/// What stands first in the queue, in one place.
inline std::string_view first_piece(const net::write_queue& queue) noexcept {
  std::array<iovec, 1> first{};
  if (queue.gather(first) == 0) return {};
  return {static_cast<const char*>(first[0].iov_base), first[0].iov_len};
}

inline void move_all(net::write_queue& from, std::string& to) {
  for (; !from.empty(); from.consume(first_piece(from).size())) to.append(first_piece(from));
}

inline void copy_into(net::tcp_stream& to, std::string_view text) {
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, net::tcp_stream::prepare_most_bytes);
    std::memcpy(to.prepare(piece.size()).data(), piece.data(), piece.size());
    to.commit(piece.size());
    text.remove_prefix(piece.size());
  }
}

}  // namespace weft::http::http2
