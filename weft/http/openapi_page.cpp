#include <weft/http/openapi_page.hpp>

#include <tuple>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/http/preconditions.hpp>
#include <weft/http/siphash.hpp>

namespace weft::http {

openapi_page::openapi_page(openapi_page_options options, server& http)
    : info_{.title = std::move(options.title),
            .version = std::move(options.version),
            .description = std::move(options.description)},
      http_{http} {
  http.get(options.path,
           described([this](const request& asked) { return answer(asked); }, {.hidden = true}));
}

/// All shards have the same routes, as a rule: then they give the same text, and the same tag.
void openapi_page::make() {
  text_ = openapi_document(info_, http_.routes());
  tag_ = weft::format("{:016x}", siphash(text_, {}));
  made_for_ = http_.route_changes();
}

response openapi_page::answer(const request& asked) {
  if (made_for_ != http_.route_changes()) make();
  const representation current{.tag = entity_tag{tag_}};
  response reply;
  switch (check_preconditions(asked.method(), asked.headers(), current, 0)) {
    case precondition::met: reply = response::json_text(text_); break;
    case precondition::not_modified: reply.set_code(status::not_modified); break;
    case precondition::failed: return response::problem(status::precondition_failed);
  }
  std::ignore = reply.add_field("ETag", weft::format("\"{}\"", tag_));
  std::ignore = reply.add_field("Cache-Control", "no-cache");
  return reply;
}

}  // namespace weft::http
