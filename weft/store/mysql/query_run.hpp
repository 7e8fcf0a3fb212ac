// A client's query in SQL, on one connection.
//
// Contract: run() makes it in a transaction that only reads, and tells the sink of rows as they
// come, so that no more than one is in memory, which the connection reserves, and others have the
// shard in between. Where nothing was told yet and the connection was lost, it may be run once
// more, on another. A connection that has rows left, which nobody wants, is closed. Fails as
// connection::execute() does, as errc::timed_out where the server has ended it, and as
// errc::not_found where a replica may lack what the main server has: the sink was told of nothing
// then.
//
//   query_run run{loop, request, text};
//   const auto is_all = co_await run.run(connection, sink);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <weft/store/mysql/connection.hpp>
#include <weft/store/mysql/query_text.hpp>
#include <weft/store/query.hpp>

namespace weft::store::mysql {

class query_run {
 public:
  query_run(event_loop& loop, const query_request& request, const query_text& text,
            bool is_on_replica) noexcept
      : loop_{loop}, request_{request}, text_{text}, is_on_replica_{is_on_replica} {}

  /// Whether the sink was told of all rows; false where it was told of a failure, too.
  [[nodiscard]] task<result<bool>> run(connection& by, query_sink& to);
  [[nodiscard]] bool has_told() const noexcept { return !columns_.empty(); }
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  /// What the sink was told of; none: nothing has failed.
  [[nodiscard]] std::optional<failure_kind> fault() const noexcept { return fault_; }

 private:
  [[nodiscard]] task<result<bool>> run_inside(connection& by, query_sink& to, bool& is_at_end);
  [[nodiscard]] task<result<bool>> tell(connection& by, statement& select, query_sink& to,
                                        bool& is_at_end);
  [[nodiscard]] task<result<bool>> tell_rows(connection& by, statement& select, query_sink& to,
                                             bool& is_at_end);
  /// False: the sink has enough.
  [[nodiscard]] static bool tell_row(connection& by, const statement& select, query_sink& to);
  /// False.
  [[nodiscard]] bool refuse(std::string_view why, query_sink& to);
  [[nodiscard]] result<bool> settle(const connection& by, error why, query_sink& to);

  event_loop& loop_;
  const query_request& request_;
  const query_text& text_;
  bool is_on_replica_;
  std::vector<column> columns_;
  std::uint64_t rows_ = 0;
  std::optional<failure_kind> fault_;
};

}  // namespace weft::store::mysql
