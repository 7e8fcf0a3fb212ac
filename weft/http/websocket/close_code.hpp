// Why a WebSocket was closed, as it is said on the wire (RFC 6455 section 7.4).
//
// Contract: a close_code is its number. Those from 3000 to 4999 are for programs and libraries to
// give a meaning to, and may be cast to it; none of the others without a name here may be sent.
// no_status and abnormal are never on the wire: they tell that a close frame had no code, and that
// there was no close frame.
//
//   co_await socket.close(close_code{4001}, "the room is full");
#pragma once

#include <cstdint>
#include <utility>

namespace weft::http {

enum class close_code : std::uint16_t {
  normal = 1000,
  going_away = 1001,
  protocol_error = 1002,
  unsupported_data = 1003,
  no_status = 1005,
  abnormal = 1006,
  invalid_data = 1007,  // such as text that is no UTF-8
  policy_violation = 1008,
  message_too_big = 1009,
  missing_extension = 1010,
  internal_error = 1011,
  service_restart = 1012,
  try_again_later = 1013,
  bad_gateway = 1014,
};

/// Whether it may stand in a close frame.
[[nodiscard]] constexpr bool may_be_sent(close_code code) noexcept {
  const unsigned number = std::to_underlying(code);
  if (number >= 3000) return number <= 4999;
  return number >= 1000 && number <= 1014 && number != 1004 && code != close_code::no_status &&
         code != close_code::abnormal;
}

}  // namespace weft::http
