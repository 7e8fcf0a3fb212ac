#include <weft/store/mysql/engine.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <weft/base/log.hpp>
#include <weft/base/read_file.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/blocking.hpp>
#include <weft/store/mysql/engine_state.hpp>
#include <weft/store/mysql/query_run.hpp>
#include <weft/store/mysql/scan_run.hpp>
#include <weft/store/mysql/write_run.hpp>
#include <weft/store/scan_token.hpp>
#include <weft/store/schema_change.hpp>
#include <weft/store/turn_share.hpp>

namespace weft::store::mysql {
namespace {

constexpr std::size_t password_bytes_max = 4096;
constexpr unsigned refreshes_max = 2;

/// The first line of a file.
result<std::string> read_password(const std::string& file) {
  if (file.empty()) return std::string{};
  auto text = read_file(file, password_bytes_max);
  if (!text) {
    log::error("store.mysql.engine.password_file: cannot read " + file + ": " + text.error());
    return fail(errc::invalid_argument);
  }
  text->resize(std::min(text->find_first_of("\r\n"), text->size()));
  return std::move(*text);
}

/// How long what may have been begun is awaited: until the server has ended it by itself, and has
/// said so, which leaves no doubt.
duration patience_of(const engine_options& options) noexcept {
  return std::max(options.write_time, options.statement_time + answer_time);
}

}  // namespace

engine::engine(engine_options options, event_loop& loop, lifetime& own, telemetry::meter& meter)
    : state_{std::make_unique<state>(std::move(options), loop, own, meter)} {}
engine::~engine() {
  if (state_->is_reachable) state_->counts.reachable.add(-1);
}

task<result<void>> engine::start() {
  state& s = *state_;
  result<std::string> password;
  const auto read = co_await blocking([&] { password = read_password(s.options.password_file); });
  if (!read) co_return fail(read.error());
  if (!password) co_return fail(password.error());
  if (const auto made = s.make_pool(std::move(*password)); !made) co_return made;
  if (const auto waited = co_await s.wait_for_server(); !waited) co_return waited;
  s.own.spawn(s.follow());
  if (s.readers != nullptr) s.own.spawn(s.readers->follow());
  co_return {};
}

result<void> engine::reload() {
  if (state_->names) state_->names->reload();
  const auto password = read_password(state_->options.password_file);
  if (!password) return fail(password.error());
  state_->pool->set_password(*password);
  if (state_->readers != nullptr) state_->readers->set_password(*password);
  return {};
}

const catalog_ref& engine::schema() const noexcept { return state_->schema; }
bool engine::is_reachable() const noexcept { return state_->is_reachable && state_->looks != 0; }

task<result<void>> engine::refresh() { return state_->refresh(); }
task<result<void>> engine::after_miss() { return state_->misses.after_miss(); }

borrowing_task<result<void>> engine::read(std::span<const key_read> operations, read_sink& to) {
  state& s = *state_;
  if (operations.empty()) co_return {};
  const time_point began = s.loop.now();
  key_lookup batch{operations, s.options.read_memory_bytes, s.loop.memory()};
  for (std::size_t i = 0; i < operations.size(); ++i)
    if (s.schema->current(*operations[i].from) == nullptr)
      batch.refuse(i, failure_kind::schema_changed, schema_has_changed);
  batch.group();
  const auto run = co_await with_timeout(s.options.read_time, s.look_up(batch));
  s.counts.read_waits.record(s.loop.now() - began);
  if (!run) co_return run;
  batch.settle_memory();
  if (batch.is_stale())
    if (const auto fresh = co_await s.refresh(); !fresh) co_return fresh;
  for (std::size_t told = 0; told < batch.size();) {
    told = batch.tell(told, to, s.counts);
    if (told < batch.size()) co_await next_turn(s.loop);
  }
  co_return {};
}

borrowing_task<result<void>> engine::write(std::span<const key_write> operations, write_sink& to) {
  state& s = *state_;
  if (operations.empty()) co_return {};
  const std::string& database = operations.front().to->database();
  if (!std::ranges::all_of(operations,
                           [&](const key_write& each) { return each.to->database() == database; }))
    co_return fail(errc::invalid_argument);
  if (!are_current(*s.schema, operations, to)) co_return {};
  if (!state::are_allowed(operations)) {
    // By the schema alone, which may be another by now.
    if (const auto looked = co_await after_miss(); !looked) co_return looked;
    if (!are_current(*s.schema, operations, to) || !s.are_meant(operations, to)) co_return {};
  }
  const time_point began = s.loop.now();
  write_run batch{operations, patience_of(s.options)};
  s.counts.batches_waiting.add(1);
  const auto run = co_await with_timeout(s.options.write_time, s.write(batch));
  s.counts.batches_waiting.add(-1);
  s.counts.write_waits.record(s.loop.now() - began);
  if (!run) co_return run;
  if (batch.is_done()) s.counts.commits.add();
  if (batch.is_stale())
    if (const auto fresh = co_await s.refresh(); !fresh) co_return fresh;
  batch.tell(to, s.counts);
  co_return {};
}

borrowing_task<result<std::string>> engine::scan(const scan_request& request, scan_sink& to) {
  state& s = *state_;
  scratch room;
  const auto place = place_of(request, room);
  if (!place) co_return fail(place.error());
  if (request.limit == 0) co_return std::string{request.continuation};
  scan_run run{request, *place};
  for (unsigned refreshes = 0; !run.is_over();) {
    if (s.schema->current(*request.from) == nullptr || refreshes > refreshes_max) {
      to.failed({.kind = failure_kind::schema_changed, .message = schema_has_changed});
      co_return std::string{};
    }
    const auto part = co_await s.scan_on(run, to);
    if (!part && part.error() == errc::exhausted && run.rows() != 0) break;
    if (!part) co_return fail(part.error());
    if (*part == failure_kind::schema_changed) {
      ++refreshes;
      if (const auto fresh = co_await s.refresh(); !fresh) co_return fail(fresh.error());
      continue;
    }
    if (part->has_value()) co_return std::string{};
    if (to.is_full()) break;
  }
  co_return run.has_more() ? scan_token(request, run.place()) : std::string{};
}

namespace {

task<result<void>> acquire_one(semaphore& of) { co_return co_await of.acquire(); }

/// Is given back at its end, unless another keeps it.
class query_turn {
 public:
  explicit query_turn(semaphore& of) noexcept : of_{&of} {}
  query_turn(const query_turn&) = delete;
  query_turn& operator=(const query_turn&) = delete;
  ~query_turn() {
    if (of_ != nullptr) of_->release();
  }
  void keep() noexcept { of_ = nullptr; }

