#include <weft/http/body_decoding.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include <weft/http/field_syntax.hpp>

namespace weft::http {

result<body_codings> read_body_codings(const header_list& headers, coding_set known,
                                       std::size_t most) noexcept {
  body_codings found;
  for (std::size_t i = headers.index_of("content-encoding"); i < headers.size();
       i = headers.index_of("content-encoding", i + 1)) {
    for (std::string_view rest = headers[i].value; !rest.empty();) {
      const std::string_view name = field_syntax::take_element(rest);
      if (name.empty()) continue;
      const auto coding = parse_content_coding(name);
      if (coding == content_coding::identity) continue;
      if (!coding || !known.contains(*coding) ||
          found.count == std::min(most, codings_of_body_most))
        return fail(errc::unsupported);
      found.applied[found.count++] = *coding;
    }
  }
  return found;
}

std::size_t decoder_bytes(const body_codings& codings, std::uint64_t decoded_bytes) noexcept {
  constexpr std::uint64_t beside_window = 512 * 1024;
  const auto most_of = [](content_coding coding) -> std::uint64_t {
    switch (coding) {
      case content_coding::identity: break;
      case content_coding::gzip:
      case content_coding::deflate: return detail::zlib_decoder_bytes;
      case content_coding::br: return detail::brotli_decoder_bytes;
      case content_coding::zstd: return detail::zstd_decoder_bytes;
    }
    return 0;
  };
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < codings.count; ++i)
    all += std::min(most_of(codings.applied[i]), decoded_bytes + beside_window);
  return all;
}

result<body_decoding> body_decoding::make(const body_codings& codings,
                                          const decoding_limits& bounds) {
  body_decoding made;
  auto outer = content_decoder::make(codings.applied[codings.count - 1], bounds);
  if (!outer) return fail(outer.error());
  made.first_.emplace(std::move(*outer));
  if (codings.count == 2) {
    auto inner = content_decoder::make(codings.applied[0], bounds);
    if (!inner) return fail(inner.error());
    made.second_.emplace(std::move(*inner));
    made.middle_ = std::make_unique_for_overwrite<char[]>(piece_bytes);  // NOLINT
  }
  made.room_ = std::make_unique_for_overwrite<char[]>(piece_bytes);  // NOLINT
  return made;
}

/// Until there is a piece, or the decoder needs more than `input` has.
std::string_view body_decoding::step(content_decoder& by, std::string_view& input,
                                     std::span<char> room) noexcept {
  for (;;) {
    const coding_progress made = by.decode(input, room);
    input.remove_prefix(made.consumed_bytes);
    has_failed_ = made.status == coding_status::failed;
    if (has_failed_) return {};
    if (made.written_bytes != 0) return {room.data(), made.written_bytes};
    if (input.empty() || made.consumed_bytes == 0) return {};
  }
}

std::string_view body_decoding::next(std::string_view& input) noexcept {
  if (has_failed_) return {};
  const std::span room{room_.get(), piece_bytes};
  if (!second_) return step(*first_, input, room);
  for (;;) {
    const std::string_view piece = step(*second_, between_, room);
    if (has_failed_ || !piece.empty()) return piece;
    between_ = step(*first_, input, {middle_.get(), piece_bytes});
    if (between_.empty()) return {};
  }
}

bool body_decoding::is_finished() const noexcept {
  return first_->is_finished() && (!second_ || second_->is_finished());
}

bool body_decoding::is_too_large() const noexcept {
  return first_->is_too_large() || (second_ && second_->is_too_large());
}

}  // namespace weft::http
