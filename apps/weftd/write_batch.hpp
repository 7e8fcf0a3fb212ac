// A batch of writes under way: of each database it names all is done, or nothing.
//
// Problem: a batch may be of several databases, which no engine commits together. Contract: each
// database is a transaction of its own, one after the other in the order of their names, and each
// operation has a code. Where one is wrong (its table, key, columns or values) or the engine
// refuses one, nothing of its database is done: that operation has its fault's code, and the others
// of the database 424. A row that is not there to be updated or removed is no failure: 404. Where
// the engine has failed, and nothing was done at all, that is what the whole is answered. Made of a
// checked request; lies in the request's memory.
//
//   write_batch writes{*asked->operations, memory, version};
//   while (writes.enter_next_database()) {
//     if (!writes.plan(*schema)) continue;              // none of it is to be done
//     co_await engine.write(writes.start(), writes);
//     writes.settle();
//   }
//   if (const auto* fault = writes.failure()) return fail(*fault);
//   writes.finish();                                    // memory.reply is the whole reply
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include <apps/weftd/api_fault.hpp>
#include <apps/weftd/api_request.hpp>
#include <apps/weftd/request_memory.hpp>
#include <weft/store/catalog.hpp>
#include <weft/store/engine.hpp>

namespace weftd {

class write_batch final : public weft::store::write_sink {
 public:
  write_batch(std::span<const write_operation> asked, request_memory& memory, api_version spoken);

  /// False: there is none left.
  [[nodiscard]] bool enter_next_database();

  // Of the database that was entered last:

  /// What its operations are in this schema. False: one is wrong, and none is to be done.
  [[nodiscard]] bool plan(const weft::store::catalog& schema);
  /// Of the first operation that is wrong by the schema alone; nothing: there is none.
  [[nodiscard]] const std::optional<api_fault>& unknown() const noexcept { return unknown_; }
  /// What the engine is asked for, which may be done from now on.
  [[nodiscard]] std::span<const weft::store::key_write> start() noexcept {
    has_started_ = true;
    return plans_;
  }
  /// The schema has changed meanwhile: this database is to be planned anew.
  [[nodiscard]] bool is_outdated() const noexcept { return is_outdated_; }
  /// All of its operations are done, but for those whose rows are not there.
  void settle() noexcept { has_committed_ = has_committed_ || !has_failed_; }
  /// None of them is.
  void fail(api_fault why);

  /// Whether the engine has been asked for anything.
  [[nodiscard]] bool has_started() const noexcept { return has_started_; }
  /// What the whole is answered; nullptr: the codes of the operations.
  [[nodiscard]] const api_fault* failure() const noexcept {
    return failure_ && !has_committed_ ? &*failure_ : nullptr;
  }
  void finish();

 private:
  struct outcome {
    int code = 200;
    std::string_view message{};
  };

  void done(std::size_t planned) override;
  void missing(std::size_t planned) override;
  void failed(std::size_t planned, const weft::store::failure& why) override;

  void order_by_database();
  [[nodiscard]] std::span<const std::size_t> entered() const noexcept {
    return std::span{order_}.subspan(first_, end_ - first_);
  }
  [[nodiscard]] std::string_view database_of(std::size_t operation) const noexcept;
  void begin_anew() noexcept;
  void refuse(std::size_t operation, const api_fault& why);
  void tell(std::size_t operation);

  std::span<const write_operation> asked_;
  request_memory& memory_;
  api_version spoken_;
  request_vector<std::size_t> order_;  // of the operations, by their databases
  request_vector<outcome> outcomes_;   // of each operation
  // Which of `order_` are of the database that was entered last.
  std::size_t first_ = 0;
  std::size_t end_ = 0;
  request_vector<weft::store::key_write> plans_;  // one for each of those
  std::optional<api_fault> unknown_;
  bool has_failed_ = false;
  bool is_outdated_ = false;
  // Of all databases:
  bool has_started_ = false;
  std::optional<api_fault> failure_;  // of the engine: the first
  bool has_committed_ = false;
};

}  // namespace weftd
