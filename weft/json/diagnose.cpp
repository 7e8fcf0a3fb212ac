#include <weft/json/diagnose.hpp>
#include <weft/json/walker.hpp>

#include <glaze/core/context.hpp>

namespace weft::json::detail {

namespace {

struct reason {
  errc code;
  std::string_view what;
};

bool starts_number(std::string_view token) noexcept {
  return !token.empty() && (token[0] == '-' || is_digit(token[0]));
}

reason unfit_number(std::string_view token) noexcept {
  if (!starts_number(token)) return {errc::wrong_type, "expected a number"};
  if (token.find_first_of(".eE") != std::string_view::npos) {
    return {errc::out_of_range,
            "the number is out of range, or a fraction where an integer is expected"};
  }
  return {errc::out_of_range, "the number is out of range"};
}

reason unknown_name(std::string_view token) noexcept {
  if (token.contains('\\')) return {errc::unknown_key, "names must be spelled without escapes"};
  return {errc::unknown_key, "there is no such member"};
}

// The text is JSON, so what is left is a value that does not fit its place.
reason explain(glz::error_code code, std::string_view token) noexcept {
  using enum glz::error_code;
  switch (code) {
    case parse_number_failure: return unfit_number(token);
    case expected_brace: return {errc::wrong_type, "expected an object"};
    case expected_bracket: return {errc::wrong_type, "expected an array"};
    case expected_quote: return {errc::wrong_type, "expected a string"};
    case expected_true_or_false: return {errc::wrong_type, "expected true or false"};
    case unknown_key: return unknown_name(token);
    case missing_key: return {errc::missing_key, "this member is missing"};
    case exceeded_static_array_size:
      return {errc::too_many_elements, "the array has too many elements"};
    case array_element_not_found: return {errc::invalid_value, "the array has too few elements"};
    case exceeded_max_recursive_depth:
      return {errc::too_deep, "objects and arrays are nested too deep"};
    case name_mismatch: return {errc::duplicate_key, "this name is given twice"};
    case buffer_overflow:
      return {errc::too_large, "the lists of the document need more memory than its size allows"};
    case unexpected_enum: return {errc::invalid_value, "this value is not one of those allowed"};
    case no_matching_variant_type:
    case invalid_variant_object:
    case invalid_variant_array:
    case invalid_variant_string:
      return {errc::invalid_value, "the value fits none of the possible types"};
    case constraint_violated: return {errc::invalid_value, "the value breaks a rule of its type"};
    default: return {errc::wrong_type, "the value does not fit its type"};
  }
}

// The reader may report a byte behind the value: it takes four at once where it looks for true or
// false, and judges a number when it has read it.
walker find_token(std::string_view text, glz::error_code code, std::size_t offset) noexcept {
  using enum glz::error_code;
  constexpr std::size_t word_size = 4;
  if ((code == expected_true_or_false || code == unexpected_end) && offset >= word_size) {
    const std::size_t start = offset - word_size;
    walker behind{text};
    if (behind.to_token(start) && behind.offset() == start && !behind.at_name()) return behind;
  }
  if (code == parse_number_failure && offset > 0 && is_digit(text[offset - 1])) --offset;
  walker at{text};
  if (at.to_token(offset)) return at;
  walker whole{text};  // the reader used the text up: the value is the document itself
  static_cast<void>(whole.to_token(0));
  return whole;
}

}  // namespace

error diagnose(std::string_view text, reader_report report) noexcept {
  if (walker before{text}; !before.past(report.offset)) return before.failure();
  const auto code = static_cast<glz::error_code>(report.code);
  const walker place = find_token(text, code, report.offset);
  const reason why = report.bound != nullptr
                         ? reason{errc::out_of_range, "the number is out of bounds"}
                         : explain(code, place.token());
  error result{.code = why.code,
               .offset = place.offset(),
               .path = place.path(),
               .what = why.what,
               .most = report.most,
               .bound = report.bound};
  if (code == glz::error_code::missing_key) result.path.push_name(report.name);
  return result;
}

std::optional<error> check(std::string_view text) noexcept {
  walker whole{text};
  if (whole.to_end()) return std::nullopt;
  return whole.failure();
}

}  // namespace weft::json::detail
