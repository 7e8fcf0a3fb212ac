// Why a request came to nothing, before it is said of which.
//
// Contract: internal to http; client_error is what callers see.
#pragma once

#include <optional>
#include <string>

#include <weft/base/error.hpp>
#include <weft/http/client/client_error.hpp>
#include <weft/http/client/outgoing_request.hpp>
#include <weft/http/status.hpp>

namespace weft::http {

struct request_fault {
  error why;
  std::string message;
  std::optional<status> answered{};  // whole, but not what was asked for
  bool is_unanswered = false;        // not a byte came, though there was time
};

/// As callers see it.
[[nodiscard]] client_error describe_fault(const outgoing_request& asked, request_fault why);

}  // namespace weft::http
