#include <weft/net/address_book.hpp>

#include <format>
#include <string>
#include <utility>

#include <weft/base/log.hpp>

namespace weft::net {
namespace {

std::string explain(std::string_view text, error why) {
  if (why == errc::invalid_argument)
    return std::format(
        "'{}' is no address to listen on: write ADDRESS:PORT, [IPV6]:PORT, :PORT or unix:PATH",
        text);
  if (why == errc::address_in_use)
    return std::format(
        "{} is in use by another program; `ss -tlnp` shows which, or choose another port", text);
  return std::format("cannot listen on {}: {}", text, why.message());
}

}  // namespace

result<endpoint> address_book::claim(std::string_view text) {
  const std::lock_guard lock{mutex_};
  for (const entry& known : entries_)
    if (known.text == text) return known.claim.address();
  const auto wanted = endpoint::parse(text);
  if (!wanted) return fail(wanted.error());
  auto claimed = address_claim::take(*wanted);
  if (!claimed) return fail(claimed.error());
  entries_.push_back({.text = std::string{text}, .claim = std::move(*claimed)});
  log::info(std::format("listening on {}", entries_.back().claim.address().to_string()));
  return entries_.back().claim.address();
}

result<tcp_listener> address_book::listen(event_loop& loop, std::string_view text, int backlog) {
  // What no other program can hold needs no claim.
  const bool shared = loop.io().has_machine_addresses();
  const auto address = shared ? claim(text) : endpoint::parse(text);
  auto listener = address
                      ? tcp_listener::bind(loop, *address, {.backlog = backlog, .shared = shared})
                      : result<tcp_listener>{fail(address.error())};
  if (!listener) log::error(explain(text, listener.error()));
  return listener;
}

}  // namespace weft::net
