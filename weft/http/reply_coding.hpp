// Which replies may be coded on their way out, and what their header fields say then.
//
// Contract: private to weft/http's sources. Pure functions on fields as they go over the wire: each
// "Name: value" and CR LF.
//
//   if (may_be_coded(facts, 1024)) append_coded_fields(out, facts.fields, content_coding::gzip);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weft/http/content_coding.hpp>
#include <weft/http/status.hpp>

namespace weft::http {

struct reply_facts {
  status code;
  std::string_view content_type;  // empty: among the fields
  std::string_view fields;
  std::string_view added;  // further fields
  std::optional<std::uint64_t> length_bytes;
};

/// Whether it depends on the client's wishes how the reply is coded. So it does for a 304 with a
/// tag, which stands for a reply of which no more is known.
[[nodiscard]] bool may_be_coded(const reply_facts& facts, std::uint64_t least_bytes) noexcept;
/// Whether caches have yet to be told so.
[[nodiscard]] bool lacks_vary(const reply_facts& facts) noexcept;

/// `fields` as they are of a coded reply: with a weak tag, without Accept-Ranges. And the coding,
/// but for identity.
void append_coded_fields(std::string& out, std::string_view fields, content_coding coding);

}  // namespace weft::http
