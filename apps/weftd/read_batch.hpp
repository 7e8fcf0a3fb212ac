// A batch of reads under way: what is asked of the engine, and what becomes of each operation.
//
// Contract: operations are answered in their order, whatever the engine was asked; one whose table,
// key or columns are wrong has the status of that and empty data, and does not fail the others.
// Made of a checked request; lies in the request's memory. finish() once the engine has told all.
//
//   read_batch reads{*schema, *asked->operations, memory, version};
//   co_await engine.read(reads.plans(), reads);
//   reads.finish();                                     // memory.reply is the whole reply
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/store/catalog.hpp>
#include <weft/store/engine.hpp>
#include <weft/store/turn_share.hpp>

#include <apps/weftd/api_fault.hpp>
#include <apps/weftd/api_request.hpp>
#include <apps/weftd/request_memory.hpp>

namespace weftd {

class read_batch final : public weft::store::read_sink {
 public:
  read_batch(const weft::store::catalog& schema, std::span<const read_operation> asked,
             std::size_t bytes_max, request_memory& memory, api_version spoken);

  [[nodiscard]] std::span<const weft::store::key_read> plans() const noexcept { return plans_; }
  /// Of the first operation that is wrong by the schema alone; nullptr: there is none.
  [[nodiscard]] const api_fault* unknown() const noexcept;
  /// A failure of the engine, which fails the batch; nothing: none yet.
  [[nodiscard]] const std::optional<api_fault>& failure() const noexcept { return failure_; }
  /// The schema has changed meanwhile: the batch is to be made anew.
  [[nodiscard]] bool is_outdated() const noexcept { return is_outdated_; }
  void finish();

 private:
  void row(std::size_t operation, std::span<const weft::store::value> values) override;
  void long_row(std::size_t operation, std::span<const weft::store::value> values,
                weft::memory_reservation memory) override;
  void missing(std::size_t operation) override;
  void failed(std::size_t operation, const weft::store::failure& why) override;
  [[nodiscard]] bool is_turn_over() override { return share_.is_used_up(memory_.reply_bytes()); }
  [[nodiscard]] bool is_full() const override { return failure_ || is_outdated_; }
  [[nodiscard]] std::size_t kept_bytes() const override { return memory_.reserved_bytes(); }

  void fail(api_fault why);
  void check_size();
  void tell_faults_before(std::size_t operation);
  void begin(int code);
  void tell_nothing(int code, std::string_view message);

  struct faulty_operation {
    std::size_t operation;
    api_fault fault;
  };

  std::span<const read_operation> asked_;
  request_memory& memory_;
  std::string& reply_;
  std::size_t bytes_max_;
  api_version spoken_;
  request_vector<weft::store::key_read> plans_;
  request_vector<std::size_t> planned_;  // which operation each plan is of
  std::vector<faulty_operation> faults_;
  std::size_t faults_told_ = 0;
  std::size_t told_ = 0;  // operations
  std::optional<api_fault> failure_;
  weft::store::turn_share share_;
  bool is_outdated_ = false;
};

}  // namespace weftd
