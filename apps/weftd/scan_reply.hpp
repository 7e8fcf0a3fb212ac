// The rows of a scan as they go into its reply:
// {"data":[{...},{...}],"rows":2,"continuation":"..."}.
//
// Contract: begins the reply, takes any number of slices, and ends it; `continuation` stands there
// where there may be more. The scan ends early once the reply has `bytes_max` bytes, or the shard
// has no memory for more of it. Of one scan; the memory and the columns outlive it.
//
//   scan_reply rows{plan, options.scan_bytes, memory};
//   const auto rest = co_await engine.scan(plan, rows);
//   rows.finish(*rest);
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <apps/weftd/api_fault.hpp>
#include <apps/weftd/request_memory.hpp>
#include <weft/store/scan.hpp>
#include <weft/store/turn_share.hpp>

namespace weftd {

class scan_reply final : public weft::store::scan_sink {
 public:
  scan_reply(const weft::store::scan_request& asked, std::size_t bytes_max, request_memory& memory);

  /// A failure of the engine; nothing: none yet.
  [[nodiscard]] const std::optional<api_fault>& failure() const noexcept { return failure_; }
  /// The schema has changed meanwhile: the scan is to be made anew.
  [[nodiscard]] bool is_outdated() const noexcept { return is_outdated_; }
  /// `rest`: where to go on; empty: there is no more.
  void finish(std::string_view rest);

 private:
  void row(std::span<const weft::store::value> values) override;
  bool long_row(std::span<const weft::store::value> values,
                weft::memory_reservation memory) override;
  void failed(const weft::store::failure& why) override;
  [[nodiscard]] bool is_full() const override {
    return has_no_room_ || memory_.reply_bytes() >= bytes_max_ || !memory_.has_room();
  }
  [[nodiscard]] bool is_turn_over() override { return share_.is_used_up(memory_.reply_bytes()); }

  const weft::store::scan_request& asked_;
  std::size_t bytes_max_;
  request_memory& memory_;
  std::string& reply_;
  std::size_t rows_ = 0;
  weft::store::turn_share share_;
  std::optional<api_fault> failure_;
  bool is_outdated_ = false;
  bool has_no_room_ = false;
};

}  // namespace weftd
