// Reads and writes enums by the names of their enumerators.
//
// Problem: glaze writes and reads an enum as a number, takes any number for it, and a reader of the
// document cannot tell what 1 means. Contract: inside of weft/json. A named_enum is written as the
// name of an enumerator, and read from it. The number of an enumerator is read as well, with a
// warning once for each type in a process; that ends with 0.3. All else is refused
// (glz::error_code::unexpected_enum), numbers of no enumerator included. Others who use glaze have
// it as it is.
#pragma once

#include <weft/json/enum_names.hpp>
#include <weft/json/reflection.hpp>

#include <glaze/json/read.hpp>
#include <glaze/json/write.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace weft::json::detail {

/// "a number was read for shop::side: ..."; the log has it.
[[gnu::cold]] void warn_of_number(std::string_view type, std::string_view example);

template <class T>
struct named_enum_from {
  template <auto Options>
  static void op(auto&& value, glz::is_context auto&& context, auto&& at, auto end) {
    if constexpr (!glz::check_ws_handled(Options))
      if (glz::skip_ws<Options>(context, at, end)) return;
    const auto begin = at;
    const bool is_ours = [&] {
      if constexpr (requires { Options.takes_plain_strings; }) {
        static_assert(all_names_known<T>());
        return *at == '"' ? read_name<Options>(value, context, at, end)
                          : read_number<Options>(value, context, at, end);
      } else {
        return read_any_number<Options>(value, context, at, end);
      }
    }();
    if (is_ours || static_cast<bool>(context.error)) return;
    context.error = glz::error_code::unexpected_enum;
    at = begin;
  }

 private:
  template <auto Options>
  static bool read_name(T& value, auto& context, auto& at, auto end) {
    std::string name;
    glz::parse<glz::JSON>::op<glz::ws_handled<Options>()>(name, context, at, end);
    return !static_cast<bool>(context.error) && find_enumerator(name, value);
  }

  template <auto Options>
  static bool read_number(T& value, auto& context, auto& at, auto end) {
    if (*at != '-' && (*at < '0' || *at > '9')) [[unlikely]] {
      context.error = glz::error_code::expected_quote;
      return false;
    }
    std::int64_t number = 0;
    glz::parse<glz::JSON>::op<glz::ws_handled<Options>()>(number, context, at, end);
    if (static_cast<bool>(context.error) || !find_enumerator(number, value)) return false;
    static std::atomic_flag is_told;
    if (!is_told.test_and_set())
      warn_of_number(glz::type_name<T>, weft::detail::enumerators_of<T>[0].text);
    return true;
  }

  template <auto Options>
  static bool read_any_number(T& value, auto& context, auto& at, auto end) {
    std::underlying_type_t<T> number{};
    glz::parse<glz::JSON>::op<glz::ws_handled<Options>()>(number, context, at, end);
    if (static_cast<bool>(context.error)) return false;
    value = static_cast<T>(number);
    return true;
  }
};

template <class T>
struct named_enum_to {
  template <auto Options>
  static void op(auto&& value, glz::is_context auto&& context, auto&&... out) {
    if constexpr (requires { Options.puts_plain_strings; }) {
      static_assert(all_names_known<T>());
      if (const std::string_view name = name_of(T{value}); !name.empty()) {
        glz::serialize<glz::JSON>::op<Options>(name, context, out...);
        return;
      }
    }
    const auto number = static_cast<std::underlying_type_t<T>>(value);
    glz::serialize<glz::JSON>::op<Options>(number, context, out...);
  }
};

/// What glaze quotes to make a name of it: an enum that is the key of a map.
template <class T>
struct enum_key_to {
  template <auto Options>
  static void op(auto&& key, glz::is_context auto&& context, auto&&... out) {
    std::string number;
    std::string_view text;
    if constexpr (named_enum<T>) {
      static_assert(all_names_known<T>());
      text = name_of(key.val);
    }
    if (text.empty()) text = number = std::to_string(std::to_underlying(key.val));
    glz::serialize<glz::JSON>::op<Options>(text, context, out...);
  }
};

}  // namespace weft::json::detail

template <weft::json::detail::named_enum T>
struct glz::from<glz::JSON, T> : weft::json::detail::named_enum_from<T> {};
template <weft::json::detail::named_enum T>
struct glz::to<glz::JSON, T> : weft::json::detail::named_enum_to<T> {};
template <weft::json::detail::key_enum T>
struct glz::to<glz::JSON, glz::quoted_t<const T>> : weft::json::detail::enum_key_to<T> {};
