#include <weft/http/openapi_page.hpp>

#include <string>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/http/preconditions.hpp>
#include <weft/http/siphash.hpp>
#include <weft/loop/event_loop.hpp>

namespace weft::http {

openapi_page::openapi_page(openapi_page_options options, server& http)
    : info_{.title = std::move(options.title),
            .version = std::move(options.version),
            .description = std::move(options.description)},
      http_{http} {
  http.get(options.path, described([this](exchange& e) { answer(e); }, {.hidden = true}));
}

/// All shards have the same routes, as a rule: then they give the same text, and the same tag.
void openapi_page::make() {
  text_ = shared_text{openapi_document(info_, http_.routes()), &event_loop::current().memory()};
  tag_ = weft::format("{:016x}", siphash(text_.view(), {}));
  made_for_ = http_.route_changes();
}

void openapi_page::answer(exchange& e) {
  if (made_for_ != http_.route_changes()) make();
  const request& asked = e.request();
  const representation current{.tag = entity_tag{tag_}};
  const std::string fields = weft::format("ETag: \"{}\"\r\nCache-Control: no-cache\r\n", tag_);
  switch (check_preconditions(asked.method(), asked.headers(), current, 0)) {
    case precondition::met: return e.reply_shared(status::ok, "application/json", text_, fields);
    case precondition::not_modified: return e.reply(status::not_modified, {}, {}, fields);
    case precondition::failed: return e.reply_problem(status::precondition_failed, {});
  }
}

}  // namespace weft::http
