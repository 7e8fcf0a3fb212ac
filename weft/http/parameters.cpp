#include <weft/http/parameters.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <weft/base/assert.hpp>
#include <weft/base/format.hpp>
#include <weft/base/thread_owned.hpp>
#include <weft/base/utf8.hpp>
#include <weft/http/exchange.hpp>
#include <weft/http/form.hpp>
#include <weft/http/target.hpp>
#include <weft/service/config_text.hpp>

namespace weft::http::detail {
namespace {

using weft::detail::enumerator;
using weft::detail::option_field;
using weft::detail::option_kind;
using weft::detail::option_type;

template <class T>
bool parse_parameter(std::string_view text, T& value) noexcept {
  const char* const end = text.data() + text.size();
  const auto [stopped, code] = std::from_chars(text.data(), end, value);
  return code == std::errc{} && stopped == end;
}

/// One value that is neither optional nor a list.
struct scalar_parameter {
  const option_type& type;
  const member_bound* bound;  // nullptr: what the type can hold

  [[nodiscard]] std::int64_t least() const noexcept { return bound ? bound->least : type.least; }
  [[nodiscard]] std::uint64_t most() const noexcept { return bound ? bound->most : type.most; }

  /// False: `text` is none.
  [[nodiscard]] bool read(std::string_view text, void* object) const {
    switch (type.kind) {
      case option_kind::boolean:
        if (text != "true" && text != "false") return false;
        type.set_bits(object, text == "true" ? 1 : 0);
        return true;
      case option_kind::integer: return read_signed(text, object);
      case option_kind::unsigned_integer: return read_unsigned(text, object);
      case option_kind::floating: return read_real(text, object);
      case option_kind::text:
        if (!is_utf8(text)) return false;
        static_cast<std::string*>(object)->assign(text);
        return true;
      case option_kind::enumeration: return read_name(text, object);
      default: return false;
    }
  }

  /// For people.
  [[nodiscard]] std::string wanted() const {
    switch (type.kind) {
      case option_kind::boolean: return "true or false";
      case option_kind::integer:
        return weft::format("a whole number from {} to {}", least(),
                            static_cast<std::int64_t>(most()));
      case option_kind::unsigned_integer:
        return weft::format("a whole number from {} to {}", static_cast<std::uint64_t>(least()),
                            most());
      case option_kind::floating: return wanted_real();
      case option_kind::enumeration: return wanted_names();
      default: return "a text in UTF-8";
    }
  }

 private:
  [[nodiscard]] bool read_signed(std::string_view text, void* object) const noexcept {
    std::int64_t number = 0;
    const auto most_signed = static_cast<std::int64_t>(most());
    if (!parse_parameter(text, number) || number < least() || number > most_signed) return false;
    type.set_bits(object, static_cast<std::uint64_t>(number));
    return true;
  }
  [[nodiscard]] bool read_unsigned(std::string_view text, void* object) const noexcept {
    std::uint64_t number = 0;
    if (!parse_parameter(text, number) || number > most()) return false;
    if (number < static_cast<std::uint64_t>(least())) return false;
    type.set_bits(object, number);
    return true;
  }
  [[nodiscard]] bool read_real(std::string_view text, void* object) const noexcept {
    double number = 0;
    if (weft::detail::parse_real(text, number) != weft::detail::text_fault::none) return false;
    if (bound != nullptr && !bound->allows(number)) return false;
    type.set_real(object, number);
    return std::isfinite(type.real(object));
  }
  [[nodiscard]] bool read_name(std::string_view text, void* object) const noexcept {
    const auto found = std::ranges::find(type.names, text, &enumerator::text);
    if (found == type.names.end()) return false;
    type.set_bits(object, static_cast<std::uint64_t>(found->value));
    return true;
  }

