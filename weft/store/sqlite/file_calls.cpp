#include <weft/store/sqlite/file_calls.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

namespace weft::store::sqlite {
namespace {

/// Those without which a program does not even load, as openat(2), are not among them.
constexpr call_probe file_calls[] = {
    // names of folders, from the root on
    {"readlink",
     [] noexcept -> long {
       char unused = 0;
       return ::readlink("", &unused, 1);
     }},
    // locks
    {"fcntl", [] noexcept -> long { return ::fcntl(-1, F_GETFD); }},
    {"clock_nanosleep",
     [] noexcept -> long {
       const timespec none{};
       return ::nanosleep(&none, nullptr);
     }},
    // writes
    {"pwrite64", [] noexcept -> long { return ::pwrite(-1, nullptr, 0, 0); }},
    {"ftruncate", [] noexcept -> long { return ::ftruncate(-1, 0); }},
    {"fdatasync", [] noexcept -> long { return ::fdatasync(-1); }},
    {"fsync", [] noexcept -> long { return ::fsync(-1); }},
    {"unlink", [] noexcept -> long { return ::unlink(""); }},
    // another file for a database (database_swap.hpp)
    {"link", [] noexcept -> long { return ::link("", ""); }},
    {"rename", [] noexcept -> long { return std::rename("", ""); }},
};

}  // namespace

std::vector<refused_call> find_refused_file_calls() {
  std::vector<refused_call> found;
  for (const call_probe& each : file_calls)
    if (const auto refused = find_refused_call({&each, 1})) found.push_back(*refused);
  return found;
}

}  // namespace weft::store::sqlite
