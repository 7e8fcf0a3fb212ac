// What a server's routes take and give, as an OpenAPI 3.1 document.
//
// Contract: of each route that is not hidden: its parameters, its body and its replies, as the
// handler's type says (handler_shape.hpp), and what was said of it (route_handler.hpp). Objects
// are definitions of their own, as json::schema_set names them. Whatever the server may answer by
// itself is a problem document: the `default` response. Routes that differ only in the names of
// their parameters are one path, under the names of the first by method; "{*rest}" is a parameter
// like others, since OpenAPI knows no other. The same routes give the same text, in whatever order
// they were added. Not on a hot path.
//
//   const std::string text = openapi_document({.title = "shop"}, server.routes());
#pragma once

#include <string>
#include <vector>

#include <weft/http/route_view.hpp>

namespace weft::http {

struct openapi_info {
  std::string title{};
  std::string version{};
  std::string description{};  // CommonMark; empty: none
};

[[nodiscard]] std::string openapi_document(const openapi_info& info,
                                           std::vector<route_view> routes);

}  // namespace weft::http
