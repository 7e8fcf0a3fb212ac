// Reads a std::variant that has an enum among its alternatives.
//
// Problem: glaze picks an alternative by the kind of the value, and takes an enum for none of them.
// Contract: inside of weft/json. A text is tried in the order of the alternatives, so that a
// std::string before an enum takes all names. A number is read as an enum only if no other
// alternative takes it. What remains is left to glaze, as a variant of the other alternatives.
#pragma once

#include <weft/json/named_enum.hpp>
#include <weft/json/read_context.hpp>

#include <glaze/json/read.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace weft::json::detail {

template <class... T>
concept any_named_enum = (named_enum<T> || ...);

/// Which of the alternatives are enums, or are not, by their numbers.
template <bool IsEnum, class... T>
inline constexpr auto alternatives_where = [] {
  constexpr std::size_t count = (std::size_t{0} + ... + (named_enum<T> == IsEnum ? 1U : 0U));
  constexpr bool is_enum[] = {named_enum<T>...};
  std::array<std::size_t, count> found{};
  for (std::size_t i = 0, next = 0; i < sizeof...(T); ++i)
    if (is_enum[i] == IsEnum) found[next++] = i;
  return found;
}();

template <class... T>
struct named_variant_from {
  using variant = std::variant<T...>;
  static constexpr auto enums = alternatives_where<true, T...>;
  static constexpr auto others = alternatives_where<false, T...>;
  static constexpr bool has_number = ((!named_enum<T> && glz::variant_num_type<T>) || ...);
  /// The first of the others that may be a text; enums before it are tried before.
  static constexpr std::size_t first_text = [] {
    constexpr bool is_text[] = {(!named_enum<T> && glz::variant_str_type<T>)...};
    std::size_t at = 0;
    while (at < sizeof...(T) && !is_text[at]) ++at;
    return at;
  }();

  template <auto Options>
  static void op(auto&& value, glz::is_context auto&& context, auto&& at, auto end) {
    if constexpr (!glz::check_ws_handled(Options))
      if (glz::skip_ws<Options>(context, at, end)) return;
    constexpr auto inner = glz::ws_handled<Options>();
    const auto begin = at;
    const auto depth = context.depth;
    if (*begin == '"' && read_enum<inner>(value, 0, first_text, context, at, end)) return;
    if (static_cast<bool>(context.error)) return;
    if (read_other<inner>(value, context, at, end)) return;
    const bool is_number = *begin == '-' || (*begin >= '0' && *begin <= '9');
    if (!is_number && *begin != '"') return;
    const auto error = std::exchange(context.error, glz::error_code::none);
    const auto failed_at = std::exchange(at, begin);
    context.depth = depth;
    const std::size_t untried = is_number ? 0 : first_text;
    if (read_enum<inner>(value, untried, sizeof...(T), context, at, end)) return;
    if (static_cast<bool>(context.error)) return;
    const bool is_specific = is_number && has_number;
    context.error = is_specific ? error : glz::error_code::no_matching_variant_type;
    at = is_specific ? failed_at : begin;
  }

 private:
  /// Of the alternatives from `first` to before `last`. False without an error: none fits,
  /// and `at` is where it was.
  template <auto Options>
  static bool read_enum(variant& value, std::size_t first, std::size_t last, auto& context,
                        auto& at, auto end) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return ((enums[I] >= first && enums[I] < last && !static_cast<bool>(context.error) &&
               read_one<Options, enums[I]>(value, context, at, end)) ||
              ...);
    }(std::make_index_sequence<enums.size()>{});
  }
  template <auto Options, std::size_t I>
  static bool read_one(variant& value, auto& context, auto& at, auto end) {
    const auto begin = at;
    std::variant_alternative_t<I, variant> read{};
    glz::parse<glz::JSON>::op<Options>(read, context, at, end);
    if (!static_cast<bool>(context.error)) {
      value.template emplace<I>(read);
      return true;
    }
    if (context.error == glz::error_code::unexpected_enum || *begin != '"') {
      context.error = glz::error_code::none;
      at = begin;
    }
    return false;
  }

  template <auto Options>
  static bool read_other(variant& value, auto& context, auto& at, auto end) {
    if constexpr (others.empty()) {
      context.error = glz::error_code::no_matching_variant_type;
    } else if constexpr (others.size() == 1) {
      std::variant_alternative_t<others[0], variant> read{};
      glz::parse<glz::JSON>::op<Options>(read, context, at, end);
      if (!static_cast<bool>(context.error)) value.template emplace<others[0]>(std::move(read));
    } else {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        std::variant<std::variant_alternative_t<others[I], variant>...> read;
        glz::parse<glz::JSON>::op<Options>(read, context, at, end);
        if (static_cast<bool>(context.error)) return;
        ((read.index() == I
              ? static_cast<void>(value.template emplace<others[I]>(std::get<I>(std::move(read))))
              : void()),
         ...);
      }(std::make_index_sequence<others.size()>{});
    }
    return !static_cast<bool>(context.error);
  }
};

}  // namespace weft::json::detail

template <class... T>
  requires(weft::json::detail::any_named_enum<T...>)
struct glz::from<glz::JSON, std::variant<T...>> : weft::json::detail::named_variant_from<T...> {};
