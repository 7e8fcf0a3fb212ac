// The header fields of one message, where they lie.
//
// Problem: copying names and values costs more than parsing them, and pointers into a receive
// buffer die when a half received head moves to a bigger one. Contract: a header_list keeps offsets
// from the start of the head and the place the head lies at now; views are made on access and are
// valid as long as those bytes are. It never allocates. Names compare without regard to case (RFC
// 9110 section 5.1); values come without surrounding white space and otherwise as sent; a field
// that was sent twice stands here twice, in order. Single thread.
//
//   if (auto type = headers.find("content-type")) use(*type);
//   auto i = headers.index_of("cookie");
//   for (; i < headers.size(); i = headers.index_of("cookie", i + 1))
//     use(headers[i].value);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::http {

namespace detail {
class head_parser;
class message_head;
}  // namespace detail

struct header {
  std::string_view name;
  std::string_view value;
};

// Whether two texts differ at most in the case of their ASCII letters.
[[nodiscard]] bool equals_ignoring_case(std::string_view left, std::string_view right) noexcept;

class header_list {
 public:
  static constexpr std::size_t capacity = 100;

  // Forward iteration by value: `for (auto [name, value] : headers)`.
  class iterator {
   public:
    iterator(const header_list& list, std::size_t index) noexcept : list_{&list}, index_{index} {}
    [[nodiscard]] header operator*() const noexcept { return (*list_)[index_]; }
    iterator& operator++() noexcept {
      ++index_;
      return *this;
    }
    friend bool operator==(const iterator&, const iterator&) noexcept = default;

   private:
    const header_list* list_;
    std::size_t index_;
  };

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] header operator[](std::size_t index) const noexcept {
    const entry& at = entries_[index];
    return {{base_ + at.name, base_ + at.name_end}, {base_ + at.value, base_ + at.value_end}};
  }
  [[nodiscard]] iterator begin() const noexcept { return {*this, 0}; }
  [[nodiscard]] iterator end() const noexcept { return {*this, size_}; }

  // The first field of that name at or after `from`; size() where there is none.
  [[nodiscard]] std::size_t index_of(std::string_view name, std::size_t from = 0) const noexcept;
  // The value of the first field of that name.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept;
  // The value of the only field of that name: none where there are several, which contradict each
  // other. For what decides something.
  [[nodiscard]] std::optional<std::string_view> only(std::string_view name) const noexcept;

 private:
  friend class detail::message_head;
  friend class detail::head_parser;

  struct entry {
    std::uint32_t name;
    std::uint32_t name_end;
    std::uint32_t value;
    std::uint32_t value_end;
  };

  const char* base_ = nullptr;
  std::size_t size_ = 0;
  std::array<entry, capacity>
      entries_;  // those below size_ are set; clearing 1600 bytes a request is not free
};

}  // namespace weft::http
