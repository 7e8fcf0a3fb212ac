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
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/store/sqlite/engine_options.hpp>
#include <weft/store/sqlite/handle.hpp>
#include <weft/store/sqlite/writer.hpp>

namespace weft::store::sqlite {

class storage : public std::enable_shared_from_this<storage> {
 public:
  /// Makes what options.create names. A line for people, where that or the folder is not to be had.
  [[nodiscard]] static std::expected<std::shared_ptr<storage>, std::string> open(
      const engine_options& options);
  storage(const storage&) = delete;
  storage& operator=(const storage&) = delete;

  /// With its real path.
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
  [[nodiscard]] std::string path_of(std::string_view database) const;
  /// Sorted. A line for people, where the folder cannot be read.
  [[nodiscard]] std::expected<std::vector<std::string>, std::string> database_names() const;

  /// A connection that comes back when it is done with.
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

   private:
    storage* from_;
    connection lent_;
  };
  /// For reading, of the file that is there now.
  [[nodiscard]] std::expected<lease, std::string> reader(std::string_view database);

  [[nodiscard]] writer& writer_of(std::string_view database);
  /// Batches of writes, to all databases, that have not been begun.
  [[nodiscard]] std::size_t writes_waiting();
  /// Counted up when a commit of this process is durable, before anybody is told of it: a
  /// transaction that was begun before does not see it.
  [[nodiscard]] std::uint64_t commits() const noexcept {
    return commits_.load(std::memory_order_acquire);
  }

 private:
  storage(std::string directory, const engine_options& options)
      : directory_{std::move(directory)}, options_{options} {
    idle_readers_.reserve(idle_readers_max);
  }
  [[nodiscard]] std::string create(const std::string& database) const;
  void take_back(connection lent) noexcept;
  static void roll_back_others(connection& reader);

  static constexpr std::size_t idle_readers_max = 32;

  std::string directory_;
  engine_options options_;
  std::atomic<std::uint64_t> commits_{0};
  std::mutex mutex_;
  // All under mutex_.
  std::vector<connection> idle_readers_;
  std::vector<std::unique_ptr<writer>> writers_;
};

}  // namespace weft::store::sqlite
