// Reads documents of which only views are wanted: strings and scalars stay where they are.
//
// Problem: a request with hundreds of short strings costs a copy of each, and an allocation of each
// that is not short, before anybody has looked at one. Contract: as json::read (read.hpp), but
// members may be lent_text, a string, and lent_scalar, a string, a number, true, false or null.
// They are views of `keeper`, which gets a copy of the text, in which escapes are decoded in place:
// nothing is allocated once `keeper` has room. They are good until `keeper` is changed, moved or
// destroyed. Safe on any thread.
//
//   struct filter { json::lent_text column; json::lent_scalar value; };
//   std::string keeper;                              // one for all requests of a shard
//   filter given;
//   if (auto done = json::read_lent(given, body, keeper); !done) refuse(done.error().message());
#pragma once

#include <weft/json/read.hpp>
#include <weft/json/shape.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace weft::json {

namespace detail {
struct lender;
}

class lent_text {
 public:
  [[nodiscard]] std::string_view view() const noexcept { return text_; }

 private:
  friend struct detail::lender;
  std::string_view text_;
};

enum class scalar_kind : std::uint8_t { null, boolean, number, string };

class lent_scalar {
 public:
  /// False: nothing has been read into it. A null that was read is one.
  [[nodiscard]] bool is_given() const noexcept { return text_.data() != nullptr; }
  [[nodiscard]] scalar_kind kind() const noexcept { return kind_; }
  /// The string, decoded; else the token as it is written.
  [[nodiscard]] std::string_view view() const noexcept { return text_; }

 private:
  friend struct detail::lender;
  std::string_view text_;
  scalar_kind kind_ = scalar_kind::null;
};

namespace detail {

/// `at` is on the opening quote of a string in memory that may be written, of a text that ends with
/// NUL at `end`. Gives the decoded string, and moves `at` behind the closing quote; nothing: `at`
/// is where it is no string of JSON.
[[nodiscard]] std::optional<std::string_view> decode_in_place(const char*& at,
                                                              const char* end) noexcept;
/// The number, true, false or null at `at`; empty: there is none.
[[nodiscard]] std::string_view scalar_token(const char* at) noexcept;

struct lender {
  template <auto Options, class Context, class At, class End>
  static bool skip_space(Context& context, At& at, End& end) {
    if constexpr (glz::check_ws_handled(Options)) return false;
    return skip_ws<Options>(context, at, end);
  }
  template <class Context>
  static void read_string(std::string_view& into, Context& context, const char*& at,
                          const char* end) {
    if (const auto text = decode_in_place(at, end)) {
      into = *text;
    } else {
      context.error = glz::error_code::syntax_error;
    }
  }
  template <auto Options, class Context, class At, class End>
  static void read(lent_text& into, Context& context, At& at, End& end) {
    if (skip_space<Options>(context, at, end)) return;
    if (*at != '"') [[unlikely]] {
      context.error = glz::error_code::expected_quote;
      return;
    }
    read_string(into.text_, context, at, end);
  }
  template <auto Options, class Context, class At, class End>
  static void read(lent_scalar& into, Context& context, At& at, End& end) {
    if (skip_space<Options>(context, at, end)) return;
    if (*at == '"') {
      into.kind_ = scalar_kind::string;
      return read_string(into.text_, context, at, end);
    }
    into.text_ = scalar_token(at);
    if (into.text_.empty()) [[unlikely]] {
      context.error = glz::error_code::no_matching_variant_type;
      return;
    }
    into.kind_ = *at == 'n'                 ? scalar_kind::null
                 : *at == 't' || *at == 'f' ? scalar_kind::boolean
                                            : scalar_kind::number;
    at += into.text_.size();
  }
};

template <>
inline constexpr shape shape_data<lent_text> = describe<std::string>();
/// May be missing, too.
template <>
inline constexpr shape shape_data<lent_scalar>{
    .kind = shape_kind::nullable, .element = &shape_of<std::variant<bool, double, std::string>>};

}  // namespace detail

/// As read_into() of read.hpp. Throws std::bad_alloc.
template <policy Policy = {}, class T>
[[nodiscard]] std::expected<void, error> read_lent(T& value, std::string_view text,
                                                   std::string& keeper) {
  keeper.assign(text);
  return detail::parse<Policy>(value, std::string_view{keeper}, text);
}

}  // namespace weft::json

template <>
struct glz::from<glz::JSON, weft::json::lent_text> {
  template <auto Options>
  static void op(weft::json::lent_text& into, glz::is_context auto& context, auto& at, auto& end) {
    weft::json::detail::lender::read<Options>(into, context, at, end);
  }
};

template <>
struct glz::from<glz::JSON, weft::json::lent_scalar> {
  template <auto Options>
  static void op(weft::json::lent_scalar& into, glz::is_context auto& context, auto& at,
                 auto& end) {
    weft::json::detail::lender::read<Options>(into, context, at, end);
  }
};
