// What becomes of the bytes that a server sends back, as text: for tests and fuzzers, which compare
// such texts.
//
// Contract: as describe_message(), for the response to one request of the method `asked`; interim
// responses before it are named in `interim=`. With `closes` the connection ends in good order
// behind the bytes. The text is "incomplete", "cut" (the connection has ended within), "refused:"
// with the reason and its offset, or "accept" and a line for each fact. It must not depend on the
// cuts.
//
//   EXPECT_EQ(describe_response(bytes, {}, how), describe_response(bytes, std::array{7uz}, how));
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <weft/http/client/response_body.hpp>
#include <weft/http/client/response_parser.hpp>

#include <tests/conformance/message_outcome.hpp>

namespace weft::http {

struct response_reading {
  method asked = method::get;
  bool closes = false;
  limits bounds{};
};

namespace response_outcome_detail {

using message_outcome_detail::add;
using message_outcome_detail::arrival;

inline std::string describe(const protocol_fault& why) {
  return "refused: " + std::string{why.reason} + " at " + std::to_string(why.offset_bytes) + "\n";
}

inline std::string_view framing_name(response_framing how) {
  switch (how) {
    case response_framing::none: return "none";
    case response_framing::length: return "length";
    case response_framing::chunked: return "chunked";
    case response_framing::until_close: return "until-close";
    case response_framing::tunnel: return "tunnel";
  }
  return "?";
}

inline std::string describe(const response_head& head, method asked) {
  std::string text;
  add(text, "status", std::to_string(static_cast<unsigned>(head.status())));
  add(text, "reason", head.reason());
  add(text, "minor", std::to_string(head.minor_version()));
  add(text, "framing", framing_name(head.framing(asked)));
  add(text, "keep-alive", head.keep_alive(asked));
  add(text, "upgrade", head.upgrade());
  add(text, "length", head.content_length() ? std::to_string(*head.content_length()) : "none");
  for (const auto [name, value] : head.headers())
    add(text, std::string{"header "}.append(name), std::string{"["}.append(value).append("]"));
  add(text, "head", std::to_string(head.size_bytes()));
  return text;
}

// One response's way through parser and body.
class reader {
 public:
  explicit reader(const response_reading& how) : how_{how} {}

  // All bytes so far; true when there is nothing more to find out.
  bool take(std::string_view bytes) {
    while (!head_ && outcome_.empty())
      if (!take_head(bytes)) return !outcome_.empty();
    while (outcome_.empty() && !body_.is_complete() && used_ != bytes.size()) take_body(bytes);
    if (outcome_.empty() && body_.is_complete()) accept();
    return !outcome_.empty();
  }
  [[nodiscard]] std::string outcome() {
    if (!outcome_.empty()) return outcome_;
    if (!how_.closes) return "incomplete\n";
    if (!head_ || !body_.ended()) return "cut\n";
    accept();
    return outcome_;
  }

 private:
  bool take_head(std::string_view bytes) {
    const auto head = std::make_unique<response_head>();
    const parse_status status = parser_.parse(bytes.substr(used_), *head, how_.bounds);
    if (status == parse_status::failed) outcome_ = describe(parser_.fault());
    if (status != parse_status::complete) return false;
    used_ += head->size_bytes();
    parser_.reset();
    if (head->is_interim()) {
      interim_ += (interim_.empty() ? "" : " ") + std::to_string(static_cast<int>(head->status()));
      return true;
    }
    head_ = describe(*head, how_.asked);
    body_.begin(head->framing(how_.asked), head->content_length().value_or(0));
    return true;
  }
  void take_body(std::string_view bytes) {
    const body_piece piece = body_.next(bytes.substr(used_), how_.bounds);
    used_ += piece.consumed_bytes;
    content_ += piece.content;
    if (piece.status == body_status::failed) outcome_ = describe(body_.fault());
  }
  void accept() {
    outcome_ = "accept\n" + *head_;
    add(outcome_, "interim", interim_);
    add(outcome_, "body", content_);
    add(outcome_, "used", std::to_string(used_));
  }

  const response_reading& how_;
  response_parser parser_;
  response_body body_;
  std::optional<std::string> head_;
  std::size_t used_ = 0;
  std::string interim_;
  std::string content_;
  std::string outcome_;
};

}  // namespace response_outcome_detail

[[nodiscard]] inline std::string describe_response(std::string_view bytes,
                                                   std::span<const std::size_t> cuts,
                                                   const response_reading& how) {
  response_outcome_detail::reader one{how};
  for (std::size_t cut : cuts)
    if (one.take(message_outcome_detail::arrival{bytes.substr(0, cut)}.text()))
      return one.outcome();
  one.take(message_outcome_detail::arrival{bytes}.text());
  return one.outcome();
}

// Takes the bytes as one piece, from exactly where they are.
[[nodiscard]] inline std::string describe_response_in_place(std::string_view bytes,
                                                            const response_reading& how) {
  response_outcome_detail::reader one{how};
  one.take(bytes);
  return one.outcome();
}

}  // namespace weft::http
