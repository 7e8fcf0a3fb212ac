// Files that weftd writes: how far an import has come, rows that are exported, the demo database.
//
// Problem: who may write to a folder may put a link there, by which a program writes over a file of
// somebody else, or a FIFO, at which it waits for ever. And who is killed leaves half a file.
// Contract: a new file is written as NAME.part, made anew for it, and has its name once it is
// whole. A part that a killed program has left is replaced; one that another program is writing,
// and anything else of that name, are refused. Neither links nor FIFOs are followed. Blocks for the
// disk; of one thread.
//
//   auto file = new_file::create("orders.csv");
//   if (!file) return complain(file.error());
//   std::fputs("id\n", file->stream());
//   if (auto done = file->finish(durable::yes); !done) return complain(done.error());
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <memory>
#include <optional>
#include <string>

namespace weftd {

/// Whether a power cut leaves it, whole, or what was there before.
enum class durable : bool { no, yes };

class new_file {
 public:
  /// Else why not, with the name. Has the permissions of the regular file that it will replace.
  [[nodiscard]] static std::expected<new_file, std::string> create(std::string path);
  new_file(new_file&&) noexcept = default;
  new_file& operator=(new_file&&) = delete;
  /// Takes the part away, unless it was finished.
  ~new_file();

  [[nodiscard]] std::FILE* stream() const noexcept { return stream_.get(); }
  /// Else why it does not have its name, for people.
  [[nodiscard]] std::expected<void, std::string> finish(durable how);

 private:
  struct closer {
    void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
  };
  new_file(std::string path, std::FILE* stream) noexcept
      : path_{std::move(path)}, stream_{stream} {}

  std::string path_;
  std::unique_ptr<std::FILE, closer> stream_;  // nullptr: it is finished, or was moved away
};

/// Opens NAME.part as new_file does, and leaves it, empty: for who opens it by its name.
[[nodiscard]] std::expected<void, std::string> make_part(const std::string& path);

/// Nothing: there is no such file. Else why it is not read, without its name.
[[nodiscard]] std::expected<std::optional<std::string>, std::string> read_own_file(
    const std::string& path, std::size_t bytes_max);

}  // namespace weftd
