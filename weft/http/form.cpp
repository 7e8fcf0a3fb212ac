#include <weft/http/form.hpp>

#include <algorithm>

#include <weft/base/assert.hpp>
#include <weft/http/scan.hpp>

namespace weft::http {

form_reader::form_reader(std::string_view encoded, std::span<char> room,
                         std::size_t pairs_max) noexcept
    : rest_{encoded}, room_{room}, pairs_left_{pairs_max} {
  WEFT_ASSERT(room.size() >= encoded.size(), "give as much room as the text has bytes");
}

result<std::optional<form_pair>> form_reader::next() noexcept {
  while (rest_.starts_with('&')) rest_.remove_prefix(1);
  if (failed_) return fail(*failed_);
  if (rest_.empty()) return std::nullopt;
  failed_ = pairs_left_ == 0 ? errc::limit_exceeded : errc::invalid_argument;
  if (pairs_left_ == 0) return fail(*failed_);
  const std::size_t end = std::min(rest_.find('&'), rest_.size());
  const std::string_view piece = rest_.substr(0, end);
  rest_.remove_prefix(end);
  const std::size_t equals = std::min(piece.find('='), piece.size());
  const bool has_value = equals != piece.size();
  // Decoding is in order and never makes longer, so that it cannot overtake what is still to read.
  const auto name = decode(piece.substr(0, equals));
  if (!name) return fail(*failed_);
  const auto value = decode(has_value ? piece.substr(equals + 1) : std::string_view{});
  if (!value) return fail(*failed_);
  failed_.reset();
  --pairs_left_;
  return form_pair{.name = *name, .value = *value};
}

std::optional<std::string_view> form_reader::decode(std::string_view text) noexcept {
  std::size_t size = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char byte = text[i] == '+' ? ' ' : text[i];
    if (byte == '%') {
      const auto meant = scan::escaped_byte(text, i);
      if (!meant) return std::nullopt;
      byte = *meant;
      i += 2;
    }
    room_[size++] = byte;
  }
  const std::string_view decoded{room_.data(), size};
  room_ = room_.subspan(size);
  return decoded;
}

}  // namespace weft::http
