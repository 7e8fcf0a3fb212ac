#include <apps/weftd/api_description.hpp>

#include <apps/weftd/access.hpp>
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
  for (const http::status each : text.faults) made.replies.push_back(fault_reply(spoken, each));
  // And these by itself alone, where the handler does not.
  made.errors.push_back(too_many_requests);
  if (request != nullptr) made.errors.push_back(content_too_large);
  return made;
}

http::route_description guarded(const access& doors, api_version spoken,
                                http::route_description route) {
  // Without keys: what a page of another site asks for.
  route.replies.push_back(fault_reply(spoken, http::status::unauthorized));
  if (!doors.uses_keys()) return route;
  route.replies.push_back(fault_reply(spoken, http::status::too_many_requests));
  route.key_header = key_header;
  return route;
}

}  // namespace weftd
