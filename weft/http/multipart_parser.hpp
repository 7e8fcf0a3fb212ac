// Forms with files: multipart/form-data (RFC 7578), taken apart while it arrives.
//
// Problem: an upload is too large to keep, and comes in pieces that end anywhere, in the middle of
// a boundary, too. Contract: next() takes bytes off the front of `input` and says what they were. A
// part begins with `part`, its content comes as any number of `data`, and it ends with `part_end`;
// the events, with the data joined, do not depend on how the bytes were cut. A body is whole only
// once is_finished() says so. Lines end in CR LF. Preamble and epilogue are ignored (RFC 2046
// section 5.1.1), and padding behind a boundary. A part must be called by a Content-Disposition of
// the type form-data; header fields besides that and Content-Type are checked and ignored (RFC 7578
// section 4.8). A `filename*` goes before `filename`, as .NET sends both, although RFC 7578
// section 4.2 has none; a Content-Type that is no media type counts as none (RFC 2045 section 5.2).
// Refused, since two readers would read two things: a line that begins with the boundary and goes
// on, folded fields, either of those fields twice, a Content-Transfer-Encoding that encodes
// (section 4.7). Keeps at most twice `header_bytes`, from the first part on, and never any content.
// Single thread.
//
//   std::array<char, 256> room;
//   auto boundary = http::form_data_boundary(*r.header("content-type"), room);
//   http::multipart_parser form{*boundary, {}};
//   while (!received.empty()) switch (form.next(received)) ...
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/http/fault.hpp>

namespace weft::http {

struct multipart_limits {
  // Beyond: 413.
  std::size_t parts = 128;
  // All header fields of one part with their line ends; also the preamble, and the padding behind a
  // boundary. Beyond: 431.
  std::size_t header_bytes = 4 * 1024;
};

// Of a Content-Type field's value. errc::unsupported (415): it is another type;
// errc::invalid_argument (400): malformed, or a boundary that is none (RFC 2046 section 5.1.1). May
// lie in `room`, which has as many bytes as the value.
[[nodiscard]] result<std::string_view> form_data_boundary(std::string_view content_type,
                                                          std::span<char> room) noexcept;

struct multipart_part {
  std::string_view name;                     // as sent: UTF-8, if the client keeps to the rules
  std::optional<std::string_view> filename;  // not empty, as sent: see safe_file_name.hpp
  std::string_view content_type;  // "text/plain" if there is no valid one (RFC 7578 section 4.4)
};

enum class multipart_event : std::uint8_t { need_more, part, data, part_end, finished, failed };

class multipart_parser {
 public:
  static constexpr std::size_t boundary_bytes_max = 70;

  // `boundary` is one that form_data_boundary() gave; it is copied.
  multipart_parser(std::string_view boundary, const multipart_limits& bounds);

  // `need_more`: all of `input` was taken. `finished` and `failed` stay; the first takes whatever
  // still comes. Work: O(bytes taken).
  [[nodiscard]] multipart_event next(std::string_view& input);

  // After `part`, until the next one.
  [[nodiscard]] const multipart_part& part() const noexcept { return part_; }
  // After `data`: a view of the input or of the parser, until the next call.
  [[nodiscard]] std::string_view data() const noexcept { return data_; }
  // After `failed`.
  [[nodiscard]] protocol_fault fault() const noexcept { return {code_, reason_, offset_}; }
  [[nodiscard]] bool is_finished() const noexcept { return step_ == step::epilogue; }

 private:
  enum class step : std::uint8_t {
    preamble,
    after_delimiter,
    padding,
    delimiter_lf,
    second_hyphen,
    head,
    content,
    epilogue,
    failed
  };

  [[nodiscard]] std::string_view delimiter() const noexcept {
    return {delimiter_.data(), delimiter_size_};
  }
  std::optional<multipart_event> skip_preamble(std::string_view& input);
  std::optional<multipart_event> take_delimiter_end(std::string_view& input);
  std::optional<multipart_event> take_head(std::string_view& input);
  std::optional<multipart_event> take_content(std::string_view& input);
  multipart_event begin_part();
  // Takes one line of a head; the reason why not.
  std::string_view take_field(std::string_view line);
  [[nodiscard]] std::size_t find_delimiter(std::string_view input) const noexcept;
  void advance(std::string_view& input, std::size_t bytes) noexcept;
  multipart_event fail(std::string_view reason, status code = status::bad_request) noexcept;

  multipart_limits bounds_;
  std::array<char, boundary_bytes_max + 4> delimiter_{};  // CR LF "--" boundary
  std::size_t delimiter_size_;
  std::size_t matched_ = 2;   // bytes of the delimiter that have come; the body's start is a line's
  std::size_t imagined_ = 2;  // of these, how many were never sent as its own
  std::size_t counted_ = 0;   // bytes of the preamble or of padding
  std::size_t parts_ = 0;
  std::uint64_t offset_ = 0;  // in the body
  std::string head_;          // header fields of the part that begins
  std::string room_;          // and what they mean
  multipart_part part_;
  std::string_view data_;
  std::string_view reason_;
  status code_ = status::ok;
  bool has_disposition_ = false;
  bool has_type_ = false;
  step step_ = step::preamble;
};

}  // namespace weft::http
