// Where a request's time went, for the developer tools of browsers (Server Timing, W3C).
//
// Contract: appends "name;dur=1.234" and, where there is one, ";desc=\"...\"", after ", " where
// there is something before it: the value of one Server-Timing field. Milliseconds with three
// digits. It tells everyone who may read the reply: send it to those you trust alone. Allocates
// only what `out` does.
//
//   std::string value;
//   (void)http::append_server_timing(value, "db", query_time);
//   (void)http::append_server_timing(value, "cache", {}, "hit");  // db;dur=1.200, cache;desc="hit"
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>

namespace weft::http {

// errc::invalid_argument, and nothing was appended: the name is no token, or the description holds
// a control character.
[[nodiscard]] result<> append_server_timing(std::string& out, std::string_view name,
                                            std::optional<duration> length,
                                            std::string_view description = {});

}  // namespace weft::http
