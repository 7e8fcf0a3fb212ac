#include <weft/net/address_book.hpp>

#include <string>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/net/activation.hpp>
#include <weft/net/connection_spread.hpp>
#include <weft/net/tls_ticket_keys.hpp>

namespace weft::net {
namespace {

std::string explain(std::string_view text, error why) {
  if (is_activated(text)) {
    const auto found = activated_socket(text, activation_environment());
    return found ? weft::format("cannot listen on '{}': {}", text, why.message()) : found.error();
  }
  if (why == errc::invalid_argument)
    return weft::format(
        "'{}' is no address to listen on: write ADDRESS:PORT, [IPV6]:PORT, :PORT, unix:PATH or "
        "systemd:NAME",
        text);
  if (why == errc::not_found && !zone_of(text).empty())
    return weft::format("cannot listen on {}: {}", text, no_such_zone(text));
  if (why == errc::address_in_use)
    return weft::format(
        "{} is in use by another program; `ss -tulnp` shows which, or choose another port", text);
  return weft::format("cannot listen on {}: {}", text, why.message());
}

result<address_claim> take_claim(std::string_view text, unsigned unix_mode) {
  if (is_activated(text)) {
    const auto passed_on = activated_socket(text, activation_environment());
    return passed_on ? address_claim::borrow(*passed_on) : fail(errc::unavailable);
  }
  const auto wanted = endpoint::parse(text);
  if (!wanted) return fail(wanted.error());
  return address_claim::take(*wanted, unix_mode);
}

}  // namespace

std::optional<std::string> address_fault(std::string_view text) {
  if (is_activated(text)) return std::nullopt;
  if (const auto wanted = endpoint::parse(text); !wanted) return explain(text, wanted.error());
  return std::nullopt;
}

result<address_book::share> address_book::join(std::string_view text, const listen_terms& terms) {
  const std::lock_guard lock{mutex_};
  for (const entry& known : entries_)
    if (known.text == text) return share{known.claim.address(), known.claim.options(terms.backlog)};
  auto claimed = take_claim(text, terms.unix_mode);
  if (!claimed) return fail(claimed.error());
  entries_.push_back({.text = std::string{text}, .claim = std::move(*claimed)});
  const address_claim& taken = entries_.back().claim;
  log::info(weft::format("listening on {}", taken.address().to_string()));
  return share{taken.address(), taken.options(terms.backlog)};
}

result<endpoint> address_book::claim(std::string_view text) {
  return join(text, {}).transform([](const share& s) { return s.address; });
}

result<tcp_listener> address_book::listen(event_loop& loop, std::string_view text,
                                          const listen_terms& terms) {
  auto listener = [&]() -> result<tcp_listener> {
    if (!loop.io().has_machine_addresses()) {
      // What no other program can hold needs no claim.
      const auto address = endpoint::parse(text);
      if (!address) return fail(address.error());
      return tcp_listener::bind(loop, *address, {.backlog = terms.backlog, .shared = true});
    }
    auto joined = join(text, terms);
    if (!joined) return fail(joined.error());
    joined->options.deferred = terms.deferred;
    return tcp_listener::bind(loop, joined->address, joined->options);
  }();
  if (!listener) log::error(explain(text, listener.error()));
  return listener;
}

result<udp_socket> address_book::join_datagrams(event_loop& loop, std::string_view text) {
  const auto wanted = endpoint::parse(text);
  if (!wanted) return fail(wanted.error());
  if (!loop.io().has_machine_addresses()) return udp_socket::bind(loop, *wanted);
  const std::lock_guard lock{mutex_};
  for (const datagram_entry& known : datagram_entries_)
    if (known.text == text) return udp_socket::bind(loop, known.address, address_sharing::joins);
  auto first = udp_socket::bind(loop, *wanted, address_sharing::first);
  if (!first) return first;
  const auto address = first->local_endpoint();
  if (!address) return fail(address.error());
  datagram_entries_.push_back({.text = std::string{text}, .address = *address});
  log::info(weft::format("receiving datagrams on {}", address->to_string()));
  return first;
}

std::shared_ptr<connection_spread> address_book::spread(std::string_view text, unsigned shards) {
  const std::lock_guard lock{mutex_};
  for (const spread_entry& known : spread_entries_)
    if (known.text == text) return known.spread;
  spread_entries_.push_back({std::string{text}, std::make_shared<connection_spread>(shards)});
  return spread_entries_.back().spread;
}

std::shared_ptr<tls_ticket_keys> address_book::ticket_keys(std::string_view text) {
  const std::lock_guard lock{mutex_};
  for (const ticket_entry& known : ticket_entries_)
    if (known.text == text) return known.keys;
  ticket_entries_.push_back({std::string{text}, std::make_shared<tls_ticket_keys>()});
  return ticket_entries_.back().keys;
}

result<udp_socket> address_book::bind_datagrams(event_loop& loop, std::string_view text) {
  auto socket = join_datagrams(loop, text);
  if (!socket) log::error(explain(text, socket.error()));
  return socket;
}

}  // namespace weft::net
