// A request's header section over HTTP/2, as the head that HTTP/1.1 would have for it.
//
// Problem: what a request may look like must not depend on the protocol it comes by, or one of the
// two is the way past a check. Contract: add() is given each field as HPACK decoded it, pseudo-
// header fields first; finish() then says what is wrong, or leaves a head in text() that the
// request parser judges like any other: `:authority` is its Host, and the crumbs of a cookie are
// one field (RFC 9113 sections 8.2.3 and 8.3.1). Once the section is longer than
// limits::head_bytes, counted as SETTINGS_MAX_HEADER_LIST_SIZE does, the rest is dropped. What
// nghttp2 refuses by itself does not come here: connection-specific fields, names in capitals, line
// ends. Allocates nothing once warm. One shard.
//
//   text.clear();
//   text.add(":method", "GET");
//   ...
//   if (const auto fault = text.finish()) return refuse(*fault);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <weft/http/fault.hpp>
#include <weft/http/http2/pooled_text.hpp>

namespace weft::http::http2 {

class request_text {
 public:
  explicit request_text(std::size_t most_bytes) noexcept : most_bytes_{most_bytes} {}

  void clear() noexcept;
  void add(std::string_view name, std::string_view value);
  /// What is wrong with it; nothing: text() is a whole head.
  [[nodiscard]] std::optional<protocol_fault> finish();

  [[nodiscard]] std::string_view text() const noexcept { return text_.view(); }
  /// Lines of fields in it.
  [[nodiscard]] std::size_t fields() const noexcept { return fields_; }
  /// As SETTINGS_MAX_HEADER_LIST_SIZE counts, of all that was added.
  [[nodiscard]] std::uint64_t list_bytes() const noexcept { return list_bytes_; }
  [[nodiscard]] bool is_too_long() const noexcept { return list_bytes_ > most_bytes_; }
  /// Leaves this without memory: the text stays where it was.
  [[nodiscard]] pooled_text take() noexcept { return std::move(text_); }

 private:
  void add_pseudo(std::string_view name, std::string_view value);
  void begin();
  void add_line(std::string_view name, std::string_view value);

  const std::size_t most_bytes_;
  pooled_text text_;
  std::string method_;
  std::string path_;
  std::string authority_;
  std::string cookie_;
  std::uint64_t list_bytes_ = 0;
  std::size_t fields_ = 0;
  bool is_begun_ = false;
  bool host_differs_ = false;
};

}  // namespace weft::http::http2
