// A batch of writes under way: all of it is done, or nothing.
//
// Contract: as read_batch, but that one operation whose table, key, columns or values are wrong,
// and one that the engine refuses, fail the batch; what is said names the operation. A row that is
// not there to be updated or removed is no failure: its operation has code 404. All operations are
// of one database. Made of a checked request; lies in the request's memory.
//
//   auto writes = write_batch::plan(*schema, *asked->operations, memory, version);
//   if (!writes) return fail(writes.error());
//   co_await engine.write(writes->plans(), *writes);
//   writes->finish();                                   // memory.reply is the whole reply
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <apps/weftd/api_fault.hpp>
#include <apps/weftd/api_request.hpp>
#include <apps/weftd/request_memory.hpp>
#include <weft/store/catalog.hpp>
#include <weft/store/engine.hpp>

namespace weftd {

class write_batch final : public weft::store::write_sink {
 public:
  [[nodiscard]] static std::expected<write_batch, api_fault> plan(
      const weft::store::catalog& schema, std::span<const write_operation> asked,
      request_memory& memory, api_version spoken);

  [[nodiscard]] std::span<const weft::store::key_write> plans() const noexcept { return plans_; }
  /// Why nothing was done; nothing: all was.
  [[nodiscard]] const std::optional<api_fault>& failure() const noexcept { return failure_; }
  /// The schema has changed meanwhile: the batch is to be made anew.
  [[nodiscard]] bool is_outdated() const noexcept { return is_outdated_; }
  void finish();

 private:
  write_batch(std::span<const write_operation> asked, std::string& reply,
              api_version spoken) noexcept
      : asked_{asked}, reply_{&reply}, spoken_{spoken} {}

  void done(std::size_t operation) override;
  void missing(std::size_t operation) override;
  void failed(std::size_t operation, const weft::store::failure& why) override;

  void begin(std::size_t operation, std::string_view code);

  std::span<const write_operation> asked_;
  std::string* reply_;
  api_version spoken_;
  request_vector<weft::store::key_write> plans_;
  std::optional<api_fault> failure_;
  bool is_outdated_ = false;
};

}  // namespace weftd
