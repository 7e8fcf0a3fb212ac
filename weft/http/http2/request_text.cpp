#include <weft/http/http2/request_text.hpp>

#include <algorithm>

#include <weft/http/headers.hpp>
#include <weft/http/http2/field_rules.hpp>

namespace weft::http::http2 {
namespace {

/// Of each field, by RFC 9113 section 6.5.2.
constexpr std::size_t beside_field_bytes = 32;

/// Of the line of a request, and the field of its host.
constexpr std::size_t beside_parts_bytes = 32;

/// RFC 3986 section 3.1.
bool is_scheme(std::string_view text) noexcept {
  const auto is_letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
  const auto may_follow = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  };
  if (text == "http" || text == "https") return true;
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, may_follow);
}

}  // namespace

void request_text::clear() noexcept {
  text_.clear();
  head_begin_ = 0;
  method_ = path_ = authority_ = protocol_ = {};
  cookie_.clear();
  list_bytes_ = 0;
  fields_ = 0;
  priority_.reset();
  seen_ = 0;
  is_begun_ = is_malformed_ = host_differs_ = false;
}

void request_text::release() noexcept {
  clear();
  text_ = {};
  cookie_ = {};
}

void request_text::add(std::string_view name, std::string_view value) {
  list_bytes_ += name.size() + value.size() + beside_field_bytes;
  if (is_too_long()) [[unlikely]]
    return;
  if (name.starts_with(':')) return add_pseudo(name, value);
  if (!is_begun_) begin();
  is_malformed_ |= !may_stand(name, value);
  if (add_known(name, value)) add_line(name, value);
}

bool request_text::add_known(std::string_view name, std::string_view value) {
  if (name == "cookie") {
    if (cookie_.size() != 0) cookie_.append("; ");
    cookie_.append(value);
    return false;
  }
  if (name == "host") {
    note(host, value, true);
    if ((seen_ & authority) == 0) return true;
    host_differs_ |= !equals_ignoring_case(value, view(authority_));
    return false;
  }
  if (name == "priority") priority_ = read_priority(value);
  return true;
}

void request_text::add_pseudo(std::string_view name, std::string_view value) {
  is_malformed_ |= is_begun_;
  if (name == ":method")
    method_ = keep(method, value);
  else if (name == ":path")
    path_ = keep(path, value);
  else if (name == ":authority")
    authority_ = keep(authority, value);
  else if (name == ":protocol")
    protocol_ = keep(protocol, value);
  else if (name == ":scheme")
    note(scheme, value, is_scheme(value));  // not believed: request::scheme() knows how it came
  else
    is_malformed_ = true;
}

request_text::part request_text::keep(field which, std::string_view value) {
  note(which, value, true);
  const part kept{text_.size(), value.size()};
  text_.append(value);
  return kept;
}

/// Once, and with something in it.
void request_text::note(field which, std::string_view value, bool is_valid) noexcept {
  is_malformed_ |= (seen_ & which) != 0 || value.empty() || !is_valid;
  seen_ |= which;
}

/// RFC 9113 sections 8.3.1 and 8.5, RFC 8441 section 4.
bool request_text::has_what_it_must() const noexcept {
  constexpr unsigned always = method | scheme | path;
  const bool connects = view(method_) == "CONNECT";
  if (asks_for_tunnel() && (!connects || (seen_ & authority) == 0)) return false;
  if (connects && !asks_for_tunnel()) return (seen_ & ~unsigned{host}) == (method | authority);
  return (seen_ & always) == always && (seen_ & (authority | host)) != 0 &&
         (view(path_).starts_with('/') || view(path_) == "*");
}

void request_text::begin() {
  is_begun_ = true;
  head_begin_ = text_.size();
  const bool connects = view(method_) == "CONNECT" && !asks_for_tunnel();
  const part target = connects ? authority_ : path_;
  text_.reserve(head_begin_ + method_.size + target.size + authority_.size + beside_parts_bytes);
  text_.append(asks_for_tunnel() ? std::string_view{"GET"} : view(method_));
  text_.append(" ");
  text_.append(view(target));
  text_.append(" HTTP/1.1\r\n");
  if (authority_.size != 0) add_line("host", view(authority_));
  if (!asks_for_tunnel()) return;
  text_.reserve(text_.size() + protocol_.size + 2 * beside_parts_bytes);
  add_line("connection", "upgrade");
  add_line("upgrade", asked_protocol());
}

void request_text::add_line(std::string_view name, std::string_view value) {
  ++fields_;
  char* out = text_.extend(name.size() + value.size() + 4);
  out = std::ranges::copy(name, out).out;
  *out++ = ':';
  *out++ = ' ';
  out = std::ranges::copy(value, out).out;
  *out++ = '\r';
  *out = '\n';
}

std::optional<protocol_fault> request_text::finish() {
  if (is_too_long()) return describe(fault_kind::head_too_long, 0);
  if (!is_begun_) begin();
  is_malformed_ |= !has_what_it_must();
  if (host_differs_) return describe(fault_kind::host_not_target, 0);
  if (cookie_.size() != 0) add_line("cookie", cookie_.view());
  text_.append("\r\n");
  return std::nullopt;
}

}  // namespace weft::http::http2
