// What a handler answers, when a value or a text alone does not say it.
//
// Problem: a reply must be cheap to make (most are a status, a type and a short body) and must not
// be able to break the connection's framing, whatever a handler puts into it. Contract: a movable
// value. The fields that frame the message (Content-Length, Transfer-Encoding, Connection, Date)
// are the server's; a name that is no token and a value with a control character, such as the CR LF
// of a response splitting attack, are refused (RFC 9110 section 5.5). A reply without extra fields
// and with a moved-in body allocates nothing. Thread: any, but one at a time.
//
//   return response::text("hello\n");
//   return response::problem(status::not_found, "order 17 was never placed");
//   auto moved = response::empty(status::see_other);
//   if (auto set = moved.add_field("Location", target); !set) ...  // a client's target: check
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/http/status.hpp>

namespace weft::http {

// A Content-Type known when compiling; only literals convert to it, so it can be a view.
class media_type {
 public:
  consteval media_type(const char* literal) : text_{literal} {
    for (char c : text_)
      if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
        throw "a media type holds no control characters";
  }
  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

inline constexpr media_type text_plain = "text/plain; charset=utf-8";
inline constexpr media_type text_html = "text/html; charset=utf-8";
inline constexpr media_type application_json = "application/json";
inline constexpr media_type application_octet_stream = "application/octet-stream";

class response {
 public:
  // 200 without content.
  response() noexcept = default;
  response(status code, media_type type, std::string body) noexcept
      : code_{code}, content_type_{type.text()}, body_{std::move(body)} {}

  [[nodiscard]] static response empty(status code) noexcept;
  [[nodiscard]] static response text(std::string body, status code = status::ok) noexcept;
  // `body` is JSON already.
  [[nodiscard]] static response json_text(std::string body, status code = status::ok) noexcept;
  // A problem document (RFC 9457) with the status's reason phrase as its title. `detail` is UTF-8;
  // empty: left out.
  [[nodiscard]] static response problem(status code, std::string_view detail = {});

  // Appends a header field. errc::invalid_argument: a bad name or value, or a name that the server
  // or content type owns; nothing was added then.
  [[nodiscard]] result<> add_field(std::string_view name, std::string_view value);
  // Whether add_field() would.
  [[nodiscard]] static bool may_add(std::string_view name, std::string_view value) noexcept;
  // A type known only at run time. errc::invalid_argument: a bad value; the type is as before then.
  [[nodiscard]] result<> set_content_type(std::string_view type);

  [[nodiscard]] status code() const noexcept { return code_; }
  // Empty: none, or one set at run time, which stands among the fields.
  [[nodiscard]] std::string_view content_type() const noexcept { return content_type_; }
  // The added fields as they go over the wire: each "Name: value" and CR LF.
  [[nodiscard]] std::string_view fields() const noexcept { return fields_; }
  [[nodiscard]] std::string_view body() const noexcept { return body_; }

  void set_code(status code) noexcept { code_ = code; }
  void set_body(std::string body) noexcept { body_ = std::move(body); }
  [[nodiscard]] std::string take_body() noexcept { return std::move(body_); }

 private:
  friend class exchange;
  // One that is given later: `type` and `fields` have passed as a reply's.
  [[nodiscard]] static response deferred(status code, std::string_view type,
                                         std::string_view fields, std::string body);
  void append_line(std::string_view name, std::string_view value);

  status code_ = status::ok;
  bool has_own_type_ = false;  // among the fields, as the first of them
  std::string_view content_type_;
  std::string fields_;
  std::string body_;
};

}  // namespace weft::http
