#include <apps/weftd/api_description.hpp>

#include <apps/weftd/api_reply.hpp>

namespace weftd {

namespace http = weft::http;

http::described_reply fault_reply(api_version spoken, http::status code) {
  if (spoken == api_version::v0_1_0)
    return {.code = code, .media_type = "text/plain; charset=utf-8"};
  return {.code = code, .content = &weft::json::shape_of<fault_document>};
}

http::route_description describe(api_version spoken, const route_text& text,
                                 weft::json::shape_function request,
                                 weft::json::shape_function reply) {
  using enum http::status;
  http::route_description made{.summary = text.summary,
                               .description = text.description,
                               .tags = {text.tag},
                               // These the server may give by itself, too.
                               .errors = {bad_request, not_found, internal_server_error,
                                          service_unavailable, gateway_timeout},
                               .replies = {{.code = ok, .text = text.success, .content = reply}},
                               .body = request,
                               .example = text.example};
  for (const http::status each : made.errors) made.replies.push_back(fault_reply(spoken, each));
  for (const http::status each : {unauthorized, too_many_requests})
    made.replies.push_back(fault_reply(spoken, each));
  for (const http::status each : text.faults) made.replies.push_back(fault_reply(spoken, each));
  return made;
}

}  // namespace weftd
