#include <weft/http/connection_host.hpp>

#include <array>

#include <weft/base/format.hpp>

namespace weft::http {
namespace {

void reply_allowed(exchange& e, status code, method_set allowed) {
  std::array<char, method_set::text_capacity> room;
  const std::string line = weft::format("Allow: {}\r\n", allowed.text(room));
  if (is_bodiless(code))
    e.reply(code, {}, {}, line);
  else
    e.reply_problem(code, "this path is served, but not for this method", line);
}

}  // namespace

void connection_host::answer_inside(exchange& e) { answer(e.of_.head, e.of_.match, e); }

connection_host::use::use(connection_host& in, const route_match& match) : owner_{in.owner} {
  if (match.outcome == route_outcome::found) owner_ = route_.emplace(in.routes, match).owner();
  if (!in.around.empty()) around_.emplace(in.around);
}

void connection_host::reply_without_route(const parsed_head& head, const route_match& match,
                                          exchange& e) {
  if (head.form() == target_form::asterisk)
    reply_allowed(e, status::no_content, routes.allowed_anywhere());
  else if (match.outcome == route_outcome::options)
    reply_allowed(e, status::no_content, match.allowed);
  else if (match.outcome == route_outcome::method_not_allowed)
    reply_allowed(e, status::method_not_allowed, match.allowed);
  else
    e.reply_problem(status::not_found, "nothing is served at this path");
}

}  // namespace weft::http
