// Any body of a request for rows: read, checked and planned for tables of every type. What it is
// planned as is looked at to its last byte, and what is answered is JSON, or text that is UTF-8.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/utf8.hpp>
#include <weft/json/diagnose.hpp>
#include <weft/store/catalog.hpp>
#include <weft/store/json_value.hpp>

#include <apps/weftd/check_batch.hpp>
#include <apps/weftd/check_request.hpp>
#include <apps/weftd/read_batch.hpp>
#include <apps/weftd/row_plan.hpp>
#include <apps/weftd/scan_plan.hpp>
#include <apps/weftd/scan_reply.hpp>
#include <apps/weftd/write_batch.hpp>

namespace weftd {
namespace {

namespace store = weft::store;

constexpr api_limits limits{};
constexpr std::size_t types = 20;

void expect(bool holds) {
  if (!holds) std::abort();
}

/// "d"."t" has a column of each type, "c0" to "c19", and a key of two of them; "d"."one" a key that
/// is a number, "d"."heap" has none.
store::catalog make_catalog() {
  store::table_definition all{.database = "d", .name = "t"};
  for (std::size_t i = 0; i < types; ++i)
    all.columns.push_back({.name = "c" + std::to_string(i),
                           .type = static_cast<store::column_type>(i),
                           .is_nullable = i % 3 != 0,
                           .is_generated = i == 10,
                           .length = 9,
                           .precision = 12,
                           .scale = 3,
                           .fraction_digits = 3});
  all.key = {3, 9};
  all.indexes = {{.name = "i", .columns = {4, 15}}};
  store::table_definition one{.database = "d", .name = "one"};
  one.columns = {{.name = "id", .type = store::column_type::big_int, .is_nullable = false},
                 {.name = "a", .type = store::column_type::text}};
  one.key = {0};
  store::table_definition heap = one;
  heap.name = "heap";
  heap.key.clear();
  return store::catalog{{{"d", {std::move(all), std::move(one), std::move(heap)}}}};
}

void look_at(const api_fault& why) { expect(!why.message.empty() && weft::is_utf8(why.message)); }

void look_at(std::span<const store::value> values, std::span<const store::column_position> of,
             const store::table& in) {
  expect(values.size() == of.size());
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    text.clear();
    store::append_json(values[i], in.columns()[of[i]], text);
    expect(!weft::json::detail::check(text));
  }
}

void look_at(const store::table& in, const store::filter& tree) {
  if (tree.left != nullptr) {
    look_at(in, *tree.left);
    look_at(in, *tree.right);
  } else if (tree.kind < store::filter_kind::is_null) {
    look_at({&tree.with, 1}, {&tree.column, 1}, in);
  }
}

void look_at(const store::scan_request& plan) {
  const auto order = store::order_of(plan);
  for (const store::key_range& each : plan.ranges)
    for (const store::key_bound& end : {each.lower, each.upper})
      look_at(end.values, std::span{order}.first(end.values.size()), *plan.from);
  if (plan.where != nullptr) look_at(*plan.from, *plan.where);
  expect(store::is_within_bounds(plan) && weft::is_utf8(plan.continuation));
}

void read_row(const store::catalog& schema, std::string_view body, request_memory& memory) {
  const auto asked = read_document<pk_read_request>(body, memory);
  if (!asked) return look_at(asked.error());
  if (const auto fine = check(*asked, limits, memory); !fine) return look_at(fine.error());
  for (const std::string_view name : {"t", "one", "heap", "none"}) {
    const auto plan = plan_read(schema, "d", name, *asked, memory);
    if (!plan)
      look_at(plan.error());
    else
      look_at(plan->key, plan->from->key(), *plan->from);
  }
}

void scan_rows(const store::catalog& schema, std::string_view body, request_memory& memory) {
  const auto asked = read_document<scan_request>(body, memory);
  if (!asked) return look_at(asked.error());
  if (const auto fine = check(*asked, memory); !fine) return look_at(fine.error());
  for (const std::string_view name : {"t", "one", "heap"}) {
    const auto plan = plan_scan(schema, "d", name, *asked, memory);
    if (!plan) {
      look_at(plan.error());
      continue;
    }
    look_at(*plan);
    scan_reply rows{*plan, 1000, memory};
    const std::vector<store::value> nothing(plan->columns.size());
    static_cast<store::scan_sink&>(rows).row(nothing);
    rows.finish("AAAA");
    expect(!weft::json::detail::check(memory.reply));
  }
}

void read_rows(const store::catalog& schema, std::string_view body, api_version spoken, bool fails,
               request_memory& memory) {
  const auto asked = read_document<batch_read_request>(body, memory);
  if (!asked) return look_at(asked.error());
  if (const auto fine = check_reads(*asked, limits, memory); !fine) return look_at(fine.error());
  read_batch reads{schema, *asked->operations, 50'000, memory, spoken};
  for (std::size_t i = 0; i < reads.plans().size(); ++i) {
    const store::key_read& plan = reads.plans()[i];
    look_at(plan.key, plan.from->key(), *plan.from);
    const std::vector<store::value> nothing(plan.columns.size());
    auto& sink = static_cast<store::read_sink&>(reads);
    if (fails && i == 1)
      sink.failed(i, {.kind = store::failure_kind::schema_changed});
    else if (i % 2 == 0)
      sink.row(i, nothing);
    else
      sink.missing(i);
  }
  if (reads.failure() || reads.is_outdated()) return;
  reads.finish();
  expect(!weft::json::detail::check(memory.reply));
}

void write_planned(write_batch& writes) {
  const std::span<const store::key_write> plans = writes.start();
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const store::key_write& plan = plans[i];
    look_at(plan.key, plan.to->key(), *plan.to);
    look_at(plan.values, plan.columns, *plan.to);
    auto& sink = static_cast<store::write_sink&>(writes);
    if (i % 3 == 0)
      sink.done(i);
    else if (i % 3 == 1)
      sink.missing(i);
    else
      sink.failed(i, {.kind = store::failure_kind::rolled_back});
  }
  writes.settle();
}

void write_rows(const store::catalog& schema, std::string_view body, api_version spoken,
                bool removes, request_memory& memory) {
  const auto asked = read_document<batch_write_request>(body, memory);
  if (!asked) return look_at(asked.error());
  const auto fine =
      removes ? check_deletes(*asked, limits, memory) : check_writes(*asked, limits, memory);
  if (!fine) return look_at(fine.error());
  write_batch writes{*asked->operations, memory, spoken};
  while (writes.enter_next_database()) {
    const bool is_right = writes.plan(schema);
    if (writes.unknown()) look_at(*writes.unknown());
    if (is_right) write_planned(writes);
  }
  writes.finish();
  expect(!weft::json::detail::check(memory.reply));
}

}  // namespace
}  // namespace weftd

/// The first byte says what the others are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weftd;
  if (size == 0) return 0;
  static const store::catalog schema = make_catalog();
  // Of its own size: who reads beyond it is seen.
  const std::vector<char> own(data + 1, data + size);
  const std::string_view body{own.data(), own.size()};
  const auto memory = std::make_unique<request_memory>();
  const auto spoken = (data[0] & 1U) != 0 ? api_version::v0_2_0 : api_version::v0_1_0;
  switch (data[0] / 2 % 5) {
    case 0: read_row(schema, body, *memory); break;
    case 1: scan_rows(schema, body, *memory); break;
    case 2: read_rows(schema, body, spoken, (data[0] & 128U) != 0, *memory); break;
    case 3: write_rows(schema, body, spoken, false, *memory); break;
    default: write_rows(schema, body, spoken, true, *memory); break;
  }
  return 0;
}
