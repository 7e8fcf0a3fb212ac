// What this server takes and gives, for people's tools and for programs that make clients.
//
// Contract: a service that answers GET at `path` with an OpenAPI 3.1 document (openapi.hpp) of the
// routes that there are now, its own left out. Made when it is asked for and the routes have
// changed, kept until they change again; with an entity tag, so that who has it already is sent
// nothing (304). It tells everyone who may ask what there is to ask for: add the service where that
// is meant to be known, and hide the routes that are not. One shard.
//
//   app.add<http::server>();
//   app.add<http::openapi_page>({.title = "Shop", .version = "1.2.0"});
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <weft/http/openapi.hpp>
#include <weft/http/server.hpp>
#include <weft/loop/shared_text.hpp>

namespace weft::http {

struct openapi_page_options {
  std::string title = "API";
  std::string version = "1.0.0";
  std::string description{};
  std::string path = "/openapi.json";
};

class openapi_page {
 public:
  using options = openapi_page_options;

  openapi_page(openapi_page_options options, server& http);

 private:
  void make();
  void answer(exchange& e);

  openapi_info info_;
  server& http_;
  std::optional<std::uint64_t> made_for_;  // how often the routes had changed by then
  shared_text text_;
  std::string tag_;  // without quotes
};

}  // namespace weft::http
