// Public suffixes: names under which anyone can register, such as "com", "co.uk", "github.io".
//
// Contract: internal to http. The list is libpsl's (Debian: libpsl5), which is loaded with the
// first call. Without libpsl, names without a dot count as public suffixes. Any thread.
#pragma once

#include <string_view>

namespace weft::http {

/// `name` is in lower case and in ASCII.
[[nodiscard]] bool is_public_suffix(std::string_view name);

/// Whether the list is there.
[[nodiscard]] bool knows_public_suffixes();

}  // namespace weft::http
