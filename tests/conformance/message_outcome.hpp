// What becomes of the bytes of one request, as text: for tests and fuzzers, which compare such
// texts.
//
// Contract: describe_message() gives `bytes` to the parser and then to the body's framing as they
// would arrive: first those before cuts[0], then those before cuts[1] and so on, and in the end
// all. Each time they lie in other memory, which ends where they end, and the parser gets a
// parsed_head that has seen nothing. The text is "incomplete", a status with its reason and offset,
// or "accept" and a line for each fact. It must not depend on the cuts.
//
//   EXPECT_EQ(describe_message(bytes, {}, bounds), describe_message(bytes, std::array{7uz}, bounds));
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <weft/http/chunked_decoder.hpp>
#include <weft/http/request_parser.hpp>
#include <weft/http/target.hpp>

namespace weft::http {
namespace message_outcome_detail {

inline std::string describe(const protocol_fault& why) {
  return std::to_string(static_cast<unsigned>(why.code)) + " " + std::string{why.reason} + " at " +
         std::to_string(why.offset_bytes) + "\n";
}

inline void add(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append("=").append(value).append("\n");
}

inline void add(std::string& text, std::string_view name, bool value) {
  add(text, name, std::string_view{value ? "yes" : "no"});
}

inline std::string_view form_name(target_form form) {
  switch (form) {
    case target_form::origin: return "origin";
    case target_form::absolute: return "absolute";
    case target_form::authority: return "authority";
    case target_form::asterisk: return "asterisk";
  }
  return "?";
}

inline std::string describe(const parsed_head& head) {
  std::string text = "accept\n";
  std::string room;
  add(text, "method", to_string(head.method()));
  add(text, "form", form_name(head.form()));
  add(text, "target", head.target());
  add(text, "path", head.path());
  if (head.path_needs_normalizing()) add(text, "normal", normalize_path(head.path(), room));
  add(text, "query", head.query());
  add(text, "minor", std::to_string(head.minor_version()));
  add(text, "keep-alive", head.keep_alive());
  add(text, "expect-continue", head.expect_continue());
  add(text, "upgrade", head.upgrade());
  add(text, "chunked", head.chunked());
  add(text, "length", head.content_length() ? std::to_string(*head.content_length()) : "none");
  for (const auto [name, value] : head.headers())
    add(text, std::string{"header "}.append(name), std::string{"["}.append(value).append("]"));
  add(text, "head", std::to_string(head.size_bytes()));
  return text;
}

// The bytes as they have arrived at one moment, in memory of their own.
class arrival {
 public:
  explicit arrival(std::string_view bytes)
      : copy_{std::make_unique_for_overwrite<char[]>(bytes.size())}, size_{bytes.size()} {
    bytes.copy(copy_.get(), size_);
  }
  [[nodiscard]] std::string_view text() const { return {copy_.get(), size_}; }

 private:
  std::unique_ptr<char[]> copy_;
  std::size_t size_;
};

// One request's way through parser and decoder.
class reader {
 public:
  explicit reader(const limits& bounds) : bounds_{bounds} {}

  // All bytes so far; true when there is nothing more to find out.
  bool take(std::string_view bytes) {
    if (!head_ && !take_head(bytes)) return !outcome_.empty();
    return chunked_ ? take_chunks(bytes) : take_body(bytes);
  }
  [[nodiscard]] std::string outcome() const { return outcome_.empty() ? "incomplete\n" : outcome_; }

 private:
  bool take_head(std::string_view bytes) {
    const auto head = std::make_unique<parsed_head>();
    const parse_status status = parser_.parse(bytes, *head, bounds_);
    if (status == parse_status::failed) outcome_ = describe(parser_.fault());
    if (status != parse_status::complete) return false;
    head_ = describe(*head);
    begin_ = used_ = head->size_bytes();
    length_ = head->content_length().value_or(0);
    chunked_ = head->chunked();
    if (length_ <= bounds_.body_bytes) return true;
    outcome_ = describe(http::describe(fault_kind::body_too_large, begin_));
    return false;
  }
  bool take_body(std::string_view bytes) {
    if (bytes.size() - begin_ < length_) return false;
    body_ = bytes.substr(begin_, length_);
    used_ = begin_ + length_;
    return accept();
  }
  bool take_chunks(std::string_view bytes) {
    const chunked_progress progress = decoder_.decode(bytes.substr(used_), body_, bounds_);
    used_ += progress.consumed_bytes;
    if (progress.status == chunked_status::failed) outcome_ = describe(decoder_.fault());
    return progress.status == chunked_status::complete ? accept() : !outcome_.empty();
  }
  bool accept() {
    outcome_ = *head_;
    add(outcome_, "body", body_);
    add(outcome_, "used", std::to_string(used_));
    return true;
  }

  const limits& bounds_;
  request_parser parser_;
  chunked_decoder decoder_;
  std::optional<std::string> head_;
  std::size_t begin_ = 0;  // of the body
  std::size_t used_ = 0;
  std::size_t length_ = 0;
  bool chunked_ = false;
  std::string body_;
  std::string outcome_;
};

}  // namespace message_outcome_detail

[[nodiscard]] inline std::string describe_message(std::string_view bytes,
                                                  std::span<const std::size_t> cuts,
                                                  const limits& bounds) {
  message_outcome_detail::reader one{bounds};
  for (std::size_t cut : cuts)
    if (one.take(message_outcome_detail::arrival{bytes.substr(0, cut)}.text()))
      return one.outcome();
  one.take(message_outcome_detail::arrival{bytes}.text());
  return one.outcome();
}

// Takes the bytes as one piece, from exactly where they are.
[[nodiscard]] inline std::string describe_message_in_place(std::string_view bytes,
                                                           const limits& bounds) {
  message_outcome_detail::reader one{bounds};
  one.take(bytes);
  return one.outcome();
}

// The chunked body at the start of `bytes`, cut in the same way.
[[nodiscard]] inline std::string describe_chunked(std::string_view bytes,
                                                  std::span<const std::size_t> cuts,
                                                  const limits& bounds) {
  chunked_decoder decoder;
  std::string body;
  std::size_t used = 0;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    const std::size_t end = i < cuts.size() ? cuts[i] : bytes.size();
    if (end < used) continue;
    const message_outcome_detail::arrival piece{bytes.substr(used, end - used)};
    const chunked_progress progress = decoder.decode(piece.text(), body, bounds);
    used += progress.consumed_bytes;
    if (progress.status == chunked_status::failed)
      return message_outcome_detail::describe(decoder.fault());
    if (progress.status == chunked_status::complete)
      return "accept\nbody=" + body + "\nused=" + std::to_string(used) + "\n";
  }
  return "incomplete\nbody=" + body + "\n";
}

}  // namespace weft::http
