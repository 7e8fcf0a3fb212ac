// What the routes of the API take and give, as /openapi.json has it.
//
// Contract: made once a route, as it is added. A fault is told as the version does (api_fault.hpp);
// what the server refuses by itself, before a handler is asked, is a problem document.
//
//   api.post("/batch", http::described(read, describe<batch_read_request, batch_reply>(
//       spoken, {.summary = "Reads many rows"})));
#pragma once

#include <initializer_list>
#include <string>

#include <weft/http/route_handler.hpp>
#include <weft/json/shape.hpp>

#include <apps/weftd/api_fault.hpp>

namespace weftd {

class access;

struct route_text {
  std::string summary{};
  std::string description{};  // CommonMark
  std::string example{};      // a request to the demo database
  std::string tag = "rows";
  std::string success{};  // what a reply with 200 means; empty: no more than that
  /// Beside those that every route has.
  std::initializer_list<weft::http::status> faults{};
};

/// Of a route that reads a JSON document and gives one.
[[nodiscard]] weft::http::route_description describe(api_version spoken, const route_text& text,
                                                     weft::json::shape_function request,
                                                     weft::json::shape_function reply);

template <class Request, class Reply>
[[nodiscard]] weft::http::route_description describe(api_version spoken, const route_text& text) {
  return describe(spoken, text, &weft::json::shape_of<Request>, &weft::json::shape_of<Reply>);
}

/// Of a route to which `doors` lets in: says so where keys are used.
[[nodiscard]] weft::http::route_description guarded(const access& doors, api_version spoken,
                                                    weft::http::route_description route);

/// How a fault of this status is told.
[[nodiscard]] weft::http::described_reply fault_reply(api_version spoken, weft::http::status code);

}  // namespace weftd
