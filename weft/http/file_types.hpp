// What kind of text a file is, by the end of its name.
//
// Contract: the last extension decides, in any case; "application/octet-stream" where it is not
// known, which browsers download and do not run. Text comes with "charset=utf-8". Send
// "X-Content-Type-Options: nosniff" along. Static storage.
//
//   media_type_of_file("site/main.CSS");   // "text/css; charset=utf-8"
#pragma once

#include <string_view>

namespace weft::http {

[[nodiscard]] std::string_view media_type_of_file(std::string_view name) noexcept;

// Whether such a file gets shorter by a content coding: pictures, films and archives do not.
[[nodiscard]] bool is_compressible(std::string_view media_type) noexcept;

}  // namespace weft::http
