#include <weft/net/address_book.hpp>

#include <utility>

namespace weft::net {

result<endpoint> address_book::claim(std::string_view text) {
  const std::lock_guard lock{mutex_};
  for (const entry& known : entries_)
    if (known.text == text) return known.claim.address();
  const auto wanted = endpoint::parse(text);
  if (!wanted) return fail(wanted.error());
  auto claimed = address_claim::take(*wanted);
  if (!claimed) return fail(claimed.error());
  entries_.push_back({.text = std::string{text}, .claim = std::move(*claimed)});
  return entries_.back().claim.address();
}

}  // namespace weft::net
