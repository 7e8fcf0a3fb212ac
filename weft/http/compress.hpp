// Replies that get shorter on their way out (RFC 9110 section 8.4).
//
// Problem: a text travels in a quarter of its bytes, but not every one may: a length tells of what
// stands in it. Contract: a middleware, off unless a program wraps it around. Replies of the types
// that get shorter (is_compressible()) are coded as the client likes best (Accept-Encoding), if
// they are at least `least_bytes` long or their length is not known, and say `Vary:
// Accept-Encoding`, coded or not. Their strong ETag becomes a weak one (RFC 9110 section 8.8.3.3),
// that of a 304 as well, and Accept-Ranges goes. Left as they are: what is coded already, parts
// (206), what says `Cache-Control: no-transform`, and what would get no shorter. A reply that is
// given piece by piece is flushed with each piece, so that a client sees it now. No more than 16
// KiB are coded between two turns of others. Beyond `at_once` replies that wait for their clients
// further ones go out as they are. Do not wrap it around what holds a secret beside what a stranger
// chose (BREACH): docs/security.md. One shard.
//
//   http.wrap_all(http::compress{{.effort = http::effort::fast}});
#pragma once

#include <cstddef>
#include <memory>

#include <weft/http/coded_slots.hpp>
#include <weft/http/content_codec.hpp>
#include <weft/http/content_coding.hpp>
#include <weft/http/exchange.hpp>

namespace weft::http {

struct compress_options {
  /// Whatever is shorter hardly gets shorter still.
  std::size_t least_bytes = 1024;
  /// Those that are offered.
  coding_set codings{content_coding::br, content_coding::zstd, content_coding::gzip};
  http::effort effort = http::effort::fast;
  /// Replies given piece by piece, and those of more than 16 KiB, each of which keeps an encoder
  /// (256 KiB and more) until its client has taken it.
  unsigned at_once = 256;
};

/// What the requests that are answered within share.
struct compress_rules {
  explicit compress_rules(const compress_options& from) noexcept
      : options{from}, slots{from.at_once} {}
  compress_options options;
  coded_slots slots;
};

class compress {
 public:
  explicit compress(const compress_options& options = {}) : rules_{new compress_rules{options}} {}

  void operator()(exchange& e, handler& next) const { e.run_coded(*rules_, next); }

 private:
  std::unique_ptr<compress_rules> rules_;  // stays where it is while this is moved
};

}  // namespace weft::http
