// What is taken from a process that runs queries, before it sees the first of them.
//
// Problem: SQL of strangers runs over files of strangers; whoever finds a fault in SQLite runs code
// of his own there. Contract: from then on the process may open the files of one database, to read
// (the index of its log, which all readers share, to write, too), and no others (Landlock); its
// system calls are those of reading, memory, locks and its channel (seccomp); its memory, open
// files and written files are bounded (limits, which all kernels have); it gains no privileges, is
// not traced or dumped, ends with the thread that started it, and is the first to go where the
// system is out of memory. What the kernel lacks is left out, and told of. For a process that has
// one thread.
//
//   auto has = enter_sandbox("/data/shop.db", 128U << 20U);
//   if (!has) return complain(has.error());
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include <weft/loop/needed_calls.hpp>

namespace weft::store::sqlite {

struct sandbox_support {
  /// The version of its interface; 0: there is none.
  int landlock = 0;
  bool seccomp = false;
};

/// Of the kernel, and of what confines this process already: Landlock counts as missing if one of
/// its calls is refused. Changes nothing. Throws std::system_error if there can be no other thread.
[[nodiscard]] sandbox_support find_sandbox_support();

/// The first system call that such a process, or the one that starts it, needs, and is refused.
[[nodiscard]] std::optional<refused_call> find_refused_query_call() noexcept;

/// The descriptor that a process has for its channel; beside it, it has 0 to 2.
inline constexpr int query_channel = 3;

/// A line for people, where the kernel has what cannot be used.
[[nodiscard]] std::expected<sandbox_support, std::string> enter_sandbox(
    const std::string& database_file, std::uint64_t memory_bytes);

/// How much processor time the process may take from now on; then it is ended.
void allow_processor_time(std::uint32_t seconds) noexcept;

}  // namespace weft::store::sqlite
