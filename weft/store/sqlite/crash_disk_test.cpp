#include <weft/store/sqlite/crash_disk_test.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <weft/store/sqlite/library.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::size_t sector_bytes = 512;

/// A write, or a truncation.
struct unsynced_change {
  std::size_t offset;
  std::string bytes;
  bool truncates;
};

struct tracked_file {
  std::string durable;
  std::vector<unsynced_change> unsynced;
};

void apply(const unsynced_change& change, std::size_t bytes, std::string& to) {
  if (change.truncates) {
    to.resize(change.offset);
    return;
  }
  if (to.size() < change.offset + bytes) to.resize(change.offset + bytes);
  std::memcpy(to.data() + change.offset, change.bytes.data(), bytes);
}

std::string content_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

struct crash_disk_state {
  std::mutex mutex;
  std::map<std::string, tracked_file> files;  // databases and logs, by path
  std::uint64_t calls = 0;
  std::uint64_t cut = 0;
  int code = SQLITE_IOERR;
  sqlite3_vfs* below = nullptr;
  sqlite3_vfs own{};
  sqlite3_io_methods methods{};

  /// Whether the power is still there for one more call.
  bool take_call() { return ++calls < cut || cut == 0; }
};

namespace {

crash_disk_state* disk = nullptr;

/// In the memory that SQLite gives for a file, before that of the VFS below.
struct crash_file {
  sqlite3_file base;
  tracked_file* tracked;  // nullptr: neither a database nor its log

  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

crash_file& as_ours(sqlite3_file* file) { return *reinterpret_cast<crash_file*>(file); }
sqlite3_file* real_of(sqlite3_file* file) { return as_ours(file).real(); }
const sqlite3_io_methods& calls_of(sqlite3_file* file) { return *real_of(file)->pMethods; }

int close_file(sqlite3_file* file) { return calls_of(file).xClose(real_of(file)); }
int read_file(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
  return calls_of(file).xRead(real_of(file), into, size, offset);
}

int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  if (tracked_file* const tracked = as_ours(file).tracked) {
    const std::lock_guard lock{disk->mutex};
    // The write under way may be torn.
    tracked->unsynced.push_back({static_cast<std::size_t>(offset),
                                 {static_cast<const char*>(from), static_cast<std::size_t>(size)},
                                 false});
    if (!disk->take_call()) return disk->code;
  }
  return calls_of(file).xWrite(real_of(file), from, size, offset);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  if (tracked_file* const tracked = as_ours(file).tracked) {
    const std::lock_guard lock{disk->mutex};
    if (!disk->take_call()) return disk->code;
    tracked->unsynced.push_back({static_cast<std::size_t>(size), {}, true});
  }
  return calls_of(file).xTruncate(real_of(file), size);
}

int sync_file(sqlite3_file* file, int) {
  if (tracked_file* const tracked = as_ours(file).tracked) {
    const std::lock_guard lock{disk->mutex};
    if (!disk->take_call()) return disk->code;
    for (const unsynced_change& each : tracked->unsynced)
      apply(each, each.bytes.size(), tracked->durable);
    tracked->unsynced.clear();
  }
  return SQLITE_OK;  // the disk below is not what is tried
}

int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  return calls_of(file).xFileSize(real_of(file), size);
}
int lock_file(sqlite3_file* file, int how) { return calls_of(file).xLock(real_of(file), how); }
int unlock_file(sqlite3_file* file, int how) { return calls_of(file).xUnlock(real_of(file), how); }
int is_locked(sqlite3_file* file, int* out) {
  return calls_of(file).xCheckReservedLock(real_of(file), out);
}
int control_file(sqlite3_file* file, int what, void* argument) {
  return calls_of(file).xFileControl(real_of(file), what, argument);
}
int sector_of_file(sqlite3_file* file) { return calls_of(file).xSectorSize(real_of(file)); }
/// Nothing that a disk need not promise.
int promises_of_file(sqlite3_file*) { return 0; }
int map_shared(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
  return calls_of(file).xShmMap(real_of(file), region, size, extend, out);
}
int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  return calls_of(file).xShmLock(real_of(file), offset, count, flags);
}
void order_shared(sqlite3_file* file) { calls_of(file).xShmBarrier(real_of(file)); }
int unmap_shared(sqlite3_file* file, int remove) {
  return calls_of(file).xShmUnmap(real_of(file), remove);
}

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
  crash_file& made = *::new (static_cast<void*>(file)) crash_file{};
  const int code = disk->below->xOpen(disk->below, name, made.real(), flags, out);
  if (code != SQLITE_OK) return code;
  made.base.pMethods = &disk->methods;
  if (name == nullptr || (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) == 0) return code;
  const std::lock_guard lock{disk->mutex};
  const auto [known, is_new] = disk->files.try_emplace(name);
  if (is_new) known->second.durable = content_of(name);
  made.tracked = &known->second;
  return code;
}

int delete_file(sqlite3_vfs*, const char* name, int sync_folder) {
  {
    const std::lock_guard lock{disk->mutex};
    if (disk->files.contains(name)) {
      if (!disk->take_call()) return disk->code;
      disk->files.erase(name);
    }
  }
  return disk->below->xDelete(disk->below, name, sync_folder);
}

}  // namespace

crash_disk::crash_disk() : state_{std::make_unique<crash_disk_state>()} {
  prepare_library();
  crash_disk_state& of = *state_;
  of.below = sqlite3_vfs_find(nullptr);
  of.methods = {2,
                &close_file,
                &read_file,
                &write_file,
                &truncate_file,
                &sync_file,
                &size_of_file,
                &lock_file,
                &unlock_file,
                &is_locked,
                &control_file,
                &sector_of_file,
                &promises_of_file,
                &map_shared,
                &lock_shared,
                &order_shared,
                &unmap_shared,
                nullptr,
                nullptr};
  of.own = *of.below;
  of.own.zName = "weft-crash";
  of.own.pNext = nullptr;
  of.own.szOsFile = static_cast<int>(sizeof(crash_file)) + of.below->szOsFile;
  of.own.xOpen = &open_file;
  of.own.xDelete = &delete_file;
  disk = &of;
  sqlite3_vfs_register(&of.own, 1);
}

crash_disk::~crash_disk() {
  sqlite3_vfs_unregister(&state_->own);
  sqlite3_vfs_register(state_->below, 1);
  disk = nullptr;
}

void crash_disk::cut_at(std::uint64_t call, int code) {
  const std::lock_guard lock{state_->mutex};
  state_->calls = 0;
  state_->cut = call;
  state_->code = code;
}

std::uint64_t crash_disk::calls() const {
  const std::lock_guard lock{state_->mutex};
  return state_->calls;
}

void crash_disk::restore(random& draw) {
  const std::lock_guard lock{state_->mutex};
  for (auto& [path, file] : state_->files) {
    for (const unsynced_change& each : file.unsynced) {
      const std::size_t sectors = (each.bytes.size() + sector_bytes - 1) / sector_bytes;
      switch (draw.below(3)) {
        case 0: apply(each, each.bytes.size(), file.durable); break;
        case 1: break;
        default:
          if (!each.truncates)
            apply(each, std::min(each.bytes.size(), draw.below(sectors + 1) * sector_bytes),
                  file.durable);
      }
    }
    std::ofstream{path, std::ios::binary | std::ios::trunc} << file.durable;
  }
  state_->files.clear();
  state_->calls = state_->cut = 0;
}

}  // namespace weft::store::sqlite
