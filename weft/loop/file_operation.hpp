// One thing asked of a file: opening it, reading or writing at a place, its size, its safety on
// disk, closing it.
//
// Contract: as every operation. perform() makes the system call at once, wherever it is called:
// what a thread does for a backend whose kernel has no other way.
//
//   file_operation op{file_action::read, &resume_reader};
//   op.fd = fd; op.data = into; op.size = size; op.offset = 0;
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include <weft/base/intrusive_list.hpp>
#include <weft/loop/operation.hpp>

namespace weft {

enum class file_action : std::uint8_t { open, read, write, size, sync, close };

struct file_operation : listed_operation {
  file_operation(file_action what, answer a) noexcept
      : listed_operation{operation_kind::file, nullptr, a}, action{what} {}

  /// The result: bytes read or written, the new descriptor of open, 0, or a negated errno.
  [[nodiscard]] std::int32_t perform() noexcept;

  file_action action;
  int fd = -1;
  const char* path = nullptr;     // open
  int flags = 0;                  // open
  mode_t mode = 0;                // open
  void* data = nullptr;           // read, write
  std::size_t size = 0;           // read, write
  std::uint64_t offset = 0;       // read, write
  struct statx* about = nullptr;  // size: where it is put
  bool has_begun = false;         // on a thread
  list_hook in_line;              // of those that wait for a thread, or that one has done
};

/// A request asks for no more than this: a result has 32 bits.
inline constexpr std::size_t file_request_most_bytes = std::size_t{1} << 30U;

}  // namespace weft
