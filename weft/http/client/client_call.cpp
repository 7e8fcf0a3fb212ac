#include <weft/http/client/client_call.hpp>

#include <weft/base/format.hpp>

namespace weft::http {
namespace {

/// More responses of 1xx before the last mean that there is no end to them.
constexpr unsigned interim_most = 16;

}  // namespace

client_call::outcome<bool> client_call::parse_head() {
  interim_bytes_ = 0;
  if (text().empty()) return false;
  switch (parser_.parse(text(), head_, bounds_)) {
    case parse_status::incomplete: return false;
    case parse_status::failed:
      return std::unexpected{malformed(parser_.fault(), parser_.is_too_large())};
    case parse_status::complete: break;
  }
  if (head_.status() == status::switching_protocols)
    return std::unexpected{request_fault{
        errc::protocol_error, "the server changes to a protocol that was not asked for (101)"}};
  if (!head_.is_interim()) return true;
  if (++interim_ > interim_most)
    return std::unexpected{request_fault{
        errc::limit_exceeded,
        weft::format("more than {} responses of 1xx came before the last", interim_most)}};
  interim_bytes_ = head_.size_bytes();
  parser_.reset();
  return false;
}

request_fault client_call::broken_off(error why, std::string_view where) const {
  // The end in good order is none within a message.
  if (why == errc::closed)
    return broken_off(error{errc::reset, why.os_errno()}, "the server closed the connection",
                      where);
  return broken_off(why, why.message(), where);
}

request_fault client_call::broken_off(error why, std::string_view cause,
                                      std::string_view where) const {
  if (is_unheard())
    return {.why = why,
            .message = weft::format("no response came: {}", cause),
            .is_unanswered = why != errc::cancelled && why != errc::timed_out};
  return {why, weft::format("the response broke off within its {}, after {} bytes: {}", where,
                            received_, cause)};
}

request_fault client_call::malformed(const protocol_fault& why, bool is_too_large) const {
  if (!is_too_large)
    return {errc::protocol_error,
            weft::format("the response is no HTTP: {} (byte {})", why.reason, why.offset_bytes)};
  return {errc::limit_exceeded,
          weft::format("the response is more than is taken: {} (limits: {} bytes of head, {} of "
                       "body)",
                       why.reason, core_.options.head_bytes, core_.options.body_bytes)};
}

}  // namespace weft::http
