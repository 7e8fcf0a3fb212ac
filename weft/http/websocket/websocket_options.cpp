#include <weft/http/websocket/websocket_options.hpp>

#include <string_view>

#include <weft/base/format.hpp>
#include <weft/http/field_syntax.hpp>

namespace weft::http {
namespace {

constexpr duration shortest = std::chrono::milliseconds{1};

std::string fault_of_limits(const websocket_limits& limits) {
  if (limits.message_bytes == 0) return "websocket_limits::message_bytes is 0: at least 1";
  struct named {
    std::string_view name;
    duration value;
  };
  for (const named& each :
       {named{"ping_interval", limits.ping_interval}, named{"pong_timeout", limits.pong_timeout},
        named{"write_stall_timeout", limits.write_stall_timeout},
        named{"close_timeout", limits.close_timeout}})
    if (each.value < shortest)
      return weft::format("websocket_limits::{} is {} ns: at least 1 ms", each.name,
                          each.value.count());
  return {};
}

std::string fault_of_subprotocols(const std::vector<std::string>& all) {
  for (const std::string& each : all)
    if (!field_syntax::is_token(each))
      return weft::format(
          "websocket_options::subprotocols has \"{}\": each is a token (RFC 9110 section 5.6.2)",
          each);
  return {};
}

template <class Options>
std::string fault_of_both(const Options& options) {
  std::string fault = fault_of_limits(options.limits);
  return fault.empty() ? fault_of_subprotocols(options.subprotocols) : fault;
}

}  // namespace

std::string fault_of(const websocket_options& options) { return fault_of_both(options); }

std::string fault_of(const websocket_client_options& options) { return fault_of_both(options); }

}  // namespace weft::http
