#include <weft/http/http2/request_text.hpp>

#include <weft/http/headers.hpp>

namespace weft::http::http2 {
namespace {

/// Of each field, by RFC 9113 section 6.5.2.
constexpr std::size_t beside_field_bytes = 32;

}  // namespace

void request_text::clear() noexcept {
  text_.clear();
  method_.clear();
  path_.clear();
  authority_.clear();
  cookie_.clear();
  list_bytes_ = 0;
  fields_ = 0;
  is_begun_ = host_differs_ = false;
}

void request_text::add(std::string_view name, std::string_view value) {
  list_bytes_ += name.size() + value.size() + beside_field_bytes;
  if (is_too_long()) [[unlikely]]
    return;
  if (name.starts_with(':')) return add_pseudo(name, value);
  if (!is_begun_) begin();
  if (name == "cookie") {
    if (!cookie_.empty()) cookie_.append("; ");
    cookie_.append(value);
  } else if (name == "host" && !authority_.empty()) {
    host_differs_ |= !equals_ignoring_case(value, authority_);
  } else {
    add_line(name, value);
  }
}

void request_text::add_pseudo(std::string_view name, std::string_view value) {
  if (name == ":method")
    method_ = value;
  else if (name == ":path")
    path_ = value;
  else if (name == ":authority")
    authority_ = value;
  // What :scheme says is not believed: request::scheme() knows how the client really asked.
}

void request_text::begin() {
  is_begun_ = true;
  text_.append(method_);
  text_.append(" ");
  text_.append(method_ == "CONNECT" ? authority_ : path_);
  text_.append(" HTTP/1.1\r\n");
  if (!authority_.empty()) add_line("host", authority_);
}

void request_text::add_line(std::string_view name, std::string_view value) {
  ++fields_;
  text_.reserve(text_.size() + name.size() + value.size() + 4);
  text_.append(name);
  text_.append(": ");
  text_.append(value);
  text_.append("\r\n");
}

std::optional<protocol_fault> request_text::finish() {
  if (is_too_long()) return describe(fault_kind::head_too_long, 0);
  if (!is_begun_) begin();
  if (host_differs_) return describe(fault_kind::host_not_target, 0);
  if (!cookie_.empty()) add_line("cookie", cookie_);
  text_.append("\r\n");
  return std::nullopt;
}

}  // namespace weft::http::http2
