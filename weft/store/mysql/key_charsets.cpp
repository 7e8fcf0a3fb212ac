#include <weft/store/mysql/key_charsets.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <weft/base/utf8.hpp>
#include <weft/store/mysql/sql_text.hpp>

namespace weft::store::mysql {
namespace {

std::string_view text_of(const value& from) noexcept {
  return from.kind() == value_kind::text ? from.as_text() : std::string_view{};
}

/// Of UTF-8; as much as there is.
std::string_view take_character(std::string_view& from) noexcept {
  const std::size_t size = from.empty() ? 0 : std::max<std::size_t>(utf8_size(from), 1);
  const std::string_view taken = from.substr(0, size);
  from.remove_prefix(size);
  return taken;
}

/// Takes what `text` has become from `converted`; whether each of its characters is still one.
bool take_whole(std::string_view text, std::string_view& converted) noexcept {
  bool is_whole = true;
  while (!text.empty()) {
    const std::string_view before = take_character(text);
    const std::string_view after = take_character(converted);
    is_whole = is_whole && (after == before || (after != "?" && !after.empty()));
  }
  return is_whole;
}

/// Where in a key there are texts of a charset.
std::vector<std::size_t> places_of_texts(const table& of) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < of.key().size(); ++i)
    if (!of.columns()[of.key()[i]].charset.empty()) places.push_back(i);
  return places;
}

/// Takes those out of `held` whose texts have lost a character. `converted`: of each place, the
/// texts of those that are held, one behind the other.
void drop_lost(std::span<const std::span<const value>> keys, std::span<const std::size_t> places,
               std::span<const value> converted, std::vector<bool>& held) {
  const std::vector<bool> is_there = held;
  for (std::size_t at = 0; at < places.size(); ++at) {
    std::string_view rest = text_of(converted[at]);
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (is_there[i] && !take_whole(text_of(keys[i][places[at]]), rest)) held[i] = false;
  }
}

}  // namespace

borrowing_task<result<std::vector<bool>>> held_by_charsets(
    connection& by, const table& of, std::span<const std::span<const value>> keys) {
  const std::vector<std::size_t> places = places_of_texts(of);
  std::vector<bool> held(keys.size(), true);
  if (places.empty()) co_return held;
  std::vector<std::string> texts(places.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    held[i] = std::ranges::all_of(
        places, [&](std::size_t place) { return is_utf8(text_of(keys[i][place])); });
    for (std::size_t at = 0; held[i] && at < places.size(); ++at)
      texts[at] += text_of(keys[i][places[at]]);
  }
  std::vector<value> parameters(texts.size());
  std::ranges::transform(texts, parameters.begin(), &value::text);
  const auto asked = co_await by.prepared(convert_keys(of));
  if (!asked) co_return fail(asked.error());
  if (const auto ran = co_await by.execute(**asked, parameters); !ran) co_return fail(ran.error());
  while ((*asked)->next()) drop_lost(keys, places, (*asked)->row(), held);
  co_return held;
}

}  // namespace weft::store::mysql
