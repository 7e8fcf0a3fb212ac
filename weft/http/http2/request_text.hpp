// A request's header section over HTTP/2, as the head that HTTP/1.1 would have for it.
//
// Problem: what a request may look like must not depend on the protocol it comes by, or one of the
// two is the way past a check. Contract: add() is given each field as HPACK decoded it, pseudo-
// header fields first; finish() then says what is wrong, or leaves a head in text() that the
// request parser judges like any other: `:authority` is its Host, and the crumbs of a cookie are
// one field (RFC 9113 sections 8.2.3 and 8.3.1). An extended CONNECT is the GET with Upgrade that
// it stands for (RFC 8441 section 5). Once the section is longer than
// limits::head_bytes, counted as SETTINGS_MAX_HEADER_LIST_SIZE does, the rest is dropped. What is
// malformed by HTTP/2's own rules (sections 8.2 and 8.3) makes is_malformed(). Allocates nothing
// once warm. One shard.
//
//   text.clear();
//   text.add(":method", "GET");
//   ...
//   const auto fault = text.finish();
//   if (text.is_malformed()) return reset();
//   if (fault) return refuse(*fault);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <weft/http/fault.hpp>
#include <weft/http/http2/pooled_text.hpp>
#include <weft/http/http2/priority_field.hpp>

namespace weft::http::http2 {

class request_text {
 public:
  explicit request_text(std::size_t most_bytes) noexcept : most_bytes_{most_bytes} {}

  void clear() noexcept;
  /// As clear(), and without memory: who waits for the next request holds none.
  void release() noexcept;
  void add(std::string_view name, std::string_view value);
  /// Instead of add(), of a field that is longer than any can be read.
  void note_huge_field() noexcept { list_bytes_ = UINT64_MAX; }
  /// What is wrong with it; nothing: text() is a whole head.
  [[nodiscard]] std::optional<protocol_fault> finish();
  /// After finish(): the stream is to be reset (RFC 9113 section 8.1.1).
  [[nodiscard]] bool is_malformed() const noexcept { return is_malformed_; }
  /// Whether its stream is to be spoken over by asked_protocol() (RFC 8441 section 4).
  [[nodiscard]] bool asks_for_tunnel() const noexcept { return (seen_ & protocol) != 0; }
  [[nodiscard]] std::string_view asked_protocol() const noexcept { return view(protocol_); }
  /// Whether the reply is to have no body.
  [[nodiscard]] bool is_head() const noexcept { return view(method_) == "HEAD"; }
  /// How urgent it calls itself; nothing: it does not say.
  [[nodiscard]] const std::optional<stream_priority>& priority() const noexcept {
    return priority_;
  }

  [[nodiscard]] std::string_view text() const noexcept { return text_.view().substr(head_begin_); }
  /// Lines of fields in it.
  [[nodiscard]] std::size_t fields() const noexcept { return fields_; }
  /// As SETTINGS_MAX_HEADER_LIST_SIZE counts, of all that was added.
  [[nodiscard]] std::uint64_t list_bytes() const noexcept { return list_bytes_; }
  [[nodiscard]] bool is_too_long() const noexcept { return list_bytes_ > most_bytes_; }
  /// Leaves this without memory: the text stays where it was.
  [[nodiscard]] pooled_text take() noexcept { return std::move(text_); }

 private:
  /// Of text_, which may move.
  struct part {
    std::size_t at = 0;
    std::size_t size = 0;
  };
  enum field : unsigned {
    method = 1,
    scheme = 2,
    path = 4,
    authority = 8,
    host = 16,
    protocol = 32
  };

  void add_pseudo(std::string_view name, std::string_view value);
  void note(field which, std::string_view value, bool is_valid) noexcept;
  [[nodiscard]] part keep(field which, std::string_view value);
  [[nodiscard]] std::string_view view(part of) const noexcept {
    return {text_.view().data() + of.at, of.size};
  }
  /// False: its line is not wanted.
  [[nodiscard]] bool add_known(std::string_view name, std::string_view value);
  [[nodiscard]] bool has_what_it_must() const noexcept;
  void begin();
  void add_line(std::string_view name, std::string_view value);

  const std::size_t most_bytes_;
  pooled_text text_;
  std::size_t head_begin_ = 0;  // before it stand those parts
  part method_;
  part path_;
  part authority_;
  part protocol_;
  pooled_text cookie_;
  std::uint64_t list_bytes_ = 0;
  std::size_t fields_ = 0;
  std::optional<stream_priority> priority_;
  unsigned seen_ = 0;  // of field
  bool is_begun_ = false;
  bool is_malformed_ = false;
  bool host_differs_ = false;
};

}  // namespace weft::http::http2
