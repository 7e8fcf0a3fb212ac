#include <weft/store/sqlite/library.hpp>

#include <malloc.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>

#include <sqlite3.h>

#include <weft/base/log.hpp>
#include <weft/base/sanitizers.hpp>
#include <weft/base/thread_owned.hpp>
#include <weft/store/sqlite/memory_budget.hpp>
#include <weft/store/sqlite/nowait_reads.hpp>
#include <weft/store/sqlite/open_files.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::size_t class_bytes = 64;
constexpr std::size_t classes = 16;       // of up to 1 KiB
constexpr unsigned kept_of_a_class = 32;  // a look-up has three blocks at a time

/// One thread's blocks that nobody uses, by size. A block may come from another thread.
class kept_blocks {
 public:
  /// At the end of its thread, of which other objects may end later.
  void free_all() noexcept {
    has_ended_ = true;
    for (list& each : lists_)
      while (free_block* const block = each.first) {
        each.first = block->next;
        std::free(block);
      }
  }

  void* take(std::size_t bytes) noexcept {
    if constexpr (WEFT_SANITIZED != 0) return std::malloc(bytes);  // which they watch
    const std::size_t wanted = (bytes + class_bytes - 1) / class_bytes;
    if (wanted == 0 || wanted > classes) return std::malloc(bytes);
    list& from = lists_[wanted - 1];
    free_block* const block = from.first;
    if (block == nullptr) return std::malloc(wanted * class_bytes);
    from.first = block->next;
    --from.count;
    return block;
  }

  void give_back(void* block) noexcept {
    if constexpr (WEFT_SANITIZED != 0) return std::free(block);
    const std::size_t size_class = malloc_usable_size(block) / class_bytes;
    if (size_class == 0 || size_class > classes || has_ended_ ||
        lists_[size_class - 1].count == kept_of_a_class || !will_free_all()) {
      std::free(block);
      return;
    }
    list& to = lists_[size_class - 1];
    to.first = ::new (block) free_block{to.first};
    ++to.count;
  }

 private:
  [[nodiscard]] bool will_free_all() noexcept {
    static const thread_end end{[](void* of) { static_cast<kept_blocks*>(of)->free_all(); }};
    return will_free_all_ || (will_free_all_ = end.call_with(this));
  }

  struct free_block {
    free_block* next;
  };
  struct list {
    free_block* first = nullptr;
    unsigned count = 0;
  };
  std::array<list, classes> lists_{};
  bool has_ended_ = false;
  bool will_free_all_ = false;
};

constinit thread_local kept_blocks kept;

void* take_block(int bytes) {
  const auto wanted = static_cast<std::size_t>(bytes);
  memory_budget* const budget = memory_budget::of_this_thread();
  if (budget == nullptr) [[likely]]
    return kept.take(wanted);
  if (!budget->has_room_for(wanted)) return nullptr;
  void* const block = kept.take(wanted);
  if (block != nullptr) budget->take(malloc_usable_size(block));
  return block;
}
void give_back_block(void* block) {
  if (block == nullptr) return;
  if (memory_budget* const budget = memory_budget::of_this_thread())
    budget->give_back(malloc_usable_size(block));
  kept.give_back(block);
}
void* resize_block(void* block, int bytes) {
  const auto wanted = static_cast<std::size_t>(bytes);
  memory_budget* const budget = memory_budget::of_this_thread();
  if (budget == nullptr) [[likely]]
    return std::realloc(block, wanted);
  const std::size_t before = malloc_usable_size(block);
  if (wanted > before && !budget->has_room_for(wanted - before)) return nullptr;
  void* const moved = std::realloc(block, wanted);
  if (moved == nullptr) return nullptr;
  budget->give_back(before);
  budget->take(malloc_usable_size(moved));
  return moved;
}
int size_of_block(void* block) { return static_cast<int>(malloc_usable_size(block)); }
int rounded_size(int bytes) { return (bytes + 7) & ~7; }
int start_memory(void*) { return SQLITE_OK; }
void end_memory(void*) {}

int configure_memory() noexcept {
  static constexpr sqlite3_mem_methods methods{&take_block,    &give_back_block, &resize_block,
                                               &size_of_block, &rounded_size,    &start_memory,
                                               &end_memory,    nullptr};
  return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

/// SQLite knows of a full disk alone: a quota and a bound on the size of files are no faults of the
/// disk either.
ssize_t write_at(int descriptor, const void* from, std::size_t size, off_t offset) {
  const ssize_t written = ::pwrite(descriptor, from, size, offset);
  if (written < 0 && (errno == EDQUOT || errno == EFBIG)) errno = ENOSPC;
  return written;
}

/// It has one of the two, as it was built.
void configure_writes() noexcept {
  sqlite3_vfs* const files = sqlite3_vfs_find("unix");
  if (files == nullptr || files->iVersion < 3 || files->xSetSystemCall == nullptr) return;
  for (const char* const name : {"pwrite", "pwrite64"})
    if (files->xGetSystemCall(files, name) != nullptr)
      files->xSetSystemCall(files, name, reinterpret_cast<sqlite3_syscall_ptr>(&write_at));
}

}  // namespace

void prepare_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) != SQLITE_OK || configure_memory() != SQLITE_OK)
      log::info("SQLite was in use before weft's: its allocations stay as they were");
    sqlite3_initialize();
    configure_writes();
    install_open_files();
    if (!nowait_reads::install())
      log::warning(
          "this SQLite lets nobody see whether a read waits for the disk: it may keep shards");
  });
}

}  // namespace weft::store::sqlite
