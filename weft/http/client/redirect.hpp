// Where a response sends the client to instead.
//
// Contract: internal to http. A trail begins with what the caller has asked and takes a step for
// each redirect that it is to follow. What is asked next follows from RFC 9110 section 15.4: after
// 303 a GET, after 301 and 302 a GET instead of a POST, otherwise the same method with the same
// body; HEAD stays HEAD. The fields that prove who asks (Authorization, Cookie) are left out once
// the way has led to another scheme, host or port, and for good. The way from https to http is not
// taken. One request's; allocates with the first step only.
//
//   redirect_trail trail{asked, to, 5};
//   while (trail.leads_on(head) && trail.step(head)) ask(trail.asked(), trail.to());
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>

#include <weft/http/client/outgoing_request.hpp>
#include <weft/http/client/request_fault.hpp>
#include <weft/http/client/response_head.hpp>
#include <weft/http/client/url.hpp>

namespace weft::http {

/// The URL that `reference` means in a response to a request for `base` (RFC 3986 section 5.2),
/// without a fragment, for read_url(). If the base has a zone, a reference to the same host keeps
/// it, since servers cannot know it.
[[nodiscard]] std::string resolve_reference(const url_parts& base, std::string_view reference);

class redirect_trail {
 public:
  redirect_trail(const outgoing_request& first, const url_parts& to, unsigned most) noexcept
      : asked_{first}, to_{to}, left_{most}, most_{most} {}
  redirect_trail(const redirect_trail&) = delete;
  redirect_trail& operator=(const redirect_trail&) = delete;

  /// Whether `head`, which answers asked(), is to be followed.
  [[nodiscard]] bool leads_on(const response_head& head) const noexcept;
  /// Follows it. errc::limit_exceeded: there were too many; errc::protocol_error: to nowhere.
  [[nodiscard]] std::expected<void, request_fault> step(const response_head& head);

  [[nodiscard]] const outgoing_request& asked() const noexcept { return asked_; }
  [[nodiscard]] const url_parts& to() const noexcept { return to_; }

 private:
  void change_method(status answered);
  void leave_out(std::span<const std::string_view> names);

  outgoing_request asked_;
  url_parts to_;
  unsigned left_;
  unsigned most_;
  std::string url_;
  std::string url_room_;  // of read_url()
  std::string fields_;
};

}  // namespace weft::http
