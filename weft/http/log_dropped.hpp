// The line of the log for a connection, or another thing, that ends because of an exception.
//
// Contract: internal to http. Allocates nothing: the exception may be std::bad_alloc.
#pragma once

#include <exception>
#include <string_view>

#include <weft/base/log_parts.hpp>

namespace weft::http {

[[gnu::cold]] inline void log_dropped(const std::exception& why,
                                      std::string_view what = "a connection") noexcept {
  log::error_of({what, " is dropped: ", why.what()});
}

}  // namespace weft::http
