#include <weft/http/openapi.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include <weft/http/openapi_parameters.hpp>
#include <weft/http/problem.hpp>
#include <weft/http/route_handler.hpp>
#include <weft/json/composer.hpp>
#include <weft/json/schema.hpp>

namespace weft::http {
namespace {

constexpr std::string_view definitions_place = "#/components/schemas/";

/// What write_problem() writes.
struct problem_document {
  std::string title;
  std::uint16_t status;
  std::optional<std::string> detail;
  std::optional<std::uint64_t> offset;
  std::optional<std::string> path;

  static constexpr json::description descriptions[] = {
      {"", "What went wrong (RFC 9457)"},
      {"title", "Of the status"},
      {"status", "As in the reply's head"},
      {"detail", "For people"},
      {"offset", "Bytes into the request's body, where the fault is there"},
      {"path", "The value at fault, as a JSON pointer (RFC 6901) into the request's body"}};
};

/// Empty: OpenAPI has no operations of this method.
std::string_view operation_of(method asked) noexcept {
  switch (asked) {
    case method::get: return "get";
    case method::put: return "put";
    case method::post: return "post";
    case method::delete_: return "delete";
    case method::options: return "options";
    case method::head: return "head";
    case method::patch: return "patch";
    default: return {};
  }
}

class openapi_writer {
 public:
  openapi_writer(std::string& text, const std::vector<route_view>& routes)
      : out_{text}, schemas_{definitions_place, roots(routes)} {}

  void write(const openapi_info& info, const std::vector<route_view>& routes) {
    out_.open_object().member("openapi", "3.1.0").name("info").open_object();
    out_.member("title", info.title).member("version", info.version);
    if (!info.description.empty()) out_.member("description", info.description);
    out_.close_object().name("paths").open_object();
    for (auto each = routes.begin(); each != routes.end();) each = write_path(each, routes.end());
    out_.close_object().name("components").open_object().name("schemas").open_object();
    schemas_.append_definitions(out_);
    out_.close_object();
    write_key_schemes(routes);
    out_.close_object().close_object();
  }

 private:
  using place = std::vector<route_view>::const_iterator;
  using reply_map = std::map<std::uint16_t, std::vector<described_reply>>;

  static std::vector<json::shape_function> roots(const std::vector<route_view>& routes) {
    std::vector<json::shape_function> all{&json::shape_of<problem_document>};
    const auto add = [&all](json::shape_function one) {
      if (one != nullptr) all.push_back(one);
    };
    for (const route_view& each : routes) {
      add(each.shape->body);
      add(each.shape->content);
      if (each.text == nullptr) continue;
      add(each.text->body);
      for (const described_reply& reply : each.text->replies) add(reply.content);
    }
    return all;
  }

  /// Named after their header fields.
  void write_key_schemes(const std::vector<route_view>& routes) {
    std::set<std::string_view> headers;
    for (const route_view& each : routes)
      if (each.text != nullptr && !each.text->key_header.empty())
        headers.insert(each.text->key_header);
    if (headers.empty()) return;
    out_.name("securitySchemes").open_object();
    for (const std::string_view each : headers) {
      out_.name(each).open_object().member("type", "apiKey");
      out_.member("in", "header").member("name", each).close_object();
    }
    out_.close_object();
  }

  /// All routes at the path of the first; where the next path begins.
  place write_path(place first, place end) {
    const std::string key = path_key(first->pattern);
    const std::vector<path_parameter_name> names = path_parameter_names(first->pattern);
    out_.name(path_template(first->pattern)).open_object();
    std::optional<method> before;
    for (; first != end && path_key(first->pattern) == key; ++first) {
      if (before == first->asked) continue;  // "{*rest}" beside "{one}": they look the same here
      before = first->asked;
      out_.name(operation_of(first->asked)).open_object();
      write_operation(*first, names);
      out_.close_object();
    }
    out_.close_object();
    return first;
  }

  void write_operation(const route_view& route, const std::vector<path_parameter_name>& names) {
    write_texts(route);
    append_parameters(*route.shape, route.pattern, names, out_);
    write_request_body(route);
    out_.name("responses").open_object();
    write_responses(route);
    out_.close_object();
  }

  void write_texts(const route_view& route) {
    static const route_description nothing;
    const route_description& text = route.text != nullptr ? *route.text : nothing;
    out_.member("operationId",
                unique_id(text.operation_id.empty() ? operation_id(route.asked, route.pattern)
                                                    : text.operation_id));
    if (!text.summary.empty()) out_.member("summary", text.summary);
    if (!text.description.empty()) out_.member("description", text.description);
    if (!text.tags.empty()) {
      out_.name("tags").open_list();
      for (const std::string& each : text.tags) out_.text(each);
      out_.close_list();
    }
    if (text.deprecated) out_.name("deprecated").boolean(true);
    if (!text.key_header.empty()) {
      out_.name("security").open_list().open_object().name(text.key_header);
      out_.open_list().close_list().close_object().close_list();
    }
  }

