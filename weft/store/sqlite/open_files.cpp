#include <weft/store/sqlite/open_files.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <mutex>
#include <new>
#include <string_view>

#include <weft/base/hash_map.hpp>

namespace weft::store::sqlite {
namespace {

constexpr const char* name = "weft";
constexpr std::string_view index_ending = "-shm";

/// Behind the file object of the VFS below. `methods` tells it from what SQLite makes by itself in
/// the same room, as a journal in memory.
struct file_note {
  const sqlite3_io_methods* methods;
  file_identity identity;
  int descriptor;
};

struct vfs_state {
  sqlite3_vfs* below = nullptr;
  sqlite3_vfs own{};
};
vfs_state state;

/// What this thread has opened last.
constinit thread_local file_identity opened_last;
constinit thread_local int descriptor_last = -1;

struct known_indexes {
  std::mutex mutex;
  hash_map<std::string, file_identity> by_path;
};
known_indexes& indexes() {
  static known_indexes all;
  return all;
}

void note_index(const char* path, file_identity found) noexcept {
  try {
    known_indexes& all = indexes();
    const std::lock_guard lock{all.mutex};
    all.by_path[path] = found;
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
    // It stays unknown, and is not looked at.
  }
}

/// In the place of open(2), with its result. A FIFO of a name that SQLite opens would keep the
/// thread until somebody writes to it.
int open_file(const char* path, int flags, int mode) {
  const int descriptor = ::open(path, flags | O_NONBLOCK, mode);
  struct stat found{};
  if (descriptor < 0 || ::fstat(descriptor, &found) != 0) return descriptor;
  if (S_ISFIFO(found.st_mode)) {
    ::close(descriptor);
    errno = EINVAL;
    return -1;
  }
  opened_last = identity_in(found);
  descriptor_last = descriptor;
  if (std::string_view{path}.ends_with(index_ending)) note_index(path, opened_last);
  return descriptor;
}

file_note& note_of(sqlite3_file* file) noexcept {
  const auto offset = static_cast<std::size_t>(state.below->szOsFile + 7) / 8 * 8;
  return *reinterpret_cast<file_note*>(reinterpret_cast<std::byte*>(file) + offset);
}

/// Of a file whose descriptor was left by another connection that has ended.
file_identity identity_by_name(const char* path, sqlite3_file* file) noexcept {
  struct stat found{};
  int has_moved = 1;
  if (path == nullptr || ::stat(path, &found) != 0) return {};
  const int code = file->pMethods->xFileControl(file, SQLITE_FCNTL_HAS_MOVED, &has_moved);
  return code == SQLITE_OK && has_moved == 0 ? identity_in(found) : file_identity{};
}

int open_and_note(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* out) {
  opened_last = {};
  descriptor_last = -1;
  const int code = state.below->xOpen(state.below, path, file, flags, out);
  file_note& note = note_of(file);
  note = {};
  if (code != SQLITE_OK || file->pMethods == nullptr) return code;
  note.methods = file->pMethods;
  note.descriptor = descriptor_last;
  note.identity = opened_last == file_identity{} ? identity_by_name(path, file) : opened_last;
  return code;
}

}  // namespace

file_identity identity_in(const struct stat& found) noexcept {
  return {.device = found.st_dev, .inode = found.st_ino};
}

void install_open_files() noexcept {
  sqlite3_vfs* const below = sqlite3_vfs_find("unix");
  if (below == nullptr || below->iVersion < 3 || below->xSetSystemCall == nullptr) return;
  const auto stand_in = reinterpret_cast<sqlite3_syscall_ptr>(&open_file);
  if (below->xSetSystemCall(below, "open", stand_in) != SQLITE_OK) return;
  state.own = *below;
  state.own.zName = name;
  state.own.pNext = nullptr;
  state.own.szOsFile = (below->szOsFile + 7) / 8 * 8 + static_cast<int>(sizeof(file_note));
  state.own.xOpen = &open_and_note;
  state.below = below;
  if (sqlite3_vfs_register(&state.own, 0) != SQLITE_OK) state.below = nullptr;
}

const char* open_files_vfs() noexcept {
  return state.below != nullptr && sqlite3_vfs_find(nullptr) == state.below ? name : nullptr;
}

bool has_known_files(sqlite3* of) noexcept {
  sqlite3_vfs* used = nullptr;
  const int code =
      sqlite3_file_control(of, "main", SQLITE_FCNTL_VFS_POINTER, static_cast<void*>(&used));
  return code == SQLITE_OK && used == &state.own;
}

sqlite3_file* open_database(sqlite3* of) noexcept {
  sqlite3_file* file = nullptr;
  // Where it fails, there is no file.
  sqlite3_file_control(of, "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file));
  return file != nullptr && file->pMethods != nullptr ? file : nullptr;
}

/// SQLite gives the log here, or else the rollback journal, which is open in a write alone.
sqlite3_file* open_log(sqlite3* of) noexcept {
  sqlite3_file* file = nullptr;
  // Where it fails, there is no log.
  sqlite3_file_control(of, "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&file));
  const bool is_open = file != nullptr && file->pMethods != nullptr;
  return is_open && note_of(file).methods == file->pMethods ? file : nullptr;
}

file_identity identity_of(sqlite3_file* file) noexcept { return note_of(file).identity; }

int descriptor_of(sqlite3_file* file) noexcept { return note_of(file).descriptor; }

std::optional<file_identity> identity_of_index(const std::string& path) noexcept {
  known_indexes& all = indexes();
  const std::lock_guard lock{all.mutex};
  const auto found = all.by_path.find(path);
  if (found == all.by_path.end()) return std::nullopt;
  return found->second;
}

}  // namespace weft::store::sqlite
