// Lists and maps, which are all that makes a document larger in memory than it is as a text.
//
// Problem: glaze makes elements for as long as the text has some: three bytes, "{},", become as
// many as the type has. Contract: inside of weft/json. Readers that use read_context come by here
// for any std::vector, bounded_vector, deque, list, set or map, or what is used like them and made
// from a template: each element is charged before it is made (read_context::charge), one more than
// a bounded_vector may have is refused (glz::error_code::exceeded_static_array_size), and so is the
// name that a map has already (glz::error_code::name_mismatch). A list that holds elements keeps
// those, with their memory, and reads into them; a map begins empty. Others who use glaze have it
// as it is.
#pragma once

#include <weft/json/bounded_vector.hpp>
#include <weft/json/enum_names.hpp>
#include <weft/json/member_names.hpp>
#include <weft/json/read_context.hpp>
#include <weft/json/white_space.hpp>

#include <glaze/json/read.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace weft::json::detail {

/// What glaze reads by a reader of its own.
template <class T>
struct glaze_range : T {};
template <class T>
inline constexpr bool is_glaze_range = false;
template <class T>
inline constexpr bool is_glaze_range<glaze_range<T>> = true;

template <class T>
concept growing_range = !is_glaze_range<T> && glz::readable_array_t<T> &&
                        (glz::emplace_backable<T> || glz::emplaceable<T>) &&
                        !glz::glaze_value_t<T> && !glz::has_try_emplace_back<T>;
template <class T>
concept growing_list = growing_range<T> && !glz::pair_t<typename T::value_type>;

template <class Key>
concept counted_key = std::same_as<Key, std::string> || std::is_arithmetic_v<Key> || key_enum<Key>;
template <class T>
concept growing_map = !is_glaze_range<T> && glz::readable_map_t<T> && !glz::glaze_value_t<T> &&
                      counted_key<typename T::key_type> && requires(T& map) { map.clear(); };
/// Pairs in a list are an object, too, whose names may be repeated: all are kept.
template <class T>
concept growing_pairs =
    growing_range<T> && glz::emplace_backable<T> && glz::pair_t<typename T::value_type> &&
    counted_key<typename T::value_type::first_type>;

template <class T>
concept bounded = requires {
  { T::most() } -> std::convertible_to<std::size_t>;
};

/// Of memory, beside what it owns that grows.
template <class T>
inline constexpr std::size_t element_bytes = sizeof(T) + owned_bytes<T>;

/// Behind an element.
enum class list_step : unsigned char { more, end, failed };

struct range_reader {
  /// Past `bracket`, one level deeper, at what comes first. False: it is not there.
  template <auto Options, char Bracket>
  static bool open(read_context& context, const char*& at, const char* end) {
    if constexpr (!glz::check_ws_handled(Options)) skip_ws<Options>(context, at, end);
    if (*at != Bracket) [[unlikely]] {
      context.error =
          Bracket == '[' ? glz::error_code::expected_bracket : glz::error_code::expected_brace;
      return false;
    }
    ++at;
    if (glz::enter_depth(context)) [[unlikely]]
      return false;
    skip_ws<Options>(context, at, end);
    return true;
  }

  static bool close(char bracket, read_context& context, const char*& at) noexcept {
    if (*at != bracket) return false;
    --context.depth;
    ++at;
    return true;
  }

  template <auto Options>
  static list_step read_element(auto&& element, read_context& context, const char*& at,
                                const char* end) {
    glz::parse<glz::JSON>::op<glz::ws_handled<Options>()>(element, context, at, end);
    if (static_cast<bool>(context.error)) [[unlikely]]
      return list_step::failed;
    return behind<Options>(']', context, at, end);
  }

  template <auto Options>
  static list_step behind(char bracket, read_context& context, const char*& at, const char* end) {
    skip_ws<Options>(context, at, end);
    if (close(bracket, context, at)) return list_step::end;
    if (*at != ',') [[unlikely]] {
      context.error = glz::error_code::expected_bracket;
      return list_step::failed;
    }
    ++at;
    skip_ws<Options>(context, at, end);
    return list_step::more;
  }

  template <class List>
  static bool may_grow(const List& list, read_context& context) noexcept {
    if constexpr (bounded<List>) {
      if (list.size() >= List::most()) [[unlikely]] {
        context.most_elements = List::most();
        context.error = glz::error_code::exceeded_static_array_size;
        return false;
      }
    }
    return context.charge(element_bytes<typename List::value_type>);
  }

  template <auto Options, class List>
  static void read_list(List& list, read_context& context, const char*& at, const char* end) {
    if (!open<Options, '['>(context, at, end)) return;
    constexpr auto inner = glz::ws_handled_off<Options>();
    if (close(']', context, at)) return list.clear();
    if constexpr (glz::emplace_backable<List>)
      read_sequence<inner>(list, context, at, end);
    else
      read_set<inner>(list, context, at, end);
  }

