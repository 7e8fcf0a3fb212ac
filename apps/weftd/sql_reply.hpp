// What a query in SQL found, as JSON.
//
// Contract: the sink of the engine's query(). Rows go behind what is in `reply`, with commas
// between them: `"data":[{...},{...}`; before that, where it is wanted, a list of the columns'
// names. They are enough once `reply` has `bytes_max`; the row that is too much is left out.
//
//   sql_reply rows{memory->reply, 4U << 20U, column_names::told};
//   auto told = co_await engine.query(asked, rows);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/store/query.hpp>
#include <weft/store/turn_share.hpp>

#include <apps/weftd/api_fault.hpp>
#include <apps/weftd/request_memory.hpp>

namespace weftd {

enum class column_names : std::uint8_t { told, left_out };

class sql_reply final : public weft::store::query_sink {
 public:
  sql_reply(request_memory& memory, std::size_t bytes_max, column_names names) noexcept
      : memory_{memory},
        reply_{memory.reply},
        bytes_max_{bytes_max},
        tells_names_{names == column_names::told} {}

  [[nodiscard]] const std::optional<api_fault>& failure() const noexcept { return failure_; }
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  /// A row that there is was left out.
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

 private:
  void columns(std::span<const weft::store::column> given) override;
  bool row(std::span<const weft::store::value> values) override;
  void failed(const weft::store::failure& why) override;
  [[nodiscard]] bool is_turn_over() override { return share_.is_used_up(memory_.reply_bytes()); }
  void append_names();
  bool leave_out_row(std::size_t before);

  request_memory& memory_;
  std::string& reply_;
  std::size_t bytes_max_;
  bool tells_names_;
  std::span<const weft::store::column> columns_;
  std::vector<std::string> names_;  // in JSON
  std::size_t rows_ = 0;
  weft::store::turn_share share_;
  bool is_cut_ = false;
  std::optional<api_fault> failure_;
};

}  // namespace weftd
