#include <weft/service/config_reader.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <weft/base/format.hpp>
#include <weft/service/config_text.hpp>
#include <weft/service/nearest_word.hpp>

namespace weft::detail {
namespace {

// What is quoted in a fault is cut here: a value may be as large as its file.
constexpr std::size_t quoted_bytes_max = 60;

std::string shown(std::string_view text) {
  if (text.size() <= quoted_bytes_max) return detail::quoted(text);
  return detail::quoted(std::string{text.substr(0, quoted_bytes_max)} + "...");
}

std::string shown(const config_value& given) {
  switch (given.kind) {
    case config_kind::boolean: return given.boolean ? "true" : "false";
    case config_kind::integer: return std::to_string(given.integer);
    case config_kind::floating: return real_text(given.floating);
    case config_kind::text:
    case config_kind::raw: return shown(given.text);
    case config_kind::list: return "a list";
    case config_kind::table: return "a table";
    case config_kind::other: break;
  }
  return given.text;
}

/// Whether the last word of a path is of something that is measured in bytes: "body_bytes".
bool is_of_bytes(std::string_view path) {
  path.remove_prefix(path.rfind('.') + 1);
  path = path.substr(0, path.find('['));
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('_'), path.size());
    if (path.substr(0, end) == "bytes") return true;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

/// What an option may be: what its type can hold, or less where its struct says so.
class option_range {
 public:
  option_range(const option_type& type, const member_bound* bound) : type_{type}, bound_{bound} {}

  [[nodiscard]] bool has(std::int64_t number) const {
    if (is_unsigned()) return number >= 0 && has(static_cast<std::uint64_t>(number));
    return number >= least() && number <= static_cast<std::int64_t>(most());
  }
  [[nodiscard]] bool has(std::uint64_t number) const {
    if (is_unsigned()) return number <= most() && number >= static_cast<std::uint64_t>(least());
    return std::in_range<std::int64_t>(number) && has(static_cast<std::int64_t>(number));
  }
  [[nodiscard]] bool has(double number) const {
    return bound_ == nullptr || bound_->allows(number);
  }
  /// What an option holds already.
  [[nodiscard]] bool has_value_of(const void* object) const {
    if (type_.kind == option_kind::floating) return has(type_.real(object));
    if (type_.kind == option_kind::unsigned_integer) return has(type_.bits(object));
    return has(static_cast<std::int64_t>(type_.bits(object)));
  }
  /// "from 1 to 10", "at least 1s".
  [[nodiscard]] std::string text() const {
    if (type_.kind == option_kind::floating)
      return text(as_real(bound_->least_text()), bound_->has_most(), as_real(bound_->most_text()));
    if (is_unsigned())
      return text(std::to_string(static_cast<std::uint64_t>(least())), true,
                  std::to_string(most()));
    if (type_.kind != option_kind::duration)
      return text(std::to_string(least()), true, std::to_string(static_cast<std::int64_t>(most())));
    const bool ends = most() < type_.most;
    return text(ticks_text(least()), ends,
                ends ? ticks_text(static_cast<std::int64_t>(most())) : "");
  }

 private:
  [[nodiscard]] bool is_unsigned() const { return type_.kind == option_kind::unsigned_integer; }
  [[nodiscard]] std::int64_t least() const { return bound_ ? bound_->least : type_.least; }
  /// Has a sign where the type has one.
  [[nodiscard]] std::uint64_t most() const { return bound_ ? bound_->most : type_.most; }
  [[nodiscard]] std::string ticks_text(std::int64_t ticks) const {
    return time_text(ticks * type_.tick_ns);
  }
  static std::string text(const std::string& least, bool ends, const std::string& most) {
    return ends ? weft::format("from {} to {}", least, most) : weft::format("at least {}", least);
  }

  const option_type& type_;
  const member_bound* bound_;
};

/// Reads one value that is neither list nor table.
class scalar_reader {
 public:
  scalar_reader(const option_type& type, void* object, const std::string& path,
                const config_value& given, const member_bound* bound, config_report& report)
      : type_{type},
        object_{object},
        path_{path},
        given_{given},
        range_{type, bound},
        report_{report} {}

  void read() {
    switch (type_.kind) {
      case option_kind::boolean: return read_boolean();
      case option_kind::integer:
      case option_kind::unsigned_integer: return read_whole();
      case option_kind::floating: return read_real();
      case option_kind::text: return read_text();
      case option_kind::enumeration: return read_name();
      case option_kind::duration: return read_time();
      case option_kind::optional:
      case option_kind::list:
      case option_kind::table: break;
    }
  }

