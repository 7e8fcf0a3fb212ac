#include <weft/service/logger.hpp>

#include <exception>

#include <weft/service/config.hpp>

namespace weft {
namespace {

/// `line` with its values in; the compiler has seen that there is one for each field.
std::string filled(std::string_view line, const detail::log_value* next) {
  std::string message;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '{' && line[i + 1] != '{') {
      const std::size_t end = line.find('}', i);
      const std::string_view field = line.substr(i + 1, end - i - 1);
      next->append_to(message, field.substr(field.starts_with(':') ? 1 : 0));
      ++next;
      i = end;
      continue;
    }
    message += line[i];
    if (line[i] == '{' || line[i] == '}') ++i;  // doubled
  }
  return message;
}

}  // namespace

std::string logger::name() const {
  return given_name_.empty() ? section_of(type_) : std::string{given_name_};
}

log::level logger::look_up() const noexcept {
  try {
    return level_.refresh(name());
  } catch (const std::exception&) {  // no memory: the next line looks again
    return log::current_level();
  }
}

void logger::tell(log::level at, std::string_view message) const noexcept {
  try {
    log::write({at, name(), message});
  } catch (const std::exception&) {
    log::write({at, given_name_.empty() ? type_ : given_name_, message});
  }
}

void logger::tell(log::level at, std::string_view line,
                  const detail::log_value* values) const noexcept {
  try {
    tell(at, filled(line, values));
  } catch (...) {  // a value's own function may throw anything: what was to be said is left
    tell(at, line);
  }
}

}  // namespace weft
