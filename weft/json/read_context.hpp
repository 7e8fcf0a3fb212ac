// What is known while a document is read. Inside of weft/json.
//
// Contract: glaze hands it through all its readers, and looks for functions of ours in its
// namespace (white_space.hpp, member_names.hpp), so that whoever uses glaze beside weft has that as
// it is.
#pragma once

#include <weft/base/bounds.hpp>
#include <weft/json/reflection.hpp>

#include <glaze/core/context.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace weft::json::detail {

struct read_context : glz::context {
  /// Of an object, which members have been read, by their numbers.
  struct member_set {
    std::array<std::uint64_t, 2> bits;
  };
  static constexpr std::size_t most_members = 128;

  // Neither is cleared: each object begins its own set. They are kilobytes that most documents
  // never touch.
  // NOLINTNEXTLINE(*-member-init, modernize-use-equals-default)
  read_context() noexcept {}

  /// Takes so much of what the document may have. False: it has used that up.
  [[nodiscard]] bool charge(std::size_t size_bytes) noexcept {
    if (size_bytes > memory_left) [[unlikely]] {
      error = glz::error_code::buffer_overflow;
      return false;
    }
    memory_left -= size_bytes;
    return true;
  }

  /// Of elements of lists and maps, and of what pointers own.
  std::size_t memory_left = std::numeric_limits<std::size_t>::max();
  /// Of the list that has too many.
  std::size_t most_elements = 0;
  /// Of the number that is outside of it.
  const member_bound* bound = nullptr;
  /// The name that is being read, behind its opening quote.
  const char* name = nullptr;
  /// For each object that is open, by its depth.
  std::array<member_set, glz::max_recursive_depth_limit + 1> members;
};

}  // namespace weft::json::detail
