// Requests whose body is coded (RFC 9110 section 8.4), for handlers that take it plain.
//
// Problem: a kilobyte can mean a gigabyte. Contract: a middleware, off unless a program wraps it
// around. Handlers get the plain body, be it whole, typed or piece by piece; the field
// Content-Encoding stays for who looks. limits::body_bytes holds of the coded and of the plain
// body: beyond, and beyond `ratio` times what was sent once that is more than a mebibyte, 413. A
// coding that is not among ours, or more than `at_most` of them, is answered with 415 and
// Accept-Encoding; what is broken or cut off with 400. Of a body of which not all is wanted no more
// is decoded than that. Beyond `at_once` bodies 503 with Retry-After. No more than 64 KiB are made
// between two turns of others. One shard.
//
//   http.wrap_all(http::decompress{});
#pragma once

#include <cstdint>
#include <memory>

#include <weft/http/coded_slots.hpp>
#include <weft/http/content_coding.hpp>
#include <weft/http/exchange.hpp>

namespace weft::http {

struct decompress_options {
  coding_set codings{content_coding::gzip, content_coding::deflate, content_coding::br,
                     content_coding::zstd};
  /// Of codings one over the other: 1 or 2.
  unsigned at_most = 2;
  std::uint32_t ratio = 200;
  /// Bodies that come piece by piece, or mean much, each of which keeps a decoder. Fewer, where
  /// there is no memory for so many.
  unsigned at_once = 64;
};

/// What the requests that are answered within share.
struct decompress_rules {
  explicit decompress_rules(const decompress_options& from) noexcept
      : options{from}, slots{from.at_once} {}
  decompress_options options;
  coded_slots slots;
};

class decompress {
 public:
  explicit decompress(const decompress_options& options = {})
      : rules_{new decompress_rules{options}} {}

  void operator()(exchange& e, handler& next) const { e.run_decoded(*rules_, next); }

 private:
  std::unique_ptr<decompress_rules> rules_;  // stays where it is while this is moved
};

}  // namespace weft::http
