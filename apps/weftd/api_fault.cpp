#include <apps/weftd/api_fault.hpp>

#include <string_view>
#include <utility>

#include <weft/http/exchange.hpp>
#include <weft/json/write.hpp>
#include <weft/store/failure.hpp>

#include <apps/weftd/api_reply.hpp>

namespace weftd {

namespace {

weft::http::status status_of(weft::store::failure_kind kind) noexcept {
  switch (kind) {
    case weft::store::failure_kind::duplicate_key: return weft::http::status::conflict;
    case weft::store::failure_kind::constraint:
    case weft::store::failure_kind::invalid: return weft::http::status::bad_request;
    case weft::store::failure_kind::read_only: return weft::http::status::forbidden;
    case weft::store::failure_kind::full: return weft::http::status::insufficient_storage;
    case weft::store::failure_kind::too_large: return weft::http::status::content_too_large;
    default: return weft::http::status::internal_server_error;
  }
}

}  // namespace

api_fault fault_of(const weft::store::failure& why) {
  std::string message{why.message};
  if (why.kind == weft::store::failure_kind::busy ||
      why.kind == weft::store::failure_kind::no_memory)
    return try_again(std::move(message));
  return {status_of(why.kind), std::move(message)};
}

std::unexpected<api_fault> refuse_unserved(const weft::store::failure& why) {
  api_fault made = fault_of(why);
  made.is_of_schema = true;
  return std::unexpected{std::move(made)};
}

void reply(weft::http::exchange& e, const api_fault& why, api_version spoken) {
  if (spoken == api_version::v0_1_0)
    return e.reply(why.code, "text/plain; charset=utf-8", why.message, why.fields);
  const fault_document document{
      {.code = static_cast<std::int32_t>(why.code), .message = why.message}};
  std::string text;
  weft::json::write(document, text);
  e.reply(why.code, "application/json", text, why.fields);
}

}  // namespace weftd
