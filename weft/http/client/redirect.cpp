#include <weft/http/client/redirect.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/without_user.hpp>
#include <weft/http/headers.hpp>
#include <weft/http/target.hpp>

namespace weft::http {
namespace {

constexpr std::array<std::string_view, 2> credentials = {"Authorization", "Cookie"};
/// Of a body that is not sent any more (RFC 9110 section 15.4).
constexpr std::array<std::string_view, 4> about_bodies = {"Content-Type", "Content-Encoding",
                                                          "Content-Language", "Content-Location"};

bool is_same_origin(const url_parts& left, const url_parts& right) noexcept {
  return left.scheme == right.scheme && left.port == right.port &&
         equals_ignoring_case(left.host, right.host) && left.zone == right.zone;
}

/// Whether `text` begins with a scheme (RFC 3986 section 3.1).
bool has_scheme(std::string_view text) noexcept {
  const auto is_letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
  const auto may_follow = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  };
  const std::size_t end = text.find(':');
  return end != std::string_view::npos && end != 0 && is_letter(text[0]) &&
         std::ranges::all_of(text.substr(1, end - 1), may_follow);
}

std::string in_zone_of(const url_parts& base, std::string url) {
  if (base.zone.empty()) return url;
  std::string room;
  auto parts = read_url(url, room);
  if (!parts || !parts->zone.empty() || !equals_ignoring_case(parts->host, base.host)) return url;
  parts->zone = base.zone;
  return origin_text(*parts).append(parts->target);
}

}  // namespace

std::string resolve_reference(const url_parts& base, std::string_view reference) {
  reference = reference.substr(0, reference.find('#'));
  if (has_scheme(reference)) return in_zone_of(base, std::string{reference});
  if (reference.starts_with("//"))
    return in_zone_of(base, weft::format("{}:{}", to_string(base.scheme), reference));
  const std::string origin = origin_text(base);
  if (reference.starts_with('/')) return origin + std::string{reference};
  if (reference.empty()) return origin + std::string{base.target};
  const std::string_view path = base.target.substr(0, base.target.find('?'));
  if (reference.starts_with('?')) return weft::format("{}{}{}", origin, path, reference);
  const std::string_view folder = path.substr(0, path.rfind('/') + 1);
  return weft::format("{}{}{}", origin, folder.empty() ? "/" : folder, reference);
}

bool redirect_trail::leads_on(const response_head& head) const noexcept {
  if (most_ == 0 || !head.headers().find("location")) return false;
  switch (head.status()) {
    case status::moved_permanently:
    case status::found:
    case status::see_other:
    case status::temporary_redirect:
    case status::permanent_redirect: return true;
    default: return false;
  }
}

std::expected<void, request_fault> redirect_trail::step(const response_head& head) {
  const std::string_view location = *head.headers().find("location");
  if (left_ == 0)
    return std::unexpected{request_fault{
        errc::limit_exceeded, weft::format("redirected more than {} times, at last to {}", most_,
                                           without_user(location))}};
  --left_;
  std::string next = resolve_reference(to_, location);
  std::string room;
  const auto parts = read_url(next, room);
  if (!parts)
    return std::unexpected{
        request_fault{errc::protocol_error,
                      weft::format("redirected to {}: {}", without_user(next), parts.error())}};
  if (to_.scheme == scheme::https && parts->scheme == scheme::http)
    return std::unexpected{
        request_fault{errc::protocol_error,
                      weft::format("redirected from https to {}, which anybody could read", next)}};
  if (!is_same_origin(to_, *parts)) leave_out(credentials);
  change_method(head.status());
  url_ = std::move(next);
  asked_.url = url_;
  to_ = *read_url(url_, url_room_);
  return {};
}

void redirect_trail::change_method(status answered) {
  const bool becomes_get = (answered == status::see_other && asked_.how != method::head) ||
                           ((answered == status::moved_permanently || answered == status::found) &&
                            asked_.how == method::post);
  if (!becomes_get) return;
  asked_.how = method::get;
  asked_.body = {};
  asked_.has_body = false;
  leave_out(about_bodies);
}

void redirect_trail::leave_out(std::span<const std::string_view> names) {
  std::string kept;
  for (std::string_view rest = asked_.fields; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n') + 1);
    rest.remove_prefix(line.size());
    const std::string_view name = line.substr(0, line.find(':'));
    if (!std::ranges::any_of(
            names, [name](std::string_view each) { return equals_ignoring_case(name, each); }))
      kept.append(line);
  }
  fields_ = std::move(kept);
  asked_.fields = fields_;
}

}  // namespace weft::http