  template <auto Options, class List>
  static void read_sequence(List& list, read_context& context, const char*& at, const char* end) {
    for (auto place = list.begin(); place != list.end();) {
      if (!context.charge(element_bytes<typename List::value_type>)) return;
      const list_step step = read_element<Options>(*place, context, at, end);
      ++place;
      if (step == list_step::end) list.erase(place, list.end());
      if (step != list_step::more) return;
    }
    while (may_grow(list, context))
      if (read_element<Options>(list.emplace_back(), context, at, end) != list_step::more) return;
  }

  template <auto Options, class Set>
  static void read_set(Set& set, read_context& context, const char*& at, const char* end) {
    set.clear();
    while (may_grow(set, context)) {
      typename Set::value_type element{};
      const list_step step = read_element<Options>(element, context, at, end);
      if (step != list_step::failed) set.emplace(std::move(element));
      if (step != list_step::more) return;
    }
  }

  template <auto Options, class Map>
  static void read_map(Map& map, read_context& context, const char*& at, const char* end) {
    if constexpr (glz::check_opening_handled(Options))
      skip_ws<Options>(context, at, end);
    else if (!open<Options, '{'>(context, at, end))
      return;
    constexpr auto inner = glz::opening_handled_off<glz::ws_handled_off<Options>()>();
    map.clear();
    if (close('}', context, at)) return;
    do {
      if (!read_pair<inner>(map, context, at, end)) return;
    } while (behind<inner>('}', context, at, end) == list_step::more);
  }

  template <auto Options, class Map>
  static bool read_pair(Map& map, read_context& context, const char*& at, const char* end) {
    const char* const name = at;
    if (*at != '"') [[unlikely]] {
      context.error = glz::error_code::expected_quote;
      return false;
    }
    using key_type = std::remove_const_t<typename Map::value_type::first_type>;
    using mapped_type = typename Map::value_type::second_type;
    key_type key{};
    read_key<Options>(key, context, at, end);
    if (static_cast<bool>(context.error) || glz::parse_ws_colon<Options>(context, at, end) ||
        !context.charge(element_bytes<typename Map::value_type> + owned_bytes<mapped_type>))
        [[unlikely]]
      return false;
    mapped_type* const value = add(map, std::move(key));
    if (value == nullptr) [[unlikely]] {
      context.error = glz::error_code::name_mismatch;
      at = name;
      return false;
    }
    glz::parse<glz::JSON>::op<glz::ws_handled<Options>()>(*value, context, at, end);
    return !static_cast<bool>(context.error);
  }

  template <auto Options, class Key>
  static void read_key(Key& key, read_context& context, const char*& at, const char* end) {
    if constexpr (std::is_arithmetic_v<Key>) {
      glz::parse<glz::JSON>::op<glz::opt_true<Options, glz::quoted_num_opt_tag{}>>(key, context, at,
                                                                                   end);
    } else if constexpr (weft::detail::number_enum<Key>) {
      std::underlying_type_t<Key> number{};
      read_key<Options>(number, context, at, end);
      key = static_cast<Key>(number);
    } else {
      glz::parse<glz::JSON>::op<Options>(key, context, at, end);
    }
  }

  /// Where the value belongs; nullptr: the map has that name.
  template <class Map, class Key>
  static auto* add(Map& map, Key&& key) {
    if constexpr (growing_map<Map>) {
      const std::size_t before = map.size();
      auto* const value = &map[std::forward<Key>(key)];
      return map.size() == before ? nullptr : value;
    } else {
      auto& pair = map.emplace_back();
      pair.first = std::forward<Key>(key);
      return &pair.second;
    }
  }
};

/// What reads T for all whose options ask for our readers.
template <class T>
struct range_from {
  template <auto Options>
  static void op(auto&& value, glz::is_context auto&& context, auto&& at, auto end) {
    if constexpr (!requires { Options.takes_plain_strings; })
      glz::from<glz::JSON, glaze_range<T>>::template op<Options>(value, context, at, end);
    else if constexpr (growing_map<T> || growing_pairs<T>)
      range_reader::read_map<Options>(value, context, at, end);
    else
      range_reader::read_list<Options>(value, context, at, end);
  }
};

}  // namespace weft::json::detail

template <template <class...> class Range, class Element, class... Rest>
  requires(weft::json::detail::growing_list<Range<Element, Rest...>> ||
           weft::json::detail::growing_map<Range<Element, Rest...>> ||
           weft::json::detail::growing_pairs<Range<Element, Rest...>>)
struct glz::from<glz::JSON, Range<Element, Rest...>>
    : weft::json::detail::range_from<Range<Element, Rest...>> {};

template <class T, auto Most, class Allocator>
struct glz::from<glz::JSON, weft::json::bounded_vector<T, Most, Allocator>>
    : weft::json::detail::range_from<weft::json::bounded_vector<T, Most, Allocator>> {};