 private:
  semaphore* of_;
};

}  // namespace

borrowing_task<result<bool>> engine::query(const query_request& request, query_sink& to) {
  state& s = *state_;
  if (!s.schema->has(request.database))
    if (const auto looked = co_await after_miss(); !looked) co_return fail(looked.error());
  if (!s.schema->has(request.database))
    co_return fail(s.looks == 0 ? errc::unavailable : errc::not_found);
  if (!s.queries.try_acquire()) {
    if (s.queries_waiting >= s.options.queries_waiting_max) co_return fail(errc::limit_exceeded);
    ++s.queries_waiting;
    const auto turn = co_await with_timeout(s.options.query_wait, acquire_one(s.queries));
    --s.queries_waiting;
    // It was not made, and may be later: whoever's time it was that is over.
    if (!turn)
      co_return fail(turn.error() == errc::timed_out ? errc::limit_exceeded : turn.error());
  }
  query_turn turn{s.queries};
  const time_point began = s.loop.now();
  s.counts.queries.add();
  left_query left;
  const auto told = co_await s.run_query(request, to, left);
  s.counts.query_times.record(s.loop.now() - began);
  if (left.connection != 0) {
    turn.keep();
    s.outlast(left);
  }
  co_return told;
}

}  // namespace weft::store::mysql
