// A list that a document may not make longer than its type says.
//
// Problem: who counts the elements of a list after it has been read has paid for all of them: a few
// megabytes of "{}" become hundreds. Contract: a std::vector that json::read fills with at most
// `Most` elements and refuses the document at the next one (errc::too_many_elements), before that
// is made. `Most` is a number, or a function that gives it while reading. It bounds what documents
// say; what a program adds itself is the program's own affair. A number stands in the type's JSON
// schema, too.
//
//   struct order { json::bounded_vector<item, 100> items; };
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <vector>

namespace weft::json {

template <class T, auto Most, class Allocator = std::allocator<T>>
class bounded_vector : public std::vector<T, Allocator> {
 public:
  using std::vector<T, Allocator>::vector;

  /// How many elements a document may give it.
  [[nodiscard]] static constexpr std::size_t most() noexcept {
    if constexpr (std::invocable<decltype(Most)>)
      return Most();
    else
      return Most;
  }
};

}  // namespace weft::json
