#include <weft/service/config.hpp>

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/base/format.hpp>
#include <weft/service/config_depth.hpp>
#include <weft/service/config_file.hpp>
#include <weft/service/config_printer.hpp>
#include <weft/service/config_reader.hpp>
#include <weft/service/config_value.hpp>
#include <weft/service/nearest_word.hpp>

namespace weft {
namespace {

using namespace detail;

constexpr std::string_view variable_prefix = "WEFT_";

constexpr bool is_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// WEFT_HTTP_SERVER_LISTEN for "http.server.listen".
std::string variable_name(std::string_view path) {
  std::string name{variable_prefix};
  for (const char c : path) {
    const char word = is_word(c) ? c : '_';
    name += word >= 'a' && word <= 'z' ? static_cast<char>(word - 'a' + 'A') : word;
  }
  return name;
}

std::string joined(std::string_view path, std::string_view name) {
  return path.empty() ? std::string{name} : weft::format("{}.{}", path, name);
}

/// Whether `path` is a part of `whole`, and ends before it does.
bool is_above(std::string_view path, std::string_view whole) {
  return path.empty() ||
         (whole.size() > path.size() && whole.starts_with(path) && whole[path.size()] == '.');
}

std::vector<std::string_view> views(const std::vector<std::string>& words) {
  return {words.begin(), words.end()};
}

/// "limits.connections" and a value as a table in a table.
config_member nested(std::string_view path, const config_value& value) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return {std::string{path}, value.where, value};
  config_value table{.kind = config_kind::table, .where = value.where};
  table.members.push_back(nested(path.substr(dot + 1), value));
  return {std::string{path.substr(0, dot)}, value.where, std::move(table)};
}

struct section {
  std::string name;
  const option_type* type;
  void* options;
  std::unordered_set<std::string> set_by_program;  // paths
};

struct variable {
  std::string name;
  std::string value;
  bool is_used = false;
};

}  // namespace

struct config::state {
  [[nodiscard]] section* find(std::string_view name) {
    const auto found = std::ranges::find(sections, name, &section::name);
    return found == sections.end() ? nullptr : &*found;
  }
  [[nodiscard]] bool has_below(std::string_view path) const {
    return std::ranges::any_of(sections,
                               [path](const section& each) { return is_above(path, each.name); });
  }
  [[nodiscard]] std::vector<std::string> names_below(std::string_view path) const;
  [[nodiscard]] section* owner_of(std::string_view path);

  void apply_table(const std::string& path, const config_value& table);
  void apply_member(const std::string& path, const config_member& member);
  void apply_environment(section& to);
  void report_unused_variables(section& to);
  void apply_assignment(const std::string& path, const config_value& given);

  unknown_sections others = unknown_sections::refuse;
  std::vector<section> sections;
  std::vector<config_value> files;
  std::vector<variable> variables;
  std::vector<std::pair<std::string, config_value>> assignments;  // with their paths
  config_report report;
};

std::string section_of(std::string_view type) {
  std::string section;
  for (std::size_t i = 0; i < type.size();) {
    const std::size_t end = std::min(type.find("::", i), type.size());
    const std::string_view part = type.substr(i, end - i);
    i = end + 2;
    const bool is_unnamed = part == "(anonymous namespace)" || part == "{anonymous}";
    if (is_unnamed || (section.empty() && part == "weft")) continue;
    if (!section.empty()) section += '.';
    for (const char c : part) section += is_word(c) ? c : '_';
  }
  return section;
}

config::config() : state_{std::make_unique<state>()} {}

config::~config() = default;

std::expected<void, std::string> config::read_file(const std::string& path) {
  const auto text = read_config_file(path);
  if (!text) return std::unexpected{text.error()};
  return read_text(*text, path);
}

std::expected<void, std::string> config::read_text(std::string_view toml, const std::string& name) {
  auto tree = parse_toml(toml, name);
  if (!tree) return std::unexpected{std::move(tree).error()};
  state_->files.push_back(std::move(*tree));
  return {};
}

void config::read_environment(const char* const* variables) {
  for (; *variables != nullptr; ++variables) {
    const std::string_view text{*variables};
    const std::size_t equals = text.find('=');
    if (text.starts_with(variable_prefix) && equals != std::string_view::npos)
      state_->variables.push_back(
          {std::string{text.substr(0, equals)}, std::string{text.substr(equals + 1)}});
  }
}

bool config::assign(std::string_view assignment, std::string_view where) {
  const std::size_t equals = assignment.find('=');
  const std::string_view path = assignment.substr(0, equals);
  const std::size_t dot = path.rfind('.');
  if (equals == std::string_view::npos || dot == std::string_view::npos || dot == 0 ||
      dot + 1 == path.size())
    return false;
  state_->assignments.push_back(
      {std::string{path},
       {.kind = config_kind::raw,
        .text = std::string{assignment.substr(equals + 1)},
        .where = where.empty() ? weft::format("--{}", path) : std::string{where}}});
  return true;
}

void config::bind(std::string name, const option_type& type, void* options, const void* defaults) {
  WEFT_ASSERT(state_->find(name) == nullptr, "two services of one name: give one of them another");
  section added{std::move(name), &type, options, {}};
  std::vector<std::string> usual;
  option_visit note_default = [&](const found_option& each) {
    usual.push_back(option_text(each.type, each.object));
  };
  visit_options(type, const_cast<void*>(defaults), added.name, note_default);
  option_visit compare = [&, i = std::size_t{0}](const found_option& each) mutable {
    if (option_text(each.type, each.object) != usual[i++]) added.set_by_program.insert(each.path);
  };
  visit_options(type, options, added.name, compare);
  state_->sections.push_back(std::move(added));
}