  static std::string operation_id(method asked, std::string_view pattern) {
    std::string id{operation_of(asked)};
    for (const char c : pattern) {
      if (c == '{')
        id += "by_";
      else if (c == '/' || c == '-' || c == '.')
        id.push_back('_');
      else if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '_')
        id.push_back(c);
    }
    return id;
  }

  std::string unique_id(std::string wanted) {
    std::string id = wanted;
    for (int number = 2; !ids_.insert(id).second; ++number)
      id = wanted + "_" + std::to_string(number);
    return id;
  }

  void write_request_body(const route_view& route) {
    json::shape_function body = route.shape->body;
    if (body == nullptr && route.text != nullptr) body = route.text->body;
    if (body == nullptr && route.shape->arrival == body_arrival::whole) return;
    out_.name("requestBody").open_object();
    if (body != nullptr) out_.name("required").boolean(true);
    out_.name("content").open_object();
    if (body != nullptr)
      write_content("application/json", body, route.text != nullptr ? route.text->example : "");
    else
      out_.name("*/*").open_object().close_object();
    out_.close_object().close_object();
  }

  void write_content(std::string_view media_type, json::shape_function of,
                     std::string_view example = {}) {
    out_.name(media_type).open_object().name("schema");
    schemas_.append(of(), out_);
    if (!example.empty()) out_.name("example").raw(example);
    out_.close_object();
  }

  /// Those that were described go before those that the type tells of.
  void write_responses(const route_view& route) {
    reply_map replies;
    std::set<std::uint16_t> problems;
    if (route.shape->checks_requests()) problems.insert(number(status::bad_request));
    if (route.text != nullptr) {
      for (const described_reply& each : route.text->replies)
        replies[number(each.code)].push_back(each);
      for (const status each : route.text->errors) problems.insert(number(each));
    }
    if (route.shape->reply != reply_kind::own)
      replies.try_emplace(number(route.shape->success), 1U, known_reply(*route.shape));
    for (const auto& [code, forms] : replies) {
      const bool is_success = status{code} == route.shape->success;
      write_reply(forms, problems.erase(code) != 0, is_success && route.shape->has_location);
    }
    for (const std::uint16_t code : problems)
      write_problem_response(std::to_string(code), reason_phrase(status{code}));
    if (route.shape->reply != reply_kind::own || !replies.empty())
      write_problem_response("default", "An error, such as 408, 413 or 503");
    else
      write_any_response();
  }

  static described_reply known_reply(const handler_shape& shape) {
    described_reply reply{.code = shape.success, .content = shape.content};
    if (shape.reply == reply_kind::text) reply.media_type = text_plain.text();
    return reply;
  }

  static std::uint16_t number(status code) noexcept { return static_cast<std::uint16_t>(code); }

  /// All of one status.
  void write_reply(const std::vector<described_reply>& forms, bool may_be_problem,
                   bool has_location) {
    const described_reply& first = forms.front();
    out_.name(std::to_string(number(first.code))).open_object();
    out_.member("description", first.text.empty() ? reason_phrase(first.code) : first.text);
    if (has_location) {
      out_.name("headers").open_object().name("Location").open_object();
      out_.member("description", "Where it is").name("required").boolean(true).name("schema");
      out_.open_object().member("type", "string").close_object().close_object().close_object();
    }
    if (may_be_problem || std::ranges::any_of(forms, has_content)) {
      out_.name("content").open_object();
      for (const described_reply& each : forms) write_form(each);
      if (may_be_problem) write_content(problem_content_type, &json::shape_of<problem_document>);
      out_.close_object();
    }
    out_.close_object();
  }

  static bool has_content(const described_reply& form) noexcept {
    return form.content != nullptr || !form.media_type.empty();
  }

  void write_form(const described_reply& form) {
    if (form.content != nullptr)
      write_content(form.media_type.empty() ? "application/json" : form.media_type, form.content);
    else if (!form.media_type.empty())
      out_.name(form.media_type).open_object().close_object();
  }

  void write_problem_response(std::string_view code, std::string_view text) {
    out_.name(code).open_object().member("description", text).name("content").open_object();
    write_content(problem_content_type, &json::shape_of<problem_document>);
    out_.close_object().close_object();
  }

  void write_any_response() {
    out_.name("default").open_object().member("description", "What the handler replies");
    out_.name("content").open_object().name("*/*").open_object().close_object();
    out_.close_object().close_object();
  }

  json::composer out_;
  json::schema_set schemas_;
  std::set<std::string> ids_;
};

bool is_shown(const route_view& route) noexcept {
  return !operation_of(route.asked).empty() && (route.text == nullptr || !route.text->hidden);
}

}  // namespace

std::string openapi_document(const openapi_info& info, std::vector<route_view> routes) {
  std::erase_if(routes, [](const route_view& each) { return !is_shown(each); });
  std::ranges::sort(routes, {}, [](const route_view& each) {
    return std::tuple{path_key(each.pattern), each.asked, each.pattern.contains("{*"),
                      each.pattern};
  });
  std::string text;
  openapi_writer{text, routes}.write(info, routes);
  return text;
}

}  // namespace weft::http
