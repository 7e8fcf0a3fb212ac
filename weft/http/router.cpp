#include <weft/http/router.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/http/scan.hpp>

namespace weft::http {
namespace {

constexpr std::size_t max_segments = 32;  // bounds the depth of a search

struct segments {
  std::string_view rest;  // begins with "/" or is empty

  [[nodiscard]] std::string_view take() noexcept {
    const std::size_t end = std::min(rest.find('/', 1), rest.size());
    const std::string_view segment = rest.substr(1, end - 1);
    rest.remove_prefix(end);
    return segment;
  }
};

bool is_parameter(std::string_view segment) noexcept {
  return segment.starts_with('{') && segment.ends_with('}');
}
bool is_rest(std::string_view segment) noexcept {
  return is_parameter(segment) && segment.substr(1, 1) == "*";
}

std::string_view name_of(std::string_view parameter) noexcept {
  parameter.remove_prefix(is_rest(parameter) ? 2 : 1);
  parameter.remove_suffix(1);
  return parameter;
}

bool is_parameter_name(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  });
}

// What may stand in a path in normal form.
bool is_text(std::string_view segment) noexcept {
  return segment != "." && segment != ".." && !segment.contains('?') &&
         scan::consists_of<scan::set::uri>(segment);
}

std::string quoted(method asked, std::string_view pattern) {
  return std::string{"\""}.append(to_string(asked)).append(" ").append(pattern).append("\"");
}

// The methods that a route of `asked` sees to.
method_set answered_by(method asked) noexcept {
  method_set all;
  all.insert(asked);
  all.insert(method::options);
  if (asked == method::get) all.insert(method::head);
  return all;
}

// What is wrong with a pattern, or nothing; collects the names of its parameters.
std::string_view check_pattern(std::string_view pattern, std::vector<std::string>& names) {
  if (!pattern.starts_with('/')) return "a pattern begins with a slash";
  std::size_t count = 0;
  for (segments left{pattern}; !left.rest.empty();) {
    const std::string_view segment = left.take();
    if (++count > max_segments) return "a pattern has at most 32 segments";
    if (!is_parameter(segment)) {
      if (!is_text(segment)) return "a segment is a text as it stands in a path, {name} or {*name}";
      continue;
    }
    const std::string_view name = name_of(segment);
    if (!is_parameter_name(name))
      return "a parameter's name consists of letters, digits, '-' and '_'";
    if (is_rest(segment) && !left.rest.empty()) return "{*name} stands at the end";
    if (std::ranges::find(names, name) != names.end()) return "two parameters of one name";
    if (names.size() == route_match::max_parameters) return "a pattern has at most 8 parameters";
    names.emplace_back(name);
  }
  return {};
}

}  // namespace

std::optional<std::string_view> route_match::parameter(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return values[i];
  return std::nullopt;
}

router::router() { new_node(none); }

std::expected<void, std::string> router::add(method asked, std::string_view pattern,
                                             std::uint32_t payload) {
  route added{std::string{pattern}, {}, payload};
  if (const std::string_view wrong = check_pattern(pattern, added.names); !wrong.empty())
    return std::unexpected(quoted(asked, pattern).append(": ").append(wrong));
  const auto index = static_cast<std::size_t>(asked);
  if (const std::uint32_t known = node_of(pattern);
      known != none && nodes_[known].routes[index] != none)
    return std::unexpected(quoted(asked, pattern) + " is the same route as " +
                           quoted(asked, routes_[nodes_[known].routes[index]].pattern));
  const bool is_literal = added.names.empty();
  std::uint32_t at = 0;
  for (segments left{pattern}; !left.rest.empty();) at = child_for(at, left.take());
  if (is_literal) add_literal(pattern, at);
  const std::uint32_t number = new_route(std::move(added));
  nodes_[at].routes[index] = number;
  ++counts_[index];
  note_methods(nodes_[at]);
  return {};
}

std::vector<std::string> router::remove(method asked, std::string_view pattern) noexcept {
  const auto index = static_cast<std::size_t>(asked);
  const std::uint32_t at = node_of(pattern);
  WEFT_ASSERT(at != none && nodes_[at].routes[index] != none,
              "remove a route that has been added, by the same method and pattern");
  const std::uint32_t number = std::exchange(nodes_[at].routes[index], none);
  route& gone = routes_[number];
  std::vector<std::string> names = std::move(gone.names);
  gone = {{}, {}, std::exchange(free_route_, number)};
  --counts_[index];
  note_methods(nodes_[at]);
  if (nodes_[at].allowed.empty() && names.empty()) remove_literal(pattern);
  prune(at);
  return names;
}

