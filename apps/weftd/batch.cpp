#include <apps/weftd/batch.hpp>

#include <charconv>

#include <weft/base/format.hpp>

#include <apps/weftd/read_plan.hpp>
#include <apps/weftd/row_text.hpp>

namespace weftd {
namespace {

namespace store = weft::store;

constexpr std::string_view wanted_path = "db/table/pk-read";

std::unexpected<api_fault> refuse(std::string message) {
  return std::unexpected{bad_request(std::move(message))};
}

checked check_operation(const batch_operation& asked, const api_limits& limits,
                        request_memory& memory) {
  if (!asked.method || asked.method->view() != "POST")
    return refuse(weft::format("the Method section should be POST, not '{}'",
                               asked.method ? asked.method->view() : ""));
  if (!asked.relative_url || asked.relative_url->view().empty())
    return refuse("the relativeUrl section is required");
  const std::string_view url = asked.relative_url->view();
  const auto path = split_path(url);
  if (!path || path->action != "pk-read")
    return refuse(weft::format("Field validation for 'RelativeURL' failed: '{}' is not {}", url,
                               wanted_path));
  if (auto named = check_names(path->database, path->table); !named) return named;
  if (!asked.body) return refuse("Field validation for 'Body' failed on the 'required' tag");
  return check(*asked.body, limits, memory);
}

/// The part behind the last slash, which `text` loses with it.
std::optional<std::string_view> take_last_part(std::string_view& text) noexcept {
  if (text.empty()) return std::nullopt;
  const std::size_t slash = text.rfind('/');
  const bool is_only = slash == std::string_view::npos;
  const std::string_view part = is_only ? text : text.substr(slash + 1);
  text = is_only ? std::string_view{} : text.substr(0, slash);
  return part;
}

}  // namespace

std::optional<operation_path> split_path(std::string_view relative_url) noexcept {
  const auto action = take_last_part(relative_url);
  const auto table = take_last_part(relative_url);
  const auto database = take_last_part(relative_url);
  if (!database) return std::nullopt;
  return operation_path{*database, *table, *action};
}

checked check(const batch_request& asked, const api_limits& limits, request_memory& memory) {
  if (!asked.operations || asked.operations->empty()) return refuse("No operations defined");
  if (asked.operations->size() > limits.batch_operations)
    return refuse(weft::format("Batch size exceeds maximum allowed size: {}; it has {} operations",
                               limits.batch_operations, asked.operations->size()));
  for (const batch_operation& each : *asked.operations)
    if (auto fine = check_operation(each, limits, memory); !fine) return fine;
  return {};
}

batch::batch(const store::catalog& schema, std::span<const batch_operation> asked,
             request_memory& memory, api_version spoken)
    : asked_{asked}, reply_{memory.reply}, spoken_{spoken} {
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
  reply_ = R"({"result":[)";
}

void batch::finish() {
  tell_faults_before(asked_.size());
  reply_ += "]}";
}

void batch::row(std::size_t operation, std::span<const store::value> values) {
  tell_faults_before(planned_[operation]);
  begin(200);
  append_data(plans_[operation], values, reply_);
  reply_ += "}}";
}

void batch::missing(std::size_t operation) {
  tell_faults_before(planned_[operation]);
  tell_nothing(404, "the row does not exist");
}

void batch::failed(std::size_t /*operation*/, const store::failure& why) {
  if (why.kind == store::failure_kind::schema_changed)
    is_outdated_ = true;
  else if (!failure_)
    failure_ = api_fault{weft::http::status::internal_server_error, std::string{why.message}};
}

void batch::tell_faults_before(std::size_t operation) {
  while (told_ < operation) {
    const api_fault& fault = faults_[faults_told_++].fault;
    tell_nothing(static_cast<int>(fault.code), fault.message);
  }
}

/// Up to the data of the next operation.
void batch::begin(int code) {
  if (told_ != 0) reply_ += ',';
  reply_ += R"({"code":)";
  char digits[8];
  reply_.append(digits, std::to_chars(digits, digits + sizeof digits, code).ptr);
  reply_ += R"(,"body":{"operationId":)";
  const pk_read_request& of = *asked_[told_++].body;
  append_text(of.operationId ? of.operationId->view() : std::string_view{}, reply_);
  reply_ += R"(,"data":)";
}

void batch::tell_nothing(int code, std::string_view message) {
  begin(code);
  reply_ += "{}}";
  if (spoken_ == api_version::v0_2_0) {
    reply_ += R"(,"message":)";
    append_text(message, reply_);
  }
  reply_ += '}';
}

}  // namespace weftd
