// From a method and a path to the handler, by number.
//
// Problem: routing is asked for every request, must not allocate, and must say the same whatever
// the order in which routes were added. Contract: a pattern is "/" and segments between slashes,
// each a text ("orders"), a parameter
// ("{id}": exactly one segment, not empty) or, at the end, the rest ("{*path}": all that is left,
// maybe empty). At every slash a text goes before a parameter, and that before the rest; where the
// better choice leads nowhere, or not for this method, the next is tried. "/a" and "/a/" are two
// routes. GET answers HEAD as well, OPTIONS is answered for every known path; routes of their own
// for HEAD and OPTIONS go before that (RFC 9110 sections 9.3.2 and 9.3.7). Paths must be in normal
// form (normalize_path); patterns are compared byte by byte, parameters are captured still
// percent-encoded. find() may be called from any number of threads, while nobody adds or removes.
//
//   router routes;
//   routes.add(method::get, "/orders/{id}", 7);
//   route_match found = routes.find(method::get, "/orders/17");
//   found.payload;          // 7
//   found.parameter("id");  // "17"
//   const auto names = routes.remove(method::get, "/orders/{id}");  // `found` looks at these
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/http/method.hpp>

namespace weft::http {

enum class route_outcome : std::uint8_t {
  found,               // `payload` and the parameters are set
  not_found,           // 404
  method_not_allowed,  // 405 with `allowed` as its Allow header
  options,             // an OPTIONS request without a route of its own: answer with `allowed`
};

// Its views lie in the path that was searched and in the router, or in what remove() gave.
struct route_match {
  static constexpr std::size_t max_parameters = 8;

  route_outcome outcome = route_outcome::not_found;
  std::uint8_t parameter_count = 0;
  method_set allowed;  // unless found: the methods of all routes that fit the path
  std::uint32_t payload = 0;
  std::span<const std::string> names;  // of the parameters, in the order of the pattern
  std::array<std::string_view, max_parameters> values;

  // None where the pattern has no parameter of that name.
  [[nodiscard]] std::optional<std::string_view> parameter(std::string_view name) const noexcept;
};

class router {
 public:
  router();

  // On the failure side stands a sentence that says which two routes are one, or what is wrong with
  // the pattern; nothing was added then. A mistake of the program: report it when it starts.
  [[nodiscard]] std::expected<void, std::string> add(method asked, std::string_view pattern,
                                                     std::uint32_t payload);

  // Takes a route out that has been added, by the same pattern. Gives the names of its parameters,
  // which matches look at that have been found before.
  [[nodiscard]] std::vector<std::string> remove(method asked, std::string_view pattern) noexcept;

  [[nodiscard]] route_match find(method asked, std::string_view path) const noexcept;
  // The same, where the match is to stand.
  void find(method asked, std::string_view path, route_match& match) const noexcept;

  // The methods that any route answers: for `OPTIONS *`.
  [[nodiscard]] method_set allowed_anywhere() const noexcept;

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct route {
    std::string pattern;
    std::vector<std::string> names;
    std::uint32_t payload;  // of one that is free: the next free one
  };
  struct node {
    std::string text;                  // of its segment, where that is a text
    std::vector<std::uint32_t> texts;  // children, shortest first and then by their bytes
    std::uint32_t parent = none;       // of one that is free: the next free one
    std::uint32_t parameter = none;    // child
    std::uint32_t rest = none;         // child
    std::array<std::uint32_t, method_count> routes;  // for each method, or none
    method_set allowed;

    node() noexcept { routes.fill(none); }
    [[nodiscard]] bool is_bare() const noexcept {
      return allowed.empty() && texts.empty() && parameter == none && rest == none;
    }
  };
  struct literal {
    std::string path;
    std::uint32_t index;
  };
  struct search;

  std::uint32_t new_node(std::uint32_t parent);
  std::uint32_t new_route(route&& added);
  std::uint32_t child_for(std::uint32_t parent, std::string_view segment);
  [[nodiscard]] std::uint32_t node_of(std::string_view pattern) const noexcept;
  void note_methods(node& of) noexcept;
  void prune(std::uint32_t index) noexcept;
  [[nodiscard]] std::size_t text_position(const node& parent,
                                          std::string_view segment) const noexcept;
  void walk(method asked, std::string_view path, route_match& match) const noexcept;
  bool visit(search& wanted, std::uint32_t index, std::string_view path) const noexcept;
  bool arrive(search& wanted, std::uint32_t index) const noexcept;
  [[nodiscard]] static bool stands_before(const literal& known, std::string_view path) noexcept;
  void add_literal(std::string_view path, std::uint32_t index);
  void remove_literal(std::string_view path) noexcept;
  void index_literals() noexcept;
  [[nodiscard]] std::uint32_t literal_at(std::string_view path) const noexcept;

  std::vector<node> nodes_;  // the first is the root
  std::vector<route> routes_;
  // The paths without parameters, each with its node, by length and then by bytes: what most
  // requests ask for is found without a walk.
  std::vector<literal> literals_;
  std::vector<std::uint32_t> literals_from_;  // for each length, the first that is at least so long
  std::array<std::size_t, method_count> counts_{};  // of the routes, by method
  std::uint32_t free_node_ = none;
  std::uint32_t free_route_ = none;
};

}  // namespace weft::http