 private:
  [[nodiscard]] bool is_text() const {
    return given_.kind == config_kind::text || given_.kind == config_kind::raw;
  }

  void take() const { report_.origins[path_] = given_.where; }
  void take_bits(std::uint64_t bits) const {
    type_.set_bits(object_, bits);
    take();
  }
  void refuse(std::string_view wanted, std::string_view hint = {}) const {
    report_.faults.push_back(
        weft::format("{}: {} is {}, not {}{}", given_.where, path_, wanted, shown(given_), hint));
  }
  void refuse_range() const {
    report_.faults.push_back(weft::format("{}: {} is {}; {} is out of range", given_.where, path_,
                                          range_.text(), shown(given_)));
  }

  void read_boolean() const {
    if (given_.kind == config_kind::boolean) return take_bits(given_.boolean ? 1 : 0);
    if (given_.kind == config_kind::raw && (given_.text == "true" || given_.text == "false"))
      return take_bits(given_.text == "true" ? 1 : 0);
    refuse("true or false");
  }

  void read_whole() const {
    std::int64_t number = given_.integer;
    std::uint64_t size = 0;
    if (given_.kind == config_kind::integer) return take_whole(number);
    const bool may_be_size = is_of_bytes(path_);
    const bool has_unit = is_text() && !given_.text.empty() && given_.text.back() == 'B';
    auto fault = text_fault::malformed;
    if (may_be_size ? is_text() : given_.kind == config_kind::raw && !has_unit)
      fault = parse_size(given_.text, size);
    if (fault == text_fault::none) return take_size(size);
    if (fault == text_fault::malformed && given_.kind == config_kind::raw)
      fault = parse_integer(given_.text, number);
    if (fault == text_fault::none) return take_whole(number);
    if (fault == text_fault::out_of_range) return refuse_range();
    refuse(may_be_size ? "a whole number or a size such as \"64KiB\"" : "a whole number");
  }
  void take_whole(std::int64_t number) const {
    if (!range_.has(number)) return refuse_range();
    take_bits(static_cast<std::uint64_t>(number));
  }
  void take_size(std::uint64_t number) const {
    if (!range_.has(number)) return refuse_range();
    take_bits(number);
  }

  void read_real() const {
    double number = given_.floating;
    auto fault = text_fault::malformed;
    if (given_.kind == config_kind::integer) number = static_cast<double>(given_.integer);
    if (given_.kind == config_kind::integer || given_.kind == config_kind::floating)
      fault = text_fault::none;
    else if (given_.kind == config_kind::raw)
      fault = parse_real(given_.text, number);
    if (fault == text_fault::malformed) return refuse("a number");
    if (fault == text_fault::none && !range_.has(number)) return refuse_range();
    if (fault == text_fault::none) type_.set_real(object_, number);
    // A float that became infinite.
    if (fault != text_fault::none || (std::isinf(type_.real(object_)) && !std::isinf(number)))
      return refuse("a number", ": it is too large");
    take();
  }

  void read_text() const {
    if (!is_text()) return refuse("text");
    *static_cast<std::string*>(object_) = given_.text;
    take();
  }

  void read_name() const {
    std::vector<std::string_view> known;
    for (const enumerator& each : type_.names) {
      if (is_text() && each.text == given_.text)
        return take_bits(static_cast<std::uint64_t>(each.value));
      known.push_back(each.text);
    }
    refuse(weft::format("one of {}", list_of(known)),
           is_text() ? did_you_mean(given_.text, known) : std::string{});
  }

  void read_time() const {
    std::int64_t ns = 0;
    const auto fault = is_text() ? parse_time(given_.text, ns) : text_fault::malformed;
    if (fault == text_fault::malformed)
      return refuse("a time such as \"10s\" (ns, us, ms, s, min, h, d; whole numbers)");
    if (fault == text_fault::none && ns % type_.tick_ns != 0)
      return refuse(weft::format("a whole number of times {}", time_text(type_.tick_ns)));
    const auto ticks = static_cast<std::uint64_t>(ns / type_.tick_ns);
    if (fault == text_fault::out_of_range || ticks > type_.most)
      return refuse("a time", ": it is too long");
    if (!range_.has(ticks)) return refuse_range();
    take_bits(ticks);
  }

