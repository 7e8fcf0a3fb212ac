// Where in a JSON document: a JSON pointer (RFC 6901), such as "/orders/3/price"; "" is the whole
// document.
//
// Problem: errors carry the place they happened at, and must neither allocate nor grow with the
// input. Contract: the text lives inside the object, in UTF-8. One that does not fit is cut at a
// character and ends with "...". Names keep the escapes they have in the document (\u0041 stays six
// characters); only the pointer's own two specials are rewritten, ~ as ~0 and / as ~1.
//
//   json::pointer where;
//   where.push_name("orders");
//   where.push_index(3);
//   std::string_view text = where;  // "/orders/3"
#pragma once

#include <cstddef>
#include <string_view>

namespace weft::json {

class pointer {
 public:
  static constexpr std::size_t capacity = 123;

  [[nodiscard]] std::string_view view() const noexcept { return {text_, size_}; }
  operator std::string_view() const noexcept { return view(); }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] bool is_cut() const noexcept { return cut_; }

  void push_name(std::string_view name) noexcept;
  void push_index(std::size_t index) noexcept;

  friend bool operator==(const pointer& left, std::string_view right) noexcept {
    return left.view() == right;
  }

 private:
  void put(std::string_view character) noexcept;

  char text_[capacity];
  unsigned char size_ = 0;
  bool cut_ = false;
};

}  // namespace weft::json
