#include <apps/weftd/write_batch.hpp>

#include <apps/weftd/check_batch.hpp>
#include <apps/weftd/row_plan.hpp>
#include <apps/weftd/row_text.hpp>
#include <weft/base/format.hpp>

namespace weftd {
namespace {

namespace store = weft::store;

store::write_kind kind_of(std::string_view action) noexcept {
  if (action == "pk-insert") return store::write_kind::insert;
  if (action == "pk-update") return store::write_kind::update;
  return action == "pk-delete" ? store::write_kind::remove : store::write_kind::upsert;
}

api_fault fault_of_operation(std::size_t operation, const api_fault& why) {
  return {why.code, weft::format("operation {}: {}", operation, why.message), why.fields,
          why.is_of_schema};
}

/// What is said of an operation, whatever becomes of it.
std::size_t reply_bytes_of(const pk_write_request& asked) noexcept {
  constexpr std::size_t around_id = 120;  // begin() and missing()
  constexpr std::size_t escaped_byte = 6;
  return around_id + (asked.operationId ? asked.operationId->view().size() * escaped_byte : 0);
}

}  // namespace

std::expected<write_batch, api_fault> write_batch::plan(const store::catalog& schema,
                                                        std::span<const write_operation> asked,
                                                        request_memory& memory,
                                                        api_version spoken) {
  const using_memory here{memory};
  write_batch made{asked, memory.reply, spoken};
  made.plans_.reserve(asked.size());
  const std::string_view database = split_path(asked.front().relative_url->view())->database;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto path = split_path(asked[i].relative_url->view());
    if (path->database != database)
      return std::unexpected{fault_of_operation(
          i, bad_request(weft::format("all writes of a batch are of one database: of {}, not of {}",
                                      database, path->database)))};
    const store::write_kind kind = kind_of(path->action);
    const auto plan = plan_write(schema, database, path->table, kind, *asked[i].body, memory);
    if (!plan) return std::unexpected{fault_of_operation(i, plan.error())};
    made.plans_.push_back(*plan);
  }
  // What has been committed must be told, though there be no more memory then.
  std::size_t reply_bytes = 16;
  for (const write_operation& each : asked) reply_bytes += reply_bytes_of(*each.body);
  memory.reply.reserve(reply_bytes);
  memory.reply = R"({"result":[)";
  return made;
}

void write_batch::finish() { *reply_ += "]}"; }

void write_batch::done(std::size_t operation) {
  begin(operation, "200");
  *reply_ += '}';
}

void write_batch::missing(std::size_t operation) {
  begin(operation, "404");
  *reply_ += spoken_ == api_version::v0_2_0 ? R"(,"message":"the row does not exist"})" : "}";
}

void write_batch::failed(std::size_t operation, const store::failure& why) {
  if (why.kind == store::failure_kind::schema_changed) is_outdated_ = true;
  const bool is_cause = why.kind != store::failure_kind::rolled_back;
  if (!is_cause || failure_) return;
  failure_ = why.is_of_all ? fault_of(why) : fault_of_operation(operation, fault_of(why));
}

void write_batch::begin(std::size_t operation, std::string_view code) {
  if (operation != 0) *reply_ += ',';
  *reply_ += R"({"code":)";
  *reply_ += code;
  *reply_ += R"(,"body":{"operationId":)";
  const pk_write_request& of = *asked_[operation].body;
  append_text(of.operationId ? of.operationId->view() : std::string_view{}, *reply_);
  *reply_ += R"(,"data":{}})";
}

}  // namespace weftd
