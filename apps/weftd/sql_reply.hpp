// What a query in SQL found, as JSON or as a table in text.
//
// Contract: the sink of the engine's query(). Rows go behind what is in `reply`. As JSON they have
// commas between them: `"data":[{...},{...}`; before that, where it is wanted, a list of the
// columns' names. As text, which is that of MySQL's own client, each is a line with tabs between
// its fields, NULL is written so, and in fields \t, \n, \0 and \\ stand for a tab, a line end, a
// NUL and a backslash; the names are the first line, where there are rows. They are enough once
// `reply` has `bytes_max`; the row that is too much is left out.
//
//   sql_reply rows{memory->reply, 4U << 20U, {.tells_names = true}};
//   auto told = co_await engine.query(asked, rows);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/store/query.hpp>
#include <weft/store/turn_share.hpp>

#include <apps/weftd/api_fault.hpp>
#include <apps/weftd/request_memory.hpp>

namespace weftd {

struct row_form {
  enum class kind : std::uint8_t { json, text } is = kind::json;
  bool tells_names = false;
  /// Of JSON: all other characters are escaped.
  bool is_ascii = false;
};

class sql_reply final : public weft::store::query_sink {
 public:
  sql_reply(request_memory& memory, std::size_t bytes_max, row_form form) noexcept
      : memory_{memory}, reply_{memory.reply}, bytes_max_{bytes_max}, form_{form} {}

  [[nodiscard]] const std::optional<api_fault>& failure() const noexcept { return failure_; }
  /// What the failure is to the query.
  [[nodiscard]] weft::store::query_fault fault_of_query() const noexcept { return of_query_; }
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  /// A row that there is was left out.
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

 private:
  void columns(std::span<const weft::store::column> given) override;
  bool row(std::span<const weft::store::value> values) override;
  bool long_row(std::span<const weft::store::value> values,
                weft::memory_reservation memory) override;
  void failed(const weft::store::failure& why) override;
  [[nodiscard]] bool is_turn_over() override { return share_.is_used_up(memory_.reply_bytes()); }
  [[nodiscard]] bool is_json() const noexcept { return form_.is == row_form::kind::json; }
  void append_names();
  /// False: it is enough.
  bool append(std::span<const weft::store::value> values);
  void begin_row();
  void append_value(std::size_t at, const weft::store::value& content);
  /// What is in memory at a time when a row is made, at most.
  [[nodiscard]] std::size_t row_size_max(std::span<const weft::store::value> values) const noexcept;
  /// What JSON tells of a value, as a field of a line.
  void append_field(std::string_view json);
  bool leave_out_row(std::size_t before);

  request_memory& memory_;
  std::string& reply_;
  std::size_t bytes_max_;
  row_form form_;
  std::span<const weft::store::column> columns_;
  std::vector<std::string> names_;  // as they are told
  std::string json_;
  std::string decoded_;
  std::size_t rows_ = 0;
  weft::store::turn_share share_;
  bool is_cut_ = false;
  std::optional<api_fault> failure_;
  weft::store::query_fault of_query_ = weft::store::query_fault::none;
};

/// JSON with characters of ASCII alone: others as \uXXXX.
void append_ascii(std::string_view json, std::string& out);

}  // namespace weftd
