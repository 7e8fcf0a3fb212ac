#include <weft/http/client/request_fault.hpp>

#include <weft/base/format.hpp>
#include <weft/base/without_user.hpp>

namespace weft::http {

client_error describe_fault(const outgoing_request& asked, request_fault why) {
  return {why.why,
          weft::format("{} {}: {}", to_string(asked.how), without_user(asked.url), why.message),
          why.answered};
}

}  // namespace weft::http