  [[nodiscard]] std::string wanted_real() const {
    if (bound == nullptr) return "a number";
    if (!bound->has_least()) return weft::format("a number up to {}", bound->most_text());
    if (!bound->has_most()) return weft::format("a number from {} on", bound->least_text());
    return weft::format("a number from {} to {}", bound->least_text(), bound->most_text());
  }
  [[nodiscard]] std::string wanted_names() const {
    std::string names;
    for (const enumerator& each : type.names)
      names.append(names.empty() ? "" : ", ").append(each.text);
    return "one of " + names;
  }
};

[[gnu::cold]] bool refuse_parameter(exchange& e, std::string_view name, std::string_view what) {
  e.reply_problem(status::bad_request, weft::format("the parameter \"{}\" {}", name, what));
  return false;
}

[[gnu::cold]] bool refuse_unknown(exchange& e, const option_type& type) {
  std::string known;
  for (const option_field& each : type.fields)
    known.append(known.empty() ? "" : ", ").append(each.name);
  e.reply_problem(status::bad_request,
                  weft::format("the query has a parameter that is unknown here; known are: {}",
                               known.empty() ? "none" : known));
  return false;
}

bool read_parameter(const option_type& type, const member_bound* bound, void* object,
                    std::string_view name, std::string_view text, exchange& e) {
  const scalar_parameter one{type, bound};
  if (one.read(text, object)) [[likely]]
    return true;
  return refuse_parameter(e, name, "is to be " + one.wanted());
}

/// What is decoded while it is read; kept, so that warm requests allocate nothing.
struct decoded_text {
  std::string room;
};
std::span<char> decoding_room(std::size_t size_bytes) {
  std::string& room = thread_owned<decoded_text>::here().room;
  if (room.size() < size_bytes) room.resize(size_bytes);
  return room;
}

/// The parameters of a query that have been given so far.
class query_target {
 public:
  query_target(const option_type& type, void* object, exchange& e) noexcept
      : type_{type}, object_{object}, e_{e} {}

  [[nodiscard]] bool take(const form_pair& pair) {
    const auto field = std::ranges::find(type_.fields, pair.name, &option_field::name);
    if (field == type_.fields.end()) return refuse_unknown(e_, type_);
    void* const member = field->in(object_);
    const member_bound* const bound = type_.bound_of(object_, member);
    const bool is_list = field->type->kind == option_kind::list;
    const std::uint64_t bit = std::uint64_t{1} << (field - type_.fields.begin());
    if ((given_ & bit) != 0 && !is_list) return refuse_parameter(e_, field->name, "is given twice");
    given_ |= bit;
    if (!is_list && field->type->kind != option_kind::optional)
      return read_parameter(*field->type, bound, member, field->name, pair.value, e_);
    void* const element = field->type->append(member);
    return read_parameter(*field->type->element, bound, element, field->name, pair.value, e_);
  }

  [[nodiscard]] bool is_whole() const {
    std::uint64_t bit = 1;
    for (const option_field& each : type_.fields) {
      const bool may_be_missing =
          each.type->kind == option_kind::optional || each.type->kind == option_kind::list;
      if ((given_ & bit) == 0 && !may_be_missing)
        return refuse_parameter(e_, each.name, "is missing in the query");
      bit <<= 1;
    }
    return true;
  }

 private:
  const option_type& type_;
  void* object_;
  exchange& e_;
  std::uint64_t given_ = 0;
};

}  // namespace

bool read_path(const parameter_set& of, void* object, exchange& e) {
  for (const option_field& each : of.type->fields) {
    const auto sent = e.request().parameter(each.name);
    WEFT_ASSERT(sent.has_value(),
                "a route is added only where its path has what its handler takes");
    void* const member = each.in(object);
    const member_bound* const bound = of.type->bound_of(object, member);
    if (!sent->contains('%')) {
      if (!read_parameter(*each.type, bound, member, each.name, *sent, e)) return false;
      continue;
    }
    const auto decoded = percent_decode(*sent);
    if (!decoded) return refuse_parameter(e, each.name, "has an escape that is none");
    if (!read_parameter(*each.type, bound, member, each.name, *decoded, e)) return false;
  }
  return true;
}

bool read_query(const parameter_set& of, void* object, exchange& e) {
  const std::string_view text = e.request().query();
  query_target target{*of.type, object, e};
  form_reader form{text, decoding_room(text.size())};
  for (;;) {
    const auto pair = form.next();
    if (!pair) {
      e.reply_problem(status::bad_request, "the query has a bad escape, or too many parameters");
      return false;
    }
    if (!*pair) return target.is_whole();
    if (!target.take(**pair)) return false;
  }
}

}  // namespace weft::http::detail