method_set router::allowed_anywhere() const noexcept {
  method_set all;
  for (std::size_t i = 0; i < method_count; ++i)
    if (counts_[i] != 0) all.insert(answered_by(static_cast<method>(i)));
  return all;
}

// What the routes of a node answer now.
void router::note_methods(node& of) noexcept {
  of.allowed = {};
  for (std::size_t i = 0; i < method_count; ++i)
    if (of.routes[i] != none) of.allowed.insert(answered_by(static_cast<method>(i)));
}

std::uint32_t router::new_node(std::uint32_t parent) {
  std::uint32_t made = free_node_;
  if (made != none) {
    free_node_ = nodes_[made].parent;
  } else {
    made = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  }
  nodes_[made].parent = parent;
  return made;
}

std::uint32_t router::new_route(route&& added) {
  const std::uint32_t number = free_route_;
  if (number == none) {
    routes_.push_back(std::move(added));
    return static_cast<std::uint32_t>(routes_.size() - 1);
  }
  free_route_ = routes_[number].payload;
  routes_[number] = std::move(added);
  return number;
}

// Frees a node that leads nowhere any more, and those above that lead only there.
void router::prune(std::uint32_t index) noexcept {
  while (index != 0 && nodes_[index].is_bare()) {
    const std::uint32_t parent_index = nodes_[index].parent;
    node& parent = nodes_[parent_index];
    if (parent.parameter == index)
      parent.parameter = none;
    else if (parent.rest == index)
      parent.rest = none;
    else
      std::erase(parent.texts, index);
    nodes_[index] = node{};
    nodes_[index].parent = std::exchange(free_node_, index);
    index = parent_index;
  }
}

// Where `segment` stands, or belongs, among the text children.
std::size_t router::text_position(const node& parent, std::string_view segment) const noexcept {
  const auto is_before = [this](std::uint32_t child, std::string_view wanted) {
    const std::string_view text = nodes_[child].text;
    return text.size() != wanted.size() ? text.size() < wanted.size() : text < wanted;
  };
  const auto place = std::lower_bound(parent.texts.begin(), parent.texts.end(), segment, is_before);
  return static_cast<std::size_t>(place - parent.texts.begin());
}

std::uint32_t router::child_for(std::uint32_t parent, std::string_view segment) {
  if (is_parameter(segment)) {
    const auto kind = is_rest(segment) ? &node::rest : &node::parameter;
    if (nodes_[parent].*kind == none) {
      const std::uint32_t child = new_node(parent);  // moves the nodes
      nodes_[parent].*kind = child;
    }
    return nodes_[parent].*kind;
  }
  const std::size_t position = text_position(nodes_[parent], segment);
  const std::vector<std::uint32_t>& texts = nodes_[parent].texts;
  if (position < texts.size() && nodes_[texts[position]].text == segment) return texts[position];
  const std::uint32_t child = new_node(parent);
  nodes_[child].text = segment;
  std::vector<std::uint32_t>& siblings = nodes_[parent].texts;
  siblings.insert(siblings.begin() + static_cast<std::ptrdiff_t>(position), child);
  return child;
}

// Where the routes of `pattern` stand, or `none`.
std::uint32_t router::node_of(std::string_view pattern) const noexcept {
  std::uint32_t at = 0;
  for (segments left{pattern}; at != none && !left.rest.empty();) {
    const std::string_view segment = left.take();
    const node& parent = nodes_[at];
    if (is_parameter(segment)) {
      at = is_rest(segment) ? parent.rest : parent.parameter;
      continue;
    }
    const std::size_t position = text_position(parent, segment);
    const bool is_there =
        position < parent.texts.size() && nodes_[parent.texts[position]].text == segment;
    at = is_there ? parent.texts[position] : none;
  }
  return at;
}

// Whether it stands before all that are longer, and all that are as long and greater.
bool router::stands_before(const literal& known, std::string_view path) noexcept {
  return known.path.size() != path.size() ? known.path.size() < path.size() : known.path < path;
}

