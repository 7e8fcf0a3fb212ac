#include <apps/weftd/read_batch.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

#include <weft/base/format.hpp>

#include <apps/weftd/check_batch.hpp>
#include <apps/weftd/row_plan.hpp>
#include <apps/weftd/row_text.hpp>

namespace weftd {
namespace {

namespace store = weft::store;

}  // namespace

read_batch::read_batch(const store::catalog& schema, std::span<const read_operation> asked,
                       std::size_t bytes_max, request_memory& memory, api_version spoken)
    : asked_{asked}, memory_{memory}, reply_{memory.reply}, bytes_max_{bytes_max}, spoken_{spoken} {
  const using_memory here{memory};
  plans_.reserve(asked.size());
  planned_.reserve(asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto path = split_path(asked[i].relative_url->view());
    auto plan = plan_read(schema, path->database, path->table, *asked[i].body, memory);
    if (plan) {
      plans_.push_back(*plan);
      planned_.push_back(i);
    } else {
      faults_.push_back({i, std::move(plan.error())});
    }
  }
  memory_.give_up_reply();
  reply_ = R"({"result":[)";
}

const api_fault* read_batch::unknown() const noexcept {
  const auto found = std::ranges::find_if(
      faults_, [](const faulty_operation& each) { return each.fault.is_of_schema; });
  return found == faults_.end() ? nullptr : &found->fault;
}

void read_batch::finish() {
  tell_faults_before(asked_.size());
  reply_ += "]}";
}

/// A batch fails as a whole.
void read_batch::fail(api_fault why) {
  if (!failure_) failure_ = std::move(why);
  memory_.give_up_reply();
}

/// Behind each operation, so that no batch of many under way has more than is counted.
void read_batch::check_size() {
  if (memory_.reply_bytes() > bytes_max_)
    fail({weft::http::status::content_too_large,
          weft::format(
              "the reply would have more than {} bytes: ask for fewer rows or columns at once",
              bytes_max_)});
  else if (!memory_.has_room())
    fail(memory_.why_no_room());
}

void read_batch::row(std::size_t operation, std::span<const store::value> values) {
  if (is_full()) return;
  tell_faults_before(planned_[operation]);
  begin(200);
  const store::key_read& plan = plans_[operation];
  append_data(*plan.from, plan.columns, values, reply_);
  reply_ += "}}";
  check_size();
}

void read_batch::long_row(std::size_t operation, std::span<const store::value> values,
                          weft::memory_reservation memory) {
  if (is_full()) return;
  const store::key_read& plan = plans_[operation];
  const std::size_t size = row_head_max + data_size_max(*plan.from, plan.columns, values);
  memory_.make_room(size, std::move(memory)) ? row(operation, values) : fail(memory_.why_no_room());
}

void read_batch::missing(std::size_t operation) {
  if (is_full()) return;
  tell_faults_before(planned_[operation]);
  tell_nothing(404, "the row does not exist");
  check_size();
}

void read_batch::failed(std::size_t /*operation*/, const store::failure& why) {
  if (why.kind == store::failure_kind::schema_changed)
    is_outdated_ = true;
  else
    fail(fault_of(why));
}

void read_batch::tell_faults_before(std::size_t operation) {
  while (told_ < operation) {
    const api_fault& fault = faults_[faults_told_++].fault;
    tell_nothing(static_cast<int>(fault.code), fault.message);
  }
}

/// Up to the data of the next operation.
void read_batch::begin(int code) {
  if (told_ != 0) reply_ += ',';
  reply_ += R"({"code":)";
  char digits[8];
  reply_.append(digits, std::to_chars(digits, digits + sizeof digits, code).ptr);
  reply_ += R"(,"body":{"operationId":)";
  const pk_read_request& of = *asked_[told_++].body;
  append_text(of.operationId ? of.operationId->view() : std::string_view{}, reply_);
  reply_ += R"(,"data":)";
}

void read_batch::tell_nothing(int code, std::string_view message) {
  begin(code);
  reply_ += "{}}";
  if (spoken_ == api_version::v0_2_0) {
    reply_ += R"(,"message":)";
    append_text(message, reply_);
  }
  reply_ += '}';
}

}  // namespace weftd
