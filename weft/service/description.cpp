#include <weft/service/description.hpp>

#include <algorithm>
#include <string_view>

#include <weft/base/format.hpp>
#include <weft/json/write.hpp>

namespace weft {
namespace {

/// As a quoted string of the DOT language, in which only quotes are special; backslashes are its
/// escapes of lines.
std::string dot_text(std::string_view text) {
  std::string out = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') out += '\\';
    out += each;
  }
  return out + '"';
}

std::string title_of(const service_description& service) {
  return service.name.empty() ? service.type : weft::format("{} '{}'", service.type, service.name);
}

bool is_needed(const service_description& one, const shard_description& by) {
  return std::ranges::any_of(by.services, [&](const service_description& each) {
    return std::ranges::any_of(each.needs, [&](const need_description& need) {
      return std::ranges::contains(need.providers, one.id);
    });
  });
}

class graph_writer {
 public:
  void add(const shard_description& shard) {
    line("  subgraph cluster_{} {{\n    label=\"shard {}\";\n", shard.shard, shard.shard);
    for (const service_description& each : shard.services)
      if (each.state != "lent" || is_needed(each, shard)) add_node(shard.shard, each);
    for (const service_description& each : shard.services)
      for (const need_description& need : each.needs) add_edges(shard.shard, each, need);
    text_ += "  }\n";
  }
  [[nodiscard]] std::string finish() { return text_ + "}\n"; }

 private:
  template <class... A>
  void line(std::format_string<const A&...> form, const A&... values) {
    text_ += weft::format(form, values...);
  }

  void add_node(unsigned shard, const service_description& service) {
    line("    s{}_{} [label={}, tooltip={}];\n", shard, service.id, dot_text(title_of(service)),
         dot_text(service.state));
  }

  void add_edges(unsigned shard, const service_description& from, const need_description& need) {
    const bool can_miss = need.form == "optional" || need.form == "many";
    const std::string_view style = need.form == "optional" ? " [style=dashed]"
                                   : need.form == "many"   ? " [style=dotted]"
                                                           : "";
    for (const std::uint32_t to : need.providers)
      line("    s{}_{} -> s{}_{}{};\n", shard, from.id, shard, to, style);
    if (can_miss || !need.providers.empty()) return;
    line("    m{} [label={}, color=red];\n    s{}_{} -> m{} [color=red];\n", missing_,
         dot_text("nobody is " + need.interface), shard, from.id, missing_);
    ++missing_;
  }

  std::string text_ = "digraph weft {\n  rankdir=LR;\n  node [shape=box];\n";
  unsigned missing_ = 0;
};

}  // namespace

std::string to_json(const application_description& of) {
  std::string text;
  json::write(of, text);
  return text;
}

std::string to_graphviz(const application_description& of) {
  graph_writer graph;
  for (const shard_description& each : of.shards) graph.add(each);
  return graph.finish();
}

}  // namespace weft
