// Why a request was not done, as clients of the RonDB REST server's API are told.
//
// Contract: made on failing paths only; the message is one clause of UTF-8 that names the value
// and, where it can, what would be right. What is said to clients of version 0.1.0 is the message
// as text; of 0.2.0 a JSON object (docs/weftd.md). Of a batch's single operations only 0.2.0 says
// more than the status.
//
//   if (name.empty()) return std::unexpected{bad_request("identifier is empty")};
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include <weft/http/status.hpp>

namespace weft::http {
class exchange;
}

namespace weft::store {
struct failure;
}

namespace weftd {

enum class api_version : std::uint8_t { v0_1_0, v0_2_0 };

/// Of its paths: "/0.1.0".
[[nodiscard]] constexpr std::string_view prefix_of(api_version spoken) noexcept {
  return spoken == api_version::v0_1_0 ? "/0.1.0" : "/0.2.0";
}

struct api_fault {
  weft::http::status code = weft::http::status::bad_request;
  std::string message;
  std::string fields{};       // of the reply's head, each with its line end
  bool is_of_schema = false;  // by the schema as it was looked at last: it may be right by now
};

[[nodiscard]] inline api_fault bad_request(std::string message) {
  return {weft::http::status::bad_request, std::move(message)};
}

[[nodiscard]] inline std::unexpected<api_fault> refuse(std::string message) {
  return std::unexpected{bad_request(std::move(message))};
}

/// Of what the schema does not have, or does not allow.
[[nodiscard]] inline std::unexpected<api_fault> refuse_unknown(
    std::string message, weft::http::status code = weft::http::status::bad_request) {
  return std::unexpected{api_fault{code, std::move(message), {}, true}};
}

/// There is too much to do just now.
[[nodiscard]] inline api_fault try_again(std::string message) {
  return {weft::http::status::service_unavailable, std::move(message), "Retry-After: 1\r\n"};
}

[[nodiscard]] inline api_fault no_memory() {
  return try_again("there is no memory for a reply of this size now: try again, or ask for less");
}

/// Of a reply that is larger than all memory that replies may have.
[[nodiscard]] inline api_fault never_memory() {
  return {weft::http::status::content_too_large,
          "the reply has more bytes than the memory budget (application.memory_bytes) has room "
          "for: ask for fewer rows or columns at once, or raise the budget"};
}

[[nodiscard]] inline api_fault no_memory_for_request() {
  return try_again("there is no memory for a request of this size now: try again, or send less");
}

/// The engine has no rows just now: its server is not to be had.
[[nodiscard]] inline api_fault not_reachable() {
  return try_again("the database server cannot be reached now: try again later");
}

/// Of what an engine has failed to do.
[[nodiscard]] api_fault fault_of(const weft::store::failure& why);
/// Of a database that is not served now, and may be after another look at the schema.
[[nodiscard]] std::unexpected<api_fault> refuse_unserved(const weft::store::failure& why);

/// As the reply to the whole request.
void reply(weft::http::exchange& e, const api_fault& why, api_version spoken);

}  // namespace weftd
