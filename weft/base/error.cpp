#include <weft/base/error.hpp>

#include <weft/base/assert.hpp>
#include <weft/base/error_code.hpp>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

namespace weft {

namespace {

struct description {
  const char* name;       // the enumerator
  const char* text;       // for people
  std::errc condition{};  // the standard condition that means just this; 0: there is none
};

// By number, so the order is that of errc; 0 stands for every value outside the list.
constexpr std::array descriptions = {
    description{"unknown", "unknown error"},
    description{"cancelled", "cancelled", std::errc::operation_canceled},
    description{"timed_out", "timed out", std::errc::timed_out},
    description{"closed", "closed"},
    description{"reset", "connection reset", std::errc::connection_reset},
    description{"refused", "connection refused", std::errc::connection_refused},
    description{"limit_exceeded", "limit exceeded"},
    description{"invalid_argument", "invalid argument", std::errc::invalid_argument},
    description{"protocol_error", "protocol error", std::errc::protocol_error},
    description{"address_in_use", "address in use", std::errc::address_in_use},
    description{"not_found", "not found"},
    description{"exhausted", "resources exhausted"},
    description{"unsupported", "not supported", std::errc::not_supported},
    description{"unavailable", "unavailable"},
    description{"system", "system error"},
};
static_assert(descriptions.size() == static_cast<std::size_t>(errc::system) + 1);

const description& describe(errc code) noexcept {
  const auto index = static_cast<std::size_t>(code);
  return descriptions[index < descriptions.size() ? index : 0];
}

errc classify(int os_errno) noexcept {
  switch (os_errno) {
    case ECANCELED: return errc::cancelled;
    case ETIMEDOUT:
    case ETIME:  // how io_uring reports a linked timeout
      return errc::timed_out;
    case ENOTCONN:
    case ESHUTDOWN: return errc::closed;
    case ECONNRESET:
    case ECONNABORTED:
    case EPIPE: return errc::reset;
    case ECONNREFUSED: return errc::refused;
    case EMSGSIZE: return errc::limit_exceeded;
    case EINVAL: return errc::invalid_argument;
    case EPROTO:
    case EBADMSG: return errc::protocol_error;
    case EADDRINUSE: return errc::address_in_use;
    case ENOENT: return errc::not_found;
    case EAGAIN:  // as of a thread that cannot be started
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case ENOSPC:
    case EDQUOT: return errc::exhausted;
    case ENOSYS:
    case EOPNOTSUPP:
    case EAFNOSUPPORT:
    case EPROTONOSUPPORT:
    case ENOPROTOOPT: return errc::unsupported;
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case ENETUNREACH:
    case ENETDOWN:
    case EADDRNOTAVAIL: return errc::unavailable;
    default: return errc::system;
  }
}

class weft_category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "weft"; }

  [[nodiscard]] std::string message(int value) const override {
    return describe(static_cast<errc>(value)).text;
  }

  [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
    const std::errc condition = describe(static_cast<errc>(value)).condition;
    if (condition == std::errc{}) return {value, *this};
    return std::make_error_condition(condition);
  }
};

}  // namespace

const char* to_string(errc code) noexcept { return describe(code).name; }

error error::from_errno(int os_errno) noexcept {
  WEFT_DEBUG_ASSERT(os_errno > 0, "pass a positive errno; io_uring gives it negated");
  return {classify(os_errno), os_errno};
}

std::string error::message() const {
  std::string text = describe(code_).text;
  if (os_errno_ != 0) {
    text += " (" + std::system_category().message(os_errno_) + ", errno " +
            std::to_string(os_errno_) + ")";
  }
  return text;
}

const std::error_category& error_category() noexcept {
  static const weft_category category;
  return category;
}

std::error_code make_error_code(error from) noexcept {
  if (from.code() == errc::system && from.os_errno() != 0) {
    return {from.os_errno(), std::system_category()};
  }
  return {static_cast<int>(from.code()), error_category()};
}

}  // namespace weft
