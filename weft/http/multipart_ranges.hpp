// A reply with several ranges: multipart/byteranges (RFC 9110 section 14.6).
//
// Contract: append_head() before the bytes of each range, append_end() after the last; size_bytes()
// says beforehand what all of it will be, for Content-Length. The reply's own type is
// multipart/byteranges with the boundary, and it has no Content-Range. The boundary must not be
// foreseen by who made the file: draw it anew for each reply. Views: boundary and type outlive it.
// Allocates only what `out` does.
//
//   const http::multipart_ranges parts{boundary, "text/plain", file_size};
//   for (auto range : asked.all()) {
//     parts.append_head(range, out);
//     ...
//   }
//   parts.append_end(out);
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <weft/http/byte_ranges.hpp>

namespace weft::http {

class multipart_ranges {
 public:
  // `representation_bytes`: of all of the file. A type that is empty is left out.
  multipart_ranges(std::string_view boundary, std::string_view content_type,
                   std::uint64_t representation_bytes) noexcept
      : boundary_{boundary}, type_{content_type}, representation_bytes_{representation_bytes} {}

  void append_head(byte_range of, std::string& out) const;
  void append_end(std::string& out) const;
  [[nodiscard]] std::uint64_t size_bytes(std::span<const byte_range> ranges) const noexcept;

 private:
  std::string_view boundary_;
  std::string_view type_;
  std::uint64_t representation_bytes_;
};

}  // namespace weft::http
