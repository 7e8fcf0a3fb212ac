// A route of a server, for whoever tells of it.
//
// Contract: plain data, which looks at what the server keeps: until a route is added or ends. One
// shard.
//
//   for (const http::route_view& each : server.routes()) print(each.asked, each.pattern);
#pragma once

#include <string_view>

#include <weft/http/handler_shape.hpp>
#include <weft/http/method.hpp>

namespace weft::http {

struct route_description;

struct route_view {
  method asked{};
  std::string_view pattern{};
  const handler_shape* shape = nullptr;     // never nullptr
  const route_description* text = nullptr;  // nullptr: nothing is said of it
};

}  // namespace weft::http
