#include <weft/service/config_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <format>
#include <utility>

#include <weft/base/error.hpp>

namespace weft::detail {
namespace {

struct broken_assumption {};

void assume(bool holds) {
  if (!holds) throw broken_assumption{};
}

}  // namespace
}  // namespace weft::detail

// Some malformed documents break what toml++ 3 asserts, such as a table named [.x]; with NDEBUG it
// makes promises to the optimiser of it instead. In both builds a broken one is to be an error.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) ::weft::detail::assume(static_cast<bool>(condition))
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace weft::detail {
namespace {

std::string place(const std::string& name, const toml::source_region& region) {
  return std::format("{}:{}:{}", name, region.begin.line, region.begin.column);
}

std::unexpected<std::string> failed(std::string_view what, const std::string& path, int number) {
  return std::unexpected{
      std::format("cannot {} {}: {}", what, path, error::from_errno(number).message())};
}

config_value converted(const toml::node& node, const std::string& name);

config_value converted_table(const toml::table& table, const std::string& name) {
  config_value value{.kind = config_kind::table};
  for (const auto& [key, node] : table)
    value.members.push_back(
        {std::string{key.str()}, place(name, key.source()), converted(node, name)});
  return value;
}

config_value converted_list(const toml::array& array, const std::string& name) {
  config_value value{.kind = config_kind::list};
  for (const toml::node& node : array)
    value.members.push_back({{}, place(name, node.source()), converted(node, name)});
  return value;
}

config_value converted_scalar(const toml::node& node) {
  if (const auto* const text = node.as_string())
    return {.kind = config_kind::text, .text = text->get()};
  if (const auto* const number = node.as_integer())
    return {.kind = config_kind::integer, .integer = number->get()};
  if (const auto* const number = node.as_floating_point())
    return {.kind = config_kind::floating, .floating = number->get()};
  if (const auto* const flag = node.as_boolean())
    return {.kind = config_kind::boolean, .boolean = flag->get()};
  return {.kind = config_kind::other, .text = "a date or time of day"};
}

config_value converted(const toml::node& node, const std::string& name) {
  config_value value;
  if (const auto* const table = node.as_table())
    value = converted_table(*table, name);
  else if (const auto* const array = node.as_array())
    value = converted_list(*array, name);
  else
    value = converted_scalar(node);
  value.where = place(name, node.source());
  return value;
}

/// The end of the string that begins at `start` with a quote: behind its last one, or where its
/// line or the text ends without one.
std::size_t end_of_string(std::string_view text, std::size_t start) {
  const char quote = text[start];
  const std::string closing(text.substr(start, 3) == std::string(3, quote) ? 3 : 1, quote);
  for (std::size_t i = start + closing.size(); i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"')
      ++i;
    else if (text.substr(i).starts_with(closing))
      return i + closing.size();
    else if (text[i] == '\n' && closing.size() == 1)
      return i;
  }
  return text.size();
}

/// The first byte that is not ASCII though it stands in no string and no comment, where TOML has
/// nothing else, and toml++ 3 looks for spaces by undefined behaviour. npos: there is none.
std::size_t first_stray_byte(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  std::size_t i = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  while (i < text.size()) {
    if (static_cast<unsigned char>(text[i]) >= 0x80) return i;
    if (text[i] == '"' || text[i] == '\'')
      i = end_of_string(text, i);
    else
      i = text[i] == '#' ? std::min(text.find('\n', i), text.size()) : i + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::expected<std::string, std::string> read_config_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return failed("open", path, errno);
  std::string text(config_file_bytes_max + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto bytes = ::read(file, text.data() + size, text.size() - size);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) {
      const int number = errno;
      ::close(file);
      return failed("read", path, number);
    }
    if (bytes == 0) break;
    size += static_cast<std::size_t>(bytes);
  }
  ::close(file);
  if (size > config_file_bytes_max)
    return std::unexpected{
        std::format("cannot read {}: {}", path, error{errc::limit_exceeded, EFBIG}.message()) +
        std::format("; options take at most {} bytes", config_file_bytes_max)};
  text.resize(size);
  return text;
}

std::expected<config_value, std::string> parse_toml(std::string_view text,
                                                    const std::string& name) {
  if (const std::size_t stray = first_stray_byte(text); stray != std::string_view::npos) {
    const std::string_view before = text.substr(0, stray);
    return std::unexpected{std::format(
        "{}:{}:{}: only strings and comments have other letters than ASCII's; put it in quotes",
        name, std::ranges::count(before, '\n') + 1, stray - (before.rfind('\n') + 1) + 1)};
  }
  try {
    return converted(toml::parse(text), name);
  } catch (const toml::parse_error& why) {
    return std::unexpected{std::format("{}: {}", place(name, why.source()), why.description())};
  } catch (const broken_assumption&) {
    return std::unexpected{std::format("{} is no TOML: a name is missing or malformed", name)};
  }
}

}  // namespace weft::detail
