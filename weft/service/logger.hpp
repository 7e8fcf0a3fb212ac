// A log that knows whose it is.
//
// Problem: of a program's lines one wants to know which service wrote them, and to hear more of one
// and less of the others while it runs; and a line that nobody wants must not be formatted first.
// Contract: a constructor that takes a `logger&` gets one of its own, named as its service's
// section of the options: "http.server", or the name that was given by named(). An application has
// loggers for all; any other container is told by add<logger>().per_consumer(). Levels are those of
// weft/base/log_levels.hpp. Below its level a line costs two relaxed loads; its values are neither
// formatted nor copied. A line is text, or text with a pair of braces for each value, as
// std::format has them; the compiler counts them. Any thread; never throws, never waits for
// whoever reads the log.
//
//   explicit store(weft::logger& log) : log_{log} {}
//   log_.info("opened {} in {}", path, took);
//   if (!read) log_.warning("row {} is not readable: {}", key, read.error());
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include <weft/base/log.hpp>
#include <weft/base/log_levels.hpp>
#include <weft/service/log_value.hpp>
#include <weft/service/needs.hpp>

namespace weft {

class logger final {
 public:
  /// The text of a line with values of these types.
  template <class... Values>
  using text = std::type_identity_t<detail::log_text<Values...>>;

  explicit logger(consumer asked) noexcept : type_{asked.type}, given_name_{asked.name} {}
  logger(const logger&) = delete;
  logger& operator=(const logger&) = delete;
  ~logger() = default;

  void trace(std::string_view message) const noexcept { write(log::level::trace, message); }
  void debug(std::string_view message) const noexcept { write(log::level::debug, message); }
  void info(std::string_view message) const noexcept { write(log::level::info, message); }
  void warning(std::string_view message) const noexcept { write(log::level::warning, message); }
  void error(std::string_view message) const noexcept { write(log::level::error, message); }

  template <class First, class... Rest>
  void trace(text<First, Rest...> line, const First& first, const Rest&... rest) const noexcept {
    write(log::level::trace, line, first, rest...);
  }
  template <class First, class... Rest>
  void debug(text<First, Rest...> line, const First& first, const Rest&... rest) const noexcept {
    write(log::level::debug, line, first, rest...);
  }
  template <class First, class... Rest>
  void info(text<First, Rest...> line, const First& first, const Rest&... rest) const noexcept {
    write(log::level::info, line, first, rest...);
  }
  template <class First, class... Rest>
  void warning(text<First, Rest...> line, const First& first, const Rest&... rest) const noexcept {
    write(log::level::warning, line, first, rest...);
  }
  template <class First, class... Rest>
  void error(text<First, Rest...> line, const First& first, const Rest&... rest) const noexcept {
    write(log::level::error, line, first, rest...);
  }

  /// As the functions above, at a level that is known only then; not level::off.
  void write(log::level at, std::string_view message) const noexcept {
    if (enabled(at)) tell(at, message);
  }
  template <class First, class... Rest>
  void write(log::level at, text<First, Rest...> line, const First& first,
             const Rest&... rest) const noexcept {
    if (!enabled(at)) return;
    const std::array<detail::log_value, 1 + sizeof...(Rest)> values{detail::log_value{first},
                                                                    detail::log_value{rest}...};
    tell(at, line.view(), values.data());
  }

  /// For what only a wanted line should cost.
  [[nodiscard]] bool enabled(log::level at) const noexcept {
    return at >= (level_.is_current() ? level_.get() : look_up());
  }

  /// Empty: it belongs to nobody.
  [[nodiscard]] std::string name() const;

 private:
  [[nodiscard]] log::level look_up() const noexcept;
  void tell(log::level at, std::string_view message) const noexcept;
  void tell(log::level at, std::string_view line, const detail::log_value* values) const noexcept;

  std::string_view type_;
  std::string_view given_name_;
  mutable log::detail::cached_level level_;
};

}  // namespace weft
