// Header sections as HPACK has them, decoded field by field (RFC 7541).
//
// Contract: internal to http. nghttp2's inflater, of which there is one a connection, in memory of
// the frame pool. decode() is given each fragment in turn, `is_last` with the last of a section,
// and calls take(name, value) for each field: what it is given lives during that call. It says
// false, if no more is wanted. After `too_long`, a name or value of more than 64 KiB, and after
// `malformed` nothing is decoded any more: what the table would hold is not known. One shard.
//
//   const auto outcome = decoder.decode(fragment, true, [&](auto name, auto value) { ... });
//   if (outcome == decoding::malformed) terminate(NGHTTP2_COMPRESSION_ERROR);
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <tuple>

#include <weft/http/http2/field_lengths.hpp>
#include <weft/http/http2/library.hpp>

namespace weft::http::http2 {

enum class decoding : std::uint8_t { whole, abandoned, too_long, malformed };

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
    const char* const start = fragment.data();
    for (;;) {
      nghttp2_nv field;
      int seen = 0;
      const auto read = nghttp2_hd_inflate_hd2(
          library_.get(), &field, &seen, reinterpret_cast<const std::uint8_t*>(fragment.data()),
          fragment.size(), is_last ? 1 : 0);
      if (read < 0) return failed(static_cast<int>(read), fragment, fragment.data() != start);
      fragment.remove_prefix(static_cast<std::size_t>(read));
      const bool has_field = (seen & NGHTTP2_HD_INFLATE_EMIT) != 0;
      if (has_field &&
          !take(text_of(field.name, field.namelen), text_of(field.value, field.valuelen)))
        return decoding::abandoned;
      if ((seen & NGHTTP2_HD_INFLATE_FINAL) != 0) {
        nghttp2_hd_inflate_end_headers(library_.get());
        lengths_ = {};
        return decoding::whole;
      }
      if (!has_field && fragment.empty()) {
        const char* const begun = fragment.data() - read;
        note_part({begun, fragment.data()}, begun != start);
        return decoding::whole;
      }
    }
  }

  [[nodiscard]] bool is_lost() const noexcept { return is_lost_; }

 private:
  struct deleter {
    void operator()(nghttp2_hd_inflater* inflater) const noexcept {
      nghttp2_hd_inflate_del(inflater);
    }
  };
  /// Of `rest`, where a field begins: behind another one. Else the one goes on that an earlier
  /// fragment has begun.
  [[nodiscard]] bool is_too_long(std::string_view rest, bool is_at_field) noexcept {
    if (is_at_field) lengths_ = {};
    return lengths_.walk(rest);
  }
  [[gnu::cold]] void note_part(std::string_view part, bool is_at_field) noexcept {
    std::ignore = is_too_long(part, is_at_field);
  }
  [[gnu::cold]] decoding failed(int why, std::string_view rest, bool is_at_field) {
    if (why == NGHTTP2_ERR_NOMEM) throw std::bad_alloc{};
    is_lost_ = true;
    return is_too_long(rest, is_at_field) ? decoding::too_long : decoding::malformed;
  }

  std::unique_ptr<nghttp2_hd_inflater, deleter> library_;
  field_lengths lengths_;  // up to where the last fragment has ended, if that was within a field
  bool is_lost_ = false;
};

}  // namespace weft::http::http2