  const option_type& type_;
  void* object_;
  const std::string& path_;
  const config_value& given_;
  option_range range_;
  config_report& report_;
};

config_value raw_part(const config_value& whole, std::string_view text) {
  return {.kind = config_kind::raw, .text = std::string{text}, .where = whole.where};
}

/// "a,b,c", as the environment and the command line have lists.
std::vector<config_member> parts_of(const config_value& whole) {
  std::vector<config_member> parts;
  std::string_view rest = whole.text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    parts.push_back({{}, whole.where, raw_part(whole, rest.substr(0, comma))});
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return parts;
}

void read_list(const option_type& type, void* object, const std::string& path,
               const config_value& given, const member_bound* bound, config_report& report) {
  if (given.kind != config_kind::list && given.kind != config_kind::raw) {
    report.faults.push_back(
        weft::format("{}: {} is a list, not {}", given.where, path, shown(given)));
    return;
  }
  type.clear(object);
  const auto& members = given.kind == config_kind::list ? given.members : parts_of(given);
  std::size_t index = 0;
  for (const config_member& each : members)
    read_option(*type.element, type.append(object), weft::format("{}[{}]", path, index++),
                each.value, bound, report);
  report.origins[path] = given.where;
}

void read_table(const option_type& type, void* object, const std::string& path,
                const config_value& given, config_report& report) {
  if (given.kind != config_kind::table) {
    report.faults.push_back(
        weft::format("{}: {} is a table, not {}", given.where, path, shown(given)));
    return;
  }
  for (const config_member& each : given.members) read_member(type, object, path, each, {}, report);
}

void check_value(const option_type& type, const void* object, const member_bound& bound,
                 const std::string& whose, config_report& report) {
  if (type.kind == option_kind::optional || type.kind == option_kind::list) {
    for (std::size_t i = 0; i < type.size(object); ++i)
      check_value(*type.element, type.at(object, i), bound, whose, report);
    return;
  }
  const option_range range{type, &bound};
  if (!range.has_value_of(object))
    report.faults.push_back(weft::format("{} is {}; {} is out of range", whose, range.text(),
                                         option_text(type, object)));
}

}  // namespace

void read_option(const option_type& type, void* object, const std::string& path,
                 const config_value& given, const member_bound* bound, config_report& report) {
  switch (type.kind) {
    case option_kind::list: return read_list(type, object, path, given, bound, report);
    case option_kind::table: return read_table(type, object, path, given, report);
    case option_kind::optional:
      type.clear(object);
      if (given.kind == config_kind::raw && given.text.empty()) {
        report.origins[path] = given.where;
        return;
      }
      return read_option(*type.element, type.append(object), path, given, bound, report);
    default: return scalar_reader{type, object, path, given, bound, report}.read();
  }
}

void read_member(const option_type& table, void* object, const std::string& path,
                 const config_member& given, std::vector<std::string_view> others,
                 config_report& report) {
  const auto field = std::ranges::find(table.fields, given.name, &option_field::name);
  if (field == table.fields.end()) {
    for (const option_field& each : table.fields)
      if (each.type != nullptr) others.push_back(each.name);
    report.faults.push_back(weft::format("{}: {} has no option {}{}", given.where, path,
                                         shown(given.name), did_you_mean(given.name, others)));
  } else if (field->type == nullptr) {
    report.faults.push_back(
        weft::format("{}: {}.{} can only be set by the program", given.where, path, given.name));
  } else {
    void* const value = field->in(object);
    read_option(*field->type, value, weft::format("{}.{}", path, given.name), given.value,
                table.bound_of(object, value), report);
  }
}

void check_options(const option_type& table, void* object, const std::string& path,
                   option_origin& origin_of, config_report& report) {
  for (const option_field& field : table.fields) {
    if (field.type == nullptr) continue;
    const std::string name = weft::format("{}.{}", path, field.name);
    void* const value = field.in(object);
    const member_bound* const bound = table.bound_of(object, value);
    if (field.type->kind == option_kind::table)
      check_options(*field.type, value, name, origin_of, report);
    else if (bound != nullptr && !report.origins.contains(name))
      check_value(*field.type, value, *bound, weft::format("{}: {}", origin_of(name), name),
                  report);
  }
}

void find_faults(const option_type& table, void* object, const std::string& path,
                 option_origin& origin_of, std::vector<std::string>& faults) {
  if (table.faults != nullptr)
    for (const option_fault& each : table.faults(object)) {
      const std::string name = weft::format("{}.{}", path, each.option);
      faults.push_back(weft::format("{}: {}: {}", origin_of(name), name, each.what));
    }
  for (const option_field& field : table.fields)
    if (field.type != nullptr && field.type->kind == option_kind::table)
      find_faults(*field.type, field.in(object), weft::format("{}.{}", path, field.name), origin_of,
                  faults);
}

}  // namespace weft::detail
