// One value on its way between a client and an engine.
//
// Problem: rows are handed over by the million, so that neither a copy nor an allocation may be
// needed for one. Contract: 16 bytes, trivially copyable; texts and bytes are views, which are good
// as long as whoever made the value says. There are fewer kinds than column types: integers, YEAR
// and BIT are int64 or uint64; DECIMAL, DATE, TIME, DATETIME and TIMESTAMP are texts in their one
// canonical form (docs/store.md). An engine may give a DECIMAL as a number, too. Asking for another
// kind than it has is a mistake that debug builds find.
//
//   value id = value::integer(17);
//   value name = value::text("Ada");
//   if (name.kind() == value_kind::text) use(name.as_text());
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <weft/base/assert.hpp>

namespace weft::store {

enum class value_kind : std::uint8_t { null, int64, uint64, float64, text, bytes };

class value {
 public:
  /// NULL.
  constexpr value() noexcept : integer_{0} {}

  [[nodiscard]] static constexpr value integer(std::int64_t number) noexcept {
    value made{value_kind::int64};
    made.integer_ = number;
    return made;
  }
  [[nodiscard]] static constexpr value natural(std::uint64_t number) noexcept {
    value made{value_kind::uint64};
    made.natural_ = number;
    return made;
  }
  [[nodiscard]] static constexpr value real(double number) noexcept {
    value made{value_kind::float64};
    made.real_ = number;
    return made;
  }
  /// UTF-8, as far as the engine knows; at most 4 GiB.
  [[nodiscard]] static constexpr value text(std::string_view characters) noexcept {
    return {value_kind::text, characters};
  }
  [[nodiscard]] static constexpr value bytes(std::string_view content) noexcept {
    return {value_kind::bytes, content};
  }

  [[nodiscard]] constexpr value_kind kind() const noexcept { return kind_; }
  [[nodiscard]] constexpr bool is_null() const noexcept { return kind_ == value_kind::null; }

  [[nodiscard]] constexpr std::int64_t as_integer() const noexcept {
    expect(kind_ == value_kind::int64);
    return integer_;
  }
  [[nodiscard]] constexpr std::uint64_t as_natural() const noexcept {
    expect(kind_ == value_kind::uint64);
    return natural_;
  }
  [[nodiscard]] constexpr double as_real() const noexcept {
    expect(kind_ == value_kind::float64);
    return real_;
  }
  /// Of a text or of bytes.
  [[nodiscard]] constexpr std::string_view as_text() const noexcept {
    expect(kind_ == value_kind::text || kind_ == value_kind::bytes);
    return {data_, size_};
  }

  /// Equal are values of one kind with equal content.
  friend constexpr bool operator==(const value& left, const value& right) noexcept {
    if (left.kind_ != right.kind_) return false;
    switch (left.kind_) {
      case value_kind::null: return true;
      case value_kind::int64: return left.integer_ == right.integer_;
      case value_kind::uint64: return left.natural_ == right.natural_;
      case value_kind::float64: return left.real_ == right.real_;
      case value_kind::text:
      case value_kind::bytes: return left.as_text() == right.as_text();
    }
    return false;
  }

 private:
  constexpr explicit value(value_kind kind) noexcept : integer_{0}, kind_{kind} {}
  constexpr value(value_kind kind, std::string_view content) noexcept
      : data_{content.data()}, size_{static_cast<std::uint32_t>(content.size())}, kind_{kind} {}
  static constexpr void expect([[maybe_unused]] bool is_of_that_kind) noexcept {
    WEFT_DEBUG_ASSERT(is_of_that_kind, "ask a value for its kind() first");
  }

  union {
    std::int64_t integer_;
    std::uint64_t natural_;
    double real_;
    const char* data_;
  };
  std::uint32_t size_ = 0;
  value_kind kind_ = value_kind::null;
};

static_assert(sizeof(value) == 16 && std::is_trivially_copyable_v<value>);

}  // namespace weft::store
