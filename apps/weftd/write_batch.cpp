#include <apps/weftd/write_batch.hpp>

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include <apps/weftd/check_batch.hpp>
#include <apps/weftd/row_plan.hpp>
#include <apps/weftd/row_text.hpp>
#include <weft/base/format.hpp>

namespace weftd {
namespace {

namespace store = weft::store;

constexpr int not_found = 404;
constexpr int failed_dependency = 424;  // RFC 4918 section 11.4
constexpr std::string_view not_alone =
    "not done, since another operation of its database has failed";

store::write_kind kind_of(std::string_view action) noexcept {
  if (action == "pk-insert") return store::write_kind::insert;
  if (action == "pk-update") return store::write_kind::update;
  return action == "pk-delete" ? store::write_kind::remove : store::write_kind::upsert;
}

api_fault fault_of_operation(std::size_t operation, const api_fault& why) {
  return {why.code, weft::format("operation {}: {}", operation, why.message), why.fields};
}

/// What is said of an operation that was done, or whose row is not there.
std::size_t reply_bytes_of(const pk_write_request& asked) noexcept {
  constexpr std::size_t around_id = 120;
  constexpr std::size_t escaped_byte = 6;
  return around_id + (asked.operationId ? asked.operationId->view().size() * escaped_byte : 0);
}

}  // namespace

write_batch::write_batch(std::span<const write_operation> asked, request_memory& memory,
                         api_version spoken)
    : asked_{asked}, memory_{memory}, spoken_{spoken} {
  const using_memory here{memory};
  outcomes_.resize(asked.size());
  plans_.reserve(asked.size());
  order_by_database();
  // What has been committed must be told, though there be no more memory then.
  std::size_t reply_bytes = 16;
  for (const write_operation& each : asked) reply_bytes += reply_bytes_of(*each.body);
  memory.reply.reserve(reply_bytes);
}

void write_batch::order_by_database() {
  order_.reserve(asked_.size());
  bool is_one = true;
  const std::string_view first = database_of(0);
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    order_.push_back(i);
    is_one = is_one && database_of(i) == first;
  }
  if (!is_one)
    std::ranges::sort(order_, {}, [this](std::size_t i) { return std::tuple{database_of(i), i}; });
}

std::string_view write_batch::database_of(std::size_t operation) const noexcept {
  return split_path(asked_[operation].relative_url->view())->database;
}

bool write_batch::enter_next_database() {
  first_ = end_;
  if (first_ == order_.size()) return false;
  const std::string_view database = database_of(order_[first_]);
  while (end_ < order_.size() && database_of(order_[end_]) == database) ++end_;
  return true;
}

void write_batch::begin_anew() noexcept {
  plans_.clear();
  unknown_.reset();
  has_failed_ = false;
  is_outdated_ = false;
}

bool write_batch::plan(const store::catalog& schema) {
  const using_memory here{memory_};
  begin_anew();
  for (const std::size_t i : entered()) {
    const auto path = split_path(asked_[i].relative_url->view());
    auto made = plan_write(schema, path->database, path->table, kind_of(path->action),
                           *asked_[i].body, memory_);
    outcomes_[i] = {failed_dependency, not_alone};  // until the engine says what has become of it
    if (made) {
      plans_.push_back(*made);
      continue;
    }
    refuse(i, made.error());
    if (made.error().is_of_schema && !unknown_) unknown_ = std::move(made.error());
  }
  return !has_failed_;
}

void write_batch::refuse(std::size_t operation, const api_fault& why) {
  has_failed_ = true;
  outcomes_[operation] = {static_cast<int>(why.code), memory_.room.copy(why.message)};
}

void write_batch::fail(api_fault why) {
  has_failed_ = true;
  const std::string_view message = memory_.room.copy(why.message);
  for (const std::size_t i : entered()) outcomes_[i] = {static_cast<int>(why.code), message};
  if (!failure_) failure_ = std::move(why);
}

void write_batch::done(std::size_t planned) { outcomes_[entered()[planned]] = {}; }

void write_batch::missing(std::size_t planned) {
  outcomes_[entered()[planned]] = {not_found, "the row does not exist"};
}

void write_batch::failed(std::size_t planned, const store::failure& why) {
  if (why.kind == store::failure_kind::schema_changed) is_outdated_ = true;
  has_failed_ = true;
  const std::size_t operation = entered()[planned];
  if (why.kind == store::failure_kind::rolled_back) {
    outcomes_[operation] = {failed_dependency, not_alone};
    return;
  }
  const api_fault fault = fault_of(why);
  refuse(operation, fault);
  if (is_outdated_ || failure_) return;
  failure_ = why.is_of_all ? fault : fault_of_operation(operation, fault);
}

void write_batch::finish() {
  memory_.reply = R"({"result":[)";
  for (std::size_t i = 0; i < asked_.size(); ++i) tell(i);
  memory_.reply += "]}";
}

void write_batch::tell(std::size_t operation) {
  std::string& reply = memory_.reply;
  const outcome& became = outcomes_[operation];
  if (operation != 0) reply += ',';
  reply += R"({"code":)";
  char digits[8];
  reply.append(digits, std::to_chars(digits, digits + sizeof digits, became.code).ptr);
  reply += R"(,"body":{"operationId":)";
  const pk_write_request& of = *asked_[operation].body;
  append_text(of.operationId ? of.operationId->view() : std::string_view{}, reply);
  reply += R"(,"data":{}})";
  if (spoken_ == api_version::v0_2_0 && !became.message.empty()) {
    reply += R"(,"message":)";
    append_text(became.message, reply);
  }
  reply += '}';
}

}  // namespace weftd
