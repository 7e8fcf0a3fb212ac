// A batch of look-ups by key, in as few round trips as it can be.
//
// Problem: each question to a server costs a round trip, and whoever asks for a hundred rows wants
// one. Contract: run() asks once for all operations of a table and its columns, up to 128, and a
// second time where only the server knows which of its texts is which key: 'ABC' may be the row
// 'abc'. What it has found it keeps, so that run() may go on on another connection after it has
// failed, with what is left. tell() gives all of it to a sink, in order. The operations stay, and
// so does what they span.
//
//   key_lookup batch{operations};
//   if (const auto run = co_await batch.run(connection); !run) co_return run;
//   batch.tell(sink, counts);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <weft/store/engine.hpp>
#include <weft/store/mysql/connection.hpp>
#include <weft/store/mysql/engine_counts.hpp>
#include <weft/store/scratch.hpp>

namespace weft::store::mysql {

class key_lookup {
 public:
  explicit key_lookup(std::span<const key_read> operations)
      : operations_{operations}, found_(operations.size()) {}

  /// What the operation comes to without being asked for.
  void refuse(std::size_t operation, failure_kind why, std::string_view message);

  /// Fails as connection::execute() does, where it was not the server that said why.
  [[nodiscard]] task<result<void>> run(connection& by);
  /// Whether a table is not what the operations take it for.
  [[nodiscard]] bool is_stale() const noexcept { return is_stale_; }

  void tell(read_sink& to, engine_counts& counts) const;

 private:
  using group = std::span<const std::size_t>;  // operations, by their numbers
  enum class outcome : std::uint8_t { open, row, missing, failed };
  struct found {
    outcome is = outcome::open;
    failure_kind why = failure_kind::other;
    std::span<const value> values{};
    std::string_view message{};
  };

  [[nodiscard]] std::vector<std::size_t> next_group(std::size_t from) const;
  [[nodiscard]] task<result<void>> look_up(connection& by, group asked);
  [[nodiscard]] task<result<void>> look_up_numbered(connection& by, group asked);
  [[nodiscard]] task<result<statement*>> ask(connection& by, std::string_view sql, group asked);
  /// What a call comes to that has failed: an error, or all of `asked` are answered.
  [[nodiscard]] task<result<void>> settle(connection& by, error why, group asked);
  void keep_row(std::size_t operation, std::span<const value> values);
  void end_open(group asked);

  std::span<const key_read> operations_;
  std::vector<found> found_;
  std::vector<value> parameters_;
  scratch room_;
  bool is_stale_ = false;
};

}  // namespace weft::store::mysql
