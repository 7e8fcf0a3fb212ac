#include <weft/base/without_user.hpp>

#include <algorithm>

namespace weft {

std::string without_user(std::string_view text) {
  const std::size_t scheme_end = text.find("://");
  const std::size_t begin = scheme_end == std::string_view::npos ? 0 : scheme_end + 3;
  const std::string_view rest = text.substr(begin);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  // A password with a slash in it looks like a port that is no number.
  const bool has_port_of_digits =
      colon == std::string_view::npos ||
      authority.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  const bool is_whole = !authority.contains('@') && has_port_of_digits;
  const std::size_t at = is_whole ? std::string_view::npos : rest.rfind('@');
  if (at == std::string_view::npos) return std::string{text};
  return std::string{text.substr(0, begin)}.append("***").append(rest.substr(at));
}

std::string without_password(std::string_view text) {
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return std::string{text};
  const std::string_view rest = text.substr(scheme_end + 3);
  const bool is_http = text.starts_with("http:") || text.starts_with("https:");
  const bool has_password = rest.substr(0, rest.rfind('@')).contains(':');
  return is_http || has_password ? without_user(text) : std::string{text};
}

std::string without_passwords(std::string_view text) {
  constexpr std::string_view ends = " \t\r\n'\"";
  std::string out;
  for (std::size_t at = text.find("://"); at != text.npos; at = text.find("://")) {
    const std::size_t blank = text.find_last_of(ends, at);
    const std::size_t begin = blank == text.npos ? 0 : blank + 1;
    const std::size_t end = std::min(text.find_first_of(ends, at), text.size());
    out.append(text.substr(0, begin)).append(without_password(text.substr(begin, end - begin)));
    text.remove_prefix(end);
  }
  return out += text;
}

}  // namespace weft
