// The folder of the databases, as all shards of this process share it.
//
// Problem: shards share nothing, but the files beneath them are the same, and so are the threads
// that wait for the disk. Contract: one for each folder, made by the first engine that opens it and
// gone with the last. It keeps connections for reader threads: reader() lends one, or opens it; and
// the writer of each database, with the options of that first engine. Any thread.
//
//   auto files = storage::open(options);
//   if (auto reader = (*files)->reader("shop")) use(**reader);
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/store/file_swap.hpp>
#include <weft/store/sqlite/engine_options.hpp>
#include <weft/store/sqlite/folder_lock.hpp>
#include <weft/store/sqlite/handle.hpp>
#include <weft/store/sqlite/served_file.hpp>
#include <weft/store/sqlite/writer.hpp>

namespace weft {
class event;
class event_loop;
}  // namespace weft

namespace weft::store::sqlite {

/// Whether others are to know that this process serves the folder.
enum class takes_lock : bool { no, yes };

class storage : public std::enable_shared_from_this<storage> {
 public:
  /// Makes what options.create names. A line for people, where that or the folder is not to be had.
  [[nodiscard]] static std::expected<std::shared_ptr<storage>, std::string> open(
      const engine_options& options, takes_lock how = takes_lock::yes);
  storage(const storage&) = delete;
  storage& operator=(const storage&) = delete;
  ~storage();

  /// As it was named, from the root on: a link that leads elsewhere later is followed.
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
  [[nodiscard]] std::string path_of(std::string_view database) const;
  [[nodiscard]] duration busy_timeout() const noexcept { return options_.busy_timeout; }
  /// Whether its file is there now.
  [[nodiscard]] bool has_file(std::string_view database) const;
  /// Sorted. A line for people, where the folder cannot be read.
  [[nodiscard]] std::expected<std::vector<std::string>, std::string> database_names() const;

  /// A connection that comes back when it is done with; its end, where work that had no memory to
  /// end its transaction has left that.
  class [[nodiscard]] lease {
   public:
    lease(storage& from, connection lent) noexcept : from_{&from}, lent_{std::move(lent)} {}
    lease(lease&& other) noexcept
        : from_{std::exchange(other.from_, nullptr)}, lent_{std::move(other.lent_)} {}
    lease& operator=(lease&&) = delete;
    ~lease() {
      if (from_ != nullptr) from_->take_back(std::move(lent_));
    }
    connection& operator*() noexcept { return lent_; }
    connection* operator->() noexcept { return &lent_; }
    /// Whether its files are still those that have the names: once its moment is fixed.
    [[nodiscard]] bool is_in_place();

   private:
    storage* from_;
    connection lent_;
  };
  /// For reading, of the file that is there now.
  [[nodiscard]] std::expected<lease, std::string> reader(std::string_view database);
  /// As reader(), for the caller to keep.
  [[nodiscard]] std::expected<connection, std::string> open(std::string_view database);
  /// Of a connection to the database: what look() has given, where that is not as it should be.
  void note(const connection& of, file_place seen);
  /// The database is not served, though it should be; or it is again. Of a look at the folder.
  void set_refused(std::string_view database, bool is);
  /// What the last look has found.
  [[nodiscard]] bool is_refused(std::string_view database);
  /// How many are not.
  [[nodiscard]] std::size_t refused() const noexcept;
  /// Gives back what is kept of a file that has gone.
  void let_go(std::string_view database);

  /// As file_swapper::swap(). `before`: the tables that are served.
  [[nodiscard]] std::expected<file_swap, std::string> swap(const swap_request& request,
                                                           std::span<const table_definition> before,
                                                           database_swap& with);

  /// Sets `woken`, on its loop, once the files of a database have changed. Until stop_telling().
  void tell_of_changes(event_loop& on, std::weak_ptr<event> woken);
  void stop_telling(const event_loop& on) noexcept;

  [[nodiscard]] writer& writer_of(std::string_view database);
  /// Batches of writes, to all databases, that have not been begun.
  [[nodiscard]] std::size_t writes_waiting();
  /// Counted up when a commit of this process is durable, before anybody is told of it: a
  /// transaction that was begun before does not see it.
  [[nodiscard]] std::uint64_t commits() const noexcept {
    return commits_.load(std::memory_order_acquire);
  }

 private:
  storage(std::string named, const std::string& real, const engine_options& options, takes_lock how)
      : directory_{std::move(named)},
        options_{options},
        lock_{how == takes_lock::yes ? folder_lock{real} : folder_lock{}} {
    idle_readers_.reserve(idle_readers_max);
  }
  struct database_files {
    served_file file;
    writer by;
    database_files(std::string path, storage& of)
        : file{std::move(path), of.lock_, [this, &of] { of.tell_change(*this); }},
          by{file, of.options_, of.commits_} {}
  };
  [[nodiscard]] std::string create(const std::string& database) const;
  [[nodiscard]] database_files& files_of(std::string_view database);
  [[nodiscard]] database_files* find_files(std::string_view path);
  [[nodiscard]] std::optional<connection> take_idle(const std::string& path);
  /// A file by two names would have two logs, each of which undoes the other's writes.
  [[nodiscard]] std::expected<void, std::string> refuse_twin(database_files& of);
  void drop_idle(const std::string& path);
  void take_back(connection lent) noexcept;
  void tell_change(database_files& of);
  static void roll_back_others(connection& reader);

  static constexpr std::size_t idle_readers_max = 32;

  std::string directory_;
  engine_options options_;
  folder_lock lock_;
  std::atomic<std::uint64_t> commits_{0};
  mutable std::mutex mutex_;
  // All under mutex_.
  std::vector<std::unique_ptr<database_files>> databases_;
  std::vector<connection> idle_readers_;
  struct listener {
    event_loop* on;
    std::weak_ptr<event> woken;
  };
  std::vector<listener> listeners_;
};

}  // namespace weft::store::sqlite
