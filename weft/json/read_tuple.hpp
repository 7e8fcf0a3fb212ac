// Reads a std::tuple, which has all of its elements or is refused.
//
// Problem: glaze leaves elements that the array lacks as they were. Contract: inside of weft/json.
// Readers that use read_options come by here; others who use glaze have it as it is.
#pragma once

#include <weft/json/read_list.hpp>

#include <glaze/json/read.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft::json::detail {

template <class... T>
struct tuple_from {
  template <auto Options>
  static void op(auto&& value, glz::is_context auto&& context, auto&& at, auto end) {
    if constexpr (requires { Options.takes_plain_strings; }) {
      if (!range_reader::open<Options, '['>(context, at, end)) return;
      read_all<glz::ws_handled_off<Options>()>(value, context, at, end);
    } else {
      // glaze's own reader is that of a tuple of references.
      auto elements = std::apply([](T&... each) { return std::tie(each...); }, value);
      glz::from<glz::JSON, std::tuple<T&...>>::template op<Options>(elements, context, at, end);
    }
  }

 private:
  template <auto Options>
  static void read_all(std::tuple<T...>& value, read_context& context, const char*& at,
                       const char* end) {
    if (*at == ']') return fail(glz::error_code::array_element_not_found, context);
    list_step step = list_step::more;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((step == list_step::more  ? static_cast<void>(step = range_reader::read_element<Options>(
                                                        std::get<I>(value), context, at, end))
        : step == list_step::end ? fail(glz::error_code::array_element_not_found, context)
                                 : void()),
       ...);
    }(std::index_sequence_for<T...>{});
    if (step == list_step::more) fail(glz::error_code::exceeded_static_array_size, context);
  }
  static void fail(glz::error_code code, read_context& context) noexcept { context.error = code; }
};

}  // namespace weft::json::detail

template <class... T>
  requires(sizeof...(T) != 0 && (!std::is_reference_v<T> && ...))
struct glz::from<glz::JSON, std::tuple<T...>> : weft::json::detail::tuple_from<T...> {};
