// Header sections as HPACK has them, decoded field by field (RFC 7541).
//
// Contract: internal to http. nghttp2's inflater, of which there is one a connection, in memory of
// the frame pool. decode() is given each fragment in turn, `is_last` with the last of a section,
// and calls take(name, value) for each field: what it is given lives during that call. It says
// false, if no more is wanted. One shard.
//
//   const auto outcome = decoder.decode(fragment, true, [&](auto name, auto value) { ... });
//   if (outcome == decoding::malformed) terminate(NGHTTP2_COMPRESSION_ERROR);
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string_view>

#include <weft/http/http2/library.hpp>

namespace weft::http::http2 {

enum class decoding : std::uint8_t { whole, abandoned, malformed };

class field_decoder {
 public:
  /// Throws std::bad_alloc.
  field_decoder() {
    nghttp2_hd_inflater* made = nullptr;
    if (nghttp2_hd_inflate_new2(&made, pooled_memory()) != 0) throw std::bad_alloc{};
    library_.reset(made);
  }

  /// Throws std::bad_alloc, and what `take` throws.
  template <class Take>
  [[nodiscard]] decoding decode(std::string_view fragment, bool is_last, Take take) {
    for (;;) {
      nghttp2_nv field;
      int seen = 0;
      const auto read = nghttp2_hd_inflate_hd2(
          library_.get(), &field, &seen, reinterpret_cast<const std::uint8_t*>(fragment.data()),
          fragment.size(), is_last ? 1 : 0);
      if (read < 0) return failed(static_cast<int>(read));
      fragment.remove_prefix(static_cast<std::size_t>(read));
      const bool has_field = (seen & NGHTTP2_HD_INFLATE_EMIT) != 0;
      if (has_field &&
          !take(text_of(field.name, field.namelen), text_of(field.value, field.valuelen)))
        return decoding::abandoned;
      if ((seen & NGHTTP2_HD_INFLATE_FINAL) != 0) {
        nghttp2_hd_inflate_end_headers(library_.get());
        return decoding::whole;
      }
      if (!has_field && fragment.empty()) return decoding::whole;
    }
  }

 private:
  struct deleter {
    void operator()(nghttp2_hd_inflater* inflater) const noexcept {
      nghttp2_hd_inflate_del(inflater);
    }
  };
  static decoding failed(int why) {
    if (why == NGHTTP2_ERR_NOMEM) throw std::bad_alloc{};
    return decoding::malformed;
  }

  std::unique_ptr<nghttp2_hd_inflater, deleter> library_;
};

}  // namespace weft::http::http2
