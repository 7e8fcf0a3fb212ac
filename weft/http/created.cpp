#include <weft/http/created.hpp>

#include <utility>

#include <weft/base/log.hpp>
#include <weft/http/exchange.hpp>

namespace weft::http::detail {

void reply_created(exchange& e, std::string json_text, const std::string& location) {
  response made = response::json_text(std::move(json_text), status::created);
  if (made.add_field("Location", location)) return e.reply(std::move(made));
  log::error("what was created lies at no path: its Location holds what no field may");
  e.reply_problem(status::internal_server_error, {});
}

}  // namespace weft::http::detail