std::vector<std::string> config::apply(unknown_sections others) {
  state& all = *state_;
  all.others = others;
  for (const config_value& file : all.files) all.apply_table("", file);
  for (section& each : all.sections) all.apply_environment(each);
  for (section& each : all.sections) all.report_unused_variables(each);
  for (const auto& [path, given] : all.assignments) all.apply_assignment(path, given);
  option_origin origin = [this](const std::string& path) { return origin_of(path); };
  for (const section& each : all.sections)
    check_options(*each.type, each.options, each.name, origin, all.report);
  return all.report.faults;
}

std::vector<std::string> config::faults() const {
  std::vector<std::string> all;
  option_origin origin = [this](const std::string& path) { return origin_of(path); };
  for (const section& each : state_->sections)
    find_faults(*each.type, each.options, each.name, origin, all);
  return all;
}

std::string config::unused(std::string name) const {
  std::string free = name;
  for (int count = 2; find(free) != nullptr; ++count) free = weft::format("{}_{}", name, count);
  return free;
}

const void* config::find(std::string_view name) const noexcept {
  const section* const found = state_->find(name);
  return found == nullptr ? nullptr : found->options;
}

std::string config::origin_of(const std::string& path) const {
  const auto found = state_->report.origins.find(path);
  if (found != state_->report.origins.end()) return found->second;
  const bool by_program = std::ranges::any_of(
      state_->sections, [&](const section& each) { return each.set_by_program.contains(path); });
  return by_program ? "program" : "default";
}

std::string config::to_toml() const {
  std::string out;
  option_origin origin = [this](const std::string& path) { return origin_of(path); };
  for (const section& each : state_->sections)
    print_section(*each.type, each.options, each.name, origin, out);
  return out;
}

/// What may stand behind `path` on the way to a section, each with the path before it.
std::vector<std::string> config::state::names_below(std::string_view path) const {
  std::vector<std::string> names;
  for (const section& each : sections) {
    if (!is_above(path, each.name)) continue;
    const std::size_t start = path.empty() ? 0 : path.size() + 1;
    names.push_back(each.name.substr(0, each.name.find('.', start)));
  }
  return names;
}

/// The section with the longest name that is above `path`.
section* config::state::owner_of(std::string_view path) {
  section* owner = nullptr;
  for (section& each : sections)
    if (is_above(each.name, path) && (owner == nullptr || each.name.size() > owner->name.size()))
      owner = &each;
  return owner;
}

void config::state::apply_table(const std::string& path, const config_value& table) {
  for (const config_member& member : table.members) apply_member(path, member);
}

void config::state::apply_member(const std::string& path, const config_member& member) {
  const std::string name = joined(path, member.name);
  if (find(name) != nullptr || has_below(name)) {
    if (member.value.kind == config_kind::table) return apply_table(name, member.value);
    report.faults.push_back(
        weft::format("{}: {} is a section: write [{}]", member.where, name, name));
    return;
  }
  const std::vector<std::string> below = names_below(path);
  if (section* const owner = path.empty() ? nullptr : find(path); owner != nullptr) {
    std::vector<std::string_view> others = views(below);
    for (std::string_view& each : others) each.remove_prefix(path.size() + 1);
    return read_member(*owner->type, owner->options, path, member, std::move(others), report);
  }
  if (others == unknown_sections::pass_over) return;
  report.faults.push_back(weft::format("{}: there is no section '{}'{}", member.where, name,
                                       did_you_mean(name, views(below))));
}

void config::state::apply_environment(section& to) {
  option_visit look = [&](const found_option& each) {
    const auto found = std::ranges::find(variables, variable_name(each.path), &variable::name);
    if (found == variables.end()) return;
    found->is_used = true;
    const config_value given{.kind = config_kind::raw, .text = found->value, .where = found->name};
    read_option(each.type, each.object, each.path, given, each.bound, report);
  };
  visit_options(*to.type, to.options, to.name, look);
}

void config::state::report_unused_variables(section& to) {
  std::vector<std::string> known;
  option_visit note = [&known](const found_option& each) {
    known.push_back(variable_name(each.path));
  };
  visit_options(*to.type, to.options, to.name, note);
  const std::string start = variable_name(to.name) + "_";
  for (variable& each : variables) {
    if (each.is_used || !each.name.starts_with(start)) continue;
    each.is_used = true;  // told once
    report.faults.push_back(weft::format("{}: {} has no such option{}", each.name, to.name,
                                         did_you_mean(each.name, views(known))));
  }
}

void config::state::apply_assignment(const std::string& path, const config_value& given) {
  if (is_too_deep(path)) {
    report.faults.push_back(weft::format("{}...: its name has more than {} parts",
                                         given.where.substr(0, 60), config_depth_max));
    return;
  }
  if (section* const owner = owner_of(path); owner != nullptr) {
    read_member(*owner->type, owner->options, owner->name,
                nested(std::string_view{path}.substr(owner->name.size() + 1), given), {}, report);
    return;
  }
  if (others == unknown_sections::pass_over) return;
  std::vector<std::string_view> known;
  known.reserve(sections.size());
  for (const section& each : sections) known.push_back(each.name);
  const std::string name = path.substr(0, path.rfind('.'));
  report.faults.push_back(
      weft::format("{}: there is no section '{}'{}", given.where, name, did_you_mean(name, known)));
}

}  // namespace weft