void router::add_literal(std::string_view path, std::uint32_t index) {
  const auto place = std::lower_bound(literals_.begin(), literals_.end(), path, &stands_before);
  if (place != literals_.end() && place->path == path) return;
  literals_from_.reserve(std::max(literals_from_.size(), path.size() + 2));
  literals_.insert(place, {std::string{path}, index});
  index_literals();
}

void router::remove_literal(std::string_view path) noexcept {
  literals_.erase(std::lower_bound(literals_.begin(), literals_.end(), path, &stands_before));
  index_literals();
}

void router::index_literals() noexcept {
  literals_from_.assign(literals_.empty() ? 0 : literals_.back().path.size() + 2, 0);
  for (const literal& each : literals_) ++literals_from_[each.path.size() + 1];
  std::partial_sum(literals_from_.begin(), literals_from_.end(), literals_from_.begin());
}

// The node where a path without parameters ends, or `none`.
std::uint32_t router::literal_at(std::string_view path) const noexcept {
  if (path.size() + 1 >= literals_from_.size()) return none;
  std::uint32_t first = literals_from_[path.size()];
  std::uint32_t last = literals_from_[path.size() + 1];
  while (first != last) {
    const std::uint32_t middle = first + (last - first) / 2;
    const int order = std::memcmp(literals_[middle].path.data(), path.data(), path.size());
    if (order == 0) return literals_[middle].index;
    if (order < 0)
      first = middle + 1;
    else
      last = middle;
  }
  return none;
}

struct router::search {
  method asked;
  route_match& match;
  std::size_t captured = 0;

  void found(const route& answer) noexcept {
    match.outcome = route_outcome::found;
    match.payload = answer.payload;
    match.names = answer.names;
    match.parameter_count = static_cast<std::uint8_t>(captured);
  }
};

route_match router::find(method asked, std::string_view path) const noexcept {
  route_match match;
  find(asked, path, match);
  return match;
}

void router::find(method asked, std::string_view path, route_match& match) const noexcept {
  // A text goes before a parameter at every slash, so a path of nothing but texts goes before all.
  if (const std::uint32_t literal = literal_at(path); literal != none) {
    const std::uint32_t number = nodes_[literal].routes[static_cast<std::size_t>(asked)];
    if (number != none) [[likely]] {
      match.outcome = route_outcome::found;
      match.payload = routes_[number].payload;
      match.names = {};
      match.parameter_count = 0;
      return;
    }
  }
  walk(asked, path, match);
}

void router::walk(method asked, std::string_view path, route_match& match) const noexcept {
  match.outcome = route_outcome::not_found;
  match.parameter_count = 0;
  match.allowed = {};
  search wanted{.asked = asked, .match = match};
  if (!path.starts_with('/') || visit(wanted, 0, path)) return;
  if (!match.allowed.empty())
    match.outcome =
        asked == method::options ? route_outcome::options : route_outcome::method_not_allowed;
}

// `path` is what is left behind the node: it begins with a slash, or the node is where it ends.
bool router::visit(search& wanted, std::uint32_t index, std::string_view path) const noexcept {
  if (path.empty()) return arrive(wanted, index);
  const node& at = nodes_[index];
  segments left{path};
  const std::string_view segment = left.take();
  const std::size_t position = text_position(at, segment);
  if (position < at.texts.size() && nodes_[at.texts[position]].text == segment &&
      visit(wanted, at.texts[position], left.rest))
    return true;
  if (at.parameter != none && !segment.empty()) {
    wanted.match.values[wanted.captured++] = segment;
    if (visit(wanted, at.parameter, left.rest)) return true;
    --wanted.captured;
  }
  if (at.rest == none) return false;
  wanted.match.values[wanted.captured++] = path.substr(1);
  if (arrive(wanted, at.rest)) return true;
  --wanted.captured;
  return false;
}

bool router::arrive(search& wanted, std::uint32_t index) const noexcept {
  const node& at = nodes_[index];
  std::uint32_t number = at.routes[static_cast<std::size_t>(wanted.asked)];
  if (number == none && wanted.asked == method::head)
    number = at.routes[static_cast<std::size_t>(method::get)];
  if (number == none) {
    wanted.match.allowed.insert(at.allowed);
    return false;
  }
  wanted.found(routes_[number]);
  return true;
}

}  // namespace weft::http
