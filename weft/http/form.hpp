// Forms as browsers send them: application/x-www-form-urlencoded (URL Standard section 5.1); query
// strings have the same shape.
//
// Contract: a form_reader gives one pair after the other, in order, with "+" and escapes decoded
// into memory of the caller's, which the pairs' views look into: as many bytes as the text has are
// always enough, and the text's own will do, which it then overwrites. Empty pieces ("&&") are
// passed over. Stricter than the URL Standard: an escape that is none ("%zz") is an error, since
// what follows us may read it otherwise. Decoded text may hold any byte, NUL too, and need not be
// UTF-8. Allocates nothing. Single thread.
//
//   std::string body{r.body()};
//   http::form_reader form{body, body};
//   for (auto pair = form.next(); pair && *pair; pair = form.next())
//     take((*pair)->name, (*pair)->value);
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include <weft/base/result.hpp>

namespace weft::http {

struct form_pair {
  std::string_view name;
  std::string_view value;  // empty for "name" and for "name="
};

class form_reader {
 public:
  static constexpr std::size_t default_pairs_max = 1000;

  // `room` is `encoded`'s own memory or apart from it, and not smaller. Both outlive the pairs.
  form_reader(std::string_view encoded, std::span<char> room,
              std::size_t pairs_max = default_pairs_max) noexcept;

  // Nothing after the last pair. errc::invalid_argument: a malformed escape;
  // errc::limit_exceeded: more than `pairs_max` pairs. Every later call then says the same.
  [[nodiscard]] result<std::optional<form_pair>> next() noexcept;

 private:
  [[nodiscard]] std::optional<std::string_view> decode(std::string_view text) noexcept;

  std::string_view rest_;
  std::span<char> room_;
  std::size_t pairs_left_;
  std::optional<errc> failed_;
};

}  // namespace weft::http
