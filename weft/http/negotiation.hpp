// What the client would like to get: Accept and Accept-Encoding (RFC 9110 section 12.5).
//
// Contract: an element that breaks the grammar is passed over, as if it had not been sent; so is a
// `q` that is no qvalue, where others guess. Of equal wishes the server's order decides: put the
// best first. Media ranges: the most specific one that fits says the quality, `type/subtype;p=v`
// before `type/subtype` before `type/*` before `*/*`. Work: O(elements × offers); nothing is
// allocated. Say "Vary: Accept" or "Vary: Accept-Encoding" whatever was chosen.
//
//   constexpr std::string_view offers[] = {"application/json", "text/html"};
//   auto chosen = http::choose_media_type(r.header("accept"), offers);   // none: 406
//   auto coding = http::choose_coding(r.header("accept-encoding"), ours);
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include <weft/http/content_coding.hpp>

namespace weft::http {

// The index of the offer the client likes best. None: it takes none of them; the first where it
// says nothing of the kind. Offers are media types, with parameters or without.
[[nodiscard]] std::optional<std::size_t> choose_media_type(
    std::optional<std::string_view> accept, std::span<const std::string_view> offers) noexcept;

// Codings that a client takes, the best first. Never empty: identity stands at its place, or at the
// end where the client refused it, since a reply as it is does less harm than a 406 (RFC 9110
// section 12.5.3 leaves that to us).
struct coding_preferences {
  std::array<content_coding, content_coding_count> order;
  std::size_t count = 0;

  [[nodiscard]] std::span<const content_coding> all() const noexcept {
    return std::span{order}.first(count);
  }
};

// Those of `offered` only. Equal ones in the order br, zstd, gzip, deflate, identity. A client that
// sends no field gets identity: it may take any coding, but those that do say so.
[[nodiscard]] coding_preferences rank_codings(std::optional<std::string_view> accept_encoding,
                                              coding_set offered) noexcept;
[[nodiscard]] inline content_coding choose_coding(std::optional<std::string_view> accept_encoding,
                                                  coding_set offered) noexcept {
  return rank_codings(accept_encoding, offered).order[0];
}

}  // namespace weft::http
