#include "request_file.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <weft/base/format.hpp>

namespace weft::bench {
namespace {

// What stands before the next blank; that and the blanks behind it are taken off the front.
std::string_view take_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
  rest.remove_prefix(word.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  return word;
}

bool is_method_name(std::string_view word) {
  const auto is_letter = [](char letter) { return letter >= 'A' && letter <= 'Z'; };
  return !word.empty() && std::ranges::all_of(word, is_letter);
}

bool is_path(std::string_view word) {
  const auto is_seen = [](char letter) { return letter > ' ' && letter != 0x7f; };
  return word.starts_with('/') && std::ranges::all_of(word, is_seen);
}

}  // namespace

std::expected<std::vector<request_line>, std::string> parse_requests(std::string_view text) {
  std::vector<request_line> all;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == line.npos || line.starts_with('#')) continue;
    const std::string_view method = take_word(line);
    const std::string_view path = take_word(line);
    if (!is_method_name(method) || !is_path(path)) {
      return std::unexpected{weft::format(
          "line {}: '{} {}' is no request: write METHOD /PATH [BODY]", number, method, path)};
    }
    all.push_back({std::string{method}, std::string{path}, std::string{line}});
  }
  if (all.empty()) return std::unexpected{std::string{"no request: write METHOD /PATH [BODY]"}};
  return all;
}

}  // namespace weft::bench
