#include <weft/net/resolver.hpp>

#include <utility>

#include <weft/loop/backend.hpp>
#include <weft/net/resolver_state.hpp>

namespace weft::net {
namespace {

/// errc::invalid_argument: it is none.
result<endpoint> numeric(const std::string& name, std::uint16_t port) {
  const bool is_ipv6 = name.contains(':');
  return endpoint::parse((is_ipv6 ? '[' + name + ']' : name) + ':' + std::to_string(port));
}

}  // namespace

result<resolver> resolver::create(event_loop& loop, const resolver_options& options) {
  resolver made{*new detail::resolver_state{loop}};
  if (const auto opened = made.state_->open(options); !opened) return fail(opened.error());
  return made;
}

resolver::resolver(resolver&& other) noexcept : state_{std::exchange(other.state_, nullptr)} {}

resolver::~resolver() {
  if (state_ != nullptr) state_->abandon();
}

void resolver::reload() noexcept { state_->look_at_file_next(); }

task<result<std::vector<endpoint>>> resolver::resolve(std::string name, std::uint16_t port,
                                                      int family) {
  // c-ares would read up to it and take the rest for granted.
  if (name.empty() || name.contains('\0')) co_return fail(errc::invalid_argument);
  const auto address = numeric(name, port);
  if (address) {
    if (family != AF_UNSPEC && family != address->family()) co_return fail(errc::not_found);
    co_return std::vector{*address};
  }
  if (address.error() != errc::invalid_argument) co_return fail(address.error());
  // The servers are the machine's, and its sockets c-ares's own.
  if (!state_->loop().io().has_machine_addresses()) co_return fail(errc::unsupported);
  co_return co_await detail::lookup_wait{*state_, name, port, family};
}

}  // namespace weft::net
