#include <weft/http/connection_host.hpp>

#include <array>
#include <memory>

#include <weft/base/format.hpp>
#include <weft/http/cors.hpp>
#include <weft/http/request_parser.hpp>
#include <weft/http/target.hpp>

namespace weft::http {
namespace {

/// `fields`: further ones.
void reply_allowed(exchange& e, status code, method_set allowed, std::string_view fields = {}) {
  std::array<char, method_set::text_capacity> room;
  const std::string line = weft::format("Allow: {}\r\n{}", allowed.text(room), fields);
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
    reply_allowed(e, status::no_content, match.allowed, cors_fields_at(head, match, e));
  else if (match.outcome == route_outcome::method_not_allowed)
    reply_allowed(e, status::method_not_allowed, match.allowed, cors_fields_at(head, match, e));
  else
    e.reply_problem(status::not_found, "nothing is served at this path");
}

/// Of the path's routes for other methods. Policies around all have added theirs.
std::string connection_host::cors_fields_at(const parsed_head& head, const route_match& match,
                                            exchange& e) const {
  std::string lines;
  if (routes.has_policies())
    routes.append_cors_fields(match, e.request().path(),
                              cors_question::of(head.method(), head.headers()), lines);
  return lines;
}

std::string connection_host::cors_fields(std::string_view head) const {
  if (!has_policies()) return {};
  const auto whole = std::make_unique<parsed_head>();
  request_parser parser;
  if (parser.parse(head, *whole, limits) == parse_status::complete) return cors_fields(*whole);
  std::string lines;
  around.append_cors_fields(cors_question::of_part(head), lines);
  return lines;
}

std::string connection_host::cors_fields(const parsed_head& head) const {
  std::string lines;
  if (!has_policies()) return lines;
  const cors_question asked = cors_question::of(head.method(), head.headers());
  around.append_cors_fields(asked, lines);
  if (!routes.has_policies() || head.path().empty()) return lines;
  std::string room;
  const std::string_view path =
      head.path_needs_normalizing() ? normalize_path(head.path(), room) : head.path();
  route_match match;
  routes.find(head.method(), path, match);
  routes.append_cors_fields(match, path, asked, lines);
  return lines;
}

}  // namespace weft::http
