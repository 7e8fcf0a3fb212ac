// URLs without their credentials.
//
// Problem: a URL may have a user with a password, and appears in messages, logs and printed
// options. Contract: "http://***@db.example/" replaces "http://ann:secret@db.example/". In a text
// that is not a URL, everything that may be a user is hidden. Any thread.
//
//   log::warning(weft::format("{} is no proxy", without_user(text)));
#pragma once

#include <string>
#include <string_view>

namespace weft {

[[nodiscard]] std::string without_user(std::string_view text);

/// As without_user(), but only for URLs whose user has a password, and for http and https, whose
/// users may be tokens. Other texts with an "@" are unchanged.
[[nodiscard]] std::string without_password(std::string_view text);

/// As without_password(), of each URL in a text, up to the next blank or quotation mark.
[[nodiscard]] std::string without_passwords(std::string_view text);

}  // namespace weft
